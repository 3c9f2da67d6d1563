"""Searches over nodes: the same as a loop of one's own, and mistakes answered in a sentence."""

import numpy as np
import pytest
import sklearn
from sklearn.model_selection import GridSearchCV, ParameterGrid, cross_val_score

import graphheat
from graphheat import GraphHeatClassifier, HeatLabelSpreading, NodeFolds, labelled_nodes
from graphheat.datasets import block_model
from graphheat.errors import GraphError, ParameterError
from graphheat.graph import Graph

GRAPH = block_model(90, 3, features=8, feature_strength=0.4, homophily=0.7, seed=3)
X, Y = labelled_nodes(GRAPH)
GRID = {"s": [0.5, 2.0, 6.0], "l2": [0.01, 1.0, 30.0]}
FOLDS = NodeFolds(3, per_class=4)


def own_loop(folds):
    """Return mean accuracies in the order of the grid, by graphheat.fit alone."""
    means = []
    for setting in ParameterGrid(GRID):
        accuracies = []
        for train, test in folds:
            labels = np.full(GRAPH.n, -1)
            labels[X[train]] = GRAPH.labels[X[train]]
            known = Graph.from_scipy(GRAPH.adjacency, GRAPH.features, labels, classes=GRAPH.classes)
            run = graphheat.fit(known, "linear", seed=0, threads=1, **setting)
            accuracies.append((run.predicted[X[test]] == GRAPH.labels[X[test]]).mean())
        means.append(np.mean(accuracies))
    return np.array(means)


@pytest.mark.parametrize("routing", [False, True])
def test_a_grid_search_with_a_graph_is_a_loop_of_ones_own(routing):
    model = GraphHeatClassifier(recipe="linear", threads=1, random_state=0)
    with sklearn.config_context(enable_metadata_routing=routing):
        if routing:
            model = model.set_fit_request(graph=True)
        search = GridSearchCV(model, GRID, cv=FOLDS).fit(X, Y, graph=GRAPH)
    expected = own_loop(list(FOLDS.split(X, Y)))
    assert np.ptp(expected) > 0.05  # there is something to choose
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], expected, atol=1e-12)
    assert search.best_params_ == list(ParameterGrid(GRID))[int(expected.argmax())]
    assert search.predict(X[:5]).tolist() == search.best_estimator_.predict()[X[:5]].tolist()


def test_scores_of_cross_validation_are_those_of_fits():
    model = HeatLabelSpreading(s=3.0)
    scores = cross_val_score(model, X, Y, cv=NodeFolds(3), params={"graph": GRAPH})
    for score, (train, test) in zip(scores, NodeFolds(3).split(X, Y), strict=True):
        y = np.full(GRAPH.n, None, dtype=object)
        y[X[train]] = Y[train]
        alone = HeatLabelSpreading(s=3.0).fit(None, y, adjacency=GRAPH.adjacency)
        assert score == np.mean(alone.predict()[X[test]] == Y[test])


def test_labels_that_are_not_given_are_not_used():
    other = GRAPH.with_labels(dict.fromkeys(GRAPH.nodes[60:].tolist(), 0))
    train = X[:60]
    first, second = (
        GraphHeatClassifier(recipe="linear", random_state=0).fit(train, Y[:60], graph=graph)
        for graph in (GRAPH, other)
    )
    assert np.array_equal(first.predict_proba(), second.predict_proba())


def test_folds_part_the_nodes_and_few_labels_are_few():
    seen = np.concatenate([test for _, test in NodeFolds(4).split(X, Y)])
    assert sorted(seen.tolist()) == list(range(len(X)))
    for train, test in NodeFolds(2, per_class=7).split(X, Y):
        assert np.unique(Y[train], return_counts=True)[1].tolist() == [7, 7, 7]
        assert len(np.intersect1d(train, test)) == 0
        assert len(train) + len(test) == len(X)
    again = [list(map(np.ndarray.tolist, pair)) for pair in FOLDS.split(X, Y)]
    assert again == [list(map(np.ndarray.tolist, pair)) for pair in FOLDS.split(X, Y)]


@pytest.mark.parametrize(
    ("rows", "y", "more", "words"),
    [
        ([0.5, 1.0], ["a", "b"], {}, "must be row numbers: integers"),
        ([0, 900], ["a", "b"], {}, "row numbers from 0 to 89; got 900"),
        ([-1, 2], ["a", "b"], {}, "row numbers from 0 to 89; got -1"),
        ([1, 1], ["a", "b"], {}, "each row once"),
        ([1, 2, 3], ["a", "b"], {}, "got 3 and 2"),
        ([1, 2], None, {}, "needs y"),
        ([1, 2], ["a", "b"], {"labelled": [True, True]}, "either graph= or adjacency="),
    ],
)
def test_mistakes_are_answered(rows, y, more, words):
    with pytest.raises(ParameterError, match=words):
        GraphHeatClassifier(recipe="linear").fit(rows, y, graph=GRAPH, **more)


def test_a_graph_twice_no_graph_and_several_labels_per_node():
    with pytest.raises(ParameterError, match="a Graph alone"):
        GraphHeatClassifier().fit(GRAPH, graph=GRAPH)
    with pytest.raises(ParameterError, match="must be a Graph; got str"):
        GraphHeatClassifier().fit([0, 1], ["a", "b"], graph="cora")
    with pytest.raises(ParameterError, match="one label per row; got label sets"):
        HeatLabelSpreading().fit([0, 1], [{"a"}, {"b"}], graph=GRAPH)
    with pytest.raises(ParameterError, match="needs y"):
        next(NodeFolds(2).split(X))
    with pytest.raises(ParameterError, match="'n_splits'"):
        next(NodeFolds(0).split(X, Y))
    sets = Graph.from_scipy(
        GRAPH.adjacency, label_sets=np.eye(90, 2, dtype=int), classes=["a", "b"]
    )
    with pytest.raises(GraphError, match="several labels per node"):
        labelled_nodes(sets)
