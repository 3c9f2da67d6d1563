"""Graphs in CSV files: an edge list, a node table, perhaps a file of features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Unpack

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graphheat.checks import shown
from graphheat.errors import FileFormatError, GraphError
from graphheat.features.cells import MISSING
from graphheat.graph import Graph
from graphheat.graph.adjacency import from_pairs
from graphheat.graph.label_sets import joined
from graphheat.io.atomic import replacing
from graphheat.io.edges import Edges, read_edges
from graphheat.io.feature_array import is_array, read_feature_array
from graphheat.io.feature_file import match_features
from graphheat.io.node_features import encode_nodes
from graphheat.io.node_table import ID_NAMES, LABEL_NAMES, NodeTable, accounts, read_nodes
from graphheat.io.spreadsheet import guarded_frame, unguarded_ids
from graphheat.io.table_options import (
    ColumnOptions,
    EdgeColumnOptions,
    EdgeListOptions,
    PathLike,
    Source,
    check_names,
    chosen,
)
from graphheat.io.table_sources import stem
from graphheat.io.written import as_integers, is_unnamed, named


def read_csv(
    edges: Source, nodes: Source | None = None, **options: Unpack[EdgeListOptions]
) -> Graph:
    r"""Read a graph from an edge list and, optionally, a node table.

    Parameters
    ----------
    edges
        Source, target and perhaps a weight: a path, or a frame of pandas, polars or Arrow. The
        suffix says how a file is read (:data:`graphheat.io.FORMATS`); text may have commas, tabs,
        semicolons or spaces, a header or none. (a, b) and (b, a) are one edge.
    source_column, target_column, weight_column
        Columns of the edge list. By default ``source`` is one named source, src, from, …;
        ``target`` one named target, dst, to, …; ``weight`` one named weight, w, edge_weight or
        value, in any case. Two columns of other names are the ends; any further column is left out.
        Without a header the third of exactly three columns is the weight.
    nodes
        A table with a header and one row per node, in the order wanted. Ids without an edge become
        isolated nodes; an edge to an id that the table lacks is an error. An id that was marked for
        spreadsheets (``'=a``) is the node ``=a`` where the edges name that one alone.
    features
        Features beside the table's columns: another table, matched by id, or ``.npy``, ``.npz`` or
        an array with one row per node, in the order of the node table.
    id, label, split, title
        Columns of the node table. By default ``id`` is one named id, node, node_id or name, else
        the first; ``label`` one named label, class, y or target; ``split`` and ``title`` those of
        that name. Missing labels (empty, NA, NaN, None, null) are unlabelled nodes. Labels are
        names or whole numbers. Refused are more than ten other numbers, and more than twenty whole
        ones that hardly repeat and leave gaps, as prices do.
    columns, categorical
        Columns that features are made of (default: all others), and those among them that are
        categories.
    kinds
        Column → number, boolean, date, category, text or skip, where the rule of
        :func:`graphheat.features.kinds.guess` should not decide.
    missing
        ``"impute"`` (the default) fills in missing values and adds a feature that says so;
        ``"error"`` raises.
    decimal
        ``","`` or ``"."`` where the cells do not tell.
    schema
        A :class:`~graphheat.features.FeatureSchema` of another graph (``graph.schema``): columns
        are then encoded as there, by name.
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
    >>> from pathlib import Path
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
    known: dict[str, Any] = {}
    if table is not None:
        table = replace(table, ids=unguarded_ids(table.ids, frozenset(pairs.ids.tolist())))
    if table is None:
        written = _nodes_of_edges(pairs, features)
    else:
        written = table.ids
        known = {**table.label_parts, "split": table.split, "titles": table.titles}
    own = {} if table is None else table.columns
    beside = None
    if features is not None:
        beside = match_features(features, written, list(own), **chosen(ColumnOptions, options))
    made = encode_nodes(own, "" if table is None else table.where, beside, options)
    ids = _final(written)
    positions = _positions(pairs, written, table)
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
        nodes=ids,
        self_loops=options.get("self_loops") or "keep",
        name=stem(edges, "graph") if name is None else name,
        account=accounts(pairs.account, table, made, beside),
        **made.as_parts(),
        **known,
    )


def write_csv(
    graph: Graph, edges: PathLike, nodes: PathLike | None = None, *, safe: bool = False
) -> None:
    """Write ``graph`` as an edge list and, optionally, a node table.

    Parameters
    ----------
    graph
        Its edges, each once; its ids, labels, split, titles and features go to the node table.
    edges
        Columns ``source``, ``target`` and, unless all are 1, ``weight``.
    nodes
        Columns ``id``, ``label``, ``split``, ``title`` and the features by name (without names
        ``x0``, ``x1``, …), as far as the graph has them. Without it isolated nodes and all that is
        known of the nodes are left out.
    safe
        Whether to mark cells that a spreadsheet would take for a formula (``=1+1``) as text, by a
        leading ``'``. Read back, they keep it: leave it off for files that are.

    Notes
    -----
    What :func:`read_csv` would not read back as it is (ids and classes of text that are numbers or
    have spaces around them, classes that are booleans) is refused; :func:`write_npz` keeps all.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> path = Path(tempfile.mkdtemp()) / "edges.csv"
    >>> write_csv(Graph.from_edges(["ann", "bob"], ["bob", "cat"]), path)
    >>> path.read_text().split()
    ['source,target', 'ann,bob', 'bob,cat']
    """
    import pandas as pd

    _check_words(graph.nodes.tolist(), "Node id")
    upper = sp.coo_array(sp.triu(graph.adjacency, format="csr"))
    table: dict[str, Any] = {"source": graph.nodes[upper.row], "target": graph.nodes[upper.col]}
    if np.any(upper.data != 1):
        table["weight"] = upper.data
    frames = [(pd.DataFrame(table), edges)]
    if nodes is not None:
        frames.append((pd.DataFrame(_node_columns(graph)), nodes))
    for frame, path in frames:
        with replacing(path) as aside:
            (guarded_frame(frame) if safe else frame).to_csv(
                aside, index=False, lineterminator="\n"
            )


def _check_words(names: Sequence[Any], what: str) -> None:
    """Raise where names of text or numbers would not be read back as they are."""
    texts = [name for name in names if isinstance(name, str)]
    odd = [name for name in names if not isinstance(name, str) and type(name) is not int]
    if odd:
        raise GraphError(f"{what} {odd[0]!r} would be read back as text. Use write_npz.")
    _check_exact(texts, what)
    if texts and as_integers(texts) is not None:
        raise GraphError(
            f"{what} {texts[0]!r} is text, and would be read back as a number. Use write_npz."
        )


def _check_exact(texts: Sequence[str], what: str) -> None:
    for text in texts:
        if text != text.strip() or "\0" in text or (not text.isprintable() and _is_broken(text)):
            raise GraphError(
                f"{what} {shown(text)!r} would be read back otherwise (spaces around it, or signs "
                "that no text file holds). Use write_npz."
            )


def _is_broken(text: str) -> bool:
    return any("\ud800" <= sign <= "\udfff" for sign in text)


def _node_columns(graph: Graph) -> dict[str, Any]:
    _check_words(graph.classes, "Class")
    _check_exact(graph.titles or (), "Title")
    unreadable = [name for name in map(str, graph.classes) if name.strip() in MISSING]
    if unreadable:
        raise GraphError(
            f"Class {unreadable[0]!r} would be read back as a missing label. Use write_npz."
        )
    columns: dict[str, Any] = {"id": graph.nodes}
    if graph.classes:
        columns["label"] = ["" if code < 0 else graph.classes[code] for code in graph.labels]
    if graph.label_sets is not None:
        columns["label"] = [joined(row, graph.classes) or "" for row in graph.label_sets]
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
        names = [f"x{index}" for index in range(dense.shape[1])]
        if graph.feature_names is not None and not _meant_otherwise(graph.feature_names):
            names = list(graph.feature_names)
        columns |= {name: dense[:, index] for index, name in enumerate(names)}
    return columns


def _meant_otherwise(names: Sequence[str]) -> bool:
    """Tell whether a name would be read back as something else than a feature."""
    usual = {*ID_NAMES, *LABEL_NAMES, "split", "title", ""}
    return any(name.strip().lower() in usual or name != name.strip() for name in names)


def _nodes_of_edges(pairs: Edges, features: Source | None) -> list[str]:
    """Return the ids of a graph without a node table, in order."""
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
        return [str(row) for row in range(rows)]
    order = np.argsort(pairs.ids if integers is None else integers)
    ids: list[str] = pairs.ids[order].tolist()
    return ids


def _positions(pairs: Edges, ids: Sequence[str], table: NodeTable | None) -> NDArray[np.int64]:
    """Return where each id of the edges stands among the nodes."""
    path = "" if table is None else table.where
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
