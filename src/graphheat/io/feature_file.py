"""Features in a file of their own: a table matched by id, or an array in node order."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Unpack

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graphheat.errors import FileFormatError, GraphError, ParameterError
from graphheat.io.archive import existing_file, read_archive, reason_of
from graphheat.io.node_table import read_node_table
from graphheat.io.table import named
from graphheat.io.table_options import ColumnOptions

ARRAYS = (".npy", ".npz")


def is_array(path: str | os.PathLike[str]) -> bool:
    """Tell whether a feature file holds rows without ids."""
    return Path(path).suffix.lower() in ARRAYS


def read_feature_array(path: str | os.PathLike[str]) -> Any:
    """Read a dense or sparse matrix, shape (n, f), from ``.npy`` or ``.npz``.

    An archive may be of ``scipy.sparse.save_npz``, or hold ``x``, or ``x_data``, ``x_indices``,
    ``x_indptr`` and ``x_shape``, or a single array of any name.
    """
    path = existing_file(path)
    if path.suffix.lower() == ".npy":
        return _matrix(_read_npy(path), path)
    arrays = read_archive(path)
    try:
        if "x_shape" in arrays:
            parts = arrays["x_data"], arrays["x_indices"], arrays["x_indptr"]
            return sp.csr_array(parts, shape=tuple(arrays["x_shape"].tolist()))
        if "format" in arrays and "shape" in arrays:
            return sp.load_npz(path)
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


def match_features(
    path: str | os.PathLike[str], ids: Sequence[str], **options: Unpack[ColumnOptions]
) -> Any:
    """Return the features of the nodes ``ids``, shape (n, f), in that order.

    Parameters
    ----------
    path
        An array with one row per node in the order of ``ids``, or a table with an id column and
        exactly these ids in any order.
    columns, categorical, delimiter
        As for :func:`graphheat.io.node_table.read_node_table`; for tables alone.
    """
    if is_array(path):
        if options.get("columns") is not None or options.get("categorical"):
            raise ParameterError(
                f"columns and categorical choose columns of a table; {path} is an array."
            )
        matrix = read_feature_array(path)
        if matrix.shape[0] != len(ids):
            raise GraphError(
                f"{path} must have one row per node; got {matrix.shape[0]:,} rows for "
                f"{len(ids):,} nodes."
            )
        return matrix
    table = read_node_table(path, words=False, **options)
    if table.features is None:
        raise FileFormatError(f"{path} has no feature columns beside its ids.")
    position = {node: row for row, node in enumerate(table.ids)}
    lost = [node for node in ids if node not in position]
    if lost:
        raise GraphError(
            f"{path} must have features of every node; {len(lost):,} of {len(ids):,} are missing: "
            f"{named(lost)}."
        )
    if len(position) > len(ids):
        extra = list(position.keys() - set(ids))
        extra.sort(key=position.__getitem__)
        raise GraphError(
            f"{path} has features of {len(extra):,} ids that the graph lacks: {named(extra)}. "
            "Add them to the node table, or remove them."
        )
    return table.features[[position[node] for node in ids]]


def _read_npy(path: Path) -> NDArray[Any]:
    try:
        with path.open("rb") as stream:
            return np.lib.format.read_array(stream, allow_pickle=False)
    except (ValueError, EOFError, OSError, MemoryError, SyntaxError) as error:
        raise FileFormatError(f"{path} is not a whole npy array: {reason_of(error)}.") from None


def _matrix(array: NDArray[Any], path: Path) -> NDArray[Any]:
    if array.ndim != 2:
        raise GraphError(f"{path} must hold a matrix, one row per node; got shape {array.shape}.")
    return array
