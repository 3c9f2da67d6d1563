"""Every filter × Laplacian × engine against dense eigenvectors, on random weighted graphs."""

from __future__ import annotations

import numpy as np
import pytest
from contract_filters import FILTERS, KINDS, random_graph, weighted_norm
from dense_filter import SLACK, dense_filter, dense_laplacian

from graphheat import FilterBank, GraphFilter, filters


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", FILTERS)
def test_filters_keep_their_promise(engine, name, kind):
    f = FILTERS[name]
    for seed, tol, how in ((0, 1e-6, {}), (1, 1e-3, {"self_loops": 0.5}), (2, 1e-9, {})):
        if name == "measured" and tol < 1e-6:
            continue
        A = random_graph(seed)
        H = GraphFilter(A, f, laplacian=kind, tol=tol, engine=engine, **how)
        exact, (L, roots) = dense_filter(A, f, kind, **how), dense_laplacian(A, kind, **how)
        assert H.error_bound <= tol
        assert H.bound == ("measured" if name == "measured" else "proven")
        assert np.linalg.eigvalsh(L)[-1] <= H.lmax * (1 + 1e-14)
        X = np.random.default_rng(3).standard_normal((len(A), 7))
        slack = H.error_bound + SLACK * max(1.0, np.abs(f(np.linspace(0, H.lmax, 99))).max())
        for signal in (X, X.astype(np.float32)):
            plain = signal.astype(np.float64)
            error = weighted_norm(H @ signal - exact @ plain, roots, kind)
            assert np.all(
                error <= (slack + 2e-7 * (signal is not X)) * weighted_norm(plain, roots, kind)
            )
        # Entries, also negative ones, by absolute value.
        ratio = roots / roots[:, None] if kind == "random_walk" else np.ones_like(exact)
        slack += tol - H.error_bound  # entries of heat may be float32 where signals are not
        rows = H.rows([5, 0, 23]).toarray()
        assert np.all(np.abs(rows - exact[[5, 0, 23]]) <= slack * ratio[[5, 0, 23]])
        eps = 1e-2
        M = H.matrix(eps).toarray()
        kept = M != 0
        assert np.all(np.abs(M[kept]) >= eps * (1 - 1e-6))
        assert np.all(kept[np.abs(exact) >= eps + 2 * slack * ratio])
        assert np.all(np.abs(M - exact)[kept] <= (slack + 1e-7) * ratio[kept])
        assert np.all(np.abs(H.diagonal([0, 7]) - np.diag(exact)[[0, 7]]) <= slack)


@pytest.mark.parametrize("kind", KINDS)
def test_a_bank_is_its_filters(engine, kind):
    A = random_graph(4)
    X = np.random.default_rng(0).standard_normal((len(A), 3))
    for bank, tol in ((filters.mexican_hat(3), 1e-6), (filters.hammond(2), 1e-2)):
        found = FilterBank(A, bank, laplacian=kind, tol=tol, engine=engine)
        roots = dense_laplacian(A, kind)[1]
        for one, result in zip(found.filters, found @ X, strict=True):
            error = weighted_norm(result - dense_filter(A, one, kind) @ X, roots, kind)
            assert np.all(error <= (found.error_bound + SLACK) * weighted_norm(X, roots, kind))


@pytest.mark.parametrize("kind", KINDS)
def test_times_by_node_are_rows_of_their_heats(engine, kind):
    A = random_graph(5)
    times = np.random.default_rng(1).uniform(0.1, 3.0, len(A))
    H = GraphFilter(A, filters.heat(times), laplacian=kind, engine=engine)
    heats = [dense_filter(A, filters.heat(float(s)), kind)[i] for i, s in enumerate(times)]
    exact, roots = np.array(heats), dense_laplacian(A, kind)[1]
    ratio = roots / roots[:, None] if kind == "random_walk" else np.ones_like(exact)
    assert H.error_bound <= H.tol
    assert np.all(np.abs(H @ np.eye(len(A)) - exact) <= (H.error_bound + SLACK) * ratio)
    back = H.T @ np.eye(len(A))
    assert np.all(np.abs(back - exact.T) <= (H.error_bound + SLACK) * ratio.T)
    assert np.allclose(H.diagonal(), np.diag(exact), atol=H.tol)
    assert np.all(np.abs(H.rows([3, 1]).toarray() - exact[[3, 1]]) <= H.tol * ratio[[3, 1]])


def test_heat_is_the_heat_kernel_to_the_bit(engine):
    from graphheat import HeatKernel

    A = random_graph(6)
    X = np.random.default_rng(0).standard_normal((len(A), 9))
    kernel, H = HeatKernel(A, 3.5, engine=engine), GraphFilter(A, filters.heat(3.5), engine=engine)
    assert np.array_equal(kernel.apply(X), H @ X)
    assert np.array_equal(kernel.matrix(1e-3).toarray(), H.matrix(1e-3).toarray())
    assert np.array_equal(kernel.rows([2], 1e-3).toarray(), H.rows([2], 1e-3).toarray())


def test_filters_repeat_to_the_bit_for_any_number_of_threads(engine):
    A = random_graph(7)
    X = np.random.default_rng(0).standard_normal((len(A), 40))
    one, two = (
        GraphFilter(
            A, filters.matern(1.5, 2.0), laplacian="combinatorial", engine=engine, threads=t
        )
        for t in (1, 2)
    )
    assert np.array_equal(one @ X, two @ X)
    assert np.array_equal(one.matrix(1e-3).toarray(), two.matrix(1e-3).toarray())
