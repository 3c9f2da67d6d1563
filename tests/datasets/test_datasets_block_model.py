"""The block model keeps what its parameters promise."""

from __future__ import annotations

import re
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphheat.datasets import block_model
from graphheat.datasets.block_model import _distinct
from graphheat.errors import ParameterError


def test_same_seed_same_graph():
    first, again, other = (block_model(300, seed=seed).fingerprint for seed in (1, 1, 2))
    assert first == again
    assert first != other


def test_features_and_split_leave_the_edges_alone():
    graph = block_model(300, seed=1)
    for changed in (
        block_model(300, seed=1, features=3),
        block_model(300, seed=1, feature_strength=0.0),
        block_model(300, seed=1, labels_per_class=5, val=7),
    ):
        assert (changed.adjacency - graph.adjacency).nnz == 0
        assert np.array_equal(changed.labels, graph.labels)


@pytest.mark.parametrize("homophily", [0.0, 0.1, 0.25, 0.5, 0.8, 1.0])
def test_homophily_and_degree(homophily):
    found = block_model(5000, classes=5, homophily=homophily, degree=8.0).describe()
    assert found.homophily == pytest.approx(homophily, abs=0.03)
    assert found.edges == 20_000
    assert found.self_loops == 0
    assert not found.weighted


@settings(max_examples=60, deadline=None)
@given(
    nodes=st.integers(2, 60),
    classes=st.integers(2, 6),
    share=st.floats(0, 1),
    homophily=st.floats(0, 1),
    seed=st.integers(0, 2**40),
)
def test_small_graphs_are_exact(nodes, classes, share, homophily, seed):
    classes = min(classes, nodes)
    degree = share * (nodes - 1)
    edges = round(nodes * degree / 2)
    try:
        graph = block_model(
            nodes, classes, degree=degree, homophily=homophily, labels_per_class=0, seed=seed
        )
    except ParameterError as error:
        assert "has room for" in str(error)
        return
    found = graph.describe()
    assert (found.edges, found.self_loops, found.weighted) == (edges, 0, False)
    if edges:
        assert found.homophily == pytest.approx(round(edges * homophily) / edges)
    sizes = np.bincount(graph.labels, minlength=classes)
    assert sizes.max() - sizes.min() <= 1


def test_every_pair_inside_and_between_can_be_drawn():
    # Classes of 3, 3 and 4 nodes have 12 pairs inside and 33 between; ask for all of them.
    inside = block_model(10, 3, degree=2.4, homophily=1.0, features=0, labels_per_class=1)
    assert inside.describe().label_counts == {0: 3, 1: 3, 2: 4}
    same = inside.labels[:, None] == inside.labels
    assert np.array_equal(inside.adjacency.toarray() == 1, same & ~np.eye(10, dtype=bool))
    between = block_model(10, 3, degree=6.6, homophily=0.0, features=0, labels_per_class=1)
    assert np.array_equal(
        between.adjacency.toarray() == 1, between.labels[:, None] != between.labels
    )


def test_pairs_are_uniform():
    counts = np.zeros((8, 8))
    for seed in range(300):
        graph = block_model(
            8, 2, degree=3, homophily=0.5, features=0, labels_per_class=0, seed=seed
        )
        counts += graph.adjacency.toarray()
    # 12 of 28 pairs; node numbers are shuffled, so that every pair is equally likely.
    off = counts[~np.eye(8, dtype=bool)]
    assert np.abs(off / 300 - 12 / 28).max() < 5 * np.sqrt(12 / 28 * 16 / 28 / 300)


@pytest.mark.parametrize(("total", "count"), [(10, 0), (10, 3), (10, 8), (10, 10), (10**12, 1000)])
def test_distinct_numbers(total, count):
    drawn = _distinct(total, count, np.random.default_rng(0))
    assert len(drawn) == len(set(drawn.tolist())) == count
    assert all(0 <= number < total for number in drawn.tolist())


def test_split_is_like_the_public_one():
    graph = block_model(4000, classes=4)
    train, val, test = (graph.split[part] for part in ("train", "val", "test"))
    assert np.bincount(graph.labels[train]).tolist() == [20] * 4
    assert (len(val), len(test)) == (500, 1000)
    assert len(np.unique(np.concatenate([train, val, test]))) == 80 + 1500
    assert (np.bincount(graph.labels[test], minlength=4) > 150).all()


def test_split_of_a_small_graph_fits():
    graph = block_model(100, 2, labels_per_class=5)
    assert {part: len(indices) for part, indices in graph.split.items()} == {
        "train": 10,
        "val": 30,
        "test": 60,
    }
    asked = block_model(100, 2, labels_per_class=5, val=40, test=50)
    assert [len(indices) for indices in asked.split.values()] == [10, 40, 50]


@pytest.mark.parametrize(
    ("strength", "low", "high"), [(0.0, 0.15, 0.35), (1.0, 0.4, 0.8), (4, 0.95, 1)]
)
def test_feature_strength_is_what_features_tell(strength, low, high):
    graph = block_model(4000, classes=4, feature_strength=strength)
    assert graph.features.dtype == np.float32
    even, odd = np.arange(0, 4000, 2), np.arange(1, 4000, 2)
    means = np.stack([graph.features[even[graph.labels[even] == k]].mean(axis=0) for k in range(4)])
    nearest = np.linalg.norm(graph.features[odd, None] - means, axis=2).argmin(axis=1)
    assert low <= (nearest == graph.labels[odd]).mean() <= high


def test_no_features():
    assert block_model(100, 2, features=0).features is None


def test_a_hundred_thousand_nodes_are_quick():
    start = time.perf_counter()
    graph = block_model(100_000, features=8)
    assert time.perf_counter() - start < 10  # about 0.4 s; an n × n array would not fit at all
    assert graph.describe().edges == 500_000


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"homophily": 2}, "The 'homophily' parameter of block_model must be a number in [0, 1]. "
                           "Got 2 instead."),
        ({"homophily": float("nan")}, "'homophily' parameter"),
        ({"homophily": "high"}, "Got 'high' instead."),
        ({"nodes": 1}, "must be an integer in [2, inf). Got 1 instead."),
        ({"nodes": 10.0}, "The 'nodes' parameter"),
        ({"nodes": True}, "The 'nodes' parameter"),
        ({"classes": 1}, "must be an integer in [2, 1000]. Got 1 instead."),
        ({"classes": 1001}, "The 'classes' parameter"),
        ({"degree": -1}, "must be a number in [0, 999]. Got -1 instead."),
        ({"degree": 1000}, "The 'degree' parameter"),
        ({"features": -1}, "The 'features' parameter"),
        ({"feature_strength": -0.5}, "must be a number in [0, inf). Got -0.5 instead."),
        ({"feature_strength": float("inf")}, "The 'feature_strength' parameter"),
        ({"labels_per_class": 251}, "must be an integer in [0, 250]. Got 251 instead."),
        ({"val": 921}, "must be an integer in [0, 920]. Got 921 instead."),
        ({"val": 900, "test": 21}, "must be an integer in [0, 20]. Got 21 instead."),
        ({"seed": -1}, "The 'seed' parameter"),
        ({"degree": 300, "homophily": 1}, "has room for 124,500 edges inside classes"),
        ({"degree": 900, "homophily": 0}, "has room for 375,000 edges between classes"),
    ],
)  # fmt: skip
def test_bad_parameters(parameters, message):
    with pytest.raises(ParameterError, match=re.escape(message)):
        block_model(**parameters)
