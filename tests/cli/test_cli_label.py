"""``graphheat label``: what it writes at the end, and what it refuses before it serves."""

import numpy as np
import pandas
from helpers.command import call, invoke

import graphheat
from graphheat.cli.label_command import JOURNAL, write_labelled
from graphheat.explorer import part
from graphheat.labeling.journal import Journal


def test_what_was_labelled_is_a_run_and_a_table(tmp_path):
    known = graphheat.datasets.block_model(80, 2, homophily=0.9, seed=0)
    labels = np.where(np.arange(80) < 12, known.labels, -1)
    nodes = ["=1+1", *(f"n{k}" for k in range(1, 80))]
    graph = graphheat.Graph.from_scipy(
        known.adjacency, labels=labels, classes=("tea", "@milk"), nodes=nodes
    )
    where = write_labelled(tmp_path, graph)
    table = pandas.read_csv(where["table"])
    assert table["node"][0] == "'=1+1"
    assert table["label"].notna().sum() == 12
    assert set(table["predicted"]) <= {"tea", "'@milk"}
    call("predict", where["run"], "--out", tmp_path / "p.csv")
    call("explain", where["run"], "n40")
    assert write_labelled(tmp_path, graph) == where  # once more, after more labels


def test_labels_are_not_begun_over_others(tmp_path):
    edges = tmp_path / "edges.csv"
    edges.write_text("source,target\na,b\nb,c\n")
    graph = graphheat.read_graph(edges)
    out = tmp_path / "out"
    out.mkdir()
    Journal(out / JOURNAL, graph.fingerprint, graph.n, graph.name).close()
    done = invoke("label", edges, "--out", out)
    assert done.exit_code == 2
    assert "--resume" in done.stderr
    done = invoke("label", "karate", "--out", out, "--resume")
    assert done.exit_code == 2
    assert "another graph" in done.stderr


def test_a_graph_too_large_for_a_page(tmp_path, monkeypatch):
    monkeypatch.setattr("graphheat.explorer.MAX_NODES", 10)
    assert part.MAX_NODES == 50_000
    done = invoke("label", "karate", "--out", tmp_path / "out")
    assert done.exit_code == 2
    assert "graphheat suggest" in done.stderr
    assert not (tmp_path / "out").exists()
