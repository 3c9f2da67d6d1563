"""``graphheat suspects``, and the line in ``info``."""

import json

import numpy as np
import pandas
import pytest
from helpers.command import call

from graphheat import Graph
from graphheat.datasets import block_model
from graphheat.io import write_npz

CLEAN = block_model(200, 3, labels_per_class=20, homophily=0.9, seed=0)


def labelled(labels):
    return Graph.from_scipy(
        CLEAN.adjacency,
        CLEAN.features,
        labels,
        classes=CLEAN.classes,
        titles=[f"title {index}" for index in range(CLEAN.n)],
        split=CLEAN.split,
    )


@pytest.fixture
def spoilt(tmp_path):
    labels = CLEAN.labels.copy()
    wrong = CLEAN.split["train"][:4]
    labels[wrong] = (labels[wrong] + 1) % 3
    write_npz(labelled(labels), tmp_path / "spoilt.npz")
    return tmp_path / "spoilt.npz", set(wrong.tolist())


def test_the_table_names_the_flipped_labels(spoilt, tmp_path):
    path, wrong = spoilt
    result = call("suspects", path, "--out", tmp_path / "all.csv", "--limit", 4)
    assert "of 60 labels look wrong" in result.stdout
    frame = pandas.read_csv(tmp_path / "all.csv")
    assert len(frame) == 60
    assert set(frame["node"][:4]) == wrong
    assert f"title {frame['node'][0]}" in result.stdout


def test_json_is_one_object(spoilt):
    path, wrong = spoilt
    text = call("suspects", path, "--json").stdout
    found = json.loads(text)
    assert text.count("\n") == 1
    assert found["labels"] == 60
    assert 1 <= found["look_wrong"] <= 5
    assert {row["node"] for row in found["suspects"][:4]} == wrong
    assert len(found["suspects"]) == 60


def test_info_points_to_it(spoilt, tmp_path):
    path, _ = spoilt
    assert f"labels look wrong: graphheat suspects {path}" in call("info", path).stdout
    assert json.loads(call("info", path, "--json").stdout)["labels_that_look_wrong"] >= 1
    write_npz(labelled(CLEAN.labels), tmp_path / "clean.npz")
    assert "look wrong" not in call("info", tmp_path / "clean.npz").stdout
    assert json.loads(call("info", "karate", "--json").stdout)["labels_that_look_wrong"] is None


def test_nothing_suspicious_is_said(tmp_path):
    write_npz(labelled(CLEAN.labels), tmp_path / "clean.npz")
    assert "None of 60 labels looks wrong." in call("suspects", tmp_path / "clean.npz").stdout


def test_parts_are_named(spoilt):
    path, _ = spoilt
    found = json.loads(call("suspects", path, "--parts", "train,val", "--json").stdout)
    assert found["labels"] == 60 + len(CLEAN.split["val"])
    assert "'parts'" in call("suspects", path, "--parts", "tset", code=2).stderr


def test_too_few_labels_are_a_sentence(tmp_path):
    labels = np.full(CLEAN.n, -1)
    write_npz(
        Graph.from_scipy(CLEAN.adjacency, labels=labels, classes=["a"]), tmp_path / "bare.npz"
    )
    error = call("suspects", tmp_path / "bare.npz", code=2).stderr
    assert "two classes with two known labels each" in error
