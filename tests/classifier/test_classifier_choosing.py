"""``s="auto"``: chosen on labels, told in the notes, and the same when a run is resumed."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

import graphheat
from graphheat.classifier.choosing import choose_time, resolve_time, settings_from, wants_choice
from graphheat.cli import main
from graphheat.datasets import block_model, load
from graphheat.errors import ParameterError
from graphheat.io import write_npz
from graphheat.training.holdout import assign_roles
from graphheat.training.recipes import RECIPES

GRAPH = block_model(120, 3, features=8, labels_per_class=6, seed=0)
BRIEF = {"max_epochs": 5}


def chosen():
    return settings_from(choose_time(GRAPH, "columns"), RECIPES["consistent"])


def test_only_the_consistent_recipe_chooses_unasked():
    assert wants_choice(GRAPH, "consistent", None)
    assert wants_choice(GRAPH, "paper", "auto")
    assert not wants_choice(GRAPH, "paper", None)
    assert not wants_choice(GRAPH, "consistent", 2.0)
    cora = load("cora")
    assert not wants_choice(cora, "consistent", None) and wants_choice(cora, "consistent", "auto")
    with pytest.raises(ParameterError, match="number or 'auto'"):
        wants_choice(GRAPH, "paper", "long")


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("validated", [True, False])
def test_nodes_that_calibrate_do_not_choose(seed, validated):
    graph = block_model(900, 3, labels_per_class=10 if validated else 120, val=120, seed=4)
    if not validated:
        graph = graph.with_split(train=graph.split["train"], test=graph.split["test"])
    roles = assign_roles(graph, seed, calibration=0.4)
    linear = resolve_time(graph, "consistent", "auto", {"calibration": 0.4}, seed=seed).linear
    assert len(roles.calibration) >= 20
    assert np.array_equal(linear.members("calibration"), roles.calibration)
    if validated:
        assert np.array_equal(linear.members("val"), roles.val)
    else:
        assert linear.path.by == "cross-validation"
        assert np.array_equal(linear.training_nodes, np.union1d(roles.train, roles.val))


def test_seeds_share_a_choice_as_far_as_the_same_nodes_calibrate():
    kept = {}
    first = resolve_time(GRAPH, "consistent", None, {}, seed=0, before=kept)
    again = resolve_time(GRAPH, "consistent", None, {}, seed=0, before=kept)
    assert first is again and len(kept) == 1


def test_two_layers_share_the_time_that_one_diffusion_had():
    linear = choose_time(GRAPH, "columns")
    found, sentence = settings_from(linear, RECIPES["consistent"])
    assert found == {"s": linear.s / 2}
    assert "validation" in sentence
    assert settings_from(linear, RECIPES["normalized"])[0] == {"s": linear.s}


def test_where_little_heat_is_wanted_no_node_is_dropped():
    graph = block_model(400, 4, homophily=0.1, features=16, feature_strength=3.0, seed=0)
    run = graphheat.fit(graph, **BRIEF)
    assert (run.settings.s, run.settings.drop_nodes) == (1.0, 0.0)
    assert any("little heat" in note for note in run.notes)
    assert graphheat.fit(graph, drop_nodes=0.2, **BRIEF).settings.drop_nodes == 0.2


def test_a_run_has_the_chosen_time_and_says_so():
    found, sentence = chosen()
    s = found["s"]
    run = graphheat.fit(GRAPH, "consistent", **BRIEF)
    assert run.settings.s == s
    assert sentence in run.notes
    assert graphheat.fit(GRAPH, "consistent", s=1.0, **BRIEF).settings.s == 1.0
    assert graphheat.fit(GRAPH, "paper", s="auto", **BRIEF).settings.s == s


def test_seeds_of_an_evaluation_share_the_choice():
    result = graphheat.evaluate(GRAPH, "consistent", seeds=range(2), **BRIEF)
    assert {run.settings.s for run in result.runs} == {chosen()[0]["s"]}


def test_the_classifier_takes_auto():
    model = graphheat.GraphHeatClassifier(recipe="consistent", max_epochs=5, random_state=0)
    assert model.fit(GRAPH).run_.settings.s == chosen()[0]["s"]


def test_one_label_a_class_has_nothing_to_choose_by():
    few = block_model(60, 3, features=8, labels_per_class=1, seed=0)
    train = few.split["train"]
    graph = few.with_split(train=train)
    run = graphheat.fit(graph, "consistent", **BRIEF)
    assert any("Too few labels to choose s by" in note for note in run.notes)


def test_a_wrong_setting_is_told_before_anything_is_tried(monkeypatch):
    monkeypatch.setattr("graphheat.classifier.choosing.choose_time", None)
    with pytest.raises(ParameterError, match="nothing"):
        graphheat.fit(GRAPH, "consistent", nothing=1)


def call(*args):
    return CliRunner().invoke(main, [str(arg) for arg in args])


def test_the_command_writes_what_was_tried_and_resumes_with_it(tmp_path):
    write_npz(GRAPH, tmp_path / "g.npz")
    out = tmp_path / "run"
    command = ["fit", tmp_path / "g.npz", "--recipe", "consistent", "--epochs", 4, "--out", out]
    first = call(*command, "--json")
    assert first.exit_code == 0, first.output
    assert (out / "path.csv").exists()
    assert (out / "path.png").exists()
    again = call(*command, "--resume", "--json")
    assert again.exit_code == 0, again.output
    assert json.loads(again.stdout)["s"] == json.loads(first.stdout)["s"]


def test_a_time_is_a_number_or_auto():
    result = call("fit", "karate", "-s", "soon")
    assert result.exit_code == 2
    assert "neither a number nor 'auto'" in result.stderr


def test_a_graph_without_features_is_told_what_the_network_needs():
    result = call("fit", "karate", "--recipe", "consistent")
    assert result.exit_code == 2
    assert "no features, which GraphHeat learns from" in result.stderr
