"""One contract for every engine, against expm of the dense definition."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
import scipy.sparse as sp
from dense_heat import SLACK, dense_heat

from graphheat.heat import HeatKernel

TIMES = (0, 0.1, 1, 3.5, 30, 200)
TOLERANCES = (1e-3, 1e-6, 1e-9)


def symmetric(upper):
    return upper + np.triu(upper, 1).T


def path(n):
    return symmetric(np.diag(np.ones(n - 1), 1))


def ring(n):
    return np.roll(np.eye(n), 1, axis=0) + np.roll(np.eye(n), -1, axis=0)


def bipartite(a, b):
    A = np.zeros((a + b, a + b))
    A[:a, a:] = 1
    return symmetric(A)


def complete(n):
    return np.ones((n, n)) - np.eye(n)


def barbell(n, between):
    A = path(2 * n + between)
    A[:n, :n] = A[-n:, -n:] = complete(n)
    return A


def scattered():
    """Components of several kinds, two isolated nodes, self-loops, one of them on a lone node."""
    parts = [path(4), np.zeros((1, 1)), complete(5), np.ones((1, 1)), bipartite(1, 40)]
    A = sp.block_diag([*parts, np.zeros((1, 1))]).toarray()
    A[2, 2] = 3.0
    order = np.random.default_rng(0).permutation(len(A))
    return A[np.ix_(order, order)]


def decades(n):
    random = np.random.default_rng(1)
    weight = 10.0 ** random.uniform(-4, 4, (n, n))
    return symmetric(np.triu(np.where(random.random((n, n)) < 0.1, weight, 0.0)))


GRAPHS = {
    "path": path(70),
    "ring": ring(33),
    "star": bipartite(1, 299),
    "complete": complete(60),
    "bipartite": bipartite(5, 200),
    "barbell": barbell(20, 10),
    "scattered": scattered(),
    "decades": decades(80),
    "one node": np.zeros((1, 1)),
    "an edge and a node": symmetric(np.diag([2.0, 0.0], 1)),
}


@cache
def exact(name, s, **options):
    heat = dense_heat(GRAPHS[name], s, **options)
    heat.flags.writeable = False
    return heat


def signals(name):
    """Constant, smoothest and random columns, more of them than one block holds; shape (n, 40)."""
    A = GRAPHS[name]
    noise = np.random.default_rng(2).standard_normal((len(A), 38))
    return np.column_stack([np.ones(len(A)), np.sqrt(A.sum(axis=1)) + 1e-3, noise])


def assert_promise_kept(kernel, result, X, heat):
    assert kernel.error_bound <= kernel.tol
    error = np.linalg.norm(result - heat @ X, axis=0)
    assert np.all(error <= (kernel.error_bound + SLACK) * np.linalg.norm(X, axis=0))


# Every graph at every time.
each = pytest.mark.parametrize(("name", "s"), [(name, s) for name in GRAPHS for s in TIMES])


@each
def test_apply_keeps_its_promise(engine, name, s):
    X = signals(name)
    for tol in TOLERANCES:
        kernel = HeatKernel(GRAPHS[name], s, tol=tol, engine=engine)
        result = kernel.apply(X)
        assert result.dtype == np.float64
        assert_promise_kept(kernel, result, X, exact(name, s))


@each
def test_apply_takes_every_form_of_signal(engine, name, s):
    X, heat = signals(name), exact(name, s)
    sparse = sp.csr_array(sp.random_array(X.shape, density=0.3, rng=np.random.default_rng(3)))
    for tol in TOLERANCES:
        kernel = HeatKernel(GRAPHS[name], s, tol=tol, engine=engine)
        one = kernel.apply(X[:, 0])
        assert one.shape == (len(X),)
        assert_promise_kept(kernel, one, X[:, 0], heat)
        single = X.astype(np.float32)
        assert_promise_kept(kernel, kernel.apply(single), single.astype(np.float64), heat)
        assert_promise_kept(kernel, kernel.apply(sparse), sparse.toarray(), heat)


@each
@pytest.mark.parametrize("eps", [1e-2, 1e-4])
def test_matrix_keeps_what_reaches_eps_and_nothing_else(engine, name, s, eps):
    kernel = HeatKernel(GRAPHS[name], s, engine=engine)
    M, heat, tol = kernel.matrix(eps), exact(name, s), min(kernel.tol, eps / 10)
    dense = M.toarray().astype(np.float64)
    kept = dense != 0
    assert M.has_canonical_format
    assert np.array_equal(dense, dense.T)
    assert kept.sum() == M.nnz
    assert np.all(dense[kept] >= eps)
    assert np.all(kept[heat >= eps + tol])
    assert kernel.plan(eps).error_bound <= tol
    assert np.all(np.abs(dense - heat)[kept] <= kernel.plan(eps).error_bound + SLACK)


@each
def test_matrix_without_threshold_is_the_kernel(engine, name, s):
    for tol in (1e-5, 1e-6, 1e-9):
        kernel = HeatKernel(GRAPHS[name], s, tol=tol, engine=engine)
        dense = kernel.matrix(0).toarray().astype(np.float64)
        assert np.array_equal(dense, dense.T)
        bound = kernel.plan(0).error_bound
        assert bound <= tol
        assert np.abs(dense - exact(name, s)).max() <= bound + SLACK


@each
def test_rows_are_rows_of_the_matrix(engine, name, s):
    n, eps = len(GRAPHS[name]), 1e-3
    kernel = HeatKernel(GRAPHS[name], s, engine=engine)
    indices = np.random.default_rng(4).integers(0, n, 7)  # in any order, also twice
    rows, M = kernel.rows(indices, eps).toarray(), kernel.matrix(eps).toarray()[indices]
    both = (rows > 0) & (M > 0)
    one = (rows > 0) ^ (M > 0)
    assert rows.shape == (7, n)
    assert np.abs(rows - M)[both].max(initial=0) <= 2 * kernel.tol
    assert np.maximum(rows, M)[one].max(initial=0) <= eps + 2 * kernel.tol
    alone = kernel.row(int(indices[0]), eps)
    assert alone.shape == (1, n)
    assert np.abs(alone.toarray() - kernel.rows(indices[:1], eps).toarray()).max() == 0


@pytest.mark.parametrize("name", GRAPHS)
def test_sweep_is_many_applies(engine, name):
    X = signals(name)
    kernel = HeatKernel(GRAPHS[name], 1.0, engine=engine)
    for signal in (X, X[:, 0], sp.csr_array(X)):
        together = kernel.sweep(signal, TIMES)
        assert together.shape == (len(TIMES), *signal.shape)
        for s, result in zip(TIMES, together, strict=True):
            alone = HeatKernel(GRAPHS[name], s, engine=engine)
            dense = X if sp.issparse(signal) else signal
            assert_promise_kept(alone, result, dense, exact(name, s))
            room = 2 * alone.error_bound * np.linalg.norm(dense, axis=0) + SLACK
            assert np.all(np.linalg.norm(result - alone.apply(signal), axis=0) <= room)


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("s", [1, 30])
def test_results_repeat_to_the_bit_for_any_number_of_threads(engine, name, s):
    def everything(threads):
        kernel = HeatKernel(GRAPHS[name], s, engine=engine, threads=threads)
        X = signals(name)
        single = X.astype(np.float32)
        M, rows = kernel.matrix(1e-4), kernel.rows(np.arange(len(X)), 1e-4)
        return [
            kernel.apply(X),
            kernel.apply(single),
            kernel.sweep(X, [0.5, s]),
            *(M.indptr, M.indices, M.data),
            *(rows.indptr, rows.indices, rows.data),
        ]

    first = everything(1)
    for threads in (1, 2):
        for a, b in zip(first, everything(threads), strict=True):
            assert a.dtype == b.dtype
            assert np.array_equal(a, b)


@pytest.mark.parametrize("name", ["scattered", "decades", "one node", "an edge and a node"])
@pytest.mark.parametrize(
    "options", [{"isolated": "keep"}, {"self_loops": 1.0}, {"self_loops": 0.01}]
)
@pytest.mark.parametrize("s", [0, 1, 30])
def test_conventions_are_those_of_the_definition(engine, name, options, s):
    kernel = HeatKernel(GRAPHS[name], s, engine=engine, **options)
    X, heat = signals(name), exact(name, s, **options)
    assert_promise_kept(kernel, kernel.apply(X), X, heat)
    assert np.abs(kernel.matrix(0).toarray() - heat).max() <= kernel.plan(0).error_bound + SLACK


@pytest.mark.parametrize(("isolated", "kept"), [("paper", np.exp(-2.0)), ("keep", 1.0)])
def test_an_isolated_node_keeps_what_the_convention_says(engine, isolated, kept):
    A = GRAPHS["an edge and a node"]
    heat = HeatKernel(A, 2.0, engine=engine, isolated=isolated).apply(np.eye(3))
    assert heat[2] == pytest.approx([0, 0, kept], abs=1e-6)


def test_no_time_is_the_identity_exactly(engine):
    kernel = HeatKernel(GRAPHS["decades"], 0, engine=engine)
    X = signals("decades")
    assert (kernel.order, kernel.error_bound) == (0, 0.0)
    assert np.array_equal(kernel.apply(X), X)
    assert np.array_equal(kernel.matrix(0.5).toarray(), np.eye(len(X)))
    assert np.array_equal(kernel.rows([3, 1]).toarray(), np.eye(len(X))[[3, 1]])


def test_progress_counts_the_rows(engine):
    seen = []
    HeatKernel(path(70), 1, engine=engine).matrix(1e-3, progress=lambda *at: seen.append(at))
    assert [done for done, _, _ in seen] == sorted({done for done, _, _ in seen})
    assert seen[-1] == (70, 70, "rows")


def test_the_plan_of_a_small_graph_counts_its_entries(engine):
    kernel = HeatKernel(ring(33), 3.5, engine=engine)
    plan = kernel.plan(1e-3)
    assert plan.engine == engine
    assert plan.entries == kernel.matrix(1e-3).nnz
    assert plan.as_dict()["order"] == plan.order
    assert str(plan.order) in str(plan)


def test_a_star_beside_much_else_keeps_its_promise(engine):
    # Rounding is worst on stars, and a graph's average hides them.
    A = sp.block_diag([complete(150), path(300), bipartite(1, 120), bipartite(1, 150)]).toarray()
    star = np.zeros(len(A))
    star[-151:] = np.sqrt(A.sum(axis=1))[-151:]
    for s in (1, 3.5, 10):
        heat = dense_heat(A, s)
        for tol in (1e-4, 1e-5, 1e-6):
            kernel = HeatKernel(A, s, tol=tol, engine=engine)
            X = np.outer(star, np.linspace(0.5, 1, 8)).astype(np.float32)
            assert_promise_kept(kernel, kernel.apply(X), X.astype(np.float64), heat)
            hubs = [450, 571]
            rows = kernel.rows(hubs).toarray().astype(np.float64)
            assert np.abs(rows - heat[hubs]).max() <= kernel.plan(0).error_bound + SLACK
