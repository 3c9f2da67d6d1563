"""Slices: one signal at a time, in any order of rows, within the bound of what is kept of it."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp

from graphheat.heat.engines.scipy import ScipyEngine
from graphheat.heat.engines.sliced import sliced
from graphheat.heat.engines.sliced.slices import slices_of
from graphheat.heat.operand import Operand
from graphheat.heat.series import DOUBLE, SINGLE, ChebyshevSeries, heat_series, stored_rounding


def _operand(n: int = 700, *, weighted: bool = False, **how) -> Operand:
    random = np.random.default_rng(0)
    ends = random.integers(0, n - 3, (2, 4 * n))  # the last three nodes stay alone
    ends[0, :100] = 0  # a hub
    values = random.random(4 * n) + 0.1 if weighted else np.ones(4 * n)
    half = sp.coo_array((values, ends), shape=(n, n)).tocsr()
    whole = sp.csr_array(half + half.T)
    if not weighted:
        whole.data[:] = 1
    return Operand.of_graph(whole, **how)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("how", [{}, {"self_loops": 1.0}, {"isolated": "keep"}])
def test_float64_is_that_of_scipy_to_its_rounding(weighted, how):
    operand = _operand(weighted=weighted, **how)
    series = [heat_series(s, 1e-10, operand.longest_row) for s in (4.0, 0.0, 1.0)]
    X = np.random.default_rng(1).standard_normal((operand.n, 3))
    found = sliced.SlicedEngine().apply(operand, X, series)
    for one, other in zip(found, ScipyEngine().apply(operand, X, series), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-14)


@pytest.mark.parametrize("size", [1e-300, 1.0, 1e300])
def test_kept_in_float32_it_stays_within_the_bound(size):
    operand = _operand()
    series = heat_series(3.5, 1e-6, operand.longest_row)
    assert (series.dtype, series.stored) == (DOUBLE, SINGLE)
    assert series.error_bound <= 1e-6
    X = size * np.random.default_rng(1).standard_normal((operand.n, 3))
    X[:, 2] = 0
    exact = ScipyEngine().apply(operand, X, [heat_series(3.5, 1e-12, operand.longest_row)])[0]
    error = np.linalg.norm((sliced.SlicedEngine().apply(operand, X, [series])[0] - exact) / size,
                           axis=0)  # fmt: skip
    assert np.all(error <= series.error_bound * np.linalg.norm(X / size, axis=0))
    assert error[2] == 0


def test_what_float32_costs_is_bounded_for_any_series():
    # A smooth signal on a star with steep series: the rounding of every step adds up.
    n = 400
    half = sp.coo_array((np.ones(n - 1), (np.zeros(n - 1, int), np.arange(1, n))), shape=(n, n))
    operand = Operand.of_graph(sp.csr_array(half + half.T))
    x = operand.smoothest[:, None] / np.linalg.norm(operand.smoothest)
    for order in (1, 4, 7, 40, 200):
        c = np.zeros(order + 1)
        c[-1] = 1.0
        single = ChebyshevSeries(c, DOUBLE, stored=SINGLE)
        found = sliced.SlicedEngine().apply(operand, x, [single])[0]
        exact = sliced.SlicedEngine().apply(operand, x, [ChebyshevSeries(c, DOUBLE)])[0]
        assert np.linalg.norm(found - exact) <= stored_rounding(c) + 1e-12


def test_threads_change_no_bit(monkeypatch):
    operand = _operand(weighted=True)
    series = [heat_series(s, 1e-6, operand.longest_row) for s in (4.0, 1.0)]
    X = np.random.default_rng(1).standard_normal((operand.n, 2))
    one = sliced.SlicedEngine().apply(operand, X, series, threads=1)
    monkeypatch.setattr(sliced, "THREADED", 1)
    assert np.array_equal(sliced.SlicedEngine().apply(operand, X, series, threads=2), one)
    rows = np.array([5, 0])
    some = sliced.SlicedEngine().apply(operand, X, series, rows=rows, threads=3)
    assert np.array_equal(some, one[:, rows])


def test_slices_hold_every_entry_once():
    operand = _operand(weighted=True)
    slices = slices_of(operand)
    assert np.array_equal(slices.order[slices.place], np.arange(operand.n))
    assert np.count_nonzero(slices.arrays.weights) == operand.S.nnz
    assert len(slices.arrays.columns) <= 1.5 * operand.S.nnz
    bounds = slices.bounds(3)
    assert bounds[0][0] == 0 and bounds[-1][1] == len(slices.arrays.starts) - 1
    assert all(a[1] == b[0] for a, b in pairwise(bounds))
