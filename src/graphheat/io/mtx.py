"""Graphs in Matrix Market files: the adjacency alone, its rows numbered from 0."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Unpack

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graphheat.errors import GraphError
from graphheat.graph import Graph
from graphheat.io.atomic import replacing
from graphheat.io.feature_file import match_features
from graphheat.io.matrix_market import parse_matrix
from graphheat.io.node_features import encode_nodes
from graphheat.io.node_table import NodeTable, accounts, read_nodes
from graphheat.io.table_options import (
    ColumnOptions,
    MatrixOptions,
    PathLike,
    Source,
    check_names,
    chosen,
)
from graphheat.io.written import as_integers


def read_mtx(
    path: PathLike, nodes: Source | None = None, **options: Unpack[MatrixOptions]
) -> Graph:
    """Read a graph from a Matrix Market file and, optionally, a node table.

    Parameters
    ----------
    path
        A square matrix; must be symmetric unless ``symmetrize="max"``.
    nodes
        A table with one row per node. When its ids are the row numbers 0 … n−1, in any order, they
        say which row is whose; otherwise the rows of table and matrix go together in order.
    features, id, label, split, title, columns, categorical, delimiter
        As for :func:`graphheat.read_csv`.
    symmetrize, self_loops
        As for :meth:`Graph.from_scipy`.
    name
        What to call the graph; default: the name of the file.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "path.mtx"
    >>> write_mtx(Graph.from_edges([0, 1], [1, 2]), path)
    >>> read_mtx(path)
    Graph(nodes=3, edges=2, features=0, classes=0, labelled=0)
    """
    check_names(options, MatrixOptions, "read_mtx")
    features, name = options.get("features"), options.get("name")
    table = read_nodes(nodes, options)
    matrix: Any = parse_matrix(path)
    n = matrix.shape[0]
    parts: dict[str, Any] = {}
    if table is not None:
        matrix, parts = _matched(matrix, table)
    own = {} if table is None else table.columns
    beside = None
    if features is not None:
        ids = [str(row) for row in range(n)] if table is None else table.ids
        beside = match_features(features, ids, list(own), **chosen(ColumnOptions, options))
    made = encode_nodes(own, "" if table is None else table.where, beside, options)
    return Graph.from_scipy(
        matrix,
        symmetrize=options.get("symmetrize"),
        self_loops=options.get("self_loops") or "keep",
        name=Path(path).stem if name is None else name,
        account=accounts(_account(Path(path), n, table), table, made, beside),
        **made.as_parts(),
        **parts,
    )


def write_mtx(graph: Graph, path: PathLike) -> None:
    """Write the adjacency of ``graph`` as a symmetric Matrix Market file.

    Node ids, features and labels have no place in the format; see :func:`graphheat.write_csv` for
    a node table beside it, or :func:`graphheat.write_npz` for everything in one file.
    """
    from scipy.io import mmwrite

    weighted = bool(np.any(graph.adjacency.data != 1))
    with replacing(path) as aside, aside.open("wb") as stream:
        mmwrite(
            stream,
            sp.coo_array(graph.adjacency),
            field="real" if weighted else "pattern",
            precision=17 if weighted else None,
            symmetry="symmetric",
        )


def _are_rows(numbers: NDArray[np.int64]) -> bool:
    """Tell whether ids are the row numbers 0 … n−1 in some order."""
    return np.array_equal(np.sort(numbers), np.arange(len(numbers)))


def _account(path: Path, n: int, table: NodeTable | None) -> str:
    if table is None:
        return f"{path.name}: a matrix of {n:,} rows, which are nodes 0 … {n - 1}."
    numbers = as_integers(table.ids)
    how = "in the order" if numbers is None or not _are_rows(numbers) else "by the row numbers"
    return f"{path.name}: a matrix of {n:,} rows, joined to the node table {how} of its ids."


def _matched(matrix: Any, table: NodeTable) -> tuple[Any, dict[str, Any]]:
    """Return the matrix in the order of the table, and what the table says."""
    n = matrix.shape[0]
    if len(table.ids) != n:
        raise GraphError(
            f"{table.where} must have one row per node; got {len(table.ids):,} rows for {n:,} "
            "nodes."
        )
    numbers = as_integers(table.ids)
    if numbers is not None and _are_rows(numbers):
        rows = sp.csr_array(matrix)
        matrix = rows[numbers][:, numbers] if rows.shape == (n, n) else rows
    return matrix, {
        "nodes": np.array(table.ids, dtype=object) if numbers is None else numbers,
        **table.label_parts,
        "split": table.split,
        "titles": table.titles,
    }
