"""SemiEmb and Planetoid against plain formulas, and on graphs whose answer is known."""

import numpy as np
import pytest
import torch
from odd_graphs import (
    EASY,
    EASY_SPLIT,
    accuracy,
    is_valid,
    odd_graph,
    split_of,
    with_other_test_labels,
)

from graphheat.baselines import load
from graphheat.baselines.descent import descend, seeded
from graphheat.baselines.planetoid import Walks, _Contexts, label_contexts, window_pairs
from graphheat.baselines.semiemb import _Pairs
from graphheat.datasets import block_model
from graphheat.errors import GraphError, ParameterError
from graphheat.features import Scaling
from graphheat.graph import Graph
from graphheat.training.stop_rule import StopRule

QUICK = {"label_batches": 40, "graph_batches": 10, "max_epochs": 400}
BASELINES = [
    ("semiemb", {"max_epochs": 120}),
    ("semiemb", {"max_epochs": 120, "layer": "output"}),
    ("planetoid", QUICK),
]
every_baseline = pytest.mark.parametrize(("name", "changes"), BASELINES)


def fit(name, changes, graph=EASY, split=EASY_SPLIT, seed=0, **settings):
    return load(name)(**{**changes, **settings}).fit(graph, split, seed)


# ---------------------------------------------------------------------- every baseline


@every_baseline
def test_easy_classes_are_found(name, changes):
    outcome = fit(name, changes)
    assert accuracy(outcome) > 0.85
    assert is_valid(outcome.probabilities, EASY)
    assert len(outcome.history["val_accuracy"]) >= outcome.best_epoch > 0


@every_baseline
def test_a_seed_repeats_and_another_does_not(name, changes):
    state = torch.get_rng_state()
    first, again, other = (fit(name, changes, seed=seed, max_epochs=5) for seed in (1, 1, 2))
    assert np.array_equal(first.probabilities, again.probabilities)
    assert not np.array_equal(first.probabilities, other.probabilities)
    assert torch.equal(state, torch.get_rng_state())


@every_baseline
def test_labels_outside_train_and_val_are_not_looked_at(name, changes):
    honest = fit(name, changes, max_epochs=10)
    hidden = fit(name, changes, with_other_test_labels(), max_epochs=10)
    assert np.array_equal(honest.probabilities, hidden.probabilities)
    assert honest.history == hidden.history


@every_baseline
@pytest.mark.parametrize("sparse", [True, False])
def test_odd_graphs(name, changes, sparse):
    graph, split = odd_graph(sparse=sparse)
    outcome = fit(name, changes, graph, split, max_epochs=200)
    assert is_valid(outcome.probabilities, graph)
    assert outcome.probabilities[:2].argmax(axis=1).tolist() == [0, 1]


@every_baseline
def test_a_graph_without_edges(name, changes):
    edgeless = Graph.from_scipy(
        np.zeros((6, 6)), np.eye(6)[[0, 1, 0, 1, 0, 1]], [0, 1, *[None] * 4]
    )
    outcome = fit(name, changes, edgeless, split_of(edgeless, [0, 1]), max_epochs=200)
    assert outcome.probabilities.argmax(axis=1).tolist() == [0, 1, 0, 1, 0, 1]


@every_baseline
def test_a_graph_without_features_is_refused(name, changes):
    bare = block_model(20, 2, features=0, labels_per_class=2)
    with pytest.raises(GraphError, match="has no features"):
        fit(name, changes, bare, bare.completed_split(0))


# ---------------------------------------------------------------------- SemiEmb


def test_without_embedding_loss_it_is_an_mlp():
    outcome = fit("semiemb", {}, max_epochs=8, embedding_weight=0.0)
    x = torch.tensor(Scaling.learn(EASY.features, "standard").apply(EASY.features))
    with seeded(0):
        drop = torch.nn.Dropout(0.5)
        mlp = torch.nn.Sequential(
            drop, torch.nn.Linear(24, 16), torch.nn.ReLU(), drop, torch.nn.Linear(16, 3)
        )
        for linear in (mlp[1], mlp[4]):
            torch.nn.init.xavier_uniform_(linear.weight)
            torch.nn.init.zeros_(linear.bias)
        groups = [
            {"params": mlp[1].parameters(), "weight_decay": 5e-4},
            {"params": mlp[4].parameters()},
        ]
        plain = descend(
            mlp,
            lambda: mlp(x),
            torch.optim.Adam(groups, lr=0.01),
            EASY,
            EASY_SPLIT,
            StopRule(8, 100),
        )
    assert np.allclose(outcome.probabilities, plain.probabilities, atol=1e-6)


def test_the_embedding_loss_is_the_formula():
    graph, _ = odd_graph(sparse=False)
    A = graph.adjacency.toarray()
    h = np.random.default_rng(0).normal(size=(12, 3))
    distance = np.linalg.norm(h[:, None] - h, axis=2)
    pairs, twin = _Pairs(graph, 3), _Pairs(graph, 3)
    i, j = twin.strangers(len(pairs.source))
    assert len(i) > 0
    assert (A[i, j] == 0).all() and (i != j).all()
    upper = np.triu(A, 1)
    expected = (upper * distance**2).sum() / upper.sum()
    expected += (np.maximum(0, 2.5 - distance[i, j]) ** 2).mean()
    assert np.isclose(pairs.loss(torch.tensor(h), 2.5).item(), expected, rtol=1e-5)


def test_nodes_in_one_place_have_a_gradient_that_is_a_number():
    h = torch.zeros(EASY.n, 2, requires_grad=True)
    _Pairs(EASY, 0).loss(h, 1.0).backward()
    assert torch.isfinite(h.grad).all()


def test_the_graph_teaches_words_that_no_label_knows():
    # A class has 30 words and a node 3 of them: two labelled nodes know a fifth of their class.
    edges = block_model(160, 2, degree=10, homophily=1.0, features=0, labels_per_class=2, seed=1)
    random = np.random.default_rng(0)
    words = np.zeros((160, 60))
    for node, label in enumerate(edges.labels):
        words[node, 30 * label + random.choice(30, 3, replace=False)] = 1
    graph = Graph.from_scipy(edges.adjacency, words, edges.labels)
    split = split_of(graph, edges.split["train"], test=edges.split["test"])
    alone, embedded = (
        accuracy(fit("semiemb", {}, graph, split, embedding_weight=w), graph, split)
        for w in (0.0, 1.0)
    )
    assert embedded > alone + 0.1


def test_an_unknown_layer_is_refused():
    with pytest.raises(ParameterError, match="'layer' parameter of SemiEmb"):
        fit("semiemb", {}, layer="input")


# ---------------------------------------------------------------------- Planetoid


def two_cliques(size=8):
    """Features say nothing: only the edges tell the two apart."""
    block = np.ones((size, size)) - np.eye(size)
    labels = np.repeat([0, 1], size)
    return Graph.from_scipy(np.kron(np.eye(2), block), np.ones((2 * size, 3)), labels)


def test_two_cliques_are_told_apart():
    graph = two_cliques()
    split = split_of(graph, [0, 1, 2, 13, 14, 15], test=range(3, 13))
    settings = {"label_batches": 20, "graph_batches": 200, "max_epochs": 300}
    outcome = fit("planetoid", settings, graph, split)
    assert accuracy(outcome, graph, split) == 1.0


def test_walks_go_along_edges_in_proportion_to_their_weight():
    graph, _ = odd_graph(sparse=False)
    A = graph.adjacency.toarray()
    walks = Walks(graph, np.random.default_rng(0))
    drawn = np.concatenate([walks.take(100, 400) for _ in range(40)])
    steps = np.zeros_like(A)
    np.add.at(steps, (drawn[:, :-1].ravel(), drawn[:, 1:].ravel()), 1)
    assert (steps[A == 0] == 0).all()
    assert not np.isin([3, 7], drawn).any()  # isolated
    known = A.sum(axis=1) > 0
    shares, weights = (M[known] / M[known].sum(axis=1, keepdims=True) for M in (steps, A))
    assert np.abs(shares - weights).max() < 0.03


def test_every_node_starts_a_walk_before_one_starts_another():
    graph = two_cliques()
    walks = Walks(graph, np.random.default_rng(0))
    starts = np.concatenate([walks.take(5, 1)[:, 0] for _ in range(4)])
    assert sorted(starts) == list(range(16))


def test_contexts_are_within_the_window_of_a_walk():
    walks = np.arange(22).reshape(2, 11)
    centres, contexts = window_pairs(walks, 3)
    assert (np.abs(centres - contexts) <= 3).all()
    assert (centres // 11 == contexts // 11).all()
    assert len(set(zip(centres, contexts, strict=True))) == len(centres) == 2 * (11 * 7 - 12)


def test_label_contexts_are_training_nodes_of_one_class():
    train = EASY_SPLIT.train
    centres, contexts = label_contexts(EASY.labels, train, 5000, np.random.default_rng(0))
    assert set(centres) == set(contexts) == set(train)
    assert (EASY.labels[centres] == EASY.labels[contexts]).all()
    assert len(set(zip(centres, contexts, strict=True))) == 3 * 8 * 8


@pytest.mark.parametrize("chunk", [1e9, 40])
def test_a_step_on_contexts_is_that_of_autograd(chunk, monkeypatch):
    monkeypatch.setattr("graphheat.baselines.planetoid.CHUNK", chunk)
    random = np.random.default_rng(0)
    pairs = random.integers(20, size=(2, 90))
    with seeded(0):
        contexts = _Contexts(20, 4)
    parts = contexts.embedding, contexts.weight, contexts.bias  # changed in place
    before = [part.clone().requires_grad_() for part in parts]
    e, weight, bias = before
    logits = e[pairs[0]] @ weight + bias
    loss = torch.nn.functional.cross_entropy(logits, torch.tensor(pairs[1]), reduction="sum")
    loss.backward()
    contexts.learn(tuple(pairs), 0.3)
    for part, start in zip(
        (contexts.embedding, contexts.weight, contexts.bias), before, strict=True
    ):
        assert torch.allclose(part, start.detach() - 0.3 * start.grad, atol=1e-5)
