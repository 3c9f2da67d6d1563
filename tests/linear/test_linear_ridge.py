"""The ridge classifier: its leave-one-out predictions are those of fits without the node."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from graphheat.linear.ridge import Spectrum, one_hot

RANDOM = np.random.default_rng(0)
CODES = np.arange(12) % 3
TRUTH = one_hot(CODES, 3)
WIDE, NARROW = RANDOM.normal(size=(12, 30)), RANDOM.normal(size=(12, 4))
EVEN = np.ones(12)
UNEVEN = RANDOM.uniform(0.2, 2.0, 12)
UNEVEN /= UNEVEN.mean()
PENALTIES = [10.0, 0.1, 1e-3]


def ridge(rows, weights, spectrum, penalty):
    return Ridge(alpha=penalty * spectrum.variance).fit(rows, TRUTH, sample_weight=weights)


@pytest.fixture(params=["wide", "narrow"])
def rows(request):
    return {"wide": WIDE, "narrow": NARROW}[request.param]


@pytest.fixture(params=["even", "uneven"])
def weights(request):
    return {"even": EVEN, "uneven": UNEVEN}[request.param]


def test_one_hot_rows():
    assert one_hot(np.array([2, 0]), 3).tolist() == [[0, 0, 1], [1, 0, 0]]


@pytest.mark.parametrize("penalty", PENALTIES)
def test_what_is_said_of_a_node_left_out_is_what_a_fit_without_it_says(rows, weights, penalty):
    spectrum = Spectrum.of_rows(rows, weights)
    found = spectrum.left_out(TRUTH, penalty)
    model = Ridge(alpha=penalty * spectrum.variance, solver="svd")
    for node in range(12):
        others = np.delete(np.arange(12), node)
        model.fit(rows[others], TRUTH[others], sample_weight=weights[others])
        np.testing.assert_allclose(found[node], model.predict(rows[[node]])[0], atol=1e-6)


@pytest.mark.parametrize("penalty", PENALTIES)
def test_the_fit_is_sklearns(rows, weights, penalty):
    spectrum = Spectrum.of_rows(rows, weights)
    model = ridge(rows, weights, spectrum, penalty)
    fit, leverage = spectrum.fitted(TRUTH, penalty)
    np.testing.assert_allclose(fit, model.predict(rows), atol=1e-8)
    assert ((leverage > 0) & (leverage < 1)).all()


@pytest.mark.parametrize("penalty", PENALTIES)
def test_duals_give_the_weights_and_sum_to_nothing(rows, weights, penalty):
    spectrum = Spectrum.of_rows(rows, weights)
    duals = spectrum.duals(TRUTH, penalty)
    center = weights @ rows / weights.sum()
    model = ridge(rows, weights, spectrum, penalty)
    np.testing.assert_allclose((rows - center).T @ duals, model.coef_.T, atol=1e-8)
    np.testing.assert_allclose(duals.sum(axis=0), 0, atol=1e-9)


def test_rows_and_their_inner_products_are_the_same_question(rows, weights):
    by_rows, by_gram = Spectrum.of_rows(rows, weights), Spectrum.of_gram(rows @ rows.T, weights)
    assert by_gram.variance == pytest.approx(by_rows.variance)
    assert len(by_gram.squares) == len(by_rows.squares)
    for penalty in PENALTIES:
        for name in ("left_out", "duals"):
            one, other = (getattr(each, name)(TRUTH, penalty) for each in (by_rows, by_gram))
            np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-8)


def test_the_penalty_is_measured_in_the_variance_of_the_rows(rows):
    # So that features of another unit are fitted alike.
    one, other = (Spectrum.of_rows(scale * rows, EVEN) for scale in (1.0, 1000.0))
    assert other.variance == pytest.approx(1e6 * one.variance)
    np.testing.assert_allclose(one.left_out(TRUTH, 0.1), other.left_out(TRUTH, 0.1), atol=1e-9)


def test_a_node_that_alone_decides_its_own_fit_gives_finite_numbers():
    rows = np.zeros((12, 1))
    rows[0] = 1.0
    found = Spectrum.of_rows(rows, EVEN).left_out(TRUTH, 1e-14)
    assert np.isfinite(found).all()


@pytest.mark.parametrize("make", [Spectrum.of_rows, Spectrum.of_gram])
def test_rows_that_differ_by_rounding_alone_teach_nothing(make):
    rows = 5.0 + 1e-9 * WIDE
    spectrum = make(rows if make == Spectrum.of_rows else rows @ rows.T, EVEN, noise=1e-6)
    assert len(spectrum.squares) == 0
    np.testing.assert_allclose(spectrum.fitted(TRUTH, 1e-3)[0], 1 / 3, rtol=1e-9)
    assert not spectrum.duals(TRUTH, 1e-3).any()
