"""The layout: in the unit square, the same for the same seed, neighbours near each other."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from graphheat import datasets
from graphheat.explorer import lay_out
from graphheat.explorer.layout import _packed
from graphheat.explorer.mesh import repulsion
from graphheat.graph import Graph


def edges_of(graph):
    upper = sp.triu(graph.adjacency, k=1, format="coo")
    return upper.row, upper.col


def test_cora_is_laid_out_the_same_for_the_same_seed():
    graph = datasets.load("cora")
    first, second = lay_out(graph, seed=3), lay_out(graph, seed=3)
    assert np.array_equal(first, second)
    assert not np.array_equal(first, lay_out(graph, seed=4))


def test_neighbours_lie_closer_than_others():
    graph = datasets.load("cora")
    places = lay_out(graph)
    a, b = edges_of(graph)
    near = np.linalg.norm(places[a] - places[b], axis=1)
    random = np.random.default_rng(0).integers(0, graph.n, (2, 20_000))
    far = np.linalg.norm(places[random[0]] - places[random[1]], axis=1)
    assert np.median(near) < np.median(far) / 3
    assert len(np.unique(places.round(4), axis=0)) > 0.95 * graph.n  # hardly any on one spot


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 40), st.floats(0.0, 0.3), st.integers(0, 1000))
def test_any_graph_has_a_place_in_the_square(n, density, seed):
    random = np.random.default_rng(seed)
    matrix = np.triu(random.random((n, n)) < density).astype(float)  # self-loops among them
    places = lay_out(Graph.from_scipy(np.maximum(matrix, matrix.T)))
    assert places.shape == (n, 2)
    assert np.isfinite(places).all()
    assert places.min() >= 0
    assert places.max() <= 1


def test_weights_play_no_part():
    ring = np.roll(np.eye(9), 1, axis=0)
    ring = ring + ring.T
    heavy = ring * 1e200
    assert np.array_equal(lay_out(Graph.from_scipy(ring)), lay_out(Graph.from_scipy(heavy)))


def test_thousands_of_isolated_nodes_are_apart():
    places = lay_out(Graph.from_scipy(sp.csr_array((3000, 3000))))
    assert len(np.unique(places, axis=0)) == 3000


def test_components_do_not_overlap():
    random = np.random.default_rng(0)
    parts = [random.uniform(-r, r, (5, 2)) for r in (9.0, 4.0, 3.0, 3.0, 1.0, 1.0, 1.0, 0.1)]
    centres = _packed(parts)
    radii = [np.linalg.norm(part, axis=1).max() for part in parts]
    for i in range(len(parts)):
        for j in range(i):
            assert np.linalg.norm(centres[i] - centres[j]) >= radii[i] + radii[j]


@pytest.mark.parametrize("cells", [64, 256])
def test_the_grid_s_push_is_that_of_all_pairs(cells):
    random = np.random.default_rng(0)
    points, masses = random.random((300, 2)), random.uniform(0.5, 2.0, 300)
    apart = points[:, None] - points[None]
    square = (apart**2).sum(axis=2)
    np.fill_diagonal(square, np.inf)
    exact = (apart * (masses / square)[:, :, None]).sum(axis=1)
    found = repulsion(points, masses, cells)
    error = np.linalg.norm(found - exact, axis=1) / np.linalg.norm(exact, axis=1)
    assert np.median(error) < 0.1


def test_points_on_one_spot_get_a_finite_push():
    assert np.isfinite(repulsion(np.zeros((4, 2)), np.ones(4), 16)).all()
