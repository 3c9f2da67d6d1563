"""Labels for nodes that have none, from the labelled node whose heat reaches them most.

With one or two labels a class, views that are taught to agree soon agree on a single class. Heat
alone does not: of the nodes that the heat of one class's labels reaches first, most are of that
class, and they teach as if they were labelled.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphheat.graph import Graph
from graphheat.heat import HeatKernel
from graphheat.training.holdout import Roles
from graphheat.training.problem import Problem
from graphheat.training.recipes import ConsistentSettings

FEW = 5  # labels a class in the mean, below which nodes borrow
TIME = 30.0
SHARE = 0.25  # of all nodes that borrow, the same number for each class
FAINT = 1e-6  # share of a class's heat that says nothing


def teachers(
    problem: Problem, roles: Roles
) -> tuple[NDArray[np.int64], NDArray[np.int64], tuple[str, ...]]:
    """Return the nodes that teach, what they teach, and what to tell of the roles."""
    train, graph = roles.train, problem.graph
    labels = graph.labels[train]
    notes = () if roles.note is None else (roles.note,)
    if not isinstance(problem.settings, ConsistentSettings):
        return train, labels, notes
    nodes, codes = borrow_labels(graph, train, self_loops=problem.settings.self_loops)
    if not len(nodes):
        return train, labels, notes
    sentence = (
        f"There are fewer than {FEW} labels a class to learn from, so {len(nodes):,} more nodes "
        "teach the class whose labels' heat reaches them most."
    )
    return np.append(train, nodes), np.append(labels, codes), (*notes, sentence)


def borrow_labels(
    graph: Graph, train: NDArray[np.int64], *, self_loops: float = 0.0
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return nodes without a training label, and the classes that heat lends them.

    Parameters
    ----------
    train
        The labelled nodes that teach.
    self_loops
        As the network has them.

    Returns
    -------
    tuple
        Nodes, shape (k,), k ≤ n / 4, and class codes, shape (k,); none where there are five labels
        a class or more.

    Notes
    -----
    *Accuracy*: of heat, 1e-8. *Cost*: one diffusion of a column for each class. *Deterministic*:
    yes. *Isolated nodes*: get no heat, and borrow nothing.

    Examples
    --------
    >>> import graphheat
    >>> graph = graphheat.datasets.block_model(400, 4, homophily=0.9, labels_per_class=1, seed=0)
    >>> nodes, codes = borrow_labels(graph, graph.split["train"])
    >>> len(nodes), bool((codes == graph.labels[nodes]).mean() > 0.7)
    (100, True)
    """
    codes = graph.labels[train]
    present = np.unique(codes)
    nothing = np.empty(0, dtype=np.int64)
    if len(train) >= FEW * len(present):
        return nothing, nothing
    sources = np.zeros((graph.n, len(graph.classes)))
    sources[train, codes] = 1.0 / np.bincount(codes)[codes]
    heat = HeatKernel(graph, TIME, tol=1e-8, self_loops=self_loops).apply(sources)
    heat[train] = 0.0
    # On a small dense graph heat is nearly level: without this a well-connected label takes all.
    heat /= np.maximum(heat.sum(axis=0), np.finfo(float).tiny)
    nearest = heat.argmax(axis=1)
    most = int(SHARE * graph.n / len(present))
    found = []
    for code in present:
        near = np.flatnonzero((nearest == code) & (heat[:, code] > FAINT))
        found.append(near[np.argsort(-heat[near, code], kind="stable")[:most]])
    nodes = np.sort(np.concatenate(found))
    return nodes, nearest[nodes]
