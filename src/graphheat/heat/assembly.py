"""From blocks of heat to a sparse matrix: threshold, join, mirror."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

# Column indices, values and the number of entries of each row.
Entries = tuple[NDArray[np.int32], NDArray[Any], NDArray[np.int64]]


def threshold(heat: NDArray[Any], eps: float, *, signed: bool = False) -> NDArray[np.bool_]:
    """Return which entries to keep; ``eps=0`` keeps all that are not exactly 0.

    ``signed``: entries may be negative, and are kept by their absolute value.
    """
    if eps == 0:
        return np.asarray(heat != 0)
    least = least_kept(eps, heat.dtype)
    return np.asarray((np.abs(heat) if signed else heat) >= least)


def least_kept(eps: float, dtype: np.dtype[Any]) -> Any:
    """Return ``eps`` in another precision, never rounded down: that would let in what is below."""
    least = dtype.type(eps)
    return np.nextafter(least, dtype.type(1)) if float(least) < eps else least


def entries_of(heat: NDArray[Any], keep: NDArray[np.bool_]) -> Entries:
    """Return the kept entries of rows of heat, shape (b, n), row by row, columns ascending."""
    rows, columns = np.nonzero(keep)
    counts = np.bincount(rows, minlength=len(heat))
    return columns.astype(np.int32), heat[rows, columns], counts


def assemble(parts: Sequence[Entries], n: int) -> sp.csr_array:
    """Join the entries of consecutive rows into a matrix of n columns."""
    if not parts:
        return sp.csr_array((0, n))
    counts = np.concatenate([part[2] for part in parts])
    indptr = np.concatenate([[0], np.cumsum(counts)])
    if indptr[-1] < 2**31:
        indptr = indptr.astype(np.int32)
    indices = np.concatenate([part[0] for part in parts]).astype(indptr.dtype, copy=False)
    data = np.concatenate([part[1] for part in parts])
    return sp.csr_array((data, indices, indptr), shape=(len(counts), n))


def mirror(lower: sp.csr_array) -> sp.csr_array:
    """Return lower + lowerᵀ with the diagonal counted once, shape (n, n)."""
    upper = sp.csr_array(lower.T.tocsr())
    first = upper.indptr[:-1]
    filled = np.diff(upper.indptr) > 0
    first = first[filled]
    diagonal = upper.indices[first] == np.flatnonzero(filled)
    upper.data[first[diagonal]] = 0  # adds nothing to the entry that lower has there
    return sp.csr_array(lower + upper)
