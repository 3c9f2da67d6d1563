"""LP, ICA, DeepWalk and ManiReg against closed forms and naive recomputation."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from odd_graphs import split_of

from graphheat import datasets
from graphheat.baselines import load
from graphheat.baselines.deepwalk import Corpus, DeepWalk
from graphheat.baselines.design_matrix import design_matrix
from graphheat.baselines.ica import ICA, sweep
from graphheat.baselines.lp import LabelPropagation, harmonic
from graphheat.baselines.manireg import ManiReg
from graphheat.errors import GraphError, ParameterError
from graphheat.graph import Graph

CLASSIC = ("lp", "ica", "deepwalk", "manireg")
FAST: dict[str, dict[str, int]] = {name: {} for name in CLASSIC}
FAST["deepwalk"] = {"dimensions": 16, "epochs": 5}


def path(n, weights=None):
    steps = np.ones(n - 1) if weights is None else np.asarray(weights, dtype=float)
    return sp.csr_array(sp.diags_array(np.stack([steps, steps]), offsets=[-1, 1], shape=(n, n)))


def random_graph(
    seed=0, n=30, classes=3, *, features=True, isolated=0, weighted=True, sparse=False
):
    """Classes are blocks of nodes; features and edges both say something of them."""
    random = np.random.default_rng(seed)
    labels = np.arange(n) % classes
    same = labels[:, None] == labels[None, :]
    upper = np.triu(random.random((n, n)) < np.where(same, 0.5, 0.05), 1)
    upper[:, n - isolated :] = False
    weight = upper * (random.uniform(0.5, 2.0, (n, n)) if weighted else 1.0)
    often = np.where(np.arange(12) % classes == labels[:, None], 0.6, 0.15)
    words = (random.random((n, 12)) < often).astype(float)
    X = sp.csr_array(words) if sparse else words
    return Graph.from_scipy(
        weight + weight.T,
        features=X if features else None,
        labels=labels,
        classes=[f"c{code}" for code in range(classes)],
    )


def assert_distributions(probabilities, graph):
    assert probabilities.shape == (graph.n, len(graph.classes))
    assert np.isfinite(probabilities).all()
    assert (probabilities >= 0).all()
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0, atol=1e-12)


# --------------------------------------------------------------------------- every baseline


@pytest.mark.parametrize("name", CLASSIC)
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("sparse", [False, True])
def test_a_users_graph_one_label_a_class_isolated_nodes_no_validation(name, classes, sparse):
    graph = random_graph(1, classes=classes, isolated=3, sparse=sparse)
    baseline = load(name).preset("graph", **FAST[name])
    outcome = baseline.fit(graph, split_of(graph, range(classes)))
    assert_distributions(outcome.probabilities, graph)
    right = outcome.probabilities.argmax(axis=1) == graph.labels
    assert right[: graph.n - 3].mean() > 0.6


@pytest.mark.parametrize("name", CLASSIC)
def test_a_class_without_a_training_label_is_never_named(name):
    graph = random_graph(2)
    train = np.flatnonzero(graph.labels != 1)[:8]
    outcome = load(name).preset("graph", **FAST[name]).fit(graph, split_of(graph, train))
    assert_distributions(outcome.probabilities, graph)
    assert (outcome.probabilities[:, 1] < outcome.probabilities.max(axis=1)).all()


@pytest.mark.parametrize("name", CLASSIC)
def test_other_labels_cannot_influence_the_outcome(name):
    graph = random_graph(3, isolated=1)
    split = split_of(graph, range(6), range(6, 12), range(12, 30))
    other = graph.labels.copy()
    other[12:] = -1
    blind = replace(graph, labels=other)
    baseline = load(name).preset("graph", **FAST[name])
    seen, unseen = baseline.fit(graph, split, 5), baseline.fit(blind, split, 5)
    np.testing.assert_array_equal(seen.probabilities, unseen.probabilities)


@pytest.mark.parametrize("name", CLASSIC)
def test_the_same_seed_gives_the_same_and_leaves_global_state_alone(name):
    graph = random_graph(4)
    baseline = load(name).preset("graph", **FAST[name])
    before = np.random.get_state(legacy=False)["state"]["key"].copy()  # noqa: NPY002
    first = baseline.fit(graph, split_of(graph, range(6)), 7).probabilities
    assert (np.random.get_state(legacy=False)["state"]["key"] == before).all()  # noqa: NPY002
    np.testing.assert_array_equal(
        first, baseline.fit(graph, split_of(graph, range(6)), 7).probabilities
    )


@pytest.mark.parametrize("name", CLASSIC)
def test_features_are_asked_for_only_where_they_are_used(name):
    graph = random_graph(5, features=False)
    baseline = load(name).preset("graph", **FAST[name])
    if baseline.needs_features:
        with pytest.raises(GraphError, match="has no features"):
            baseline.fit(graph, split_of(graph, range(6)))
    else:
        assert_distributions(baseline.fit(graph, split_of(graph, range(6))).probabilities, graph)


# --------------------------------------------------------------------------- LP


def test_lp_on_a_path_interpolates_between_its_labelled_ends():
    graph = Graph.from_scipy(path(11), labels=["a"] + [None] * 9 + ["b"])
    outcome = LabelPropagation(class_mass=False).fit(graph, split_of(graph, [0, 10]))
    np.testing.assert_allclose(outcome.probabilities[:, 1], np.linspace(0, 1, 11), atol=1e-9)
    assert outcome.notes == ()


def test_lp_weighted_path_divides_as_resistors_do():
    graph = Graph.from_scipy(path(3, [1.0, 4.0]), labels=["a", None, "b"])
    outcome = LabelPropagation(class_mass=False).fit(graph, split_of(graph, [0, 2]))
    np.testing.assert_allclose(outcome.probabilities[1], [0.2, 0.8], atol=1e-9)


def test_lp_agrees_with_a_dense_solve_and_class_mass_with_its_formula():
    graph, train = random_graph(6, n=40), np.array([0, 1, 2, 3, 7])
    W = graph.adjacency.toarray()
    rest = np.setdiff1d(np.arange(40), train)
    Y = np.eye(3)[graph.labels[train]]
    L = np.diag(W.sum(axis=1)) - W
    dense = np.linalg.solve(L[np.ix_(rest, rest)], W[np.ix_(rest, train)] @ Y)
    bare = LabelPropagation(class_mass=False).fit(graph, split_of(graph, train)).probabilities
    np.testing.assert_allclose(bare[rest], dense, atol=1e-8)
    np.testing.assert_array_equal(bare[train], Y)
    scaled = dense * Y.mean(axis=0) / dense.sum(axis=0)
    mass = LabelPropagation().fit(graph, split_of(graph, train)).probabilities
    np.testing.assert_allclose(mass[rest], scaled / scaled.sum(axis=1, keepdims=True), atol=1e-7)


def test_lp_gives_unreached_nodes_the_training_shares_and_says_how_many():
    edges = sp.block_array([[path(4), None], [None, path(3)]], format="csr")
    edges.resize((8, 8))  # and one isolated node
    graph = Graph.from_scipy(edges, labels=["a", "a", None, "b", None, None, None, None])
    outcome = LabelPropagation().fit(graph, split_of(graph, [0, 1, 3]))
    np.testing.assert_allclose(outcome.probabilities[4:], np.tile([2 / 3, 1 / 3], (4, 1)))
    assert len(outcome.notes) == 1
    assert outcome.notes[0].startswith("4 of 8 nodes")


def test_lp_ignores_self_loops():
    plain = random_graph(7)
    looped = plain.adjacency + sp.diags_array(np.linspace(0, 3, plain.n))
    other = Graph.from_scipy(looped, labels=plain.labels, classes=plain.classes)
    first, second = (LabelPropagation().fit(g, split_of(g, range(6))) for g in (plain, other))
    np.testing.assert_allclose(first.probabilities, second.probabilities, atol=1e-9)


def test_lp_where_conjugate_gradients_stall_the_factorisation_is_exact():
    n = 6001
    inner = np.arange(1, n - 1)
    values = harmonic(path(n), np.array([0, n - 1]), np.eye(2), inner, 1e-10)
    np.testing.assert_allclose(values[:, 1], inner / (n - 1), atol=1e-9)


def test_lp_holds_when_every_node_is_known_and_when_weights_differ_by_far():
    graph = Graph.from_scipy(path(3), labels=["a", "b", "b"])
    known = LabelPropagation().fit(graph, split_of(graph, [0, 1, 2])).probabilities
    np.testing.assert_array_equal(known, [[1, 0], [0, 1], [0, 1]])
    steps = [1e-9, 1.0, 1e9, 1e-9, 1.0]
    graph = Graph.from_scipy(path(6, steps), labels=["a", None, None, None, None, "b"])
    outcome = LabelPropagation(class_mass=False).fit(graph, split_of(graph, [0, 5]))
    potential = np.concatenate([[0], np.cumsum(1 / np.array(steps))])
    np.testing.assert_allclose(outcome.probabilities[:, 1], potential / potential[-1], atol=1e-6)


def test_lp_refuses_a_tolerance_out_of_range():
    with pytest.raises(ParameterError, match="tol"):
        LabelPropagation(tol=0.0)


def test_the_completed_split_of_a_graph_without_one_serves_as_well():
    graph = random_graph(8)
    assert_distributions(
        LabelPropagation().fit(graph, graph.completed_split(0)).probabilities, graph
    )


# --------------------------------------------------------------------------- ICA


def naive_sweeps(weights, order, scale, fixed, response, labels, sweeps):
    """Recount everything at every visit."""
    labels = labels.copy()
    scores = np.zeros_like(fixed)
    for _ in range(sweeps):
        for node in order:
            counts = np.zeros(fixed.shape[1])
            for neighbor in np.flatnonzero(weights[node]):
                counts[labels[neighbor]] += weights[node, neighbor]
            scores[node] = fixed[node] + scale[node] * counts @ response
            labels[node] = scores[node].argmax()
    return labels, scores


@pytest.mark.parametrize("prop", [False, True])
def test_ica_incremental_counts_equal_a_naive_recount(prop):
    random = np.random.default_rng(9)
    graph = random_graph(9, n=40, isolated=2, weighted=False)
    W = graph.adjacency.toarray()
    fixed, response = random.normal(size=(40, 3)), np.eye(3) + random.normal(size=(3, 3))
    degree = W.sum(axis=1)
    scale = 1.0 / np.maximum(degree, 1.0) if prop else np.ones(40)
    order, start = random.permutation(np.arange(5, 40)), random.integers(0, 3, 40)
    labels, counts, scores = start.copy(), W @ np.eye(3)[start], np.zeros((40, 3))
    A = graph.adjacency.astype(np.float64)
    changed = [
        sweep(order, A.indptr, A.indices, A.data, scale, fixed, response, labels, counts, scores)
        for _ in range(4)
    ]
    expected, expected_scores = naive_sweeps(W, order, scale, fixed, response, start, 4)
    assert changed[0] > 0
    np.testing.assert_array_equal(labels, expected)
    np.testing.assert_allclose(counts, W @ np.eye(3)[labels], atol=1e-12)
    np.testing.assert_allclose(scores[order], expected_scores[order], atol=1e-12)
    np.testing.assert_array_equal(labels[:5], start[:5])


def test_ica_neighbours_decide_where_features_say_nothing():
    # Two stars. Centres and half of the leaves have telling words, the other leaves none.
    n = 20
    centre = np.repeat([0, 10], 10)
    leaves = np.setdiff1d(np.arange(n), [0, 10])
    A = sp.coo_array((np.ones(18), (centre[leaves], leaves)), shape=(n, n)).tocsr()
    X = np.zeros((n, 5))
    for i in (0, 1, 2, 3, 4):
        X[i, 0] = X[10 + i, 1] = 1.0
    labels = np.repeat([0, 1], 10)
    graph = Graph.from_scipy(A + A.T, features=X, labels=labels, classes=["a", "b"])
    outcome = ICA(C=[10.0]).fit(graph, split_of(graph, [1, 2, 11, 12]))
    np.testing.assert_array_equal(outcome.probabilities.argmax(axis=1), labels)


def test_ica_chooses_on_validation_labels_and_says_what():
    graph = random_graph(10, n=60)
    split = split_of(graph, range(9), range(9, 30), range(30, 60))
    outcome = ICA().fit(graph, split, 3)
    assert outcome.notes[0].startswith("Chosen on validation labels: C=")
    single = [
        ICA(C=[C], aggregate=[kind]).fit(graph, split, 3).probabilities
        for C in ICA().C
        for kind in ICA().aggregate
    ]
    accuracy = [(p[9:30].argmax(axis=1) == graph.labels[9:30]).mean() for p in single]
    np.testing.assert_array_equal(outcome.probabilities, single[int(np.argmax(accuracy))])
    blind = ICA().fit(graph, split_of(graph, range(9)), 3)
    assert blind.notes == ()
    np.testing.assert_array_equal(blind.probabilities, single[0])


def test_ica_does_not_count_a_nodes_own_label():
    plain = random_graph(11)
    looped = plain.adjacency + sp.diags_array(np.full(plain.n, 5.0))
    other = Graph.from_scipy(
        looped, features=plain.features, labels=plain.labels, classes=plain.classes
    )
    first, second = (ICA().fit(g, split_of(g, range(6)), 2) for g in (plain, other))
    np.testing.assert_allclose(first.probabilities, second.probabilities)


@pytest.mark.parametrize("wrong", [{"C": ()}, {"C": (0.0,)}, {"aggregate": ("mean",)}])
def test_ica_refuses_settings_out_of_range(wrong):
    with pytest.raises(ParameterError):
        ICA(**wrong)


def test_the_design_matrix_standardises_measurements_and_leaves_words():
    table = np.random.default_rng(0).normal(5.0, [1.0, 1000.0], (30, 2))
    X = design_matrix(Graph.from_scipy(path(30), features=table)).toarray()
    np.testing.assert_allclose(X.mean(axis=0), 0.0, atol=1e-6)
    np.testing.assert_allclose(X.std(axis=0), 1.0, atol=1e-6)
    words = random_graph(12)
    np.testing.assert_array_equal(design_matrix(words).toarray(), words.features)


# --------------------------------------------------------------------------- DeepWalk


def two_cliques(size=8):
    block = np.ones((size, size)) - np.eye(size)
    A = np.kron(np.eye(2), block)
    A[size - 1, size] = A[size, size - 1] = 1.0
    labels = np.repeat([0, 1], size)
    return Graph.from_scipy(A, labels=labels, classes=["a", "b"])


def test_deepwalk_tells_two_cliques_apart_from_one_label_each():
    graph = two_cliques()
    baseline = DeepWalk(dimensions=16, epochs=5)
    for seed in range(3):
        guesses = baseline.fit(graph, split_of(graph, [0, 15]), seed).probabilities.argmax(axis=1)
        np.testing.assert_array_equal(guesses, graph.labels)


def test_deepwalk_walks_use_edges_only_and_start_everywhere_in_a_new_order():
    graph = random_graph(13, isolated=2)
    corpus = Corpus(graph, walks=4, length=12, seed=1)
    random = np.random.default_rng(0)
    rounds = [corpus.round(random) for _ in range(2)]
    for walks in rounds:
        assert walks.shape == (len(corpus.starts), 12)
        assert (graph.adjacency.toarray()[walks[:, :-1], walks[:, 1:]] > 0).all()
        np.testing.assert_array_equal(np.sort(walks[:, 0]), corpus.starts)
    assert (rounds[0][:, 0] != rounds[1][:, 0]).any()
    np.testing.assert_array_equal(corpus.starts, np.flatnonzero(graph.adjacency.sum(axis=1) > 0))
    assert list(corpus) == list(corpus)
    assert len(list(corpus)) == 4 * len(corpus.starts)


def test_deepwalk_steps_in_proportion_to_weight():
    # A star: from the centre, leaf k is chosen with probability k / 15.
    A = np.zeros((6, 6))
    A[0, 1:] = A[1:, 0] = np.arange(1.0, 6.0)
    A[0, 0] = 50.0  # a self-loop, which no walk takes
    corpus = Corpus(Graph.from_scipy(A), walks=1, length=20001, seed=0)
    walk = corpus.round(np.random.default_rng(3))[0]
    leaves = walk[walk > 0]
    assert len(leaves) in (10000, 10001)
    share = np.bincount(leaves, minlength=6)[1:] / len(leaves)
    np.testing.assert_allclose(share, np.arange(1, 6) / 15, atol=0.02)


def test_deepwalk_isolated_nodes_have_the_vector_zero_and_no_edge_is_no_error():
    graph = random_graph(14, isolated=2)
    vectors = DeepWalk(**FAST["deepwalk"]).embed(graph, 0)
    assert (vectors[-2:] == 0).all()
    assert (np.abs(vectors[:-2]).sum(axis=1) > 0).all()
    empty = Graph.from_scipy(sp.csr_array((4, 4)), labels=["a", "b", None, None])
    outcome = DeepWalk().fit(empty, split_of(empty, [0, 1]))
    np.testing.assert_allclose(outcome.probabilities, 0.5)


PROCESS = """
import graphheat
from graphheat.baselines.deepwalk import DeepWalk
vectors = DeepWalk(walks=2, length=10, dimensions=8).embed(graphheat.datasets.load("karate"), 4)
print(vectors.tobytes().hex())
"""


def test_deepwalk_is_the_same_in_a_process_that_hashes_differently():
    here = DeepWalk(walks=2, length=10, dimensions=8).embed(datasets.load("karate"), 4)
    other = "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"
    there = subprocess.run(
        [sys.executable, "-c", PROCESS],
        env={**os.environ, "PYTHONHASHSEED": other},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert there.strip() == here.tobytes().hex()


def test_deepwalk_seeds_differ():
    graph, baseline = random_graph(16), DeepWalk(**FAST["deepwalk"])
    assert (baseline.embed(graph, 0) != baseline.embed(graph, 1)).any()


@pytest.mark.parametrize("wrong", [{"walks": 0}, {"window": 1.5}, {"C": -1.0}])
def test_deepwalk_refuses_settings_out_of_range(wrong):
    with pytest.raises(ParameterError):
        DeepWalk(**wrong)


# --------------------------------------------------------------------------- ManiReg


def dense_dual(graph, train, a, b, *, normalized):
    """Scores by Belkin's equation (8), with a = γA l and b = γI l / n²."""
    X = graph.features.astype(np.float64)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    W = graph.adjacency.toarray()
    degree = W.sum(axis=1)
    L = np.diag(degree) - W
    if normalized:
        L = L / np.sqrt(np.outer(degree, degree))
    K, n = X @ X.T, graph.n
    J, Y = np.zeros((n, n)), np.zeros((n, len(graph.classes)))
    J[train, train] = 1.0
    Y[train] = 2.0 * np.eye(len(graph.classes))[graph.labels[train]] - 1.0
    return K @ np.linalg.solve(J @ K + a * np.eye(n) + b * L @ K, Y)


@pytest.mark.parametrize("normalized", [True, False])
@pytest.mark.parametrize("wide", [False, True])
def test_manireg_agrees_with_the_dense_dual_formula(normalized, wide):
    graph = random_graph(19)  # 30 nodes of which none is isolated or without a feature
    if wide:  # more features than the f × f way is taken for
        extra = np.hstack([graph.features, np.eye(30)])
        graph = Graph.from_scipy(
            graph.adjacency, features=extra, labels=graph.labels, classes=graph.classes
        )
    assert (graph.adjacency.sum(axis=1) > 0).all()
    assert (graph.features.sum(axis=1) > 0).all()
    train = np.arange(6)
    baseline = ManiReg(ambient=[0.05], intrinsic=[0.3], normalized=normalized, tol=1e-12)
    scores = dense_dual(graph, train, 0.05, 0.3, normalized=normalized)
    expected = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    outcome = baseline.fit(graph, split_of(graph, train))
    np.testing.assert_allclose(outcome.probabilities, expected, atol=1e-8)


def test_manireg_graph_spreads_what_features_cannot():
    # Two paths; only one end of each is known, and no two nodes share a word.
    graph = Graph.from_scipy(
        sp.block_array([[path(6), None], [None, path(6)]]),
        features=np.eye(12),
        labels=np.repeat([0, 1], 6),
        classes=["a", "b"],
    )
    outcome = ManiReg().fit(graph, split_of(graph, [0, 6]))
    np.testing.assert_array_equal(outcome.probabilities.argmax(axis=1), graph.labels)


def test_manireg_chooses_on_validation_labels_and_says_what():
    graph = random_graph(18, n=60)
    split = split_of(graph, range(9), range(9, 30), range(30, 60))
    outcome = ManiReg().fit(graph, split)
    assert outcome.notes[0].startswith("Chosen on validation labels: ambient=")
    single = [
        ManiReg(ambient=[a], intrinsic=[b]).fit(graph, split).probabilities
        for a in ManiReg().ambient
        for b in ManiReg().intrinsic
    ]
    accuracy = [(p[9:30].argmax(axis=1) == graph.labels[9:30]).mean() for p in single]
    assert len(set(accuracy)) > 1
    np.testing.assert_array_equal(outcome.probabilities, single[int(np.argmax(accuracy))])
    blind = ManiReg().fit(graph, split_of(graph, range(9)))
    assert blind.notes == ()
    np.testing.assert_array_equal(blind.probabilities, single[0])


@pytest.mark.parametrize("wrong", [{"ambient": ()}, {"intrinsic": (0.0,)}, {"tol": 1.0}])
def test_manireg_refuses_settings_out_of_range(wrong):
    with pytest.raises(ParameterError):
        ManiReg(**wrong)
