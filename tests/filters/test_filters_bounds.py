"""Proofs: discs contain what they must, ellipses bound it, series keep what they say."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.polynomial.chebyshev import chebval

from graphheat import GraphFilter, filters
from graphheat.errors import ParameterError
from graphheat.filters.discs import Discs
from graphheat.filters.ellipse import modulus
from graphheat.filters.expansion import expand
from graphheat.filters.wavelet_bank import hammond, mexican_hat
from graphheat.heat.operand import Operand

search = settings(deadline=None, derandomize=True, max_examples=60)

FUNCTIONS = {
    "exp": lambda z: np.exp(-2 * z),
    "rational": lambda z: (1 + z) / (3 - z + z**2),
    "power": lambda z: (2 + z) ** -1.5,
    "whole powers": lambda z: z**3 - 2 * z**-2,
    "sqrt": lambda z: np.sqrt(z + 1.5),
    "log": lambda z: np.log(2 + z) + np.log1p(z / 3),
    "tanh": lambda z: np.tanh(2 * z),
    "waves": lambda z: np.sin(z) * np.cosh(z) - np.cos(z) / (4 + np.sinh(z)),
    "others": lambda z: np.expm1(z) + np.exp2(z) + np.square(z) + np.reciprocal(z + 5) + 1,
}


@search
@given(
    x=st.floats(-3, 3),
    y=st.floats(-3, 3),
    r=st.floats(1e-6, 2),
    seed=st.integers(0, 999),
)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_disc_contains_the_image(name, x, y, r, seed):
    f, center = FUNCTIONS[name], complex(x, y)
    image = f(Discs(np.array([center]), np.array([r])))
    if not np.isfinite(image.radius[0]):
        return
    random = np.random.default_rng(seed)
    z = center + r * np.sqrt(random.random(40)) * np.exp(2j * np.pi * random.random(40))
    assert np.all(np.abs(f(z) - image.center[0]) <= image.radius[0] * (1 + 1e-12) + 1e-13)


def test_discs_do_not_pretend():
    disc = Discs(np.array([0.5 + 0j]), np.array([1.0]))
    for f in (np.abs, lambda z: np.maximum(z, 0), lambda z: np.where(z > 1, 1, 0), np.asarray):
        with pytest.raises(TypeError):
            f(disc)
    for f in (lambda z: 1 / z, np.log, np.sqrt, lambda z: z**-0.5):
        assert np.isinf(f(disc).radius[0])


@pytest.mark.parametrize("lmax", [2.0, 7.0])
@pytest.mark.parametrize("rho", [1.02, 1.3, 2.0])
def test_the_modulus_is_a_bound_and_no_wild_one(lmax, rho):
    angle = np.linspace(0, np.pi, 2001)
    mu = (rho * np.exp(1j * angle) + np.exp(-1j * angle) / rho) / 2
    proven = 0
    for f in (filters.heat(3.0), filters.matern(2.5, 1.0), *mexican_hat(3).filters(lmax)):
        bound = modulus(f.function, lmax, rho)
        with np.errstate(all="ignore"):
            seen = np.abs(f.function(lmax / 2 * (1 - mu))).max()
        assert bound >= seen or math.isnan(seen)
        if math.isfinite(bound):
            proven += 1
            assert bound <= 5 * seen
    assert proven >= 4


def ring(n=12):
    import scipy.sparse as sp

    return Operand.of_graph(sp.csr_array(np.roll(np.eye(n), 1, 0) + np.roll(np.eye(n), -1, 0)))


@search
@given(
    s=st.floats(0.01, 30),
    nu=st.floats(0.3, 5),
    width=st.floats(0.05, 1),
    tol=st.sampled_from([1e-2, 1e-5, 1e-9]),
    which=st.integers(0, 6),
)
def test_series_are_as_near_as_they_say(s, nu, width, tol, which):
    f = (
        filters.heat(s),
        filters.tikhonov(s),
        filters.matern(nu, s),
        filters.band_pass(0.2, 1.0, width),
        filters.heat(s) * filters.matern(nu, 1.0) + 1,
        filters.custom(lambda x: x * np.exp(-s * x)),
        filters.pagerank(min(1.0, width)),
    )[which]
    series = expand(f, ring(), tol)
    assert series.proven
    assert series.error_bound <= tol
    mu = np.cos(np.linspace(0, np.pi, 3001))
    error = np.abs(chebval(mu, series.coefficients) - f(1 - mu)).max()
    assert error <= series.truncation + 1e-13 * (1 + series.order)


def test_a_steep_filter_on_a_long_interval_is_proven():
    # Between the ellipses that hold a pole and those that are too flat to be covered.
    A = 90 * (np.ones((3, 3)) - np.eye(3))
    for f in (filters.low_pass(2.31567, 0.0955734), filters.low_pass(1.48719, 0.0530439)):
        H = GraphFilter(A, f, laplacian="combinatorial", tol=5e-8)
        assert H.lmax > 250
        assert H.bound == "proven"


def test_the_order_is_hardly_more_than_needed():
    # The last coefficient that is kept is needed: without it the tail would be too large.
    for f in (filters.matern(1.5, 2.0), filters.low_pass(0.5, 0.1)):
        series = expand(f, ring(), 1e-6)
        assert np.abs(series.coefficients[-1]) + series.truncation > 0.5e-6


def test_what_is_not_analytic_is_measured_and_says_so():
    kink = expand(filters.custom(lambda x: np.abs(x - 0.7) ** 3), ring(), 1e-4)
    assert not kink.proven
    mu = np.cos(np.linspace(0, np.pi, 100_003))
    assert np.abs(chebval(mu, kink.coefficients) - np.abs(0.3 - mu) ** 3).max() <= kink.truncation
    low, *wavelets = hammond(3).filters(2.0)
    assert expand(low, ring(), 1e-3).proven
    assert not any(expand(each, ring(), 1e-3).proven for each in wavelets)


def test_a_user_may_vouch_for_a_modulus():
    table = np.linspace(0, 2, 10_001)

    def looked_up(x):  # analytic to the eye, but no NumPy arithmetic
        return np.interp(x, table, np.exp(-table))

    assert not expand(filters.custom(looked_up), ring(), 1e-3).proven
    vouched = filters.custom(
        lambda x: np.array([math.exp(-each) for each in x]),
        "exp",
        modulus=lambda rho, lmax: math.exp(lmax / 2 * ((rho + 1 / rho) / 2 - 1)),
    )
    series = expand(vouched, ring(), 1e-6)
    assert series.proven
    assert series.order == expand(filters.heat(1.0), ring(), 1e-6).order


def test_filters_that_cannot_be():
    with pytest.raises(ParameterError, match="too steep, or jumps"):
        expand(filters.custom(lambda x: np.where(x < 1, 1.0, 0.0), "jump"), ring(), 1e-3)
    with pytest.raises(ParameterError, match="finite real numbers"):
        expand(filters.custom(lambda x: 1 / np.where(x > 1, 0, 1), "pole"), ring(), 1e-3)
    with pytest.raises(ParameterError, match="must take an array"):
        expand(filters.custom(lambda x: [1, 2, 3], "three"), ring(), 1e-3)
    with pytest.raises(ParameterError, match="limit of float64"):
        expand(filters.matern(1.5, 2.0), ring(), 1e-16)
    with pytest.raises(ParameterError, match="function of λ"):
        filters.custom(3)
    with pytest.raises(ParameterError, match="low <= high"):
        filters.band_pass(1.0, 0.5, 0.1)
    for make in (
        lambda: filters.heat(-1.0),
        lambda: filters.pagerank(0.0),
        lambda: filters.matern(0.0, 1.0),
        lambda: filters.low_pass(1.0, 0.0),
        lambda: filters.mexican_hat(0),
        lambda: filters.hammond([1.0, -1.0]),
        lambda: filters.heat([1.0, math.nan]),
    ):
        with pytest.raises(ParameterError):
            make()


def test_the_algebra_of_filters():
    x = np.linspace(0, 2, 9)
    f, g = filters.heat(1.0), filters.tikhonov(2.0)
    assert np.allclose((f + g)(x), f(x) + g(x))
    assert np.allclose((f * g)(x), f(x) * g(x))
    assert np.allclose((1 - 2 * f + g * 3)(x), 1 - 2 * f(x) + 3 * g(x))
    assert np.allclose((f - g)(x), f(x) - g(x))
    assert "heat" in repr(f + g)
    with pytest.raises(TypeError):
        f + "g"
