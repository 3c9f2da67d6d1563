import numpy as np
import pytest

import graphheat
from graphheat.errors import ParameterError
from graphheat.labeling import spread

GRAPH = graphheat.datasets.block_model(60, 3, homophily=0.8, seed=3)


def _labels(graph, count=9, seed=0):
    labels = np.full(graph.n, -1)
    some = np.random.default_rng(seed).choice(graph.n, count, replace=False)
    labels[some] = graph.labels[some]
    return labels


def test_spread_is_the_spreading_recipe():
    labels = _labels(GRAPH)
    known = np.flatnonzero(labels >= 0)
    run = graphheat.fit(GRAPH.with_split(train=known), "spreading")
    assert (spread(GRAPH, labels, classes=3) == run.probabilities).all()


def test_a_class_without_a_label_is_hardly_likely():
    p = spread(GRAPH, _labels(GRAPH), classes=5)
    assert p.shape == (60, 5)
    assert (p[:, 3:] < p[:, :3].max(axis=1, keepdims=True)).all()


def test_no_label_tells_nothing():
    assert (spread(GRAPH, np.full(60, -1), classes=4) == 0.25).all()
    with pytest.raises(ParameterError, match="needs a label"):
        spread(GRAPH, np.full(60, -1))


def test_a_node_without_edges_gets_the_shares():
    alone = graphheat.Graph.from_edges(["a", "b"], ["b", "c"], nodes=["a", "b", "c", "d"])
    p = spread(alone, np.array([0, -1, 1, -1]))
    np.testing.assert_allclose(p[3], [0.5, 0.5])
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
