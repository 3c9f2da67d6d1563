"""What a graph says of itself, its fingerprint, and that nobody can change it."""

import copy
import json
import pickle

import numpy as np
import pytest
import scipy.sparse as sp

from graphheat.errors import GraphError
from graphheat.graph import Graph


@pytest.fixture
def graph():
    """Two triangles joined by nothing, a node alone, one self-loop."""
    return Graph.from_edges(
        [0, 1, 2, 3, 4, 5, 0],
        [1, 2, 0, 4, 5, 3, 0],
        [1, 1, 1, 1, 1, 2, 1],
        nodes=range(7),
        features=np.eye(7),
        labels=["a", "a", "b", "b", "b", None, "a"],
        split={"train": [0, 3], "test": [1]},
        name="two triangles",
    )


def test_describe(graph):
    summary = graph.describe()
    assert summary.nodes == 7
    assert summary.edges == 6
    assert summary.self_loops == 1
    assert summary.weighted
    assert summary.components == 3
    assert summary.largest_component == 3
    assert summary.isolated == 1
    assert summary.features == 7
    assert summary.labelled == 6
    assert summary.label_counts == {"a": 3, "b": 3}
    assert summary.homophily == pytest.approx(2 / 4)  # aa ab ab · bb and two to the unlabelled
    assert summary.split == {"train": 2, "test": 1}
    assert json.loads(json.dumps(summary.as_dict()))["label_counts"] == {"a": 3, "b": 3}
    assert repr(graph) == "Graph(nodes=7, edges=6, features=7, classes=2, labelled=6)"


def test_the_fingerprint_sees_every_part(graph):
    def build(**change):
        parts = {
            "adjacency": graph.adjacency,
            "features": graph.features,
            "labels": graph.labels,
            "classes": graph.classes,
            "nodes": graph.nodes,
            "split": graph.split,
        }
        return Graph.from_scipy(**{**parts, **change}).fingerprint

    assert build() == graph.fingerprint == build(name="another name")
    features = graph.features.copy()
    features[0, 0] = 2
    changes = [
        build(adjacency=graph.adjacency * 2),
        build(features=features),
        build(features=None),
        build(features=sp.csr_array(graph.features)),
        build(features=sp.csr_array(np.c_[graph.features, np.zeros(7)])),
        build(classes=("a", "c")),
        build(labels=np.full(7, 0)),
        build(nodes=np.arange(1, 8)),
        build(split={"train": [0]}),
    ]
    assert len({graph.fingerprint, *changes}) == len(changes) + 1


def test_arrays_are_read_only(graph):
    sparse = Graph.from_scipy(graph.adjacency, sp.csr_array(graph.features))
    arrays = [
        graph.adjacency.data,
        graph.adjacency.indices,
        graph.adjacency.indptr,
        graph.features,
        graph.labels,
        graph.nodes,
        graph.split["train"],
        sparse.features.data,
        graph.with_split(train=[1]).split["train"],
    ]
    for array in arrays:
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    with pytest.raises(AttributeError):
        graph.name = "other"
    with pytest.raises(TypeError):
        graph.split["train"] = np.array([1])
    graph.to_scipy().data[0] = 5  # a copy is the caller's


def test_the_callers_arrays_are_not_touched():
    matrix = sp.csr_array(np.ones((3, 3)))
    X, sparse_X = np.ones((3, 2)), sp.csr_array(np.ones((3, 2), dtype=np.float32))
    labels, nodes, train = np.array([0, 1, 1]), np.array([7, 8, 9]), np.array([0, 1])
    for features in (X, sparse_X):
        Graph.from_scipy(
            matrix,
            features,
            labels,
            classes=("a", "b"),
            nodes=nodes,
            split={"train": train},
            self_loops="drop",
        )
    assert matrix.nnz == 9
    for array in (matrix.data, matrix.indices, X, sparse_X.data, labels, nodes, train):
        array[0] = 1  # still writable


def test_copies_and_pickles_are_the_same_graph(graph):
    _ = graph.fingerprint
    for other in (copy.deepcopy(graph), pickle.loads(pickle.dumps(graph))):  # noqa: S301
        assert other.fingerprint == graph.fingerprint
        assert not other.labels.flags.writeable
        with pytest.raises(TypeError):
            other.split["train"] = np.array([1])


def test_with_split_checks_and_leaves_the_rest(graph):
    other = graph.with_split(train=np.arange(7) == 0, val=[1])
    assert other.split["train"].tolist() == [0]
    assert other.adjacency is graph.adjacency
    assert other.fingerprint != graph.fingerprint
    with pytest.raises(GraphError, match="without a label"):
        graph.with_split(train=[5])
