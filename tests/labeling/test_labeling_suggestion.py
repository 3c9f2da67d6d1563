import numpy as np
import pytest

import graphheat
from graphheat.errors import GraphError, NodeNotFoundError, ParameterError
from graphheat.labeling import Reach, label_reach, suggest
from graphheat.labeling.suggestion import greedy

CLIQUES = 4


def _cliques(labels=None, features=None, ring=True):
    """Four cliques of 12 nodes, in a ring or apart."""
    block = np.kron(np.eye(CLIQUES), np.ones((12, 12))) - np.eye(48)
    for k in range(CLIQUES if ring else 0):
        a, b = 12 * k, (12 * (k + 1) + 1) % 48
        block[a, b] = block[b, a] = 1.0
    return graphheat.Graph.from_scipy(
        block, features, labels, classes=None if labels is None else ("a", "b", "c", "d")
    )


def test_the_first_suggestions_are_one_per_cluster():
    found = suggest(_cliques(), CLIQUES)
    assert sorted(each.index // 12 for each in found) == [0, 1, 2, 3]
    assert all("no label covers yet" in each.why for each in found)
    assert all(each.confidence is None and each.likeness is None for each in found)
    assert found[0].gain >= found[1].gain >= found[2].gain


def test_what_is_labelled_is_covered():
    labels = np.full(48, -1)
    labels[[2, 14]] = 0, 1
    found = suggest(_cliques(labels), 2)
    assert sorted(each.index // 12 for each in found) == [2, 3]


def test_a_class_without_a_name_is_noticed():
    labels = np.full(48, -1)
    labels[[2, 14]] = 0, 1
    found = suggest(_cliques(labels, ring=False), 2)
    assert sorted(each.index // 12 for each in found) == [2, 3]
    assert all(each.novel for each in found)
    assert all("does not look like any class so far" in each.why for each in found)


def test_a_batch_does_not_repeat_itself():
    found = suggest(graphheat.datasets.block_model(200, 4, homophily=0.9, seed=0), 10)
    assert len({each.index for each in found}) == 10


def test_uncertain_nodes_come_first():
    labels = np.full(48, -1)
    labels[[2, 14, 26, 38]] = 0, 1, 2, 3
    graph = _cliques(labels)
    sure = np.full((48, 4), 0.01)
    sure[np.arange(48), np.arange(48) // 12] = 0.97
    sure[24:36] = [0.0, 0.45, 0.55, 0.0]
    found = suggest(graph, 1, probabilities=sure)
    assert found[0].index // 12 == 2
    assert "torn between c (55%) and b (45%)" in found[0].why


def test_excluded_and_labelled_nodes_are_not_asked():
    labels = np.full(48, -1)
    labels[:6] = 0
    found = suggest(_cliques(labels), 100, exclude=range(6, 40))
    assert sorted(each.index for each in found) == list(range(40, 48))
    with pytest.raises(NodeNotFoundError):
        suggest(_cliques(labels), 1, exclude=["nobody"])


def test_other_parts_of_the_split_do_not_teach():
    graph = graphheat.datasets.block_model(100, 2, seed=0)
    blank = graph.with_split(train=[], test=np.flatnonzero(graph.labels >= 0))
    assert suggest(blank, 1)[0].confidence is None


@pytest.mark.parametrize("with_features", [True, False])
def test_a_reach_is_used_again(with_features):
    graph = graphheat.datasets.block_model(150, 3, seed=1)
    if not with_features:
        graph = graphheat.Graph.from_scipy(
            graph.adjacency, labels=graph.labels, classes=graph.classes, split=graph.split
        )
    kept = Reach(graph)
    assert suggest(graph, 3, reach=kept) == suggest(graph, 3)
    np.testing.assert_allclose(np.diag(kept.within), 1.0, atol=1e-5)
    np.testing.assert_allclose(kept.within, kept.within.T, atol=1e-5)
    assert (kept.within >= 0).all()


def test_a_pool_stands_for_a_large_graph(monkeypatch):
    graph = graphheat.datasets.block_model(300, 3, seed=1)
    whole = Reach(graph)
    monkeypatch.setattr(label_reach, "MOST", 100)
    pool = Reach(graph, seed=4)
    assert len(pool.pool) == 100
    assert pool.share == 3.0
    nodes = np.array([0, int(pool.pool[3]), 299])
    np.testing.assert_allclose(pool.to(nodes), whole.within[nodes][:, pool.pool], atol=1e-5)
    found = suggest(graph, 5, reach=pool)
    assert np.isin([each.index for each in found], pool.pool).all()


def test_the_greedy_choice_is_that_of_trying_all():
    random = np.random.default_rng(0)
    likeness = random.random((150, 150)).astype(np.float32) ** 6
    weights = random.random(150).astype(np.float32)
    covered = np.zeros(150, dtype=np.float32)
    taken: list[int] = []
    for _ in range(12):
        gains = np.maximum(likeness - covered, 0) @ weights
        gains[taken] = -1
        taken.append(int(gains.argmax()))
        covered = np.maximum(covered, likeness[taken[-1]])
    zero = np.zeros(150, dtype=np.float32)
    found = [place for place, _, _ in greedy(likeness, weights, zero, np.arange(150), 12)]
    assert found == taken


def test_nodes_without_edges_or_features_come_last():
    graph = graphheat.Graph.from_edges(["a", "b"], ["b", "c"], nodes=["z", "a", "b", "c", "y"])
    assert suggest(graph, 5)[0].node == "b"
    assert len(suggest(graph, 9)) == 5


def test_refused():
    graph = _cliques()
    with pytest.raises(ParameterError, match="'k' parameter"):
        suggest(graph, 0)
    with pytest.raises(ParameterError, match="row per node"):
        suggest(graph, 1, probabilities=np.ones((3, 2)))
    sets = graphheat.Graph.from_scipy(
        np.ones((2, 2)) - np.eye(2), classes=("a", "b"), label_sets=[[1, 0], [1, 1]]
    )
    with pytest.raises(GraphError, match="several labels per node"):
        suggest(sets, 1)
