"""Features mixed along the edges: means, weighted by heat, with a self-loop at every node.

With A + I in place of A and H = e^{-sL} its heat kernel, a node's diffused features are the mean of
all nodes' features with its row of H as weights: Σ_w H_vw x_w / Σ_w H_vw. Without the division
features grow with a node's degree, which tells nothing of its class.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graphheat.errors import GraphError
from graphheat.graph import Graph
from graphheat.heat import HeatKernel
from graphheat.nn import SparseFeatures
from graphheat.training.scaling import Scaling

Array = NDArray[np.float64]

SELF_LOOPS = 1.0
TOL = 1e-7  # of what a run keeps
PATH_TOL = 1e-4  # of what only a choice is made with; float32 does
PATH_BYTES = 3e8  # that diffused rows of several times may take together


class Diffusion:
    """Diffuses features on one graph, for any time s.

    Parameters
    ----------
    graph
        With features.
    scaling
        How its features are scaled before.
    """

    def __init__(self, graph: Graph, scaling: Scaling, *, threads: int | None = None) -> None:
        self.graph, self.scaling, self.threads = graph, scaling, threads
        self.features = scaled_features(graph, scaling)

    def _kernel(self, s: float, tol: float) -> HeatKernel:
        return HeatKernel(self.graph, s, tol=tol, self_loops=SELF_LOOPS, threads=self.threads)

    def spread(self, block: NDArray[Any], s: float) -> Array:
        """Return the diffused columns, shape (n, k)."""
        with_ones = np.column_stack([block, np.ones(self.graph.n)])
        heat = np.asarray(self._kernel(s, TOL).apply(with_ones), dtype=np.float64)
        return heat[:, :-1] / heat[:, -1:]

    def weights(self, nodes: NDArray[np.int64], s: float) -> Array:
        """Return what every node's features count for in those of ``nodes``, shape (k, n)."""
        units = np.zeros((self.graph.n, len(nodes)))
        units[nodes, np.arange(len(nodes))] = 1.0
        heat = np.asarray(self._kernel(s, TOL).apply(units), dtype=np.float64).T
        return heat / heat.sum(axis=1, keepdims=True)

    def heat_from(self, nodes: NDArray[np.int64], s: float) -> Array:
        """Return the heat that arrives at each node from ``nodes``, 1 at each, shape (n,)."""
        units = np.zeros(self.graph.n)
        units[nodes] = 1.0
        return np.asarray(self._kernel(s, TOL).apply(units), dtype=np.float64)

    def rows(self, nodes: NDArray[np.int64], s: float) -> Array:
        """Return the diffused features of ``nodes``, shape (k, f), to full accuracy."""
        if s == 0:
            return dense_rows(self.features, nodes)
        wide = self.features.shape[1] > len(nodes)
        if wide:
            return np.asarray(self.weights(nodes, s) @ self.features)
        block = self.features.toarray() if sp.issparse(self.features) else self.features
        return self.spread(block, s)[nodes]

    def path(self, nodes: NDArray[np.int64], times: NDArray[np.float64]) -> Any:
        """Yield the diffused features of ``nodes`` at each time, shape (k, f), float32.

        All times share one diffusion; where that would take much memory, a few share one.
        """
        features = self.features.astype(np.float32)
        ones = np.ones(self.graph.n, dtype=np.float32)
        size = 4 * len(nodes) * self.features.shape[1]
        together = max(1, int(PATH_BYTES // max(size, 1)))
        kernel = self._kernel(0.0, PATH_TOL)
        if times[0] == 0:  # a time of no work, which would make the others' work float64's
            yield dense_rows(self.features, nodes).astype(np.float32)
            times = times[1:]
        for first in range(0, len(times), together):
            part = times[first : first + together]
            sums = kernel.sweep(ones, part, rows=nodes)
            for heat, total in zip(kernel.sweep(features, part, rows=nodes), sums, strict=True):
                yield heat / total[:, None]


def scaled_features(graph: Graph, scaling: Scaling) -> Any:
    """Return the scaled features, shape (n, f), float64: by row compressed, or dense."""
    if graph.features is None:
        raise GraphError(
            f"{graph.name} has no features, and the linear recipe has nothing to diffuse. Use "
            "HeatLabelSpreading, or recipe 'lp', which need none."
        )
    x = scaling.apply(graph.features)
    matrix: Any = x.to_scipy() if isinstance(x, SparseFeatures) else x.numpy()
    return matrix.astype(np.float64)


def dense_rows(features: Any, nodes: NDArray[np.int64]) -> Array:
    """Return rows of a matrix, dense, shape (k, f)."""
    chosen = features[nodes]
    return np.asarray(chosen.toarray() if sp.issparse(chosen) else chosen, dtype=np.float64)
