"""What commands take, each as a process of its own: README's example, and a run of 5,000 nodes.

The run: the default's, on a block model of 5,000 nodes, four classes, 80 labels and 2,000 sparse
features. Seconds from start to end, and processor seconds of all threads; best of --rounds. *First
labels*: when predictions.csv was there.

python benchmarks/commands.py [--rounds 5] [--features 2000]
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from interleave import report

import graphheat

PEOPLE = Path(__file__).parents[1] / "examples" / "people"
FIT = ["fit", "edges.csv", "--nodes", "nodes.csv", "--label-column", "drink"]


def main() -> None:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--features", type=int, default=2000)
    arguments = options.parse_args()
    best: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        graph, run = folder / "graph.npz", folder / "run"
        graphheat.write_npz(block_model(arguments.features), graph)
        measured(["fit", str(graph), "--out", str(run)], folder)
        commands = {
            "predict": ["predict", str(run), "--out", str(folder / "labels.csv")],
            "explain": ["explain", str(run), "17"],
            "explain, a mistyped id": ["explain", str(run), "17x"],
            "explore": ["explore", str(run), "--out", str(folder / "page.html")],
        }
        for number in range(arguments.rounds):
            out = folder / f"people{number}"
            rows = {"fit, README's example": measured([*FIT, "--out", str(out)], PEOPLE, out)}
            rows |= {title: measured(each, folder) for title, each in commands.items()}
            for title, row in rows.items():
                held = best.setdefault(title, row)
                best[title] = {what: min(held[what], row[what]) for what in row}
    report("commands", [{"command": title, **row} for title, row in best.items()])


def measured(arguments: list[str], place: Path, out: Path | None = None) -> dict[str, float]:
    """Run a command; return its seconds, its processor seconds, and when labels were there."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.perf_counter()
    first = None
    quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    command = [sys.executable, "-m", "graphheat", *arguments]
    with subprocess.Popen(command, cwd=place, env={**os.environ}, **quiet) as process:
        while out is not None and first is None and process.poll() is None:
            if (out / "predictions.csv").exists():
                first = time.perf_counter() - began
            time.sleep(0.005)
        process.wait()
    seconds = time.perf_counter() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = sum(
        getattr(after, each) - getattr(before, each) for each in ("ru_utime", "ru_stime")
    )
    row = {"seconds": round(seconds, 2), "processor seconds": round(processor, 2)}
    return row if first is None else {**row, "first labels, seconds": round(first, 2)}


def block_model(features: int) -> graphheat.Graph:
    """Return 5,000 nodes with sparse features, a fifth of each node's drawn by its class."""
    graph = graphheat.datasets.block_model(5000, 4, features=0, seed=0)
    random, per_node = np.random.default_rng(0), 20
    size, width = (graph.n, per_node), features // 4
    favourite = graph.labels[:, None] * width + random.integers(0, width, size)
    words = np.where(random.random(size) < 0.2, favourite, random.integers(0, features, size))
    places = np.repeat(np.arange(graph.n), per_node), words.ravel()
    found = sp.csr_array((np.ones(words.size), places), shape=(graph.n, features))
    found.data[:] = 1.0
    return replace(graph, features=found)


if __name__ == "__main__":
    main()
