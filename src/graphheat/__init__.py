"""A label, with a confidence, for every node of a graph, from a handful of labels, by heat.

Public names are imported when first used, so that ``import graphheat`` is light and torch is
loaded only by what needs it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from graphheat import datasets
    from graphheat.classifier import Evaluation, GraphHeatClassifier, evaluate, fit
    from graphheat.errors import GraphHeatError
    from graphheat.graph import Graph
    from graphheat.heat import HeatKernel, neighborhood
    from graphheat.io import (
        read_csv,
        read_graph,
        read_mtx,
        read_npz,
        write_csv,
        write_mtx,
        write_npz,
    )
    from graphheat.nn import GraphHeat, HeatConv
    from graphheat.spreading import HeatLabelSpreading
    from graphheat.transformer import HeatDiffusion

__version__ = "0.1.0"

_HOME = {
    "Evaluation": "classifier",
    "Graph": "graph",
    "GraphHeat": "nn",
    "GraphHeatClassifier": "classifier",
    "GraphHeatError": "errors",
    "HeatConv": "nn",
    "HeatDiffusion": "transformer",
    "HeatKernel": "heat",
    "HeatLabelSpreading": "spreading",
    "evaluate": "classifier",
    "fit": "classifier",
    "neighborhood": "heat",
    "read_csv": "io",
    "read_graph": "io",
    "read_mtx": "io",
    "read_npz": "io",
    "write_csv": "io",
    "write_mtx": "io",
    "write_npz": "io",
}

__all__ = [
    "Evaluation",
    "Graph",
    "GraphHeat",
    "GraphHeatClassifier",
    "GraphHeatError",
    "HeatConv",
    "HeatDiffusion",
    "HeatKernel",
    "HeatLabelSpreading",
    "datasets",
    "evaluate",
    "fit",
    "neighborhood",
    "read_csv",
    "read_graph",
    "read_mtx",
    "read_npz",
    "write_csv",
    "write_mtx",
    "write_npz",
]


def __getattr__(name: str) -> Any:
    if name == "datasets":
        return import_module("graphheat.datasets")
    if name in _HOME:
        return getattr(import_module(f"graphheat.{_HOME[name]}"), name)
    raise AttributeError(f"module 'graphheat' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
