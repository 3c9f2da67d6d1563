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

import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphheat.heat.engines.columns import ColumnEngine
from graphheat.heat.engines.engine import Cost, Request
from graphheat.heat.engines.panel.links import Links, links_of
from graphheat.heat.engines.panel.tiles import LEAST_NODES, Tiles, tiles_of
from graphheat.heat.engines.threads import in_threads
from graphheat.heat.operand import Operand
from graphheat.heat.series import DOUBLE, SINGLE, ChebyshevSeries
from graphheat.progress import Progress

ROW_BYTES = (32, 64, 128, 256)  # that a row of a panel may have
TASK = 1 << 18  # entries that a thread takes at a time: few enough that threads end together
WALKED = 128  # bytes of a panel's row above which rows are taken one by one, not in tiles
STRIP = 1 << 17  # rows that are put in, or taken out, at a time


class Panel:
    """Columns on their way through the recurrence.

    Parameters
    ----------
    links
        The graph.
    columns
        How many.
    dtype
        Of the recurrence.
    series
        How many series are added up.
    tiles
        The entries in the order of tiles, of a large graph; columns then go in groups that are as
        wide as suits these. The bits of the results do not depend on it.
    """

    def __init__(
        self,
        links: Links,
        columns: int,
        dtype: np.dtype[Any],
        series: int = 1,
        tiles: Tiles | None = None,
    ) -> None:
        self.links, self.dtype, self.columns, self.tiles = links, dtype, columns, tiles
        most = columns * dtype.itemsize if tiles is None else tiles.row_bytes
        row = row_bytes(min(columns, most // dtype.itemsize), dtype)
        self.width = row // dtype.itemsize
        self.groups = -(-columns // self.width)
        self._size = links.n * self.width
        # Columns wait for their turn where the first sum will be.
        self._totals = np.zeros((self.groups, series * self._size), dtype=dtype)
        self._local = threading.local()

    def fill(self, first: int, last: int, values: NDArray[Any]) -> None:
        """Put columns into the rows first … last, shape (last − first, columns)."""
        from graphheat.heat.engines.panel import panel_loops as loops

        places = self._places(first, last)
        for group, part in enumerate(self._parts()):
            loops.put_rows(places, self._roots, values[:, part], self._total(group, 0))

    def run(
        self,
        series: Sequence[ChebyshevSeries],
        *,
        threads: int = 1,
        progress: Progress | None = None,
    ) -> None:
        """Go through all steps; :meth:`rows` then has the results."""
        coefficients = coefficients_of(series, self.dtype)
        order = coefficients.shape[1] - 1
        now, after = np.empty(self._size, self.dtype), np.empty(self._size, self.dtype)
        with ThreadPoolExecutor(threads) as pool:
            for group in range(self.groups):
                totals = self._totals[group]
                begin = partial(self._begin, now, after, totals, coefficients[:, 0])
                in_threads(begin, strips_of(self.links.n), threads)
                for k in range(1, order + 1):
                    scale = self.dtype.type(1 if k == 1 else 2)
                    taken = np.ascontiguousarray(coefficients[:, k])
                    work = self._work(scale, now, after, totals, taken)
                    if threads == 1:
                        for rows in self._bounds:
                            work(rows)
                    else:
                        for _ in pool.map(work, self._bounds):
                            pass
                    now, after = after, now
                    if progress is not None:
                        progress(group * order + k, self.groups * order, "steps")

    def _begin(
        self, now: Any, after: Any, totals: Any, coefficients: Any, strip: tuple[int, int]
    ) -> None:
        """Set T_0, T_{-1} = 0 and the first term of each sum in a strip of rows."""
        first, last = (row * self.width for row in strip)
        now[first:last] = totals[first:last]
        after[first:last] = 0
        for e, c in enumerate(coefficients):
            part = totals[e * self._size :]
            np.multiply(now[first:last], c, out=part[first:last])

    def _work(self, scale: Any, now: Any, after: Any, totals: Any, taken: Any) -> Any:
        """Return what takes a step in some rows."""
        from graphheat.heat.engines.panel import panel_loops as loops

        links, tiles, width = self.links.arrays, self.tiles, self.width

        def row_by_row(rows: tuple[int, int]) -> None:
            loops.step(*rows, 0, width, links, scale, now, after, totals, taken)

        def tiled(rows: tuple[int, int]) -> None:
            assert tiles is not None
            if not hasattr(self._local, "sums"):  # once per thread: new pages cost as a tile does
                self._local.sums = np.empty(width << tiles.bits, self.dtype)
            tile = rows[0] // tiles.rows
            loops.tiled_step(
                *rows, width, links, tiles.codes[tile], tiles.weights[tile], tiles.bits, scale, now,
                after, totals, taken, self._local.sums,
            )  # fmt: skip

        return row_by_row if tiles is None else tiled

    @cached_property
    def _bounds(self) -> list[tuple[int, int]]:
        return self.links.bounds(TASK) if self.tiles is None else self.tiles.bounds(self.links.n)

    def rows(self, chosen: NDArray[np.int64] | slice, series: int = 0) -> NDArray[Any]:
        """Return rows of a result, shape (k, columns)."""
        from graphheat.heat.engines.panel import panel_loops as loops

        if isinstance(chosen, slice):
            places = self._places(*chosen.indices(self.links.n)[:2])
        else:
            places = chosen if self.links.rank is None else self.links.rank[chosen]
        values = np.empty((len(places), self.columns), dtype=self.dtype)
        for group, part in enumerate(self._parts()):
            loops.take_rows(places, self._roots, self._total(group, series), values[:, part])
        return values

    def _parts(self) -> Iterator[slice]:
        for a in range(0, self.columns, self.width):
            yield slice(a, min(a + self.width, self.columns))

    def _total(self, group: int, series: int) -> NDArray[Any]:
        part = self._totals[group, series * self._size : (series + 1) * self._size]
        return part.reshape(-1, self.width)

    def _places(self, first: int, last: int) -> NDArray[Any]:
        rank = self.links.rank
        return np.arange(first, last) if rank is None else rank[first:last]

    @property
    def _roots(self) -> NDArray[Any]:
        return np.empty(0, self.dtype) if self.links.roots is None else self.links.roots


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
        dtype, units = block.dtype, None
        if dtype == DOUBLE and n >= LEAST_NODES and all(each.dtype == SINGLE for each in series):
            # The bound is met in half the bytes. Powers of two keep any column's numbers in range.
            dtype, units = SINGLE, _powers(block)
        links = links_of(operand, dtype)
        results = [np.empty((n if rows is None else len(rows), c), block.dtype) for _ in series]
        most = widest(n, dtype, len(series))
        for a in range(0, c, most):
            columns = slice(a, min(a + most, c))
            tiles = kept_tiles(operand, links, columns.stop - a, threads)
            panel = Panel(links, columns.stop - a, dtype, len(series), tiles)
            unit = None if units is None else units[columns]
            put_in = partial(_put_in, panel, block[:, columns], unit)
            in_threads(put_in, strips_of(n), threads)
            panel.run(series, threads=threads)
            parts = [result[:, columns] for result in results]
            take_out = partial(_take_out, panel, parts, unit, rows)
            in_threads(take_out, strips_of(n if rows is None else len(rows)), threads)
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


def kept_tiles(operand: Operand, links: Links, columns: int, threads: int = 1) -> Tiles | None:
    """Return the tiles of an operand, sorted once for all precisions; None for wide panels.

    A row of several cache lines that is asked for ahead of its use comes from memory about as fast
    as lines in a row do; what tiles would save is then less than what moving columns into narrow
    groups costs.
    """
    if columns * links.arrays.inverse.itemsize > WALKED:
        return None
    # Weights of S itself are in the precision of the links; those of a graph in their own.
    precision = "" if links.roots is not None else links.arrays.weights.dtype.str
    return operand.kept(("tiles", precision), lambda: tiles_of(links, threads))


def strips_of(n: int) -> list[tuple[int, int]]:
    """Return (first, last) of ranges of rows that are copied at a time."""
    return [(first, min(n, first + STRIP)) for first in range(0, n, STRIP)]


def _put_in(
    panel: Panel, block: NDArray[Any], unit: NDArray[Any] | None, strip: tuple[int, int]
) -> None:
    values = block[slice(*strip)]
    panel.fill(*strip, values if unit is None else values / unit)


def _take_out(
    panel: Panel,
    results: Sequence[NDArray[Any]],
    unit: NDArray[Any] | None,
    rows: NDArray[np.int64] | None,
    strip: tuple[int, int],
) -> None:
    chosen = slice(*strip) if rows is None else rows[slice(*strip)]
    for e, result in enumerate(results):
        values = panel.rows(chosen, e)
        result[slice(*strip)] = values if unit is None else values * unit


def _powers(block: NDArray[Any]) -> NDArray[np.float64]:
    """Return, for each column, a power of two near its largest number, shape (c,)."""
    largest = np.maximum(block.max(axis=0, initial=0.0), -block.min(axis=0, initial=0.0))
    return np.asarray(np.ldexp(1.0, np.clip(np.frexp(largest)[1], -1000, 1000)))


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
