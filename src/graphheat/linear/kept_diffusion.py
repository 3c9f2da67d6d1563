"""Diffusion whose rows stay, node by node: for labels that come one after another.

A fit asks for the diffused features of its training nodes at every time of the grid. After one more
label all but one of them are those of the fit before, so that only the new node's are computed: a
column of the kernel for all times together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphheat.features import Scaling
from graphheat.graph import Graph
from graphheat.linear.diffusion import (
    PATH_TOL,
    TOL,
    Array,
    Diffusion,
    beside,
    dense_rows,
)

MOST_BYTES = 4e8  # that kept rows of one scaling may take; of more nodes none are kept
TOGETHER = 64  # nodes whose columns of the kernel are computed at once

Nodes = NDArray[np.int64]


class KeptDiffusion(Diffusion):
    """Diffuses features as :class:`~graphheat.linear.diffusion.Diffusion` does, and keeps rows.

    Parameters
    ----------
    graph
        With features; its labels are not looked at, so that it serves whatever is labelled.
    scaling
        How its features are scaled before.
    times
        Those that rows are asked for at; rows of another time are not kept.
    final
        Whether rows to full accuracy are asked for too, as by a fit.

    Notes
    -----
    *Accuracy*: that of ``Diffusion``; a row differs by rounding from one computed with others.
    *Cost*: of a node that is new, a column of the kernel for all times, once for all scalings; of
    one asked for before, none. *Deterministic*: yes, for an order in which nodes are asked for.
    *Isolated nodes*: keep their own features.
    """

    def __init__(
        self,
        graph: Graph,
        scaling: Scaling,
        times: Sequence[float],
        *,
        final: bool = True,
        threads: int | None = None,
    ) -> None:
        super().__init__(graph, scaling, threads=threads)
        self._times = np.array([s for s in times if s > 0], dtype=np.float64)
        self._final = final
        self._rows: dict[int, dict[float, NDArray[Any]]] = {}  # by node and accuracy: (times, f)

    def rescaled(self, scaling: Scaling) -> KeptDiffusion:
        """Return the same with another scaling; both have rows of the kernel in common."""
        other = super().rescaled(scaling)
        assert isinstance(other, KeptDiffusion)
        other._rows = {}
        return other

    def path(self, nodes: Nodes, times: NDArray[np.float64]) -> Iterator[NDArray[np.float32]]:
        """Yield, for each time, what heat brings ``nodes``: rows of shape (k, f), float32."""
        if not self._keeps(nodes, times):
            yield from super().path(nodes, times)
            return
        self._learn(nodes)
        for s in times:
            if s == 0:
                yield dense_rows(self.features, nodes).astype(np.float32)
            else:
                yield self._held(nodes, float(s), PATH_TOL)

    def rows(self, nodes: Nodes, s: float) -> Array:
        """Return the diffused features of ``nodes``, shape (k, f), to full accuracy."""
        if s == 0 or not self._final or not self._keeps(nodes, np.array([s])):
            return super().rows(nodes, s)
        self._learn(nodes)
        heat = self._held(nodes, s, TOL)
        own = dense_rows(self.features, nodes) if self.self_weight else heat
        return beside(own, heat, self.self_weight)

    def _keeps(self, nodes: Nodes, times: NDArray[np.float64]) -> bool:
        size = (12 if self._final else 4) * len(self._times) * self.features.shape[1]
        small = max(len(nodes), len(self._rows)) * size <= MOST_BYTES
        return small and bool(np.isin(times[times > 0], self._times).all())

    def _held(self, nodes: Nodes, s: float, tol: float) -> NDArray[Any]:
        k = int(np.searchsorted(self._times, s))
        return np.stack([self._rows[node][tol][k] for node in nodes.tolist()])

    def _learn(self, nodes: Nodes) -> None:
        """Compute the rows of nodes that are new, at all times."""
        new = np.array([node for node in nodes.tolist() if node not in self._rows], dtype=np.int64)
        for a in range(0, len(new), TOGETHER):
            some = new[a : a + TOGETHER]
            kinds: dict[float, Any] = {PATH_TOL: np.float32}
            if self._final:
                kinds[TOL] = np.float64
            found = {tol: self._brought_at_all(some, tol, dtype) for tol, dtype in kinds.items()}
            for j, node in enumerate(some.tolist()):
                self._rows[node] = {tol: np.ascontiguousarray(x[:, j]) for tol, x in found.items()}

    def _brought_at_all(self, nodes: Nodes, tol: float, dtype: Any) -> NDArray[Any]:
        """Return what heat brings ``nodes`` at every time, shape (times, k, f)."""
        features = self.features.astype(dtype, copy=False)
        kernel = self._kernel(0.0, tol)
        keys = [(float(s), tol, nodes.tobytes()) for s in self._times]
        kept = [heat for heat in (self._kept[key] for key in keys) if heat is not None]
        if len(kept) < len(keys):
            kept = list(kernel.sweep(self._units(nodes, dtype), self._times))
            for key, heat in zip(keys, kept, strict=True):
                heat /= heat.sum(axis=0)
                self._kept[key] = heat
        columns: NDArray[Any] = np.concatenate(
            kept, axis=1
        )  # one product with the features for all times
        return np.asarray(features.T @ columns).T.reshape(len(keys), len(nodes), -1)
