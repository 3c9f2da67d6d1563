"""The pages of the API reference: one per module, every public name once.

The site's configuration (docs/conf.py) calls :func:`write_pages`; tests/test_site.py asks
:func:`documented_names` whether a public name is missing.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from pathlib import Path
from types import ModuleType

import graphheat

# Module → what it is about, in the order of the data's way. Other packages with public names come
# after these, with the first line of their docstrings.
MODULES = {
    "graphheat": "What most programs need; all of it is imported when first used.",
    "graphheat.graph": "The graph, its split and its labels.",
    "graphheat.io": "Readers and writers.",
    "graphheat.datasets": "Graphs at hand, and local copies of public ones.",
    "graphheat.disk": "Graphs larger than memory.",
    "graphheat.features": "Columns as features, and how they are scaled.",
    "graphheat.heat": "e^{-sL}: products, rows, matrices; no torch.",
    "graphheat.heat.engines": "Implementations of e^{-sL}, and how to add one.",
    "graphheat.suitability": "Will heat help here?",
    "graphheat.calibration": "How far a probability may be believed.",
    "graphheat.runs": "What any recipe returns.",
    "graphheat.linear": "Heat and a ridge classifier; no torch.",
    "graphheat.nn": "PyTorch layers.",
    "graphheat.pyg": "For users of PyTorch Geometric.",
    "graphheat.training": "Settings and runs of the networks' recipes.",
    "graphheat.recipes": "Recipes: the registry, fit, evaluate, compare.",
    "graphheat.baselines": "The paper's baselines.",
    "graphheat.explain": "What each source node gave to a logit.",
    "graphheat.estimators": "scikit-learn's interface.",
    "graphheat.plot": "Pictures, as functions of matplotlib's axes.",
    "graphheat.explorer": "A graph on one HTML page.",
    "graphheat.labeling": "What to label next.",
    "graphheat.errors": "What is raised on purpose.",
}


# Parts of the command, of the paper's experiment and of single engines, which nobody imports.
INTERNAL = ("graphheat.cli", "graphheat.paper", "graphheat.heat.engines.")


def modules() -> dict[str, str]:
    """Return the modules that have a page, each with a sentence on it."""
    found = dict(MODULES)
    for module in pkgutil.walk_packages(graphheat.__path__, "graphheat."):
        if module.ispkg and module.name not in found and not module.name.startswith(INTERNAL):
            try:
                package = importlib.import_module(module.name)
            except ImportError:  # what it needs is not installed here
                continue
            if getattr(package, "__all__", None):
                found[module.name] = (package.__doc__ or module.name).splitlines()[0]
    return found


def public_names(module: ModuleType) -> list[str]:
    """Return ``__all__``, or of a module without one what it defines itself."""
    listed = getattr(module, "__all__", None)
    if listed is not None:
        return list(listed)
    return [
        name
        for name, value in vars(module).items()
        if not name.startswith("_")
        and getattr(value, "__module__", None) == module.__name__
        and (inspect.isclass(value) or inspect.isfunction(value))
    ]


def documented_names() -> tuple[dict[str, list[str]], dict[str, str]]:
    """Return the names on each page, and for every other public name the one that it stands for.

    An object has one page entry, at the first module that has it.
    """
    pages: dict[str, list[str]] = {}
    aliases: dict[str, str] = {}
    seen: dict[int, str] = {}
    for path in modules():
        module = importlib.import_module(path)
        pages[path] = []
        for name in public_names(module):
            value = getattr(module, name)
            if inspect.ismodule(value):
                continue  # it has a page of its own
            known = inspect.isclass(value) or inspect.isroutine(value)
            if known and id(value) in seen:
                aliases[f"{path}.{name}"] = seen[id(value)]
                continue
            if known:
                seen[id(value)] = f"{path}.{name}"
                aliases[f"{value.__module__}.{value.__qualname__}"] = f"{path}.{name}"
            pages[path].append(name)
    return pages, aliases


def write_pages(folder: Path) -> dict[str, str]:
    """Write the reference's pages into ``folder``; return the aliases of documented names."""
    about_of, (pages, aliases) = modules(), documented_names()
    folder.mkdir(parents=True, exist_ok=True)
    lines = [
        "# API",
        "",
        "Every public name; [one table](../reference.md) has the most used ones.",
        "",
    ]
    lines += ["| module | |", "|---|---|"]
    lines += [f"| [`{path}`]({path}.rst) | {about} |" for path, about in about_of.items()]
    lines += ["", "```{toctree}", ":hidden:", "", *about_of, "```", ""]
    _write(folder / "index.md", lines)
    for path, names in pages.items():
        module = importlib.import_module(path)
        text = [path, "=" * len(path), "", about_of[path], "", f".. currentmodule:: {path}", ""]
        if names:
            text += [".. autosummary::", "   :toctree: generated", "   :nosignatures:", ""]
            text += [f"   {name}" for name in names] + [""]
        elsewhere = [
            (name, aliases[f"{path}.{name}"])
            for name in public_names(module)
            if f"{path}.{name}" in aliases and aliases[f"{path}.{name}"] != f"{path}.{name}"
        ]
        if elsewhere:
            text += ["Also here:", ""]
            text += [f"- ``{name}``: :obj:`{target}`" for name, target in elsewhere] + [""]
        _write(folder / f"{path}.rst", text)
    return aliases


def _write(path: Path, lines: list[str]) -> None:
    text = "\n".join(lines)
    if (
        not path.exists() or path.read_text(encoding="utf-8") != text
    ):  # an unchanged page stays built
        path.write_text(text, encoding="utf-8")
