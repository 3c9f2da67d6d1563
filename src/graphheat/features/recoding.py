"""Features of a graph as the schema of another would have made them, column by column, by name."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphheat.errors import GraphError
from graphheat.features.feature_columns import (
    BooleanColumn,
    CategoryColumn,
    FeatureColumn,
    NumberColumn,
    TextColumn,
    stacked,
)
from graphheat.features.feature_schema import Encoded, FeatureSchema, listed
from graphheat.graph import Graph


def recoded(schema: FeatureSchema, graph: Graph) -> Encoded:
    """Return the features of ``graph`` as ``schema`` encodes them, or raise in one sentence.

    Parameters
    ----------
    schema
        What a model was fitted with: ``graph.schema`` of another graph.
    graph
        A graph with a schema of its own, learned on another table. Categories are matched by value,
        numbers and dates put on the other scale, missing values filled in as there; columns may
        stand in any order. Free text cannot be recoded unless both schemas know the same words:
        read the table with ``schema=`` then.

    Examples
    --------
    >>> edges = {"source": [0, 1], "target": [1, 2]}
    >>> one = Graph.from_frames(edges, {"id": [0, 1, 2], "fruit": ["apple", "fig", "fig"]})
    >>> two = Graph.from_frames(edges, {"id": [0, 1, 2], "fruit": ["kiwi", "apple", "fig"]})
    >>> recoded(one.schema, two).features.tolist()
    [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]
    """
    own = graph.schema
    if own == schema:
        return Encoded(graph.features, ())
    if own is None:
        raise GraphError(
            f"{graph.name} does not say how its features were made; read its table with the schema "
            "of the run (schema=run.schema), or build it by Graph.from_frames."
        )
    places = _places(own)
    used = [column for column in schema.columns if column.kind != "skip"]
    lacking = [column.name for column in used if column.name not in places]
    if lacking:
        raise GraphError(
            f"{graph.name} lacks {len(lacking)} of the {len(used)} columns that the features were "
            f"learned from: {listed(lacking)}. Its columns are {listed(list(places), 20)}."
        )
    if schema.array != own.array:
        raise GraphError(
            f"The array of features beside the table of {graph.name} must be as in fitting: "
            f"{_array(schema)}; it is {_array(own)}."
        )
    features: Any = graph.features
    matrix: Any = features if isinstance(features, np.ndarray) else features.tocsc()
    notes: list[str] = []
    known = {column.name for column in schema.columns}
    extra = [name for name in places if name not in known]
    if extra:
        notes.append(f"{graph.name} has columns that are left out: {listed(extra)}.")
    blocks = []
    for column in used:
        given, start = places[column.name]
        block: Any = matrix[:, start : start + len(given.names)]
        dense = block if isinstance(block, np.ndarray) else block.toarray()
        made, more = _block(column, given, dense.astype(np.float64), graph.name)
        blocks.append(made)
        notes += more
    if schema.array is not None:
        blocks.append(matrix[:, matrix.shape[1] - schema.array[1] :])
    return Encoded(stacked(blocks), tuple(notes))


def _places(schema: FeatureSchema) -> dict[str, tuple[FeatureColumn, int]]:
    """Return columns by name, with where their features begin."""
    places, start = {}, 0
    for column in schema.columns:
        if column.kind != "skip":
            places[column.name] = column, start
        start += len(column.names)
    return places


def _block(
    column: FeatureColumn, given: FeatureColumn, block: NDArray[np.float64], name: str
) -> tuple[Any, list[str]]:
    if type(column) is not type(given):
        raise GraphError(
            f"Column {column.name!r} of {name} is a {given.kind}, and was a {column.kind} in "
            f"fitting. Read its table with kinds={{{column.name!r}: {column.kind!r}}}."
        )
    width = len(given.own_names)
    missing = block[:, width] == 1 if given.indicator else np.zeros(len(block), dtype=bool)
    own, notes = block[:, :width], []
    if isinstance(column, NumberColumn) and isinstance(given, NumberColumn):
        values = own * given.deviation + given.mean
        values[missing] = column.median
        made: Any = (values - column.mean) / column.deviation
    elif isinstance(column, BooleanColumn):
        made = np.where(missing[:, None], column.usual, own)
    elif isinstance(column, CategoryColumn) and isinstance(given, CategoryColumn):
        made = np.zeros((len(block), len(column.values)))
        target = {value: place for place, value in enumerate(column.values)}
        for place, value in enumerate(given.values):
            if value in target:
                made[:, target[value]] = own[:, place]
        unseen = [value for value in given.values if value not in target]
        if unseen:
            notes.append(
                f"Column {column.name!r} of {name} has {len(unseen):,} values that were not seen "
                f"in fitting: {listed(unseen)}. None of its features is 1 there."
            )
    elif isinstance(column, TextColumn) and isinstance(given, TextColumn):
        if (column.terms, column.idf) != (given.terms, given.idf):
            raise GraphError(
                f"The words of column {column.name!r} of {name} were counted on its own table; "
                "read it with the schema of the run (schema=run.schema)."
            )
        made = own
    if column.indicator:
        made = np.hstack([made, missing[:, None].astype(np.float64)])
    return made, notes


def _array(schema: FeatureSchema) -> str:
    return "none" if schema.array is None else f"{schema.array[0]}, {schema.array[1]:,} columns"
