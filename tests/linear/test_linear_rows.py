"""Rows of the kernel to learn from: certified, the largest entries, at a cost that is counted."""

import numpy as np
import pytest

import graphheat
from graphheat.datasets import block_model
from graphheat.heat import HeatKernel
from graphheat.heat.engines.push.walk import given_ranks
from graphheat.linear import heat_rows, heat_walks, row_diffusion
from graphheat.linear.diffusion import Diffusion
from graphheat.linear.heat_rows import HeatRows
from graphheat.linear.row_diffusion import RowDiffusion, row_diffusions, sampled_rows


@pytest.fixture(scope="module")
def graph():
    return block_model(1500, 3, degree=6, homophily=0.85, features=10, seed=4)


@pytest.mark.parametrize("s", [0.0, 0.5, 2.0])
def test_rows_are_those_of_the_kernel_and_say_what_they_keep(graph, s):
    nodes = np.array([3, 700, 41])
    found = HeatRows(graph).of(nodes, s)
    exact = HeatKernel(graph, s, tol=1e-9, self_loops=1.0).rows(nodes).toarray()
    degrees = np.asarray(graph.adjacency.sum(axis=1)).ravel() + 1
    rows = found.rows.toarray()
    assert np.allclose(rows.sum(axis=1), 1)
    for k, node in enumerate(nodes):
        held = rows[k] > 0
        assert held.sum() <= heat_rows.TOP
        share = (exact[k, held] * np.sqrt(degrees[held] / degrees[node])).sum()
        assert found.kept[k] <= share + 1e-6
        assert share - found.kept[k] <= found.tol * held.sum() * 3
        kept = exact[k] * held
        assert np.abs(rows[k] - kept / kept.sum()).max() < 0.02


def test_times_of_which_too_little_is_kept_are_not_offered(graph, monkeypatch):
    nodes = np.arange(0, 1500, 100)
    times = np.array([0.0, 0.5, 1.0, 5.0])
    assert np.array_equal(HeatRows(graph).offered(times, nodes), times)
    monkeypatch.setattr(heat_rows, "TOP", 20)
    short = HeatRows(graph).offered(times, nodes)
    assert 2 <= len(short) < len(times)


def test_the_diffused_rows_are_those_of_the_whole_diffusion(graph):
    nodes = np.arange(0, 1500, 50)
    local = row_diffusions(graph, ("standard",), 1)["standard"]
    assert isinstance(local, RowDiffusion)
    whole = Diffusion(graph, local.scaling)
    for s in (0.0, 1.0, 3.0):
        assert np.abs(local.rows(nodes, s) - whole.rows(nodes, s)).max() < 0.03
    block = np.asarray(local.features @ np.eye(10)[:, :3])
    assert np.abs(local.spread(block, 2.0) - whole.spread(block, 2.0)).max() < 0.02


def test_a_large_graph_in_memory_is_learned_from_rows(graph, monkeypatch):
    full = graphheat.fit(graph, "linear")
    monkeypatch.setattr(row_diffusion, "LARGE", 1000)
    local = graphheat.fit(graph, "linear")
    assert abs(local.test_accuracy - full.test_accuracy) <= 0.02
    assert local.test_accuracy > 0.8


def test_columns_are_measured_on_a_sample(monkeypatch):
    graph = block_model(5000, 3, features=4, seed=0)
    monkeypatch.setattr(row_diffusion, "SAMPLE", 640)
    sample = sampled_rows(graph)
    assert 500 < len(sample) <= 640
    assert sample.shape[1] == 4


# ------------------------------------------------------------------ walks for the rest


@pytest.fixture(scope="module")
def wide():
    """Return a graph in which two steps reach most nodes, and one with weights."""
    graph = block_model(600, 3, degree=40, homophily=0.5, features=6, seed=1)
    weights = graph.adjacency.copy()
    weights.data = np.maximum(weights.indices, np.repeat(np.arange(600), np.diff(weights.indptr)))
    weights.data = 1.0 + (weights.data % 3)
    return graph, graphheat.Graph.from_scipy((weights + weights.T) / 2, graph.features)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("s", [1.0, 4.0])
def test_walks_end_where_heat_is(wide, weighted, s):
    graph = wide[weighted]
    ranks = given_ranks(graph.adjacency, 1.0)
    walks = heat_walks.HeatWalks(ranks)
    assert walks.possible
    degrees = np.asarray(graph.adjacency.sum(axis=1)).ravel() + 1
    exact = HeatKernel(graph, s, tol=1e-9, self_loops=1.0).rows([7, 300]).toarray()
    for row, node in zip(exact, (7, 300), strict=True):
        shares = row * np.sqrt(degrees / degrees[node])  # of walks that end at each node
        assert shares.sum() == pytest.approx(1, abs=1e-6)
        counts = np.bincount(walks.ends(node, s), minlength=600)
        assert np.array_equal(counts, np.bincount(walks.ends(node, s), minlength=600))
        # Pearson's statistic, cells below 5 put together: its mean is their number, its variance
        # about twice that (lengths of walks are not left to chance, which makes it smaller).
        large = shares * heat_walks.WALKS >= 5
        expected = np.append(shares[large], shares[~large].sum()) * heat_walks.WALKS
        seen = np.append(counts[large], counts[~large].sum())
        cells = len(seen)
        assert ((seen - expected) ** 2 / expected).sum() < cells + 5 * np.sqrt(2 * cells)


def test_rows_completed_by_walks_have_the_right_mean(wide, monkeypatch):
    graph = wide[0]
    monkeypatch.setattr(heat_rows, "TOP", 30)
    nodes, s = np.arange(0, 600, 10), 2.0
    found = HeatRows(graph).of(nodes, s)
    assert np.allclose(found.rows.sum(axis=1), 1)
    assert found.kept.max() < 0.6
    exact = HeatKernel(graph, s, tol=1e-9, self_loops=1.0).rows(nodes).toarray()
    exact /= exact.sum(axis=1, keepdims=True)
    error = (found.rows.toarray() - exact) @ graph.features
    deviation = np.sqrt(np.var(graph.features, axis=0) / heat_walks.WALKS)
    # Of 60 rows, the mean error is an eighth of a row's: no bias beside the chance.
    assert np.all(np.abs(error.mean(axis=0)) < 4 * deviation / np.sqrt(60))
    assert np.all(error.std(axis=0) < 1.5 * deviation)


def test_times_at_which_chance_tells_nodes_apart_are_not_offered(wide):
    local = row_diffusions(wide[0], ("standard",), 1)["standard"]
    assert isinstance(local, RowDiffusion)
    times = np.array([0.0, 0.5, 1.0, 3.0, 50.0])
    assert np.array_equal(local.offered(times, np.arange(0, 600, 7)), times[:-1])
