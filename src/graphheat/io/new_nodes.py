"""New nodes and edges of a graph, from tables or in memory, encoded by name as the old were."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Unpack

import numpy as np

from graphheat.errors import GraphError, ParameterError
from graphheat.features import FeatureSchema
from graphheat.features.cells import Cells
from graphheat.graph import Graph
from graphheat.graph.growth import NewEdges, NewNodes, grown_parts
from graphheat.io.edges import read_edges
from graphheat.io.feature_file import match_features
from graphheat.io.node_features import Beside, encode_nodes
from graphheat.io.node_table import read_node_table
from graphheat.io.table_options import (
    ColumnOptions,
    EdgeColumnOptions,
    EdgeListOptions,
    NodeOptions,
    check_names,
    chosen,
)
from graphheat.io.table_sources import open_table
from graphheat.io.written import named

OF_THE_GRAPH = ("split", "columns", "categorical", "kinds", "schema", "name")


def extend(
    graph: Graph,
    nodes: Any = None,
    edges: Any = None,
    *,
    new_classes: bool = False,
    **options: Unpack[EdgeListOptions],
) -> Graph:
    """Return ``graph`` with more nodes and edges; see :meth:`Graph.extended`."""
    check_names(options, EdgeListOptions, "extended")
    for option in OF_THE_GRAPH:
        if options.get(option) is not None:
            raise ParameterError(
                f"{option} was settled when {graph.name} was read; a graph is extended by the same."
            )
    found = _nodes(graph, nodes, options)
    ids = frozenset(map(str, (*graph.nodes.tolist(), *found.ids)))
    parts = grown_parts(
        graph,
        found,
        _edges(edges, ids, options),
        duplicates=options.get("duplicates") or "error",
        new_classes=new_classes,
    )
    return Graph.from_scipy(**parts)


def _nodes(graph: Graph, nodes: Any, options: Mapping[str, Any]) -> NewNodes:
    if nodes is None:
        return NewNodes()
    labels, titles, where, columns = None, None, "the new nodes", dict[str, Cells]()
    account = left_out = ""
    schema = _schema(graph)
    if isinstance(nodes, (list, tuple, range, np.ndarray)):
        ids = list(nodes)
        odd = [node for node in ids if not isinstance(node, (int, str, np.integer))]
        if odd:
            raise GraphError(
                f"New nodes must be ids (integers or strings) or a table; got {odd[0]!r}."
            )
    else:
        given = {**chosen(NodeOptions, options), "schema": schema}
        first = open_table(nodes, given.get("delimiter"), "nodes").first
        for option in ("label", "title"):  # new nodes need have neither
            if given.get(option) not in (None, *first):
                del given[option]
        table = read_node_table(nodes, **given)
        ids, titles, columns, where = table.ids, table.titles, table.columns, table.where
        labels = None if table.labels is None else list(table.labels)
        account, left_out = table.account, table.left_out
    beside, source = None, options.get("features")
    if source is not None:
        how = {**chosen(ColumnOptions, options), "schema": schema}
        beside = match_features(source, [str(node) for node in ids], list(columns), **how)
    features, notes, phrase = _features(
        graph, columns, beside, where, {**options, "schema": schema}
    )
    if account:
        account = f"{account}{f', {phrase}' if phrase else ''}{left_out}."
    return NewNodes(ids, features, labels, titles, notes, where, account)


def _features(
    graph: Graph,
    columns: Mapping[str, Cells],
    beside: Beside | None,
    where: str,
    options: Mapping[str, Any],
) -> tuple[Any, tuple[str, ...], str]:
    """Return the features of new nodes, made as the graph's were, notes, and an account of them."""
    if graph.features is None:
        held = [*columns, *(() if beside is None else (beside.name,))]
        note = f"{graph.name} has no features; left out of {where}: {named(held)}."
        return None, (note,) if held else (), ""
    schema = options["schema"]
    if beside is not None and beside.array is not None and not _has_columns(schema, columns):
        left = f"{beside.name} holds the features; left out of {where}: {named(list(columns))}."
        return beside.array, (left,) if columns else (), ""  # encoded already, as the graph's are
    if beside is None and not columns:
        return None, (), ""
    if schema is None:
        raise GraphError(
            f"{graph.name} has {graph.features.shape[1]:,} features without names, which the "
            f"columns of {where} cannot be matched with; give features (--features) as an array "
            "with one row per new node."
        )
    made = encode_nodes(columns, where, beside, options)
    return made.features, made.notes, made.account


def _schema(graph: Graph) -> FeatureSchema | None:
    """Return how features are made of a table: as the graph's were, or numbers of their names."""
    if graph.schema is not None or graph.feature_names is None:
        return graph.schema
    plain = {name: ["0"] for name in graph.feature_names}
    return FeatureSchema.learn(plain, kinds=dict.fromkeys(plain, "number"))


def _has_columns(schema: FeatureSchema | None, columns: Mapping[str, Cells]) -> bool:
    return schema is not None and any(column.name in columns for column in schema.columns)


def _edges(edges: Any, known: frozenset[str], options: Mapping[str, Any]) -> NewEdges:
    if edges is None:
        return NewEdges((), ())
    if isinstance(edges, (list, tuple, np.ndarray)):
        found = _listed(edges)
    else:
        pairs = read_edges(edges, known=known, **chosen(EdgeColumnOptions, options))
        ends = pairs.ids[pairs.source].tolist(), pairs.ids[pairs.target].tolist()
        where = str(edges) if isinstance(edges, (str, os.PathLike)) else "edges"
        found = NewEdges(*ends, pairs.weight, where, pairs.account)
    if options.get("self_loops") == "drop":
        kept = [str(a) != str(b) for a, b in zip(found.source, found.target, strict=True)]
        found = _only(found, kept)
    return found


def _listed(edges: Iterable[Any]) -> NewEdges:
    """Return edges that were given as rows (source, target) or (source, target, weight)."""
    rows = [tuple(edge) if not isinstance(edge, str) else (edge,) for edge in edges]
    widths = {len(row) for row in rows}
    if len(widths) > 1 or not widths <= {2, 3}:
        odd = next(row for row in rows if len(row) != len(rows[0]) or len(row) not in (2, 3))
        raise GraphError(
            "New edges must be (source, target) or (source, target, weight), all alike; got "
            f"{odd!r}."
        )
    try:
        weight = np.array([row[2] for row in rows], dtype=np.float64) if 3 in widths else None
    except (TypeError, ValueError):
        odd = next(row for row in rows if not isinstance(row[2], (int, float)))
        raise GraphError(f"An edge's weight must be a number; got {odd[2]!r}.") from None
    return NewEdges([row[0] for row in rows], [row[1] for row in rows], weight)


def _only(edges: NewEdges, kept: Sequence[bool]) -> NewEdges:
    rows: list[int] = np.flatnonzero(kept).tolist()
    return edges._replace(
        source=[edges.source[row] for row in rows],
        target=[edges.target[row] for row in rows],
        weight=None if edges.weight is None else edges.weight[rows],
    )
