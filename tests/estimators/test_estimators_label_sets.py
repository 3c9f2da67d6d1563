"""Several labels per node: every form of them, the closed form, and numbers that are no classes."""

import numpy as np
import pandas
import pytest
import scipy.sparse as sp
from helpers.sentences import refusal
from scipy.linalg import expm

from graphheat import Graph, GraphHeatClassifier, HeatLabelSpreading
from graphheat.datasets import block_model
from graphheat.errors import GraphError
from graphheat.graph.label_sets import label_sets
from graphheat.heat import laplacian

# A ring of six with a chord, and a node alone.
EDGES = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0), (0, 3)]
A = np.zeros((7, 7))
for a, b in EDGES:
    A[a, b] = A[b, a] = 1.0
SETS = [{"news", "tv"}, None, None, {"tv"}, None, set(), None]
MATRIX = np.array([[1, 1], [np.nan] * 2, [np.nan] * 2, [0, 1], [np.nan] * 2, [0, 0], [np.nan] * 2])
NAMES = ["news", "tv"]


def test_a_probability_is_the_share_of_heat_from_nodes_with_the_label():
    model = HeatLabelSpreading(2.0).fit(None, SETS, adjacency=A)
    heat = expm(-2.0 * laplacian(sp.csr_array(A)).toarray())
    total = heat[:6, [0, 3, 5]].sum(axis=1)
    expected = np.column_stack([heat[:6, 0] / total, heat[:6, [0, 3]].sum(axis=1) / total])
    assert model.classes_.tolist() == NAMES
    assert model.predict_proba()[:6] == pytest.approx(expected, abs=1e-5)
    assert model.predict_proba()[6] == pytest.approx([1 / 3, 2 / 3])  # no heat: the shares of all
    assert model.reached_.tolist() == [True] * 6 + [False]
    assert model.predict().tolist() == (model.predict_proba() >= 0.5).astype(int).tolist()


@pytest.mark.parametrize(
    "y",
    [
        SETS,
        [None if each is None else sorted(each) for each in SETS],
        [float("nan") if each is None else tuple(each) for each in SETS],
        np.array(SETS, dtype=object),
        pandas.Series(SETS),
        pandas.DataFrame(MATRIX, columns=NAMES),
    ],
    ids=["sets", "lists", "tuples", "array", "series", "frame"],
)
def test_every_form_gives_the_same(y):
    expected = HeatLabelSpreading(2.0).fit(Graph.from_scipy(A), MATRIX)
    found = HeatLabelSpreading(2.0).fit(None, y, adjacency=A)
    assert found.classes_.tolist() == NAMES
    assert expected.classes_.tolist() == [0, 1]
    assert np.array_equal(found.probabilities_, expected.probabilities_)


def test_a_matrix_without_gaps_takes_a_mask():
    whole = np.nan_to_num(MATRIX)
    seen = ~np.isnan(MATRIX[:, 0])
    expected = HeatLabelSpreading().fit(None, MATRIX, adjacency=A).probabilities_
    for y in (whole, whole.astype(bool), whole.astype(int).tolist(), sp.csr_array(whole)):
        model = HeatLabelSpreading().fit(None, y, adjacency=A, labelled=seen)
        assert np.array_equal(model.probabilities_, expected)


def test_one_label_each_is_as_without_sets():
    graph = block_model(120, 3, homophily=0.9, labels_per_class=10, seed=0)
    known = np.isin(np.arange(120), graph.split["train"])
    single = HeatLabelSpreading().fit(graph)
    sets = [{code} if seen else None for code, seen in zip(graph.labels, known, strict=True)]
    multiple = HeatLabelSpreading().fit(graph, sets)
    assert not single.multilabel_
    assert multiple.multilabel_
    assert multiple.probabilities_ == pytest.approx(single.probabilities_, abs=1e-5)
    truth = np.eye(3)[graph.labels]
    assert multiple.score(None, truth) > 0.7
    assert multiple.predict(graph).shape == (120, 3)


def test_features_alone_make_a_graph():
    X = np.random.default_rng(0).normal(size=(20, 2))
    X[10:] += 20
    y = [{"a", "c"}, *[None] * 9, {"b", "c"}, *[None] * 9]
    model = HeatLabelSpreading(neighbors=3).fit(X, y)
    assert model.predict().tolist() == [[1, 0, 1]] * 10 + [[0, 1, 1]] * 10


def test_one_label_per_node_is_no_set():
    for y in (["a", None, "b"], np.array([0, 1, -1]), np.zeros((3, 1)), [1.0, 2.0, np.nan]):
        assert label_sets(y) is None


def test_lists_of_numbers_are_rows_only_where_they_can_be():
    assert label_sets([[1, 0], [0, 1]]).classes == (0, 1)
    assert label_sets([[1, 0], [0, 1]]).indicator.tolist() == [[1, 0], [0, 1]]
    assert label_sets([[1, 0], [2, 1]]).indicator.tolist() == [[1, 1, 0], [0, 1, 1]]
    assert label_sets([{1, 0}, {0}]).indicator.tolist() == [[1, 1], [1, 0]]


def test_bad_sets_are_refused_in_a_sentence():
    def fit(y, **more):
        return refusal(HeatLabelSpreading().fit, None, y, adjacency=A, **more)

    assert "one label set per node" in fit(SETS[:4])
    assert "0, 1 and NaN (unknown); got 2.0 in row 0, column 1." in fit(np.add(MATRIX, [0, 1]))
    assert "0, 1 and NaN" in fit(np.full((7, 2), "x"))
    assert "row 3 is 'tv'" in fit([{"tv"}, None, None, "tv", None, None, None])
    assert "of one type" in fit([{"tv"}, {1}, None, None, None, None, None])
    assert "no label to spread" in fit([None] * 6 + [set()])
    assert "no label to spread" in fit(SETS, labelled=np.zeros(7, dtype=bool))
    assert "boolean mask" in fit(SETS, labelled=[1, 2])
    assert "got both" in refusal(HeatLabelSpreading().fit, Graph.from_scipy(A), SETS, adjacency=A)
    assert "'eps'" in refusal(HeatLabelSpreading(eps=0).fit, None, SETS, adjacency=A)


@pytest.mark.parametrize("model", [HeatLabelSpreading(), GraphHeatClassifier()])
def test_classifiers_refuse_numbers_and_say_what_takes_them(model):
    y = np.array([1.5, 2.25, 3.0, 9.75, 1.0, 0.5, 2.0])
    with pytest.raises(GraphError, match=r"continuous value 1\.5.*with graphheat\.HeatRegressor"):
        model.fit(np.ones((7, 2)), y, adjacency=A)
