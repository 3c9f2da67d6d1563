from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit

import graphheat
from graphheat.labeling.accuracy_estimate import estimate_accuracy, expected_gain, posterior

GRAPH = graphheat.datasets.block_model(300, 3, homophily=0.8, labels_per_class=15, seed=0)


def test_the_estimate_holds_the_truth():
    run = graphheat.fit(GRAPH, "linear")
    others = np.setdiff1d(np.flatnonzero(GRAPH.labels >= 0), run.split.train)
    truth = float((run.predicted == run.labels)[others].mean())
    found = estimate_accuracy(run)
    assert found.low <= truth <= found.high
    assert found == estimate_accuracy(run)


def test_a_choice_of_doubtful_nodes_is_made_up_for():
    """Confidences are right; labels were taken where they are low, and their mean is too low."""
    random = np.random.default_rng(0)
    run = graphheat.fit(GRAPH, "linear")
    q = random.uniform(0.5, 1.0, GRAPH.n)
    train = np.argsort(q)[:120]
    right = random.random(GRAPH.n) < q
    labels = np.where(right, 0, 1)
    labels[train[:2]] = 2, 2
    p = np.column_stack([q, 1 - q, np.zeros(GRAPH.n)])
    split = replace(run.split, parts={**run.split.parts, "train": np.sort(train)})
    made = replace(run, labels=labels, split=split, probabilities=p, out_of_fold=p[np.sort(train)])
    found = estimate_accuracy(made)
    others = np.setdiff1d(np.arange(GRAPH.n), train)
    truth = right[others].mean()
    assert found.plain < truth - 0.1
    assert abs(found.accuracy - truth) < 0.08
    assert found.low <= truth <= found.high


def test_the_posterior_is_that_of_a_logistic_regression():
    random = np.random.default_rng(1)
    x = random.normal(size=4000)
    right = (random.random(4000) < expit(-0.5 + 1.5 * x)).astype(float)
    mean, covariance = posterior(x, right)
    np.testing.assert_allclose(mean, [-0.5, 1.5], atol=4 * np.sqrt(np.diag(covariance)).max())
    assert (np.linalg.eigvalsh(covariance) > 0).all()


def test_too_few_labels_tell_nothing():
    few = graphheat.datasets.block_model(60, 3, labels_per_class=1, seed=0)
    assert estimate_accuracy(graphheat.fit(few, "spreading")) is None


@pytest.mark.parametrize("curve", [[], [(5, 0.5, 0.4, 0.6)] * 9])
def test_no_curve_no_gain(curve):
    assert expected_gain(curve) is None


def test_a_gain_is_no_loss_and_no_more_than_is_left():
    falling = [(m, 0.9 - 0.01 * m, 0.0, 1.0) for m in (10, 20, 30)]
    assert expected_gain(falling) == 0.0
    steep = [(1, 0.0, 0.0, 1.0), (2, 0.5, 0.0, 1.0), (3, 0.99, 0.0, 1.0)]
    assert expected_gain(steep) <= 0.01 + 1e-12
