"""``graphheat export``: a run from the shell as an ONNX file."""

import json

import numpy as np
import pytest
from helpers.command import call

from graphheat import datasets
from graphheat.io import write_npz
from graphheat.runs import load_run

onnxruntime = pytest.importorskip("onnxruntime")


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_npz(datasets.block_model(60, 3, labels_per_class=5, seed=0), tmp_path / "g.npz")
    call("fit", "g.npz", "--recipe", "linear", "--out", "run")
    return "run"


def test_a_run_becomes_a_file_that_onnxruntime_reads(run):
    shown = json.loads(call("export", run, "--out", "run.onnx", "--json").stdout)
    assert (shown["nodes"], shown["classes"]) == (60, 3)
    session = onnxruntime.InferenceSession("run.onnx")
    x = datasets.block_model(60, 3, labels_per_class=5, seed=0).features
    x = np.asarray(x.toarray() if hasattr(x, "toarray") else x, dtype=np.float64)
    found = session.run(None, {"features": x})[0]
    assert np.abs(found - load_run(run).probabilities).max() < 1e-5
    assert "60 nodes, 3 classes" in call("export", run, "--out", "run.onnx").stderr


def test_mistakes_are_said_in_a_sentence(run):
    assert "ends in .onnx" in call("export", run, "--out", "run.pt", code=2).stderr
    call("fit", "g.npz", "--recipe", "lp", "--out", "lp")
    text = call("export", "lp", "--out", "lp.onnx", code=2).stderr
    assert "run of lp has no ONNX form" in text
