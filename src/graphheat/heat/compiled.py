"""The numba way: the blocks of the scipy way, compiled, with rows as vectors in registers.

``diffuse`` takes 32 columns (16 in float64) through all steps while they are in cache. ``matrix``
besides orders the nodes so that neighbours are close, computes twins once, leaves out the rows that
heat has not reached or that nothing depends on any more, and collects one triangle, which it
mirrors. Importing this module does not import numba; calling it does.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from types import ModuleType
from typing import Any, NamedTuple, TypeVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graphheat.heat.assembly import threshold
from graphheat.heat.chebyshev import Expansion
from graphheat.heat.ordering import Ordering, order

Progress = Callable[[int, int], None]
Result = TypeVar("Result")

ROW_BYTES = 128  # of a row of a block: two vectors, or one where fewer columns are asked for
GROUP = 16  # blocks of a task at most: their reach is followed in the bits of a uint16
TASK_WORK = 1e9  # multiply-adds of a task, some tenths of a second: an interrupt waits for one
HOPS = 6  # from a block, and before the end, that are followed row by row

_compiling = threading.Lock()
_ready: set[np.dtype[Any]] = set()  # the precisions whose loops are in memory


def diffuse(
    S: sp.csr_array,
    block: NDArray[np.floating[Any]],
    expansions: Sequence[Expansion],
    *,
    threads: int = 1,
) -> list[NDArray[np.floating[Any]]]:
    """Return e^{-sL} ``block`` for each expansion, all from one basis T_k(S) ``block``.

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
    *Accuracy*: that of the scipy way, by the same recurrence. (Clenshaw's would be a fifth faster,
    and loses three times as much.) *Cost*: max(order) sparse products a column, and beside the
    results 2 + len(expansions) arrays of n rows of 128 bytes a thread. *Deterministic*: yes.
    *Isolated nodes*: as S has them.
    """
    loops = _loops(block.dtype)
    n, c = block.shape
    arrays = _arrays(S)
    orders = np.array([e.order for e in expansions], dtype=np.int64)
    coefficients = np.zeros((len(orders), orders.max() + 1), dtype=block.dtype)
    for row, e in zip(coefficients, expansions, strict=True):
        row[: e.order + 1] = e.coefficients
    results = [np.empty_like(block) for _ in expansions]
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
        parts = flat[:size], flat[size : 2 * size], flat[2 * size :]
        loops.diffuse(width, *arrays, coefficients, orders, *parts)
        for result, total in zip(results, totals, strict=True):
            result[:, first : first + count] = total[:, :count]

    _run(strip, range(0, c, full), threads)
    return results


def matrix(
    S: sp.csr_array,
    expansion: Expansion,
    eps: float,
    *,
    threads: int = 1,
    progress: Progress | None = None,
) -> sp.csr_array:
    """Return the entries of e^{-sL} that are at least ``eps``, shape (n, n), exactly symmetric.

    Parameters
    ----------
    S
        I − L in the precision of the expansion, shape (n, n), symmetric to the bit.
    eps
        Threshold; 0 keeps all that is not exactly 0.
    threads
        Threads for the blocks. The result does not depend on it.
    progress
        Called as ``progress(rows_done, n)`` along the way.

    Notes
    -----
    *Accuracy*: that of the scipy way, by the same recurrence. *Cost*: at most
    order · (nnz + 4n) · n multiply-adds, of which Cora takes 0.6, Citeseer and Pubmed 0.3; memory
    for the result, the halves of its values twice and, a thread, four arrays of n rows of 128
    bytes. *Deterministic*: yes. *Isolated nodes*: as S has them.
    """
    n = S.shape[0]
    if expansion.order == 0 or n == 0:
        identity = np.full(n, expansion.coefficients[0], dtype=S.dtype)
        kept = np.flatnonzero(threshold(identity, eps)).astype(np.int32)
        return sp.csr_array((identity[kept], (kept, kept)), shape=(n, n))
    ordering = order(S)
    return _join(ordering, expansion, eps, _collect(ordering, expansion, eps, threads, progress))


def _loops(dtype: np.dtype[Any]) -> ModuleType:
    """Return the module of loops, compiled for ``dtype``."""
    from graphheat.heat import loops

    if dtype in _ready:
        return loops
    with _compiling:
        for loop, types in loops.signatures(dtype):
            # Otherwise numba would compile once more for arrays that may be written to.
            loop.disable_compile(False)
            loop.compile(types)
            loop.disable_compile()
        _ready.add(dtype)
    return loops


def _arrays(S: sp.csr_array) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[Any]]:
    """Return S as the loops take it."""
    return (
        S.indptr.astype(np.int64, copy=False),
        S.indices.astype(np.int32, copy=False),
        np.ascontiguousarray(S.data),
    )


class Triangle(NamedTuple):
    """What is kept between the classes of an ordering.

    Attributes
    ----------
    parts
        Rows, their lanes, and entries, of each block; see ``loops.keep``.
    diagonal
        h_CC, shape (classes,), kept or not.
    counts
        The number of entries in a row, in other classes, shape (classes,).
    """

    parts: list[tuple[NDArray[Any], ...]]
    diagonal: NDArray[Any]
    counts: NDArray[np.int64]


def _collect(
    ordering: Ordering,
    expansion: Expansion,
    eps: float,
    threads: int,
    progress: Progress | None,
) -> Triangle:
    """Compute what is kept between the classes."""
    number = ordering.S.dtype
    loops, arrays = _loops(number), _arrays(ordering.S)
    sizes, classes = ordering.sizes, len(ordering.sizes)
    width = ROW_BYTES // number.itemsize
    near = (
        np.empty((HOPS, classes), dtype=np.int32),
        np.empty(classes, dtype=np.int32),
        np.empty(classes, dtype=np.int32),
    )
    loops.neighborhoods(*arrays[:2], *near)
    diagonal = np.empty(classes, dtype=number)
    counts = np.zeros(classes, dtype=np.int64)
    coefficients = expansion.coefficients.astype(number)
    bounds = _bounds(eps, number)
    work = expansion.order * (ordering.S.nnz + 2 * classes) * width
    rows = width * int(np.clip(TASK_WORK // work, 1, GROUP))
    local = threading.local()
    mirrored: list[NDArray[np.int64]] = []

    def columns(first: int) -> list[Any]:
        if not hasattr(local, "scratch"):
            local.scratch = _scratch(classes, width, number, min(HOPS, expansion.order))
            mirrored.append(local.scratch[0])
        last = min(first + rows, classes)
        reached, kept = local.scratch[1], local.scratch[-3:]
        loops.reach(first, last, width, *arrays[:2], reached)
        parts = []
        for b, start in enumerate(range(first, last, width)):
            pairs, entries = loops.heat_block(
                start,
                min(start + width, last),
                1 << b,
                width,
                *arrays,
                sizes,
                *near,
                coefficients,
                *bounds,
                diagonal,
                counts,
                *local.scratch,
            )
            ends = pairs, pairs, entries
            parts.append(tuple(k[:end].copy() for k, end in zip(kept, ends, strict=True)))
        return parts

    def report(tasks: int) -> None:
        if progress is not None:
            last = min(tasks * rows, classes)
            progress(int(ordering.starts[last]), int(ordering.starts[-1]))

    parts = _run(columns, range(0, classes, rows), threads, report)
    return Triangle(list(chain.from_iterable(parts)), diagonal, counts + sum(mirrored))


def _scratch(n: int, width: int, number: np.dtype[Any], hops: int) -> tuple[NDArray[Any], ...]:
    """Return what a thread writes to, in the order in which ``loops.heat_block`` takes it."""
    return (
        np.zeros(n, dtype=np.int64),  # entries counted by row
        np.empty((hops + 1, n), dtype=np.uint16),  # rows reached
        np.empty(n + 1, dtype=np.int32),  # rows to compute
        *np.zeros((3, n * width), dtype=number),  # the recurrence and its sum
        np.empty(n, dtype=np.int32),  # rows, lanes and entries that are kept
        np.empty(n, dtype=np.uint32),
        np.empty(n * width, dtype=number),
    )


def _bounds(eps: float, number: np.dtype[Any]) -> tuple[Any, Any]:
    """Return (least, most): kept is what is ≥ least or ≤ most, as ``threshold`` has it."""
    if eps == 0:
        tiny = np.nextafter(number.type(0), number.type(1))
        return tiny, -tiny
    least = number.type(eps)
    if float(least) < eps:
        least = np.nextafter(least, number.type(1))
    return least, number.type(-np.inf)


def _join(ordering: Ordering, expansion: Expansion, eps: float, triangle: Triangle) -> sp.csr_array:
    """Mirror the triangle, and give every node its row, columns ascending."""
    number = ordering.S.dtype
    loops = _loops(number)
    n, sizes = len(ordering.members), ordering.sizes
    blocks = len(triangle.parts)
    ends = np.zeros((2, blocks + 1), dtype=np.int64)
    np.cumsum([[len(part[i]) for part in triangle.parts] for i in (0, 2)], axis=1, out=ends[:, 1:])
    kept = [np.concatenate([part[i] for part in triangle.parts]) for i in range(3)]
    triangle.parts.clear()

    c = expansion.coefficients
    at_zero = c[0::4].sum() - c[2::4].sum()  # T_k(0) is 1, 0, −1, 0, 1, …
    own = np.stack(
        [triangle.diagonal + at_zero * (1 - 1 / sizes), triangle.diagonal - at_zero / sizes]
    ).astype(number)
    own_kept = threshold(own, eps)
    own_kept[1] &= sizes > 1
    counts = np.empty(n, dtype=np.int64)
    counts[ordering.members] = np.repeat(
        triangle.counts + own_kept[0] + own_kept[1] * (sizes - 1), sizes
    )
    indptr = np.concatenate([[0], np.cumsum(counts)])
    columns = np.empty(indptr[-1], dtype=np.int32)
    values = np.empty(indptr[-1], dtype=number)

    width = ROW_BYTES // number.itemsize
    cursors = ends[:, :-1].copy()
    marks = np.zeros(width * ((n + 63) // 64), dtype=np.uint64)
    heat = np.empty(width * n, dtype=number)
    layout = ordering.starts, ordering.members, *kept, ends, cursors, own, own_kept, marks, heat
    for first in range(0, blocks, GROUP):
        last = min(first + GROUP, blocks)
        loops.join(first, last, width, *layout, indptr, columns, values)
    index = np.int32 if indptr[-1] < 2**31 else np.int64
    result = sp.csr_array(
        (values, columns.astype(index, copy=False), indptr.astype(index)), shape=(n, n)
    )
    result.has_canonical_format = True
    return result


def _run(
    work: Callable[[int], Result],
    tasks: Sequence[int],
    threads: int,
    report: Callable[[int], None] = lambda done: None,
) -> list[Result]:
    """Return the results of all tasks, in their order; an exception drops those that wait."""
    results = []
    if threads == 1 or len(tasks) == 1:
        for task in tasks:
            results.append(work(task))
            report(len(results))
        return results
    with ThreadPoolExecutor(min(threads, len(tasks))) as pool:
        try:
            for future in [pool.submit(work, task) for task in tasks]:
                results.append(future.result())
                report(len(results))
        except BaseException:  # Ctrl-C: only the tasks under way finish
            pool.shutdown(cancel_futures=True)
            raise
    return results
