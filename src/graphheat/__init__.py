"""A label, with a confidence, for every node of a graph, from a handful of labels, by heat.

Public names are imported when first used, so that ``import graphheat`` is light and torch is
loaded only by what needs it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from graphheat.errors import MissingDependencyError

if TYPE_CHECKING:
    from graphheat import datasets
    from graphheat import disk as disk
    from graphheat import filters as filters
    from graphheat.errors import GraphHeatError
    from graphheat.estimators.classifier import GraphHeatClassifier
    from graphheat.estimators.heat_diffusion import HeatDiffusion
    from graphheat.estimators.heat_regressor import HeatRegressor
    from graphheat.estimators.label_spreading import HeatLabelSpreading
    from graphheat.estimators.node_folds import NodeFolds, labelled_nodes
    from graphheat.filters import FilterBank, GraphFilter
    from graphheat.graph import Graph
    from graphheat.heat.engines.cluster.cluster import cluster
    from graphheat.heat.kernel import HeatKernel
    from graphheat.heat.neighborhood import neighborhood
    from graphheat.io import (
        read_csv,
        read_graph,
        read_mtx,
        read_npz,
        write_csv,
        write_mtx,
        write_npz,
    )
    from graphheat.labeling.suggestion import Suggestion, suggest
    from graphheat.linear.suspects import Suspects, suspects
    from graphheat.memory import memory_budget
    from graphheat.nn import GraphHeat, HeatConv
    from graphheat.recipes.comparison import Comparison, compare
    from graphheat.recipes.evaluation import Evaluation, evaluate
    from graphheat.recipes.fit import fit
    from graphheat.runs import Run, load_run

__version__ = "0.1.0"

_HOME = {
    "Comparison": "recipes.comparison",
    "Evaluation": "recipes.evaluation",
    "FilterBank": "filters",
    "Graph": "graph",
    "GraphFilter": "filters",
    "GraphHeat": "nn",
    "GraphHeatClassifier": "estimators.classifier",
    "GraphHeatError": "errors",
    "HeatConv": "nn",
    "HeatDiffusion": "estimators.heat_diffusion",
    "HeatKernel": "heat",
    "HeatLabelSpreading": "estimators.label_spreading",
    "HeatRegressor": "estimators.heat_regressor",
    "NodeFolds": "estimators.node_folds",
    "Run": "runs",
    "Suggestion": "labeling.suggestion",
    "Suspects": "linear.suspects",
    "cluster": "heat.engines.cluster.cluster",
    "compare": "recipes.comparison",
    "evaluate": "recipes.evaluation",
    "fit": "recipes.fit",
    "labelled_nodes": "estimators.node_folds",
    "load_run": "runs",
    "memory_budget": "memory",
    "neighborhood": "heat",
    "read_csv": "io",
    "read_graph": "io",
    "read_mtx": "io",
    "read_npz": "io",
    "suggest": "labeling.suggestion",
    "suspects": "linear.suspects",
    "write_csv": "io",
    "write_mtx": "io",
    "write_npz": "io",
}

__all__ = [
    "Comparison",
    "Evaluation",
    "FilterBank",
    "Graph",
    "GraphFilter",
    "GraphHeat",
    "GraphHeatClassifier",
    "GraphHeatError",
    "HeatConv",
    "HeatDiffusion",
    "HeatKernel",
    "HeatLabelSpreading",
    "HeatRegressor",
    "NodeFolds",
    "Run",
    "Suggestion",
    "Suspects",
    "cluster",
    "compare",
    "datasets",
    "disk",
    "evaluate",
    "filters",
    "fit",
    "labelled_nodes",
    "load_run",
    "memory_budget",
    "neighborhood",
    "read_csv",
    "read_graph",
    "read_mtx",
    "read_npz",
    "suggest",
    "suspects",
    "write_csv",
    "write_mtx",
    "write_npz",
]


def __getattr__(name: str) -> object:
    if name in ("datasets", "disk", "filters"):
        return import_module(f"graphheat.{name}")
    if name in _HOME:
        try:
            return getattr(import_module(f"graphheat.{_HOME[name]}"), name)
        except ModuleNotFoundError as error:
            if error.name != "torch":
                raise
            raise MissingDependencyError(
                f"graphheat.{name} needs torch: pip install 'graphheat[nn]'."
            ) from error
    raise AttributeError(f"module 'graphheat' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
