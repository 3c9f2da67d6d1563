"""The cluster engine: products with a graph on disk, by whatever a cluster runs tasks on."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphheat.errors import ParameterError
from graphheat.heat.engines.cluster.cluster import Cluster
from graphheat.heat.engines.columns import ColumnEngine
from graphheat.heat.engines.engine import Request
from graphheat.heat.operand import MappedOperand, Operand
from graphheat.heat.series import ChebyshevSeries


class ClusterEngine(ColumnEngine):
    """Steps as tasks over block files; ``graphheat.cluster`` opens the cluster.

    Parameters
    ----------
    cluster
        Who runs the tasks, and the folder that workers share.

    Notes
    -----
    *Accuracy*: the bits of the panel engine. *Cost*: order · blocks tasks. *Deterministic*: yes.
    *Isolated nodes*: as the operand has them. Graphs in memory are declined.
    """

    name = "cluster"
    requires = ("numba",)

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster

    def declines(self, operand: Operand, request: Request) -> str | None:
        """Return why not: tasks read a graph on disk."""
        if not operand.mapped:
            return "a cluster computes with graphs on disk"
        if request.kind == "matrix":
            return "a matrix of all entries is not made of a graph on disk"
        return None

    def apply(
        self,
        operand: Operand,
        block: NDArray[Any],
        series: Sequence[ChebyshevSeries],
        *,
        rows: NDArray[np.int64] | None = None,
        threads: int = 1,
    ) -> list[NDArray[Any]]:
        """Return f(S) ``block`` for each f; the precision is that of ``block``."""
        if not isinstance(operand, MappedOperand):
            raise ParameterError("The cluster engine takes graphs on disk. Use engine='auto'.")
        alike = [replace(each, dtype=block.dtype) for each in series]
        # The cluster knows a diffusion again by its first rows; here all of them decide.
        digest = hashlib.sha256(np.ascontiguousarray(block).tobytes()).hexdigest()[:16]
        cluster = replace(self.cluster, folder=self.cluster.folder / digest)
        try:
            found = cluster.diffuse(
                operand.graph,
                lambda first, last, part: block[first:last, part],
                block.shape[1],
                alike,
                laplacian=operand.laplacian,
                threads=threads,
            )
            chosen = np.arange(operand.n) if rows is None else rows
            return [np.array(found(chosen, e)) for e in range(len(series))]
        finally:
            cluster.clear()

    def entry_series(self, operand: Operand, series: ChebyshevSeries) -> ChebyshevSeries:
        """Return ``series`` in the precision for entries; nothing is probed for it."""
        return series.for_entries(operand.longest_row, None)
