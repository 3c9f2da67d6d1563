"""Pseudo-labels by heat label propagation, where there are only a few labels per class.

With one or two labels per class, views that are drawn to agree soon agree on a single class. Heat
alone does not: of the nodes that the heat of one class's labels reaches first, most are of that
class, and they train as if they were labelled.

References
----------
D.-H. Lee: Pseudo-Label: The Simple and Efficient Semi-Supervised Learning Method for Deep Neural
Networks, ICML workshop 2013. Here heat names the labels, once, and not the network itself.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphheat.graph import Graph, Split
from graphheat.heat import HeatKernel
from graphheat.heat.engines import ONE_OFF

FEW = 5  # labels per class in the mean, below which there are pseudo-labels
TIME = 30.0
SHARE = 0.25  # of all nodes that get one, the same number for each class
FAINT = 1e-6  # share of a class's heat that is too little to go by


def with_pseudo_labels(
    graph: Graph, split: Split, *, self_loops: float
) -> tuple[NDArray[np.int64], NDArray[np.int64], tuple[str, ...]]:
    """Return the training nodes with those that get a pseudo-label, their labels, and a note."""
    train, labels = split.train, graph.labels[split.train]
    nodes, codes = pseudo_labels(graph, train, self_loops=self_loops)
    if not len(nodes):
        return train, labels, ()
    sentence = (
        f"There are fewer than {FEW} labels per class, so {len(nodes):,} more nodes train with the "
        "class whose labels' heat reaches them most (pseudo-labels)."
    )
    return np.append(train, nodes), np.append(labels, codes), (sentence,)


def pseudo_labels(
    graph: Graph, train: NDArray[np.int64], *, self_loops: float = 0.0
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return nodes without a training label, and the classes whose heat reaches them most.

    Parameters
    ----------
    train
        The labelled nodes to learn from.
    self_loops
        As the network has them.

    Returns
    -------
    tuple
        Nodes, shape (k,), k ≤ n / 4, and class codes, shape (k,); none where there are five labels
        per class or more.

    Notes
    -----
    *Accuracy*: of heat, 1e-8. *Cost*: one diffusion of a column for each class. *Deterministic*:
    yes. *Isolated nodes*: get no heat, and no pseudo-label.

    Examples
    --------
    >>> import graphheat
    >>> graph = graphheat.datasets.block_model(400, 4, homophily=0.9, labels_per_class=1, seed=0)
    >>> nodes, codes = pseudo_labels(graph, graph.split["train"])
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
    kernel = HeatKernel(graph, TIME, tol=1e-8, self_loops=self_loops, engine=ONE_OFF)
    heat = kernel.apply(sources)
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
