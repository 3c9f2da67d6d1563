"""The heat kernel beside other people's: SciPy, NumPy, PyG, and the paper's own tables."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.csgraph import laplacian as scipy_laplacian
from scipy.special import ive

from graphheat import Graph, datasets
from graphheat.heat import HeatKernel, laplacian, neighborhood, normalized_adjacency
from graphheat.heat.assembly import threshold
from graphheat.heat.series import heat_series

ORDERS = [  # s, tol, order: the table in the project's conventions
    *((1, 1e-3, 4), (1, 1e-4, 5), (1, 1e-6, 7), (1, 1e-8, 8)),
    *((3.0, 1e-3, 6), (3.0, 1e-4, 7), (3.0, 1e-6, 10), (3.0, 1e-8, 12)),
    *((3.5, 1e-3, 7), (3.5, 1e-4, 8), (3.5, 1e-6, 11), (3.5, 1e-8, 13)),
    *((10, 1e-3, 11), (10, 1e-4, 13), (10, 1e-6, 17), (10, 1e-8, 20)),
    *((50, 1e-3, 23), (50, 1e-4, 28), (50, 1e-6, 35), (50, 1e-8, 41)),
]


def random_graph(n, seed=0, weighted=True):
    random = np.random.default_rng(seed)
    A = np.triu(random.random((n, n)) < 6 / n, 1).astype(float)
    if weighted:
        A *= random.exponential(size=A.shape)
    return A + A.T


@pytest.fixture(scope="module")
def cora():
    return datasets.load("cora")


# ------------------------------------------------------------------ the Laplacian


def test_laplacian_is_scipys_where_isolated_nodes_keep_their_heat():
    A = random_graph(40, seed=3)
    A[5] = A[:, 5] = 0
    expected = np.asarray(scipy_laplacian(A, normed=True))
    assert np.allclose(laplacian(sp.csr_array(A), isolated="keep").toarray(), expected)
    expected[5, 5] = 1
    assert np.allclose(laplacian(sp.csr_array(A)).toarray(), expected)


def test_normalised_adjacency_is_symmetric_to_the_bit():
    S = normalized_adjacency(sp.csr_array(random_graph(60)))
    assert (S - S.T).nnz == 0


@pytest.mark.parametrize("weight", [1e-320, 1e-310, 1e-200, 1e200, 1e307])
def test_the_unit_of_the_weights_does_not_matter(weight):
    ring = sp.csr_array(np.roll(np.eye(6), 1, axis=0) + np.roll(np.eye(6), -1, axis=0))
    assert normalized_adjacency(ring * weight).data == pytest.approx(0.5, rel=1e-3)


# ------------------------------------------------------------------ the series


@pytest.mark.parametrize("s", [1e-3, 0.5, 3.5, 40, 1e3, 1e6])
@pytest.mark.parametrize("tol", [1e-3, 1e-6, 1e-8])
def test_the_order_is_the_smallest_whose_tail_is_half_of_tol(s, tol):
    series = heat_series(s, tol, 1)
    m = series.order
    k = np.arange(1, 2 * m + 200)
    tail = 2 * np.cumsum(ive(k, s)[::-1])[::-1]  # tail[m] = Σ_{k>m} c_k
    assert tail[m] <= tol / 2
    assert m == 0 or tail[m - 1] > tol / 2
    assert series.truncation == pytest.approx(tail[m], rel=1e-6, abs=1e-30)
    assert series.coefficients.sum() + tail[m] == pytest.approx(1, abs=1e-12)
    assert series.coefficients.min() >= 0


@pytest.mark.parametrize(("s", "tol", "order"), ORDERS)
def test_the_orders_are_those_of_the_table(s, tol, order):
    # The table gives all of tol to the series; the kernel gives half.
    assert heat_series(s, 2 * tol, 1).order == order


@pytest.mark.parametrize("s", [0.1, 3.5, 100, 1e5])
def test_the_series_is_the_exponential_on_the_spectrum(s):
    series = heat_series(s, 1e-8, 1)
    mu = np.linspace(-1, 1, 501)
    cut = np.polynomial.chebyshev.chebval(mu, series.coefficients)
    assert np.abs(cut - np.exp(-s * (1 - mu))).max() <= series.error_bound + 1e-13
    assert np.array_equal(series.response(mu), np.exp(-s * (1 - mu)))


def test_single_precision_serves_where_it_suffices():
    A = random_graph(50)
    assert heat_series(1.0, 1e-4, 10).dtype == np.float32
    assert heat_series(1.0, 0.9e-6, 10).dtype == np.float64
    assert heat_series(101.0, 1e-2, 10).dtype == np.float64
    kernel = HeatKernel(A, 1.0, tol=1e-4)
    assert kernel.apply(np.ones(50, dtype=np.float32)).dtype == np.float32
    assert kernel.apply(np.ones(50)).dtype == np.float64
    assert kernel.matrix(1e-2).dtype == np.float32
    assert HeatKernel(A, 1.0, tol=1e-8).matrix(1e-2).dtype == np.float64


@pytest.mark.parametrize("size", [1e-300, 1e-50, 1e50, 1e300])
def test_the_unit_of_a_signal_does_not_matter(size):
    kernel = HeatKernel(random_graph(30), 1.0, tol=1e-3)
    x = np.linspace(1, 2, 30)
    assert np.allclose(kernel.apply(x * size) / size, kernel.apply(x), rtol=1e-12)


def test_a_threshold_that_single_precision_rounds_down_holds_all_the_same():
    eps = 1e-4
    below = np.float32(eps)
    assert float(below) < eps
    assert threshold(np.array([below, 2 * below]), eps).tolist() == [False, True]


# ------------------------------------------------------------------ other libraries


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("s", [0.5, 3.5, 20])
def test_scipys_matrix_exponential(weighted, s):
    A = random_graph(120, weighted=weighted)
    L = laplacian(sp.csr_array(A)).toarray()
    heat = HeatKernel(A, s, tol=1e-9).apply(np.eye(120))
    assert np.abs(heat - scipy.linalg.expm(-s * L)).max() <= 1e-9


@pytest.mark.parametrize("s", [1.0, 1e3, 1e6])
def test_numpys_eigenvectors_also_for_huge_s(s):
    A = random_graph(80)
    values, vectors = np.linalg.eigh(laplacian(sp.csr_array(A)).toarray())
    # eigh finds an eigenvalue 0 only to about 1e-15, which s = 1e6 would enlarge.
    values[np.abs(values) < 1e-12] = 0
    exact = vectors @ (np.exp(-s * values)[:, None] * vectors.T)
    kernel = HeatKernel(A, s)
    assert kernel.error_bound <= kernel.tol
    assert np.linalg.norm(kernel.apply(np.eye(80)) - exact, 2) <= kernel.tol
    dense = kernel.matrix(1e-3).toarray()
    assert np.abs(dense - exact)[dense > 0].max() <= kernel.tol


@pytest.mark.parametrize("t", [1.0, 5.0])
def test_pygs_diffusion_with_its_self_loops(t):
    torch = pytest.importorskip("torch")
    GDC = pytest.importorskip("torch_geometric.transforms").GDC
    A = random_graph(60)
    gdc, looped = GDC(), sp.coo_array(A + np.eye(60))
    edge_index = torch.tensor(np.stack([looped.row, looped.col]), dtype=torch.long)
    T = gdc.transition_matrix(edge_index, torch.tensor(looped.data), 60, normalization="sym")
    theirs = gdc.diffusion_matrix_exact(*T, 60, method="heat", t=t).numpy()
    ours = HeatKernel(A, t, tol=1e-9, self_loops=1.0).apply(np.eye(60))
    assert np.abs(ours - theirs).max() <= 1e-6


# ------------------------------------------------------------------ the paper on Cora


@pytest.mark.parametrize(
    ("index", "near", "far"),
    [
        (12, 1, 1),
        (75, 2, 2),
        (26, 3, 3),
        (1284, 4, 13),
        (1351, 5, 13),
        (1385, 6, 11),
        (1666, 7, 11),
    ],
)
def test_table_3_comes_out_exactly(cora, index, near, far):
    found = neighborhood(cora, index, s=3.5, eps=1e-4)
    assert (found.range, found.max_range) == (near, far)


def test_the_case_study_weighs_a_second_neighbour_above_a_first(cora):
    found = neighborhood(cora, 2027, s=3.5, eps=1e-4)
    place = {int(node): at for at, node in enumerate(found.neighbors)}
    first, second = place[2025], place[2611]
    assert (found.hops[first], found.hops[second]) == (1, 2)
    assert found.weights[second] > found.weights[first]


def test_coras_kernel_agrees_with_double_precision(cora):
    kernel = HeatKernel(cora, 3.5)
    M = kernel.matrix(1e-4).toarray()
    exact = HeatKernel(cora, 3.5, tol=1e-10).apply(np.eye(cora.n))
    large = exact >= 1.1e-4
    assert np.array_equal(M, M.T)
    assert np.abs(M - exact)[large].max() <= 1e-5
    assert np.abs(M - exact)[M > 0].max() <= kernel.plan(1e-4).error_bound


# ------------------------------------------------------------------ neighbourhoods


def test_neighbours_are_the_row_sorted_by_weight_without_the_node_itself():
    graph = Graph.from_scipy(random_graph(50))
    row = HeatKernel(graph, 2.0).row(7, 1e-3).toarray().ravel()
    found = neighborhood(graph, 7, s=2.0, eps=1e-3)
    assert np.all(np.diff(found.weights) <= 0)
    assert sorted(found.neighbors) == [j for j in np.flatnonzero(row) if j != 7]
    assert np.array_equal(found.weights, row[found.neighbors])
    assert found.self_weight == row[7]
    assert found.range == found.hops.max() <= found.max_range


def test_an_isolated_node_has_no_neighbours():
    found = neighborhood(Graph.from_scipy(np.zeros((3, 3))), 1, s=2.0)
    assert (len(found.neighbors), found.range, found.max_range) == (0, 0, 0)
    assert found.self_weight == pytest.approx(math.exp(-2), abs=1e-6)
