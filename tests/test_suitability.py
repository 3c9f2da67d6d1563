"""suitability: says where heat hurts, from the labels known at fitting time, against chance."""

import json
from collections import Counter

import numpy as np
import pytest
from helpers.command import call

import graphheat
from graphheat import GraphHeatClassifier
from graphheat import suitability as module
from graphheat.datasets import block_model, load
from graphheat.graph import Graph
from graphheat.heat import laplacian
from graphheat.io import write_npz
from graphheat.suitability import known_nodes, suitability


def verdicts(homophily, classes, **options):
    return Counter(
        suitability(block_model(1000, classes, homophily=homophily, seed=seed, **options)).verdict
        for seed in range(10)
    )


@pytest.mark.parametrize("classes", [4, 5])
def test_homophily_below_chance_hurts(classes):
    assert verdicts(0.1, classes) == {"hurts": 10}


@pytest.mark.parametrize("classes", [4, 5])
def test_homophily_at_chance_is_unclear(classes):
    assert verdicts(1 / classes, classes)["unclear"] >= 9  # one draw in a hundred may go astray


def test_a_little_homophily_is_unclear():
    assert verdicts(0.3, 4) == {"unclear": 10}


@pytest.mark.parametrize("homophily", [0.5, 0.8])
@pytest.mark.parametrize("classes", [4, 5])
def test_homophily_well_above_chance_helps(homophily, classes):
    assert verdicts(homophily, classes) == {"helps": 10}


@pytest.mark.parametrize("name", ["cora", "citeseer", "pubmed"])
def test_heat_helps_on_the_paper_s_data_sets(name):
    found = suitability(load(name))
    assert found.verdict == "helps"
    assert found.homophily > 0.7 > 0.4 > found.homophily_by_chance
    assert found.smoothness < found.smoothness_by_chance
    assert found.sentence.startswith("Heat should help")


def test_few_edges_between_labels_ask_the_heat():
    # About ten edges among fifty labels.
    few = {"labels_per_class": 12, "val": 0, "degree": 6}
    found = [
        suitability(block_model(1000, 4, homophily=h, seed=seed, **few))
        for h in (0.0, 0.9)
        for seed in range(8)
    ]
    assert all(each.heat is not None for each in found if each.edges)
    assert {each.verdict for each in found[:8]} <= {"hurts", "unclear"}
    assert {each.verdict for each in found[8:]} <= {"helps", "unclear"}
    assert Counter(each.verdict for each in found[8:])["helps"] >= 4


@pytest.mark.parametrize("labels", [1, 2, 5])
def test_few_labels_are_unclear_and_never_a_crash(labels):
    assert verdicts(0.1, 4, labels_per_class=labels, val=0)["hurts"] == 0
    assert verdicts(0.1, 4, labels_per_class=labels, val=0)["helps"] == 0


def small(labels, edges=((0, 1), (1, 2), (2, 3))):
    matrix = np.zeros((len(labels), len(labels)))
    for a, b in edges:
        matrix[a, b] = matrix[b, a] = 1
    return Graph.from_scipy(matrix, None, np.array(labels), classes=["a", "b"])


@pytest.mark.parametrize(
    "graph",
    [
        small([-1, -1, -1, -1]),
        small([0, -1, -1, -1]),
        small([0, 0, 0, 0]),
        small([0, -1, 1, -1]),
        small([0, 1, 0, 1]),
        small([0, 1, 0, 1], edges=()),
        small([0, 1, 0, 1], edges=((0, 0), (1, 1))),
    ],
    ids=["no labels", "one", "one class", "no edge", "a path", "no edges", "self-loops alone"],
)
def test_what_says_nothing_is_unclear(graph):
    found = suitability(graph)
    assert found.verdict == "unclear"
    assert "heat" in found.sentence
    json.dumps(found.as_dict(), allow_nan=False)


def test_test_labels_play_no_part():
    graph = block_model(300, 3, homophily=0.8, seed=0)
    labels = graph.labels.copy()
    test = graph.split["test"]
    labels[test] = np.random.default_rng(0).permutation(labels[test])
    other = Graph.from_scipy(
        graph.adjacency, graph.features, labels, classes=graph.classes, split=dict(graph.split)
    )
    assert suitability(graph) == suitability(other)
    assert not np.isin(known_nodes(graph), test).any()
    assert len(known_nodes(graph)) == len(graph.split["train"]) + len(graph.split["val"])


def test_without_a_training_part_every_label_outside_the_test_counts():
    graph = block_model(100, 2, labels_per_class=5, seed=0)
    only_test = graph.with_split(test=graph.split["test"])
    assert set(known_nodes(only_test)) == set(range(100)) - set(graph.split["test"].tolist())
    assert len(known_nodes(graph.with_split())) == 100


def test_homophily_and_smoothness_are_those_of_the_definitions():
    graph = block_model(200, 3, homophily=0.6, seed=3)
    found, known = suitability(graph), known_nodes(graph)
    inside = graph.adjacency.toarray()[np.ix_(known, known)]
    a, b = np.nonzero(np.triu(inside, 1))
    codes = graph.labels[known]
    assert found.edges == len(a)
    assert found.homophily == pytest.approx((codes[a] == codes[b]).mean())
    onehot = np.zeros((graph.n, 3))
    onehot[known, codes] = 1.0
    L = laplacian(graph.adjacency).toarray()
    energy = sum(onehot[:, c] @ L @ onehot[:, c] for c in range(3))  # Eq. 6, class by class
    assert found.smoothness == pytest.approx(energy / len(known))
    # Shuffled labels agree as often as two draws without replacement do.
    counts = np.bincount(codes)
    agree = (counts * (counts - 1)).sum() / (len(codes) * (len(codes) - 1))
    assert found.homophily_by_chance == pytest.approx(agree, abs=0.02)


def test_it_repeats_and_draws_of_many_edges(monkeypatch):
    graph = block_model(400, 3, homophily=0.7, seed=1)
    whole = suitability(graph)
    assert whole == suitability(graph)
    monkeypatch.setattr(module, "PAIRS", 100)
    part = suitability(graph)
    assert part.edges == whole.edges > 100
    assert part.homophily == pytest.approx(whole.homophily, abs=0.15)
    assert part.smoothness == pytest.approx(whole.smoothness, abs=0.15)


# -------------------------------------------------------------------------------- who says it

HETEROPHILOUS = block_model(300, 4, homophily=0.1, features=8, seed=0)
HOMOPHILOUS = block_model(300, 4, homophily=0.8, features=8, seed=0)
WARNING = "Heat will probably hurt here"


def test_a_run_s_notes_warn_where_heat_hurts_and_only_there(tmp_path):
    file = tmp_path / "run.safetensors"
    warned = graphheat.fit(HETEROPHILOUS, max_epochs=3, checkpoint=file)
    assert sum(note.startswith(WARNING) for note in warned.notes) == 1
    again = graphheat.fit(HETEROPHILOUS, max_epochs=3, checkpoint=file, resume=True)
    assert again.notes == warned.notes  # kept in the file, and printed once
    assert not graphheat.fit(HOMOPHILOUS, "paper", max_epochs=3).notes
    assert not graphheat.fit(HETEROPHILOUS, "lp").notes  # no heat in it


def test_the_classifier_s_run_warns():
    model = GraphHeatClassifier(max_epochs=3, random_state=0).fit(HETEROPHILOUS)
    assert any(note.startswith(WARNING) for note in model.run_.notes)


def test_fit_and_info_say_it(tmp_path):
    write_npz(HETEROPHILOUS, tmp_path / "g.npz")
    fit = call("fit", tmp_path / "g.npz", "--epochs", 3, "--out", tmp_path / "run")
    assert fit.stderr.count(WARNING) == 1
    resumed = call("fit", tmp_path / "g.npz", "--epochs", 3, "--out", tmp_path / "run", "--resume")
    assert resumed.stderr.count(WARNING) == 1
    assert WARNING not in call("fit", tmp_path / "g.npz", "--recipe", "lp").stderr
    assert WARNING in call("info", tmp_path / "g.npz").stdout
    found = json.loads(call("info", tmp_path / "g.npz", "--json").stdout)["suitability"]
    assert found["verdict"] == "hurts"
    assert found["homophily"] < found["homophily_by_chance"]
    cora = json.loads(call("info", "cora", "--json").stdout)["suitability"]
    assert cora["verdict"] == "helps"
