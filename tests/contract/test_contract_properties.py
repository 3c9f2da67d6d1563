"""What is true of e^{-sL} on every graph, whatever computes it."""

from __future__ import annotations

import numpy as np
import pytest
from dense_heat import SLACK, dense_heat
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.csgraph import connected_components

from graphheat.heat import HeatKernel

# Derandomised: the suite gives the same answer every time it runs.
search = settings(deadline=None, derandomize=True, max_examples=40)

times = st.floats(1e-3, 150.0)
tolerances = st.sampled_from([1e-3, 1e-5, 1e-6, 1e-8, 1e-10])


@st.composite
def graphs(draw):
    """Up to 40 nodes in random order: hubs, cliques and sparse parts, isolated nodes, loops."""
    sizes = draw(st.lists(st.integers(1, 12), min_size=1, max_size=4))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    span = draw(st.sampled_from([0.0, 1.0, 4.0]))  # decades that the weights cover, up and down
    n = sum(sizes) + draw(st.integers(0, 2))
    A, start = np.zeros((n, n)), 0
    for size in sizes:
        part = np.triu(random.random((size, size)) < draw(st.sampled_from([0.1, 0.3, 1.0])), 1)
        part[0, 1:] |= draw(st.booleans())
        part[np.diag_indices(size)] = random.random(size) < draw(st.sampled_from([0.0, 0.2]))
        A[start : start + size, start : start + size] = part
        start += size
    A *= 10.0 ** random.uniform(-span, span, A.shape)
    A = A + np.triu(A, 1).T
    order = random.permutation(n)
    return A[np.ix_(order, order)]


def whole(A, s, tol, engine, **options):
    """The kernel as a dense matrix through ``apply``, and its bound."""
    kernel = HeatKernel(A, s, tol=tol, engine=engine, **options)
    return kernel.apply(np.eye(len(A))), kernel.error_bound + SLACK


@search
@given(A=graphs(), s=times, tol=tolerances)
def test_errors_stay_within_the_promised_bounds(engine, A, s, tol):
    kernel, heat = HeatKernel(A, s, tol=tol, engine=engine), dense_heat(A, s)
    assert kernel.error_bound <= tol
    assert np.linalg.norm(kernel.apply(np.eye(len(A))) - heat, 2) <= kernel.error_bound + SLACK
    # In float32, where it is allowed, rounding depends on the signal.
    heated = heat / np.linalg.norm(heat, axis=0)
    X = np.column_stack([np.sqrt(A.sum(axis=1)), np.ones(len(A)), heated]).astype(np.float32)
    exact = X.astype(np.float64)
    error = np.linalg.norm(kernel.apply(X) - heat @ exact, axis=0)
    assert np.all(error <= (kernel.error_bound + SLACK) * np.linalg.norm(exact, axis=0))
    bound = kernel.plan(0).error_bound
    assert bound <= tol
    assert np.abs(kernel.matrix(0).toarray() - heat).max() <= bound + SLACK


@search
@given(A=graphs(), s=times, tol=tolerances)
def test_the_matrix_is_symmetric_and_not_negative(engine, A, s, tol):
    kernel = HeatKernel(A, s, tol=tol, engine=engine)
    M = kernel.matrix(0).toarray()
    assert np.array_equal(M, M.T)
    assert M.min() >= -(kernel.plan(0).error_bound + SLACK)


@search
@given(A=graphs(), s=times, tol=tolerances, isolated=st.sampled_from(["paper", "keep"]))
def test_heat_never_grows(engine, A, s, tol, isolated):
    H, bound = whole(A, s, tol, engine, isolated=isolated)
    assert np.linalg.norm(H, 2) <= 1 + bound


@search
@given(A=graphs(), s=times, t=times, tol=tolerances)
def test_two_times_in_a_row_are_their_sum(engine, A, s, t, tol):
    (first, a), (second, b), (both, c) = (whole(A, u, tol, engine) for u in (s, t, s + t))
    assert np.linalg.norm(first @ second - both, 2) <= a * (1 + b) + b + c


@search
@given(A=graphs())
def test_no_time_changes_nothing(engine, A):
    kernel = HeatKernel(A, 0, engine=engine)
    assert np.array_equal(kernel.apply(np.eye(len(A))), np.eye(len(A)))
    assert np.array_equal(kernel.matrix(0).toarray(), np.eye(len(A)))


@search
@given(A=graphs(), s=times, tol=tolerances)
def test_the_square_roots_of_the_degrees_stay(engine, A, s, tol):
    kernel, v = HeatKernel(A, s, tol=tol, engine=engine), np.sqrt(A.sum(axis=1))  # 0 if isolated
    difference = np.linalg.norm(kernel.apply(v) - v)
    assert difference <= (kernel.error_bound + SLACK) * np.linalg.norm(v)


@search
@given(A=graphs(), s=times, tol=tolerances, seed=st.integers(0, 99))
def test_the_order_of_the_nodes_does_not_matter(engine, A, s, tol, seed):
    order = np.random.default_rng(seed).permutation(len(A))
    H, bound = whole(A, s, tol, engine)
    P, _ = whole(A[np.ix_(order, order)], s, tol, engine)
    assert np.linalg.norm(P - H[np.ix_(order, order)], 2) <= 2 * bound


@search
@given(A=graphs(), s=times, tol=tolerances)
def test_no_heat_passes_between_components(engine, A, s, tol):
    kernel = HeatKernel(A, s, tol=tol, engine=engine)
    _, member = connected_components(A > 0, directed=False)
    apart = member[:, None] != member[None, :]
    # Exactly none along edges; eigenvectors of equal eigenvalues may mix components slightly.
    allowed = SLACK if engine == "reference" else 0.0
    assert np.abs(kernel.apply(np.eye(len(A)))[apart]).max(initial=0) <= allowed
    assert not np.any(kernel.matrix(1e-6).toarray()[apart])


@pytest.mark.parametrize("tol", [1e-3, 1e-5, 1e-6, 1e-8, 1e-10])
def test_the_bound_of_the_series_is_tight(tol):
    # The smoothest signal meets every term of the cut series with full weight.
    A = np.ones((5, 5)) - np.eye(5)
    kernel = HeatKernel(A, 3.5, tol=tol, engine="scipy")
    error = np.linalg.norm(kernel.apply(np.ones(5)) - 1) / np.sqrt(5)
    assert error >= 0.5 * kernel._series.truncation
