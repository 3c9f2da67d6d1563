"""Bad input to the heat kernel: one sentence that names the parameter and the value."""

from __future__ import annotations

import math
import re
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp

from graphheat.errors import GraphError, GraphHeatError, KernelMemoryError, ParameterError
from graphheat.heat import HeatKernel
from graphheat.heat import kernel as kernel_module
from graphheat.heat.engines import strips
from graphheat.heat.operand import SAMPLE

RING = np.roll(np.eye(12), 1, axis=0) + np.roll(np.eye(12), -1, axis=0)


def says(parameter, value):
    """A pattern for the house's sentence on parameters."""
    return rf"The '{parameter}' parameter of \w.* must be .*Got {re.escape(repr(value))} instead\.$"


@pytest.mark.parametrize(
    "s",
    [
        -1,
        -1e-9,
        math.nan,
        math.inf,
        -math.inf,
        1e7,
        pytest.param(10**400, id="1e400"),
        "a",
        "1",
        True,
        None,
        [1, 2],
    ],
)
def test_s_is_a_number_from_0_to_a_million(s):
    with pytest.raises(ParameterError, match=says("s", s)):
        HeatKernel(RING, s)
    with pytest.raises(ParameterError, match=says("s", s)):
        HeatKernel(RING, 1).sweep(np.ones(12), [1, s])


@pytest.mark.parametrize("eps", [-0.1, 1, 1.5, math.nan, "a", True])
def test_eps_is_a_number_from_0_to_below_1(eps):
    kernel = HeatKernel(RING, 1)
    for call in (kernel.matrix, kernel.plan, lambda eps: kernel.row(0, eps)):
        with pytest.raises(ParameterError, match=says("eps", eps)):
            call(eps)


@pytest.mark.parametrize("tol", [0, -1e-6, 1, math.nan, "a", True])
def test_tol_is_a_number_between_0_and_1(tol):
    with pytest.raises(ParameterError, match=says("tol", tol)):
        HeatKernel(RING, 1, tol=tol)


@pytest.mark.parametrize("tol", [1e-17, 1e-30, 1e-308, 5e-324])
def test_tol_below_the_limit_of_float64_names_the_limit(tol):
    kernel = HeatKernel(RING, 1, tol=tol)
    with pytest.raises(ParameterError, match=rf"'tol'.* at least [0-9.e-]+ .*Got {tol:g} instead"):
        kernel.apply(np.ones(12))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("self_loops", -1.0),
        ("self_loops", math.inf),
        ("isolated", "drop"),
        ("engine", "magic"),
        ("threads", 0),
        ("threads", 1.5),
        ("threads", True),
    ],
)
def test_options_are_checked(name, value):
    with pytest.raises(ParameterError, match=says(name, value)):
        HeatKernel(RING, 1, **{name: value})


@pytest.mark.parametrize("shape", [(11,), (13, 2), (1, 12), (12, 2, 2), ()])
def test_signals_have_one_row_a_node(shape):
    kernel = HeatKernel(RING, 1)
    with pytest.raises(
        ParameterError, match=rf"X must have shape \(12,\).*{re.escape(str(shape))}"
    ):
        kernel.apply(np.ones(shape))


@pytest.mark.parametrize("bad", [math.nan, math.inf])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_signals_are_finite(bad, form):
    X = np.ones((12, 2))
    X[3, 1] = bad
    with pytest.raises(ParameterError, match="X must be finite"):
        HeatKernel(RING, 1).apply(form(X))


@pytest.mark.parametrize(
    "X", [np.array(["a"] * 12), np.ones(12) * 1j, sp.csr_array(np.ones((12, 2)) * 1j), [None] * 12]
)
def test_signals_are_real_numbers(X):
    with pytest.raises(ParameterError, match="X must hold real numbers; got"):
        HeatKernel(RING, 1).apply(X)


def test_signals_may_be_integers_booleans_lists_or_have_no_column():
    kernel = HeatKernel(RING, 1)
    ones = kernel.apply(np.ones(12))
    for X in (np.ones(12, dtype=int), np.ones(12, dtype=bool), [1] * 12, sp.coo_array(np.ones(12))):
        assert np.array_equal(kernel.apply(X), ones)
    assert kernel.apply(np.empty((12, 0))).shape == (12, 0)


@pytest.mark.parametrize("rows", [[12], [-1], [0, 99]])
def test_rows_are_in_range(rows):
    wrong = next(row for row in rows if not 0 <= row < 12)
    with pytest.raises(ParameterError, match=rf"'indices'.*\[0, 12\)\. Got {wrong} instead"):
        HeatKernel(RING, 1).rows(rows)


@pytest.mark.parametrize("rows", [[0.5], ["a"], [[0, 1]], [True]])
def test_rows_are_row_numbers(rows):
    with pytest.raises(ParameterError, match=r"'indices'.*must be row numbers"):
        HeatKernel(RING, 1).rows(rows)


def test_no_rows_are_an_empty_matrix():
    assert HeatKernel(RING, 1).rows([]).shape == (0, 12)


def test_a_sweep_needs_a_time():
    with pytest.raises(ParameterError, match=r"'s_values'.*must not be empty"):
        HeatKernel(RING, 1).sweep(np.ones(12), [])


def test_matrices_are_checked_like_graphs():
    with pytest.raises(GraphError, match=r"symmetric; 1 of 1 entries differ \(first at \(0, 1\)\)"):
        HeatKernel(np.array([[0.0, 1.0], [0.0, 0.0]]), 1)
    with pytest.raises(GraphError, match="non-negative"):
        HeatKernel(-RING, 1)


def test_errors_are_also_what_a_caller_expects():
    with pytest.raises(ValueError, match="'s'"):
        HeatKernel(RING, -1)
    with pytest.raises(GraphHeatError, match="'s'"):
        HeatKernel(RING, -1)


def test_a_kernel_that_does_not_fit_is_refused_with_its_plan(monkeypatch):
    kernel = HeatKernel(sp.block_array([[RING, None], [None, sp.csr_array((500, 500))]]), 1)
    plan, sampled, seen = kernel.plan(1e-3), [], []
    unit_columns = strips.unit_columns

    def count(n, indices, dtype):
        sampled.extend(indices)
        return unit_columns(n, indices, dtype)

    monkeypatch.setattr(kernel_module, "available_memory", lambda: 1000)
    monkeypatch.setattr(strips, "unit_columns", count)
    with pytest.raises(KernelMemoryError, match=re.escape(str(plan))) as error:
        kernel.matrix(1e-3, progress=lambda *at: seen.append(at))
    assert "Raise eps" in str(error.value)
    assert "HeatKernel.apply" in str(error.value)
    assert isinstance(error.value, MemoryError)
    assert not seen
    assert len(sampled) <= SAMPLE  # the plan's sample, not the matrix


@pytest.mark.parametrize("room", [None, 10**12])
def test_a_kernel_that_fits_or_may_is_computed(monkeypatch, room):
    monkeypatch.setattr(kernel_module, "available_memory", lambda: room)
    assert HeatKernel(RING, 1).matrix(1e-3).nnz > 0


def test_heat_does_without_torch():
    code = "import sys, graphheat.heat; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_million_is_a_valid_time_on_any_small_graph():
    for A in (RING, np.zeros((1, 1)), np.ones((4, 4))):
        kernel = HeatKernel(A, 1e6)
        v = np.sqrt(A.sum(axis=1))
        assert kernel.error_bound <= kernel.tol
        assert np.linalg.norm(kernel.apply(v) - v) <= kernel.tol * np.linalg.norm(v)


@pytest.mark.parametrize("engine", ["scipy", "numba", "reference", "auto"])
def test_a_sweep_of_chosen_rows_is_those_rows_of_the_sweep(engine):
    ring = np.roll(np.eye(9), 1, axis=0) + np.roll(np.eye(9), -1, axis=0)
    X, rows = np.random.default_rng(0).normal(size=(9, 5)), [7, 0, 7]
    heat = HeatKernel(ring, 0.0, engine=engine)
    whole = heat.sweep(X, [0.0, 2.0])
    np.testing.assert_allclose(heat.sweep(X, [0.0, 2.0], rows=rows), whole[:, rows], atol=1e-6)
    assert heat.sweep(X[:, 0], [2.0], rows=rows).shape == (1, 3)
    with pytest.raises(ParameterError, match="indices"):
        heat.sweep(X, [2.0], rows=[9])
