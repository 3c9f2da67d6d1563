"""Features of another graph in the order and the coding that a run was fitted with, by name."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from graphheat.errors import GraphError
from graphheat.features import FeatureSchema, recoded
from graphheat.features.feature_columns import NumberColumn
from graphheat.features.feature_schema import listed
from graphheat.graph import Graph
from graphheat.graph.feature_matrix import check_features


class Matched(NamedTuple):
    """A graph whose features stand as a run's do, and what is worth noting."""

    graph: Graph
    notes: tuple[str, ...] = ()


def matched(
    graph: Graph, schema: FeatureSchema | None, feature_names: tuple[str, ...] | None
) -> Matched:
    """Return ``graph`` with the features of a run, or raise where they cannot be had.

    Parameters
    ----------
    schema, feature_names
        Of the graph that the run was fitted on; None where it had none.

    Notes
    -----
    Two schemas are matched column by column (:func:`graphheat.features.recoded`), names without a
    schema feature by feature. What the graph has and the run has not is left out, and noted; the
    reverse is an error. Features without names stay in the order they have, and a note says so.

    Examples
    --------
    >>> swapped = Graph.from_scipy(np.eye(2), [[1, 2], [3, 4]], feature_names=["b", "a"])
    >>> matched(swapped, None, ("a", "b")).graph.features.tolist()
    [[2.0, 1.0], [4.0, 3.0]]
    """
    names = feature_names if schema is None else schema.feature_names
    if names is None or graph.features is None:
        return Matched(graph)
    if schema is not None and graph.schema is not None:
        made = recoded(schema, graph)
        if made.features is graph.features:
            return Matched(graph, made.notes)
        return Matched(_with_features(graph, made.features, schema, names), made.notes)
    if graph.feature_names is None:
        return Matched(
            graph,
            (
                f"{graph.name} does not name its features; they were taken in the order of those "
                f"that the run was fitted on ({listed(names, 3)}).",
            ),
        )
    return _by_name(graph, schema, names)


def _by_name(graph: Graph, schema: FeatureSchema | None, names: tuple[str, ...]) -> Matched:
    """Match features by their own names: the run or the graph does not know how they were made."""
    held = graph.feature_names or ()
    place = {name: column for column, name in enumerate(held)}
    lacking = [name for name in names if name not in place]
    if lacking:
        raise GraphError(
            f"{graph.name} lacks {len(lacking):,} of the {len(names):,} features that the run was "
            f"fitted on: {listed(lacking)}. Its features are {listed(held, 10)}."
        )
    if scaled := _scaled(graph.schema):
        raise GraphError(
            f"{graph.name} has {listed(scaled, 3)} standardised, and the run does not say whether "
            "it was fitted so. Fit it again, on a graph that was read from a table."
        )
    notes: list[str] = []
    if scaled := _scaled(schema):
        notes.append(
            f"{graph.name} does not say how its features were made: {listed(scaled, 3)} were taken "
            "as standardised, as the run's are."
        )
    extra = [name for name in held if name not in set(names)]
    if extra:
        notes.append(f"{graph.name} has features that are left out: {listed(extra)}.")
    if held == names:
        return Matched(graph, tuple(notes))
    features: Any = graph.features
    order = np.array([place[name] for name in names], dtype=np.int64)
    return Matched(_with_features(graph, features[:, order], schema, names), tuple(notes))


def _scaled(schema: FeatureSchema | None) -> list[str]:
    if schema is None:
        return []
    return [
        column.name
        for column in schema.columns
        if isinstance(column, NumberColumn) and (column.mean, column.deviation) != (0.0, 1.0)
    ]


def _with_features(
    graph: Graph, features: Any, schema: FeatureSchema | None, names: tuple[str, ...]
) -> Graph:
    made = check_features(features, graph.n)
    return replace(graph, features=made, schema=schema, feature_names=names)
