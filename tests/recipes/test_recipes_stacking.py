"""Weights of stages: the least loss with a prior, found by gradients."""

import numpy as np
import pytest
import scipy.optimize
from scipy.optimize import approx_fprime
from scipy.special import log_softmax, softmax

from graphheat.calibration.temperature import fit_log_scale
from graphheat.recipes.stacking import (
    LEAST_WEIGHT,
    SCALE,
    shared_weights,
    skill,
    stacked_weights,
)

RANDOM = np.random.default_rng(0)
HALVES = np.array([0.5, 0.5])


def stage(codes, skill, sharpness=1.0, noise=RANDOM):
    """Return probabilities that know the classes as well as ``skill`` says, shape (N, c)."""
    logits = skill * np.eye(3)[codes] + noise.gumbel(size=(len(codes), 3))
    return softmax(sharpness * logits, axis=1)


def objective_of(monkeypatch, stages, codes, prior):
    """Return what is minimised, as a function of w that gives value and gradient."""
    held = []

    def caught(function, start, **options):
        held.append(function)
        return real(function, start, **options)

    real = scipy.optimize.minimize
    monkeypatch.setattr(scipy.optimize, "minimize", caught)
    stacked_weights(stages, codes, prior)
    return held[0]


def sharpness_of(stages, codes):
    """Return what makes each stage as sure as it is right, shape (k,)."""
    return np.exp(
        [fit_log_scale(np.log(p), codes, bounds=(-3.0, 3.0), accuracy=1e-3)[0] for p in stages]
    )


CODES = RANDOM.integers(0, 3, 120)
STAGES = [stage(CODES, skill) for skill in (1.0, 2.0, 3.0)]
PRIOR = np.array([0.0, 0.5, 0.5])


def test_the_gradient_is_that_of_finite_differences(monkeypatch):
    objective = objective_of(monkeypatch, STAGES, CODES, PRIOR)

    def value(w):
        return objective(w)[0]

    for w in (PRIOR, np.array([0.1, 0.7, 1.9]), np.array([2.0, 0.0, 0.3])):
        _, gradient = objective(w)
        expected = approx_fprime(w, value, 1e-7)
        np.testing.assert_allclose(gradient, expected, atol=1e-5)


def test_no_start_finds_a_lower_minimum(monkeypatch):
    objective = objective_of(monkeypatch, STAGES, CODES, PRIOR)
    found = stacked_weights(STAGES, CODES, PRIOR) / sharpness_of(STAGES, CODES)
    for _ in range(30):
        end = scipy.optimize.minimize(
            objective, RANDOM.uniform(0, 3, 3), jac=True, method="L-BFGS-B", bounds=[(0, None)] * 3
        )
        # What is slight is left out of the answer, which costs a little.
        assert objective(found)[0] <= end.fun + 2e-3


def test_a_slight_advantage_on_few_labels_changes_nothing():
    codes = np.random.default_rng(1).integers(0, 3, 60)
    stages = [stage(codes, skill, noise=np.random.default_rng(2)) for skill in (2.0, 2.1)]
    found = stacked_weights(stages, codes, np.array([1.0, 0.0])) / sharpness_of(stages, codes)
    assert found == pytest.approx([1.0, 0.0], abs=2 * SCALE)


def test_a_plain_advantage_on_few_labels_changes_everything():
    codes = np.random.default_rng(1).integers(0, 3, 60)
    stages = [stage(codes, skill, noise=np.random.default_rng(2)) for skill in (0.0, 3.0)]
    found = stacked_weights(stages, codes, np.array([1.0, 0.0]))
    logs = sum(weight * np.log(p) for weight, p in zip(found, stages, strict=True))
    assert (logs.argmax(axis=1) == stages[1].argmax(axis=1)).mean() > 0.95


def test_no_other_weights_are_better():
    codes = RANDOM.integers(0, 3, 2000)
    stages = [stage(codes, skill) for skill in (1.0, 2.0, 3.0)]
    found = stacked_weights(stages, codes, PRIOR)

    def loss(w):
        logs = sum(weight * np.log(p) for weight, p in zip(w, stages, strict=True))
        return -log_softmax(logs, axis=1)[np.arange(2000), codes].mean()

    # With 2,000 labels the prior moves weights, but hardly the loss.
    for _ in range(200):
        other = np.maximum(found + RANDOM.normal(scale=0.3, size=3), 0)
        assert loss(found) <= loss(other) + 0.01
    assert loss(found) < min(loss(alone) for alone in np.eye(3))


def test_a_stage_that_knows_nothing_counts_for_next_to_nothing():
    codes = RANDOM.integers(0, 3, 2000)
    lost = softmax(RANDOM.normal(size=(2000, 3)), axis=1)
    found = stacked_weights([stage(codes, 3.0), lost], codes, HALVES)
    assert found[1] < 0.05 * found[0]


def test_few_labels_leave_the_prior():
    stages = [stage(CODES[:2], 2.0), stage(CODES[:2], 2.0)]
    found = stacked_weights(stages, CODES[:2], HALVES)
    assert (found > LEAST_WEIGHT).all()
    assert np.abs(found / sharpness_of(stages, CODES[:2]) - 0.5).max() < SCALE


def test_two_stages_that_say_the_same_share_the_weight():
    p = stage(CODES, 2.0)
    found = stacked_weights([p, p], CODES, HALVES)
    assert found[0] == pytest.approx(found[1], rel=1e-3)


def test_the_sum_of_the_weights_calibrates():
    # A stage three times too sure is taken back by as much.
    codes = RANDOM.integers(0, 3, 4000)
    p = stage(codes, 2.0)
    sure = softmax(3.0 * np.log(p), axis=1)
    plain, blunted = (stacked_weights([each], codes, np.array([1.0]))[0] for each in (p, sure))
    assert blunted == pytest.approx(plain / 3, rel=0.01)


def test_no_weight_is_negative_even_for_a_stage_that_is_wrong_on_purpose():
    codes = RANDOM.integers(0, 3, 500)
    wrong = stage((codes + 1) % 3, 3.0)
    found = stacked_weights([stage(codes, 2.0), wrong], codes, HALVES)
    assert found[0] > 0 and found[1] == 0


def test_rows_that_a_stage_has_no_prediction_for_are_passed_over():
    holes = [p.copy() for p in STAGES]
    holes[0][:10] = np.nan
    holes[2][20:25] = np.nan
    kept = np.setdiff1d(np.arange(120), [*range(10), *range(20, 25)])
    found = stacked_weights(holes, CODES, PRIOR)
    expected = stacked_weights([p[kept] for p in STAGES], CODES[kept], PRIOR)
    assert np.array_equal(found, expected)


def test_without_a_label_the_prior_is_the_answer():
    nothing = np.full((3, 2), np.nan)
    assert stacked_weights([nothing, nothing], np.zeros(3, dtype=int), HALVES) is HALVES
    empty = np.empty((0, 2))
    assert stacked_weights([empty, empty], np.empty(0, dtype=int), HALVES) is HALVES


def test_probabilities_of_exactly_0_are_finite():
    certain = np.eye(3)[CODES]
    certain[0] = np.roll(certain[0], 1)
    assert np.isfinite(stacked_weights([certain, STAGES[0]], CODES, HALVES)).all()


def _chance(n, sharpness=2.0):
    """Return three stages that know nothing, overly sure of it, and labels."""
    random = np.random.default_rng(0)
    return list(softmax(sharpness * random.standard_normal((3, n, 2)), axis=2)), np.arange(n) % 2


def test_skill_is_what_the_best_stage_takes_away_from_the_entropy():
    codes = np.array([0, 0, 0, 1] * 10)
    shares = np.tile([0.75, 0.25], (40, 1))
    assert skill([shares], codes) == pytest.approx(0.0)
    right = np.where(codes[:, None] == np.arange(2), 0.9, 0.1)
    assert skill([shares, right], codes) == pytest.approx(1 + np.log(0.9) / 0.5623351446188083)
    assert skill([np.where(codes[:, None] == np.arange(2), 0.1, 0.9)], codes) < -1
    some = right.copy()
    some[:5] = np.nan  # no prediction of these
    assert skill([some, right], codes) > 0.7


def test_labels_that_are_few_or_of_one_class_say_nothing_of_skill():
    stages, codes = _chance(20)
    assert skill(stages, codes) == 1.0
    assert skill([np.full((40, 2), 0.5)], np.zeros(40, dtype=int)) == 1.0
    assert skill([np.full((40, 2), np.nan)], np.zeros(40, dtype=int)) == 1.0


def test_stages_no_better_than_chance_count_alike_and_are_made_less_sure():
    stages, codes = _chance(60)
    assert skill(stages, codes) < 0.1
    weights = shared_weights(stages, codes, np.array([0.0, 0.5, 0.5]))
    assert weights[0] == 0
    assert weights[1] == weights[2] < 0.25  # chance had been sure
    nothing = [np.full((5, 2), np.nan)] * 3
    np.testing.assert_array_equal(
        shared_weights(nothing, codes[:5], np.array([0.0, 0.5, 0.5])), [0.0, 0.5, 0.5]
    )
