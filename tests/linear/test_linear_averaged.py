"""The best linear models of one search, averaged."""

from functools import cache

import numpy as np
import pytest

from graphheat.datasets import block_model
from graphheat.linear import LinearRun, LinearSettings
from graphheat.linear.averaged import COUNT, LEAST, fit_averaged
from graphheat.linear.linear_fit import fit_linear

GRAPH = block_model(200, 3, features=20, labels_per_class=8, seed=0)


def averaged(graph=GRAPH, **changes):
    split = graph.completed_split(0, hold_out=False)
    return fit_averaged(graph, split, LinearSettings.checked(**changes), threads=1)


@cache
def fitted():
    return averaged()


def test_the_first_part_is_the_linear_recipes_run_and_counts_for_most():
    run = fitted()
    best = fit_linear(GRAPH, GRAPH.completed_split(0, hold_out=False), LinearSettings(), threads=1)
    assert 1 < len(run.parts) <= COUNT
    assert all(isinstance(part, LinearRun) for part in run.parts)
    assert np.array_equal(run.parts[0].probabilities, best.probabilities)
    assert run.weights[0] == run.weights.max()
    assert run.search.chosen == best.search.chosen


def test_weights_fall_with_the_loss_and_sum_to_one():
    run = fitted()
    losses = np.array([part.search.loss[part.search.chosen] for part in run.parts])
    assert (np.diff(losses) >= 0).all() and (np.diff(run.weights) <= 0).all()
    assert run.weights.sum() == pytest.approx(1)
    assert run.weights.min() >= LEAST
    excess = (losses - losses[0]) / losses[0] * 24 / 4
    np.testing.assert_allclose(run.weights / run.weights[0], np.exp(-excess), rtol=1e-9)


def test_with_many_labels_fewer_models_count():
    many = block_model(600, 3, features=20, labels_per_class=150, seed=0)
    assert averaged(many).weights[0] > fitted().weights[0]


def test_it_has_out_of_fold_predictions_of_its_own():
    run = fitted()
    logs = sum(
        weight * np.log(part.out_of_fold)
        for part, weight in zip(run.parts, run.weights, strict=True)
    )
    expected = np.exp(logs) / np.exp(logs).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(run.out_of_fold, expected, atol=1e-9)
    assert run.out_of_fold.shape == (24, 3)


def test_where_nothing_is_chosen_there_is_one_model():
    train = [int(np.flatnonzero(GRAPH.labels == code)[0]) for code in range(3)]
    run = averaged(GRAPH.with_split(train=train))
    assert len(run.parts) == 1 and run.weights.tolist() == [1.0]
    assert "No class has two labels" in run.notes[0]


def test_two_runs_are_identical():
    assert np.array_equal(fitted().probabilities, averaged().probabilities)
