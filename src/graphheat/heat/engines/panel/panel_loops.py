"""The compiled loops of the panel engine. Importing this module imports numba."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphheat.heat.engines.numba.intrinsic import add_half, add_narrow, add_wide, add_widest
from graphheat.heat.engines.numba.vector_rows import compiled
from graphheat.heat.engines.panel.links import Arrays
from graphheat.heat.engines.panel.row_walks import (
    FAR_AHEAD,
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
    first: int, last: int, width: int, links: Arrays, codes: Any, weights: Any, bits: int,
    scale: Any, now: Any, after: Any, totals: Any, coefficients: Any, sums: Any,
) -> None:  # fmt: skip
    """Do what ``step`` does, in the rows first … last of one tile, to the same bits.

    ``codes`` and ``weights`` are the tile's entries by rising source (see ``sort_tile``); ``sums``
    has 2^bits rows. Every row's entries come in the order that ``step`` takes them in.
    """
    inverse, own = links.inverse, links.own
    size = len(after)
    row_bytes = width * now.itemsize
    zero, one = now.dtype.type(0), now.dtype.type(1)
    if len(own):
        for u in range(first, last):
            loop = own[u] if len(own) > 1 else own[0]
            place, at = u * width, (u - first) * width
            for j in range(width):
                sums[at + j] = loop * now[place + j]
    else:
        sums[: (last - first) * width] = zero
    sums[(len(sums) // width - 1) * width :] = zero  # of entries that only fill large steps
    count = len(codes) - FAR_AHEAD
    if row_bytes == 32:
        scatter_half(count, codes, weights, bits, now, sums)
    else:
        scatter_narrow(count, codes, weights, bits, now, sums)
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
    first: int, last: int, indptr: Any, indices: Any, weights: Any, index_bits: int, bits: int,
    ahead: int,
) -> Any:  # fmt: skip
    """Return the entries of the rows first … last by their source, as codes and weights.

    Equal sources stay in order. A code is step · 2^bits + row: how many rows further the source is
    than that of the entry before, and the row of the tile. ``ahead`` zeros follow the last one.
    """
    begin = indptr[first]
    count = indptr[last] - begin
    order, other = np.empty(count, dtype=np.int32), np.empty(count, dtype=np.int32)
    rows = np.empty(count, dtype=np.int32)
    for u in range(first, last):
        for e in range(indptr[u] - begin, indptr[u + 1] - begin):
            rows[e] = u - first
            order[e] = e
    starts = np.empty((1 << RADIX) + 1, dtype=np.int64)
    for shift in range(0, index_bits, RADIX):
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
    most, filler = (1 << (32 - bits)) - 1, (1 << bits) - 1
    fillers, before = 0, 0
    for k in range(count):
        source = int(indices[begin + order[k]])
        fillers += max(source - before - 1, 0) // most
        before = source
    codes = np.zeros(count + fillers + ahead, dtype=np.uint32)
    values = np.zeros(count + fillers if len(weights) else 0, dtype=weights.dtype)
    place, before = 0, 0
    for k in range(count):
        e = order[k]
        step = int(indices[begin + e]) - before
        while step > most:
            codes[place] = (most << bits) | filler
            place += 1
            step -= most
        codes[place] = (step << bits) | rows[e]
        if len(weights):
            values[place] = weights[begin + e]
        place += 1
        before = int(indices[begin + e])
    return codes[: place + ahead], values[:place] if len(weights) else values


@compiled
def put_rows(places: Any, roots: Any, values: Any, block: Any) -> None:
    """Put rows into ``block``, each where its place is, divided by the root there if any."""
    one = block.dtype.type(1)
    for i in range(len(values)):
        u = places[i]
        root = roots[u] if len(roots) else one
        for j in range(values.shape[1]):
            block[u, j] = values[i, j] / root


@compiled
def take_rows(places: Any, roots: Any, block: Any, values: Any) -> None:
    """Take rows out of ``block``, each from its place, times the root there if any."""
    one = block.dtype.type(1)
    for i in range(len(values)):
        u = places[i]
        root = roots[u] if len(roots) else one
        for j in range(values.shape[1]):
            values[i, j] = block[u, j] * root


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
