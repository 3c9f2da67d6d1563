"""``s="auto"``: chosen on labels, and stated in the notes."""

import numpy as np
import pytest

import graphheat
from graphheat.datasets import block_model, load
from graphheat.errors import ParameterError
from graphheat.recipes.diffusion_time import choose_time, settings_from
from graphheat.recipes.network_recipe import CONSISTENT, NORMALIZED, PAPER

GRAPH = block_model(120, 3, features=8, labels_per_class=6, seed=0)
BRIEF = {"max_epochs": 5}


def linear_choice():
    return choose_time(GRAPH, GRAPH.completed_split(0), "standard")


def chosen():
    return settings_from(linear_choice(), CONSISTENT.base)


def prepared(graph, **changes):
    return CONSISTENT.prepare(graph, CONSISTENT.settings(graph, **changes))


@pytest.mark.parametrize(
    ("recipe", "s", "chooses"),
    [
        (CONSISTENT, None, True),
        (NORMALIZED, None, True),
        (PAPER, "auto", True),
        (PAPER, None, False),
        (CONSISTENT, 2.0, False),
    ],
)
def test_only_recipes_with_consistency_choose_unasked(recipe, s, chooses):
    assert recipe.settings(GRAPH, s=s).chooses_s == chooses


def test_what_was_searched_before_is_chosen_again_only_when_asked():
    cora = load("cora")
    assert not CONSISTENT.settings(cora).chooses_s
    assert CONSISTENT.settings(cora, s="auto").chooses_s


def test_a_time_is_a_number_or_auto():
    with pytest.raises(ParameterError, match="number or 'auto'"):
        PAPER.settings(GRAPH, s="long")


def large(*, validated):
    """Return a graph with validation nodes, or with so many labels that some can be held out."""
    graph = block_model(900, 3, labels_per_class=10 if validated else 120, val=120, seed=4)
    if validated:
        return graph
    return graph.with_split(train=graph.split["train"], test=graph.split["test"])


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("validated", [True, False])
def test_nodes_that_calibrate_do_not_choose(seed, validated):
    graph = large(validated=validated)
    split = graph.completed_split(seed, calibration=0.4)
    _, _, linear = prepared(graph, calibration=0.4).choose(seed)
    assert len(split.calibration) >= 20
    assert np.array_equal(linear.members("calibration"), split.calibration)
    assert linear.search.by == "leave-one-out"
    if validated:
        assert np.array_equal(linear.members("val"), split.val)
        assert np.array_equal(linear.training_nodes, split.train)
    else:
        assert np.array_equal(linear.training_nodes, np.union1d(split.train, split.val))


def test_seeds_share_a_choice_as_far_as_the_same_nodes_calibrate():
    few = prepared(GRAPH)  # too few validation nodes to hold any out
    assert few.choose(0)[2] is few.choose(1)[2]
    many = prepared(large(validated=True), calibration=0.4)
    first = many.choose(0)[2]
    assert many.choose(1)[2] is not first
    assert many.choose(0)[2] is first


def test_two_layers_share_the_time_that_one_diffusion_had():
    linear = linear_choice()
    found, sentence = settings_from(linear, CONSISTENT.base)
    assert found == {"s": linear.s / 2}
    assert "by leave-one-out over the training labels" in sentence
    assert settings_from(linear, NORMALIZED.base)[0] == {"s": linear.s}


def test_where_little_heat_is_wanted_no_node_is_dropped():
    graph = block_model(400, 4, homophily=0.1, features=16, feature_strength=3.0, seed=0)
    run = graphheat.fit(graph, "consistent", **BRIEF)
    assert (run.settings_dict()["s"], run.settings_dict()["drop_nodes"]) == (1.0, 0.0)
    assert any("little smoothing helps" in note for note in run.notes)
    kept = graphheat.fit(graph, "consistent", drop_nodes=0.2, **BRIEF)
    assert kept.settings_dict()["drop_nodes"] == 0.2


def test_a_run_has_the_chosen_time_and_says_so():
    found, sentence = chosen()
    s = found["s"]
    run = graphheat.fit(GRAPH, "consistent", **BRIEF)
    assert run.settings_dict()["s"] == s
    assert sentence in run.notes
    given = graphheat.fit(GRAPH, "consistent", s=1.0, **BRIEF)
    assert given.settings_dict()["s"] == 1.0
    paper = graphheat.fit(GRAPH, "paper", s="auto", **BRIEF)
    assert paper.settings_dict()["s"] == s


def test_seeds_of_an_evaluation_share_the_choice():
    result = graphheat.evaluate(GRAPH, "consistent", seeds=range(2), **BRIEF)
    assert {run.settings_dict()["s"] for run in result.runs} == {chosen()[0]["s"]}


def test_the_classifier_takes_auto():
    model = graphheat.GraphHeatClassifier(recipe="consistent", max_epochs=5, random_state=0)
    assert model.fit(GRAPH).run_.settings_dict()["s"] == chosen()[0]["s"]


def test_one_label_per_class_has_nothing_to_choose_by():
    few = block_model(60, 3, features=8, labels_per_class=1, seed=0)
    run = graphheat.fit(few.with_split(train=few.split["train"]), "consistent", **BRIEF)
    assert any("Too few labels to choose s by" in note for note in run.notes)


def test_a_wrong_setting_is_said_before_anything_is_tried(monkeypatch):
    monkeypatch.setattr("graphheat.recipes.network_recipe.choose_time", None)
    with pytest.raises(ParameterError, match="nothing"):
        graphheat.fit(GRAPH, "consistent", nothing=1)
