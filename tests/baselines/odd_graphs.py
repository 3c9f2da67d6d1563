"""Small graphs that every baseline must cope with, and one whose labels may be hidden."""

from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from graphheat.datasets import block_model
from graphheat.graph import Graph, Split

EASY = block_model(
    240, 3, degree=8, homophily=0.95, features=24, feature_strength=4.0, labels_per_class=8, seed=2
)
EASY_SPLIT = EASY.completed_split(0)


def split_of(graph, train, val=(), test=()):
    """These nodes and no others: nothing is held out."""
    return Split.checked({"train": train, "val": val, "test": test}, graph.labels)


def accuracy(outcome, graph=EASY, split=EASY_SPLIT):
    found = outcome.probabilities.argmax(axis=1)
    return float((found == graph.labels)[split.test].mean())


def with_other_test_labels(graph=EASY, split=EASY_SPLIT):
    """The same graph with wrong labels wherever they must not be looked at."""
    labels = (graph.labels + 1) % len(graph.classes)
    for known in (split.train, split.val):
        labels[known] = graph.labels[known]
    return replace(graph, labels=labels)


def odd_graph(*, sparse):
    """Weights, a self-loop, two isolated nodes, two classes, one label each, none to validate."""
    rng = np.random.default_rng(5)
    dense = np.triu(rng.random((12, 12)) < 0.4, 1) * rng.uniform(0.1, 3.0, (12, 12))
    dense[[3, 7]] = 0
    dense[:, [3, 7]] = 0
    dense = dense + dense.T
    dense[2, 2] = 1.5
    features = rng.uniform(0, 100, (12, 4)) * (rng.random((12, 4)) < 0.5)
    features[5] = 0
    labels = [0, 1] + [None] * 10
    graph = Graph.from_scipy(
        sp.csr_array(dense), sp.csr_array(features) if sparse else features, labels, name="odd"
    )
    return graph, split_of(graph, [0, 1])


def is_valid(probabilities, graph):
    return (
        probabilities.shape == (graph.n, len(graph.classes))
        and bool((probabilities >= 0).all())
        and np.allclose(probabilities.sum(axis=1), 1)
    )
