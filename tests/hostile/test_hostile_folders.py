"""Folders of disk graphs that were tampered with, their sizes restated: refused in a sentence."""

import json
import os
import shutil
from typing import Any

import numpy as np
import pytest
from helpers.sentences import refusal

import graphheat
from graphheat.datasets import block_model
from graphheat.errors import WriteError
from graphheat.graph import Graph
from graphheat.heat import HeatKernel
from graphheat.io import write_csv
from graphheat.linear.disk_run import DiskRun
from graphheat.linear.labelling import _begun
from graphheat.runs import checkpoint, load_run
from graphheat.runs.checkpoint import FILENAME

pytest.importorskip("duckdb")

from graphheat.disk import DiskGraph, ingest
from graphheat.disk.array_folder import new_array

GRAPH = block_model(60, 3, features=4, labels_per_class=4, seed=0)
WORDS = Graph.from_edges(["ann", "bob"], ["bob", "cat"], labels=["x", "y", "x"])


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("disk")
    write_csv(GRAPH, folder / "e.csv", folder / "n.csv")
    return ingest(folder / "e.csv", folder / "g.graph", nodes=folder / "n.csv", order="near").path


@pytest.fixture
def folder(whole, tmp_path):
    return shutil.copytree(whole, tmp_path / "g.graph")


def used(folder):
    graph = DiskGraph.open(folder)
    HeatKernel(graph, 1.0).apply(np.ones(graph.n))
    return graph.features[:]


def altered(folder, name, change):
    """Change an array, and what the header says of its size."""
    file = folder / f"{name}.npy"
    array = np.load(file)
    np.save(file, change(array))
    header = json.loads((folder / "graph.json").read_text())
    header["arrays"][name]["bytes"] = file.stat().st_size
    (folder / "graph.json").write_text(json.dumps(header))


def first(value):
    def change(array):
        array.flat[0] = value
        return array

    return change


def test_a_folder_as_it_was_written(folder):
    assert used(folder).shape == (60, 4)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("indices", first(10**6)), ("indices", first(-1)), ("indices", lambda a: a[::-1]),
        ("indices", lambda a: a.astype(np.float32)), ("indices", lambda a: a[:-1]),
        ("indptr", first(1)), ("indptr", lambda a: a[::-1]), ("indptr", lambda a: a.astype(">i8")),
        ("indptr", lambda a: np.minimum(a, a[-2])), ("labels", first(3)), ("labels", first(-2)),
        ("split", first(77)), ("components", first(10**6)), ("rank", first(60)),
        ("rank", lambda a: a[::-1]), ("order", first(-1)), ("id_order", first(60)),
        ("id_offsets", lambda a: a * 1000), ("features", first(np.nan)),
        ("features", lambda a: a[:, :3]), ("features", np.asfortranarray),
    ],
)  # fmt: skip
def test_arrays(name, change, folder):
    altered(folder, name, change)
    refusal(used, folder)


@pytest.mark.parametrize(
    "change",
    [
        {"nodes": -1}, {"nodes": 10**12}, {"nodes": "60"}, {"entries": 7}, {"classes": 3},
        {"classes": [[0]]}, {"label_counts": [1]}, {"features": 10**6}, {"longest_row": 1},
        {"longest_row": 10**9}, {"notes": 7}, {"name": None}, {"arrays": {}}, {"arrays": []},
        {"arrays": {"../../etc/passwd": {"bytes": 1, "crc32": 0}}}, {"arrays": {"indptr": 7}},
    ],
    ids=str,
)  # fmt: skip
def test_headers(change, folder):
    header = json.loads((folder / "graph.json").read_text())
    (folder / "graph.json").write_text(json.dumps({**header, **change}))
    refusal(used, folder)


@pytest.mark.parametrize("text", ["[" * 100_000, "{", "7", "null", "\x00"])
def test_headers_that_are_none(text, folder):
    (folder / "graph.json").write_text(text)
    refusal(used, folder)


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04" + b"\0" * 40, b"\x93NUMPY\x01\x00v\x00{((("])
def test_arrays_that_are_none(data, folder):
    altered(folder, "indices", lambda array: array)
    header = json.loads((folder / "graph.json").read_text())
    header["arrays"]["indices"]["bytes"] = len(data)
    (folder / "graph.json").write_text(json.dumps(header))
    (folder / "indices.npy").write_bytes(data)
    refusal(used, folder)


def test_an_array_that_is_a_pipe(folder):
    (folder / "labels.npy").unlink()
    os.mkfifo(folder / "labels.npy")
    refusal(used, folder)


def test_ids_that_are_no_text(tmp_path):
    write_csv(WORDS, tmp_path / "e.csv", tmp_path / "n.csv")
    made = ingest(tmp_path / "e.csv", tmp_path / "g.graph", nodes=tmp_path / "n.csv", threads=1)
    text = made.path / "id_text.npy"
    np.save(text, np.full_like(np.load(text), 0xFF))
    refusal(lambda: DiskGraph.open(made.path).nodes[0])
    refusal(lambda: DiskGraph.open(made.path).nodes.between(0, 2))


@pytest.mark.parametrize("node", ["1_0", "\u0661", " 1", "+1", 1.5, True, "9" * 5000])
def test_only_plain_numbers_name_a_node_on_disk(whole, node):
    refusal(DiskGraph.open(whole).index_of, node)


# ---------------------------------------------------------------------- runs on them


@pytest.fixture(scope="module")
def fitted(whole, tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    graphheat.fit(DiskGraph.open(whole), "linear", threads=1, checkpoint=folder / FILENAME)
    return folder


def test_probabilities_of_a_run_that_were_tampered_with(fitted, tmp_path):
    file = fitted / "probabilities.npy"
    whole = np.load(file)
    sums, gaps = whole.copy(), whole.copy()
    sums[3] *= 2
    gaps[5, 0] = np.nan
    try:
        for odd in (whole[:5], whole[:, :2], whole.astype(complex), whole[None], sums, gaps):
            np.save(file, odd)
            refusal(lambda: predicted(fitted, tmp_path / "p.csv"))
            assert not (tmp_path / "p.csv").exists()
        for data in (b"", b"\x93NUMPY\x01\x00v\x00{'descr': (", b"words"):
            file.write_bytes(data)
            refusal(load_run, fitted)
    finally:
        np.save(file, whole)


def predicted(folder, path):
    run = load_run(folder)
    assert isinstance(run, DiskRun)
    run.write_predictions(path)


def test_a_run_under_way_that_was_tampered_with(fitted, whole, tmp_path):
    graph = DiskGraph.open(whole)
    header, arrays = checkpoint.read(fitted / FILENAME)
    stage = {"model": header["model"], "kept": 1.0, "notes": [], "labelled": False}
    held = {f"linear/{name}": each for name, each in arrays.items() if name.startswith("model/")}
    held |= {"linear/train": arrays["train"], "linear/left_out": np.zeros((3, 3))}
    known = {key: header[key] for key in ("recipe", "settings", "seed", "fingerprint", "name")}
    odd_stages: list[Any] = [{"linear": 5}, {"linear": {**stage, "kept": "x"}}, [], {"x": stage}]
    for odd in (*odd_stages, {"linear": {}}):
        words = {**known, "state": "labelling", "stages": odd}
        checkpoint.write(tmp_path / FILENAME, words, held)
        how = {"threads": 1, "checkpoint": tmp_path / FILENAME, "resume": True}
        refusal(graphheat.fit, graph, "linear", **how)


def test_notes_of_a_labelling_that_make_no_sense_are_begun_anew(tmp_path):
    notes, file = tmp_path / "panels.json", tmp_path / "heat.npy"
    np.save(file, np.zeros((1, 4, 2), np.float32))
    for text in ("{", "7", '["a"]', "[" * 100_000):
        notes.write_text(text)
        assert _begun(notes, file, (1, 4, 2), np.float32) is None
    notes.write_text("[0]")
    assert _begun(notes, file, (1, 4, 2), np.float32) is not None
    assert _begun(notes, file, (1, 5, 2), np.float32) is None


def test_a_disk_without_room_for_a_mapped_array_is_told(tmp_path, monkeypatch):
    def full(*given):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(WriteError, match="No space left"):
        new_array(tmp_path / "x.npy", (1000,), np.float32)
    assert not (tmp_path / "x.npy").exists()
