"""Runs that answer together: their product, their file, other graphs, and why."""

import json
from functools import cache
from typing import Any

import numpy as np
import pytest
from helpers.linear import linear_run
from helpers.same_run import assert_same_run
from scipy.special import log_softmax, softmax

import graphheat
from graphheat.datasets import block_model
from graphheat.errors import GraphError
from graphheat.graph import Graph
from graphheat.runs import Run
from graphheat.runs.combined_run import CombinedRun, Stage, combined

GRAPH = block_model(90, 3, features=8, labels_per_class=5, seed=0)
OTHER = block_model(50, 3, features=8, labels_per_class=4, seed=5)
STAGES = (
    Stage("spreading", 0.1, 0.7, 0.9, 0.2),
    Stage("linear", 0.5, None, None, 1.3),
)


@cache
def parts():
    first = graphheat.fit(GRAPH, "spreading", threads=1)
    return first, linear_run(GRAPH, s=2.0, l2=0.1), linear_run(GRAPH, s=5.0, l2=1.0)


@cache
def nested():
    """Label spreading beside a combination of two linear models."""
    spreading, *linear = parts()
    inner = CombinedRun.of(linear, [0.25, 0.75], recipe="linear")
    return CombinedRun.of(
        [spreading, inner],
        [0.2, 1.3],
        recipe="auto",
        stages=STAGES,
        judged_by="validation",
        notes=("It is a test.",),
    )


def product(runs, weights):
    logs = sum(w * np.log(run.probabilities) for run, w in zip(runs, weights, strict=True))
    return softmax(logs, axis=1)


def test_probabilities_are_the_product_of_the_parts_powers():
    run = CombinedRun.of(parts(), [0.5, 1.0, 0.7], recipe="auto")
    np.testing.assert_allclose(run.probabilities, product(parts(), [0.5, 1.0, 0.7]), atol=1e-12)
    np.testing.assert_allclose(run.probabilities.sum(axis=1), 1)


def test_one_part_of_weight_one_is_that_part():
    run = CombinedRun.of(parts(), [0.0, 1.0, 0.0], recipe="auto")
    assert len(run.parts) == 1
    np.testing.assert_allclose(run.probabilities, parts()[1].probabilities, atol=1e-12)


def test_the_sum_of_the_weights_is_the_sharpness():
    run = CombinedRun.of(parts()[1:2], [3.0], recipe="auto")
    expected = softmax(3 * np.log(parts()[1].probabilities), axis=1)
    np.testing.assert_allclose(run.probabilities, expected, atol=1e-12)


def test_exact_zeros_do_not_drown_the_others():
    found = combined([np.array([[1.0, 0.0]]), np.array([[0.01, 0.99]])], np.array([0.05, 2.0]))
    assert found[0, 1] > 0.9


def test_what_the_parts_share_is_the_runs():
    run = nested()
    assert run.fingerprint == GRAPH.fingerprint and run.classes == GRAPH.classes
    assert run.seconds == pytest.approx(sum(part.seconds for part in run.parts))
    assert np.array_equal(run.reached, parts()[0].reached)
    assert run.notes == ("It is a test.",)


def test_out_of_fold_predictions_are_combined_where_all_have_some():
    spreading, linear, _ = parts()
    run = CombinedRun.of([spreading, linear], [1.0, 0.5], recipe="auto")
    logs = np.log(spreading.out_of_fold) + 0.5 * np.log(linear.out_of_fold)
    np.testing.assert_allclose(run.out_of_fold, softmax(logs, axis=1), atol=1e-9)
    network = graphheat.fit(GRAPH, "paper", max_epochs=2, threads=1)
    assert CombinedRun.of([linear, network], [1.0, 1.0], recipe="auto").out_of_fold is None


# ------------------------------------------------------------------ file


def test_a_nested_combination_survives_its_file(tmp_path):
    path = tmp_path / "run.safetensors"
    nested().save(path)
    back: Any
    for back in (Run.load(path), CombinedRun.load(path), graphheat.load_run(path)):
        assert_same_run(back, nested())
        assert [part.recipe for part in back.parts] == ["spreading", "linear"]
        assert [type(part).__name__ for part in back.parts[1].parts] == ["LinearRun"] * 2
        assert back.stages == STAGES and back.judged_by == "validation"
        assert back.parts[1].parts[0].search.frame().equals(parts()[1].search.frame())
        np.testing.assert_allclose(
            back.probabilities_on(OTHER), nested().probabilities_on(OTHER), atol=1e-12
        )


def test_nodes_and_labels_are_in_the_file_once():
    names = nested().file_parts()[1]
    assert {"nodes", "labels", "roles"} <= set(names)
    assert not any(name.rsplit("/", 1)[-1] in ("nodes", "labels", "roles") and "/" in name
                   for name in names)  # fmt: skip


# ------------------------------------------------------------------ other graphs


def test_on_another_graph_label_spreading_has_no_say_and_the_others_stand_in():
    run = nested()
    inner = run.parts[1].probabilities_on(OTHER)
    expected = softmax(1.5 * np.log(inner), axis=1)
    np.testing.assert_allclose(run.probabilities_on(OTHER), expected, atol=1e-9)
    assert run.predict(OTHER).probabilities.shape == (50, 3)


def test_without_label_spreading_the_fitted_graph_gives_the_same_again():
    run = nested().parts[1]
    np.testing.assert_allclose(run.probabilities_on(GRAPH), run.probabilities, atol=1e-6)


def test_label_spreading_alone_refuses_another_graph():
    run = CombinedRun.of(parts()[:1], [1.0], recipe="auto")
    with pytest.raises(GraphError, match="labels the graph that it was fitted on"):
        run.predict(OTHER)
    narrow = Graph.from_scipy(OTHER.adjacency, OTHER.features[:, :3], name="narrow")
    with pytest.raises(GraphError, match="fitted on 8 features per node; narrow has 3"):
        nested().predict(narrow)


# ------------------------------------------------------------------ what it says of itself


def test_the_stages_are_a_table():
    frame = nested().stages_frame()
    assert list(frame.columns) == ["name", "seconds", "accuracy", "loss", "weight"]
    assert frame["name"].tolist() == ["spreading", "linear"]
    assert frame["accuracy"].isna().tolist() == [False, True]
    empty = CombinedRun.of(parts(), [1.0, 1.0, 1.0], recipe="auto")
    assert len(empty.stages_frame()) == 0 and "stages" not in empty.metrics()


def test_metrics_and_settings_are_ready_for_json():
    metrics = json.loads(json.dumps(nested().metrics(), allow_nan=False))
    assert [stage["name"] for stage in metrics["stages"]] == ["spreading", "linear"]
    assert metrics["judged_by"] == "validation"
    shown = json.loads(json.dumps(nested().settings_dict(), allow_nan=False))
    assert [(part["recipe"], part["weight"]) for part in shown["parts"]] == [
        ("spreading", 0.2),
        ("linear", 1.3),
    ]


def test_the_temperature_is_learned_only_where_weights_were_not():
    assert nested().temperature == 1.0
    plain = CombinedRun.of(parts()[1:2], [4.0], recipe="linear")
    assert plain.temperature > 1


# ------------------------------------------------------------------ explanations


@pytest.mark.parametrize("index", [0, 40, 89])
def test_what_sources_gave_and_the_constant_sum_to_the_logit(index):
    run = nested()
    explainer = run.explainer(GRAPH)
    given, constants = explainer.contributions(index, [0, 1, 2])
    logits = given.sum(axis=0) + constants
    np.testing.assert_allclose(log_softmax(logits), np.log(run.probabilities[index]), atol=1e-5)
    found = explainer.explain(GRAPH.nodes[index])
    assert abs(found.constant + found.contributions.sum() - found.logit) < 1e-6
    assert found.label == run.classes[run.predicted[index]]


def test_contributions_are_those_of_the_parts_by_weight():
    run, index = nested(), 40
    given, _ = run.explainer(GRAPH).contributions(index, [1])
    expected = sum(
        weight * part.explainer(GRAPH).contributions(index, [1])[0]
        for part, weight in zip(run.parts, run.weights, strict=True)
    )
    np.testing.assert_allclose(given, expected, atol=1e-9)


def test_without_a_node_each_part_answers_again():
    run = nested()
    explainer = run.explainer(GRAPH)
    node = GRAPH.nodes[40]
    everybody = explainer.without(node, GRAPH.nodes.tolist())
    spreading = parts()[0].probabilities[40]
    inner = run.parts[1].explainer(GRAPH).without(node, GRAPH.nodes.tolist()).logits
    expected = softmax(0.2 * np.log(spreading) + 1.3 * log_softmax(inner))
    np.testing.assert_allclose(softmax(everybody.logits), expected, atol=1e-5)


def test_another_graph_is_not_explained():
    with pytest.raises(GraphError):
        nested().explainer(OTHER)
