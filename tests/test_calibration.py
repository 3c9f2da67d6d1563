"""Calibration: temperature, expected calibration error, prediction sets."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import softmax

from graphheat.calibration import (
    calibrated,
    expected_calibration_error,
    prediction_sets,
    temperature,
)
from graphheat.errors import ParameterError


def drawn(n, classes, sharpness, seed):
    """Return probabilities, and labels drawn from them made ``sharpness`` times as sure."""
    random = np.random.default_rng(seed)
    logits = 2.0 * random.standard_normal((n, classes))
    p = softmax(logits, axis=1)
    true = softmax(logits * sharpness, axis=1)
    labels = (random.random((n, 1)) > true.cumsum(axis=1)).sum(axis=1)
    return p, np.minimum(labels, classes - 1)


@pytest.mark.parametrize("sharpness", [0.5, 1.0, 2.0])
def test_the_temperature_undoes_what_was_done(sharpness):
    p, labels = drawn(20_000, 4, sharpness, seed=0)
    T = temperature(p, labels, np.arange(20_000))
    assert sharpness * T == pytest.approx(1, rel=0.05)


def test_calibrated_probabilities_are_less_wrong_and_predict_the_same():
    p, labels = drawn(20_000, 3, 0.4, seed=1)
    fitted, judged = np.arange(10_000), np.arange(10_000, 20_000)
    better = calibrated(p, temperature(p, labels, fitted))
    assert np.allclose(better.sum(axis=1), 1)
    assert (better.argmax(axis=1) == p.argmax(axis=1)).all()
    before = expected_calibration_error(p, labels, judged)
    assert expected_calibration_error(better, labels, judged) < before / 3


def test_temperature_one_changes_nothing():
    p, _ = drawn(50, 3, 1.0, seed=2)
    assert np.allclose(calibrated(p, 1.0), p)


def test_exact_zeros_do_no_harm():
    p = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
    T = temperature(p, [0, 1, 1], [0, 1, 2])
    assert np.isfinite(calibrated(p, T)).all()


def test_calibration_error_by_hand():
    p = [[0.9, 0.1], [0.9, 0.1], [0.6, 0.4], [0.4, 0.6]]
    # bin of 0.9: accuracy 1/2; bin of 0.6: accuracy 1.
    assert expected_calibration_error(p, [0, 1, 0, 1], range(4)) == pytest.approx(0.4)
    assert expected_calibration_error(p, [0, 1, 0, 1], range(4), bins=1) == pytest.approx(0.0)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([0.05, 0.1, 0.3]))
def test_sets_cover_as_promised_on_average(seed, alpha):
    p, labels = drawn(4_000, 5, 0.7, seed)
    nodes = np.arange(2_000)
    sets = prediction_sets(p, nodes, labels, alpha)
    held = sets[np.arange(2_000, 4_000), labels[2_000:]].mean()
    assert held > 1 - alpha - 0.04  # four standard deviations of the two samples
    assert sets.any(axis=1).all()
    assert sets[np.arange(4_000), p.argmax(axis=1)].all()


def test_smaller_alpha_gives_larger_sets():
    p, labels = drawn(1_000, 5, 1.0, seed=3)
    nodes = np.arange(300)
    assert (prediction_sets(p, nodes, labels, 0.05) >= prediction_sets(p, nodes, labels, 0.2)).all()


def test_too_few_calibration_nodes_promise_nothing():
    p, labels = drawn(20, 3, 1.0, seed=4)
    assert prediction_sets(p, range(8), labels, 0.1).all()
    assert not prediction_sets(p, range(9), labels, 0.1).all()  # ⌈10 · 0.9⌉ = 9 are enough


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda p, y: temperature(p, y, []), "at least one labelled node"),
        (lambda p, y: temperature(p, [-1, 0, 0], [0]), "labels are known"),
        (lambda p, y: temperature(p, [0, 1], [0]), "one a row"),
        (lambda p, y: temperature([0.5, 0.5], y, [0]), "shape"),
        (lambda p, y: calibrated(p, 0.0), "'T' parameter"),
        (lambda p, y: calibrated([[np.nan, 1.0]], 1.0), "finite"),
        (lambda p, y: prediction_sets(p, [0], y, 1.0), "'alpha' parameter"),
        (lambda p, y: prediction_sets(p, [7], y, 0.1), r"in \[0, 3\)"),
        (lambda p, y: expected_calibration_error(p, y, [0], bins=0), "'bins' parameter"),
    ],
)
def test_bad_input_is_said_in_a_sentence(call, words):
    p = np.array([[0.5, 0.5], [0.9, 0.1], [0.2, 0.8]])
    with pytest.raises(ParameterError, match=words):
        call(p, np.array([0, 0, 1]))
