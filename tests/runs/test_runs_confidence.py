"""The confidence of a run: which nodes calibrate it, and what it reports."""

import json

import numpy as np
import pytest
from helpers.network import fit_network

from graphheat.calibration import calibrated, expected_calibration_error, temperature
from graphheat.datasets import block_model
from graphheat.runs import Run
from graphheat.runs.calibration_report import SHARED_NODES

GRAPH = block_model(200, 3, features=8, labels_per_class=5, seed=0)
VAL = GRAPH.split["val"]
APART = GRAPH.with_split(**{**GRAPH.split, "val": VAL[::2], "calibration": VAL[1::2]})


@pytest.fixture(scope="module")
def shared():
    return fit_network(GRAPH, max_epochs=20)


@pytest.fixture(scope="module")
def apart():
    return fit_network(APART, max_epochs=150)


def test_the_temperature_is_learned_on_the_calibration_nodes(apart):
    assert apart.calibration_part == "calibration"
    assert apart.temperature == temperature(apart.probabilities, GRAPH.labels, np.sort(VAL[1::2]))
    assert apart.calibration_report()["note"] is None


def test_without_such_nodes_it_is_learned_on_the_validation_nodes_and_said(shared):
    assert shared.calibration_part == "val"
    assert shared.temperature == temperature(shared.probabilities, GRAPH.labels, np.sort(VAL))
    assert shared.calibration_report()["note"] == SHARED_NODES
    assert shared.notes == ()


def test_calibration_nodes_play_no_part_in_the_training(apart):
    labels = APART.labels.copy()
    labels[VAL[1::2]] = (labels[VAL[1::2]] + 1) % 3
    other = APART.from_scipy(
        APART.adjacency, APART.features, labels, classes=APART.classes, split=APART.split
    )
    again = fit_network(other, max_epochs=150)
    assert np.array_equal(again.probabilities, apart.probabilities)
    assert again.temperature > apart.temperature


def test_the_report_is_that_of_the_test_nodes(shared):
    report = json.loads(json.dumps(shared.calibration_report(), allow_nan=False))
    test = np.sort(GRAPH.split["test"])
    after = calibrated(shared.probabilities, shared.temperature)
    error = expected_calibration_error
    assert report["error_before"] == error(shared.probabilities, GRAPH.labels, test)
    assert report["error_after"] == error(after, GRAPH.labels, test)
    assert 0 < report["expected_by_chance"] < 0.2
    assert report["nodes"] == len(VAL)


def test_without_labels_to_learn_it_there_is_no_temperature():
    labels = np.full(200, None, dtype=object)
    labels[[0, 60, 120, 180]] = "a", "b", "a", "b"
    bare = GRAPH.from_scipy(GRAPH.adjacency, GRAPH.features, labels)
    run = fit_network(bare, max_epochs=2)
    assert run.temperature is None
    assert run.calibrated is None
    assert "calibrated" not in run.predictions_frame()
    report = run.calibration_report()
    assert {report[key] for key in ("temperature", "learned_on", "error_before")} == {None}


def test_confidence_stays_the_networks_own_and_calibrated_stands_beside_it(shared):
    frame = shared.predictions_frame()
    assert np.array_equal(frame["confidence"], shared.probabilities.max(axis=1))
    scaled = calibrated(shared.probabilities, shared.temperature)
    assert np.array_equal(frame["calibrated"], scaled.max(axis=1))


def test_split_and_temperature_survive_the_file(apart, tmp_path):
    apart.save(tmp_path / "run.safetensors")
    again = Run.load(tmp_path / "run.safetensors")
    assert again.split.names() == apart.split.names()
    assert again.temperature == apart.temperature
    assert (again.predictions_frame()["split"] == "calibration").sum() == len(VAL[1::2])
