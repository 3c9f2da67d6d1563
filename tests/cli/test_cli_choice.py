"""``fit`` where s and L2 are chosen: what is written, and the same again when it is resumed."""

import json

import pandas
import pytest
from helpers.command import call

import graphheat
from graphheat.datasets import block_model
from graphheat.io import write_npz

GRAPH = block_model(120, 3, features=8, labels_per_class=6, seed=0)


@pytest.fixture
def file(tmp_path):
    write_npz(GRAPH, tmp_path / "g.npz")
    return tmp_path / "g.npz"


def test_what_was_tried_is_written_and_resumed_with(file, tmp_path):
    out = tmp_path / "run"
    command = ["fit", file, "--recipe", "consistent", "--epochs", 4, "--out", out, "--json"]
    first = call(*command)
    assert (out / "path.csv").exists()
    assert (out / "path.png").exists()
    again = call(*command, "--resume")
    assert json.loads(again.stdout)["s"] == json.loads(first.stdout)["s"]


def test_a_time_is_a_number_or_auto():
    result = call("fit", "karate", "-s", "soon", code=2)
    assert "neither a number nor 'auto'" in result.stderr


def test_a_graph_without_features_is_told_what_the_network_needs():
    result = call("fit", "karate", "--recipe", "consistent", code=2)
    assert "no features, which GraphHeat learns from" in result.stderr


def test_the_linear_recipe_is_fitted_and_resumed(file, tmp_path):
    words = ("fit", file, "--recipe", "linear", "--out", tmp_path / "run")
    shown = json.loads(call(*words, "--json").stdout)
    assert (
        shown["settings"]["chosen_by"] == "leave-one-out" and shown["s"] == shown["settings"]["s"]
    )
    files = {path.name for path in (tmp_path / "run").iterdir()}
    assert {"path.csv", "path.png", "predictions.csv", "checkpoint.safetensors"} <= files
    assert pandas.read_csv(tmp_path / "run" / "path.csv")["chosen"].sum() == 1
    assert "linear" in call(*words, "--resume").output
    call(*words, "-s", 2, "--resume", code=2)
    call(*words, code=2)


def test_a_linear_run_predicts_another_graph(file, tmp_path):
    out, other = tmp_path / "run", tmp_path / "other.npz"
    call("fit", file, "--recipe", "linear", "-s", 2, "--out", out)
    write_npz(block_model(80, 3, features=8, seed=2), other)
    call("predict", out, "--graph", other, "--out", tmp_path / "p.csv")
    assert len(pandas.read_csv(tmp_path / "p.csv")) == 80


def test_where_nothing_is_left_to_choose_no_path_is_written(file, tmp_path):
    out = tmp_path / "run"
    call("fit", file, "--recipe", "linear", "--out", out)
    call("fit", file, "--recipe", "linear", "-s", 2, "--set", "l2=0.01", "--out", out, "--force")
    run = graphheat.load_run(out)
    assert (run.settings_dict()["s"], run.settings_dict()["l2"]) == (2.0, 0.01)
    assert not (out / "path.csv").exists()


def test_settings_that_the_linear_recipe_does_not_have_are_refused(file):
    call("fit", file, "--recipe", "linear", "--eps", "1e-4", code=2)
    call("fit", file, "--recipe", "linear", "--hidden", "8", code=2)
