"""HeatLabelSpreading against its closed form."""

import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.linalg import expm
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import graphheat
from graphheat import Graph, HeatLabelSpreading
from graphheat.errors import GraphError, ParameterError

# A ring of six with a chord, a pair without labels, and a node alone.
EDGES = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0), (0, 3), (6, 7)]
A = np.zeros((9, 9))
for a, b in EDGES:
    A[a, b] = A[b, a] = 1.0
LABELS = ["x", None, None, "y", None, "y", None, None, None]


def laplacian(adjacency):
    degrees = adjacency.sum(axis=1)
    scale = np.divide(1, np.sqrt(degrees), out=np.zeros_like(degrees), where=degrees > 0)
    return np.eye(len(adjacency)) - scale[:, None] * adjacency * scale


@pytest.mark.parametrize("s", [0.5, 3.0, 10.0])
@pytest.mark.parametrize("weight", [1.0, 0.3])
def test_probabilities_are_the_shares_of_heat_from_each_class(s, weight):
    adjacency = A.copy()
    adjacency[0, 3] = adjacency[3, 0] = weight
    model = HeatLabelSpreading(s).fit(Graph.from_scipy(adjacency, labels=LABELS))
    known = np.zeros((9, 2))
    known[0, 0] = known[3, 1] = known[5, 1] = 1.0
    heat = expm(-s * laplacian(adjacency)) @ known
    shares = heat[:6] / heat[:6].sum(axis=1, keepdims=True)
    assert model.predict_proba()[:6] == pytest.approx(shares, abs=1e-5)
    assert model.predict()[:6].tolist() == np.array(["x", "y"])[shares.argmax(axis=1)].tolist()


def test_nodes_without_heat_get_the_share_of_each_class_among_the_labels():
    model = HeatLabelSpreading().fit(None, LABELS, adjacency=A)
    assert model.reached_.tolist() == [True] * 6 + [False] * 3
    assert model.predict_proba()[6:] == pytest.approx(np.tile([1 / 3, 2 / 3], (3, 1)))
    assert model.predict()[6:].tolist() == ["y"] * 3


def test_probabilities_are_valid_everywhere():
    shares = HeatLabelSpreading().fit(None, LABELS, adjacency=A).predict_proba()
    assert (shares >= 0).all()
    assert shares.sum(axis=1) == pytest.approx(1)


def test_reached_is_heat_of_at_least_eps():
    s, eps = 1.0, 0.2
    model = HeatLabelSpreading(s, eps=eps).fit(None, LABELS, adjacency=A)
    heat = expm(-s * laplacian(A))[:, [0, 3, 5]].sum(axis=1)
    assert model.reached_.tolist() == (heat >= eps).tolist()


def test_karate_from_two_labels():
    club = graphheat.datasets.load("karate")
    assert HeatLabelSpreading(s=3.0).fit(club).score() > 0.9


@pytest.mark.parametrize("parts", [("test",), ("val", "test"), ("val",)])
def test_labels_of_test_and_validation_nodes_are_never_spread(parts):
    graph = graphheat.datasets.block_model(60, 3, labels_per_class=4, seed=0)
    split = {name: graph.split[name] for name in parts}
    held = np.concatenate(list(split.values()))
    hidden = np.where(np.isin(np.arange(60), held), -1, graph.labels)
    blind = Graph.from_scipy(graph.adjacency, labels=hidden, classes=graph.classes)
    seen = HeatLabelSpreading().fit(graph.with_split(**split))
    assert np.array_equal(seen.probabilities_, HeatLabelSpreading().fit(blind).probabilities_)


def test_every_way_in_gives_the_same():
    graph = Graph.from_scipy(A, labels=LABELS)
    expected = HeatLabelSpreading().fit(graph).probabilities_
    for y in (LABELS, np.array(LABELS, dtype=object)):
        for adjacency in (A, sp.csr_array(A), graph):
            model = HeatLabelSpreading().fit(None, y, adjacency=adjacency)
            assert np.array_equal(model.probabilities_, expected)


def test_features_alone_make_a_nearest_neighbour_graph():
    X = np.random.default_rng(0).normal(size=(20, 2))
    X[10:] += 20
    y = ["a", *[None] * 9, "b", *[None] * 9]
    model = HeatLabelSpreading(neighbors=3).fit(X, y)
    assert model.predict().tolist() == ["a"] * 10 + ["b"] * 10
    assert model.predict(X).tolist() == model.predict().tolist()


def test_other_nodes_are_refused():
    model = HeatLabelSpreading().fit(None, LABELS, adjacency=A)
    other = Graph.from_scipy(A[:6, :6], labels=LABELS[:6])
    with pytest.raises(ParameterError, match="only the nodes it was fitted on"):
        model.predict(other)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"s": -1}, "'s'"),
        ({"s": float("nan")}, "'s'"),
        ({"eps": 0}, r"The 'eps' parameter of HeatLabelSpreading must be a number in \(0, 1\)"),
        ({"eps": 1}, "'eps'"),
        ({"tol": -1}, "'tol'"),
        ({"tol": 2}, "'tol'"),
        ({"tol": "fine"}, "'tol'"),
    ],
)
def test_parameters_are_checked_in_fit(options, words):
    with pytest.raises(ParameterError, match=words):
        HeatLabelSpreading(**options).fit(None, LABELS, adjacency=A)


def test_bad_input_is_refused_in_a_sentence():
    with pytest.raises(GraphError, match="There is no label to spread"):
        HeatLabelSpreading().fit(None, [None] * 9, adjacency=A)
    with pytest.raises(ParameterError, match="requires y to be passed"):
        HeatLabelSpreading().fit(None, adjacency=A)
    with pytest.raises(GraphError, match="one label per node"):
        HeatLabelSpreading().fit(None, LABELS[:3], adjacency=A)
    with pytest.raises(GraphError, match="symmetric"):
        HeatLabelSpreading().fit(None, LABELS, adjacency=np.triu(A))
    with pytest.raises(NotFittedError):
        HeatLabelSpreading().predict()


def test_a_single_class_is_everywhere():
    model = HeatLabelSpreading().fit(None, ["x", *[None] * 8], adjacency=A)
    assert set(model.predict()) == {"x"}


def test_it_clones():
    model = HeatLabelSpreading(2.0, eps=0.1)
    assert clone(model).get_params() == model.get_params()


def test_torch_is_not_loaded():
    script = (
        "import sys, graphheat; club = graphheat.datasets.load('karate');"
        "graphheat.HeatLabelSpreading(s=3.0).fit(club).score();"
        "import numpy; X = numpy.eye(34);"
        "graphheat.HeatDiffusion(adjacency=club).fit_transform(X);"
        "print('torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout.strip() == "False", done.stderr
