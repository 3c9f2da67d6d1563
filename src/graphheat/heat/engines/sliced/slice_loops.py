"""The compiled loops of the sliced engine. Importing this module imports numba."""

from __future__ import annotations

from typing import Any

from graphheat.heat.engines.numba.vector_rows import compiled
from graphheat.heat.engines.sliced.slice_step import slice_step
from graphheat.heat.engines.sliced.slices import LANES, Arrays

RING = 4  # T_k … T_{k−3} are kept, and added to the sums together
BLOCK = 64  # slices whose sums stay in the nearest cache


@compiled
def largest(x: Any) -> float:
    """Return the largest absolute value of x, shape (n,); 0 of none."""
    found = 0.0
    for i in range(len(x)):
        found = max(found, abs(x[i]))
    return found


@compiled
def fill(x: Any, order: Any, roots: Any, unit: float, start: Any) -> None:
    """Put x, by place, divided by roots and by ``unit``, into ``start``."""
    for i in range(len(order)):
        start[i] = x[order[i]] / (unit * roots[i] if len(roots) else unit)


@compiled
def take(total: Any, place: Any, roots: Any, unit: float, out: Any) -> None:
    """Put a sum, by node, times roots and ``unit``, into ``out``."""
    for u in range(len(place)):
        i = place[u]
        out[u] = total[i] * (unit * roots[i] if len(roots) else unit)


@compiled
def advance(
    first: int, last: int, k: int, final: bool, slices: Arrays, T: Any, coefficients: Any,
    totals: Any,
) -> None:  # fmt: skip
    """Compute T_k in the slices first … last, and every fourth time add to the sums.

    T holds T_k in row k mod 4. ``coefficients``, shape (series, a multiple of 4), is 0 beyond the
    order of each series, where T may hold anything finite.
    """
    now, before, after = T[(k - 1) % RING], T[(k - 2) % RING], T[k % RING]
    scale = 1.0 if k == 1 else 2.0
    group = RING * (k // RING)
    for begin in range(first, last, BLOCK):
        end = min(begin + BLOCK, last)
        for b in range(begin, end):
            slice_step(
                slices.starts[b], slices.starts[b + 1], slices.columns, slices.weights,
                slices.factor, slices.own, now, before, after, scale, b * LANES,
            )  # fmt: skip
        rows = slice(begin * LANES, end * LANES)
        if k % RING == RING - 1 or final:
            t0, t1, t2, t3 = T[0, rows], T[1, rows], T[2, rows], T[3, rows]
            for e in range(len(totals)):
                c0, c1 = coefficients[e, group], coefficients[e, group + 1]
                c2, c3 = coefficients[e, group + 2], coefficients[e, group + 3]
                if c0 != 0 or c1 != 0 or c2 != 0 or c3 != 0:
                    total = totals[e, rows]
                    for i in range(len(total)):
                        total[i] += c0 * t0[i] + c1 * t1[i] + c2 * t2[i] + c3 * t3[i]


@compiled
def run(order: int, slices: Arrays, T: Any, coefficients: Any, totals: Any) -> None:
    """Take all steps, in one thread."""
    for k in range(1, order + 1):
        advance(0, len(slices.starts) - 1, k, k == order, slices, T, coefficients, totals)
