"""What would silently become something else is kept as it is, or refused."""

import numpy as np
import pytest
from helpers.sentences import refusal

import graphheat
from graphheat.graph import Graph
from graphheat.io import read_csv, read_npz, write_csv, write_npz
from graphheat.io.spreadsheet import guarded

PATH = np.diag([1.0, 1.0], 1) + np.diag([1.0, 1.0], -1)


@pytest.mark.parametrize(
    "labels",
    [[2**63, 2**63 + 1, -5], [2**53, 2**53 + 1, 0.0], [2**64, 2**64 + 1, 3], [-(2**63), 2**63, 1]],
)
def test_large_numbers_stay_apart(labels):
    graph = Graph.from_scipy(PATH, labels=labels)
    assert len(graph.classes) == 3
    assert [graph.classes[code] for code in graph.labels] == labels


class Odd:
    def __ne__(self, other):
        raise ZeroDivisionError


@pytest.mark.parametrize("labels", [[Odd(), 1, 2], [np.ones(2), 1, 2], [[1], [2, 3], 4]])
def test_labels_that_are_none(labels):
    refusal(Graph.from_scipy, PATH, labels=labels)


@pytest.mark.parametrize(
    "parts",
    [
        {"classes": [[1], [2]], "labels": [0, 1, 0]},
        {"titles": 7},
        {"titles": "abc"},
        {"split": [0, 1]},
        {"split": {"train": [[0], [1, 2]]}},
        {"split": {"train": [0.0, 1.0]}},
        {"labels": np.array([2**64 - 1] * 3, dtype=np.uint64), "classes": ["a"]},
    ],
)
def test_parts_of_a_graph_of_another_kind(parts):
    refusal(Graph.from_scipy, PATH, **parts)


@pytest.mark.parametrize("weight", [["heavy", 1], [1j, 1], [None, {}], [[1], [2, 3]]])
def test_weights_that_are_no_numbers(weight):
    refusal(Graph.from_edges, [0, 1], [1, 2], weight)


@pytest.mark.parametrize("n", ["three", 1.5, 10**12, -1])
def test_numbers_of_nodes_that_are_none(n):
    refusal(Graph.from_edge_index, np.array([[0, 1], [1, 0]]), num_nodes=n)


def test_edges_between_fractions_and_far_away():
    refusal(Graph.from_edge_index, np.array([[0.5, 1.0], [1.0, 0.5]]))
    refusal(Graph.from_edge_index, np.array([[0, 10**12], [10**12, 0]]))


def test_what_is_no_graph_and_no_path():
    for odd in (None, PATH, "g.npz"):
        refusal(graphheat.fit, odd)
    for path in (None, 7, b"g.npz"):
        refusal(read_npz, path)
        refusal(write_npz, Graph.from_scipy(PATH), path)
        refusal(graphheat.load_run, path)


@pytest.mark.parametrize("node", [True, [0], {}, 1.5, "1_0"])
def test_ids_of_another_kind_are_not_found(node):
    refusal(Graph.from_scipy(PATH).index_of, node)


@pytest.mark.parametrize("cell", ["1_000", "\u0663", "1e-400", "0x10"])
def test_weights_in_a_file_are_plain_numbers(cell, tmp_path):
    (tmp_path / "e.csv").write_text(f"source,target,weight\na,b,{cell}\nb,c,1\n", encoding="utf-8")
    refusal(read_csv, tmp_path / "e.csv")


@pytest.mark.parametrize(
    ("nodes", "labels"),
    [
        (["1", "2", "3"], ["a", "b", "a"]),
        ([" a", "b", "c"], ["a", "b", "a"]),
        (["a", "b", "c"], ["1", "2", "1"]),
        (["a", "b", "c"], [" x", "y", "y"]),
        (["a", "b", "c"], [True, False, True]),
        (["a", "b", "c"], ["NA", "b", "b"]),
    ],
)
def test_a_table_that_would_be_read_otherwise_is_not_written(nodes, labels, tmp_path):
    graph = Graph.from_scipy(PATH, nodes=np.array(nodes, dtype=object), labels=labels)
    refusal(write_csv, graph, tmp_path / "e.csv", tmp_path / "n.csv")
    write_npz(graph, tmp_path / "g.npz")
    assert read_npz(tmp_path / "g.npz").fingerprint == graph.fingerprint


@pytest.mark.parametrize(
    ("nodes", "labels"),
    [
        ([3, -1, 2], [5, 7, 5]),
        (["=1+1", "-x", "@c"], ["+a", "b", "b"]),
        (["1", "b", "c"], ["True", "False", "x"]),
        (["a,b", 'c"d', "e\nf"], ["a;b", "#c", "%d"]),
    ],
)
def test_a_table_that_is_written_is_read_back_exactly(nodes, labels, tmp_path):
    given = np.array(nodes, dtype=object) if isinstance(nodes[0], str) else np.array(nodes)
    graph = Graph.from_scipy(PATH, nodes=given, labels=labels)
    write_csv(graph, tmp_path / "e.csv", tmp_path / "n.csv")
    back = read_csv(tmp_path / "e.csv", tmp_path / "n.csv", header=True)
    assert back.nodes.tolist() == graph.nodes.tolist()
    assert back.classes == graph.classes
    assert back.labels.tolist() == graph.labels.tolist()


def test_guarded_cells():
    cells = ["=A1", "+1", "-1", "-a", "@b", "\tc", "\nd", "e", 7]
    assert [guarded(cell) for cell in cells] == [
        "'=A1", "+1", "-1", "'-a", "'@b", "'\tc", "'\nd", "e", 7,
    ]  # fmt: skip
