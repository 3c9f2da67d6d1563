"""Features mixed along the edges: the heat kernel with self-loops, as a mean over a random walk.

With A + I in place of A, D its degrees and H = e^{-sL} its heat kernel, D^{-1/2} H D^{1/2} is
e^{-s(I − D^{-1}(A + I))}: row v holds where a walk from v is after about s steps, and sums to 1. A
node's diffused features are a mean of features, whatever its degree.
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
        self.graph, self.threads = graph, threads
        self.features = scaled_features(graph, scaling)
        self._roots = np.sqrt(np.asarray(graph.adjacency.sum(axis=1)).ravel() + SELF_LOOPS)

    def _kernel(self, s: float, tol: float) -> HeatKernel:
        return HeatKernel(self.graph, s, tol=tol, self_loops=SELF_LOOPS, threads=self.threads)

    def spread(self, block: NDArray[Any], s: float) -> Array:
        """Return the diffused columns, shape (n, k)."""
        heat = self._kernel(s, TOL).apply(self._roots[:, None] * block)
        return np.asarray(heat, dtype=np.float64) / self._roots[:, None]

    def weights(self, nodes: NDArray[np.int64], s: float) -> Array:
        """Return what every node's features count for in those of ``nodes``, shape (k, n)."""
        units = np.zeros((self.graph.n, len(nodes)))
        units[nodes, np.arange(len(nodes))] = 1.0 / self._roots[nodes]
        heat = self._kernel(s, TOL).apply(units)
        return np.asarray(heat, dtype=np.float64).T * self._roots

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
        roots = self._roots.astype(np.float32)
        weighted = self.features.astype(np.float32)
        if sp.issparse(weighted):
            weighted = sp.csc_array(sp.diags_array(roots) @ weighted)
        else:
            weighted = roots[:, None] * weighted
        size = 4 * len(nodes) * self.features.shape[1]
        together = max(1, int(PATH_BYTES // max(size, 1)))
        kernel = self._kernel(0.0, PATH_TOL)
        if times[0] == 0:  # a time of no work, which would make the others' work float64's
            yield dense_rows(self.features, nodes).astype(np.float32)
            times = times[1:]
        for first in range(0, len(times), together):
            part = times[first : first + together]
            for heat in kernel.sweep(weighted, part, rows=nodes):
                yield heat / roots[nodes, None]


def scaled_features(graph: Graph, scaling: Scaling) -> Any:
    """Return the scaled features, shape (n, f), float64: by row compressed, or dense."""
    if graph.features is None:
        raise GraphError(
            f"{graph.name} has no features, and the linear recipe has nothing to diffuse. Use "
            "HeatLabelSpreading, or recipe 'lp', which need none."
        )
    x = scaling.apply(graph.features)
    if not isinstance(x, SparseFeatures):
        return x.double().numpy()
    p = x.pattern
    parts = x.values.double().numpy(), p.col.numpy(), p.crow.numpy()
    return sp.csr_array(parts, shape=p.shape)


def dense_rows(features: Any, nodes: NDArray[np.int64]) -> Array:
    """Return rows of a matrix, dense, shape (k, f)."""
    chosen = features[nodes]
    return np.asarray(chosen.toarray() if sp.issparse(chosen) else chosen, dtype=np.float64)
