"""GraphHeatClassifier: what fit takes, and how labels are marked as missing."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.neighbors import kneighbors_graph

from graphheat import Graph, GraphHeatClassifier
from graphheat.datasets import block_model
from graphheat.errors import GraphError, ParameterError

GRAPH = block_model(60, 3, features=8, labels_per_class=4, seed=0)
X, A, Y = GRAPH.features, GRAPH.adjacency, GRAPH.labels
LABELLED = np.arange(60) % 3 != 0
NAMES = np.array(["ash", "beech", "cedar"])


def model(**options):
    return GraphHeatClassifier(**{"max_epochs": 15, "random_state": 0, **options})


def unlabelled(values, mark, dtype=object):
    marked = np.asarray(values).astype(dtype)
    marked[~LABELLED] = mark
    return marked


@pytest.fixture(scope="module")
def masked():
    return model().fit(X, Y, adjacency=A, labelled=LABELLED)


@pytest.mark.parametrize(
    "y",
    [
        unlabelled(Y, None),
        unlabelled(Y, float("nan"), float),
        unlabelled(Y, -1, int),
        unlabelled(Y, None).tolist(),
        unlabelled(Y, float("nan")).tolist(),
    ],
    ids=["None", "NaN", "-1", "list with None", "list with NaN"],
)
def test_every_mark_of_a_missing_label_means_the_same(masked, y):
    fitted = model().fit(X, y, adjacency=A)
    assert np.array_equal(fitted.predict_proba(), masked.predict_proba())
    assert fitted.classes_.tolist() == masked.classes_.tolist()


@pytest.mark.parametrize("mark", [None, float("nan")])
@pytest.mark.parametrize("form", [list, np.asarray])
def test_string_labels(masked, mark, form):
    fitted = model().fit(X, form(unlabelled(NAMES[Y], mark)), adjacency=A)
    assert fitted.classes_.tolist() == NAMES.tolist()
    assert fitted.predict().tolist() == NAMES[masked.predict()].tolist()


def test_minus_one_beside_a_single_other_class_is_a_class():
    y = np.where(Y == 0, -1, 1)
    fitted = model().fit(X, y, adjacency=A)
    assert fitted.classes_.tolist() == [-1, 1]
    assert set(fitted.predict()) <= {-1, 1}


def test_the_mask_hides_labels_and_a_class_that_only_hidden_nodes_have_is_none():
    shown = (Y < 2) & LABELLED
    assert model().fit(X, Y, adjacency=A, labelled=shown).classes_.tolist() == [0, 1]


def test_a_graph_is_fitted_with_its_split():
    fitted = model().fit(GRAPH)
    assert fitted.graph_ is GRAPH
    parts = fitted.predictions_frame()["split"]
    assert np.flatnonzero(parts == "train").tolist() == sorted(GRAPH.split["train"])
    truth = Y[GRAPH.split["test"]]
    accuracy = (fitted.predict()[GRAPH.split["test"]] == truth).mean()
    assert fitted.score() == fitted.score(GRAPH) == fitted.run_.test_accuracy == accuracy


@pytest.mark.parametrize(
    "form", [np.asarray, sp.csr_array, sp.coo_matrix, lambda a: Graph.from_scipy(a)]
)
def test_every_form_of_the_adjacency_gives_the_same(masked, form):
    dense = A.toarray()
    fitted = model().fit(X, Y, adjacency=form(dense), labelled=LABELLED)
    assert np.array_equal(fitted.probabilities_, masked.probabilities_)


def test_without_adjacency_the_nearest_neighbours_are_joined():
    fitted = model(neighbors=4).fit(X, Y)
    near = kneighbors_graph(X, 4)
    expected = near.maximum(near.T)
    assert (sp.csr_array(expected) != fitted.graph_.adjacency).nnz == 0
    assert fitted.predict().shape == (60,)


def test_sparse_features_stay_sparse():
    fitted = model().fit(sp.csr_array(X), Y, adjacency=A)
    assert sp.issparse(fitted.graph_.features)
    assert fitted.run_.settings.ensemble.network.scaling == "l2"
    network = model(recipe="consistent", max_epochs=2).fit(sp.csr_array(X), Y, adjacency=A)
    assert network.run_.settings.scaling == "l2"


def test_probabilities_are_valid_everywhere_even_where_no_heat_arrives():
    lonely = np.zeros((61, 61))
    lonely[:60, :60] = A.toarray()
    fitted = model().fit(np.vstack([np.asarray(X), np.zeros(8)]), [*Y, None], adjacency=lonely)
    assert not fitted.reached_[60]
    assert fitted.reached_[:60].all()
    shares = fitted.predict_proba()
    assert (shares >= 0).all()
    assert np.allclose(shares.sum(axis=1), 1, rtol=0, atol=1e-12)


def test_a_class_with_a_single_label_is_kept():
    y = np.where(LABELLED, Y, -1)
    y[Y == 2] = -1
    y[np.flatnonzero(Y == 2)[0]] = 2
    assert model().fit(X, y, adjacency=A).classes_.tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ((X,), ParameterError, "requires y to be passed, but the target y is None"),
        ((X, Y[:-1]), GraphError, "y must hold one label per node"),
        ((X, np.full(60, None)), GraphError, "There is no labelled node"),
        ((X, np.zeros(60)), GraphError, "name one class only"),
        ((X, X[:, 0]), GraphError, "Unknown label type: continuous"),
        ((GRAPH, Y), ParameterError, "a Graph alone, or X, y and adjacency"),
        ((np.where(X > 1, np.nan, X), Y), ValueError, "contains NaN"),
        ((np.where(X > 1, np.inf, X), Y), ValueError, "contains infinity"),
    ],
)
def test_what_cannot_be_fitted_is_refused_in_a_sentence(given, error, words):
    with pytest.raises(error, match=words):
        model().fit(*given)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"adjacency": A[:50, :50]}, GraphError, "one row per node each; got 60 and 50"),
        ({"adjacency": sp.triu(A)}, GraphError, "adjacency must be symmetric"),
        ({"adjacency": -A}, GraphError, "negative"),
        ({"labelled": Y}, GraphError, "labelled must be a boolean mask"),
        ({"labelled": LABELLED[:5]}, GraphError, "labelled must be a boolean mask"),
    ],
)
def test_bad_companions_of_x_and_y_are_refused(options, error, words):
    with pytest.raises(error, match=words):
        model().fit(X, Y, **options)


def test_features_are_needed_by_networks_and_not_by_the_default():
    with pytest.raises(GraphError, match="Use HeatLabelSpreading"):
        model(recipe="consistent").fit(None, Y, adjacency=A)
    spread = model().fit(None, Y, adjacency=A, labelled=LABELLED)
    assert [part.recipe for part in spread.run_.parts] == ["spreading", "neighbors"]
    assert spread.score(None, Y) > 0.6
    with pytest.raises(GraphError, match="features X or an adjacency; got neither"):
        model().fit(None, Y)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"recipe": "mine"}, "'recipe'"),
        ({"s": -1.0}, r"The 's' parameter of fit must be a number in \[0, 1e\+06\]"),
        ({"eps": 1.0}, "'eps'"),
        ({"K": 0}, "The 'K' parameter of fit must be an int >= 1. Got 0 instead"),
        ({"hidden": 0}, "'hidden'"),
        ({"dropout": 1.0}, "'dropout'"),
        ({"patience": 0}, "'patience'"),
        ({"neighbors": 0}, "'neighbors'"),
        ({"random_state": -1}, "'seed'"),
    ],
)
def test_parameters_are_checked_in_fit_and_not_before(options, words):
    unfitted = model(**options)
    with pytest.raises(ParameterError, match=words):
        unfitted.fit(X, Y)
