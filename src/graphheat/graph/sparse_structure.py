"""The structure of sparse matrices, checked before compiled code walks it.

SciPy builds a matrix from any three arrays and trusts them ever after: a pointer that falls or an
index outside the matrix ends the process, or worse, reads and writes elsewhere.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graphheat.checks import shown
from graphheat.errors import GraphError

LONGEST = 2**62  # a side of a matrix; beyond it products of sizes overflow


def csr_of(data: Any, indices: Any, indptr: Any, shape: Any, what: str) -> sp.csr_array:
    """Build a CSR matrix from arrays of unknown origin, or raise with the rule they break.

    Parameters
    ----------
    data, indices, indptr
        As of :class:`scipy.sparse.csr_array`; shape (k,), (k,) and (rows + 1,).
    shape
        Two sizes, as an array or a sequence.
    what
        What the matrix is, for the message.

    Examples
    --------
    >>> csr_of([1.0], [7], [0, 1], (1, 2), "features")
    Traceback (most recent call last):
        ...
    graphheat.errors.GraphError: The column numbers of features must be in [0, 2); got 7.
    """
    rows, columns = check_shape(shape, what)
    values, minor, pointer = (np.asarray(part) for part in (data, indices, indptr))
    _check_values(values, 1, what)
    _check_compressed(pointer, minor, values, rows, columns, "column", what)
    parts = values, minor.astype(np.int64), pointer.astype(np.int64)
    return sp.csr_array(parts, shape=(rows, columns))


def check_structure(matrix: Any, what: str) -> Any:
    """Return a SciPy sparse matrix whose structure is sound, or raise with the rule it breaks.

    Formats that SciPy keeps in Python's own lists come back as CSR, the others as they are.
    """
    if matrix.ndim != 2:
        raise GraphError(f"{what} must be a matrix; got {matrix.ndim} dimensions.")
    rows, columns = check_shape(matrix.shape, what)
    kind = matrix.format
    if kind in ("csr", "csc"):
        major, minor = (rows, columns) if kind == "csr" else (columns, rows)
        side = "column" if kind == "csr" else "row"
        _check_values(matrix.data, 1, what)
        _check_compressed(matrix.indptr, matrix.indices, matrix.data, major, minor, side, what)
    elif kind == "bsr":
        _check_blocks(matrix, rows, columns, what)
    elif kind == "coo":
        _check_values(matrix.data, 1, what)
        for side, numbers, end in (("row", matrix.row, rows), ("column", matrix.col, columns)):
            if numbers.shape != matrix.data.shape:
                raise GraphError(
                    f"{what} must have one {side} number per entry; got shape {numbers.shape} for "
                    f"{matrix.data.shape}."
                )
            check_range(numbers, end, f"{side} numbers of {what}")
    elif kind == "dia":
        _check_values(matrix.data, 2, what)
        _check_integers(matrix.offsets, f"offsets of {what}")
        if matrix.offsets.shape != matrix.data.shape[:1]:
            raise GraphError(f"{what} must have one offset per diagonal.")
    else:
        return check_structure(sp.csr_array(matrix.tocsr()), what)
    return matrix


def check_shape(shape: Any, what: str) -> tuple[int, int]:
    """Return rows and columns, or raise unless they are two sizes."""
    sizes = np.asarray(shape)
    if sizes.shape != (2,) or sizes.dtype.kind not in "iu":
        raise GraphError(f"The shape of {what} must be two whole numbers; got {shown(shape)}.")
    rows, columns = (int(size) for size in sizes)
    if min(rows, columns) < 0 or max(rows, columns) > LONGEST:
        raise GraphError(f"The shape of {what} cannot be ({rows}, {columns}).")
    return rows, columns


def check_range(numbers: NDArray[Any], end: int, what: str) -> None:
    """Raise unless ``numbers`` are whole and in [0, end)."""
    _check_integers(numbers, what)
    if numbers.size and (numbers.min() < 0 or numbers.max() >= end):
        outside = (numbers < 0) | (numbers >= end)
        raise GraphError(
            f"The {what} must be in [0, {end}); got {int(numbers[np.argmax(outside)])}."
        )


def _check_integers(numbers: NDArray[Any], what: str) -> None:
    if numbers.ndim != 1 or (numbers.size and numbers.dtype.kind not in "iu"):
        raise GraphError(
            f"The {what} must be a list of whole numbers; got {numbers.dtype} of shape "
            f"{numbers.shape}."
        )


def _check_values(values: NDArray[Any], ndim: int, what: str) -> None:
    if values.dtype.kind not in "biuf" or values.ndim != ndim:
        raise GraphError(
            f"The entries of {what} must be real numbers; got {values.dtype} of shape "
            f"{values.shape}."
        )


def _check_compressed(
    pointer: NDArray[Any],
    minor: NDArray[Any],
    values: NDArray[Any],
    major: int,
    end: int,
    side: str,
    what: str,
) -> None:
    _check_integers(pointer, f"index pointer of {what}")
    if len(pointer) != major + 1:
        raise GraphError(
            f"The index pointer of {what} must have {major + 1:,} numbers; got {len(pointer):,}."
        )
    _check_integers(minor, f"{side} numbers of {what}")
    if len(minor) != len(values) or int(pointer[-1]) > len(minor) or int(pointer[0]) != 0:
        raise GraphError(
            f"The index pointer of {what} must run from 0 to the number of entries; it runs from "
            f"{int(pointer[0])} to {int(pointer[-1])}, with {len(minor):,} indices and "
            f"{len(values):,} entries."
        )
    if np.any(pointer[1:] < pointer[:-1]):
        at = int(np.argmax(pointer[1:] < pointer[:-1]))
        raise GraphError(f"The index pointer of {what} must not fall; it does at row {at}.")
    check_range(minor[: int(pointer[-1])], end, f"{side} numbers of {what}")


def _check_blocks(matrix: Any, rows: int, columns: int, what: str) -> None:
    _check_values(matrix.data, 3, what)
    height, width = matrix.data.shape[1:]
    if min(height, width) < 1 or rows % height or columns % width:
        raise GraphError(f"Blocks of {height} × {width} do not tile {what}, {rows} × {columns}.")
    _check_compressed(
        matrix.indptr,
        matrix.indices,
        matrix.data[:, 0, 0],
        rows // height,
        columns // width,
        "block column",
        what,
    )
