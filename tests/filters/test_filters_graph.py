"""GraphFilter and FilterBank: signals of every form, entries, trace, directed graphs, disks."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg
from scipy.linalg import expm
from scipy.sparse.linalg import expm_multiply

from graphheat import FilterBank, Graph, GraphFilter, HeatKernel, datasets, filters
from graphheat.errors import GraphError, KernelMemoryError, ParameterError
from graphheat.heat import laplacian


def random_graph(n=30, seed=0):
    random = np.random.default_rng(seed)
    A = np.triu(random.random((n, n)) < 0.15, 1) * random.exponential(size=(n, n))
    return A + A.T


def digraph(n=12, seed=0):
    random = np.random.default_rng(seed)
    return (random.random((n, n)) < 0.25) * random.integers(1, 4, (n, n)) * 1.0


def test_every_form_of_signal():
    A = random_graph()
    for kind in ("normalized", "random_walk"):
        H = GraphFilter(A, filters.pagerank(0.2), laplacian=kind, tol=1e-8)
        X = np.random.default_rng(1).standard_normal((30, 3))
        exact = H @ X
        assert np.allclose(H(X[:, 0]), exact[:, 0], atol=1e-9)
        assert np.allclose(H.apply(sp.csr_array(X)), exact, atol=1e-9)
        assert np.allclose(H @ (X + 2j * X), exact + 2j * exact, atol=1e-9)
        assert np.allclose(H @ (1j * X[:, 0]), 1j * exact[:, 0], atol=1e-9)
        assert np.allclose(H @ X.astype(int), H @ X.astype(int).astype(float))
        assert np.allclose(H.as_linear_operator() @ X, exact)
        assert np.allclose(H.as_linear_operator().T @ X, H.T @ X)
        with pytest.raises(ParameterError, match="shape"):
            H @ np.ones(29)
        with pytest.raises(ParameterError, match="finite"):
            H @ np.full(30, np.nan)


def test_signals_from_the_left():
    A, X = random_graph(), np.random.default_rng(1).standard_normal((2, 30))
    for kind in ("normalized", "random_walk"):
        H = GraphFilter(A, filters.heat(2.0), laplacian=kind, tol=1e-8)
        assert np.allclose(X @ H, X @ (H @ np.eye(30)), atol=1e-6)
        assert np.allclose(X[0] @ H, (X @ H)[0], atol=1e-7)
    H = GraphFilter(digraph(), filters.heat(1.0), symmetrize="magnetic", tol=1e-8)
    x = np.random.default_rng(2).standard_normal(12) * (1 + 2j)
    assert np.allclose(x @ H, x @ (H @ np.eye(12)), atol=1e-7)
    with pytest.raises(ParameterError, match="GraphFilter must be at least"):
        GraphFilter(A, filters.heat(1.0), tol=1e-17)


def test_personalised_pagerank_is_a_distribution():
    A = random_graph(seed=3)
    A[5] = A[:, 5] = 0  # isolated
    H = GraphFilter(A, filters.pagerank(0.15), laplacian="random_walk", tol=1e-10, isolated="keep")
    v = np.zeros(30)
    v[[2, 7]] = 0.5
    degrees = np.where(A.sum(axis=0) > 0, A.sum(axis=0), 1.0)
    walk = A / degrees
    exact = 0.15 * np.linalg.solve(np.eye(30) - 0.85 * walk, v)
    assert np.allclose(H.T @ v, exact, atol=1e-8)
    assert (H.T @ v).sum() == pytest.approx(1.0, abs=1e-8)
    assert H @ np.ones(30) == pytest.approx(1.0, abs=1e-8)
    assert np.allclose(H.T.rows([2]).toarray(), (H.T @ np.eye(30))[2], atol=1e-7)
    assert np.allclose(H.matrix().toarray(), H @ np.eye(30), atol=1e-7)


@pytest.mark.parametrize("how", ["sum", "max", "coupling", "cocitation"])
def test_directed_graphs_by_their_symmetrisation(how):
    A = digraph()
    wanted = {"sum": A + A.T, "max": np.maximum(A, A.T), "coupling": A @ A.T, "cocitation": A.T @ A}
    W = wanted[how].copy()
    if how in ("coupling", "cocitation"):
        np.fill_diagonal(W, 0)
    H = GraphFilter(A, filters.heat(1.0), symmetrize=how, tol=1e-9)
    assert np.allclose(H @ np.eye(12), HeatKernel(W, 1.0, tol=1e-9).apply(np.eye(12)))
    with pytest.raises(GraphError, match="symmetric"):
        GraphFilter(A, filters.heat(1.0))


@pytest.mark.parametrize("kind", ["normalized", "combinatorial", "random_walk", "signless"])
def test_the_magnetic_laplacian(kind):
    A, q = digraph(seed=4), 0.2
    A[0] = A[:, 0] = 0
    W, ways = (A + A.T) / 2, (A > 0).astype(float)
    M = W * np.exp(2j * np.pi * q * (ways - ways.T))
    degrees = W.sum(axis=1)
    roots = np.sqrt(np.where(degrees > 0, degrees, 1.0))
    L = np.eye(12) - M / roots / roots[:, None]
    if kind == "combinatorial":
        L = np.diag(degrees) - M
    if kind == "signless":
        L = np.diag(degrees) + M
    exact = expm(-0.7 * L)
    scale = roots / roots[:, None] if kind == "random_walk" else np.ones((12, 12))
    exact = exact * scale
    for engine in ("scipy", "numba", "panel", "reference", "auto"):
        H = GraphFilter(A, filters.heat(0.7), laplacian=kind, symmetrize="magnetic", q=q,
                        tol=1e-8, engine=engine)  # fmt: skip
        X = np.random.default_rng(0).standard_normal((12, 3)) * (1 + 0.5j)
        assert H.n == 12
        assert np.allclose(H @ X, exact @ X, atol=1e-7)
        assert np.allclose(H @ X.real, exact @ X.real, atol=1e-7)
        assert np.allclose(H.rows([3, 1]).toarray(), exact[[3, 1]], atol=1e-7)
        assert np.allclose(H.diagonal(), np.diag(exact).real, atol=1e-7)
        assert H.trace(100).value == pytest.approx(np.trace(exact).real, abs=1e-6)
    assert np.abs(exact.imag).max() > 1e-3


def test_coupling_that_does_not_fit_is_refused(monkeypatch):
    from graphheat.filters import direction

    monkeypatch.setattr(direction, "available_memory", lambda: 100)
    with pytest.raises(KernelMemoryError, match="Coupling"):
        GraphFilter(digraph(), filters.heat(1.0), symmetrize="coupling")


class IgraphLike:
    """What igraph's graphs answer to."""

    def __init__(self, edges, n, weights=None, directed=False):
        self._edges, self._n, self._weights = edges, n, weights
        self._directed = directed

    class _Edges(dict):
        def attributes(self):
            return list(self)

    @property
    def es(self):
        return self._Edges({} if self._weights is None else {"weight": self._weights})

    def vcount(self):
        return self._n

    def get_edgelist(self):
        return self._edges

    def is_directed(self):
        return self._directed


def test_graphs_of_other_libraries_wherever_a_matrix_is():
    networkx = pytest.importorskip("networkx")
    edges, weights = [(0, 1), (1, 2), (2, 2), (2, 3)], [1.0, 2.0, 0.5, 3.0]
    A = np.zeros((5, 5))
    for (a, b), w in zip(edges, weights, strict=True):
        A[a, b] = A[b, a] = w
    net = networkx.Graph()
    net.add_nodes_from(range(5))
    net.add_weighted_edges_from((a, b, w) for (a, b), w in zip(edges, weights, strict=True))
    wanted = HeatKernel(A, 1.0).apply(np.eye(5))
    for graph in (net, IgraphLike(edges, 5, weights)):
        assert np.array_equal(HeatKernel(graph, 1.0).apply(np.eye(5)), wanted)
        assert np.array_equal(GraphFilter(graph, filters.heat(1.0)) @ np.eye(5), wanted)
        assert np.array_equal(Graph.from_scipy(graph).adjacency.toarray(), A)
    assert GraphFilter(IgraphLike(edges, 5), filters.heat(1.0)).n == 5
    arrows = networkx.DiGraph([(0, 1), (1, 2)])
    with pytest.raises(GraphError, match="symmetric"):
        HeatKernel(arrows, 1.0)
    GraphFilter(arrows, filters.heat(1.0), symmetrize="sum") @ np.eye(3)
    GraphFilter(IgraphLike([(0, 1)], 2, directed=True), filters.heat(1.0), symmetrize="max")
    heavy = networkx.Graph()
    heavy.add_edge(0, 1, weight="heavy")
    with pytest.raises(GraphError, match="must be a number"):
        HeatKernel(heavy, 1.0)
    multi = networkx.MultiGraph([(0, 1), (0, 1)])
    assert Graph.from_scipy(multi).adjacency[0, 1] == 2.0
    empty = networkx.empty_graph(3)
    assert HeatKernel(empty, 1.0).n == 3


def test_the_trace_lies_in_its_interval_about_as_often_as_it_says():
    A = random_graph(120, seed=5)
    for f, kind in ((filters.heat(2.0), "normalized"), (filters.tikhonov(1.0), "combinatorial")):
        H = GraphFilter(A, f, laplacian=kind, tol=1e-8)
        exact = H.diagonal().sum()
        found = [H.trace(16, confidence=0.9, seed=seed) for seed in range(100)]
        inside = sum(each.low <= exact <= each.high for each in found)
        assert 80 <= inside <= 98
        assert H.trace(120).samples == 0
        assert float(H.trace(200)) == pytest.approx(exact, abs=1e-6)
    # A polynomial of degree two is known without any sample.
    square = GraphFilter(A, filters.custom(lambda x: x**2), tol=1e-8)
    assert square.trace(16).samples == 0
    assert square.trace(16).value == pytest.approx(square.diagonal().sum(), abs=1e-5)


def test_a_bank_and_its_adjoint():
    A = random_graph()
    bank = FilterBank(A, filters.mexican_hat(4), tol=1e-9)
    x, Y = np.random.default_rng(0).random(30), np.random.default_rng(1).random((5, 30))
    assert np.vdot(bank @ x, Y) == pytest.approx(np.vdot(x, bank.adjoint(Y)), rel=1e-7)
    low, high = bank.frame_bounds()
    energy = np.sum((bank @ x) ** 2) / np.sum(x**2)
    assert 0 < low <= energy <= high
    assert bank.bound == "proven"
    assert "filters=5" in repr(bank)
    H = GraphFilter(A, filters.heat(1.0), tol=1e-9)
    assert np.allclose(H.filter_bank([filters.heat(2.0)]) @ x, [H @ (H @ x)], atol=1e-7)
    with pytest.raises(ParameterError, match="at least one"):
        FilterBank(A, [])
    with pytest.raises(ParameterError, match="several filters"):
        FilterBank(A, 3)
    with pytest.raises(ParameterError, match="shape"):
        bank.adjoint(Y[:2])


def test_a_function_is_a_filter():
    H = GraphFilter(random_graph(), lambda x: np.exp(-x))
    assert np.allclose(H @ np.eye(30), HeatKernel(random_graph(), 1.0).apply(np.eye(30)), atol=2e-6)
    assert "proven" in repr(H)
    assert H.T is H
    assert H.plan(1e-2).order >= H.order - 3


def test_times_by_node_that_are_few_are_exact():
    A = random_graph()
    times = np.where(np.arange(30) < 10, 0.5, 4.0)
    H = GraphFilter(A, filters.heat(times), tol=1e-8)
    assert len(H._series) == 2
    with pytest.raises(ParameterError, match="one time per node"):
        GraphFilter(A, filters.heat([1.0, 2.0]))
    with pytest.raises(ParameterError, match="Rows of times by node"):
        H.T.rows([0])


# ------------------------------------------------------------------ other libraries


def test_scipy_agrees():
    A = datasets.load("karate").adjacency
    x = np.random.default_rng(0).random(34)
    L = laplacian(A)
    combinatorial = sp.diags_array(A.sum(axis=1)) - A
    for M, kind in ((L, "normalized"), (combinatorial, "combinatorial")):
        H = GraphFilter(A, filters.heat(1.3), laplacian=kind, tol=1e-9)
        assert np.allclose(H @ x, expm_multiply(-1.3 * sp.csc_array(M), x), atol=1e-8)
        krylov = getattr(scipy.sparse.linalg, "funm_multiply_krylov", None)
        if krylov is None:  # SciPy before 1.16
            continue
        found = krylov(lambda B: np.linalg.inv(np.eye(len(B)) + 2 * B), sp.csr_array(M), x,
                       assume_a="her")  # fmt: skip
        tikhonov = GraphFilter(A, filters.tikhonov(2.0), laplacian=kind, tol=1e-9)
        assert np.allclose(tikhonov @ x, found, atol=1e-7)


def test_pygsps_own_values():
    pygsp = pytest.importorskip("pygsp", reason="PyGSP is not installed")
    graph = pygsp.graphs.Logo()
    graph.compute_fourier_basis()
    x = np.random.default_rng(42).uniform(size=graph.N)
    lmax = graph.lmax
    for tau in (1.0, 10.0, 100.0):
        theirs = pygsp.filters.Heat(graph, tau).filter(x, method="exact")
        H = GraphFilter(graph, filters.heat(tau / lmax), laplacian="combinatorial", tol=1e-8)
        assert np.linalg.norm(H @ x - theirs) <= H.error_bound * np.linalg.norm(x) + 1e-11
    # Scales and the least frequency are those of PyGSP's own largest eigenvalue.
    banks = (
        (pygsp.filters.MexicanHat(graph, Nf=6), filters.mexican_hat(5), 1e-8),
        (pygsp.filters.Abspline(graph, Nf=6), filters.hammond(5), 1e-3),
    )
    for theirs, ours, tol in banks:
        parts = ours.filters(lmax)
        grid = np.linspace(0, lmax, 500)
        assert np.allclose(theirs.evaluate(grid), [each(grid) for each in parts], atol=2e-6)
        bank = FilterBank(graph, parts, laplacian="combinatorial", tol=tol)
        exact = theirs.filter(x, method="exact").T
        error = np.linalg.norm(bank @ x - exact, axis=1)
        assert np.all(error <= (bank.error_bound + 2e-6) * np.linalg.norm(x))


# ------------------------------------------------------------------ on disk, on a cluster


@pytest.fixture(scope="module")
def disk(tmp_path_factory):
    pytest.importorskip("duckdb")
    from graphheat.disk import ingest

    A = sp.coo_array(np.triu(random_graph(60, seed=8)))
    folder = tmp_path_factory.mktemp("disk")
    lines = "\n".join(f"{a},{b},{float(w)!r}" for a, b, w in zip(A.row, A.col, A.data, strict=True))
    (folder / "e.csv").write_text("source,target,weight\n" + lines + "\n")
    graph = ingest(folder / "e.csv", folder / "e.graph", threads=1, memory="500MB")
    return graph, graph.to_memory()


KINDS = ["normalized", "random_walk", "combinatorial", "signless", "normalized_signless"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("loops", [0.0, 0.5])
def test_on_disk_as_in_memory(disk, kind, loops):
    on_disk, memory = disk
    X = np.random.default_rng(0).standard_normal((memory.n, 5))
    how = {"laplacian": kind, "tol": 1e-8, "self_loops": loops}
    for f in (filters.pagerank(0.2), filters.matern(1.5, 1.0), filters.heat(1.0)):
        there, here = GraphFilter(on_disk, f, **how), GraphFilter(memory, f, **how)
        bound = there.error_bound + here.error_bound
        assert there.lmax >= here.lmax / 1.5
        scale = np.linalg.norm(X) * (
            np.sqrt(memory.adjacency.sum(axis=1) + loops).max() * 10 if kind == "random_walk" else 1
        )
        assert np.linalg.norm(there @ X - here @ X) <= bound * scale
        rows = there.rows([1, 0]).toarray()
        assert np.allclose(rows, here.rows([1, 0]).toarray(), atol=1e-6)
        assert np.allclose(there.diagonal([3]), here.diagonal([3]), atol=1e-7)
    assert there.trace(8).low <= here.diagonal().sum() + 30  # it runs; coverage is tested above
    with pytest.raises(KernelMemoryError, match="on disk"):
        there.matrix(0.1)
    with pytest.raises(ParameterError, match="undirected already"):
        GraphFilter(on_disk, f, symmetrize="sum")


@pytest.mark.parametrize("kind", KINDS)
def test_on_a_cluster_as_on_disk(disk, kind, tmp_path):
    from graphheat.heat.engines.cluster.cluster import open_cluster
    from graphheat.heat.engines.cluster.cluster_engine import ClusterEngine

    on_disk, memory = disk
    X = np.random.default_rng(0).standard_normal((memory.n, 3))
    # Few steps: each waits for the disk.
    f, how = filters.tikhonov(0.3), {"laplacian": kind, "tol": 1e-1, "self_loops": 0.5}
    with open_cluster("serial", tmp_path) as cluster:
        by_tasks = GraphFilter(on_disk, f, engine=ClusterEngine(cluster), **how)
        here = GraphFilter(on_disk, f, engine="panel", **how)
        assert np.array_equal(by_tasks @ X, here @ X)
        assert not list(tmp_path.rglob("*.raw"))
    in_memory = GraphFilter(memory, f, engine=ClusterEngine(cluster), **how)  # declined
    assert np.allclose(in_memory @ X, GraphFilter(memory, f, **how) @ X)
