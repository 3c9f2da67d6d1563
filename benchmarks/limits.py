"""Commands under a limit of memory: each must end with a result or be refused before it starts.

python benchmarks/limits.py --gigabytes 4 --nodes 200000 1100000 --rows FILE

The limit is one of the address space (``ulimit -v``), set in each child, which is forked once the
graph is read. Graphs have ten neighbours per node, five classes and a hundred labels, with and
without 64 dense features. Recipes that learn in epochs run for two, DeepWalk walks once, Planetoid
has seven batches of contexts, which changes the time and not the peak; GWNN multiplies without
matrices, as it does on Pubmed: on 200,000 nodes they were not there after five minutes. There
is no limit of time; seconds are of the processor, the child's and its children's. FILE has
a line for each command; those that it has are not run again.
"""

import argparse
import json
import os
import resource
import sys
import tempfile
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from interleave import report

import graphheat.io
from graphheat.cli.process import command
from graphheat.graph import Graph
from graphheat.recipes import names

EPOCHLESS = ("spreading", "linear", "lp", "ica", "manireg")
# What takes long, less of it at the same peak.
LESS = {
    "deepwalk": ["--set", "walks=1"],
    "planetoid": ["--epochs", "2", "--set", "label_batches=5", "--set", "graph_batches=2"],
    "gwnn": ["--epochs", "2", "--eps", "none"],
}


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
        epochs = LESS.get(name, [] if name in EPOCHLESS else ["--epochs", "2"])
        yield f"fit {name}", ["fit", "g.npz", "--recipe", name, *epochs, "--out", f"run-{name}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gigabytes", type=float, default=4.0)
    parser.add_argument("--nodes", type=int, nargs="+", default=[200_000, 1_100_000])
    parser.add_argument("--features", type=int, nargs="+", default=[0, 64])
    parser.add_argument("--commands", nargs="+", metavar="NAME", help="such as 'fit linear'")
    parser.add_argument("--rows", type=Path, required=True, help="JSON lines: read, and added to")
    given = parser.parse_args()
    given.rows = given.rows.absolute()
    rows = []
    if given.rows.exists():
        rows = [json.loads(line) for line in given.rows.read_text().splitlines()]
    past = {(row["nodes"], row["features"], row["command"]) for row in rows}
    limit = int(given.gigabytes * 2**30)
    for n in given.nodes:
        for f in given.features:
            with tempfile.TemporaryDirectory() as folder:
                os.chdir(folder)
                Path("g.npz").touch()
                made = graph(n, f)
                graphheat.io.read_graph = lambda *words, made=made, **options: made
                for name, words in commands():
                    if (n, f, name) in past or name not in (given.commands or [name]):
                        continue
                    rows.append({"nodes": n, "features": f, "command": name})
                    rows[-1] |= outcome(words, limit)
                    line = json.dumps(rows[-1], ensure_ascii=False)
                    with given.rows.open("a") as kept:
                        kept.write(line + "\n")
                    print(line, flush=True)
                os.chdir("/")
    report("limits", rows, gigabytes=given.gigabytes)


def outcome(words, limit):
    """Run a command in a child under the limit; return how it ended and what it said last."""
    number = os.fork()
    if number == 0:
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        with Path("said").open("w") as said:
            os.dup2(said.fileno(), 2)
            os.dup2(said.fileno(), 1)
        sys.argv = ["graphheat", *words]
        try:
            command()
        except SystemExit as ending:
            sys.stderr.flush()
            os._exit(ending.code)
        os._exit(70)
    _, status, used = os.wait4(number, 0)
    code, seconds = os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime
    last = ([line for line in Path("said").read_text().splitlines() if line] or [""])[-1]
    return {"exit": code, "seconds": round(seconds, 1), "said": last[:200]}


if __name__ == "__main__":
    main()
