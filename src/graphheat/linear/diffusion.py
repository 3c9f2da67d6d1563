"""Features mixed along the edges: means, weighted by heat, with a self-loop at every node.

With A + I in place of A and H = e^{-sL} its heat kernel, heat brings a node v the mean of all
features with its row of H as weights: h_v = Σ_w H_vw x_w / Σ_w H_vw. Without the division features
would grow with a node's degree, which tells nothing of its class. A node's diffused features are
θ·x_v + (1 − θ)·h_v: the self weight θ is a skip
connection, as in the paper's layers.

References
----------
F. Wu, A. Souza, T. Zhang et al.: Simplifying Graph Convolutional Networks, ICML 2019 (SGC):
diffusion before a linear model.
Y. Wang, Y. Wang, J. Yang, Z. Lin: Dissecting the Diffusion Process in Linear Graph Convolutional
Networks, NeurIPS 2021 (DGC): a continuous diffusion time.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graphheat.errors import GraphError
from graphheat.features import Scaling
from graphheat.graph import Graph
from graphheat.graph.feature_matrix import Features
from graphheat.heat import HeatKernel
from graphheat.heat.engines import ONE_OFF, Auto

Array = NDArray[np.float64]
Matrix = Array | sp.csr_array  # dense, or compressed by row

SELF_LOOPS = 1.0
TOL = 1e-7  # of what a run keeps
PATH_TOL = 1e-4  # of what only a choice is made with; float32 does
NOISE = {TOL: 1e-6, PATH_TOL: 1e-4}  # what rows of length 1 may be off by, generously
STRIP = 256  # nodes whose rows of the kernel are computed at once
PATH_BYTES = 3e8  # that diffused rows of several times may take together


class KeptRows:
    """Rows that several candidates ask for, the latest of them; by s, accuracy and nodes.

    Together they take at most ``PATH_BYTES``.
    """

    def __init__(self) -> None:
        self._rows: dict[tuple[float, float, bytes], NDArray[Any]] = {}

    def __getitem__(self, key: tuple[float, float, bytes]) -> NDArray[Any] | None:
        return self._rows.get(key)

    def __setitem__(self, key: tuple[float, float, bytes], rows: NDArray[Any]) -> None:
        self._rows[key] = rows
        while sum(each.nbytes for each in self._rows.values()) > PATH_BYTES:
            self._rows.pop(next(iter(self._rows)))


class Diffusion:
    """Diffuses features on one graph, for any time s.

    Parameters
    ----------
    graph
        With features.
    scaling
        How its features are scaled before.
    self_weight
        θ, the weight of a node's own features beside the diffused ones, in [0, 1).
    """

    def __init__(
        self,
        graph: Graph,
        scaling: Scaling,
        *,
        self_weight: float = 0.0,
        threads: int | None = None,
    ) -> None:
        self.graph, self.scaling, self.threads = graph, scaling, threads
        self.self_weight = self_weight
        self.features = scaled_features(graph, scaling)
        self._kernels: dict[tuple[float, float, Auto], HeatKernel] = {}
        self._kept, self._kept_features = KeptRows(), KeptRows()

    def keeping(self, self_weight: float) -> Diffusion:
        """Return the same with another self weight; both have rows of the kernel in common."""
        other = copy.copy(self)
        other.self_weight = self_weight
        return other

    def rescaled(self, scaling: Scaling) -> Diffusion:
        """Return the same with another scaling; both have rows of the kernel in common."""
        other = copy.copy(self)
        other.scaling, other.features = scaling, scaled_features(self.graph, scaling)
        other._kept_features = KeptRows()
        return other

    def _kernel(self, s: float, tol: float, engine: Auto = ONE_OFF) -> HeatKernel:
        key = s, tol, engine
        if key not in self._kernels:
            self._kernels[key] = HeatKernel(
                self.graph, s, tol=tol, self_loops=SELF_LOOPS, engine=engine, threads=self.threads
            )
        return self._kernels[key]

    def noise(self, tol: float) -> float:
        """Return how far a diffused row may be off, as a length."""
        values = self.features if isinstance(self.features, np.ndarray) else self.features.data
        return NOISE[tol] * float(np.sqrt(np.vdot(values, values) / self.graph.n))

    def spread(self, block: NDArray[Any], s: float) -> Array:
        """Return the diffused columns, shape (n, k)."""
        with_ones = np.column_stack([block, np.ones(self.graph.n)])
        heat = np.asarray(self._kernel(s, TOL).apply(with_ones), dtype=np.float64)
        return beside(block, heat[:, :-1] / heat[:, -1:], self.self_weight)

    def weights(self, nodes: NDArray[np.int64], s: float, engine: Auto = ONE_OFF) -> Array:
        """Return what every node's features count for in those of ``nodes``, shape (k, n)."""
        units = self._units(nodes, np.float64)
        heat = np.asarray(self._kernel(s, TOL, engine).apply(units), dtype=np.float64).T
        return beside(units.T, heat / heat.sum(axis=1, keepdims=True), self.self_weight)

    def _brought(self, nodes: NDArray[np.int64], s: float) -> Array:
        """Return what heat brings ``nodes``, shape (k, f); what was asked for last is kept."""
        key = s, TOL, nodes.tobytes()
        kept = self._kept_features[key]
        if kept is None:
            width = max(1, int(PATH_BYTES // (8 * self.graph.n)))
            strips = [nodes[a : a + width] for a in range(0, len(nodes), width)]
            kept = np.vstack([(self.features.T @ self._means(each, s)).T for each in strips])
            self._kept_features[key] = kept
        return kept

    def _means(self, nodes: NDArray[np.int64], s: float) -> Array:
        """Return columns of weights that sum to 1, shape (n, k); those of the last calls are kept.

        Column j tells what every node's features count for in what heat brings ``nodes[j]``.
        """
        key = s, TOL, nodes.tobytes()
        kept = self._kept[key]
        if kept is None:
            kept = np.asarray(self._kernel(s, TOL).apply(self._units(nodes, np.float64)))
            kept /= kept.sum(axis=0)
            self._kept[key] = kept
        return kept

    def _units(self, nodes: NDArray[np.int64], dtype: Any) -> NDArray[Any]:
        """Return a column for each node, 1 there and 0 elsewhere, shape (n, k)."""
        units = np.zeros((self.graph.n, len(nodes)), dtype=dtype)
        units[nodes, np.arange(len(nodes))] = 1.0
        return units

    def heat_from(self, nodes: NDArray[np.int64], s: float) -> Array:
        """Return the heat that arrives at each node from ``nodes``, 1 at each, shape (n,)."""
        units = np.zeros(self.graph.n)
        units[nodes] = 1.0
        return np.asarray(self._kernel(s, TOL).apply(units), dtype=np.float64)

    def rows(self, nodes: NDArray[np.int64], s: float) -> Array:
        """Return the diffused features of ``nodes``, shape (k, f), to full accuracy."""
        if s == 0:
            return dense_rows(self.features, nodes)
        if self.features.shape[1] > len(nodes):
            heat = self._brought(nodes, s)
            own = dense_rows(self.features, nodes) if self.self_weight else heat
            return beside(own, heat, self.self_weight)
        block = self.features.toarray() if sp.issparse(self.features) else self.features
        return self.spread(block, s)[nodes]

    def path(
        self, nodes: NDArray[np.int64], times: NDArray[np.float64]
    ) -> Iterator[NDArray[np.float32]]:
        """Yield, for each time, what heat brings ``nodes``: rows of shape (k, f), float32.

        All times have one diffusion in common, of the narrow side: of the features where there are
        fewer of them than nodes, otherwise of the nodes themselves, whose rows of the kernel are
        then multiplied with the features (e^{-sL} is symmetric). Where that would take much memory,
        a few times have one. The share of a node's own features is left to the caller.
        """
        together = max(1, int(PATH_BYTES // max(4 * len(nodes) * self.features.shape[1], 1)))
        if len(times) and times[0] == 0:  # a time of no work: float64's, for exact zeros and ones
            yield dense_rows(self.features, nodes).astype(np.float32)
            times = times[1:]
        features = self.features.astype(np.float32)
        for first in range(0, len(times), together):
            part = times[first : first + together]
            if features.shape[1] > len(nodes):
                yield from self._from_rows(nodes, part, features)
                continue
            kernel = self._kernel(0.0, PATH_TOL)
            sums = kernel.sweep(np.ones(self.graph.n, dtype=np.float32), part, rows=nodes)
            for heat, total in zip(kernel.sweep(features, part, rows=nodes), sums, strict=True):
                yield heat / total[:, None]

    def _from_rows(
        self, nodes: NDArray[np.int64], times: NDArray[np.float64], features: Any
    ) -> Iterator[NDArray[np.float32]]:
        """Yield the same by rows of the kernel, as many at once as memory is meant for."""
        most = min(STRIP, max(1, int(PATH_BYTES // (4 * self.graph.n * len(times)))))
        strips = math.ceil(len(nodes) / most)
        width = math.ceil(len(nodes) / strips)
        # All strips together must pay for loading compiled code, not each of them.
        engine = replace(ONE_OFF, signals=ONE_OFF.signals / strips)
        kernel = self._kernel(0.0, PATH_TOL, engine)
        found = np.empty((len(times), len(nodes), features.shape[1]), dtype=np.float32)
        for a in range(0, len(nodes), width):
            for k, heat in enumerate(self._path_means(kernel, nodes[a : a + width], times)):
                # Of a matrix compressed by row the transpose is at hand, compressed by column.
                found[k, a : a + width] = (features.T @ heat).T
        yield from found

    def _path_means(
        self, kernel: HeatKernel, nodes: NDArray[np.int64], times: NDArray[np.float64]
    ) -> list[NDArray[np.float32]]:
        """Return columns of weights that sum to 1, shape (n, k), for each time; they are kept."""
        keys = [(float(s), PATH_TOL, nodes.tobytes()) for s in times]
        kept = [self._kept[key] for key in keys]
        missing = [k for k, heat in enumerate(kept) if heat is None]
        if missing:
            swept = kernel.sweep(self._units(nodes, np.float32), times[missing])
            for k, heat in zip(missing, swept, strict=True):
                heat /= heat.sum(axis=0)
                kept[k] = self._kept[keys[k]] = heat
        return [heat for heat in kept if heat is not None]


def beside(x: NDArray[Any], heat: NDArray[Any], own: float) -> NDArray[Any]:
    """Return own·x + (1 − own)·heat."""
    return own * x + (1.0 - own) * heat if own else heat


def check_features(graph: Graph) -> Features:
    """Return what is diffused, or raise where there is nothing."""
    if graph.features is None:
        raise GraphError(
            f"{graph.name} has no features, and the linear recipe has nothing to diffuse. Use "
            "HeatLabelSpreading, or recipe 'lp', which need none."
        )
    return graph.features


def scaled_features(graph: Graph, scaling: Scaling) -> Matrix:
    """Return the scaled features, shape (n, f), float64: by row compressed, or dense."""
    return scaling.apply(check_features(graph)).astype(np.float64)


def dense_rows(features: Matrix, nodes: NDArray[np.int64]) -> Array:
    """Return rows of a matrix, dense, shape (k, f)."""
    chosen = features[nodes]
    return np.asarray(chosen.toarray() if sp.issparse(chosen) else chosen, dtype=np.float64)
