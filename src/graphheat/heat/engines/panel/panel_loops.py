"""The compiled loops of the panel engine. Importing this module imports numba."""

from __future__ import annotations

from typing import Any

from graphheat.heat.engines.numba.intrinsic import (
    add_half,
    add_narrow,
    add_wide,
    add_widest,
    compiled,
    walk_half,
    walk_narrow,
    walk_wide,
    walk_widest,
)
from graphheat.heat.engines.panel.links import Arrays


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
