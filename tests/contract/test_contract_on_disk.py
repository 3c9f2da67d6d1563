"""Every filter × Laplacian on a mapped graph, in one process and as tasks of a cluster."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from contract_filters import FILTERS, KINDS, random_graph, weighted_norm
from dense_filter import SLACK, dense_filter, dense_laplacian
from helpers.big_tables import write_tables

from graphheat import FilterBank, Graph, GraphFilter, filters
from graphheat.disk import ingest
from graphheat.heat.engines.cluster import cluster as tasks
from graphheat.heat.engines.cluster.cluster_engine import ClusterEngine

pytest.importorskip("duckdb")
HOW = {"self_loops": 0.5}


@pytest.fixture(scope="module")
def disk(tmp_path_factory):
    """Return a weighted graph with a hub, self-loops and an isolated node, and its dense matrix."""
    graph = Graph.from_scipy(sp.csr_array(random_graph(0)), name="contract")
    folder = tmp_path_factory.mktemp("contract")
    files = write_tables(graph, folder)
    on_disk = ingest(files.edges, folder / "g.graph", nodes=files.nodes, memory="500MB")
    return on_disk, on_disk.to_memory().adjacency.toarray()


def slack_of(f, H):
    return H.error_bound + SLACK * max(1.0, np.abs(f(np.linspace(0, H.lmax, 99))).max())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", FILTERS)
def test_filters_on_disk_keep_their_promise(disk, name, kind):
    graph, A = disk
    f, tol = FILTERS[name], 1e-6
    H = GraphFilter(graph, f, laplacian=kind, tol=tol, **HOW)
    exact, (L, roots) = dense_filter(A, f, kind, **HOW), dense_laplacian(A, kind, **HOW)
    assert H.error_bound <= tol
    assert np.linalg.eigvalsh(L)[-1] <= H.lmax * (1 + 1e-14)
    slack = slack_of(f, H)
    for columns in (1, 7):
        X = np.random.default_rng(3).standard_normal((len(A), columns))
        error = weighted_norm(H @ X - exact @ X, roots, kind)
        assert np.all(error <= slack * weighted_norm(X, roots, kind))
    ratio = roots / roots[:, None] if kind == "random_walk" else np.ones_like(exact)
    slack += tol - H.error_bound
    rows = H.rows([5, 0, 23]).toarray()
    assert np.all(np.abs(rows - exact[[5, 0, 23]]) <= slack * ratio[[5, 0, 23]])
    assert np.all(np.abs(H.diagonal([0, 7]) - np.diag(exact)[[0, 7]]) <= slack)


@pytest.mark.parametrize("kind", KINDS)
def test_times_by_node_and_banks_on_disk(disk, kind):
    graph, A = disk
    roots = dense_laplacian(A, kind)[1]
    ratio = roots / roots[:, None] if kind == "random_walk" else np.ones_like(A)
    times = np.random.default_rng(1).uniform(0.1, 3.0, len(A))
    H = GraphFilter(graph, filters.heat(times), laplacian=kind)
    heats = [dense_filter(A, filters.heat(float(s)), kind)[i] for i, s in enumerate(times)]
    assert np.all(np.abs(H @ np.eye(len(A)) - heats) <= (H.error_bound + SLACK) * ratio)
    X = np.random.default_rng(0).standard_normal((len(A), 3))
    bank = FilterBank(graph, filters.mexican_hat(3), laplacian=kind)
    for one, result in zip(bank.filters, bank @ X, strict=True):
        error = weighted_norm(result - dense_filter(A, one, kind) @ X, roots, kind)
        assert np.all(error <= (bank.error_bound + SLACK) * weighted_norm(X, roots, kind))


@pytest.mark.parametrize("kind", KINDS)
def test_all_filters_on_a_cluster(disk, kind, tmp_path, monkeypatch):
    graph, A = disk
    monkeypatch.setattr(tasks, "on_disk", lambda file: None)  # hundreds of steps: no power fails
    monkeypatch.setattr(tasks, "BLOCKS", 2)
    X = np.random.default_rng(0).standard_normal((len(A), 3))
    how = {"laplacian": kind, "tol": 1e-3, **HOW}
    roots = dense_laplacian(A, kind, **HOW)[1]
    with tasks.open_cluster("serial", tmp_path) as cluster:
        bank = FilterBank(graph, FILTERS.values(), engine=ClusterEngine(cluster), **how)
        found = bank @ X
        one = GraphFilter(graph, FILTERS["pagerank"], engine=ClusterEngine(cluster), **how)
        rows = one.rows([5, 0]).toarray()
    assert bank.error_bound <= 1e-3
    for f, result in zip(FILTERS.values(), found, strict=True):
        error = weighted_norm(result - dense_filter(A, f, kind, **HOW) @ X, roots, kind)
        assert np.all(error <= slack_of(f, bank) * weighted_norm(X, roots, kind))
    ratio = (roots / roots[:, None])[[5, 0]] if kind == "random_walk" else 1.0
    exact = dense_filter(A, FILTERS["pagerank"], kind, **HOW)[[5, 0]]
    assert np.all(np.abs(rows - exact) <= 1e-3 * ratio)
    here = FilterBank(graph, FILTERS.values(), engine="panel", **how)
    assert np.array_equal(found, here @ X)
