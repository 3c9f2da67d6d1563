"""A run on another graph than its own: one that grew from it, or one with the same features."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphheat.graph import Graph, Split
from graphheat.runs.feature_match import matched
from graphheat.runs.predictions import Predictions

if TYPE_CHECKING:
    from graphheat.runs.run import Run

Rows = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Answer:
    """What a run says of another graph.

    Attributes
    ----------
    probabilities
        Shape (n, c), or a row for each of the nodes that were asked for.
    reached
        As a run's, for the same rows; None where that is not known.
    notes
        Sentences for the user to read.
    fields
        What else is different for the run there.
    """

    probabilities: NDArray[np.floating[Any]]
    reached: NDArray[np.bool_] | None = None
    notes: tuple[str, ...] = ()
    fields: Mapping[str, Any] = field(default_factory=dict)


class There(NamedTuple):
    """A run on another graph, that graph with the run's features, and how these differed."""

    run: Run
    graph: Graph
    unlike: tuple[str, ...] = ()


def old_rows(run: Run, graph: Graph) -> Rows | None:
    """Return where the run's nodes are in a graph that grew from its own; None in any other.

    Notes
    -----
    A graph grew from the run's where it has all of its nodes, and its training labels: ids alone
    would not do, as those of two graphs are often 0 … n−1.

    Examples
    --------
    >>> import graphheat
    >>> graph = graphheat.datasets.block_model(60, 3, seed=0)
    >>> run = graphheat.fit(graph, "lp")
    >>> grown = graph.extended([60], [(60, 3)], features=graph.features[:1])
    >>> old_rows(run, grown).tolist() == list(range(60))
    True
    >>> old_rows(run, graphheat.datasets.block_model(60, 3, seed=1)) is None
    True
    """
    place = {node: row for row, node in enumerate(graph.nodes.tolist())}
    rows = np.array([place.get(node, -1) for node in run.nodes], dtype=np.int64)
    if (rows < 0).any():
        return None
    return rows if len(run.split.train) and run.same_labels(graph, rows) else None


def labels_by_name(run: Run, graph: Graph) -> Rows:
    """Return the labels of a graph as codes of the run's classes, −1 where it knows none, (n,)."""
    code = {name: place for place, name in enumerate(run.classes)}
    known = np.array([*(code.get(name, -1) for name in graph.classes), -1], dtype=np.int64)
    return known[graph.labels]


def on_graph(run: Run, graph: Graph, *, threads: int | None = None) -> There:
    """Return the run with what it says of ``graph``; see :meth:`graphheat.runs.Run.on`."""
    if graph.fingerprint == run.fingerprint:
        return There(run, graph)
    notes: tuple[str, ...] = ()
    if run.uses_features:
        graph, notes = matched(graph, run.schema, run.feature_names)
    rows = old_rows(run, graph)
    answer = run.answer(graph, rows, threads=threads)
    return There(placed(run, graph, rows, answer, notes), graph, notes)


def placed(
    run: Run, graph: Graph, old: Rows | None, answer: Answer, notes: tuple[str, ...] = ()
) -> Run:
    """Return the run with its answer for another graph in place of that for its own."""
    split, left_out = Split(graph.n, {}), None
    if old is not None:
        parts = {name: np.sort(old[nodes]) for name, nodes in run.split.items()}
        split = Split(graph.n, parts, held_out=run.split.held_out)
        if run.out_of_fold is not None:
            left_out = run.out_of_fold[training_order(run, old)]
    changed: dict[str, Any] = {
        "fingerprint": graph.fingerprint,
        "name": graph.name,
        "nodes": tuple(graph.nodes.tolist()),
        "titles": graph.titles,
        "labels": labels_by_name(run, graph),
        "split": split,
        "probabilities": answer.probabilities,
        "reached": answer.reached,
        "out_of_fold": left_out,
        "notes": (*run.notes, *notes, *answer.notes),
        "base": run,
        **answer.fields,
    }
    return replace(run, **changed)


def predict_rows(run: Run, graph: Graph, rows: Rows, *, threads: int | None = None) -> Predictions:
    """Return what the run says of some rows of another graph, and nothing of the others."""
    notes: tuple[str, ...] = ()
    if run.uses_features:
        graph, notes = matched(graph, run.schema, run.feature_names)
    old = old_rows(run, graph)
    answer = run.answer(graph, old, wanted=rows, threads=threads)
    split = np.full(graph.n, "", dtype=object)
    if old is not None:
        split[old] = run.split.names()
    return Predictions(
        nodes=tuple(graph.nodes[rows].tolist()),
        titles=None if graph.titles is None else tuple(graph.titles[row] for row in rows),
        classes=run.classes,
        probabilities=answer.probabilities,
        labels=labels_by_name(run, graph)[rows],
        split=split[rows].tolist(),
        reached=answer.reached,
        temperature=run.temperature,
        notes=(*notes, *answer.notes),
        unlike=notes,
    )


def training_order(run: Run, rows: Rows) -> Rows:
    """Return the run's training nodes, counted as they rise, in the order in which rows do."""
    order: Rows = np.argsort(rows[np.sort(run.split.train)], kind="stable")
    return order
