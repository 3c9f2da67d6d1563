"""Commands under a limit of memory: each must end with a result or be refused before it starts.

python benchmarks/limits.py --gigabytes 4 --nodes 200000 1100000

The limit is one of the address space (``ulimit -v``), set in each child. Graphs have ten neighbours
per node, five classes and a hundred labels, with and without 64 dense features. Recipes that learn
in epochs run for two, which changes the time and not the peak.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from graphheat.graph import Graph
from graphheat.io import write_npz
from graphheat.recipes import names

EPOCHLESS = ("spreading", "linear", "lp", "ica", "manireg", "deepwalk", "planetoid", "semiemb")


def graph(n, f, seed=0):
    rng = np.random.default_rng(seed)
    source = rng.integers(n, size=5 * n)
    target = (source + rng.integers(1, 50, size=5 * n)) % n
    ends = np.r_[source, target], np.r_[target, source]
    matrix = sp.csr_array(sp.coo_array((np.ones(10 * n), ends), shape=(n, n)))
    matrix.data[:] = 1.0
    labels = (np.arange(n) * 5 // n).astype(object)
    unknown = np.ones(n, dtype=bool)
    unknown[rng.choice(n, 100, replace=False)] = False
    labels[unknown] = None
    features = rng.normal(size=(n, f)).astype(np.float32) if f else None
    return Graph.from_scipy(matrix, features, labels, self_loops="drop")


def commands():
    yield "info", ["info", "g.npz"]
    yield "neighbors", ["neighbors", "g.npz", "0"]
    yield "kernel", ["kernel", "g.npz", "-s", "3", "--eps", "1e-3", "--out", "k.npz"]
    yield "explore", ["explore", "g.npz", "--around", "0", "--out", "p.html"]
    for name in names():
        epochs = [] if name in EPOCHLESS else ["--epochs", "2"]
        yield f"fit {name}", ["fit", "g.npz", "--recipe", name, *epochs, "--out", f"run-{name}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gigabytes", type=float, default=4.0)
    parser.add_argument("--nodes", type=int, nargs="+", default=[200_000, 1_100_000])
    parser.add_argument("--seconds", type=float, default=300.0)
    given = parser.parse_args()
    limit = int(given.gigabytes * 2**30)
    for n in given.nodes:
        for f in (0, 64):
            with tempfile.TemporaryDirectory() as folder:
                write_npz(graph(n, f), Path(folder) / "g.npz")
                for name, words in commands():
                    report(n, f, name, words, folder, limit, given.seconds)


def report(n, f, name, words, folder, limit, seconds):
    began = time.monotonic()
    try:
        done = subprocess.run(
            [sys.executable, "-m", "graphheat", *words], cwd=folder, capture_output=True,
            text=True, timeout=seconds,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
        )  # fmt: skip
        code, last = done.returncode, (done.stderr.splitlines() or [""])[-1]
    except subprocess.TimeoutExpired:
        code, last = "late", f"not done after {seconds:.0f} s"
    row = {
        "nodes": n, "features": f, "command": name, "exit": code,
        "seconds": round(time.monotonic() - began, 1), "said": last[:200],
    }  # fmt: skip
    print(json.dumps(row, ensure_ascii=False), flush=True)


if __name__ == "__main__":
    main()
