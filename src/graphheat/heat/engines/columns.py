"""What an engine that can apply f(S) to columns does for rows and matrices: entries by columns."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graphheat.heat.engines import probes, strips
from graphheat.heat.engines.engine import Cost, Engine, Request
from graphheat.heat.operand import SAMPLE_WORK, Operand
from graphheat.heat.series import ChebyshevSeries
from graphheat.progress import Progress


class ColumnEngine(Engine):
    """An engine with an ``apply`` of its own, and all else by it: f(S) is f(S) applied to units.

    Notes
    -----
    *Accuracy* of entries: that of ``apply``; in float32 measured on this very graph
    (:mod:`~graphheat.heat.engines.probes`). *Cost*: order · nnz multiply-adds for a column.
    *Deterministic*: if ``apply`` is.
    """

    def declines(self, operand: Operand, request: Request) -> str | None:
        """Return None: signals, rows and matrices of any series can be had."""
        return None

    def entry_series(self, operand: Operand, series: ChebyshevSeries) -> ChebyshevSeries:
        """Return ``series`` in the precision that this engine's own arithmetic allows."""

        def make() -> ChebyshevSeries:
            affordable = probes.COLUMNS * series.order * operand.nnz <= SAMPLE_WORK
            measure = partial(probes.entry_error, self, operand) if affordable else None
            return series.for_entries(operand.longest_row, measure)

        return operand.kept((self.name, "entries", series), make)

    def columns(
        self, operand: Operand, indices: NDArray[np.int64], series: ChebyshevSeries
    ) -> NDArray[Any]:
        """Return columns of f(S), shape (n, len(indices)), in the precision of ``series``."""
        block = strips.unit_columns(operand.n, indices, series.dtype)
        return self.apply(operand, block, [series])[0]

    def rows(
        self,
        operand: Operand,
        indices: NDArray[np.int64],
        series: ChebyshevSeries,
        eps: float,
        *,
        threads: int = 1,
    ) -> sp.csr_array:
        """Return rows of f(S), entries at least ``eps``, shape (len(indices), n)."""
        entries = self.entry_series(operand, series)
        return strips.rows(
            lambda strip: self.columns(operand, strip, entries),
            indices,
            eps,
            operand.n,
            threads,
            signed=series.signed,
        )

    def matrix(
        self,
        operand: Operand,
        series: ChebyshevSeries,
        eps: float,
        *,
        threads: int = 1,
        progress: Progress | None = None,
    ) -> sp.csr_array:
        """Return the entries of f(S) that are at least ``eps``, exactly symmetric, shape (n, n)."""
        entries = self.entry_series(operand, series)
        return strips.matrix(
            lambda strip: self.columns(operand, strip, entries),
            operand.n,
            eps,
            threads,
            progress,
            signed=series.signed,
        )

    def cost(self, operand: Operand, request: Request, *, threads: int = 1) -> Cost:
        """Return order · nnz multiply-adds per column, and four strips per thread."""
        column = max(1, request.order) * max(1, operand.nnz)
        number = max(each.dtype.itemsize for each in request.series)
        return Cost(column * request.columns, 4 * operand.n * strips.WIDTH * number * threads)
