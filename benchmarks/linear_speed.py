"""Processor seconds of the linear recipe where features are many: the first call of a process.

A block model of 20,000 nodes and 100,000 edges with 7,000 bag-of-words features, 0.5 % of them
non-zero, a fifth of each node's words drawn from its class's own, and 300 labels.

python benchmarks/linear_speed.py [--rounds 5]
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import scipy.sparse as sp
from interleave import report

import graphheat
from graphheat import Graph

NODES, FEATURES, CLASSES, LABELS, SHARE, OWN = 20_000, 7_000, 5, 300, 0.005, 0.2


def main() -> None:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--one", action="store_true", help="A single fit, in this process.")
    arguments = options.parse_args()
    if arguments.one:
        print(*fit_once())
        return
    command = [sys.executable, __file__, "--one"]
    runs = [
        [float(number) for number in subprocess.check_output(command, text=True).split()]
        for _ in range(arguments.rounds)
    ]
    row = {
        "nodes": NODES,
        "features": FEATURES,
        "labels": LABELS,
        "processor seconds, best": round(min(run[0] for run in runs), 2),
        "processor seconds, median": round(float(np.median([run[0] for run in runs])), 2),
        "seconds, best": round(min(run[1] for run in runs), 2),
        "test accuracy": runs[0][2],
    }
    print(row)
    report("linear_speed", [row], whole=True)


def fit_once() -> tuple[float, float, float]:
    """Return processor seconds, seconds and accuracy of one fit, loading of modules included."""
    graph = bag_of_words()
    processor, began = time.process_time(), time.perf_counter()
    run = graphheat.fit(graph, "linear")
    spent = time.process_time() - processor, time.perf_counter() - began
    assert run.test_accuracy is not None
    return *spent, run.test_accuracy


def bag_of_words() -> Graph:
    """Return the block model with words for features."""
    graph = graphheat.datasets.block_model(
        NODES, CLASSES, features=0, labels_per_class=LABELS // CLASSES, seed=0
    )
    random, per_node = np.random.default_rng(0), int(FEATURES * SHARE)
    size, width = (NODES, per_node), FEATURES // CLASSES
    favourite = graph.labels[:, None] * width + random.integers(0, width, size)
    words = np.where(random.random(size) < OWN, favourite, random.integers(0, FEATURES, size))
    places = np.repeat(np.arange(NODES), per_node), words.ravel()
    features = sp.csr_array((np.ones(words.size), places), shape=(NODES, FEATURES))
    features.data[:] = 1.0
    return replace(graph, features=features)


if __name__ == "__main__":
    main()
