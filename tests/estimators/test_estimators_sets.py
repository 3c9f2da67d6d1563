"""predict_set: classes that hold the true one as often as promised."""

import numpy as np
import pytest

from graphheat import GraphHeatClassifier
from graphheat.calibration import prediction_sets
from graphheat.datasets import block_model
from graphheat.errors import GraphError, ParameterError

GRAPH = block_model(300, 3, features=8, labels_per_class=5, seed=0)
VAL = GRAPH.split["val"]


@pytest.fixture(scope="module")
def model():
    return GraphHeatClassifier(max_epochs=20, random_state=0).fit(GRAPH)


@pytest.mark.parametrize("score", ["plain", "diffused"])
def test_sets_are_those_of_the_validation_nodes(model, score):
    sets = model.predict_set(0.2, score)
    assert sets.shape == (300, 3)
    assert sets.dtype == bool
    expected = prediction_sets(
        model.probabilities_, np.sort(VAL), GRAPH.labels, 0.2, score=score, graph=GRAPH
    )
    assert np.array_equal(sets, expected)
    assert set(model.classes_[sets[0]]) <= set(model.classes_)


def test_calibration_nodes_are_used_where_the_split_has_them():
    graph = GRAPH.with_split(**{**GRAPH.split, "val": VAL[::2], "calibration": VAL[1::2]})
    model = GraphHeatClassifier(max_epochs=20, random_state=0).fit(graph)
    expected = prediction_sets(model.probabilities_, np.sort(VAL[1::2]), GRAPH.labels)
    assert np.array_equal(model.predict_set(score="plain"), expected)


def test_a_loaded_model_needs_the_graph_for_diffused_scores(model, tmp_path):
    model.save(tmp_path / "model.safetensors")
    loaded = GraphHeatClassifier.load(tmp_path / "model.safetensors")
    assert np.array_equal(loaded.predict_set(score="plain"), model.predict_set(score="plain"))
    assert np.array_equal(loaded.predict_set(graph=GRAPH), model.predict_set())
    with pytest.raises(ParameterError, match="Pass graph="):
        loaded.predict_set()
    with pytest.raises(GraphError, match="nor that one grown"):
        loaded.predict_set(graph=block_model(300, 3, features=8, seed=1))


def test_bad_values_are_said(model):
    with pytest.raises(ParameterError, match="'alpha' parameter"):
        model.predict_set(0.0)
    with pytest.raises(ParameterError, match="'score' parameter"):
        model.predict_set(score="best")


def test_without_labels_apart_there_are_no_sets():
    labels = np.full(300, None, dtype=object)
    labels[[0, 120, 200, 290]] = "a", "b", "a", "b"
    model = GraphHeatClassifier(recipe="consistent", max_epochs=2, random_state=0)
    model.fit(GRAPH.features, labels, adjacency=GRAPH.adjacency)
    with pytest.raises(ParameterError, match="needs labelled nodes that did not train"):
        model.predict_set()


def test_without_validation_labels_sets_are_those_of_labels_left_out():
    graph = GRAPH.with_split(train=[*GRAPH.split["train"], *VAL], test=GRAPH.split["test"])
    model = GraphHeatClassifier(max_epochs=20, random_state=0).fit(graph)
    train = np.sort(graph.split["train"])
    left_out = model.probabilities_.copy()
    left_out[train] = model.run_.out_of_fold
    expected = prediction_sets(left_out, train, GRAPH.labels, 0.1)
    sets = model.predict_set(0.1, score="plain")
    assert np.array_equal(sets, expected)
    test = graph.split["test"]
    assert sets[test, GRAPH.labels[test]].mean() > 0.8
