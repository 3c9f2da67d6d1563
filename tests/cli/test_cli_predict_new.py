"""predict --nodes --edges: new nodes labelled by a run, without a new fit."""

import json

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from helpers.command import call, invoke

from graphheat.datasets import block_model
from graphheat.io import read_csv, write_npz
from graphheat.runs import load_run

N, NEW = 150, 12
BLOCKS = block_model(N, 3, degree=6, features=3, labels_per_class=8, seed=0)
ROWS = np.setdiff1d(np.arange(N), BLOCKS.split.train)[-NEW:]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Make tables of a graph without some nodes, tables of those, and a run on the first."""
    folder = tmp_path_factory.mktemp("new")
    upper = sp.triu(BLOCKS.adjacency).tocoo()
    edges = pd.DataFrame({"a": upper.row, "b": upper.col}) + 1000
    nodes = pd.DataFrame(BLOCKS.features, columns=["h", "v", "w"])
    nodes.insert(0, "who", np.arange(N) + 1000)
    nodes["colour"] = np.array(["red", "green", "blue"])[BLOCKS.labels]
    kind = pd.Series(BLOCKS.labels).map({0: "ash", 1: "oak", 2: "elm"})
    nodes["tree"] = kind.where(np.isin(np.arange(N), BLOCKS.split.train))
    new = nodes["who"].isin(ROWS + 1000)
    later = edges["a"].isin(ROWS + 1000) | edges["b"].isin(ROWS + 1000)
    edges[~later].to_csv(folder / "edges.csv", index=False)
    edges[later].to_csv(folder / "new_edges.csv", index=False)
    nodes[~new].to_csv(folder / "nodes.csv", index=False)
    columns = ["colour", "w", "who", "h", "v"]  # another order, and no labels
    nodes[new][columns].to_csv(folder / "new_nodes.csv", index=False)
    call(
        *("fit", folder / "edges.csv", "--nodes", folder / "nodes.csv", "--id-column", "who"),
        *("--label-column", "tree", "--recipe", "linear", "--out", folder / "run"),
    )
    return folder


def new(folder, *more, nodes="new_nodes.csv", edges="new_edges.csv", code=0):
    words = ["--nodes", folder / nodes, "--edges", folder / edges]
    return call("predict", folder / "run", *words, *more, code=code)


def test_new_nodes_are_labelled_from_the_graph_grown_by_them(folder):
    out = folder / "new.csv"
    result = new(folder, "--out", out)
    assert f"{N - NEW} nodes, and {NEW} new ones with" in result.stderr
    assert f"Labels of {NEW} new nodes" in result.stderr
    assert "new_nodes.csv: 'who' is the id" in result.stderr
    assert "new_edges.csv: " in result.stderr
    frame = pd.read_csv(out)
    assert frame["node"].tolist() == (ROWS + 1000).tolist()
    truth = np.array(["ash", "oak", "elm"])[BLOCKS.labels[ROWS]]
    assert (frame["predicted"] == truth).mean() > 0.8
    graph = read_csv(folder / "edges.csv", folder / "nodes.csv", id="who", label="tree")
    grown = graph.extended(folder / "new_nodes.csv", folder / "new_edges.csv", id="who")
    expected = load_run(folder / "run").predict(grown).probabilities[-NEW:]
    np.testing.assert_allclose(frame[["p_ash", "p_elm", "p_oak"]].to_numpy(), expected, atol=1e-9)


def test_without_a_file_the_labels_are_printed(folder):
    result = new(folder)
    assert str(ROWS[0] + 1000) in result.stdout
    assert f"{NEW} new nodes labelled." in result.stderr
    found = json.loads(new(folder, "--json").stdout)
    assert found["new_nodes"] == found["nodes"] == NEW
    assert set(found["labels"]) == {str(node) for node in ROWS + 1000}


def test_an_unseen_category_a_lacking_column_and_a_lonely_node_are_told(folder):
    (folder / "odd.csv").write_text("who,colour,h,v,w,size\n9,teal,0,0,0,1\n")
    (folder / "few.csv").write_text("a,b\n1000,1001\n")
    result = new(folder, nodes="odd.csv", edges="few.csv")
    for words in ("'teal'", "'size'", "1 new nodes have no edge"):
        assert words in result.stderr
    (folder / "short.csv").write_text("who,h,v,w\n9,0,0,0\n")
    assert "'colour'" in new(folder, nodes="short.csv", edges="few.csv", code=2).stderr


@pytest.mark.parametrize(
    ("nodes", "edges", "words"),
    [
        ("who,colour,h,v,w\n1000,red,0,0,0\n", "a,b\n1000,1001\n", "already: 1000"),
        ("who,colour,h,v,w\n9,red,0,0,0\n", "a,b\n9,8\n", "nor among the new ones: 8"),
        ("who,colour,h,v,w\n9,red,0,0,0\n9,red,0,0,0\n", "a,b\n9,1000\n", "9"),
        ("who,colour,h,v,w\nzoe,red,0,0,0\n", "a,b\n1000,1001\n", "integers"),
    ],
)
def test_mistakes_are_one_sentence(folder, nodes, edges, words):
    (folder / "bad_nodes.csv").write_text(nodes)
    (folder / "bad_edges.csv").write_text(edges)
    result = new(folder, nodes="bad_nodes.csv", edges="bad_edges.csv", code=2)
    assert words in result.stderr.splitlines()[-1]
    assert result.stdout == ""


def test_edges_need_nodes_and_a_plain_prediction_a_file(folder):
    result = invoke("predict", folder / "run", "--edges", folder / "new_edges.csv")
    assert result.exit_code == 2
    assert "--edges goes with --nodes" in result.stderr
    assert "Missing option '--out'" in invoke("predict", folder / "run").stderr


def test_a_moved_graph_and_an_array_of_features(folder):
    graph = BLOCKS
    write_npz(graph, folder / "g.npz")
    call("fit", folder / "g.npz", "--recipe", "linear", "--out", folder / "plain")
    (folder / "g.npz").rename(folder / "moved.npz")
    (folder / "ids.csv").write_text("id\n900\n901\n")
    (folder / "links.csv").write_text("source,target\n900,0\n901,900\n")
    np.save(folder / "x.npy", graph.features[:2])
    words = ["--nodes", folder / "ids.csv", "--edges", folder / "links.csv"]
    words += ["--features", folder / "x.npy"]
    lost = invoke("predict", folder / "plain", *words)
    assert "name it with --graph" in lost.stderr
    found = call("predict", folder / "plain", *words, "--graph", folder / "moved.npz", "--json")
    assert json.loads(found.stdout)["new_nodes"] == 2
    grown = graph.extended([900, 901], [(900, 0)], features=graph.features[:2])
    write_npz(grown, folder / "grown.npz")
    shown = call("explain", folder / "plain", 900, "--graph", folder / "grown.npz")
    assert "Node 900" in shown.stdout
    write_npz(block_model(N, 3, degree=6, features=3, labels_per_class=8, seed=1), folder / "o.npz")
    other = call("explain", folder / "plain", 9, "--graph", folder / "o.npz", code=2)
    assert "nor that one grown" in other.stderr


def test_new_nodes_are_explained_and_explored(folder):
    words = ["--nodes", folder / "new_nodes.csv", "--edges", folder / "new_edges.csv"]
    node = ROWS[0] + 1000
    found = call("explain", folder / "run", node, *words, "--json")
    assert json.loads(found.stdout)["node"] == node
    assert f"and {NEW} new ones" in found.stderr
    page = call("explore", folder / "run", *words, "--out", folder / "page.html", "--json")
    assert json.loads(page.stdout)["nodes"] == N
    odd = call("explain", folder / "run", node, *words, "--kind", "h=number", code=2)
    assert "--kind does not go" in odd.stderr
    bare = call("explore", "cora", "--edges", folder / "new_edges.csv", "--out", "x.html", code=2)
    assert "--edges is for runs" in bare.stderr
