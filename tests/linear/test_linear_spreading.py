"""Label spreading by heat: what it says of a label left out, of odd graphs, and why."""

from functools import cache

import numpy as np
import pytest
from helpers.same_run import assert_same_run
from scipy.special import softmax

import graphheat
from graphheat.datasets import block_model
from graphheat.errors import GraphError, ParameterError
from graphheat.graph import Graph
from graphheat.linear.spreading import (
    TIMES,
    SpreadingRun,
    SpreadingSettings,
    fit_spreading,
    spreading_kernel,
)

GRAPH = block_model(150, 3, homophily=0.9, labels_per_class=6, seed=0)


def spread(graph=GRAPH, seed=0, **changes):
    split = graph.completed_split(seed, hold_out=False)
    return fit_spreading(graph, split, SpreadingSettings.checked(**changes), seed=seed, threads=1)


@cache
def fitted():
    return spread()


def heat_by_class(graph, train, s):
    """What each class's labels send every node, shape (n, c)."""
    columns = np.zeros((graph.n, len(graph.classes)))
    columns[train, graph.labels[train]] = 1.0
    return np.maximum(spreading_kernel(graph, s).apply(columns), 0.0)


def without_edges(graph, alone):
    adjacency = graph.adjacency.toarray()
    adjacency[alone], adjacency[:, alone] = 0, 0
    return Graph.from_scipy(
        adjacency, labels=graph.labels, classes=graph.classes, split=graph.split
    )


def test_it_finds_the_classes_and_needs_no_features():
    run = fitted()
    assert run.s in TIMES and run.notes == ()
    assert run.test_accuracy > 0.8
    bare = Graph.from_scipy(
        GRAPH.adjacency, labels=GRAPH.labels, classes=GRAPH.classes, split=GRAPH.split
    )
    assert np.array_equal(spread(bare).probabilities, run.probabilities)


@pytest.mark.parametrize("s", [1.0, 10.0])
def test_a_label_left_out_is_judged_as_by_the_others_alone(s):
    run, train = spread(s=s), np.sort(GRAPH.split["train"])
    for position in range(len(train)):
        others = np.delete(train, position)
        heat = heat_by_class(GRAPH, others, s)[train[position]]
        expected = softmax(run.sharpness * np.log(heat + run.floor))
        np.testing.assert_allclose(run.out_of_fold[position], expected, atol=1e-4)


def test_a_nodes_probabilities_are_the_shares_of_heat_sharpened():
    run = fitted()
    heat = heat_by_class(GRAPH, GRAPH.split["train"], run.s)
    np.testing.assert_allclose(softmax(run.logits_of(heat), axis=1), run.probabilities, atol=1e-9)
    assert run.sharpness > 0 and (run.floor > 0).all()


def test_only_training_labels_play_a_part():
    labels = GRAPH.labels.copy()
    rest = np.setdiff1d(np.arange(GRAPH.n), GRAPH.split["train"])
    labels[rest] = np.roll(labels[rest], 11)
    other = Graph.from_scipy(
        GRAPH.adjacency, labels=labels, classes=GRAPH.classes, split=GRAPH.split
    )
    assert np.array_equal(spread(other).probabilities, fitted().probabilities)


def test_where_no_heat_arrives_the_classes_shares_decide():
    train = np.concatenate(
        [np.flatnonzero(GRAPH.labels == code)[:count] for code, count in enumerate((6, 3, 3))]
    )
    alone = np.flatnonzero(GRAPH.labels == 1)[[3, 4]]
    graph = without_edges(GRAPH.with_split(train=train), alone)
    run = spread(graph)
    shares = softmax(run.sharpness * np.log(np.array([6, 3, 3]) / 12))
    np.testing.assert_allclose(run.probabilities[alone], np.tile(shares, (2, 1)), atol=1e-3)
    assert not run.reached[alone].any()
    assert run.reached[train].all()


def test_an_isolated_training_node_keeps_its_label_and_helps_nobody():
    alone = int(GRAPH.split["train"][0])
    run = spread(without_edges(GRAPH, [alone]), s=3.0)
    assert run.predicted[alone] == GRAPH.labels[alone]
    position = np.searchsorted(np.sort(GRAPH.split["train"]), alone)
    np.testing.assert_allclose(run.out_of_fold[position], 1 / 3, atol=0.02)


def test_one_label_per_class_leaves_nothing_to_choose_by():
    train = [int(np.flatnonzero(GRAPH.labels == code)[0]) for code in range(3)]
    run = spread(GRAPH.with_split(train=train))
    assert (run.s, run.sharpness) == (10.0, 1.0)
    assert "No class has two labels" in run.notes[0]
    assert set(run.predicted[train]) == {0, 1, 2}
    assert spread(GRAPH.with_split(train=train), s=2.0).notes == ()


def test_of_many_labels_some_choose_and_the_others_have_no_fold():
    graph = block_model(900, 3, homophily=0.9, labels_per_class=100, seed=1)
    run = spread(graph)
    held = np.isfinite(run.out_of_fold).all(axis=1)
    assert held.sum() == 256
    right = run.out_of_fold.argmax(axis=1) == graph.labels[np.sort(graph.split["train"])]
    assert right[held].mean() > 0.8


def test_two_runs_are_identical():
    assert np.array_equal(fitted().probabilities, spread().probabilities)
    assert np.array_equal(fitted().out_of_fold, spread().out_of_fold)


def test_save_and_load(tmp_path):
    run = fitted()
    run.save(tmp_path / "run.safetensors")
    back = SpreadingRun.load(tmp_path / "run.safetensors")
    assert_same_run(back, run)
    index = 70
    one, other = (each.explainer(GRAPH).explain(GRAPH.nodes[index]) for each in (back, run))
    assert np.array_equal(one.contributions, other.contributions)


def test_another_graph_is_refused():
    with pytest.raises(GraphError, match="that it was fitted on, and that one grown"):
        fitted().predict(block_model(60, 3, seed=3))


# ------------------------------------------------------------------ explanations


def test_what_labels_gave_and_the_constant_sum_to_the_logit():
    run = fitted()
    explainer = run.explainer(GRAPH)
    heat = heat_by_class(GRAPH, GRAPH.split["train"], run.s)
    for index in (0, 70, int(GRAPH.split["train"][0])):
        given, constants = explainer.contributions(index, [0, 1, 2])
        np.testing.assert_allclose(
            given.sum(axis=0) + constants, run.logits_of(heat[index]), atol=1e-5
        )
        assert (given >= 0).all()
        assert not given[np.setdiff1d(np.arange(GRAPH.n), GRAPH.split["train"])].any()
        for code in range(3):  # only labels of a class speak for it
            assert not given[GRAPH.labels != code, code].any()
        found = explainer.explain(GRAPH.nodes[index])
        assert found.label == run.classes[run.predicted[index]]


def test_an_isolated_node_has_the_constant_alone():
    alone = int(GRAPH.split["test"][0])
    graph = without_edges(GRAPH, [alone])
    run = spread(graph)
    given, constants = run.explainer(graph).contributions(alone, [0, 1, 2])
    assert not given.any()
    np.testing.assert_allclose(softmax(constants), run.probabilities[alone], atol=1e-6)


def test_features_play_no_part_in_a_label():
    run = fitted()
    explainer = run.explainer(GRAPH)
    node, source = GRAPH.nodes[70], GRAPH.nodes[int(GRAPH.split["train"][0])]
    assert explainer.without(node, source).label == run.classes[run.predicted[70]]


# ------------------------------------------------------------------ recipe


def test_the_recipe_is_known_by_its_name():
    run = graphheat.fit(GRAPH, "spreading", threads=1)
    assert np.array_equal(run.probabilities, fitted().probabilities)
    assert run.settings_dict() == {"s": fitted().s, "asked": {"s": "auto"}}


@pytest.mark.parametrize("wrong", [{"s": -1}, {"hidden": 16}, {"eps": 1e-4}])
def test_wrong_settings_are_named(wrong):
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        graphheat.fit(GRAPH, "spreading", **wrong)
