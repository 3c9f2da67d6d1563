"""Features beside a node table: another table matched by id, or an array in node order."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Unpack

import numpy as np

from graphheat.errors import FileFormatError, GraphError, ParameterError
from graphheat.io.feature_array import is_array, read_feature_array
from graphheat.io.node_features import Beside
from graphheat.io.node_table import read_node_table
from graphheat.io.table_options import ColumnOptions
from graphheat.io.table_sources import open_table
from graphheat.io.written import named


def match_features(
    source: Any, ids: Sequence[str], owned: Sequence[str] = (), **options: Unpack[ColumnOptions]
) -> Beside:
    """Return the features of the nodes ``ids``, in that order.

    Parameters
    ----------
    source
        An array with one row per node in the order of ``ids``, or a table with an id column and
        exactly these ids in any order; a file, or in memory.
    owned
        Columns of the node table, which ``columns`` and ``categorical`` may name as well.
    columns, categorical, delimiter
        As for :func:`graphheat.io.node_table.read_node_table`.
    """
    name = os.fspath(source) if isinstance(source, (str, os.PathLike)) else "features"
    if is_array(source):
        lost = [
            each
            for option in ("columns", "categorical", "kinds")
            for each in _names(options.get(option))
            if each not in owned
        ]
        if lost:
            raise ParameterError(
                f"columns, categorical and kinds name columns of a table; {name} is an array, and "
                f"the node table has no feature {named(lost[:1])}."
            )
        matrix = read_feature_array(source)
        if matrix.shape[0] != len(ids):
            raise GraphError(
                f"{name} must have one row per node; got {matrix.shape[0]:,} rows for "
                f"{len(ids):,} nodes."
            )
        return Beside(name, {}, matrix)
    given: dict[str, Any] = {**options}
    for option in ("columns", "categorical"):
        names: Any = options.get(option)
        if names is not None:
            given[option] = [each for each in names if each not in owned]
    if given.get("columns") == [] and options.get("columns"):
        del given["columns"]  # all that were named are the node table's
    schema = options.get("schema")
    if schema is not None and "columns" not in given:
        known = {column.name for column in schema.columns} - set(owned)
        first = open_table(source, options.get("delimiter"), "features").first
        given["columns"] = [each for each in first if each in known]
    table = read_node_table(source, words=False, **given)
    if not table.columns:
        raise FileFormatError(f"{name} has no feature columns beside its ids.")
    position = {node: row for row, node in enumerate(table.ids)}
    lost = [node for node in ids if node not in position]
    if lost:
        raise GraphError(
            f"{name} must have features of every node; {len(lost):,} of {len(ids):,} are missing: "
            f"{named(lost)}."
        )
    if len(position) > len(ids):
        extra = list(position.keys() - set(ids))
        extra.sort(key=position.__getitem__)
        raise GraphError(
            f"{name} has features of {len(extra):,} ids that the graph lacks: {named(extra)}. "
            "Add them to the node table, or remove them."
        )
    order = np.array([position[node] for node in ids], dtype=np.int64)
    return Beside(name, {key: each.taken(order) for key, each in table.columns.items()}, None)


def _names(given: Any) -> list[str]:
    return list(given or ())
