"""Heat on a graph on disk is heat on the same graph in memory, to the promised bound."""

import numpy as np
import pytest

from graphheat import HeatKernel
from graphheat.errors import GraphError, KernelMemoryError


@pytest.mark.parametrize("self_loops", [0.0, 1.0])
@pytest.mark.parametrize("s", [0.0, 1.0, 8.0])
@pytest.mark.parametrize("tol", [1e-3, 1e-8])
def test_apply_and_sweep_are_those_in_memory(disk_graph, memory_graph, s, tol, self_loops):
    X = np.random.default_rng(0).standard_normal((disk_graph.n, 37)).astype(np.float32)
    disk = HeatKernel(disk_graph, s, tol=tol, self_loops=self_loops)
    exact = HeatKernel(memory_graph, s, tol=1e-10, self_loops=self_loops)
    found, expected = disk.apply(X), exact.apply(X.astype(np.float64))
    lengths = np.linalg.norm(X, axis=0)
    assert np.all(np.linalg.norm(found - expected, axis=0) <= (disk.error_bound + 1e-9) * lengths)
    rows = np.array([5, 2, 99])
    swept = disk.sweep(X, [s, 2.0], rows=rows)
    assert swept.shape == (2, 3, 37)
    assert np.abs(swept[0] - found[rows]).max() <= 2 * tol * lengths.max()


def test_the_result_does_not_depend_on_threads_or_bounds(disk_graph, monkeypatch):
    from graphheat.heat.engines.panel import panel

    X = np.random.default_rng(0).random((disk_graph.n, 20), dtype=np.float32)
    whole = HeatKernel(disk_graph, 3.0, tol=1e-3, threads=1).apply(X)
    monkeypatch.setattr(panel, "TASK", 100)
    assert np.array_equal(HeatKernel(disk_graph, 3.0, tol=1e-3, threads=2).apply(X), whole)


@pytest.mark.parametrize("self_loops", [0.0, 1.0])
def test_rows_are_within_tol_in_every_column(disk_graph, memory_graph, self_loops):
    disk = HeatKernel(disk_graph, 2.0, tol=1e-5, self_loops=self_loops)
    exact = HeatKernel(memory_graph, 2.0, tol=1e-10, self_loops=self_loops, engine="scipy")
    nodes = np.arange(0, 3000, 211)
    assert np.abs((disk.rows(nodes) - exact.rows(nodes)).toarray()).max() <= 1e-5


@pytest.mark.parametrize("isolated", ["paper", "keep"])
@pytest.mark.parametrize("self_loops", [0.0, 2.0])
def test_weighted_graphs_and_isolated_nodes(weighted, isolated, self_loops):
    memory, disk = weighted
    X = np.random.default_rng(1).standard_normal((memory.n, 5))
    how = {"isolated": isolated, "self_loops": self_loops}
    a, b = (HeatKernel(each, 1.5, tol=1e-9, **how) for each in (disk, memory))
    assert np.abs(a.apply(X) - b.apply(X)).max() < 1e-8
    nodes = np.arange(memory.n)
    assert np.abs((a.rows(nodes, 1e-3) - b.rows(nodes, 1e-3)).toarray()).max() < 1.1e-3
    full = HeatKernel(disk, 1.5, tol=1e-6, **how).rows(nodes)
    assert np.abs((full - b.rows(nodes)).toarray()).max() <= 1e-6


def test_what_needs_memory_for_all_edges_is_refused(disk_graph):
    heat = HeatKernel(disk_graph, 1.0)
    with pytest.raises(KernelMemoryError, match=r"is not made.*HeatKernel\.rows"):
        heat.matrix(1e-4)
    with pytest.raises(GraphError, match="is on disk, and its adjacency would take"):
        _ = disk_graph.adjacency
    with pytest.raises(GraphError, match="GB of memory where"):
        disk_graph.to_memory(room=1000)
    with pytest.raises(GraphError, match="is on disk, and the matrix S"):
        HeatKernel(disk_graph, 1.0, engine="scipy").apply(np.ones(disk_graph.n))
