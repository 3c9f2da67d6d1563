"""A graph made ready for training a network: features scaled, kernel computed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from graphheat.errors import GraphError
from graphheat.features import Scaling
from graphheat.graph import Graph
from graphheat.graph.feature_matrix import Features
from graphheat.heat import HeatKernel
from graphheat.nn import HeatOperator, SparseFeatures
from graphheat.nn.features import as_input
from graphheat.progress import Progress
from graphheat.training.build import build_operator
from graphheat.training.settings import NetworkSettings


@dataclass(frozen=True, eq=False)
class PreparedNetwork:
    """What all seeds of one training share."""

    graph: Graph
    settings: NetworkSettings
    scaling: Scaling
    x: Tensor | SparseFeatures
    operator: HeatOperator

    @property
    def kernel(self) -> dict[str, Any]:
        """How the kernel was computed, which decides its last digits."""
        return {"method": self.operator.method, "tol": self.operator.tol}


def prepare_network(
    graph: Graph,
    settings: NetworkSettings,
    *,
    threads: int | None = None,
    progress: Progress | None = None,
) -> PreparedNetwork:
    """Scale the features and compute the kernel, once for all seeds."""
    features = check_trainable(graph)
    operator = build_operator(graph, settings, threads=threads, progress=progress)
    scaling = Scaling.learn(features, settings.scaling)
    x = as_input(scaling.apply(features))
    return PreparedNetwork(graph, settings, scaling, x, operator)


def check_trainable(graph: Graph) -> Features:
    """Return the features, or raise where a network has nothing to learn from, before all else."""
    if graph.features is None:
        raise GraphError(
            f"{graph.name} has no features, which GraphHeat learns from. "
            "Use HeatLabelSpreading, which needs labels alone."
        )
    graph.completed_split(0)
    return graph.features


def reached(graph: Graph, train: NDArray[np.int64], settings: NetworkSettings) -> NDArray[np.bool_]:
    """Return where at least eps of heat arrives from the training nodes, shape (n,)."""
    sources = np.zeros(graph.n)
    sources[train] = 1.0
    eps = settings.eps or 1e-4
    tol = eps / (10 * np.sqrt(len(train)))  # the error of apply is relative to the sources' norm
    kernel = HeatKernel(graph, settings.s, tol=tol, self_loops=settings.self_loops)
    result: NDArray[np.bool_] = kernel.apply(sources) >= eps
    return result
