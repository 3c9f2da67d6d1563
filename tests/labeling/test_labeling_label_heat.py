import numpy as np
import pytest
import scipy.linalg

import graphheat
from graphheat.errors import ParameterError
from graphheat.heat.laplacian import laplacian
from graphheat.labeling import spread

GRAPH = graphheat.datasets.block_model(60, 3, homophily=0.8, seed=3)


def _labels(graph, count=9, seed=0):
    labels = np.full(graph.n, -1)
    some = np.random.default_rng(seed).choice(graph.n, count, replace=False)
    labels[some] = graph.labels[some]
    return labels


@pytest.mark.parametrize("classes", [3, 5])
def test_spread_is_its_formula(classes):
    labels = _labels(GRAPH)
    H = scipy.linalg.expm(-20.0 * laplacian(GRAPH.adjacency, self_loops=1.0).toarray())
    known = np.flatnonzero(labels >= 0)
    Y = np.eye(classes)[labels[known]]
    prior = (Y.sum(axis=0) + 1) / (len(known) + classes)
    mixed = H[:, known] @ Y + 0.01 * H[known, known].mean() * prior
    expected = mixed / mixed.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(spread(GRAPH, labels, classes=classes), expected, atol=1e-7)


def test_no_label_tells_nothing():
    assert (spread(GRAPH, np.full(60, -1), classes=4) == 0.25).all()
    with pytest.raises(ParameterError, match="needs a label"):
        spread(GRAPH, np.full(60, -1))


def test_a_node_without_edges_gets_the_shares():
    alone = graphheat.Graph.from_edges(["a", "b"], ["b", "c"], nodes=["a", "b", "c", "d"])
    p = spread(alone, np.array([0, -1, 1, -1]), classes=3)
    np.testing.assert_allclose(p[3], [0.4, 0.4, 0.2])
    np.testing.assert_allclose(p.sum(axis=1), 1.0)


def test_a_hub_of_many_neighbours_is_spread():
    hub = graphheat.Graph.from_edges(["hub"] * 30_000, [f"n{k}" for k in range(30_000)])
    labels = np.full(hub.n, -1)
    labels[[1, 2]] = 0, 1
    assert np.isfinite(spread(hub, labels)).all()


@pytest.mark.parametrize(
    ("labels", "match"),
    [
        (np.zeros(59, dtype=int), "shape"),
        (np.zeros(60), "float64"),
        (np.full(60, -2), "row 0 is -2"),
        (np.full(60, 3), "from −1 to 2"),
        (["x"] * 60, "class codes"),
    ],
)
def test_codes_that_are_none(labels, match):
    with pytest.raises(ParameterError, match=match):
        spread(GRAPH, labels, classes=3)
