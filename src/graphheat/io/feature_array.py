"""Arrays of features in files: rows without ids."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graphheat.errors import FileFormatError, GraphError, GraphHeatError
from graphheat.graph.sparse_structure import csr_of
from graphheat.io.archive import DAMAGE, existing_file, read_archive, read_array, reason_of
from graphheat.io.sparse_archive import is_sparse, sparse_matrix
from graphheat.io.written import named
from graphheat.memory import check_room

NAME_BYTES = 128  # of a column's name
ARRAYS = (".npy", ".npz")


def is_array(source: Any) -> bool:
    """Tell whether features are rows without ids: an array in a file, or in memory."""
    if isinstance(source, (str, os.PathLike)):
        return Path(source).suffix.lower() in ARRAYS
    return isinstance(source, np.ndarray) or bool(sp.issparse(source))


def read_feature_array(source: Any) -> Any:
    """Read a dense or sparse matrix, shape (n, f), from ``.npy`` or ``.npz``, or take one.

    An archive may be of ``scipy.sparse.save_npz``, or hold ``x``, or ``x_data``, ``x_indices``,
    ``x_indptr`` and ``x_shape``, or a single array of any name.
    """
    if not isinstance(source, (str, os.PathLike)):
        return source if sp.issparse(source) else _matrix(source, "features")
    path = existing_file(source)
    if path.suffix.lower() == ".npy":
        return _matrix(_read_npy(path), path)
    arrays = read_archive(path)
    try:
        if "x_shape" in arrays:
            parts = arrays["x_data"], arrays["x_indices"], arrays["x_indptr"]
            return _named(csr_of(*parts, arrays["x_shape"], "features"), path)
        if is_sparse(arrays):
            return _named(sparse_matrix(arrays, "features"), path)
    except GraphHeatError:
        raise
    except (KeyError, ValueError, TypeError) as error:
        raise FileFormatError(f"{path} is not a whole sparse matrix: {reason_of(error)}.") from None
    if "x" in arrays:
        return _matrix(arrays["x"], path)
    if len(arrays) == 1:
        return _matrix(next(iter(arrays.values())), path)
    raise FileFormatError(
        f"{path} must hold the features as x or as its only array; it holds "
        f"{named(sorted(arrays), 10) or 'nothing'}."
    )


def _named(matrix: Any, path: Path) -> Any:
    """Return a sparse matrix whose columns can all have a name: a few bytes may declare 2⁶²."""
    columns = int(matrix.shape[1])
    check_room(columns * NAME_BYTES, path.stat().st_size, f"{path} (with {columns:,} columns)")
    return matrix


def _read_npy(path: Path) -> NDArray[Any]:
    size = path.stat().st_size
    check_room(size, size, path)
    try:
        with path.open("rb") as stream:
            return read_array(stream, size, path)
    except GraphHeatError:
        raise
    except DAMAGE as error:
        raise FileFormatError(f"{path} is not a whole npy array: {reason_of(error)}.") from None


def _matrix(array: NDArray[Any], path: Path | str) -> NDArray[Any]:
    if array.ndim != 2:
        raise GraphError(f"{path} must hold a matrix, one row per node; got shape {array.shape}.")
    return array
