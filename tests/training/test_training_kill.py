"""SIGKILL at any moment of `fit`, then --resume: the predictions of an undisturbed run."""

import json
import os
import random
import signal
import subprocess
import sys

import pytest

from graphheat.datasets import block_model
from graphheat.io import write_npz

pytest.importorskip("torch")
pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and SIGKILL")

KILLS = 10

# Imports once, then forks a process a run, so that a moment is one of the run and not of an import.
# Checkpoints come often, so that kills fall into their writing, too. What was imported is frozen:
# garbage collection neither looks through it in each process nor copies it; and a process ends when
# its files are there, without taking its modules apart, which took longer than the run.
SCRIPT = """
import gc, json, os, signal, sys, time
import pandas, torch
import graphheat.cli.fit_command, graphheat.cli.run_folder, graphheat.estimators.classifier
import graphheat.plot, graphheat.training.train
import graphheat.cli.display, graphheat.suitability, scipy.signal
from graphheat.cli import main

graphheat.training.loop.CHECKPOINT_SECONDS = 0.05
warm = torch.zeros(1, requires_grad=True)
warm.grad = torch.zeros(1)
torch.optim.Adam([warm]).step()  # what torch imports at the first step
gc.collect()
gc.freeze()

def run(folder, moment=None):
    started = time.monotonic()
    child = os.fork()
    if not child:
        sys.stdout = sys.stderr = open(os.devnull, "w")  # stdout is the parent's
        quick = ["--recipe", "paper", "--s", "1", "--eps", "0.01"]
        quick += ["--hidden", "4", "--threads", "1"]
        try:
            main(["fit", sys.argv[1], *quick, "--epochs", "150", "--out", folder, "--resume"])
        except SystemExit as ending:
            os._exit(ending.code or 0)
    if moment is not None:
        time.sleep(moment)
        os.kill(child, signal.SIGKILL)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return code, time.monotonic() - started

for line in sys.stdin:
    print(json.dumps(run(*json.loads(line))), flush=True)
"""


@pytest.fixture
def runner(tmp_path):
    graph = block_model(600, 4, degree=5, features=8, seed=0)
    write_npz(graph, tmp_path / "graph.npz")
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(tmp_path / "graph.npz")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )

    def run(folder, moment=None):
        process.stdin.write(json.dumps([str(folder), moment]) + "\n")
        process.stdin.flush()
        return json.loads(process.stdout.readline())

    yield run
    process.stdin.close()
    process.wait(timeout=30)
    process.stdout.close()


def test_killed_at_ten_random_moments_and_resumed(runner, tmp_path):
    code, seconds = runner(tmp_path / "undisturbed")
    assert code == 0
    expected = (tmp_path / "undisturbed/predictions.csv").read_bytes()
    moments = random.Random(0)
    killed, resumable = 0, 0
    for part in range(KILLS):  # one moment in each tenth: before the first checkpoint and after
        folder = tmp_path / f"killed-{part}"
        code, _ = runner(folder, seconds * (part + moments.random()) / KILLS)
        killed += code == -signal.SIGKILL
        resumable += (folder / "checkpoint.safetensors").exists()
        code, _ = runner(folder)
        assert code == 0
        assert (folder / "predictions.csv").read_bytes() == expected
        assert not [file.name for file in folder.iterdir() if ".part" in file.name]
    assert killed
    assert resumable
