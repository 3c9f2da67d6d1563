"""Graphs in CSV files: an edge list, a node table, perhaps a file of features."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Unpack

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graphheat.errors import FileFormatError, GraphError
from graphheat.graph import Graph
from graphheat.graph.adjacency import from_pairs
from graphheat.io.atomic import replacing
from graphheat.io.edges import Edges, read_edges
from graphheat.io.feature_file import is_array, match_features, read_feature_array
from graphheat.io.node_table import NodeTable, accounts, read_nodes
from graphheat.io.table import MISSING, as_integers, is_unnamed, named
from graphheat.io.table_options import (
    ColumnOptions,
    EdgeColumnOptions,
    EdgeListOptions,
    PathLike,
    check_names,
    chosen,
)


def read_csv(
    edges: PathLike, nodes: PathLike | None = None, **options: Unpack[EdgeListOptions]
) -> Graph:
    r"""Read a graph from an edge list and, optionally, a node table.

    Parameters
    ----------
    edges
        Source, target and perhaps a weight; CSV, TSV, semicolons or spaces, with a header or
        without. (a, b) and (b, a) are one edge.
    source_column, target_column, weight_column
        Columns of the edge list. By default ``source`` is one named source, src, from, …;
        ``target`` one named target, dst, to, …; ``weight`` one named weight, w, edge_weight or
        value, in any case. Two columns of other names are the ends; any further column is left out.
        Without a header the third of exactly three columns is the weight.
    nodes
        A table with a header and one row per node, in the order wanted. Ids without an edge become
        isolated nodes; an edge to an id that the table lacks is an error.
    features
        A file of features in place of the table's columns: a table matched by id, or ``.npy`` or
        ``.npz`` with one row per node, in the order of the node table.
    id, label, split, title
        Columns of the node table. By default ``id`` is one named id, node, node_id or name, else
        the first; ``label`` one named label, class, y or target; ``split`` and ``title`` those of
        that name. Missing labels (empty, NA, NaN, None, null) are unlabelled nodes. Labels are
        names or whole numbers: a column with more than ten other numbers is refused.
    columns, categorical
        Feature columns to take (default: all others, which must be numeric), and those among them
        to turn into one 0/1 column per value.
    header
        Whether the edge list has a header; None decides by its cells and asks when they do not
        tell.
    delimiter
        One character, for all files; None takes it from each file's first row.
    duplicates, self_loops
        As for :meth:`Graph.from_edges` (default: error, keep).
    name
        What to call the graph; default: the name of the edge file.

    Notes
    -----
    Ids are integers when every one is written as Python writes an integer, otherwise strings; so
    are class names. Without a node table the nodes are sorted by id. A row index, as pandas writes
    one (a first column without a name, of whole numbers that differ), is left out; only where no
    other column of a node table can be the id, it is. ``graph.account`` says what was taken for
    what.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "edges.csv").write_text("source,target\nann,bob\nbob,cat\n")
    >>> _ = (folder / "people.csv").write_text("id,label,age\nann,tea,31\nbob,,28\ncat,tea,3\n")
    >>> read_csv(folder / "edges.csv", folder / "people.csv")
    Graph(nodes=3, edges=2, features=1, classes=1, labelled=2)
    """
    check_names(options, EdgeListOptions, "read_csv")
    features, name = options.get("features"), options.get("name")
    table = read_nodes(nodes, options)
    pairs = read_edges(
        edges,
        known=None if table is None else frozenset(table.ids),
        **chosen(EdgeColumnOptions, options),
    )
    if table is None:
        written, matrix = _nodes_of_edges(pairs, features, options)
        known: dict[str, Any] = {}
    else:
        written, matrix = table.ids, table.features
        if features is not None:
            matrix = match_features(features, written, **chosen(ColumnOptions, options))
        known = {"labels": table.labels, "split": table.split, "titles": table.titles}
    ids = _final(written)
    positions = _positions(pairs, written, nodes, table)
    adjacency = from_pairs(
        positions[pairs.source],
        positions[pairs.target],
        pairs.weight,
        len(ids),
        duplicates=options.get("duplicates") or "error",
        ids=ids,
    )
    return Graph.from_scipy(
        adjacency,
        matrix,
        nodes=ids,
        self_loops=options.get("self_loops") or "keep",
        name=Path(edges).stem if name is None else name,
        account=accounts(pairs.account, table, features),
        **known,
    )


def write_csv(graph: Graph, edges: PathLike, nodes: PathLike | None = None) -> None:
    """Write ``graph`` as an edge list and, optionally, a node table.

    Parameters
    ----------
    graph
        Its edges, each once; its ids, labels, split, titles and features go to the node table.
    edges
        Columns ``source``, ``target`` and, unless all are 1, ``weight``.
    nodes
        Columns ``id``, ``label``, ``split``, ``title`` and ``x0``, ``x1``, …, as far as the graph
        has them. Without it isolated nodes and all that is known of the nodes are left out.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "edges.csv"
    >>> write_csv(Graph.from_edges(["ann", "bob"], ["bob", "cat"]), path)
    >>> path.read_text().split()
    ['source,target', 'ann,bob', 'bob,cat']
    """
    import pandas as pd

    upper = sp.coo_array(sp.triu(graph.adjacency, format="csr"))
    table: dict[str, Any] = {"source": graph.nodes[upper.row], "target": graph.nodes[upper.col]}
    if np.any(upper.data != 1):
        table["weight"] = upper.data
    frames = [(pd.DataFrame(table), edges)]
    if nodes is not None:
        frames.append((pd.DataFrame(_node_columns(graph)), nodes))
    for frame, path in frames:
        with replacing(path) as aside:
            frame.to_csv(aside, index=False, lineterminator="\n")


def _node_columns(graph: Graph) -> dict[str, Any]:
    unreadable = [name for name in map(str, graph.classes) if name.strip() in MISSING]
    if unreadable:
        raise GraphError(
            f"Class {unreadable[0]!r} would be read back as a missing label. Use write_npz."
        )
    columns: dict[str, Any] = {"id": graph.nodes}
    if graph.classes:
        columns["label"] = ["" if code < 0 else graph.classes[code] for code in graph.labels]
    if graph.split:
        parts = np.full(graph.n, "", dtype=object)
        for part, indices in graph.split.items():
            parts[indices] = part
        columns["split"] = parts
    if graph.titles is not None:
        columns["title"] = graph.titles
    if graph.features is not None:
        features = graph.features
        dense = features if isinstance(features, np.ndarray) else features.toarray()
        columns |= {f"x{index}": dense[:, index] for index in range(dense.shape[1])}
    return columns


def _nodes_of_edges(
    pairs: Edges, features: PathLike | None, options: EdgeListOptions
) -> tuple[list[str], Any]:
    """Return the ids of a graph without a node table, in order, and their features."""
    integers = as_integers(pairs.ids.tolist())
    if features is not None and is_array(features):
        # Rows without ids: the edges must name row numbers.
        rows = read_feature_array(features).shape[0]
        if integers is None or (len(integers) and integers.min() < 0):
            raise GraphError(
                f"{features} has rows without ids; pass nodes= with a table of the ids in the "
                "same order."
            )
        if len(integers) and integers.max() >= rows:
            raise GraphError(
                f"{features} must have one row per node; got {rows:,} rows, but the edges name "
                f"node {integers.max()}."
            )
        ids = [str(row) for row in range(rows)]
    else:
        order = np.argsort(pairs.ids if integers is None else integers)
        ids = pairs.ids[order].tolist()
    if features is None:
        return ids, None
    return ids, match_features(features, ids, **chosen(ColumnOptions, options))


def _positions(
    pairs: Edges, ids: Sequence[str], path: PathLike | None, table: NodeTable | None
) -> NDArray[np.int64]:
    """Return where each id of the edges stands among the nodes."""
    place = {node: position for position, node in enumerate(ids)}
    lost = [node for node in pairs.ids if node not in place]
    if lost and table is not None and table.id_column in lost:
        raise FileFormatError(
            f"{path} must have a header row; its first cell {table.id_column!r} is a node of the "
            "edges. Put one on top, such as id,label,x1,x2."
        )
    if lost:
        more = ""
        if table is not None and is_unnamed(table.id_column):
            more = " Its row index was taken for the ids; pass id= where they are another column."
        raise GraphError(
            f"{len(lost):,} ids of the edges are not in {path}: {named(lost)}. "
            f"Add a row for each, or remove their edges.{more}"
        )
    return np.array([place[node] for node in pairs.ids], dtype=np.int64)


def _final(ids: Sequence[str]) -> NDArray[Any]:
    integers = as_integers(ids)
    return np.array(ids, dtype=object) if integers is None else integers
