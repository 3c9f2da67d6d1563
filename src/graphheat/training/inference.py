"""A fitted network on a graph: the one it was fitted on, or another with the same features."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray

from graphheat.errors import GraphError
from graphheat.graph import Graph
from graphheat.training.network import build_network, build_operator
from graphheat.training.run import Labelling, Run, predictions_table

if TYPE_CHECKING:
    import pandas


def probabilities_on(run: Run, graph: Graph, *, threads: int | None = None) -> NDArray[np.float64]:
    """Return class probabilities of every node of ``graph``, shape (n, c)."""
    settings = run.settings
    wanted = run.weights["first.weight"].shape[1]
    found = 0 if graph.features is None else graph.features.shape[1]
    if wanted != found:
        raise GraphError(
            f"The network was fitted on {wanted} features a node; {graph.name} has {found}."
        )
    model = build_network(wanted, len(run.classes), settings)
    model.load_state_dict(run.weights)
    model.eval()
    operator = build_operator(graph, settings, threads=threads)
    with torch.no_grad():
        logits = model(run.scaling.apply(graph.features), operator)
    return torch.softmax(logits.double(), dim=1).numpy()


def predictions_on(run: Run, graph: Graph, *, threads: int | None = None) -> pandas.DataFrame:
    """Return the predictions table for a graph that the run was not fitted on.

    ``reached`` is left empty: the training nodes are not in this graph.
    """
    return table_on(run, graph, probabilities_on(run, graph, threads=threads))


def table_on(run: Labelling, graph: Graph, probabilities: NDArray[np.float64]) -> pandas.DataFrame:
    """Return the predictions table for another graph's nodes, whose labels are told by name."""
    known = np.array([name in run.classes for name in graph.classes], dtype=bool)
    labels = np.full(graph.n, -1, dtype=np.int64)
    for code, name in enumerate(graph.classes):
        if known[code]:
            labels[graph.labels == code] = run.classes.index(name)
    return predictions_table(
        nodes=graph.nodes.tolist(),
        classes=run.classes,
        labels=labels,
        probabilities=probabilities,
        reached=None,
        split=[""] * graph.n,
        temperature=run.temperature,
    )
