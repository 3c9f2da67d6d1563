"""The panel engine: a few columns of T_{k−1}, T_k and the sum in memory, edges streamed by.

What the scipy and numba engines do for strips that stay in cache, this one does for graphs of which
nothing does: rows as wide as whole cache lines allow, threads over rows instead of strips, and no
entry of S where all weights are 1. Indices may be mapped from disk: they are read from first to
last in every step, which a disk does as fast as memory once rows are wide enough.

References
----------
D. Zheng, D. Mhembere, V. Lyzinski et al.: Semi-External Memory Sparse Matrix Multiplication for
Billion-Node Graphs, IEEE TPDS 2017.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphheat.heat.engines.columns import ColumnEngine
from graphheat.heat.engines.engine import Cost, Request
from graphheat.heat.engines.panel.links import Links, links_of
from graphheat.heat.operand import Operand
from graphheat.heat.series import ChebyshevSeries
from graphheat.progress import Progress

ROW_BYTES = (32, 64, 128, 256)  # that a row of a panel may have
TASK = 1 << 21  # entries that a thread takes at a time


class Panel:
    """Columns on their way through the recurrence.

    Parameters
    ----------
    links
        The graph.
    columns
        How many, at most what a row of 256 bytes holds.
    dtype
        Of the recurrence.
    series
        How many series are added up.
    """

    def __init__(self, links: Links, columns: int, dtype: np.dtype[Any], series: int = 1) -> None:
        self.links, self.dtype, self.columns = links, dtype, columns
        self.width = row_bytes(columns, dtype) // dtype.itemsize
        size = links.n * self.width
        self._now, self._after = np.zeros(size, dtype=dtype), np.zeros(size, dtype=dtype)
        self._totals = np.zeros(series * size, dtype=dtype)

    def fill(self, first: int, last: int, values: NDArray[Any]) -> None:
        """Put columns into the rows first … last, shape (last − first, columns)."""
        places = self._places(first, last)
        block = self._now.reshape(-1, self.width)
        if self.links.roots is None:
            block[places, : self.columns] = values
        else:
            block[places, : self.columns] = values / self.links.roots[places][:, None]

    def run(
        self,
        series: Sequence[ChebyshevSeries],
        *,
        threads: int = 1,
        progress: Progress | None = None,
    ) -> None:
        """Go through all steps; :meth:`rows` then has the results."""
        from graphheat.heat.engines.panel import panel_loops as loops

        coefficients = coefficients_of(series, self.dtype)
        order = coefficients.shape[1] - 1
        size = len(self._now)
        for e in range(len(series)):
            np.multiply(self._now, coefficients[e, 0], out=self._totals[e * size : (e + 1) * size])
        bounds = self.links.bounds(TASK)
        now, after = self._now, self._after
        with ThreadPoolExecutor(threads) as pool:
            for k in range(1, order + 1):
                scale = self.dtype.type(1 if k == 1 else 2)
                taken = np.ascontiguousarray(coefficients[:, k])

                def work(rows: tuple[int, int]) -> None:
                    loops.step(
                        *rows, 0, self.width, self.links.arrays, scale, now, after,  # noqa: B023
                        self._totals, taken,  # noqa: B023
                    )  # fmt: skip

                if threads == 1 or len(bounds) == 1:
                    for rows in bounds:
                        work(rows)
                else:
                    for _ in pool.map(work, bounds):
                        pass
                now, after = after, now
                if progress is not None:
                    progress(k, order, "steps")

    def rows(self, chosen: NDArray[np.int64] | slice, series: int = 0) -> NDArray[Any]:
        """Return rows of a result, shape (k, columns)."""
        if isinstance(chosen, slice):
            places = self._places(*chosen.indices(self.links.n)[:2])
        else:
            places = chosen if self.links.rank is None else self.links.rank[chosen]
        size = len(self._now)
        total = self._totals[series * size : (series + 1) * size].reshape(-1, self.width)
        values: NDArray[Any] = total[places, : self.columns]
        if self.links.roots is not None:
            values = values * self.links.roots[places][:, None]
        return values

    def _places(self, first: int, last: int) -> Any:
        return slice(first, last) if self.links.rank is None else self.links.rank[first:last]


class PanelEngine(ColumnEngine):
    """Wide panels with rows in threads, for graphs that are far larger than a cache, or on disk.

    Notes
    -----
    *Accuracy*: as the series says. *Cost*: max(order) passes over the edges per panel of at most
    256 bytes a row; 2 + len(series) arrays of n such rows. *Deterministic*: yes, for any number of
    threads and any bounds of rows. *Isolated nodes*: as asked for.
    """

    name = "panel"
    requires = ("numba",)

    def declines(self, operand: Operand, request: Request) -> str | None:
        """Return why not: entries of a matrix on disk are not collected."""
        if request.kind == "matrix" and operand.mapped:
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
        """Return f(S) ``block`` for each f, a panel at a time."""
        n, c = block.shape
        links = links_of(operand, block.dtype)
        chosen = slice(0, n) if rows is None else rows
        results = [np.empty((n if rows is None else len(rows), c), block.dtype) for _ in series]
        width = widest(n, block.dtype, len(series))
        for a in range(0, c, width):
            columns = slice(a, min(a + width, c))
            panel = Panel(links, columns.stop - a, block.dtype, len(series))
            panel.fill(0, n, block[:, columns])
            panel.run(series, threads=threads)
            for e, result in enumerate(results):
                result[:, columns] = panel.rows(chosen, e)
        return results

    def entry_series(self, operand: Operand, series: ChebyshevSeries) -> ChebyshevSeries:
        """Return ``series`` in the precision for entries; on disk nothing is probed for it."""
        if operand.mapped:
            return series.for_entries(operand.longest_row, None)
        return super().entry_series(operand, series)

    def cost(self, operand: Operand, request: Request, *, threads: int = 1) -> Cost:
        """Return order · nnz multiply-adds per column, and the arrays of a panel."""
        column = max(1, request.order) * max(1, operand.nnz)
        dtype = max((each.dtype for each in request.series), key=lambda each: each.itemsize)
        rows = row_bytes(min(request.columns, 256 // dtype.itemsize), dtype)
        arrays = 2 + len(request.series)
        return Cost(column * request.columns, arrays * operand.n * rows)


def row_bytes(columns: int, dtype: np.dtype[Any]) -> int:
    """Return the bytes of a panel's row that holds so many columns.

    Examples
    --------
    >>> row_bytes(10, np.dtype(np.float32))
    64
    """
    return next(size for size in (*ROW_BYTES, columns * dtype.itemsize)
                if size >= columns * dtype.itemsize)  # fmt: skip


def widest(n: int, dtype: np.dtype[Any], series: int, room: int | None = None) -> int:
    """Return how many columns a panel may have so that its arrays fit into ``room`` bytes."""
    for size in reversed(ROW_BYTES[1:]):
        if room is None or (2 + series) * n * size <= room:
            return int(size // dtype.itemsize)
    return int(ROW_BYTES[0] // dtype.itemsize)


def coefficients_of(series: Sequence[ChebyshevSeries], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return all coefficients, shape (series, largest order + 1), 0 beyond a series' order."""
    order = max(each.order for each in series)
    coefficients = np.zeros((len(series), order + 1), dtype=dtype)
    for row, each in zip(coefficients, series, strict=True):
        row[: each.order + 1] = each.coefficients
    return coefficients
