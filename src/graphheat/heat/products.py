"""f(S)X for signals X, by whichever engine is chosen, a strip of columns at a time."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphheat.heat.engines import Chooser, Request
from graphheat.heat.operand import Operand
from graphheat.heat.series import ChebyshevSeries
from graphheat.heat.signals import as_columns, dense


def workers(threads: int | None) -> int:
    """Return how many threads: as asked for, or one per processor."""
    return threads or _processors()


@cache
def _processors() -> int:
    # Asking takes as long as several products on a small graph.
    return os.cpu_count() or 1


def products(
    operand: Operand,
    chooser: Chooser,
    X: Any,
    series: Sequence[ChebyshevSeries],
    rows: NDArray[np.int64] | None = None,
    *,
    threads: int,
) -> NDArray[Any]:
    """Return f(S)X for each f, shape (len(series), n) or (len(series), n, c); k rows in place of n.

    Parameters
    ----------
    X
        Shape (n,) or (n, c), dense or sparse, finite.
    rows
        Row numbers, shape (k,): only these rows of the results. None: all.
    """
    columns, shape = as_columns(X, operand.n)
    # A float64 signal stays one: in float32 its large values would be infinite, its small 0.
    single = all(part == np.float32 for part in (columns.dtype, *(e.dtype for e in series)))
    dtype = np.dtype(np.float32 if single else np.float64)
    request = Request("signals", tuple(series), columns.shape[1], partial=rows is not None)
    engine = chooser.choose(operand, request).engine
    height = operand.n if rows is None else len(rows)
    if 0 < columns.shape[1] <= engine.width:  # nothing to join, so nothing is copied
        block = dense(columns, dtype)
        found: Any = engine.apply(operand, block, series, rows=rows, threads=threads)
        found = found[0][None] if len(series) == 1 else found
        return np.asarray(found, dtype=dtype).reshape(len(series), height, *shape[1:])
    out = np.empty((len(series), height, columns.shape[1]), dtype=dtype)
    for a in range(0, columns.shape[1], engine.width):
        strip = slice(a, min(a + engine.width, columns.shape[1]))
        block = dense(columns[:, strip], dtype)
        parts = engine.apply(operand, block, series, rows=rows, threads=threads)
        for k, part in enumerate(parts):
            out[k, :, strip] = part
    return out.reshape(len(series), height, *shape[1:])
