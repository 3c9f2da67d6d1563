"""Laplacians as operands: S = I − (2 / b) L, and b bounds the spectrum."""

from __future__ import annotations

from typing import get_args

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from graphheat.errors import GraphError
from graphheat.heat import engines
from graphheat.heat.laplacian import Laplacian, LaplacianKind
from graphheat.heat.operand import Operand
from graphheat.heat.series import DOUBLE, ChebyshevSeries

KINDS = get_args(LaplacianKind)


def random_graph(n, seed, *, ones=False):
    random = np.random.default_rng(seed)
    A = np.triu(random.random((n, n)) < random.choice([0.1, 0.3]))  # with loops
    A = A * (1.0 if ones else 10.0 ** random.uniform(-2, 2, A.shape))
    A[:, -1] = A[-1] = 0  # an isolated node
    return A + np.triu(A, 1).T


def dense_laplacian(A, kind, self_loops=0.0, isolated="paper"):
    A = A + self_loops * np.eye(len(A))
    degrees = A.sum(axis=1)
    if kind == "combinatorial":
        return np.diag(degrees) - A
    if kind == "signless":
        return np.diag(degrees) + A
    roots = np.sqrt(np.where(degrees > 0, degrees, 1.0))
    S = A / roots / roots[:, None]
    if isolated == "keep":
        S[degrees == 0, degrees == 0] = 1.0
    return np.eye(len(A)) + (S if kind == "normalized_signless" else -S)


def largest_eigenvalue(L):
    """Return it by a Rayleigh quotient: LAPACK's may be off by eight units in the last place."""
    v = np.linalg.eigh(L)[1][:, -1].astype(np.longdouble)
    return float(v @ (L.astype(np.longdouble) @ v) / (v @ v))


@settings(deadline=None, derandomize=True, max_examples=30)
@given(seed=st.integers(0, 10**6), ones=st.booleans(), loops=st.sampled_from([0.0, 0.5]))
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("isolated", ["paper", "keep"])
def test_s_is_the_laplacian_brought_to_one(kind, isolated, seed, ones, loops):
    A = random_graph(13, seed, ones=ones)
    operand = Operand.of_laplacian(sp.csr_array(A), Laplacian(kind, loops, isolated))
    L = dense_laplacian(A, kind, loops, isolated)
    assert largest_eigenvalue(L) <= operand.lmax * (1 + 1e-15)
    degrees = A.sum(axis=1) + loops
    assert operand.lmax <= max(2.0, 2.0001 * degrees.max())
    assert np.allclose(operand.S.toarray(), np.eye(13) - 2 / operand.lmax * L, atol=1e-13)
    assert np.linalg.norm(np.abs(operand.S.toarray()), 2) <= operand.absolute_norm + 1e-12


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("ones", [True, False])
@pytest.mark.parametrize("name", engines.names())
def test_every_engine_takes_every_laplacian(name, kind, ones):
    A = random_graph(17, 3, ones=ones)
    for laplacian in (Laplacian(kind), Laplacian(kind, 0.5), Laplacian(kind, 0.0, "keep")):
        operand = Operand.of_laplacian(sp.csr_array(A), laplacian)
        cube = ChebyshevSeries(np.array([0.0, 0.75, 0.0, 0.25]), DOUBLE)
        chooser = engines.chooser_of(name, "test")
        engine = chooser.choose(operand, engines.Request("signals", (cube,), 17)).engine
        found = engine.apply(operand, np.eye(17), [cube])[0]
        S = operand.S.toarray()
        assert np.allclose(found, S @ S @ S, atol=1e-12)


def test_the_bound_is_near_the_eigenvalue():
    star = np.zeros((50, 50))
    star[0, 1:] = star[1:, 0] = 1
    bound = Operand.of_laplacian(sp.csr_array(star), Laplacian("combinatorial")).lmax
    assert 50 <= bound <= 51  # twice the largest degree would be 98


def test_a_graph_without_edges_and_one_too_heavy():
    empty = sp.csr_array((3, 3))
    assert Operand.of_laplacian(empty, Laplacian("combinatorial")).lmax == 1.0
    heavy = sp.csr_array([[0, 1.2e308], [1.2e308, 0]])
    with pytest.raises(GraphError, match="too large"):
        Operand.of_laplacian(heavy, Laplacian("combinatorial"))
