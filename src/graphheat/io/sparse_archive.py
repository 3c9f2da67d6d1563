"""Sparse matrices as ``scipy.sparse.save_npz`` writes them, built from checked arrays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graphheat.checks import shown
from graphheat.errors import FileFormatError
from graphheat.graph.sparse_structure import check_range, check_shape, check_structure, csr_of

SPARSE = ("format", "shape", "data", "indices", "indptr", "row", "col", "offsets")


def is_sparse(arrays: Mapping[str, NDArray[Any]]) -> bool:
    """Tell whether an archive holds a sparse matrix of SciPy."""
    return "format" in arrays and "shape" in arrays


def sparse_matrix(arrays: Mapping[str, NDArray[Any]], what: str) -> Any:
    """Return the matrix in an archive; KeyError where a part is missing.

    Examples
    --------
    >>> import io
    >>> stream = io.BytesIO()
    >>> sp.save_npz(stream, sp.coo_array(np.eye(2)))
    >>> with np.load(io.BytesIO(stream.getvalue())) as archive:
    ...     sparse_matrix(archive, "features").toarray().tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    kind = arrays["format"].tobytes().rstrip(b"\0").decode("latin-1").replace("\0", "")
    shape = check_shape(arrays["shape"], what)
    if kind in ("csr", "csc"):
        parts = arrays["data"], arrays["indices"], arrays["indptr"]
        if kind == "csr":
            return csr_of(*parts, shape, what)
        return csr_of(*parts, shape[::-1], what).T
    if kind == "coo":
        row, column, data = arrays["row"], arrays["col"], arrays["data"]
        if not row.shape == column.shape == data.shape:
            raise ValueError("its rows, columns and entries differ in number")
        check_range(row, shape[0], f"row numbers of {what}")
        check_range(column, shape[1], f"column numbers of {what}")
        return check_structure(sp.coo_array((data, (row, column)), shape=shape), what)
    if kind == "bsr":
        return _from_blocks(arrays["data"], arrays["indices"], arrays["indptr"], shape, what)
    if kind == "dia":
        data, offsets = arrays["data"], arrays["offsets"]
        if data.ndim != 2 or offsets.shape != data.shape[:1] or offsets.dtype.kind not in "iu":
            raise ValueError("its diagonals and offsets do not go together")
        return check_structure(sp.dia_array((data, offsets), shape=shape), what)
    raise FileFormatError(
        f"A sparse matrix of format {shown(kind)!r} cannot be read; save it as csr."
    )


def _from_blocks(
    data: NDArray[Any],
    indices: NDArray[Any],
    indptr: NDArray[Any],
    shape: tuple[int, int],
    what: str,
) -> Any:
    if data.ndim != 3 or min(data.shape[1:]) < 1:
        raise ValueError(f"its blocks have the shape {data.shape}")
    height, width = data.shape[1:]
    # The blocks' places are those of a matrix with one entry per block.
    places = csr_of(
        np.ones(len(data)), indices, indptr, (shape[0] // height, shape[1] // width), what
    )
    blocks = data, places.indices, places.indptr
    return check_structure(sp.bsr_array(blocks, shape=shape), what)
