"""The numba engine: the blocks of the scipy engine, compiled, with rows as vectors in registers.

``diffuse`` takes 32 columns (16 in float64) through all steps while they are in cache. ``matrix``
besides orders the nodes so that neighbours are close, computes twins once, leaves out the rows that
heat has not reached or that nothing depends on any more, and collects one triangle, which it
mirrors. Importing this module does not import numba; calling it does.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graphheat.heat.assembly import least_kept, threshold
from graphheat.heat.engines.columns import ColumnEngine
from graphheat.heat.engines.numba.ordering import Ordering, order
from graphheat.heat.engines.threads import in_threads
from graphheat.heat.operand import Operand
from graphheat.heat.series import ChebyshevSeries
from graphheat.progress import Progress

if TYPE_CHECKING:
    from graphheat.heat.engines.numba.loops import Csr, Kept, Scratch

ROW_BYTES = 128  # of a row of a block: two vectors, or one where fewer columns are asked for
GROUP = 16  # blocks of a task at most: their reach is followed in the bits of a uint16
TASK_WORK = 1e9  # multiply-adds of a task, some tenths of a second: an interrupt waits for one
HOPS = 6  # from a block, and before the end, that are followed row by row


class NumbaEngine(ColumnEngine):
    """Compiled blocks of columns: three to five times as fast as scipy's, once numba is loaded."""

    name = "numba"
    requires = ("numba",)

    def apply(
        self,
        operand: Operand,
        block: NDArray[Any],
        series: Sequence[ChebyshevSeries],
        *,
        rows: NDArray[np.int64] | None = None,
        threads: int = 1,
    ) -> NDArray[Any]:
        """Return f(S) ``block`` for each f; see :func:`diffuse`."""
        results = diffuse(operand.matrix_in(block.dtype), block, series, threads=threads)
        return results if rows is None else results[:, rows]

    def matrix(
        self,
        operand: Operand,
        series: ChebyshevSeries,
        eps: float,
        *,
        threads: int = 1,
        progress: Progress | None = None,
    ) -> sp.csr_array:
        """Return the entries of f(S) that are at least ``eps``; see :func:`matrix`."""
        entries = self.entry_series(operand, series)
        S = operand.matrix_in(entries.dtype)
        return matrix(S, entries, eps, threads=threads, progress=progress)


def diffuse(
    S: sp.csr_array,
    block: NDArray[np.floating[Any]],
    series: Sequence[ChebyshevSeries],
    *,
    threads: int = 1,
) -> NDArray[np.floating[Any]]:
    """Return f(S) ``block`` for each series f, shape (series, n, c), all from one basis.

    Parameters
    ----------
    S
        I − L in the precision of the recurrence, shape (n, n).
    block
        Columns to diffuse, shape (n, c), C-contiguous, same precision; any number of them.
    threads
        Threads to spread strips of columns over. The result does not depend on it.

    Notes
    -----
    *Accuracy*: that of the scipy engine, by the same recurrence. (Clenshaw's would be a fifth
    faster, and loses three times as much.) *Cost*: max(order) sparse products per column; beside
    the results 2 + len(series) arrays of n rows of 128 bytes per thread. *Deterministic*: yes.
    *Isolated nodes*: as S has them.
    """
    from graphheat.heat.engines.numba import loops

    n, c = block.shape
    csr = _csr(S)
    orders = np.array([each.order for each in series], dtype=np.int64)
    coefficients = np.zeros((len(orders), orders.max() + 1), dtype=block.dtype)
    for row, each in zip(coefficients, series, strict=True):
        row[: each.order + 1] = each.coefficients
    results = np.empty((len(series), n, c), dtype=block.dtype)
    full = ROW_BYTES // block.itemsize
    local = threading.local()

    def strip(first: int) -> None:
        count = min(full, c - first)
        width = full if count > full // 2 else full // 2
        size = n * width
        if not hasattr(local, "scratch"):  # fresh memory costs as much as two steps
            widest = full if c > full // 2 else full // 2
            local.scratch = np.empty((2 + len(orders)) * n * widest, dtype=block.dtype)
        flat = local.scratch[: (2 + len(orders)) * size]
        now, _, *totals = flat.reshape(-1, n, width)
        now[:, :count] = block[:, first : first + count]
        now[:, count:] = 0
        flat[size:] = 0
        blocks = loops.Recurrence(flat[:size], flat[size : 2 * size], flat[2 * size :])
        loops.diffuse(width, csr, coefficients, orders, blocks)
        for result, total in zip(results, totals, strict=True):
            result[:, first : first + count] = total[:, :count]

    in_threads(strip, range(0, c, full), threads)
    return results


def matrix(
    S: sp.csr_array,
    series: ChebyshevSeries,
    eps: float,
    *,
    threads: int = 1,
    progress: Progress | None = None,
) -> sp.csr_array:
    """Return the entries of f(S) that are at least ``eps``, shape (n, n), exactly symmetric.

    Parameters
    ----------
    S
        I − L in the precision of the series, shape (n, n), symmetric to the bit.
    eps
        Threshold; 0 keeps all that is not exactly 0.
    threads
        Threads for the blocks. The result does not depend on it.
    progress
        Called as ``progress(rows_done, n, "rows")`` along the way.

    Notes
    -----
    *Accuracy*: that of the scipy engine, by the same recurrence. *Cost*: at most
    order · (nnz + 4n) · n multiply-adds, of which Cora takes 0.6, Citeseer and Pubmed 0.3; memory
    for the result, the halves of its values twice and, a thread, four arrays of n rows of 128
    bytes. *Deterministic*: yes. *Isolated nodes*: as S has them.
    """
    n = S.shape[0]
    if series.order == 0 or n == 0:
        identity = np.full(n, series.coefficients[0], dtype=S.dtype)
        kept = np.flatnonzero(threshold(identity, eps, signed=series.signed)).astype(np.int32)
        return sp.csr_array((identity[kept], (kept, kept)), shape=(n, n))
    ordering = order(S)
    return _join(ordering, series, eps, _collect(ordering, series, eps, threads, progress))


def _csr(S: sp.csr_array) -> Csr:
    """Return S as the loops take it.

    Read only, whatever it was: numba would compile once more for arrays that may be written to.
    """
    from graphheat.heat.engines.numba.loops import Csr

    arrays = (
        S.indptr.astype(np.int64, copy=False).view(),
        S.indices.astype(np.int32, copy=False).view(),
        np.ascontiguousarray(S.data).view(),
    )
    for array in arrays:
        array.flags.writeable = False
    return Csr(*arrays)


class Triangle(NamedTuple):
    """What is kept between the classes of an ordering.

    Attributes
    ----------
    parts
        What each block has kept.
    diagonal
        h_CC, shape (classes,), kept or not.
    counts
        The number of entries in a row, in other classes, shape (classes,).
    """

    parts: list[Kept]
    diagonal: NDArray[Any]
    counts: NDArray[np.int64]


def _collect(
    ordering: Ordering,
    series: ChebyshevSeries,
    eps: float,
    threads: int,
    progress: Progress | None,
) -> Triangle:
    """Compute what is kept between the classes."""
    from graphheat.heat.engines.numba import loops

    number, csr = ordering.S.dtype, _csr(ordering.S)
    classes = len(ordering.sizes)
    width = ROW_BYTES // number.itemsize
    near = loops.Near(
        np.empty((HOPS, classes), dtype=np.int32),
        np.empty(classes, dtype=np.int32),
        np.empty(classes, dtype=np.int32),
    )
    loops.neighborhoods(csr, near)
    least, most = _bounds(eps, number, series.signed)
    task = loops.Task(
        sizes=ordering.sizes,
        coefficients=series.coefficients.astype(number),
        least=least,
        most=most,
        diagonal=np.empty(classes, dtype=number),
        counts=np.zeros(classes, dtype=np.int64),
    )
    work = series.order * (ordering.S.nnz + 2 * classes) * width
    rows = width * int(np.clip(TASK_WORK // work, 1, GROUP))
    local = threading.local()
    mirrored: list[NDArray[np.int64]] = []

    def columns(first: int) -> list[Kept]:
        if not hasattr(local, "scratch"):
            local.scratch = _scratch(classes, width, number, min(HOPS, series.order))
            mirrored.append(local.scratch.mirrored)
        scratch: Scratch = local.scratch
        last = min(first + rows, classes)
        loops.reach(first, last, width, csr, scratch.reached)
        parts = []
        for b, start in enumerate(range(first, last, width)):
            block = loops.Block(start, min(start + width, last), 1 << b, width)
            pairs, entries = loops.heat_block(block, csr, near, task, scratch)
            kept = scratch.kept
            parts.append(
                loops.Kept(
                    kept.rows[:pairs].copy(), kept.lanes[:pairs].copy(), kept.heat[:entries].copy()
                )
            )
        return parts

    def report(tasks: int) -> None:
        if progress is not None:
            last = min(tasks * rows, classes)
            progress(int(ordering.starts[last]), int(ordering.starts[-1]), "rows")

    parts = in_threads(columns, range(0, classes, rows), threads, report)
    return Triangle(list(chain.from_iterable(parts)), task.diagonal, task.counts + sum(mirrored))


def _scratch(n: int, width: int, number: np.dtype[Any], hops: int) -> Scratch:
    """Return what a thread writes to."""
    from graphheat.heat.engines.numba.loops import Kept, Recurrence, Scratch

    return Scratch(
        mirrored=np.zeros(n, dtype=np.int64),
        reached=np.empty((hops + 1, n), dtype=np.uint16),
        rows=np.empty(n + 1, dtype=np.int32),
        blocks=Recurrence(*np.zeros((3, n * width), dtype=number)),
        kept=Kept(
            np.empty(n, dtype=np.int32),
            np.empty(n, dtype=np.uint32),
            np.empty(n * width, dtype=number),
        ),
    )


def _bounds(eps: float, number: np.dtype[Any], signed: bool) -> tuple[Any, Any]:
    """Return (least, most): kept is what is ≥ least or ≤ most, as ``threshold`` has it."""
    if eps == 0:
        tiny = np.nextafter(number.type(0), number.type(1))
        return tiny, -tiny
    least = least_kept(eps, number)
    return least, -least if signed else number.type(-np.inf)


def _join(
    ordering: Ordering, series: ChebyshevSeries, eps: float, triangle: Triangle
) -> sp.csr_array:
    """Mirror the triangle, and give every node its row, columns ascending."""
    from graphheat.heat.engines.numba import loops
    from graphheat.heat.engines.numba import triangle as rows

    number = ordering.S.dtype
    n, sizes = len(ordering.members), ordering.sizes
    blocks = len(triangle.parts)
    ends = np.zeros((2, blocks + 1), dtype=np.int64)
    np.cumsum([[len(part[i]) for part in triangle.parts] for i in (0, 2)], axis=1, out=ends[:, 1:])
    kept = loops.Kept(*(np.concatenate([part[i] for part in triangle.parts]) for i in range(3)))
    triangle.parts.clear()

    c = series.coefficients
    at_zero = c[0::4].sum() - c[2::4].sum()  # T_k(0) is 1, 0, −1, 0, 1, …
    own = np.stack(
        [triangle.diagonal + at_zero * (1 - 1 / sizes), triangle.diagonal - at_zero / sizes]
    ).astype(number)
    own_kept = threshold(own, eps, signed=series.signed)
    own_kept[1] &= sizes > 1
    counts = np.empty(n, dtype=np.int64)
    counts[ordering.members] = np.repeat(
        triangle.counts + own_kept[0] + own_kept[1] * (sizes - 1), sizes
    )
    indptr = np.concatenate([[0], np.cumsum(counts)])
    result = rows.Rows(
        indptr, np.empty(indptr[-1], dtype=np.int32), np.empty(indptr[-1], dtype=number)
    )
    width = ROW_BYTES // number.itemsize
    page = rows.Page(
        marks=np.zeros(width * ((n + 63) // 64), dtype=np.uint64),
        heat=np.empty(width * n, dtype=number),
    )
    given = rows.Columns(
        kept, ends, ends[:, :-1].copy(), ordering.starts, ordering.members, own, own_kept
    )
    for first in range(0, blocks, GROUP):
        rows.join(first, min(first + GROUP, blocks), width, given, page, result)
    index = np.int32 if indptr[-1] < 2**31 else np.int64
    matrix = sp.csr_array(
        (result.values, result.columns.astype(index, copy=False), indptr.astype(index)),
        shape=(n, n),
    )
    matrix.has_canonical_format = True
    return matrix
