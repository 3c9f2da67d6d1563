"""The sliced engine: one signal, or a few, through all steps in one compiled loop.

What the other engines do for a row of columns side by side, this one does for eight rows of a
single column. The vectors T_k may be kept in float32 where the series allows: all arithmetic is in
float64, so that a step rounds each number once, whatever the degrees. Importing this module does
not import numba; calling it does.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphheat.heat.engines.columns import ColumnEngine
from graphheat.heat.engines.engine import Cost, Request
from graphheat.heat.engines.sliced.slices import Slices, slices_of
from graphheat.heat.operand import Operand
from graphheat.heat.series import DOUBLE, SINGLE, ChebyshevSeries

THREADED = 1 << 19  # entries from which on a step is divided among threads


class SlicedEngine(ColumnEngine):
    """Eight rows of one column at a time: for signals that are too few to fill a vector.

    Notes
    -----
    *Accuracy*: as the series says. *Cost*: max(order) passes over the entries per column; 4 bytes
    per entry, 12 with weights, made once, and 4 + len(series) vectors. *Deterministic*: yes, for
    any number of threads. *Isolated nodes*: as asked for.
    """

    name = "sliced"
    requires = ("numba",)

    def declines(self, operand: Operand, request: Request) -> str | None:
        """Return why not: slices are held in memory."""
        return "slices of a graph on disk are not made" if operand.mapped else None

    def apply(
        self,
        operand: Operand,
        block: NDArray[Any],
        series: Sequence[ChebyshevSeries],
        *,
        rows: NDArray[np.int64] | None = None,
        threads: int = 1,
    ) -> NDArray[Any]:
        """Return f(S) ``block`` for each f, shape (series, n, c), a column at a time."""
        from graphheat.heat.engines.sliced import slice_loops as loops

        n, c = block.shape
        slices = slices_of(operand)
        stored = SINGLE if all(SINGLE in (e.dtype, e.stored) for e in series) else DOUBLE
        order = max(each.order for each in series)
        coefficients = np.zeros((len(series), order + loops.RING - order % loops.RING))
        for row, each in zip(coefficients, series, strict=True):
            row[: each.order + 1] = each.coefficients
        results = np.empty((len(series), n, c), dtype=block.dtype)
        T = np.zeros((loops.RING, slices.places), dtype=stored)
        totals = np.zeros((len(series), slices.places))
        for j in range(c):
            x = np.ascontiguousarray(block[:, j])
            x = x.view()
            x.flags.writeable = False
            # Powers of two keep any signal's numbers in the range of float32.
            largest = loops.largest(x) if stored == SINGLE else 1.0
            unit = math.ldexp(1.0, min(max(math.frexp(largest)[1], -1000), 1000))
            if j:
                T[:], totals[:] = 0, 0
            loops.fill(x, slices.order, slices.roots, unit, T[0])
            if order == 0:
                totals[:] = coefficients[:, :1] * T[0]
            else:
                _run(loops, order, slices, T, coefficients, totals, threads)
            for e in range(len(series)):
                out = results[e, :, j] if c == 1 else np.empty(n, dtype=block.dtype)
                loops.take(totals[e], slices.place, slices.roots, unit, out)
                results[e, :, j] = out
        return results if rows is None else results[:, rows]

    def cost(self, operand: Operand, request: Request, *, threads: int = 1) -> Cost:
        """Return order · nnz multiply-adds per column, and the vectors of one."""
        column = max(1, request.order) * max(1, operand.nnz)
        return Cost(column * request.columns, 8 * operand.n * (4 + len(request.series)))


def _run(
    loops: Any,
    order: int,
    slices: Slices,
    T: NDArray[Any],
    coefficients: NDArray[np.float64],
    totals: NDArray[np.float64],
    threads: int,
) -> None:
    """Take all steps of one column."""
    arrays = slices.arrays
    if threads == 1 or len(arrays.columns) < THREADED:
        loops.run(order, arrays, T, coefficients, totals)
        return
    with ThreadPoolExecutor(threads) as pool:
        for k in range(1, order + 1):

            def step(rows: tuple[int, int], k: int = k) -> None:
                loops.advance(rows[0], rows[1], k, k == order, arrays, T, coefficients, totals)

            for _ in pool.map(step, slices.bounds(4 * threads)):
                pass
