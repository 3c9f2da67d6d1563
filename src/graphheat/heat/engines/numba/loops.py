"""The compiled loops of the numba engine. Importing this module imports numba.

They take what belongs together as named tuples. A loop is compiled when it is first called, once
for float32 and once for float64: what is passed always has the same types. A block of columns is a
flat array of n rows of ``width`` numbers, a width being one or two vectors of 64 bytes. The GIL is
released throughout.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphheat.heat.engines.numba.intrinsic import (
    add_narrow,
    add_wide,
    kept_narrow,
    kept_wide,
    lowest,
    step_add_narrow,
    step_add_wide,
    step_narrow,
    step_wide,
)
from graphheat.heat.engines.numba.vector_rows import compiled


class Csr(NamedTuple):
    """S = I − L by rows, only read; shapes (n + 1,), (nnz,) and (nnz,)."""

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    weights: NDArray[Any]


class Near(NamedTuple):
    """Where heat can come from, and where it is still needed.

    Attributes
    ----------
    lowest_within
        The lowest row within so many hops of each row, shape (hops, n).
    lowest_after, highest
        The lowest neighbour of the rows ≥ u and the highest of the rows ≤ u, shape (n,); a row is
        its own neighbour.
    """

    lowest_within: NDArray[np.int32]
    lowest_after: NDArray[np.int32]
    highest: NDArray[np.int32]


class Recurrence(NamedTuple):
    """T_k X and T_{k−1} X by turns, and what is added up: a block each."""

    now: NDArray[Any]
    after: NDArray[Any]
    totals: NDArray[Any]


class Kept(NamedTuple):
    """Entries that are kept: rows, their lanes (a bit for each column), and the entries in turn."""

    rows: NDArray[np.int32]
    lanes: NDArray[np.uint32]
    heat: NDArray[Any]


class Scratch(NamedTuple):
    """What a thread writes to.

    Attributes
    ----------
    mirrored
        Entries counted by row, shape (n,).
    reached
        Which blocks reach a row within so many hops, a bit each, shape (hops + 1, n).
    rows
        Rows to compute, shape (n + 1,).
    blocks
        Zero between blocks of columns.
    kept
        Room for a block's entries.
    """

    mirrored: NDArray[np.int64]
    reached: NDArray[np.uint16]
    rows: NDArray[np.int32]
    blocks: Recurrence
    kept: Kept


class Block(NamedTuple):
    """The columns start ≤ j < stop, of ``width`` at most; ``bit`` is theirs in ``reached``."""

    start: int
    stop: int
    bit: int
    width: int


class Task(NamedTuple):
    """What all blocks of a matrix have in common.

    Attributes
    ----------
    sizes
        Twins in each class, shape (n,).
    coefficients
        c_0 … c_m, shape (m + 1,).
    least, most
        Kept is what is ≥ least or ≤ most.
    diagonal, counts
        Written to: h_CC, and entries counted by column, shape (n,).
    """

    sizes: NDArray[np.int64]
    coefficients: NDArray[Any]
    least: Any
    most: Any
    diagonal: NDArray[Any]
    counts: NDArray[np.int64]


@compiled
def diffuse(width: int, S: Csr, coefficients: Any, orders: Any, blocks: Recurrence) -> None:
    """Add up Σ_k c_k T_k(S) X for every series from one basis, with X in ``blocks.now``.

    ``coefficients`` has shape (series, order + 1), 0 beyond a series' order; ``after`` and
    ``totals``, a block for each series, must be zero.
    """
    indptr, indices, weights = S.indptr, S.indices, S.weights
    now, after, totals = blocks.now, blocks.after, blocks.totals
    size = (len(indptr) - 1) * width
    wide = width * now.itemsize == 128
    for e in range(len(orders)):
        for at in range(0, size, width):
            if wide:
                add_wide(now, at, coefficients[e, 0], totals, e * size + at)
            else:
                add_narrow(now, at, coefficients[e, 0], totals, e * size + at)
    for k in range(1, coefficients.shape[1]):
        scale = now.dtype.type(1 if k == 1 else 2)
        c = coefficients[0, k]
        for u in range(len(indptr) - 1):
            first, last = indptr[u], indptr[u + 1]
            at = u * width
            if wide:
                step_add_wide(first, last, indices, weights, now, after, at, scale, totals, c)
            else:
                step_add_narrow(first, last, indices, weights, now, after, at, scale, totals, c)
            for e in range(1, len(orders)):
                if k <= orders[e]:
                    if wide:
                        add_wide(after, at, coefficients[e, k], totals, e * size + at)
                    else:
                        add_narrow(after, at, coefficients[e, k], totals, e * size + at)
        now, after = after, now


@compiled
def neighborhoods(S: Csr, near: Near) -> None:
    """Fill in ``near``."""
    indptr, indices = S.indptr, S.indices
    lowest_within, lowest_after, highest = near.lowest_within, near.lowest_after, near.highest
    n = len(indptr) - 1
    for u in range(n):
        lowest_within[0, u] = u
    for hops in range(1, len(lowest_within)):
        for u in range(n):
            least = lowest_within[hops - 1, u]
            for e in range(indptr[u], indptr[u + 1]):
                least = min(least, lowest_within[hops - 1, indices[e]])
            lowest_within[hops, u] = least
    most = 0
    for u in range(n):
        most = max(most, u)
        for e in range(indptr[u], indptr[u + 1]):
            most = max(most, indices[e])
        highest[u] = most
    least = n
    for u in range(n - 1, -1, -1):
        least = min(least, u)
        for e in range(indptr[u], indptr[u + 1]):
            least = min(least, indices[e])
        lowest_after[u] = least


@compiled
def reach(first: int, last: int, width: int, S: Csr, reached: Any) -> None:
    """Set bit b of ``reached[hops, u]`` where u is within so many hops of block b.

    The blocks are those of the rows first … last; all are followed at once.
    """
    indptr, indices = S.indptr, S.indices
    n = len(indptr) - 1
    for u in range(n):
        reached[0, u] = 0
    for j in range(first, last):
        reached[0, j] = 1 << ((j - first) // width)
    for hops in range(1, len(reached)):
        for u in range(n):
            bits = reached[hops - 1, u]
            for e in range(indptr[u], indptr[u + 1]):
                bits |= reached[hops - 1, indices[e]]
            reached[hops, u] = bits


@compiled
def choose(low: int, reached: Any, bit: int, lowest_within: Any, limit: int, rows: Any) -> int:
    """List the rows from ``low`` on that have ``bit`` and depend on a row below ``limit``.

    Returns how many there are. To write first and count then spares a branch.
    """
    size = 0
    for i in range(len(reached)):
        rows[size] = low + i
        size += ((reached[i] & bit) == bit) & (lowest_within[i] < limit)
    return size


@compiled
def step(
    width: int, scale: Any, rows: Any, S: Csr, now: Any, after: Any, stop: int, totals: Any, c: Any
) -> None:
    """Take one step, after ← scale · S now − after, in the given ``rows``.

    In rows below ``stop``, ``totals`` grows by c · after.
    """
    indptr, indices, weights = S.indptr, S.indices, S.weights
    wide = width * now.itemsize == 128
    for i in range(len(rows)):
        u = np.int64(rows[i])
        first, last = indptr[u], indptr[u + 1]
        at = u * width
        if wide:
            if u < stop:
                step_add_wide(first, last, indices, weights, now, after, at, scale, totals, c)
            else:
                step_wide(first, last, indices, weights, now, after, at, scale)
        elif u < stop:
            step_add_narrow(first, last, indices, weights, now, after, at, scale, totals, c)
        else:
            step_narrow(first, last, indices, weights, now, after, at, scale)


@compiled
def keep(block: Block, rows: Any, heat: Any, task: Task, mirrored: Any, kept: Kept) -> Any:
    """Collect the entries (u, j), u < j, of a block of columns in the given rows.

    Returns the number of pairs of a row and its lanes, and of entries, which follow row after row.
    ``task.counts[j]`` and ``mirrored[u]`` grow by the number of twins on the other side.
    """
    start, width = block.start, block.width
    least, most, sizes, counts = task.least, task.most, task.sizes, task.counts
    kept_rows, kept_lanes, kept_heat = kept.rows, kept.lanes, kept.heat
    wide = width * heat.itemsize == 128
    pairs = 0
    filled = 0
    for i in range(len(rows)):
        u = np.int64(rows[i])
        at = u * width
        bits: Any = kept_wide(heat, at, least, most) if wide else kept_narrow(heat, at, least, most)
        if u >= start:
            bits &= np.uint32(0xFFFFFFFE) << np.uint32(u - start)
        if bits != 0:
            kept_rows[pairs] = u
            kept_lanes[pairs] = bits
            pairs += 1
            twins = 0
            while bits != 0:
                lane = lowest(bits)
                bits &= bits - np.uint32(1)
                kept_heat[filled] = heat[at + lane]
                filled += 1
                counts[start + lane] += sizes[u]
                twins += sizes[start + lane]
            mirrored[u] += twins
    return pairs, filled


@compiled
def heat_block(block: Block, S: Csr, near: Near, task: Task, scratch: Scratch) -> Any:
    """Return what :func:`keep` does for a block of columns.

    X holds 1 / m_j at j. A row is computed only from the step on at which heat has reached it, and
    only while an entry u < j still depends on it; it is added up only where it is such an entry.
    """
    start, stop, width = block.start, block.stop, block.width
    sizes, coefficients = task.sizes, task.coefficients
    reached, rows = scratch.reached, scratch.rows
    now, after, totals = scratch.blocks.now, scratch.blocks.after, scratch.blocks.totals
    n = len(S.indptr) - 1
    order = len(coefficients) - 1
    for j in range(start, stop):
        at = j * width + j - start
        now[at] = now.dtype.type(1) / sizes[j]
        totals[at] = coefficients[0] * now[at]
    low: Any = start
    high: Any = stop
    size = 0
    for k in range(1, order + 1):
        low, high = np.int64(near.lowest_after[low]), np.int64(near.highest[high - 1]) + 1
        # Beyond the hops that are followed row by row, all of low … high are taken.
        passed, left = min(k, len(reached) - 1), min(order - k, len(near.lowest_within) - 1)
        size = choose(
            low,
            reached[passed, low:high],
            block.bit if passed == k else 0,
            near.lowest_within[left, low:high],
            stop if left == order - k else n,
            rows,
        )
        scale = now.dtype.type(1 if k == 1 else 2)
        step(width, scale, rows[:size], S, now, after, stop, totals, coefficients[k])
        now, after = after, now
    for j in range(start, stop):
        task.diagonal[j] = totals[j * width + j - start]
    result = keep(block, rows[:size], totals, task, scratch.mirrored, scratch.kept)
    for i in range(low * width, high * width):
        now[i] = 0
    for i in range(low * width, high * width):
        after[i] = 0
    for i in range(low * width, stop * width):
        totals[i] = 0
    return result
