"""The compiled loops of the numba way. Importing this module imports numba.

S = I − L comes as three arrays: ``indptr`` (int64), ``indices`` (int32) and ``weights``. A block of
columns is a flat array of n rows of ``width`` numbers, a width being one or two vectors of 64
bytes. The GIL is released throughout.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.core import types

from graphheat.heat.intrinsic import (
    add_narrow,
    add_wide,
    compiled,
    kept_narrow,
    kept_wide,
    lowest,
    step_add_narrow,
    step_add_wide,
    step_narrow,
    step_wide,
)
from graphheat.heat.triangle import join


@compiled
def diffuse(
    width: int,
    indptr: Any,
    indices: Any,
    weights: Any,
    coefficients: Any,
    orders: Any,
    now: Any,
    after: Any,
    totals: Any,
) -> None:
    """Add up Σ_k c_k T_k(S) X for every expansion from one basis, with X in ``now``.

    ``coefficients`` has shape (expansions, order + 1), 0 beyond an expansion's order; ``after`` and
    ``totals``, a block for each expansion, must be zero.
    """
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
def neighborhoods(
    indptr: Any, indices: Any, lowest_within: Any, lowest_after: Any, highest: Any
) -> None:
    """Fill in where heat can come from and where it is still needed.

    ``lowest_within[hops, u]`` is the lowest row within so many hops of u, ``lowest_after[u]`` the
    lowest neighbour of the rows ≥ u, ``highest[u]`` the highest one of the rows ≤ u; a row is its
    own neighbour.
    """
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
def reach(first: int, last: int, width: int, indptr: Any, indices: Any, reached: Any) -> None:
    """Set bit b of ``reached[hops, u]`` where u is within so many hops of block b.

    The blocks are those of the rows first … last; all are followed at once.
    """
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
    width: int,
    scale: float,
    size: int,
    rows: Any,
    indptr: Any,
    indices: Any,
    weights: Any,
    now: Any,
    after: Any,
    stop: int,
    totals: Any,
    c: float,
) -> None:
    """Take one step, after ← scale · S now − after, in the first ``size`` of ``rows``.

    In rows below ``stop``, ``totals`` grows by c · after.
    """
    wide = width * now.itemsize == 128
    for i in range(size):
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
def keep(
    start: int,
    width: int,
    size: int,
    rows: Any,
    heat: Any,
    least: float,
    most: float,
    sizes: Any,
    counts: Any,
    mirrored: Any,
    kept_rows: Any,
    kept_lanes: Any,
    kept_heat: Any,
) -> Any:
    """Collect the entries (u, j), u < j, of the block that starts with j = ``start``.

    Returns the number of pairs of a row and its lanes (a bit for each column that is kept) and of
    entries, which follow row after row. ``counts[j]`` and ``mirrored[u]`` grow by the
    number of twins on the other side.
    """
    wide = width * heat.itemsize == 128
    pairs = 0
    filled = 0
    for i in range(size):
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
def heat_block(
    start: int,
    stop: int,
    bit: int,
    width: int,
    indptr: Any,
    indices: Any,
    weights: Any,
    sizes: Any,
    lowest_within: Any,
    lowest_after: Any,
    highest: Any,
    coefficients: Any,
    least: float,
    most: float,
    diagonal: Any,
    counts: Any,
    mirrored: Any,
    reached: Any,
    rows: Any,
    now: Any,
    after: Any,
    totals: Any,
    kept_rows: Any,
    kept_lanes: Any,
    kept_heat: Any,
) -> Any:
    """Return what :func:`keep` does for the columns start ≤ j < stop, ``bit`` being the block's.

    X holds 1 / m_j at j. A row is computed only from the step on at which heat has reached it, and
    only while an entry u < j still depends on it; it is added up only where it is such an entry.

    ``now``, ``after`` and ``totals`` must be zero and are left so; ``rows`` is scratch.
    """
    n = len(indptr) - 1
    order = len(coefficients) - 1
    for j in range(start, stop):
        at = j * width + j - start
        now[at] = now.dtype.type(1) / sizes[j]
        totals[at] = coefficients[0] * now[at]
    low: Any = start
    high: Any = stop
    size = 0
    for k in range(1, order + 1):
        low, high = np.int64(lowest_after[low]), np.int64(highest[high - 1]) + 1
        # Beyond the hops that are followed row by row, all of low … high are taken.
        passed, left = min(k, len(reached) - 1), min(order - k, len(lowest_within) - 1)
        size = choose(
            low,
            reached[passed, low:high],
            bit if passed == k else 0,
            lowest_within[left, low:high],
            stop if left == order - k else n,
            rows,
        )
        scale = now.dtype.type(1 if k == 1 else 2)
        c = coefficients[k]
        step(width, scale, size, rows, indptr, indices, weights, now, after, stop, totals, c)
        now, after = after, now
    for j in range(start, stop):
        diagonal[j] = totals[j * width + j - start]
    result = keep(
        start,
        width,
        size,
        rows,
        totals,
        least,
        most,
        sizes,
        counts,
        mirrored,
        kept_rows,
        kept_lanes,
        kept_heat,
    )
    for i in range(low * width, high * width):
        now[i] = 0
    for i in range(low * width, high * width):
        after[i] = 0
    for i in range(low * width, stop * width):
        totals[i] = 0
    return result


def signatures(number: Any) -> list[tuple[Any, Any]]:
    """Return the loops that are called from outside, with the types that they are compiled for.

    ``number`` is float32 or float64. What is only read is declared so, since that takes arrays of
    either kind.
    """
    value = types.float32 if number == np.float32 else types.float64
    i32, i64, u16, u32, u64 = types.int32, types.int64, types.uint16, types.uint32, types.uint64

    def read(kind: Any, axes: int = 1) -> Any:
        return types.Array(kind, axes, "C", readonly=True)

    def write(kind: Any, axes: int = 1) -> Any:
        return types.Array(kind, axes, "C")

    S = read(i64), read(i32), read(value)
    near = read(i32, 2), read(i32), read(i32)
    block = write(value)
    kept = i32, u32, value
    return [
        (diffuse, (i64, *S, read(value, 2), read(i64), block, block, block)),
        (neighborhoods, (*S[:2], write(i32, 2), write(i32), write(i32))),
        (reach, (i64, i64, i64, *S[:2], write(u16, 2))),
        (
            heat_block,
            (
                *(i64, i64, i64, i64, *S, read(i64), *near, read(value), value, value),
                *(write(value), write(i64), write(i64), read(u16, 2), write(i32)),
                *(block, block, block),
                *map(write, kept),
            ),
        ),
        (
            join,
            (
                *(i64, i64, i64, read(i64), read(i32), *map(read, kept), read(i64, 2)),
                *(write(i64, 2), read(value, 2), read(types.boolean, 2), write(u64), block),
                *(read(i64), write(i32), write(value)),
            ),
        ),
    ]
