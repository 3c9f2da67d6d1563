"""The compiled loops of the panel engine. Importing this module imports numba."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphheat.heat.engines.numba.intrinsic import add_half, add_narrow, add_wide, add_widest
from graphheat.heat.engines.numba.vector_rows import compiled
from graphheat.heat.engines.panel.links import Arrays
from graphheat.heat.engines.panel.row_walks import (
    finish_half,
    finish_narrow,
    scatter_half,
    scatter_narrow,
    walk_half,
    walk_narrow,
    walk_wide,
    walk_widest,
)

RADIX = 12  # bits that a pass of the sorting looks at


@compiled
def step(
    first: int, last: int, base: int, width: int, links: Arrays, scale: Any,
    now: Any, after: Any, totals: Any, coefficients: Any,
) -> None:  # fmt: skip
    """Take one step in the rows first … last: after ← scale · P now − after, then add it up.

    ``now`` holds all rows of ``width`` numbers; ``after`` and ``totals``, a block for each series,
    those from ``base`` on. Sums over a row are in the order of its entries, whatever the bounds.
    """
    indptr, indices, weights = links.indptr, links.indices, links.weights
    inverse, own = links.inverse, links.own
    size = len(after)
    row_bytes = width * now.itemsize
    zero, one = now.dtype.type(0), now.dtype.type(1)
    c = coefficients[0]
    for u in range(first, last):
        begin, end = indptr[u], indptr[u + 1]
        place, at = u * width, (u - base) * width
        factor = scale * (inverse[u] if len(inverse) else one)
        loop = zero
        if len(own):
            loop = own[u] if len(own) > 1 else own[0]
        if row_bytes == 32:
            walk_half(begin, end, indices, weights, now, place, loop, after, at, factor, totals, c)
        elif row_bytes == 64:
            walk_narrow(
                begin, end, indices, weights, now, place, loop, after, at, factor, totals, c
            )
        elif row_bytes == 128:
            walk_wide(begin, end, indices, weights, now, place, loop, after, at, factor, totals, c)
        else:
            walk_widest(
                begin, end, indices, weights, now, place, loop, after, at, factor, totals, c
            )
        for e in range(1, len(coefficients)):
            add(row_bytes, after, at, coefficients[e], totals, e * size + at)


@compiled
def tiled_step(
    first: int, last: int, width: int, links: Arrays, sources: Any, targets: Any, weights: Any,
    scale: Any, now: Any, after: Any, totals: Any, coefficients: Any, sums: Any,
) -> None:  # fmt: skip
    """Do what ``step`` does, in the rows first … last of one tile, to the same bits.

    ``sources``, ``targets`` and ``weights`` are the tile's entries by rising source; ``sums`` has
    room for its rows. Every row's entries come in the order that ``step`` takes them in.
    """
    indptr, inverse, own = links.indptr, links.inverse, links.own
    size = len(after)
    row_bytes = width * now.itemsize
    zero, one = now.dtype.type(0), now.dtype.type(1)
    for u in range(first, last):
        loop = zero
        if len(own):
            loop = own[u] if len(own) > 1 else own[0]
        place, at = u * width, (u - first) * width
        for j in range(width):
            sums[at + j] = loop * now[place + j]
    if row_bytes == 32:
        scatter_half(indptr[first], indptr[last], sources, targets, weights, now, sums)
    else:
        scatter_narrow(indptr[first], indptr[last], sources, targets, weights, now, sums)
    for u in range(first, last):
        factor = scale * (inverse[u] if len(inverse) else one)
        place, at = u * width, (u - first) * width
        if row_bytes == 32:
            finish_half(sums, at, after, place, factor, totals, coefficients[0])
        else:
            finish_narrow(sums, at, after, place, factor, totals, coefficients[0])
        for e in range(1, len(coefficients)):
            add(row_bytes, after, place, coefficients[e], totals, e * size + place)


@compiled
def sort_tile(
    first: int, last: int, indptr: Any, indices: Any, weights: Any, bits: int,
    sources: Any, targets: Any, values: Any,
) -> None:  # fmt: skip
    """Sort the entries of the rows first … last by their source; equal ones stay in order."""
    begin = indptr[first]
    count = indptr[last] - begin
    order, other = np.empty(count, dtype=np.int32), np.empty(count, dtype=np.int32)
    rows = np.empty(count, dtype=np.int32)
    for u in range(first, last):
        for e in range(indptr[u] - begin, indptr[u + 1] - begin):
            rows[e] = u - first
            order[e] = e
    starts = np.empty((1 << RADIX) + 1, dtype=np.int64)
    for shift in range(0, bits, RADIX):
        starts[:] = 0
        for e in range(count):
            starts[((indices[begin + e] >> shift) & ((1 << RADIX) - 1)) + 1] += 1
        for k in range(1, len(starts)):
            starts[k] += starts[k - 1]
        for k in range(count):
            e = order[k]
            key = (indices[begin + e] >> shift) & ((1 << RADIX) - 1)
            other[starts[key]] = e
            starts[key] += 1
        order, other = other, order
    for k in range(count):
        e = order[k]
        sources[begin + k] = indices[begin + e]
        targets[begin + k] = rows[e]
        if len(weights):
            values[begin + k] = weights[begin + e]


@compiled
def add(row_bytes: int, source: Any, a: int, scale: Any, target: Any, b: int) -> None:
    """Add ``scale`` times a row of ``source`` to one of ``target``."""
    if row_bytes == 32:
        add_half(source, a, scale, target, b)
    elif row_bytes == 64:
        add_narrow(source, a, scale, target, b)
    elif row_bytes == 128:
        add_wide(source, a, scale, target, b)
    else:
        add_widest(source, a, scale, target, b)
