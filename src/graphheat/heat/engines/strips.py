"""Rows and matrices from columns, a strip at a time, in threads."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graphheat.heat.assembly import Entries, assemble, entries_of, mirror, threshold
from graphheat.progress import Progress

# Columns ``indices`` of a matrix, shape (n, len(indices)).
ColumnsOf = Callable[[NDArray[np.int64]], NDArray[Any]]

WIDTH = 32  # columns of a strip: they stay in cache


def rows(
    columns_of: ColumnsOf,
    indices: NDArray[np.int64],
    eps: float,
    n: int,
    threads: int,
    *,
    signed: bool = False,
) -> sp.csr_array:
    """Return rows of a symmetric matrix, entries at least ``eps``, shape (len(indices), n)."""

    def full_rows(strip: NDArray[np.int64]) -> Entries:
        values = columns_of(strip).T
        return entries_of(values, threshold(values, eps, signed=signed))

    return assemble(list(_map(full_rows, indices, threads)), n)


def matrix(
    columns_of: ColumnsOf,
    n: int,
    eps: float,
    threads: int,
    progress: Progress | None,
    *,
    signed: bool = False,
) -> sp.csr_array:
    """Return the entries that are at least ``eps``, exactly symmetric, shape (n, n)."""

    def lower_rows(strip: NDArray[np.int64]) -> Entries:
        # Rows of the lower triangle only: the upper one is its mirror image, so that the result is
        # symmetric to the bit although its strips are rounded differently.
        last = int(strip[-1]) + 1
        values = columns_of(strip)[:last].T
        keep = threshold(values, eps, signed=signed)
        keep &= np.arange(last) <= strip[:, None]
        return entries_of(values, keep)

    parts: list[Entries] = []
    done = 0
    for part in _map(lower_rows, np.arange(n), threads):
        parts.append(part)
        done += len(part[2])
        if progress is not None:
            progress(done, n, "rows")
    return mirror(assemble(parts, n))


def of(indices: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
    """Yield ``indices`` in strips of the width that stays in cache."""
    for start in range(0, len(indices), WIDTH):
        yield indices[start : start + WIDTH]


def unit_columns(n: int, indices: NDArray[np.int64], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return the columns ``indices`` of the identity, shape (n, len(indices))."""
    block = np.zeros((n, len(indices)), dtype=dtype)
    block[indices, np.arange(len(indices))] = 1
    return block


def _map(
    work: Callable[[NDArray[np.int64]], Entries], indices: NDArray[np.int64], threads: int
) -> Iterator[Entries]:
    if threads == 1:
        yield from map(work, of(indices))
        return
    with ThreadPoolExecutor(threads) as pool:
        try:
            yield from pool.map(work, of(indices))
        except BaseException:
            pool.shutdown(cancel_futures=True)  # Ctrl-C: only the strips under way finish
            raise
