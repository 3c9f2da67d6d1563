"""A graph made ready for training: features normalised, kernel computed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from graphheat.errors import GraphError
from graphheat.graph import Graph
from graphheat.heat import HeatKernel
from graphheat.heat.kernel import Progress
from graphheat.nn import HeatOperator, SparseFeatures
from graphheat.training.holdout import assign_roles
from graphheat.training.network import build_operator
from graphheat.training.recipes import Settings
from graphheat.training.scaling import Scaling


@dataclass(frozen=True, eq=False)
class Problem:
    """What all seeds of one training share."""

    graph: Graph
    settings: Settings
    scaling: Scaling
    x: Tensor | SparseFeatures
    operator: HeatOperator


def prepare(
    graph: Graph,
    settings: Settings,
    *,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Problem:
    """Normalise features and compute the kernel, once for all seeds."""
    if graph.features is None:
        raise GraphError(
            f"{graph.name} has no features, which GraphHeat learns from. "
            "Use HeatLabelSpreading, which needs labels alone."
        )
    assign_roles(graph, 0)  # labels that cannot teach are said before a kernel is computed
    operator = build_operator(graph, settings, threads=threads, progress=progress)
    scaling = Scaling.learn(graph.features, settings.scaling)
    return Problem(graph, settings, scaling, scaling.apply(graph.features), operator)


def reached(graph: Graph, train: NDArray[np.int64], settings: Settings) -> NDArray[np.bool_]:
    """Return where at least eps of heat arrives from the training nodes, shape (n,)."""
    sources = np.zeros(graph.n)
    sources[train] = 1.0
    eps = settings.eps or 1e-4
    tol = eps / (10 * np.sqrt(len(train)))  # the error of apply is relative to the sources' norm
    kernel = HeatKernel(graph, settings.s, tol=tol, self_loops=settings.self_loops)
    result: NDArray[np.bool_] = kernel.apply(sources) >= eps
    return result
