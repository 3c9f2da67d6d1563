"""Diffused features of a few nodes of a large graph, from rows of the kernel; on disk or in memory.

The cost of fitting then depends on how many nodes are looked at, and not on how large the graph is;
all nodes are labelled by one diffusion of the features times the weights, which has as many columns
as there are classes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graphheat.disk import DiskGraph
from graphheat.errors import GraphError
from graphheat.features import Scaling, ScalingKind
from graphheat.graph import Graph
from graphheat.heat import HeatKernel
from graphheat.heat.engines import AUTO, Auto
from graphheat.linear.diffusion import SELF_LOOPS, Array, Diffusion, beside, dense_rows
from graphheat.linear.heat_rows import HeatRows

LARGE = 200_000  # nodes from which on models learn from rows
SAMPLE = 50_000  # rows by which columns are measured
NOISE = 1e-4  # what diffused rows of length 1 may be off by, beside what is not accounted for
SPREAD_TOL = 1e-3  # of labelling: a thousandth of a column's length
KEPT_ANSWERS = 12
STRIP = 128  # nodes whose features are gathered at once


def is_large(graph: Graph | DiskGraph) -> bool:
    """Return whether models learn from rows: on disk always, in memory from 200,000 nodes on."""
    return isinstance(graph, DiskGraph) or graph.n >= LARGE


class ScaledFeatures:
    """Features that are scaled when they are read, by rows; ``@`` goes through them in strips."""

    def __init__(self, graph: Graph | DiskGraph, scaling: Scaling) -> None:
        features: Any = graph.features
        self._features, self.scaling = features, scaling
        self.shape: tuple[int, int] = features.shape

    def __getitem__(self, rows: Any) -> Any:
        return self.scaling.apply(self._features[rows]).astype(np.float64)

    def strips(self) -> Iterator[tuple[int, int]]:
        """Yield (first, last) of ranges of rows that are held at once."""
        yield from _ranges(self.shape)

    @staticmethod
    def ranges(graph: Graph | DiskGraph) -> Iterator[tuple[int, int]]:
        """Yield the same without reading anything."""
        features: Any = graph.features
        yield from _ranges((graph.n, 1) if features is None else features.shape)

    def __matmul__(self, weights: NDArray[Any]) -> NDArray[np.float32]:
        product = np.empty((self.shape[0], weights.shape[1]), dtype=np.float32)
        for first, last in self.strips():
            product[first:last] = self[first:last] @ weights
        return product


def _ranges(shape: tuple[int, int]) -> Iterator[tuple[int, int]]:
    step = max(1, (1 << 23) // max(1, shape[1]))
    for first in range(0, shape[0], step):
        yield first, min(shape[0], first + step)


class RowDiffusion(Diffusion):
    """What :class:`~graphheat.linear.diffusion.Diffusion` does, for graphs that are large.

    Parameters
    ----------
    graph
        With features, in memory or on disk.
    scaling
        How its features are scaled before.
    heat
        Rows of the kernel, which several of these share.
    """

    def __init__(
        self,
        graph: Graph | DiskGraph,
        scaling: Scaling,
        heat: HeatRows,
        *,
        self_weight: float = 0.0,
        threads: int | None = None,
    ) -> None:
        self.graph: Any = graph
        self.scaling, self.threads, self.self_weight = scaling, threads, self_weight
        self.features: Any = ScaledFeatures(graph, scaling)
        self.heat = heat
        self.kept: dict[float, float] = {}
        self._answers: dict[tuple[float, bytes], Array] = {}
        self._kernels: dict[tuple[float, float, Auto], HeatKernel] = {}

    def _kernel(self, s: float, tol: float, engine: Auto = AUTO) -> HeatKernel:
        key = s, tol, engine
        if key not in self._kernels:
            self._kernels[key] = HeatKernel(
                self.graph, s, tol=tol, self_loops=SELF_LOOPS, engine=engine, threads=self.threads
            )
        return self._kernels[key]

    def noise(self, tol: float) -> float:
        """Return how far a diffused row may be off by rounding, as a length."""
        return NOISE

    def path(
        self, nodes: NDArray[np.int64], times: NDArray[np.float64]
    ) -> Iterator[NDArray[np.float32]]:
        """Yield, for each time, what heat brings ``nodes``: rows of shape (k, f), float32."""
        for s in times:
            yield self._brought(nodes, float(s)).astype(np.float32)

    def rows(self, nodes: NDArray[np.int64], s: float) -> Array:
        """Return the diffused features of ``nodes``, shape (k, f)."""
        own = dense_rows(self.features, nodes) if self.self_weight else np.empty(0)
        return beside(own, self._brought(nodes, s), self.self_weight)

    def _brought(self, nodes: NDArray[np.int64], s: float) -> Array:
        """Return what heat brings ``nodes``; the last few answers are kept."""
        key = s, nodes.tobytes()
        if key not in self._answers:
            if len(self._answers) >= KEPT_ANSWERS:
                self._answers.pop(next(iter(self._answers)))
            self._answers[key] = self._bring(nodes, s)
        return self._answers[key]

    def _bring(self, nodes: NDArray[np.int64], s: float) -> Array:
        found = np.empty((len(nodes), self.features.shape[1]))
        kept = 0.0
        for a in range(0, len(nodes), STRIP):
            strip = nodes[a : a + STRIP]
            rows, shares, _ = self.heat.of(strip, s)
            columns, places = np.unique(rows.indices, return_inverse=True)
            parts = rows.data, places.astype(np.int32), rows.indptr
            narrow = sp.csr_array(parts, shape=(len(strip), len(columns)))
            product: Any = narrow @ self.features[columns]
            sparse = hasattr(product, "toarray")
            found[a : a + STRIP] = product.toarray() if sparse else product
            kept += float(shares.sum())
        self.kept[s] = kept / max(1, len(nodes))
        return found

    def spread(self, block: NDArray[Any], s: float) -> Array:
        """Return the diffused columns, shape (n, k)."""
        return self.spreads(block, [s])[0]

    def spreads(self, block: NDArray[Any], times: Sequence[float]) -> list[Array]:
        """Return the same for several times, from one basis."""
        with_ones = np.column_stack([block, np.ones(len(block))]).astype(np.float32)
        return [
            beside(block, heat[:, :-1] / heat[:, -1:], self.self_weight).astype(np.float64)
            for heat in self._kernel(0.0, SPREAD_TOL).sweep(with_ones, times)
        ]

    def heat_from(self, nodes: NDArray[np.int64], s: float) -> Array:
        """Return the heat that arrives at each node from ``nodes``, 1 at each, shape (n,)."""
        units = np.zeros((len(self.graph.labels), 4), dtype=np.float32)
        units[nodes] = 1.0
        return self._kernel(s, SPREAD_TOL).apply(units)[:, 0].astype(np.float64)


def sampled_rows(graph: Graph | DiskGraph) -> Any:
    """Return the features of some rows that stand for all, dense or sparse."""
    if graph.features is None:
        raise GraphError(
            f"{graph.name} has no features, and the linear recipe has nothing to diffuse. Ingest "
            "it with a node table of numbers."
        )
    n = graph.n
    if n <= SAMPLE:
        return graph.features[np.arange(n)]
    # In runs of neighbours in the file: a disk reads whole pages.
    starts = np.sort(np.random.default_rng(0).choice(n - 64, SAMPLE // 64, replace=False))
    chosen = np.unique(starts[:, None] + np.arange(64))
    return graph.features[chosen]


def row_diffusions(
    graph: Graph | DiskGraph, kinds: tuple[ScalingKind, ...], threads: int | None
) -> dict[ScalingKind, Diffusion]:
    """Return one for each scaling, with rows of the kernel in common."""
    sample, heat = sampled_rows(graph), HeatRows(graph, threads=threads or 1)
    return {
        kind: RowDiffusion(graph, Scaling.learn(sample, kind), heat, threads=threads)
        for kind in kinds
    }
