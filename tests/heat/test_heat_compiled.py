"""The numba engine against the scipy engine and the dense definition, on every kind of graph."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp

from graphheat.datasets import load
from graphheat.heat import HeatKernel, normalized_adjacency
from graphheat.heat.engines.auto import NUMBA, SCIPY
from graphheat.heat.engines.numba import compiled
from graphheat.heat.engines.numba.ordering import order
from graphheat.heat.engines.strips import unit_columns
from graphheat.heat.operand import Operand
from graphheat.heat.series import ChebyshevSeries, heat_series

numba = pytest.importorskip("numba")

DTYPES = (np.dtype(np.float32), np.dtype(np.float64))
UNIT = {np.dtype(np.float32): 2.0**-24, np.dtype(np.float64): 2.0**-53}
each_dtype = pytest.mark.parametrize("dtype", DTYPES, ids=str)


def symmetric(upper):
    upper = np.triu(upper, 1)
    return upper + upper.T


def star(leaves):
    A = np.zeros((leaves + 1, leaves + 1))
    A[0, 1:] = 1
    return symmetric(A)


def path(n):
    return symmetric(np.diag(np.ones(n - 1), 1))


def weighted(n, density, seed):
    """Random weights, some components, some isolated nodes, a self-loop, in random order."""
    random = np.random.default_rng(seed)
    A = symmetric(np.where(random.random((n, n)) < density, random.uniform(0.1, 3, (n, n)), 0))
    parts = [A, path(9), star(11), np.zeros((3, 3)), np.ones((1, 1)), path(2)]
    A = sp.block_diag(parts).toarray()
    order = random.permutation(len(A))
    return A[np.ix_(order, order)]


GRAPHS = {
    "weighted": weighted(150, 0.03, 0),
    "dense": weighted(70, 0.5, 1),
    "star": star(299),
    "path": path(100),
    "complete": np.ones((45, 45)) - np.eye(45),
    "complete with loops": np.ones((40, 40)),
    "bipartite": symmetric(np.kron([[0, 1], [0, 0]], np.ones((37, 37)))),
    "no edges": np.zeros((20, 20)),
    "one node": np.zeros((1, 1)),
    "one node with a loop": np.ones((1, 1)),
    "pair": path(2),
}
each_graph = pytest.mark.parametrize("name", GRAPHS)


def matrix_of(name, dtype):
    return normalized_adjacency(sp.csr_array(GRAPHS[name])).astype(dtype)


@cache
def exact_heat(name, s):
    S = matrix_of(name, DTYPES[1]).toarray()
    return scipy.linalg.expm(-s * (np.eye(len(S)) - S))


def series_of(s, dtype, tol=1e-9):
    return replace(heat_series(s, tol, 1), dtype=dtype)


def by_scipy(S, X, series):
    return SCIPY.apply(Operand(S), X, series)


def slack(S, e):
    """What rounding may cost either way, for entries of size 1 and signals as large as √n."""
    longest = np.diff(S.indptr).max(initial=0) + 5
    return 4 * UNIT[np.dtype(S.dtype)] * longest * (e.s + 2 * np.sqrt(e.s) + 2)


# ---------------------------------------------------------------------- diffuse


@each_graph
@each_dtype
def test_diffuse_is_that_of_the_scipy_engine(name, dtype):
    S = matrix_of(name, dtype)
    for c in (1, 3, 8, 16, 17, 33, 100):
        X = np.random.default_rng(c).uniform(-1, 1, (S.shape[0], c)).astype(dtype)
        e = series_of(3.0, dtype)
        (result,) = compiled.diffuse(S, X, [e])
        (expected,) = by_scipy(S, X, [e])
        assert result.shape == X.shape
        assert result.dtype == dtype
        assert np.abs(result - expected).max() <= slack(S, e) * np.sqrt(S.shape[0])


@each_dtype
def test_a_sweep_is_each_of_its_times(dtype):
    S = matrix_of("weighted", dtype)
    X = np.random.default_rng(0).random((S.shape[0], 50)).astype(dtype)
    several = [series_of(s, dtype) for s in (2.0, 0.0, 7.5, 0.1)]
    results = compiled.diffuse(S, X, several)
    for e, result in zip(several, results, strict=True):
        np.testing.assert_array_equal(result, compiled.diffuse(S, X, [e])[0])
        assert np.abs(result - by_scipy(S, X, [e])[0]).max() <= 20 * slack(S, e)
    np.testing.assert_array_equal(results[1], X)  # s = 0


def test_orders_0_and_1():
    S = matrix_of("weighted", DTYPES[1])
    X = np.random.default_rng(0).random((S.shape[0], 5))
    for coefficients in ([0.25], [0.5, 0.25]):
        e = ChebyshevSeries(np.array(coefficients), DTYPES[1])
        polynomial = coefficients[0] * np.eye(S.shape[0])
        polynomial += sum(c * S.toarray() for c in coefficients[1:])
        np.testing.assert_allclose(compiled.diffuse(S, X, [e])[0], polynomial @ X, atol=1e-14)
        H = compiled.matrix(S, e, 0.0)
        np.testing.assert_allclose(H.toarray(), polynomial, atol=1e-14)


def test_diffuse_takes_no_columns_and_leaves_its_input():
    S = matrix_of("weighted", DTYPES[0])
    X = np.ones((S.shape[0], 20), dtype=np.float32)
    compiled.diffuse(S, X, [series_of(1.0, DTYPES[0])])
    assert (X == 1).all()
    assert compiled.diffuse(S, X[:, :0].copy(), [series_of(1.0, DTYPES[0])])[0].shape == (len(X), 0)


# ---------------------------------------------------------------------- matrix


@each_graph
@each_dtype
@pytest.mark.parametrize("eps", [0.0, 1e-5, 1e-2])
def test_matrix_is_the_dense_kernel(name, dtype, eps):
    S = matrix_of(name, dtype)
    for s in (0.3, 4.0, 60.0):
        e = series_of(s, dtype)
        H = compiled.matrix(S, e, eps)
        exact = exact_heat(name, s)
        error = slack(S, e) + 2e-9
        dense = H.toarray()
        kept = dense != 0
        assert np.abs(dense - exact)[kept].max(initial=0) <= error
        assert exact[~kept].max(initial=0) <= eps + error
        assert dense[kept].min(initial=1) >= (eps or -error)
        np.testing.assert_array_equal(dense, dense.T)
        assert H.dtype == dtype
        assert_canonical(H)


def assert_canonical(H):
    assert H.indices.dtype == H.indptr.dtype == np.int32
    assert H.indptr[-1] == len(H.indices) == len(H.data)
    assert (H.data != 0).all()
    rows = np.repeat(np.arange(H.shape[0]), np.diff(H.indptr))
    places = rows * H.shape[1] + H.indices.astype(np.int64)
    assert (np.diff(places) > 0).all()


def test_matrix_is_block_diagonal_over_components():
    S = matrix_of("weighted", DTYPES[0])
    _, component = sp.csgraph.connected_components(S, directed=False)
    H = compiled.matrix(S, series_of(5.0, DTYPES[0]), 0.0).tocoo()
    assert (component[H.row] == component[H.col]).all()


@each_dtype
def test_matrix_at_s_0_is_the_identity(dtype):
    S = matrix_of("weighted", dtype)
    H = compiled.matrix(S, heat_series(0.0, 1e-6, 1), 0.0)
    np.testing.assert_array_equal(H.toarray(), np.eye(S.shape[0]))
    assert H.dtype == dtype
    assert_canonical(H)


def test_the_threshold_is_never_rounded_down():
    S = matrix_of("pair", DTYPES[0])
    e = series_of(0.7, DTYPES[0])
    value = float(compiled.matrix(S, e, 0.0)[0, 1])
    assert compiled.matrix(S, e, value).nnz == 4
    assert compiled.matrix(S, e, value * (1 + 1e-12)).nnz == 2


def test_columns_are_those_of_diffuse():
    kernel = HeatKernel(load("cora"), 3.5, tol=1e-5)
    e = NUMBA.entry_series(kernel._operand, heat_series(3.5, 1e-4, 1))
    S = normalized_adjacency(load("cora").adjacency).astype(np.float32)
    H = compiled.matrix(S, e, 1e-4)
    chosen = np.arange(0, kernel.n, 20)
    columns = by_scipy(S, unit_columns(kernel.n, chosen, DTYPES[0]), [e])[0]
    found = H[:, chosen].toarray()
    np.testing.assert_allclose(found[found != 0], columns[found != 0], atol=3e-7)
    assert columns[found == 0].max() < 1e-4 + 3e-7


@each_dtype
def test_the_number_of_threads_changes_nothing(dtype):
    S = normalized_adjacency(load("cora").adjacency).astype(dtype)
    e = series_of(2.0, dtype, tol=1e-5)
    one, two = (compiled.matrix(S, e, 1e-4, threads=t) for t in (1, 2))
    for part in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(one, part), getattr(two, part))
    X = np.random.default_rng(0).random((S.shape[0], 100)).astype(dtype)
    alone, together = (compiled.diffuse(S, X, [e], threads=t)[0] for t in (1, 2))
    np.testing.assert_array_equal(alone, together)


def test_read_only_arrays_and_wide_indices_are_taken():
    from graphheat.heat.engines.numba import loops, triangle

    S = matrix_of("weighted", DTYPES[0])
    e = series_of(2.0, DTYPES[0])
    X = np.random.default_rng(0).random((S.shape[0], 7)).astype(np.float32)
    expected = compiled.matrix(S, e, 1e-3), compiled.diffuse(S, X, [e])[0]
    indices, indptr = S.indices.astype(np.int64), S.indptr.astype(np.int64)
    wide = sp.csr_array(S.shape, dtype=np.float32)
    wide.data, wide.indices, wide.indptr = S.data.copy(), indices, indptr
    for array in (X, wide.data, indices, indptr):
        array.flags.writeable = False
    H = compiled.matrix(wide, e, 1e-3)
    np.testing.assert_array_equal(H.toarray(), expected[0].toarray())
    assert_canonical(H)
    np.testing.assert_array_equal(compiled.diffuse(wide, X, [e])[0], expected[1])
    # Once for each precision: nothing was compiled for the occasion.
    for loop in (loops.diffuse, loops.heat_block, triangle.join):
        assert len(loop.overloads) <= 2
    for loop in (loops.neighborhoods, loops.reach):
        assert len(loop.overloads) <= 2


@pytest.mark.parametrize("threads", [1, 2])
def test_progress_counts_the_rows(threads):
    S = normalized_adjacency(load("cora").adjacency).astype(np.float32)
    seen = []
    compiled.matrix(
        S,
        series_of(1.0, DTYPES[0]),
        1e-2,
        threads=threads,
        progress=lambda done, n, text: seen.append((done, n)),
    )
    assert seen == sorted(seen)
    assert seen[-1] == (2708, 2708)


@pytest.mark.parametrize("threads", [1, 2])
def test_an_interrupt_ends_the_work(threads):
    S = normalized_adjacency(load("cora").adjacency).astype(np.float32)
    seen = []

    def interrupt(done, n, text):
        seen.append(done)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        compiled.matrix(S, series_of(3.0, DTYPES[0]), 1e-4, threads=threads, progress=interrupt)
    assert len(seen) == 1


# ---------------------------------------------------------------------- order


def test_twins_are_found_and_only_those():
    random = np.random.default_rng(0)
    A = sp.block_diag([star(5), path(7), np.zeros((4, 4)), weighted(30, 0.1, 3)]).toarray()
    shuffled = random.permutation(len(A))
    S = normalized_adjacency(sp.csr_array(A[np.ix_(shuffled, shuffled)]))
    ordering = order(S)
    assert sorted(ordering.members) == list(range(len(A)))
    rows = S.toarray()
    seen = set()
    for c, size in enumerate(ordering.sizes):
        members = ordering.members[ordering.starts[c] : ordering.starts[c + 1]]
        assert (rows[members] == rows[members[0]]).all()
        key = rows[members[0]].tobytes()
        assert key not in seen or not rows[members[0]].any()
        seen.add(key)
        assert size == 1 or rows[members[0]].any()
    assert ordering.sizes.max() == 11  # the leaves of the star within ``weighted``


# ---------------------------------------------------------------------- compiling


def test_importing_does_not_import_numba():
    code = "import sys, graphheat.heat.engines.numba.compiled; assert 'numba' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


CACHE_CODE = """
import hashlib, sys
import numpy as np, scipy.sparse as sp
from numba.core import caching
from graphheat.heat import normalized_adjacency
from graphheat.heat.engines.numba import compiled
from graphheat.heat.series import heat_series

def full(*arguments):
    raise OSError(28, "No space left on device")

if sys.argv[1] == "full":
    caching.Cache.save_overload = full
A = sp.random_array((300, 300), density=0.02, rng=np.random.default_rng(0))
S = normalized_adjacency(sp.csr_array(A + A.T)).astype(np.float32)
H = compiled.matrix(S, heat_series(2.0, 1e-4, 1), 1e-3)
print(hashlib.sha256(H.data.tobytes() + H.indices.tobytes()).hexdigest())
"""


def in_a_process(code, folder, *words):
    """Run code in a process of its own: a loop that is compiled twice confuses numba."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder)}
    command = [sys.executable, "-W", "error", "-c", code, *words]
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    return done.stdout


def test_cold_and_warm_cache_and_a_full_disk_give_the_same_result(tmp_path):
    cold = in_a_process(CACHE_CODE, tmp_path / "kept", "folder")
    assert any((tmp_path / "kept").rglob("*.nbc"))  # compiled code, kept
    assert cold == in_a_process(CACHE_CODE, tmp_path / "kept", "folder")
    assert cold == in_a_process(CACHE_CODE, tmp_path / "full", "full")
    assert not any((tmp_path / "full").rglob("*.nbc"))


NOWHERE_CODE = """
import sys
from numba.core import caching
from graphheat.jit import compiled
names = "UserProvidedCacheLocator", "_UserProvidedCacheLocator"  # of numba before 0.62
locator = next(getattr(caching, name) for name in names if hasattr(caching, name))
locators = getattr(caching, "CacheImpl", None) or caching._CacheImpl
locators._locator_classes = [locator]
sys.path.insert(0, sys.argv[1])
import doubling
print(compiled(doubling.double)(21))
"""


def test_without_a_folder_for_the_cache_a_loop_runs(tmp_path):
    (tmp_path / "doubling.py").write_text("def double(x):\n    return 2 * x\n")
    assert in_a_process(NOWHERE_CODE, "/proc/nowhere", str(tmp_path)).strip() == "42"
