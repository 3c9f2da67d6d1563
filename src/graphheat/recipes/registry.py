"""The recipes there are, by name."""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points

from graphheat.errors import MissingDependencyError, ParameterError
from graphheat.recipes.recipe import Recipe
from graphheat.runs.run_file import resolve

# Name → where it lives: a recipe is imported when it is asked for, as some bring a large library.
# First GraphHeat's own, then the baselines in the order of the paper's Table 2 and of its text.
_NETWORKS = "graphheat.recipes.network_recipe"
_BASELINES = "graphheat.baselines"
_KNOWN: dict[str, str | Recipe] = {
    "auto": "graphheat.recipes.auto_recipe:AUTO",
    "consistent": f"{_NETWORKS}:CONSISTENT",
    "normalized": f"{_NETWORKS}:NORMALIZED",
    "paper": f"{_NETWORKS}:PAPER",
    "authors": f"{_NETWORKS}:AUTHORS",
    "linear": "graphheat.recipes.linear_recipe:LINEAR",
    "spreading": "graphheat.recipes.spreading_recipe:SPREADING",
    "ensemble": "graphheat.recipes.ensemble_recipe:ENSEMBLE",
    **{
        name: f"{_BASELINES}.{name}:RECIPE"
        for name in (
            "mlp", "manireg", "semiemb", "lp", "deepwalk", "ica", "planetoid", "chebynet", "gcn",
            "monet", "gat", "spectral_cnn", "gwnn", "graphsage",
        )
    },
}  # fmt: skip


def names() -> tuple[str, ...]:
    """Return the names of all recipes, those of third parties last.

    Examples
    --------
    >>> names()[:5]
    ('auto', 'consistent', 'normalized', 'paper', 'authors')
    """
    return (*_KNOWN, *(point.name for point in _points() if point.name not in _KNOWN))


def get(name: object) -> Recipe:
    """Return a recipe by its name, or raise with the names there are."""
    found = _KNOWN.get(name) if isinstance(name, str) else None
    try:
        if found is None:
            for point in _points():
                if point.name == name:
                    found = point.load()
        if isinstance(found, str):
            found = resolve(found)
    except MissingDependencyError:
        raise  # it says what is missing
    except ModuleNotFoundError as error:
        extra = "nn" if error.name == "torch" else "paper"
        raise MissingDependencyError(
            f"The {name!r} recipe needs {error.name}: pip install 'graphheat[{extra}]'."
        ) from error
    if found is None:
        words = ", ".join(repr(known) for known in names())
        raise ParameterError(
            f"The 'recipe' parameter of fit must be one of {words}. Got {name!r} instead."
        )
    recipe: Recipe = found() if isinstance(found, type) else found
    return recipe


def register(recipe: Recipe) -> Recipe:
    """Add a recipe under its name; a package does so by an entry point ``graphheat.recipes``."""
    if recipe.name in _KNOWN:
        raise ParameterError(f"There is a recipe {recipe.name!r} already.")
    _KNOWN[recipe.name] = recipe
    return recipe


def unregister(name: str) -> None:
    """Take a recipe that :func:`register` added away again."""
    if isinstance(_KNOWN.get(name), Recipe):
        del _KNOWN[name]


def _points() -> tuple[EntryPoint, ...]:
    return tuple(entry_points(group="graphheat.recipes"))
