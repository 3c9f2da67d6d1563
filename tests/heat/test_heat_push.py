"""The push: what it returns is never above the exact heat, nor below it by more than it says."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import graphheat
from graphheat.errors import MissingDependencyError, ParameterError
from graphheat.heat import HeatKernel, laplacian
from graphheat.heat.engines.push import push
from graphheat.heat.engines.push.push import Push
from graphheat.heat.engines.push.walk import levels

DATA = Path(os.environ.get("GRAPHHEAT_DATA") or Path(__file__).parents[3] / "shared" / "data")

# Derandomised: the suite gives the same answer every time it runs.
search = settings(deadline=None, derandomize=True, max_examples=60)

SLACK = 1e-12  # what expm itself may be off by

times = st.floats(1e-3, 60.0)
tolerances = st.sampled_from([0.3, 1e-2, 1e-4, 1e-6, 1e-8, 1e-10])
thresholds = st.sampled_from([0.0, 1e-5, 1e-3, 0.05])


def dense_heat(A, s, **options):
    return scipy.linalg.expm(-s * laplacian(sp.csr_array(A), **options).toarray())


def from_edges(n, edges):
    A = np.zeros((n, n))
    for a, b in edges:
        A[a, b] = A[b, a] = 1.0
    return A


def path(n):
    return sp.diags_array([np.ones(n - 1), np.ones(n - 1)], offsets=[-1, 1], format="csr")


def star(leaves):
    hub, ends = np.zeros(leaves, dtype=int), np.arange(1, leaves + 1)
    A = sp.coo_array((np.ones(leaves), (hub, ends)), shape=(leaves + 1, leaves + 1))
    return sp.csr_array(A + A.T)


def clique(n):
    return np.ones((n, n)) - np.eye(n)


def two_hubs(leaves):
    """Two hubs that share a neighbour, and a path that leads away from one of them."""
    n = 2 * leaves + 6
    edges = [(0, k) for k in range(2, leaves + 3)]
    edges += [(1, k) for k in range(leaves + 2, 2 * leaves + 2)]
    edges += [(k, k + 1) for k in range(2 * leaves + 1, n - 1)]
    return from_edges(n, edges)


SHAPES = {
    "star": star(40).toarray(),
    "clique": clique(12),
    "path": path(30).toarray(),
    "hubs": two_hubs(15),
    "parts": scipy.linalg.block_diag(star(25).toarray(), [[0.0]], clique(3), path(9).toarray()),
    "pair": clique(2),
    "one": np.zeros((1, 1)),
    "loop": np.ones((1, 1)),
    "weighted": scipy.linalg.block_diag(7.0 * clique(4), 1e-3 * star(9).toarray()),
}


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


def check_rows(A, s, tol, eps=0.0, **options):
    A = sp.csr_array(A)
    rows, certificates = Push(A, s, tol, **options).rows(np.arange(A.shape[0]), eps)
    options.pop("threads", None)
    exact = dense_heat(A, s, **options)
    assert np.all(certificates <= tol)
    check_entries(rows, exact, tol, eps)
    if eps == 0:
        missing = exact - rows.toarray()
        assert np.all(missing <= certificates[:, None] + SLACK)
    return rows


def check_entries(found, exact, tol, eps):
    """Kept entries are from below and within tol; none of eps + tol or more is missed."""
    found.check_format()
    assert found.has_sorted_indices
    assert found.dtype == (np.float32 if tol >= 1e-6 else np.float64)
    rounding = (2.0**-25 if found.dtype == np.float32 else 0) + SLACK
    dense = found.toarray().astype(np.float64)
    kept = dense > 0
    assert kept.sum() == found.nnz
    missing = (exact - dense)[kept]
    assert np.all(missing >= -rounding)
    assert np.all(missing <= tol + SLACK)
    assert np.all(dense[kept] >= eps)
    assert not np.any(exact[~kept] >= eps + tol + SLACK)


# ------------------------------------------------------------------ the promise


@search
@given(
    A=graphs(),
    s=times,
    tol=tolerances,
    eps=thresholds,
    isolated=st.sampled_from(["paper", "keep"]),
    self_loops=st.sampled_from([0.0, 0.0, 1.0, 0.3]),
)
def test_rows_keep_their_promise_in_every_column(A, s, tol, eps, isolated, self_loops):
    check_rows(A, s, tol, eps, isolated=isolated, self_loops=self_loops)


@search
@given(A=graphs(), s=times, tol=tolerances, eps=thresholds)
def test_the_matrix_keeps_it_too_and_is_symmetric_to_the_bit(A, s, tol, eps):
    M = Push(sp.csr_array(A), s, tol).matrix(eps)
    assert (M - M.T).nnz == 0
    check_entries(M, dense_heat(A, s), tol, eps)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("s", [0.2, 3.0, 25.0])
@pytest.mark.parametrize("tol", [1e-2, 1e-5, 1e-9])
def test_stars_cliques_paths_and_hubs(shape, s, tol):
    A = SHAPES[shape]
    check_rows(A, s, tol)
    M = Push(sp.csr_array(A), s, tol).matrix(0.01)
    assert (M - M.T).nnz == 0
    check_entries(M, dense_heat(A, s), tol, 0.01)


@pytest.mark.parametrize("s", [690.0, 1e4])
def test_times_whose_first_weights_are_no_numbers(s):
    check_rows(SHAPES["parts"], s, 1e-6)
    check_rows(SHAPES["weighted"], s, 1e-4)


def test_no_time_changes_nothing():
    A = sp.csr_array(SHAPES["parts"] * np.sqrt(3))
    local = Push(A, 0, 1e-6)
    for M in (local.matrix(), local.rows(np.arange(A.shape[0]))[0]):
        assert np.array_equal(M.toarray(), np.eye(A.shape[0]))


@pytest.mark.parametrize("weight", [1e-310, 1e-200, 1e200, 1e300])
def test_the_unit_of_the_weights_does_not_matter(weight):
    for shape in ("hubs", "weighted"):
        A = sp.csr_array(SHAPES[shape])
        expected = Push(A, 2.0, 1e-4).rows([0, 3, 8])[0].toarray()
        found = Push(A * weight, 2.0, 1e-4).rows([0, 3, 8])[0].toarray()
        assert found == pytest.approx(expected, abs=1e-4)


def test_a_weak_edge_in_a_heavy_graph_is_found():
    # Its share of a residual underflows to 0; the node behind is listed once all the same.
    A = from_edges(6, [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 5), (3, 5)])
    A[2, 3] = A[3, 2] = 1e-320
    A[3:, 3:] *= 1e-240
    check_rows(A, 3.0, 1e-8)


def test_many_small_shares_add_up():
    # In float32, adding up 100,000 returning shares would lose 1e-3 of the hub's heat.
    leaves, s = 100_000, 2.0
    row, certificate = Push(star(leaves), s, 1e-6).row(0, 1e-3)
    assert certificate[0] <= 1e-6
    assert row.toarray()[0, 0] == pytest.approx(np.exp(-s) * np.cosh(s), abs=1e-6)
    assert row.toarray()[0, 1:] == pytest.approx(
        np.full(leaves, np.exp(-s) * np.sinh(s) / np.sqrt(leaves)), abs=1e-6
    )


@pytest.mark.parametrize("s", [1e-6, 0.7, 3.0, 40.0, 2000.0])
def test_the_levels_are_those_of_the_poisson_weights(s):
    # All of it pushed: the heat of a node with nothing but a loop is all of what it had.
    start, (gain, deposit, charge, share), _ = levels(s)
    heat, residual = start
    for level in range(1, len(gain)):
        heat += residual * deposit[level]
        residual *= gain[level]
    assert heat == pytest.approx(1.0, rel=1e-9)
    # Ψ falls, and Ψ_k = 1 + s / (k + 2) Ψ_{k+1}, but for the levels where nothing may be carried.
    counted = charge < 1e299
    assert np.all(np.diff(charge[counted]) < 0)
    k = np.flatnonzero(counted)[:-1]
    assert charge[k] == pytest.approx(1 + s / (k + 2) * charge[k + 1], rel=1e-12)
    assert np.all(np.diff(share) >= 0)
    assert share[-1] == pytest.approx(1.0)


# ------------------------------------------------------------------ how it goes about it


def random_graph(n, seed=0):
    random = np.random.default_rng(seed)
    A = sp.random_array((n, n), density=3 / n, rng=random, data_sampler=random.exponential)
    return sp.csr_array(A + A.T)


def same(first, second):
    return all(
        np.array_equal(getattr(first, part), getattr(second, part))
        for part in ("indptr", "indices", "data")
    )


def test_the_work_does_not_grow_with_the_graph():
    def work(n):
        local = Push(path(n), 3.0, 1e-5)
        local.row(n // 2, 1e-4)
        return local.edges_pushed

    assert work(101) == work(20_001) > 0


def test_a_hub_elsewhere_costs_nothing():
    ring = np.roll(np.eye(30), 1, axis=0) + np.roll(np.eye(30), -1, axis=0)
    alone, beside = (
        Push(sp.csr_array(A), 3.0, 1e-4)
        for A in (ring, scipy.linalg.block_diag(ring, star(500).toarray()))
    )
    assert same(alone.row(4)[0], beside.row(4)[0][:, :30])
    assert alone.edges_pushed == beside.edges_pushed


def test_threads_and_earlier_rows_leave_no_trace():
    A = random_graph(400)
    indices = np.random.default_rng(1).integers(0, 400, 300)  # some of them twice
    local = Push(A, 3.0, 1e-5, threads=3)
    rows, certificates = local.rows(indices, 1e-4)
    again, _ = local.rows(indices, 1e-4)
    assert same(rows, again)
    for at in (0, 150, 299):
        row, certificate = Push(A, 3.0, 1e-5).row(indices[at], 1e-4)
        assert same(row, rows[[at]])
        assert certificate[0] == certificates[at]
    assert same(local.matrix(1e-4), Push(A, 3.0, 1e-5).matrix(1e-4))


def test_a_row_whose_work_exceeds_the_patience_is_whole(monkeypatch):
    A = random_graph(200)
    expected = Push(A, 2.0, 1e-6).rows(np.arange(200))[0]
    monkeypatch.setattr(push, "PATIENCE", 1)
    assert same(expected, Push(A, 2.0, 1e-6).rows(np.arange(200))[0])


def test_counted_work_repeats_and_adds_up():
    A = random_graph(150)
    local = Push(A, 3.0, 1e-5)
    local.matrix(1e-4)
    total = local.edges_pushed
    assert local.probe(np.arange(150)) == total > 0
    parts = [local.probe(np.arange(a, a + 50)) for a in (0, 50, 100)]
    assert sum(parts) == total


def test_progress_reaches_the_end():
    seen = []
    local = Push(random_graph(150), 1.0, 1e-4)
    local.matrix(1e-3, progress=lambda *done: seen.append(done))
    assert seen == sorted(seen)
    assert seen[-1] == (150, 150, "rows")


def test_the_adjacency_is_only_read():
    A = random_graph(50)
    A.data[:4] = 0.0  # stored zeros are no edges
    A = sp.csr_array((A + A.T) / 2)
    copy = A.copy()
    for part in (A.data, A.indices, A.indptr):
        part.flags.writeable = False
    check_rows(A, 2.0, 1e-6)
    assert same(A, copy)


def test_no_rows_are_an_empty_matrix():
    rows, certificates = Push(path(5), 1.0, 1e-4).rows([])
    assert rows.shape == (0, 5)
    assert certificates.shape == (0,)


def test_a_tol_beyond_double_precision_is_refused():
    with pytest.raises(ParameterError, match="must be at least"):
        Push(path(5), 3.0, 1e-16)


# ------------------------------------------------------------------ the compiler


def test_without_numba_the_error_says_what_to_do(monkeypatch):
    package = "graphheat.heat.engines.push"
    monkeypatch.setitem(sys.modules, f"{package}.frontier", None)
    monkeypatch.delattr(sys.modules[package], "frontier", raising=False)
    with pytest.raises(MissingDependencyError, match="pip install numba"):
        Push(path(5), 3.0, 1e-4)


def test_code_that_cannot_be_cached_runs_without_a_cache():
    from graphheat.jit import compiled

    names: dict[str, Any] = {}
    exec("def double(x):\n    return 2 * x", names)  # numba finds no file to keep a cache beside
    assert compiled(names["double"])(21) == 42


SCRIPT = """
import hashlib, sys
import numpy as np, scipy.sparse as sp
from graphheat.heat.engines.push.push import Push
assert "numba" not in sys.modules, "numba was imported before it was needed"
n = 300
A = sp.diags_array([np.arange(1.0, n), np.arange(1.0, n)], offsets=[-1, 1], format="csr")
rows, certificates = Push(A, 3.0, 1e-8).rows(np.arange(0, n, 7), 1e-6)
parts = rows.indptr, rows.indices, rows.data, certificates
print(hashlib.sha256(b"".join(part.tobytes() for part in parts)).hexdigest())
"""


def test_cold_and_warm_cache_agree_to_the_bit(tmp_path):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    cold, warm = (
        subprocess.run(
            [sys.executable, "-W", "error", "-c", SCRIPT],
            env=environment,
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for _ in range(2)
    )
    assert list(tmp_path.rglob("*.nbi"))
    assert cold == warm


# ------------------------------------------------------------------ a million nodes


@pytest.mark.skipif(
    not (DATA / "com-youtube.npz").exists(), reason="needs com-youtube.npz in GRAPHHEAT_DATA"
)
def test_rows_of_com_youtube_are_certified_in_every_column():
    A = graphheat.read_npz(DATA / "com-youtube.npz").adjacency
    linked = np.flatnonzero(np.diff(A.indptr))
    nodes = np.random.default_rng(0).choice(linked, 10, replace=False)
    units = np.zeros((A.shape[0], len(nodes)))
    units[nodes, np.arange(len(nodes))] = 1
    exact = HeatKernel(A, 3.0, tol=1e-10, engine="scipy").apply(units).T
    for tol in (1e-4, 1e-5):
        rows, certificates = Push(A, 3.0, tol).rows(nodes)
        assert np.all(certificates <= tol)
        missing = exact - rows.toarray()
        assert missing.min() >= -1e-7
        assert np.all(missing.max(axis=1) <= certificates)
