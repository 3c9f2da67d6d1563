"""Recipes: every setting of a training run, by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Literal

from graphheat.errors import ParameterError
from graphheat.graph import Graph
from graphheat.graph.adjacency import choose
from graphheat.heat.ranges import check_count, check_eps, check_number, check_s
from graphheat.training.scaling import ScalingKind, suitable_scaling


@dataclass(frozen=True)
class Settings:
    """Everything that, with the graph and the seed, decides a run.

    Attributes
    ----------
    s, eps
        Diffusion time and threshold; ``eps=None`` is the implicit kernel.
    l2
        λ of λ·½‖W‖² on the first layer's weights.
    stopping
        ``"patience"``: stop when the validation loss has not fallen for ``patience`` epochs (the
        paper). ``"mean"``: after ``patience`` epochs, stop when it is above the mean of the last
        ``patience`` (the authors' code). Either way the weights of the lowest loss are kept.
    scaling
        ``"rows"``: divide each row of features by its sum (the paper). ``"columns"``: standardise
        each column. ``"none"``: take them as they are.
    """

    recipe: str = "paper"
    s: float = 3.0
    eps: float | None = 1e-4
    K: int = 2
    hidden: int = 16
    dropout: float = 0.5
    l2: float = 5e-4
    learning_rate: float = 0.01
    max_epochs: int = 1000
    patience: int = 200
    stopping: Literal["patience", "mean"] = "patience"
    zero_diagonal: bool = False
    scaling: ScalingKind = "rows"

    def as_dict(self) -> dict[str, Any]:
        """Return the settings as plain values, ready for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Settings:
        """Rebuild settings from :meth:`as_dict`."""
        known = {field.name for field in fields(cls)}
        return cls(**{name: value for name, value in values.items() if name in known})


RECIPES: dict[str, Settings] = {
    "paper": Settings(),
    "authors": Settings(recipe="authors", zero_diagonal=True, stopping="mean"),
}

# Section 4.3 of the paper: s and eps that its authors chose on the validation set.
PUBLISHED = {"cora": (3.5, 1e-4), "citeseer": (4.5, 1e-5), "pubmed": (3.0, 1e-5)}


def settings_for(
    graph: Graph,
    recipe: str = "paper",
    *,
    s: float | None = None,
    eps: float | Literal["recipe"] | None = "recipe",
    **changes: Any,
) -> Settings:
    """Return a recipe's settings for a graph.

    Parameters
    ----------
    s
        Diffusion time; None: the paper's for its three data sets, elsewhere 3.
    eps
        Threshold; None: implicit kernel; ``"recipe"``: the paper's for its three data sets,
        elsewhere 1e-4.
    **changes
        Other fields of :class:`Settings` to replace. ``scaling`` is by default ``"rows"`` for
        features that are mostly zeros, as the paper's are, and ``"columns"`` for tables of
        measurements.
    """
    choose("fit", "recipe", recipe, tuple(RECIPES))
    base = RECIPES[recipe]
    default_s, default_eps = PUBLISHED.get(graph.name, (base.s, base.eps))
    unknown = set(changes) - {field.name for field in fields(Settings)}
    if unknown:
        raise ParameterError(f"fit has no setting {sorted(unknown)[0]!r}.")
    changes.setdefault("scaling", suitable_scaling(graph))
    settings = replace(
        base,
        s=default_s if s is None else s,
        eps=default_eps if eps == "recipe" else eps,
        **changes,
    )
    return _checked(settings)


def check_seed(seed: int) -> int:
    """Return ``seed`` as an int in [0, 2⁶³), or raise."""
    if isinstance(seed, bool) or not hasattr(seed, "__index__") or not 0 <= seed < 2**63:
        raise ParameterError(
            f"The 'seed' parameter of fit must be an int in [0, 2^63). Got {seed!r} instead."
        )
    return seed.__index__()


def _checked(settings: Settings) -> Settings:
    choose("fit", "scaling", settings.scaling, ("rows", "columns", "none"))
    choose("fit", "stopping", settings.stopping, ("patience", "mean"))
    if isinstance(settings.eps, str):
        raise ParameterError(
            "The 'eps' parameter of fit must be a number in [0, 1), None or 'recipe'. "
            f"Got {settings.eps!r} instead."
        )
    checked = replace(
        settings,
        s=check_s(settings.s, "fit"),
        eps=None if settings.eps is None else check_eps(settings.eps, "fit"),
        K=check_count(settings.K, "K", "fit"),
        hidden=check_count(settings.hidden, "hidden", "fit"),
        dropout=check_number(settings.dropout, "dropout", "fit", 0.0, 1.0, right="open"),
        l2=check_number(settings.l2, "l2", "fit", 0.0, float("inf")),
        learning_rate=check_number(
            settings.learning_rate, "learning_rate", "fit", 0.0, float("inf"), left="open"
        ),
        max_epochs=check_count(settings.max_epochs, "max_epochs", "fit"),
        patience=check_count(settings.patience, "patience", "fit"),
    )
    if checked.zero_diagonal and checked.eps is None:
        raise ParameterError(
            f"The {checked.recipe!r} recipe zeroes the kernel's diagonal and so needs an explicit "
            "kernel: give eps."
        )
    return checked
