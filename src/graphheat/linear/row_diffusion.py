"""Diffused features of a few nodes of a large graph, from rows of the kernel; on disk or in memory.

The cost of fitting then depends on how many nodes are looked at, and not on how large the graph is;
all nodes are labelled by one diffusion of the features times the weights, which has as many columns
as there are classes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graphheat.disk import DiskGraph
from graphheat.errors import GraphError
from graphheat.features import Scaling, ScalingKind
from graphheat.graph import Graph
from graphheat.heat import HeatKernel
from graphheat.heat.engines import AUTO, Auto
from graphheat.heat.engines.cluster.block_step import graph_at
from graphheat.heat.engines.cluster.cluster import Cluster
from graphheat.linear import heat_walks
from graphheat.linear.diffusion import SELF_LOOPS, Array, Diffusion, beside, dense_rows
from graphheat.linear.heat_rows import TOP, HeatRows, rows_at

LARGE = 200_000  # nodes from which on models learn from rows
SAMPLE = 50_000  # rows by which columns are measured
NOISE = 1e-4  # what diffused rows of length 1 may be off by, beside what is not accounted for
SPREAD_TOL = 1e-3  # of labelling: a thousandth of a column's length
KEPT_ANSWERS = 12
PROBES = 64  # nodes by which times are offered
RELIABLE = 4.0  # variances of chance that rows must differ by
STRIP = 128  # nodes whose features are gathered at once, at most
STRIP_NUMBERS = 1 << 25  # of features that are gathered at once, at most


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
    scatter
        Mean squared distance of a scaled row of features from their mean.
    """

    def __init__(
        self,
        graph: Graph | DiskGraph,
        scaling: Scaling,
        heat: HeatRows,
        *,
        self_weight: float = 0.0,
        threads: int | None = None,
        scatter: float = 1.0,
    ) -> None:
        self.graph: Any = graph
        self._scatter = scatter
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

    def offered(self, times: Array, nodes: NDArray[np.int64]) -> Array:
        """Return the times at which rows tell nodes apart; the shortest ones always.

        What walks bring is off by chance, by a variance that is known. A time is offered as long
        as rows of some nodes differ by more than that makes them differ.
        """
        if not self.heat.walks:
            return self.heat.offered(times, nodes)
        probes = nodes[np.linspace(0, len(nodes) - 1, min(PROBES, len(nodes))).astype(int)]
        for k, s in enumerate(times):
            if k < 2 or len(probes) < 2:
                continue
            found = self._brought(probes, float(s))
            apart = float(found.var(axis=0, ddof=1).sum())
            chance = (1.0 - self.kept[float(s)]) * self._scatter / heat_walks.WALKS
            if apart < (1.0 + RELIABLE) * chance:
                return times[:k]
        return times

    def heat_note(self, s: float) -> str:
        """Return a sentence on what the rows at a time are made of."""
        kept = 100 * self.kept.get(s, 1.0)
        rest = ", and random walks stand for the rest" if self.heat.walks and kept < 99 else ""
        return (
            f"Trained from rows whose certified entries have {kept:.0f} % of the heat at "
            f"s = {s:g}{rest}."
        )

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
        entries = (TOP + heat_walks.WALKS) * max(1, int(self.features.shape[1]))
        size = int(np.clip(STRIP_NUMBERS // entries, 1, STRIP))
        strips = [nodes[a : a + size] for a in range(0, len(nodes), size)]
        if self.heat.cluster is None or s == 0:
            parts = [brought(self.heat, self.features, strip, s) for strip in strips]
        else:
            tol = self.heat.tolerance(s, strips[0]) if strips else 0.0
            path = str(Path(self.graph.path).resolve())
            tasks = [
                _Batch(path, self.graph.fingerprint, self.scaling, strip, s, tol)
                for strip in strips
            ]
            parts = self.heat.cluster.run(_bring_batch, tasks)
        self.kept[s] = sum(kept for _, kept in parts) / max(1, len(nodes))
        return np.concatenate([np.empty((0, self.features.shape[1])), *(rows for rows, _ in parts)])

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


def brought(
    heat: HeatRows, features: ScaledFeatures, nodes: NDArray[np.int64], s: float
) -> tuple[Array, float]:
    """Return what heat brings some nodes, shape (k, f), and the sum of the shares kept."""
    rows, shares, _ = heat.of(nodes, s)
    columns, places = np.unique(rows.indices, return_inverse=True)
    parts = rows.data, places.astype(np.int32), rows.indptr
    narrow = sp.csr_array(parts, shape=(len(nodes), len(columns)))
    product: Any = narrow @ features[columns]
    dense: Array = product.toarray() if hasattr(product, "toarray") else np.asarray(product)
    return dense, float(shares.sum())


class _Batch(NamedTuple):
    """Nodes whose diffused features a worker computes; small."""

    graph: str
    fingerprint: str
    scaling: Scaling
    nodes: NDArray[np.int64]
    s: float
    tol: float


def _bring_batch(task: _Batch) -> tuple[Array, float]:
    heat = rows_at(task.graph, task.fingerprint).at(task.s, task.tol)
    features = ScaledFeatures(graph_at(task.graph, task.fingerprint), task.scaling)
    return brought(heat, features, task.nodes, task.s)


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
    graph: Graph | DiskGraph,
    kinds: tuple[ScalingKind, ...],
    threads: int | None,
    cluster: Cluster | None = None,
) -> dict[ScalingKind, Diffusion]:
    """Return one for each scaling, with rows of the kernel in common; a cluster computes them."""
    sample, heat = sampled_rows(graph), HeatRows(graph, threads=threads or 1, cluster=cluster)
    found: dict[ScalingKind, Diffusion] = {}
    for kind in kinds:
        scaling = Scaling.learn(sample, kind)
        scatter = _scatter(scaling.apply(sample))
        found[kind] = RowDiffusion(graph, scaling, heat, threads=threads, scatter=scatter)
    return found


def _scatter(rows: Any) -> float:
    """Return the mean squared distance of rows from their mean."""
    values = np.asarray(rows.data if hasattr(rows, "toarray") else rows, dtype=np.float64)
    mean = np.asarray(rows.mean(axis=0), dtype=np.float64)
    return float((values**2).sum() / max(1, rows.shape[0]) - (mean**2).sum())
