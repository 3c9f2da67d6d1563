"""``graphheat compare``: the table of graphheat.compare."""

import json

import pandas
from helpers.command import call

import graphheat


def test_the_command_gives_what_python_gives(tmp_path):
    out = tmp_path / "table.csv"
    options = ["--recipes", "linear,spreading", "--splits", "3", "--per-class", "2"]
    options += ["--val-per-class", "0", "--out", out]
    nodes = tmp_path / "graph.npz"
    graph = graphheat.datasets.block_model(60, 3, features=8, seed=0)
    graphheat.write_npz(graph, nodes)
    shown = json.loads(call("compare", nodes, *options, "--json").stdout)
    expected = graphheat.compare(
        graph, ["linear", "spreading"], splits=3, per_class=2, val_per_class=0
    )
    assert shown["rows"] == expected.rows()
    assert pandas.read_csv(out)["mean"].tolist() == expected.to_frame()["mean"].tolist()
    text = call("compare", nodes, *options, "--metric", "balanced_accuracy").stdout
    assert "balanced_accuracy" in text
    assert "spreading" in text


def test_mistakes_are_answered_before_anything_is_read():
    wrong = call("compare", "karate", "--out", "table.doc", code=2)
    assert ".csv, .md or .tex" in wrong.stderr
    wrong = call("compare", "karate", "--splits", "3", "--seeds", "4", code=2)
    assert "one seed per split" in wrong.stderr
