"""The bundled graphs are what docs/data.md says."""

from __future__ import annotations

import csv
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from graphheat import datasets
from graphheat.errors import GraphHeatError, ParameterError

ROOT = Path(__file__).resolve().parents[2]
PAPER = ("cora", "citeseer", "pubmed")
ALL = (*PAPER, "karate")


@pytest.fixture(scope="module")
def graphs():
    return {name: datasets.load(name) for name in ALL}


@pytest.mark.parametrize(
    ("name", "nodes", "edges", "features", "classes", "labelled", "isolated", "components"),
    [
        ("cora", 2708, 5278, 1433, 7, 2708, 0, 78),
        ("citeseer", 3327, 4552, 3703, 6, 3312, 48, 438),
        ("pubmed", 19717, 44324, 500, 3, 19717, 0, 1),
        ("karate", 34, 78, 0, 2, 34, 0, 1),
    ],
)
def test_counts(graphs, name, nodes, edges, features, classes, labelled, isolated, components):
    found = graphs[name].describe()
    assert (found.nodes, found.edges, found.features) == (nodes, edges, features)
    assert len(graphs[name].classes) == classes
    assert (found.labelled, found.isolated, found.components) == (labelled, isolated, components)
    assert found.self_loops == 0
    assert not found.weighted


@pytest.mark.parametrize("name", PAPER)
def test_paper_counts_the_same_nodes_features_and_classes(graphs, name):
    paper, graph = datasets.info(name).paper, graphs[name]
    assert (paper.nodes, paper.features, paper.classes) == (
        graph.n,
        graph.features.shape[1],
        len(graph.classes),
    )
    assert paper.edges > graph.describe().edges
    assert paper.label_rate == round(len(graph.split["train"]) / graph.n, 3)


@pytest.mark.parametrize(
    ("name", "homophily"), [("cora", 0.810), ("citeseer", 0.738), ("pubmed", 0.802)]
)
def test_neighbours_share_their_class(graphs, name, homophily):
    # Test rows in the wrong order, the usual trap of these files, would show here.
    graph = graphs[name]
    assert graph.describe().homophily == pytest.approx(homophily, abs=0.001)
    ends = graph.adjacency.tocoo()
    at_test = np.isin(ends.row, graph.split["test"]) & (graph.labels[ends.col] >= 0)
    same = graph.labels[ends.row] == graph.labels[ends.col]
    assert same[at_test].mean() > 0.74


@pytest.mark.parametrize("name", ["citeseer", "pubmed"])
def test_test_nodes_share_words_with_their_class(graphs, name):
    # Features and labels of the test rows must have moved together.
    graph = graphs[name]
    others = np.setdiff1d(np.flatnonzero(graph.labels >= 0), graph.split["test"])
    means = np.stack(
        [
            graph.features[others[graph.labels[others] == k]].mean(axis=0)
            for k in range(len(graph.classes))
        ]
    )
    means /= np.linalg.norm(means, axis=1, keepdims=True)
    test = graph.split["test"]
    nearest = (graph.features[test] @ means.T).argmax(axis=1)
    assert (nearest == graph.labels[test]).mean() > 0.65


@pytest.mark.parametrize("name", PAPER)
def test_public_split(graphs, name):
    graph = graphs[name]
    train, val, test = (graph.split[part] for part in ("train", "val", "test"))
    assert np.bincount(graph.labels[train]).tolist() == [20] * len(graph.classes)
    assert train.tolist() == list(range(20 * len(graph.classes)))
    assert val.tolist() == list(range(len(train), len(train) + 500))
    assert len(test) == 1000
    assert (np.diff(test) > 0).all()
    assert (graph.labels[test] >= 0).all()
    assert test.max() == graph.n - 1


@pytest.mark.parametrize("name", ALL)
def test_nodes_are_row_numbers(graphs, name):
    assert graphs[name].nodes.tolist() == list(range(graphs[name].n))
    assert graphs[name].name == name


def test_features_are_sparse_words(graphs):
    for name, stored in (("cora", 49216), ("citeseer", 105165)):
        assert set(graphs[name].features.data.tolist()) == {1.0}
        assert graphs[name].features.nnz == stored
    pubmed = graphs["pubmed"].features
    assert pubmed.nnz == 988031
    assert 0 < pubmed.data.min() < pubmed.data.max() < 2


def test_citeseer_nodes_that_the_files_skip(graphs):
    graph = graphs["citeseer"]
    skipped = np.flatnonzero(graph.labels == -1)
    assert len(skipped) == 15
    assert graph.features[skipped].nnz == 0
    assert not np.isin(skipped, np.concatenate(list(graph.split.values()))).any()


def test_class_names_and_sizes(graphs):
    counts = {name: dict(graph.describe().label_counts) for name, graph in graphs.items()}
    assert list(counts["pubmed"].values()) == [4103, 7739, 7875]
    assert counts["pubmed"]["Diabetes Mellitus Type 1"] == 7739
    assert counts["citeseer"] == {
        "AI": 249,
        "ML": 590,
        "IR": 668,
        "DB": 701,
        "Agents": 596,
        "HCI": 508,
    }
    assert counts["karate"] == {"Mr. Hi": 17, "Officer": 17}
    assert graphs["cora"].classes == (
        "Theory",
        "Reinforcement_Learning",
        "Genetic_Algorithms",
        "Neural_Networks",
        "Probabilistic_Methods",
        "Case_Based",
        "Rule_Learning",
    )


def test_cora_is_in_the_public_order(graphs):
    with (ROOT / "scripts" / "cora-public-split.csv").open(newline="") as lines:
        rows = list(csv.DictReader(lines))
    assert graphs["cora"].titles == tuple(row["paper_id"] for row in rows)
    assert graphs["cora"].labels.tolist() == [int(row["code"]) for row in rows]


def test_only_cora_has_titles(graphs):
    assert [name for name in ALL if graphs[name].titles is not None] == ["cora"]


def test_karate_trains_on_its_two_leaders(graphs):
    graph = graphs["karate"]
    leaders = graph.split["train"]
    assert leaders.tolist() == [0, 33]
    assert [graph.classes[code] for code in graph.labels[leaders]] == ["Mr. Hi", "Officer"]
    assert graph.split["test"].tolist() == list(range(1, 33))
    assert "val" not in graph.split


def test_names_and_info():
    assert datasets.names() == ALL
    for name in ALL:
        entry = datasets.info(name)
        assert entry.name == name
        assert entry.title
        assert entry.source
    assert datasets.info("karate").paper is None


@pytest.mark.parametrize("name", ["Cora", "", "../cora", None, ["cora"]])
def test_unknown_name_lists_the_known_ones(name):
    with pytest.raises(ParameterError, match="'cora', 'citeseer', 'pubmed', 'karate'") as caught:
        datasets.load(name)
    assert repr(name) in str(caught.value)
    assert isinstance(caught.value, GraphHeatError)


def test_files_are_small():
    files = list((ROOT / "src" / "graphheat" / "datasets" / "data").glob("*.npz"))
    assert sorted(file.stem for file in files) == sorted(ALL)
    assert sum(file.stat().st_size for file in files) < 5.2e6


def test_import_is_light():
    heavy = ["torch", "pandas", "networkx", "sklearn", "matplotlib"]
    code = f"import sys, graphheat.datasets; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
