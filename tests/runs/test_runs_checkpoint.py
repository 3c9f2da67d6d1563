"""Checkpoints that are damaged, foreign or of another run are refused in one sentence."""

import json
import pickle

import numpy as np
import pytest
from helpers.network import fit_network
from safetensors import safe_open
from safetensors.numpy import save_file

from graphheat.datasets import block_model
from graphheat.errors import CheckpointError, MissingPathError
from graphheat.runs import Run, checkpoint

GRAPH = block_model(40, 2, features=6, labels_per_class=4, seed=0)


def stop(now):
    if now.epoch == 3:
        raise KeyboardInterrupt


@pytest.fixture(params=["running", "finished"])
def path(request, tmp_path):
    file = tmp_path / "checkpoint.safetensors"
    if request.param == "finished":
        fit_network(GRAPH, max_epochs=6, checkpoint=file)
    else:
        with pytest.raises(KeyboardInterrupt):
            fit_network(GRAPH, max_epochs=6, checkpoint=file, observer=stop)
    return file


def go_on(path, graph=GRAPH, **options):
    return fit_network(graph, **{"max_epochs": 6, "checkpoint": path, "resume": True, **options})


def rewrite(path, drop=(), **changes):
    header, arrays = checkpoint.read(path)
    header = {k: v for k, v in {**header, **changes}.items() if k not in drop}
    arrays = {k: v for k, v in arrays.items() if k not in drop}
    save_file(arrays, path, {"graphheat": json.dumps(header)})


def test_another_graph_is_named(path):
    other = block_model(40, 2, features=6, labels_per_class=4, seed=1)
    with pytest.raises(CheckpointError, match="belongs to another graph than block model"):
        go_on(path, other)


def test_another_split_is_another_graph(path):
    with pytest.raises(CheckpointError, match="another graph"):
        go_on(path, GRAPH.with_split(train=GRAPH.split["train"]))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"seed": 1}, "started with seed=0, not 1"),
        ({"s": 2.0}, r"started with s=3\.0, not 2\.0"),
        ({"eps": None}, "started with eps=0.0001, not None"),
        ({"recipe": "authors"}, r"a run of another recipe than 'authors' \('paper'\)"),
        ({"K": 3}, "started with K=2, not 3"),
        ({"hidden": 8}, "started with hidden=16, not 8"),
        ({"max_epochs": 7}, "started with max_epochs=6, not 7"),
        ({"learning_rate": 0.1}, r"started with learning_rate=0\.01, not 0\.1"),
        ({"scaling": "l1"}, "started with scaling='standard', not 'l1'"),
    ],
)
def test_other_settings_are_named(path, change, words):
    with pytest.raises(CheckpointError, match=words):
        go_on(path, **change)


@pytest.mark.parametrize("share", [0.0, 0.001, 0.1, 0.5, 0.99])
def test_a_truncated_file(path, share):
    data = path.read_bytes()
    path.write_bytes(data[: int(share * len(data))])
    with pytest.raises(CheckpointError, match="is damaged and cannot be read"):
        go_on(path)


@pytest.mark.parametrize("data", [b"garbage" * 100, b"\0" * 64, b"{}", pickle.dumps([1, 2])])
def test_garbage(path, data):
    path.write_bytes(data)
    for read in (go_on, Run.load):
        with pytest.raises(CheckpointError, match="is damaged and cannot be read"):
            read(path)


def test_a_foreign_safetensors_file(path):
    save_file({"weight": np.zeros(2, dtype=np.float32)}, path)
    for read in (go_on, Run.load):
        with pytest.raises(CheckpointError, match="safetensors file, but not one of graphheat's"):
            read(path)


@pytest.mark.parametrize("text", ["[]", "{}", "7", '{"schema": "new"}', '{"schema": null}'])
def test_a_header_of_another_kind(path, text):
    save_file({"weight": np.zeros(2, dtype=np.float32)}, path, {"graphheat": text})
    with pytest.raises(CheckpointError, match="not one of graphheat's"):
        go_on(path)


def test_a_header_that_is_not_json(path):
    save_file({"weight": np.zeros(2, dtype=np.float32)}, path, {"graphheat": "{"})
    with pytest.raises(CheckpointError, match="is damaged"):
        go_on(path)


def test_a_newer_schema(path):
    rewrite(path, schema=checkpoint.SCHEMA + 1)
    for read in (go_on, Run.load):
        with pytest.raises(CheckpointError, match=r"has schema 3; .* up to 2\. Upgrade graphheat"):
            read(path)


@pytest.mark.parametrize("missing", ["history/val_loss", "best_epoch"])
def test_a_part_that_is_missing_is_named(path, missing):
    rewrite(path, drop=[missing])
    with pytest.raises(CheckpointError, match=missing):
        go_on(path)


def test_a_header_without_its_state_is_not_taken_for_a_finished_run(path):
    rewrite(path, drop=["state", "random"])
    with pytest.raises(CheckpointError):
        go_on(path)


def test_an_interrupted_run_is_not_loaded_as_a_finished_one(tmp_path):
    path = tmp_path / "checkpoint.safetensors"
    with pytest.raises(KeyboardInterrupt):
        fit_network(GRAPH, max_epochs=6, checkpoint=path, observer=stop)
    with pytest.raises(CheckpointError, match="interrupted after 3 epochs"):
        Run.load(path)


def test_a_missing_file(tmp_path):
    with pytest.raises(MissingPathError, match="There is no checkpoint at"):
        Run.load(tmp_path / "none.safetensors")
    with pytest.raises(MissingPathError):
        Run.load(tmp_path)


def test_the_header_says_what_made_the_run(path):
    with safe_open(path, framework="np") as file:
        header = json.loads(file.metadata()["graphheat"])
    assert header["schema"] == 2
    assert header["settings"]["s"] == 3.0
    assert header["settings"]["eps"] == 1e-4
    assert header["classes"] == [0, 1]
    assert header["fingerprint"] == GRAPH.fingerprint
