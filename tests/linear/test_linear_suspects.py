"""Suspects: leave-one-out against leaving one out, and labels that were flipped are found."""

import numpy as np
import pytest
from helpers.sentences import refusal
from scipy.special import log_softmax

import graphheat
from graphheat import Graph, HeatKernel, Suspects, datasets, suspects
from graphheat.linear import leave_one_out
from graphheat.linear.leave_one_out import TIMES, heat_from_others, ridge_evidence
from graphheat.linear.suspects import label_noise

GRAPH = datasets.block_model(300, 3, labels_per_class=20, homophily=0.9, seed=0)


def relabelled(graph, labels, **changes):
    parts = {
        "features": graph.features,
        "nodes": graph.nodes,
        "titles": graph.titles,
        "split": graph.split,
        "classes": graph.classes,
    }
    return Graph.from_scipy(graph.adjacency, labels=labels, **{**parts, **changes})


def flipped(graph, share, seed):
    """Return the graph with training labels alone, a share of them flipped, and whose."""
    random = np.random.default_rng(seed)
    train, c = graph.split["train"], len(graph.classes)
    wrong = random.choice(train, round(share * len(train)), replace=False)
    labels = np.full(graph.n, -1)
    labels[train] = graph.labels[train]
    labels[wrong] = (labels[wrong] + random.integers(1, c, len(wrong))) % c
    spoilt = relabelled(graph, labels, split={"train": train})
    return spoilt, set(graph.nodes[wrong].tolist())


def test_heat_of_the_others_is_what_arrives_without_the_own_label():
    known = np.sort(GRAPH.split["train"])[:9]
    codes = GRAPH.labels[known]
    found = heat_from_others(GRAPH, known, codes, 3)
    for k in (0, len(TIMES) - 1):
        kernel = HeatKernel(GRAPH, TIMES[k], tol=1e-9)
        for i, node in enumerate(known):
            onehot = np.zeros((GRAPH.n, 3))
            onehot[known, codes] = 1.0
            onehot[node] = 0.0
            assert found[k, i] == pytest.approx(kernel.apply(onehot)[node], abs=1e-6)


def test_where_columns_are_too_many_folds_are_left_out(monkeypatch):
    known = np.sort(GRAPH.split["train"])
    codes = GRAPH.labels[known]
    exact = heat_from_others(GRAPH, known, codes, 3)
    monkeypatch.setattr(leave_one_out, "WORK", 0.0)
    folds = heat_from_others(GRAPH, known, codes, 3)
    assert (folds >= 0).all()
    assert (folds <= exact + 1e-6).all()  # a fold takes the label itself, and others
    assert np.corrcoef(folds.ravel(), exact.ravel())[0, 1] > 0.95
    assert suspects(flipped(GRAPH, 0.1, 0)[0]).nodes  # and the rest goes on as before


def test_a_wide_model_takes_random_directions(monkeypatch):
    known = np.sort(GRAPH.split["train"])
    codes = GRAPH.labels[known]
    exact = ridge_evidence(GRAPH, known, codes, 3).log_probabilities
    monkeypatch.setattr(leave_one_out, "WIDE", 5)
    rough = ridge_evidence(GRAPH, known, codes, 3).log_probabilities
    assert (rough.argmax(axis=1) == exact.argmax(axis=1)).mean() > 0.8


def test_ten_percent_of_coras_labels_flipped_are_found():
    cora = datasets.load("cora")
    precision, hits, flagged = [], 0, 0
    for seed in range(6):
        spoilt, wrong = flipped(cora, 0.1, seed)
        found = suspects(spoilt, threads=1)
        precision.append(np.mean([node in wrong for node in found.nodes[: len(wrong)]]))
        hits += sum(node in wrong for node in found.nodes[: found.count])
        flagged += found.count
    assert np.mean(precision) > 0.6
    assert hits / flagged > 0.8


def test_labels_that_are_right_are_left_alone():
    assert suspects(datasets.load("cora")).count == 0
    assert suspects(GRAPH).count == 0


@pytest.mark.parametrize("features", [True, False])
def test_a_flipped_label_is_first_with_its_class_suggested(features):
    node = GRAPH.split["train"][3]
    labels = GRAPH.labels.copy()
    labels[node] = (labels[node] + 1) % 3
    titles = [f"node {index}" for index in range(GRAPH.n)]
    changes = {"titles": titles} if features else {"titles": titles, "features": None}
    found = suspects(relabelled(GRAPH, labels, **changes))
    assert found.nodes[0] == node
    assert found.suggested[0] == GRAPH.classes[GRAPH.labels[node]]
    assert found.labels[0] == GRAPH.classes[labels[node]]
    assert len(found.s) == 1 + features
    assert len(found.nodes) == 60
    frame = found.frame()
    assert frame.columns.tolist() == [
        "node", "title", "label", "suggested", "confidence", "margin", "p_wrong"
    ]  # fmt: skip
    assert frame["title"][0] == f"node {node}"
    assert frame["margin"].is_monotonic_decreasing
    assert frame[["confidence", "p_wrong"]].stack().between(0, 1).all()
    assert len(found.frame(5)) == 5


def test_other_labels_are_not_looked_at_unless_named():
    hidden = np.where(np.isin(np.arange(GRAPH.n), GRAPH.split["train"]), GRAPH.labels, -1)
    blind = relabelled(GRAPH, hidden, split={"train": GRAPH.split["train"]})
    seen = suspects(GRAPH)
    assert seen.nodes == suspects(blind).nodes
    both = suspects(GRAPH, parts=["train", "val"])
    assert len(both.nodes) == 60 + len(GRAPH.split["val"])


def test_order_of_nodes_does_not_matter():
    spoilt, _ = flipped(GRAPH, 0.1, 1)
    order = np.random.default_rng(0).permutation(GRAPH.n)
    place = np.argsort(order)
    other = Graph.from_scipy(
        spoilt.adjacency[order][:, order],
        spoilt.features[order],
        spoilt.labels[order],
        classes=spoilt.classes,
        nodes=spoilt.nodes[order],
        split={"train": place[spoilt.split["train"]]},
    )
    one, two = suspects(spoilt), suspects(other)
    assert one.nodes[:5] == two.nodes[:5]
    assert one.margin == pytest.approx(two.margin, abs=1e-2)


def test_the_only_label_of_a_class_is_not_judged():
    labels = np.full(GRAPH.n, -1)
    train = np.sort(GRAPH.split["train"])
    shown = train[GRAPH.labels[train] != 2]
    labels[shown] = GRAPH.labels[shown]
    lone = train[GRAPH.labels[train] == 2][0]
    labels[lone] = 2
    found = suspects(relabelled(GRAPH, labels, split={}))
    assert found.alone == 1
    assert lone not in found.nodes
    assert "of 41 labels" in found.sentence


def test_isolated_nodes_and_constant_features_do_no_harm():
    labels = np.array([0, 0, 1, 1, 0, 1])
    adjacency = np.zeros((6, 6))
    adjacency[0, 1] = adjacency[1, 0] = adjacency[2, 3] = adjacency[3, 2] = 1.0
    for features in (None, np.ones((6, 2)), np.zeros((6, 2))):
        found = suspects(Graph.from_scipy(adjacency, features, labels))
        assert len(found.nodes) == 6
        assert np.isfinite(found.margin).all()


def test_noise_is_estimated():
    random = np.random.default_rng(0)
    logs = log_softmax(4 * random.normal(size=(600, 4)), axis=1)
    # As often another than the likeliest as the probabilities say: doubt is no mistake.
    labels = np.array([random.choice(4, p=row) for row in np.exp(logs)])
    assert label_noise(logs, labels).rate < 0.02
    wrong = random.random(600) < 0.2
    spoilt = np.where(wrong, (labels + random.integers(1, 4, 600)) % 4, labels)
    found = label_noise(logs, spoilt)
    assert found.rate == pytest.approx(0.2, abs=0.05)
    assert found.scale == pytest.approx(1, abs=0.3)
    suspicious = found.p_wrong > 0.5
    assert wrong[suspicious].mean() > 0.8


def test_it_prints_on_a_screen():
    spoilt, _ = flipped(GRAPH, 0.1, 0)
    found = suspects(spoilt)
    assert isinstance(found, Suspects)
    assert found.count > 0
    assert len(repr(found)) < 100
    html = found._repr_html_()
    assert found.sentence in html
    assert html.count("<tr") <= 11


def test_what_cannot_be_judged_is_refused_in_a_sentence():
    assert "two known labels each" in refusal(suspects, datasets.load("karate"))
    assert "'parts'" in refusal(suspects, GRAPH, parts=["trian"])
    assert graphheat.suspects is suspects
