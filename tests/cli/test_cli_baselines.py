"""``fit --recipe`` with the baselines, on a user's own graph."""

from __future__ import annotations

import json

import numpy as np
import pandas
import pytest
import scipy.sparse as sp
from helpers.command import call

import graphheat
from graphheat import recipes
from graphheat.baselines import NAMES
from graphheat.datasets import block_model

GRAPH = block_model(90, 3, seed=0)


@pytest.fixture
def table(tmp_path):
    """Edges and a node table with string ids, dense features and 30 labels."""
    names = [f"n{index}" for index in range(GRAPH.n)]
    upper = sp.coo_array(sp.triu(GRAPH.adjacency))
    edges = pandas.DataFrame(
        {"a": [names[i] for i in upper.row], "b": [names[i] for i in upper.col]}
    )
    edges.to_csv(tmp_path / "edges.csv", index=False)
    features = np.asarray(GRAPH.features)[:, :6]
    nodes = pandas.DataFrame(features, columns=[f"x{i}" for i in range(6)])
    nodes.insert(0, "id", names)
    nodes["colour"] = np.array(["red", "green", "blue"])[GRAPH.labels]
    nodes.loc[30:, "colour"] = None
    nodes.to_csv(tmp_path / "nodes.csv", index=False)
    return [tmp_path / "edges.csv", "--nodes", tmp_path / "nodes.csv", "--label-column", "colour"]


@pytest.mark.parametrize("name", NAMES)
def test_every_baseline_labels_a_table_of_strings(name, table, tmp_path):
    brief = []
    for setting, value in recipes.get(name).brief.items():
        brief += ["--set", f"{setting}={json.dumps(value)}"]
    out = tmp_path / "run"
    call("fit", *table, "--recipe", name, "--out", out, *brief)
    frame = pandas.read_csv(out / "predictions.csv")
    assert len(frame) == GRAPH.n
    assert set(frame["predicted"]) <= {"red", "green", "blue"}
    shares = frame[["p_blue", "p_green", "p_red"]].to_numpy()
    assert np.allclose(shares.sum(axis=1), 1, atol=1e-5)
    call("predict", out, "--out", tmp_path / "again.csv")
    again = pandas.read_csv(tmp_path / "again.csv")
    assert again["predicted"].tolist() == frame["predicted"].tolist()


def test_a_run_over_seeds_is_resumed_without_being_made_again(table, tmp_path):
    words = ("fit", *table, "--recipe", "gcn", "--epochs", 3, "--seeds", 2, "--out", tmp_path / "r")
    first = json.loads(call(*words, "--json").stdout)
    second = json.loads(call(*words, "--resume", "--json").stdout)
    assert [run["seconds"] for run in first["runs"]] == [run["seconds"] for run in second["runs"]]
    assert first["settings"]["max_epochs"] == 3
    message = call(*words, "--set", "dropout=0.1", "--resume", code=2).stderr
    assert "dropout" in message


def test_settings_reach_the_baseline(table):
    result = json.loads(
        call("fit", *table, "--recipe", "gcn", "--hidden", 5, "--epochs", 2, "--json").stdout
    )
    assert (result["settings"]["hidden"], result["settings"]["max_epochs"]) == (5, 2)
    assert result["recipe"] == "gcn"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["--recipe", "gnc"],
            "must be one of 'auto', 'consistent', 'normalized', 'paper', 'authors'",
        ),
        (["--recipe", "gcn", "-s", "3"], "s and eps are settings of GraphHeat; 'gcn' has neither"),
        (["--recipe", "gcn", "--set", "depth=3"], "GCN has no setting 'depth'"),
        (["--recipe", "gcn", "--set", "depth"], "is not NAME=VALUE"),
        (["--recipe", "lp", "--epochs", "3"], "has no setting 'max_epochs'"),
        (["--set", "s=2"], "give s as -s"),
        (["--set", "recipe=paper"], "give recipe as --recipe"),
        (["-s", "2", "--set", "self_term=no"], "must be True or False"),
    ],
)
def test_mistakes_are_said_in_a_sentence(table, words, message):
    result = call("fit", *table, *words, code=2)
    assert message in result.stderr.replace("\n", " ")


def test_a_baseline_that_needs_features_says_so(tmp_path):
    (tmp_path / "edges.csv").write_text("a,b\n1,2\n2,3\n3,4\n")
    (tmp_path / "nodes.csv").write_text("id,kind\n1,x\n2,x\n3,y\n4,y\n")
    words = ("fit", tmp_path / "edges.csv", "--nodes", tmp_path / "nodes.csv", "--label-column",
             "kind", "--recipe")  # fmt: skip
    assert "has no features, which GCN learns from" in call(*words, "gcn", code=2).stderr
    call(*words, "lp")


def test_another_graph_is_refused_by_a_baseline_that_cannot_label_it(table, tmp_path):
    call("fit", *table, "--recipe", "lp", "--out", tmp_path / "run")
    message = call(
        "predict", tmp_path / "run", "--graph", "karate", "--out", tmp_path / "p.csv", code=2
    ).stderr
    assert "labels the graph that it was fitted on" in message


def test_python_has_the_same_recipes():
    run = graphheat.fit(GRAPH, "lp")
    assert run.recipe == "lp"
    assert run.test_accuracy == graphheat.evaluate(GRAPH, "lp", seeds=[0]).mean
    with pytest.raises(graphheat.GraphHeatError, match="settings of GraphHeat"):
        graphheat.evaluate(GRAPH, "lp", s=3.0)
    with pytest.raises(graphheat.GraphHeatError, match="must be one of"):
        graphheat.fit(GRAPH, "nothing")
