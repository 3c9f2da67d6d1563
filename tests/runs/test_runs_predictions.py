"""Predictions: what a run says of a graph, as arrays and as a table."""

import numpy as np

from graphheat.datasets import block_model
from graphheat.graph import Graph
from graphheat.runs import Predictions

BLOCKS = block_model(12, 3, degree=3, features=4, labels_per_class=1, seed=0)
SHARES = np.random.default_rng(0).dirichlet([1.0, 1.0, 1.0], size=12)


def named(classes):
    return Graph.from_scipy(BLOCKS.adjacency, BLOCKS.features, BLOCKS.labels, classes=classes)


def test_labels_are_matched_by_the_names_of_classes():
    graph = named(["cedar", "oak", "ash"])
    found = Predictions.on(graph, ("ash", "beech", "cedar"), SHARES, None)
    expected = np.array([2, -1, 0])[graph.labels]
    assert np.array_equal(found.labels, expected)
    assert found.split == [""] * 12
    assert found.reached is None


def test_the_table_has_a_row_per_node_and_a_column_per_class():
    found = Predictions.on(named(["ash", "oak", "cedar"]), ("ash", "beech", "cedar"), SHARES, None)
    frame = found.frame()
    head = ["node", "label", "predicted", "confidence", "reached", "split"]
    assert list(frame) == [*head, "p_ash", "p_beech", "p_cedar"]
    assert np.array_equal(frame[["p_ash", "p_beech", "p_cedar"]].to_numpy(), SHARES)
    assert np.array_equal(frame["confidence"], SHARES.max(axis=1))
    assert np.array_equal(found.predicted, SHARES.argmax(axis=1))
    assert frame["label"].isna().tolist() == (BLOCKS.labels == 1).tolist()
    assert frame["reached"].isna().all()


def test_a_temperature_of_1_leaves_the_confidence_as_it_is():
    graph = named(["ash", "oak", "cedar"])
    frame = Predictions.on(graph, graph.classes, SHARES, 1.0).frame()
    np.testing.assert_allclose(frame["calibrated"], frame["confidence"], rtol=1e-12)
    hotter = Predictions.on(graph, graph.classes, SHARES, 2.0).frame()
    assert (hotter["calibrated"] < frame["confidence"]).all()
