"""Headers of schema 1 under the names of schema 2. tests/stored has whole files."""

import json

import numpy as np
import pytest
from safetensors.numpy import save_file

from graphheat.errors import CheckpointError
from graphheat.runs import checkpoint
from graphheat.runs.former import current_header, current_settings


@pytest.mark.parametrize(
    ("former", "current"),
    [
        ({"scaling": "rows"}, {"scaling": "l1"}),
        ({"scaling": "lengths"}, {"scaling": "l2"}),
        ({"scaling": "columns"}, {"scaling": "standard"}),
        ({"scaling": "rarity"}, {"scaling": "tfidf"}),
        ({"scaling": "none"}, {"scaling": "none"}),
        ({"scaling": "auto"}, {"scaling": "auto"}),
        ({"weight_decay": 0.1}, {"l2": 0.1}),
        ({"own": 0.2}, {"self_weight": 0.2}),
        ({"identity": False}, {"self_term": False}),
        ({"s": 3.0, "eps": None}, {"s": 3.0, "eps": None}),
    ],
)
def test_settings_get_their_present_names(former, current):
    assert current_settings(former) == current
    assert current_settings(current) == current


def test_a_network_is_known_by_its_settings():
    header = {"schema": 1, "settings": {"recipe": "authors", "scaling": "rows"}, "seed": 2}
    assert current_header(header) == {
        "schema": 1,
        "kind": "network",
        "recipe": "authors",
        "settings": {"recipe": "authors", "scaling": "l1"},
        "seed": 2,
    }


def test_a_baseline_is_known_by_its_system():
    found = current_header({"system": "gcn", "settings": {"weight_decay": 1.0}})
    assert (found["kind"], found["recipe"], found["settings"]) == ("baseline", "gcn", {"l2": 1.0})


def test_a_linear_run_is_known_by_its_entry():
    linear = {
        "asked": {"s": "auto", "l2": 0.1, "own": "auto", "scaling": "auto"},
        "scaling": "rarity",
        "own": 0.2,
        "forms": [["rows", 0.0], ["rarity", 0.2]],
        "s": 3.0,
    }
    found = current_header({"linear": linear})
    assert (found["kind"], found["recipe"]) == ("linear", "linear")
    asked = {"s": "auto", "l2": 0.1, "self_weight": "auto", "scaling": "auto"}
    assert found["settings"] == asked
    assert found["linear"] == {
        "scaling": "tfidf",
        "self_weight": 0.2,
        "forms": [["l1", 0.0], ["tfidf", 0.2]],
        "s": 3.0,
    }


def test_the_header_that_was_given_is_left_alone():
    linear = {"asked": {"own": 0.0}, "scaling": "rows", "own": 0.0, "forms": []}
    header = {"linear": dict(linear)}
    current_header(header)
    assert header == {"linear": linear}


@pytest.mark.parametrize("header", [{}, {"settings": 3}, {"settings": {}}, {"linear": {}}])
def test_a_damaged_header_of_schema_1_is_said(tmp_path, header):
    path = tmp_path / "run.safetensors"
    text = json.dumps({"schema": 1, **header})
    save_file({"weight": np.zeros(2)}, path, {"graphheat": text})
    with pytest.raises(CheckpointError, match="is damaged"):
        checkpoint.read(path)
