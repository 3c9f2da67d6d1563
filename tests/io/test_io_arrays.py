"""Graphs from samples and labels."""

import numpy as np
import pytest
import scipy.sparse as sp

from graphheat.errors import GraphError, ParameterError
from graphheat.graph import Graph
from graphheat.io import from_arrays

X = np.array([[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]])
Y = ["a", None, None, "b", None, None]
PATH = np.diag(np.ones(5), 1) + np.diag(np.ones(5), -1)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.csc_matrix, lambda x: x.tolist()])
def test_nearest_neighbours_are_symmetric(form):
    graph = from_arrays(form(X), Y, neighbors=2)
    assert graph.describe().components == 2
    assert graph.adjacency.diagonal().sum() == 0
    assert set(graph.adjacency.data) == {1.0}
    assert graph.labels.tolist() == [0, -1, -1, 1, -1, -1]
    one_sided = from_arrays([[0.0], [1.0], [1.5]], None, neighbors=1)
    assert one_sided.adjacency.toarray().tolist() == [[0, 1, 0], [1, 0, 1], [0, 1, 0]]


@pytest.mark.parametrize("n", [1, 2, 5])
def test_fewer_samples_than_neighbours(n):
    graph = from_arrays(np.arange(n).reshape(-1, 1), None, neighbors=10)
    assert graph.describe().edges == n * (n - 1) // 2


def test_equal_samples_do_not_point_to_themselves():
    assert from_arrays(np.zeros((5, 2)), None, neighbors=2).adjacency.diagonal().sum() == 0


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, Graph.from_scipy])
def test_adjacency_in_every_form(form):
    graph = from_arrays(X, Y, adjacency=form(PATH))
    assert np.array_equal(graph.adjacency.toarray(), PATH)
    assert np.array_equal(graph.features, X.astype(np.float32))
    assert from_arrays(None, Y, adjacency=form(PATH)).features is None


def test_a_graph_keeps_its_ids_features_and_labels():
    own = Graph.from_scipy(
        PATH,
        X,
        Y,
        nodes=list("uvwxyz"),
        titles=list("UVWXYZ"),
        split={"train": [0, 3], "test": [5]},
        name="own",
    )
    same = from_arrays(None, None, adjacency=own)
    assert same.fingerprint == own.fingerprint
    assert (same.titles, same.name) == (own.titles, "own")
    other = from_arrays(None, [1, 1, 2, 2, None, None], adjacency=own)
    assert (other.classes, dict(other.split)) == ((1, 2), {})
    fewer = from_arrays(None, None, adjacency=own, labelled=np.arange(6) == 0)
    assert fewer.labels.tolist() == [0, -1, -1, -1, -1, -1]
    assert fewer.split["train"].tolist() == [0]


@pytest.mark.parametrize(
    ("y", "classes"),
    [
        (["a", "b", "a", "c", "c", "c"], ("a", "b")),
        (np.array([5, 7, 5, 9, 9, 9]), (5, 7)),
        (np.array([True, False, True, True, True, True]), (False, True)),
    ],
)
def test_what_the_mask_hides_is_not_even_a_class(y, classes):
    mask = np.array([True, True, True, False, False, False])
    graph = from_arrays(X, y, labelled=mask)
    assert graph.classes == classes
    assert [type(name) for name in graph.classes] == [type(name) for name in classes]
    assert (graph.labels >= 0).tolist() == mask.tolist()


def test_nan_among_strings_is_missing():
    assert from_arrays(X, ["a", np.nan, "b", "a", "a", "a"]).labels.tolist() == [0, -1, 1, 0, 0, 0]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((None, Y, {}), "needs features X or an adjacency"),
        ((X, Y[:3], {}), "one label per node; got shape"),
        ((X, np.ones((6, 2)), {}), "one label per node; got shape"),
        ((X, Y, {"labelled": [True]}), "boolean mask of shape"),
        ((X, Y, {"labelled": np.ones(6)}), "boolean mask of shape"),
        ((X, Y, {"adjacency": np.eye(3)}), "one row per node each; got 6 and 3"),
        ((X.ravel(), Y, {}), "X must be a matrix with one row per node; got shape"),
        ((X * np.nan, Y, {}), "features must be finite"),
        ((X.astype(str), Y, {}), "features must be real numbers"),
        ((np.ones((6, 0)), Y, {}), "at least one column"),
        ((np.ones((0, 2)), [], {}), "The graph is empty"),
    ],
)
def test_arrays_that_do_not_fit(arguments, words):
    X, y, options = arguments
    with pytest.raises(GraphError, match=words):
        from_arrays(X, y, **options)


@pytest.mark.parametrize("neighbors", [0, -1, 2.5, True, None])
def test_neighbors_must_be_a_count(neighbors):
    with pytest.raises(ParameterError, match="'neighbors' parameter must be an integer"):
        from_arrays(X, Y, neighbors=neighbors)


def test_the_callers_arrays_are_not_touched():
    y = np.array([0, 1, 0, 1, 0, 1])
    mask = np.array([True] * 3 + [False] * 3)
    mine = X.copy()
    from_arrays(mine, y, labelled=mask)
    assert y.tolist() == [0, 1, 0, 1, 0, 1]
    y[0], mask[0], mine[0] = 1, False, 1.0
