"""Networks: contributions of the sources sum to the logit, and are what they claim to be."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from helpers.network import fit_network
from scipy.linalg import expm
from scipy.special import softmax

from graphheat.datasets import block_model, load
from graphheat.errors import GraphError, NodeNotFoundError, ParameterError
from graphheat.explain import NetworkExplainer, explain
from graphheat.graph import Graph
from graphheat.heat import laplacian
from graphheat.nn import heat_operator
from graphheat.nn.features import as_input
from graphheat.training import ConsistencySettings
from graphheat.training.build import build_network, build_operator

BLOCKS = block_model(90, 3, degree=4, features=8, labels_per_class=4, seed=0)
SETTINGS = {
    "explicit": {},
    "implicit": {"eps": None},
    "three terms": {"K": 3},
    "authors": {"recipe": "authors"},
    "one term": {"K": 1},
}


@pytest.fixture(scope="module", params=SETTINGS, ids=lambda name: name.replace(" ", "-"))
def run(request):
    return fit_network(BLOCKS, max_epochs=15, **SETTINGS[request.param])


@pytest.fixture(scope="module")
def plain():
    return fit_network(BLOCKS, max_epochs=15)


def network(run, graph, *, bias=False):
    model = build_network(graph.features.shape[1], len(run.classes), run.settings)
    if bias:
        for layer, width in ((model.first, run.settings.hidden), (model.second, len(run.classes))):
            layer.bias = torch.nn.Parameter(torch.zeros(width))
    model.load_state_dict({name: torch.tensor(array) for name, array in run.weights.items()})
    return model.eval()


def logits_of(model, run, graph):
    """What the network itself says of every node, shape (n, c)."""
    x = as_input(run.scaling.apply(graph.features))
    with torch.no_grad():
        return model(x, build_operator(graph, run.settings)).numpy()


def test_contributions_and_constant_sum_to_the_network_s_own_logit(run):
    logits = logits_of(network(run, BLOCKS), run, BLOCKS)
    explainer = NetworkExplainer(run, BLOCKS)
    assert np.abs(explainer.logits - logits).max() < 1e-4
    for node in (0, 17, 89):
        for label in run.classes:
            shown = explainer.explain(node, label=label)
            code = run.classes.index(label)
            assert shown.constant == 0  # no biases in the paper's network
            assert shown.contributions.sum() == pytest.approx(logits[node, code], abs=1e-4)


def test_a_source_s_contribution_is_what_the_logit_loses_without_its_features(run):
    # At a fixed ReLU pattern the network is linear: scaling one node's features by 1 − h must
    # take h times its contribution away, for an h so small that the pattern stays.
    explainer = NetworkExplainer(run, BLOCKS)
    model = network(run, BLOCKS).double()
    x = torch.tensor(run.scaling.apply(BLOCKS.features)).double()
    s = run.settings
    operator = heat_operator(
        BLOCKS, s.s, K=s.K, eps=s.eps, zero_diagonal=s.zero_diagonal, dtype=torch.float64
    )
    given, _ = explainer.contributions(5, [1])
    h = 1e-6
    with torch.no_grad():
        whole = model(x, operator)[5, 1].item()
        for source in np.argsort(-np.abs(given[:, 0]))[:6]:
            less = x.clone()
            less[source] *= 1 - h
            lost = (whole - model(less, operator)[5, 1].item()) / h
            assert lost == pytest.approx(given[source, 0], rel=1e-3, abs=1e-5)


def test_biases_are_the_named_constant(plain):
    weights = dict(plain.weights)
    weights["first.bias"] = np.linspace(-0.5, 0.5, plain.settings.hidden, dtype=np.float32)
    weights["second.bias"] = np.array([0.3, -0.2, 0.1], dtype=np.float32)
    biased = network(replace(plain, weights=weights), BLOCKS, bias=True)
    logits = logits_of(biased, plain, BLOCKS)
    shown = replace(plain, weights=weights, probabilities=softmax(logits, axis=1))
    explainer = NetworkExplainer(shown, BLOCKS)
    assert np.abs(explainer.logits - logits).max() < 1e-4
    for node in (0, 40):
        given, constants = explainer.contributions(node, [0, 1, 2])
        assert np.abs(constants).max() > 0.01
        assert np.abs(given.sum(axis=0) + constants - explainer.logits[node]).max() < 1e-9


def test_the_predicted_class_is_explained_by_default_and_sources_are_told(plain):
    shown = explain(plain, BLOCKS, 3)
    code = int(plain.predicted[3])
    assert shown.label == plain.classes[code]
    assert shown.probability == pytest.approx(float(plain.probabilities[3, code]))
    assert (np.diff(np.abs(shown.contributions)) <= 0).all()
    assert shown.hops[shown.sources == 3].tolist() == [0]
    assert set(shown.sources[shown.training]) <= set(BLOCKS.split["train"].tolist())
    assert sum(shown.by_hop().values()) == pytest.approx(shown.logit, abs=1e-4)
    frame = shown.table()
    assert list(frame.columns) == ["node", "contribution", "hops", "training"]
    assert len(frame) == len(shown.sources)
    assert str(shown).startswith("Node 3: ")
    # The sum, two sources, features, labels, and what if not.
    assert len(shown.text(limit=2).splitlines()) == 6


def test_explanations_repeat_to_the_bit(plain):
    first, second = explain(plain, BLOCKS, 3), explain(plain, BLOCKS, 3)
    assert np.array_equal(first.contributions, second.contributions)
    assert np.array_equal(first.sources, second.sources)


def test_logits_are_those_of_the_probabilities(run):
    explainer = NetworkExplainer(run, BLOCKS)
    assert np.abs(softmax(explainer.logits, axis=1) - run.probabilities).max() < 1e-4


def test_an_isolated_node_is_its_own_and_only_source():
    matrix = BLOCKS.adjacency.toarray()
    alone = int(BLOCKS.split["test"][0])
    matrix[alone] = matrix[:, alone] = 0
    graph = Graph.from_scipy(
        matrix, BLOCKS.features, BLOCKS.labels, classes=BLOCKS.classes, split=BLOCKS.split
    )
    shown = explain(fit_network(graph, max_epochs=5), graph, alone)
    assert shown.sources.tolist() in ([alone], [])


def test_what_cannot_be_explained_is_said(plain):
    with pytest.raises(NodeNotFoundError, match="no node 'nobody'"):
        explain(plain, BLOCKS, "nobody")
    with pytest.raises(ParameterError, match="must be a class of the run"):
        explain(plain, BLOCKS, 0, label="nonsense")
    with pytest.raises(GraphError, match="not the graph that this run was fitted on"):
        explain(plain, block_model(90, 3, features=8, seed=1), 0)


# ---------------------------------------------------------------- other networks of two heat layers


def consistent(**changes):
    return ConsistencySettings(scaling="standard", hidden=16, **changes)


OTHERS = {
    "self-loops": consistent(),
    "without heat": consistent(s=0.0),
    "half a loop": consistent(self_loops=0.5, s=2.0),
    "no loops": consistent(self_loops=0.0, s=1.0),
    "mean of powers": consistent(order=4, propagation="powers"),
}


def dense_kernels(settings):
    """H_0 … H_{K-1}, shape (n, n), by definition."""
    L = laplacian(BLOCKS.adjacency, self_loops=settings.self_loops).toarray()
    one = np.eye(BLOCKS.n)
    if settings.propagation == "powers":
        mean = sum(np.linalg.matrix_power(one - L, k) for k in range(settings.order + 1))
        return [one, mean / (settings.order + 1)]
    return [expm(-k * settings.s * L) for k in range(settings.K)]


class DenseNetwork:
    """The network by definition, in float64, with random weights and biases."""

    def __init__(self, settings, seed=0):
        random = np.random.default_rng(seed)
        f, c = BLOCKS.features.shape[1], 3
        self.first = random.normal(size=(settings.K, f, settings.hidden))
        self.second = random.normal(size=(settings.K, settings.hidden, c))
        self.biases = random.normal(size=settings.hidden), random.normal(size=c)
        self.kernels = dense_kernels(settings)

    def __call__(self, x):
        hidden = self.biases[0] + sum(
            H @ x @ W for H, W in zip(self.kernels, self.first, strict=True)
        )
        hidden = np.maximum(hidden, 0.0)
        return self.biases[1] + sum(
            H @ hidden @ W for H, W in zip(self.kernels, self.second, strict=True)
        )

    def weights(self):
        return {
            "first.weight": self.first,
            "second.weight": self.second,
            "first.bias": self.biases[0],
            "second.bias": self.biases[1],
        }


@pytest.fixture(params=OTHERS, ids=lambda name: name.replace(" ", "-"))
def other(request, plain):
    settings = OTHERS[request.param]
    dense = DenseNetwork(settings)
    x = plain.scaling.apply(BLOCKS.features).astype(np.float64)
    run = replace(
        plain,
        settings=settings,
        weights=dense.weights(),
        probabilities=softmax(dense(x), axis=1),
    )
    return run, dense, x


def test_contributions_of_other_networks_sum_to_the_logits(other):
    run, dense, x = other
    explainer, logits = NetworkExplainer(run, BLOCKS), dense(x)
    assert np.abs(explainer.logits - logits).max() < 1e-4
    for node in (0, 17, 89):
        given, constants = explainer.contributions(node, [0, 1, 2])
        assert np.abs(given.sum(axis=0) + constants - logits[node]).max() < 1e-4


@pytest.mark.parametrize("changes", [{}, {"normalize": True, "batch": 20}])
def test_the_consistent_recipe_is_explained(changes):
    run = fit_network(BLOCKS, "consistent", s=2.0, max_epochs=20, **changes)
    explainer = NetworkExplainer(run, BLOCKS)
    for node in (0, 40, 89):
        shown = explainer.explain(node)
        assert shown.contributions.sum() + shown.constant == pytest.approx(shown.logit, abs=1e-4)
    assert np.abs(softmax(explainer.logits, axis=1) - run.probabilities).max() < 1e-3


def test_contributions_of_other_networks_are_what_a_source_s_features_give(other):
    run, dense, x = other
    given, _ = NetworkExplainer(run, BLOCKS).contributions(5, [2])
    h = 1e-6
    whole = dense(x)[5, 2]
    for source in np.argsort(-np.abs(given[:, 0]))[:8]:
        more = x.copy()
        more[source] *= 1 + h
        gained = (dense(more)[5, 2] - whole) / h
        assert gained == pytest.approx(given[source, 0], rel=1e-3, abs=1e-4)


def test_without_a_node_s_features_the_network_is_run_again_exactly(other):
    run, dense, x = other
    explainer = NetworkExplainer(run, BLOCKS)
    switched = 0
    for node in (0, 5, 40):
        for removed in (node, 7, [3, 40, 81]):
            gone = x.copy()
            gone[removed] = 0.0
            wanted = dense(gone)[node]
            shown = explainer.without(node, removed)
            assert np.abs(shown.logits - wanted).max() < 1e-4
            assert np.abs(shown.probabilities - softmax(wanted)).max() < 1e-4
            assert shown.label == run.classes[int(wanted.argmax())]
            assert shown.probability == shown.probabilities.max()
            given, _ = explainer.contributions(node, [0])
            linear = explainer.logits[node, 0] - given[removed].sum()
            switched += abs(shown.logits[0] - linear) > 1e-2
    assert switched  # hidden units did switch: a linear answer would have been another


def test_the_largest_source_is_taken_away_in_words(plain):
    explainer = NetworkExplainer(plain, BLOCKS)
    seen = set()
    for node in range(BLOCKS.n):
        shown = explainer.explain(node)
        sentence = shown.text().splitlines()[-1]
        without = explainer.without(node, shown.nodes[shown.sources[0]])
        assert f"be {without.label}" in sentence
        assert f"{without.probability:.3f}" in sentence
        kept = without.label == shown.label
        assert ("still" in sentence) == kept
        seen.add(kept)
    assert seen == {True, False}


def test_the_node_s_own_label_is_named_where_another_is_explained(plain):
    explainer = NetworkExplainer(plain, BLOCKS)
    rival = next(name for name in plain.classes if name != plain.classes[plain.predicted[3]])
    shown = explainer.explain(3, label=rival)
    assert shown.label == rival
    assert shown.predicted == plain.classes[plain.predicted[3]]
    assert "with them" not in shown.text()  # that probability would be the rival's


# ---------------------------------------------------------------------------------------- on Cora


@pytest.fixture(scope="module")
def cora():
    graph = load("cora")
    return fit_network(graph, max_epochs=15), graph


@pytest.fixture(scope="module")
def explainer(cora):
    return NetworkExplainer(*cora)


def test_on_cora_contributions_and_constant_sum_to_the_logits_of_100_nodes(cora, explainer):
    run, graph = cora
    logits = logits_of(network(run, graph), run, graph)
    for index in np.random.default_rng(0).choice(graph.n, 100, replace=False):
        code = int(run.predicted[index])
        given, constants = explainer.contributions(int(index), [code])
        assert abs(given.sum() + constants[0] - logits[index, code]) < 1e-4


def test_on_cora_a_source_s_features_move_the_logit_by_its_contribution(cora, explainer):
    run, graph = cora
    x = torch.tensor(run.scaling.apply(graph.features).toarray()).double()
    model = network(run, graph).double()
    s = run.settings
    operator = heat_operator(graph, s.s, K=s.K, eps=s.eps, dtype=torch.float64)
    index = int(np.random.default_rng(1).integers(graph.n))
    code, h = int(run.predicted[index]), 1e-6
    shown = explainer.explain(graph.nodes[index])
    with torch.no_grad():
        whole = model(x, operator)[index, code].item()
        for source, given in zip(shown.sources[:3], shown.contributions, strict=False):
            x[source] *= 1 + h
            moved = model(x, operator)[index, code].item() - whole
            x[source] /= 1 + h
            assert moved == pytest.approx(h * given, rel=1e-3)


def test_on_cora_two_explanations_are_one(cora, explainer):
    first, second = explainer.explain(12), NetworkExplainer(*cora).explain(12)
    assert first.text() == second.text()
    assert np.array_equal(first.contributions, second.contributions)
    assert np.array_equal(first.without_largest.logits, second.without_largest.logits)


# ------------------------------------------------------------------------------ what is refused


def test_a_network_that_is_not_understood_is_refused(plain):
    weights = {**plain.weights, "norm.weight": np.ones(3)}
    with pytest.raises(GraphError, match=r"does not know \(norm.weight\)"):
        NetworkExplainer(replace(plain, weights=weights), BLOCKS)


def test_a_network_that_gives_other_labels_is_refused(plain):
    turned = replace(plain, probabilities=np.roll(plain.probabilities, 1, axis=1))
    with pytest.raises(GraphError, match="another label than the run did"):
        NetworkExplainer(turned, BLOCKS)
