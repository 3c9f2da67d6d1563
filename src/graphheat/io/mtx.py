"""Graphs in Matrix Market files: the adjacency alone, its rows numbered from 0."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from graphheat.errors import GraphError
from graphheat.graph import Graph
from graphheat.graph.adjacency import SelfLoops, Symmetrize
from graphheat.io.atomic import replacing
from graphheat.io.csv import read_nodes
from graphheat.io.feature_file import match_features
from graphheat.io.matrix_market import parse_matrix
from graphheat.io.node_table import NodeTable
from graphheat.io.table import as_integers

PathLike = str | os.PathLike[str]


def read_mtx(
    path: PathLike,
    nodes: PathLike | None = None,
    *,
    features: PathLike | None = None,
    id: str | None = None,
    label: str | None = None,
    split: str | None = None,
    title: str | None = None,
    columns: Sequence[str] | None = None,
    categorical: Sequence[str] = (),
    delimiter: str | None = None,
    symmetrize: Symmetrize | None = None,
    self_loops: SelfLoops = "keep",
    name: str | None = None,
) -> Graph:
    """Read a graph from a Matrix Market file and, optionally, a node table.

    Parameters
    ----------
    path
        A square matrix; must be symmetric unless ``symmetrize="max"``.
    nodes
        A table with one row a node. When its ids are the row numbers 0 … n−1, in any order, they
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
    choices: dict[str, Any] = {
        "columns": columns,
        "categorical": categorical,
        "delimiter": delimiter,
    }
    table = read_nodes(nodes, features, id=id, label=label, split=split, title=title, **choices)
    matrix: Any = parse_matrix(path)
    n = matrix.shape[0]
    parts: dict[str, Any] = {}
    if table is not None:
        matrix, parts = _matched(matrix, table, nodes)
    if features is not None:
        ids = [str(row) for row in range(n)] if table is None else table.ids
        parts["features"] = match_features(features, ids, **choices)
    return Graph.from_scipy(
        matrix,
        symmetrize=symmetrize,
        self_loops=self_loops,
        name=Path(path).stem if name is None else name,
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


def _matched(matrix: Any, table: NodeTable, path: PathLike | None) -> tuple[Any, dict[str, Any]]:
    """Return the matrix in the order of the table, and what the table says."""
    n = matrix.shape[0]
    if len(table.ids) != n:
        raise GraphError(
            f"{path} must have one row a node; got {len(table.ids):,} rows for {n:,} nodes."
        )
    numbers = as_integers(table.ids)
    if numbers is not None and np.array_equal(np.sort(numbers), np.arange(n)):
        rows = sp.csr_array(matrix)
        matrix = rows[numbers][:, numbers] if rows.shape == (n, n) else rows
    return matrix, {
        "nodes": np.array(table.ids, dtype=object) if numbers is None else numbers,
        "features": table.features,
        "labels": table.labels,
        "split": table.split,
        "titles": table.titles,
    }
