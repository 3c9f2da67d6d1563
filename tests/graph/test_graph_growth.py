"""Tomorrow's nodes: a graph grown by nodes, edges and labels, and a run that labels it."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from helpers.sentences import refusal

import graphheat
from graphheat.datasets import block_model
from graphheat.graph import Graph
from graphheat.runs import checkpoint, load_run
from graphheat.runs.combined_run import CombinedRun

EDGES = {"source": ["ann", "bob"], "target": ["bob", "cat"]}
PEOPLE: dict[str, Any] = {
    "id": ["ann", "bob", "cat", "dan"],
    "label": ["tea", "tea", None, "milk"],
    "split": ["train", "val", None, "test"],
    "title": ["Ann", "Bob", "Cat", "Dan"],
    "age": [31, 28, 3, 50],
    "fruit": ["apple", "banana", "cherry", "apple"],
}
NEW: dict[str, Any] = {"fruit": ["cherry", "aardvark"], "id": ["eve", "fay"], "age": [3, 31]}
PLAIN = Graph.from_edges([0, 1], [1, 2], features=np.eye(3), labels=["a", "b", None])


def people():
    return Graph.from_frames(EDGES, PEOPLE)


# ------------------------------------------------------------------ labels


def test_labels_are_set_by_id_and_the_old_graph_stays():
    graph = people()
    more = graph.with_labels({"cat": "milk", "dan": None})
    assert [more.classes[code] for code in more.labels[:3]] == ["tea", "tea", "milk"]
    assert more.labels[3] == -1
    assert graph.labels.tolist() != more.labels.tolist()
    assert more.fingerprint != graph.fingerprint
    assert more.split["train"].tolist() == [0]
    assert not more.labels.flags.writeable


def test_a_new_class_comes_last_and_only_when_allowed():
    assert "'teaa' is not among the 2 classes" in refusal(people().with_labels, {"cat": "teaa"})
    more = people().with_labels({"cat": "beer"}, new_classes=True)
    assert more.classes == ("milk", "tea", "beer")
    bare = Graph.from_edges([0], [1])
    assert bare.with_labels({0: "b", 1: "a"}).classes == ("a", "b")
    message = refusal(people().with_labels, {"cat": 7}, new_classes=True)
    assert "labels must be of one type" in message


def test_labels_of_no_node_and_of_the_training_nodes():
    assert "has no node 'zoe'" in refusal(people().with_labels, {"zoe": "tea"})
    assert "without a label" in refusal(people().with_labels, {"ann": None})
    numbered = Graph.from_edges([0, 1], [1, 2], labels=[10, 20, None])
    assert numbered.with_labels({"2": "20"}).labels.tolist() == [0, 1, 1]


# ------------------------------------------------------------------ nodes and edges


def test_old_nodes_keep_rows_labels_titles_and_split():
    graph = people()
    grown = graph.extended(NEW, [("eve", "ann"), ("eve", "fay"), ("cat", "dan")])
    assert grown.nodes.tolist() == [*PEOPLE["id"], "eve", "fay"]
    np.testing.assert_array_equal(grown.features[:4], graph.features)
    np.testing.assert_array_equal(grown.labels, [*graph.labels, -1, -1])
    assert {name: rows.tolist() for name, rows in grown.split.items()} == {
        name: rows.tolist() for name, rows in graph.split.items()
    }
    assert grown.titles == ("Ann", "Bob", "Cat", "Dan", "eve", "fay")
    pairs = sp.triu(grown.adjacency).tocoo()
    found = {(grown.nodes[a], grown.nodes[b]) for a, b in zip(pairs.row, pairs.col, strict=True)}
    assert found == {
        *(("ann", "bob"), ("bob", "cat")),
        *(("ann", "eve"), ("eve", "fay"), ("cat", "dan")),
    }
    assert (grown.schema, grown.feature_names) == (graph.schema, graph.feature_names)


def test_new_rows_are_encoded_as_the_old_whatever_their_order():
    whole = {key: [*PEOPLE[key], *NEW.get(key, [None, None])] for key in PEOPLE}
    expected = Graph.from_frames(EDGES, whole, schema=people().schema).features
    for columns in (["id", "age", "fruit"], ["fruit", "age", "id"], ["age", "id", "fruit"]):
        table = pd.DataFrame(NEW)[columns]
        np.testing.assert_array_equal(people().extended(table).features, expected)
    grown = people().extended(pd.DataFrame(NEW))
    assert [note for note in grown.notes if "aardvark" in note and "'fruit'" in note]
    fruit = [name.startswith("fruit=") for name in grown.feature_names]
    assert grown.features[5][fruit].tolist() == [0, 0, 0]
    again = people().extended(NEW).extended({"id": ["gus"], "age": [3], "fruit": ["cherry"]})
    np.testing.assert_array_equal(again.features[6], again.features[4])


def test_files_ids_and_frames_give_the_same_graph(tmp_path):
    pd.DataFrame(NEW).to_csv(tmp_path / "nodes.csv", index=False)
    (tmp_path / "edges.csv").write_text("from,to\neve,ann\n")
    by_file = people().extended(tmp_path / "nodes.csv", tmp_path / "edges.csv")
    by_frame = people().extended(NEW, {"source": ["eve"], "target": ["ann"]})
    by_array = people().extended(["eve", "fay"], [("ann", "eve")], features=by_frame.features[4:])
    assert by_file.fingerprint == by_frame.fingerprint == by_array.fingerprint


def test_labels_and_titles_of_new_nodes_are_taken():
    table = {**NEW, "label": ["milk", None], "title": ["Eve", ""]}
    grown = people().extended(table)
    assert grown.labels[4:].tolist() == [0, -1]
    assert grown.titles[4:] == ("Eve", "fay")
    assert "is not among" in refusal(people().extended, {**NEW, "label": ["beer", None]})
    assert (
        people().extended({**NEW, "label": ["beer", None]}, new_classes=True).classes[2] == "beer"
    )


def test_integer_ids_weights_and_edges_that_are_there():
    grown = PLAIN.extended([7], [(0, 1), (7, 2, 0.5)][1:], features=sp.csr_array([[0.0, 2.0, 0.0]]))
    assert grown.adjacency[[3], [2]] == 0.5
    assert grown.features[3].tolist() == [0, 2, 0]
    assert PLAIN.extended(edges=[(1, 0)]).fingerprint == PLAIN.fingerprint
    assert "different weights" in refusal(PLAIN.extended, edges=[(1, 0, 2.0)])
    assert PLAIN.extended(edges=[(1, 0, 2.0)], duplicates="max").adjacency[[0], [1]] == 2
    looped = PLAIN.extended(edges=[(0, 0), (0, 2)], self_loops="drop")
    assert looped.adjacency.diagonal().sum() == 0
    assert looped.adjacency.nnz == PLAIN.adjacency.nnz + 2
    named = Graph.from_scipy(np.eye(2), [[1, 2], [3, 4]], feature_names=["x", "y"])
    assert named.extended({"id": [5], "y": [8], "x": [7]}).features[2].tolist() == [7, 8]


@pytest.mark.parametrize(
    ("nodes", "edges", "more", "words"),
    [
        ([0], None, {"features": np.eye(1, 3)}, "already: 0"),
        ([7, 7], None, {"features": np.eye(2, 3)}, "7 more than once"),
        (["x"], None, {"features": np.eye(1, 3)}, "are integers"),
        ([1.5], None, {}, "ids (integers or strings) or a table"),
        ([7], [(7, 8)], {"features": np.eye(1, 3)}, "nor among the new ones: 8"),
        (None, [(0, "zoe")], {}, "nor among the new ones: 'zoe'"),
        ([7], [(7,)], {"features": np.eye(1, 3)}, "(source, target)"),
        ([7], [(7, 0, "x")], {"features": np.eye(1, 3)}, "weight must be a number"),
        ([7], None, {}, "have none"),
        ([7], None, {"features": np.eye(1, 4)}, "3 columns"),
        ([7], None, {"features": np.eye(2, 3)}, "one row per node"),
        ({"id": [7], "x": [1.0]}, None, {}, "features without names"),
        ([7], None, {"kinds": {"x": "number"}}, "kinds was settled"),
    ],
)
def test_what_a_graph_cannot_be_extended_by(nodes, edges, more, words):
    assert words in refusal(PLAIN.extended, nodes, edges, **more)


def test_a_table_that_lacks_a_column():
    message = refusal(people().extended, {"id": ["eve"], "age": [3]})
    assert "lacks 1 of the 2 columns" in message
    assert "'fruit'" in message


# ------------------------------------------------------------------ a run on a grown graph

FRUITS = np.array(["apple", "banana", "cherry"])


def orchard(seed=0, n=240):
    """Return a block model whose class shows in a category, as tables."""
    blocks = block_model(n, 3, degree=4, features=2, labels_per_class=10, seed=seed)
    draw = np.random.default_rng(seed)
    upper = sp.triu(blocks.adjacency).tocoo()
    edges = pd.DataFrame({"source": upper.row, "target": upper.col})
    fruit = np.where(draw.random(n) < 0.8, blocks.labels, draw.integers(0, 3, n))
    nodes = pd.DataFrame({"id": np.arange(n), "fruit": FRUITS[fruit], "size": draw.normal(size=n)})
    label = pd.Series(blocks.labels).map({0: "x", 1: "y", 2: "z"})
    nodes["label"] = label.where(np.isin(np.arange(n), blocks.split.train))
    return edges, nodes, label.to_numpy()


def test_categories_are_matched_by_name_not_by_place(tmp_path):
    edges, nodes, truth = orchard()
    graph = Graph.from_frames(edges, nodes)
    run = graphheat.fit(graph, "linear", seed=0)
    run.save(tmp_path / "run.safetensors")
    loaded: Any = load_run(tmp_path / "run.safetensors")
    assert loaded.schema == graph.schema
    assert loaded.feature_names == graph.feature_names

    renamed = nodes[["size", "fruit", "id"]].replace({"fruit": {"banana": "aardvark"}})
    other = Graph.from_frames(edges, renamed)
    found = loaded.predict(other)
    assert any("'aardvark'" in note for note in found.notes)
    # What it should be: the same features with banana's column at 0.
    values = nodes.assign(fruit=renamed["fruit"]).drop(columns="label")
    shown = Graph.from_frames(edges, values, schema=graph.schema)
    np.testing.assert_allclose(found.probabilities, run.probabilities_on(shown), atol=1e-6)
    names = np.array(run.classes, dtype=object)
    kept = nodes["fruit"].to_numpy() != "banana"
    right = (names[found.predicted] == truth)[kept].mean()
    assert right >= (names[run.predicted] == truth)[kept].mean() - 0.05
    message = refusal(loaded.predict, Graph.from_frames(edges, nodes.drop(columns="fruit")))
    assert "'fruit'" in message
    extra = Graph.from_frames(edges, nodes.assign(colour=nodes["fruit"]))
    assert any("'colour'" in note for note in loaded.predict(extra).notes)


def test_a_classifier_warns_of_what_it_has_not_seen():
    edges, nodes, _ = orchard(n=90)
    model = graphheat.GraphHeatClassifier(recipe="linear").fit(Graph.from_frames(edges, nodes))
    other = Graph.from_frames(edges, nodes.replace({"fruit": {"banana": "aardvark"}}))
    with pytest.warns(UserWarning, match="aardvark"):
        assert model.predict(other).shape == (90,)


def test_features_with_names_alone_are_reordered():
    blocks = block_model(60, 3, features=4, labels_per_class=4, seed=0)
    fitted = Graph.from_scipy(
        blocks.adjacency, blocks.features, blocks.labels, feature_names="abcd", split=blocks.split
    )
    run = graphheat.fit(fitted, "linear", seed=0)
    order = [2, 0, 3, 1]
    other = Graph.from_scipy(
        blocks.adjacency, blocks.features[:, order], feature_names=[*"abcd"[2], *"adb"]
    )
    np.testing.assert_allclose(run.predict(other).probabilities, run.probabilities, atol=1e-6)
    lacking = Graph.from_scipy(blocks.adjacency, blocks.features, feature_names="abcx")
    assert "lacks 1 of the 4 features" in refusal(run.predict, lacking)
    unnamed = Graph.from_scipy(blocks.adjacency, blocks.features)
    assert "does not name its features" in run.predict(unnamed).notes[0]


def cut(graph, rows):
    """Return ``graph`` without some rows, and what :meth:`Graph.extended` needs to add them."""
    keep = np.setdiff1d(np.arange(graph.n), rows)
    place = np.full(graph.n, -1)
    place[keep] = np.arange(len(keep))
    split = {name: place[part][place[part] >= 0] for name, part in graph.split.items()}
    old = Graph.from_scipy(
        graph.adjacency[keep][:, keep], graph.features[keep], graph.labels[keep],
        classes=graph.classes, nodes=graph.nodes[keep], split=split,
    )  # fmt: skip
    upper = sp.triu(graph.adjacency).tocoo()
    new = np.isin(upper.row, rows) | np.isin(upper.col, rows)
    ends = graph.nodes[upper.row[new]], graph.nodes[upper.col[new]]
    return old, list(zip(*ends, upper.data[new], strict=True))


def test_new_nodes_of_cora_are_labelled_as_well_as_by_a_new_fit():
    cora = graphheat.datasets.load("cora")
    again = graphheat.fit(cora, "linear", seed=0)
    free = np.setdiff1d(np.arange(cora.n), [*cora.split.train, *cora.split.val])
    differences = []
    for seed in range(3):
        rows = np.sort(np.random.default_rng(seed).choice(free, 200, replace=False))
        old, edges = cut(cora, rows)
        grown = old.extended(cora.nodes[rows], edges, features=cora.features[rows])
        run = graphheat.fit(old, "linear", seed=0)
        truth = cora.labels[rows]
        later = (run.predict(grown).predicted[old.n :] == truth).mean()
        differences.append(later - (again.predicted[rows] == truth).mean())
    assert np.mean(differences) >= -0.02
    assert run.explainer(grown).explain(grown.nodes[-1]).node == cora.nodes[rows[-1]]


def test_the_file_of_a_combined_run_holds_the_schema_once(tmp_path):
    edges, nodes, _ = orchard(n=90)
    graph = Graph.from_frames(edges, nodes)
    parts = [graphheat.fit(graph, "linear", seed=0, s=s) for s in (1.0, 3.0)]
    both = CombinedRun.of(parts, [0.5, 0.5], recipe="ensemble")
    both.save(tmp_path / "both.safetensors")
    header, _ = checkpoint.read(tmp_path / "both.safetensors")
    assert all("feature_schema" not in part for part in header["combined"]["parts"])
    loaded: Any = load_run(tmp_path / "both.safetensors")
    grown = graph.extended({"id": [900], "fruit": ["kiwi"], "size": [0.0]}, [(900, 0)])
    for run in (loaded, *loaded.parts):
        assert run.schema == graph.schema
        renamed = Graph.from_frames(edges, nodes[["size", "fruit", "id"]])
        assert run.predict(renamed).notes == ()
        assert run.predict(grown).probabilities.shape == (91, 3)
