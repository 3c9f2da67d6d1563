"""explain: contributions of the sources sum to the logit, and are what they claim to be."""

import numpy as np
import pytest
import torch
from scipy.special import softmax

from graphheat.datasets import block_model
from graphheat.errors import GraphError, NodeNotFoundError, ParameterError
from graphheat.explain import Explainer, explain
from graphheat.graph import Graph
from graphheat.nn import SparseFeatures
from graphheat.training import fit
from graphheat.training.network import build_network, build_operator

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
    return fit(BLOCKS, max_epochs=15, **SETTINGS[request.param])


@pytest.fixture(scope="module")
def plain():
    return fit(BLOCKS, max_epochs=15)


def network(run, graph):
    model = build_network(graph.features.shape[1], len(run.classes), run.settings)
    model.load_state_dict(run.weights)
    return model.eval()


def test_contributions_and_constant_sum_to_the_network_s_own_logit(run):
    operator = build_operator(BLOCKS, run.settings)
    with torch.no_grad():
        logits = network(run, BLOCKS)(run.scaling.apply(BLOCKS.features), operator).numpy()
    explainer = Explainer(run, BLOCKS)
    assert np.abs(explainer.logits - logits).max() < 1e-4
    for node in (0, 17, 89):
        for label in run.classes:
            told = explainer.explain(node, label=label)
            code = run.classes.index(label)
            assert told.constant == 0  # no biases in the paper's network
            assert told.contributions.sum() == pytest.approx(logits[node, code], abs=1e-4)


def test_a_source_s_contribution_is_what_the_logit_loses_without_its_features(run):
    # At a fixed ReLU pattern the network is linear: scaling one node's features by 1 − h must
    # take h times its contribution away, for an h so small that the pattern stays.
    explainer = Explainer(run, BLOCKS)
    model, operator = network(run, BLOCKS).double(), None
    x = run.scaling.apply(BLOCKS.features)
    assert not isinstance(x, SparseFeatures)
    from graphheat.nn import heat_operator

    s = run.settings
    operator = heat_operator(
        BLOCKS, s.s, K=s.K, eps=s.eps, zero_diagonal=s.zero_diagonal, dtype=torch.float64
    )
    given, _ = explainer.contributions(5, [1])
    h = 1e-6
    with torch.no_grad():
        whole = model(x.double(), operator)[5, 1].item()
        for source in np.argsort(-np.abs(given[:, 0]))[:6]:
            less = x.double().clone()
            less[source] *= 1 - h
            lost = (whole - model(less, operator)[5, 1].item()) / h
            assert lost == pytest.approx(given[source, 0], rel=1e-3, abs=1e-5)


def test_biases_are_the_named_constant(plain):
    weights = dict(plain.weights)
    weights["first.bias"] = torch.linspace(-0.5, 0.5, plain.settings.hidden)
    weights["second.bias"] = torch.tensor([0.3, -0.2, 0.1])
    from dataclasses import replace

    biased = replace(plain, weights=weights)
    explainer = Explainer(biased, BLOCKS)
    for node in (0, 40):
        given, constants = explainer.contributions(node, [0, 1, 2])
        assert np.abs(constants).max() > 0.01
        assert np.abs(given.sum(axis=0) + constants - explainer.logits[node]).max() < 1e-9


def test_the_predicted_class_is_explained_by_default_and_sources_are_told(plain):
    told = explain(plain, BLOCKS, 3)
    code = int(plain.predicted[3])
    assert told.label == plain.classes[code]
    assert told.probability == pytest.approx(float(plain.probabilities[3, code]))
    assert (np.diff(np.abs(told.contributions)) <= 0).all()
    assert told.hops[told.sources == 3].tolist() == [0]
    assert set(told.sources[told.training]) <= set(BLOCKS.split["train"].tolist())
    assert sum(told.by_hop().values()) == pytest.approx(told.logit, abs=1e-4)
    frame = told.table()
    assert list(frame.columns) == ["node", "contribution", "hops", "training"]
    assert len(frame) == len(told.sources)
    assert str(told).startswith("Node 3: ")
    assert len(told.text(limit=2).splitlines()) == 3


def test_explanations_repeat_to_the_bit(plain):
    first, second = explain(plain, BLOCKS, 3), explain(plain, BLOCKS, 3)
    assert np.array_equal(first.contributions, second.contributions)
    assert np.array_equal(first.sources, second.sources)


def test_logits_are_those_of_the_probabilities(run):
    explainer = Explainer(run, BLOCKS)
    assert np.abs(softmax(explainer.logits, axis=1) - run.probabilities).max() < 1e-4


def test_an_isolated_node_is_its_own_and_only_source():
    matrix = BLOCKS.adjacency.toarray()
    alone = int(np.setdiff1d(np.arange(90), np.concatenate(list(BLOCKS.split.values())))[0]) if (
        len(np.concatenate(list(BLOCKS.split.values()))) < 90
    ) else int(BLOCKS.split["test"][0])  # fmt: skip
    matrix[alone] = matrix[:, alone] = 0
    graph = Graph.from_scipy(
        matrix, BLOCKS.features, BLOCKS.labels, classes=BLOCKS.classes, split=BLOCKS.split
    )
    told = explain(fit(graph, max_epochs=5), graph, alone)
    assert told.sources.tolist() in ([alone], [])


def test_what_cannot_be_explained_is_said(plain):
    with pytest.raises(NodeNotFoundError, match="no node 'nobody'"):
        explain(plain, BLOCKS, "nobody")
    with pytest.raises(ParameterError, match="must be a class of the run"):
        explain(plain, BLOCKS, 0, label="nonsense")
    with pytest.raises(GraphError, match="not the graph that this run was fitted on"):
        explain(plain, block_model(90, 3, features=8, seed=1), 0)
