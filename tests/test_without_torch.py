"""Where torch is not installed, all that trains no network works, and the rest says so."""

import subprocess
import sys
from pathlib import Path

import pytest

STORED = Path(__file__).parent / "stored"

# Whoever asks for torch hears that there is none, installed or not.
BLOCK = """
import importlib.util, sys
find_spec = importlib.util.find_spec
importlib.util.find_spec = lambda name, *more: None if name == "torch" else find_spec(name, *more)
class NoTorch:
    def find_spec(name, path=None, target=None):
        if name == "torch":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, NoTorch)
"""
LIBRARY = """
import numpy as np
import graphheat
graph = graphheat.datasets.block_model(60, 3, features=8, labels_per_class=4, seed=0)
kernel = graphheat.HeatKernel(graph.adjacency, s=3)
assert kernel.matrix(1e-4).nnz and kernel.row(0, 1e-4).nnz
assert np.isfinite(kernel.apply(np.eye(60))).all()
assert graphheat.HeatLabelSpreading().fit(graph).predict(graph).shape == (60,)
assert graphheat.HeatDiffusion().fit_transform(graph).shape == (60, 8)
classifier = graphheat.GraphHeatClassifier().fit(graph)
assert [stage.name for stage in classifier.run_.stages] == ["spreading", "linear"]
assert classifier.predict_proba(graph).shape == (60, 3)
assert graphheat.evaluate(graph, "linear", seeds=[0, 1]).mean > 0.5
assert graphheat.fit(graph, "spreading").explainer(graph).explain(3)
assert graphheat.fit(graph, "lp").probabilities.shape == (60, 3)
"""
COMMAND = "from graphheat.cli import main; main(sys.argv[1:])"


def python(code, *words):
    command = [sys.executable, "-c", BLOCK + code, *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def call(*words, code=0):
    result = python(COMMAND, *words)
    assert result.returncode == code, result.stderr
    return result


def test_the_library():
    result = python(LIBRARY)
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("kind", ["consistent", "gcn", "linear", "lp", "paper"])
def test_a_run_of_any_kind_is_read(kind):
    reading = "import graphheat; print(len(graphheat.load_run(sys.argv[1]).probabilities))"
    assert python(reading, STORED / f"{kind}-schema1.safetensors").stdout == "120\n"


def test_commands(tmp_path):
    graph, run = tmp_path / "graph.npz", tmp_path / "run"
    python("from graphheat import datasets, write_npz\n"
           "graph = datasets.block_model(60, 3, features=8, labels_per_class=4, seed=0)\n"
           "write_npz(graph, sys.argv[1])", graph)  # fmt: skip
    call("info", graph)
    call("explore", graph, "--out", tmp_path / "graph.html")
    shown = call("fit", graph, "--out", run).stderr
    assert "torch is not installed, so there are no networks" in shown
    call("fit", graph, "--recipe", "linear", "--out", run, "--force")
    call("predict", run, "--out", tmp_path / "labels.csv")
    call("explain", run, 3)
    call("explore", run, "--out", tmp_path / "run.html")
    call("paper", "table2", "--rows", "lp,graphheat")
    demo = " ".join(call("demo").stdout.split())
    assert "the paper's model, needs torch, which is not installed" in demo
    assert "Heat from node 2027" in demo
    refused = call("fit", graph, "--recipe", "paper", code=1).stderr
    assert refused.splitlines()[-1] == (  # after what was read
        "Error: The 'paper' recipe trains a network and needs torch: pip install 'graphheat[nn]'. "
        "Without it there is recipe 'linear'."
    )
    assert "graphheat.HeatConv needs torch: pip install 'graphheat[nn]'." in (
        python("import graphheat; graphheat.HeatConv").stderr
    )
