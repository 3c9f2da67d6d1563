"""Folds of labels: dealt fairly, and what is predicted without one has not seen it."""

import numpy as np
import pytest

from graphheat.datasets import block_model
from graphheat.graph import Graph
from graphheat.linear.averaged import fit_averaged
from graphheat.linear.linear_run import LinearSettings
from graphheat.linear.spreading import (
    SpreadingSettings,
    fit_spreading,
    spread_without_folds,
    spreading_kernel,
)
from graphheat.recipes.folds import Teaching, deal_folds

WHOLE = block_model(120, 3, features=8, labels_per_class=6, seed=0)
TRAIN = np.sort(WHOLE.split["train"])
GRAPH = WHOLE.with_split(train=TRAIN, test=WHOLE.split["test"])


def teaching(graph=GRAPH):
    split = graph.completed_split(0, hold_out=False)
    linear = fit_averaged(graph, split, LinearSettings(s=3.0, l2=0.1, scaling="standard"))
    return Teaching.by(linear, graph, split, 4, 0, 1)


def relabelled(position):
    """The graph with another label at one training node."""
    labels = GRAPH.labels.copy()
    labels[TRAIN[position]] = (labels[TRAIN[position]] + 1) % 3
    return Graph.from_scipy(
        GRAPH.adjacency, GRAPH.features, labels, classes=GRAPH.classes, split=GRAPH.split
    )


def test_folds_leave_every_class_a_label():
    codes = np.array([0, 1, 1, 2, 2, 2, 2, 2, 2, 2])
    folds = deal_folds(codes, 4, seed=0)
    assert folds[0] == -1 and set(folds[1:]) == {0, 1, 2, 3}
    for fold in range(4):
        assert set(codes[folds != fold]) == {0, 1, 2}
    counts = np.bincount(folds[1:])
    assert counts.max() - counts.min() <= 1
    assert np.array_equal(folds, deal_folds(codes, 4, seed=0))
    assert deal_folds(np.array([0, 1, 2]), 4, seed=0) is None
    assert deal_folds(np.array([0, 0, 1]), 4, seed=0) is None


@pytest.mark.parametrize("position", [0, 7])
def test_a_teacher_has_not_seen_the_labels_of_its_fold(monkeypatch, position):
    folds = np.arange(len(TRAIN)) % 4
    monkeypatch.setattr("graphheat.recipes.folds.deal_folds", lambda *_: folds)
    one, two = teaching().probabilities, teaching(relabelled(position)).probabilities
    same = [np.array_equal(*each) for each in zip(one, two, strict=True)]
    assert same == [fold == folds[position] for fold in (-1, 0, 1, 2, 3)]


def test_out_of_fold_rows_are_those_of_the_own_fold():
    taught = teaching()
    rows = taught.out_of_fold(TRAIN)
    for position, fold in enumerate(taught.folds):
        assert np.array_equal(rows[position], taught.probabilities[1 + fold, TRAIN[position]])
    right = rows.argmax(axis=1) == GRAPH.labels[TRAIN]
    assert right.mean() > 0.6


def test_with_validation_labels_one_teacher_has_seen_all_training_labels():
    split = WHOLE.completed_split(0, hold_out=False)
    linear = fit_averaged(WHOLE, split, LinearSettings())
    taught = Teaching.by(linear, WHOLE, split, 4, 0, 1)
    assert taught.folds is None and taught.probabilities.shape == (1, WHOLE.n, 3)
    assert np.array_equal(taught.probabilities[0, TRAIN], linear.out_of_fold)


def test_labels_are_spread_without_those_of_the_own_fold():
    split = GRAPH.completed_split(0, hold_out=False)
    run = fit_spreading(GRAPH, split, SpreadingSettings(3.0))
    folds = np.arange(len(TRAIN)) % 4
    folds[2] = -1
    rows = spread_without_folds(GRAPH, run, folds)
    assert np.isnan(rows).all(axis=1).tolist() == (folds < 0).tolist()
    for fold in range(4):
        others = TRAIN[folds != fold]
        columns = np.zeros((GRAPH.n, 3))
        columns[others, GRAPH.labels[others]] = 1.0
        heat = spreading_kernel(GRAPH, run.s).apply(columns)[TRAIN[folds == fold]]
        expected = np.exp(run.logits_of(heat))
        expected /= expected.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(rows[folds == fold], expected, atol=1e-8)
