"""One or two labels per class: which nodes get a pseudo-label, and that nothing crashes."""

import numpy as np
import pytest
import scipy.sparse as sp

import graphheat
from graphheat.datasets import block_model
from graphheat.graph import Graph
from graphheat.training.pseudo_labels import pseudo_labels


def two_cliques(size=10):
    """Two cliques without an edge between them, and a node that has no edge at all."""
    clique = np.ones((size, size)) - np.eye(size)
    adjacency = sp.block_diag([clique, clique, np.zeros((1, 1))], format="csr")
    labels = np.repeat([0, 1, 0], [size, size, 1])
    return Graph.from_scipy(sp.csr_array(adjacency), labels=labels, split={"train": [0, size]})


def test_nodes_get_the_class_whose_heat_reaches_them():
    graph = two_cliques()
    nodes, codes = pseudo_labels(graph, graph.split["train"])
    assert len(nodes) == 4  # a quarter of 21, the same number for both classes
    assert np.array_equal(codes, graph.labels[nodes])
    assert not np.isin(nodes, [0, 10, 20]).any()


def test_five_labels_per_class_are_enough():
    graph = block_model(120, 3, labels_per_class=5, seed=0)
    assert len(pseudo_labels(graph, graph.split["train"])[0]) == 0
    few = graph.split["train"][:-1]
    assert len(pseudo_labels(graph, few)[0]) > 0


def test_a_well_connected_label_does_not_take_all():
    graph = block_model(400, 4, homophily=0.9, labels_per_class=1, seed=0)
    _, codes = pseudo_labels(graph, graph.split["train"])
    assert np.bincount(codes, minlength=4).min() > 0


@pytest.mark.parametrize("labels", [1, 2, 5])
def test_few_labels_and_no_validation_set(labels):
    graph = block_model(200, 4, homophily=0.85, features=16, labels_per_class=labels, seed=1)
    graph = graph.with_split(train=graph.split["train"], test=graph.split["test"])
    run = graphheat.fit(graph, "consistent", max_epochs=60)
    assert np.isfinite(run.probabilities).all()
    assert run.test_accuracy > 0.4  # chance is 0.25
    assert any("fewer than 5 labels" in note for note in run.notes)
    assert np.array_equal(
        np.union1d(run.members("train"), run.members("val")), graph.split["train"]
    )


def test_classes_of_unequal_size_and_one_label_get_no_pseudo_labels():
    graph = block_model(200, 3, features=8, labels_per_class=20, seed=0)
    train = graph.split["train"]
    rare = train[graph.labels[train] == 0][1:]
    graph = graph.with_split(train=np.setdiff1d(train, rare), test=graph.split["test"])
    run = graphheat.fit(graph, "consistent", max_epochs=20)
    assert not any("pseudo-labels" in note for note in run.notes)
    assert np.isfinite(run.probabilities).all()
