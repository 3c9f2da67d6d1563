"""How time and memory grow with the graph: a row, 64 columns, an implicit training epoch.

    python benchmarks/scale.py [--sizes 10000,100000,1000000]

Block models of mean degree 10, and com-Youtube (1.13 million nodes, a hub of 28,754 neighbours)
where GRAPHHEAT_DATA (or ../shared/data beside the clone) holds it. Every cell is a process of its
own, one thread and the engine that the defaults choose; memory is what the peak grows by after the
graph is loaded. Growth exponents are fitted over the block models and drawn.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from interleave import RESULTS, report

DATA = Path(os.environ.get("GRAPHHEAT_DATA", Path(__file__).parents[2] / "shared" / "data"))
S, EPS, TOL, ROWS = 3.0, 1e-4, 1e-4, 50  # a row: the documented call


def load(name: str) -> Any:
    from graphheat import Graph, datasets, read_npz

    if name == "youtube":
        graph = read_npz(DATA / "com-youtube.npz")
        used = np.flatnonzero(np.diff(graph.adjacency.indptr))  # some ids below the last are unused
        return Graph.from_scipy(graph.adjacency[used][:, used], name="com-youtube")
    return datasets.block_model(int(name), 5, degree=10.0, features=0, seed=0)


def row(graph: Any) -> Callable[[], float]:
    from graphheat import HeatKernel

    kernel = HeatKernel(graph, S, tol=TOL, threads=1)
    nodes = np.random.default_rng(0).choice(graph.n, ROWS, replace=False)
    kernel.row(int(nodes[0]), EPS)

    def run() -> float:
        times = []
        for node in nodes:
            started = time.perf_counter()
            kernel.row(int(node), EPS)
            times.append(time.perf_counter() - started)
        return float(np.median(times))

    return run


def columns(graph: Any) -> Callable[[], float]:
    from graphheat import HeatKernel

    X = np.random.default_rng(0).random((graph.n, 64), dtype=np.float32)
    kernel = HeatKernel(graph, S, tol=1e-5, threads=1)

    def run() -> float:
        started = time.perf_counter()
        kernel.apply(X)
        return time.perf_counter() - started

    return run


def epoch(graph: Any) -> Callable[[], float]:
    import torch

    from graphheat.nn import GraphHeat, heat_operator

    torch.set_num_threads(1)
    x, y = torch.rand(graph.n, 32), torch.randint(0, 5, (graph.n,))
    model, operator = GraphHeat(32, 5, s=S), heat_operator(graph, S)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)

    def run() -> float:
        started = time.perf_counter()
        loss = torch.nn.functional.cross_entropy(model(x, operator)[:100], y[:100])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return time.perf_counter() - started

    return run


QUESTIONS = {"row": row, "64 columns": columns, "implicit epoch": epoch}


def status(field: str) -> float:
    """Return a figure of this process in MB; Linux only."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1]) / 1e3
    raise OSError(f"/proc/self/status has no {field}")


def child(name: str, question: str) -> None:
    graph = load(name)
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew here
    before = status("VmRSS")
    run = QUESTIONS[question](graph)
    seconds = min(run() for _ in range(2))
    row = {"nodes": graph.n, "edges": graph.adjacency.nnz // 2, "seconds": seconds}
    print(json.dumps({**row, "memory MB": status("VmHWM") - before}))


def draw(rows: list[dict[str, Any]], exponents: dict[str, float]) -> None:
    from graphheat import plot

    ax = plot.new_axes()
    styles = zip(QUESTIONS, (plot.BLUE, plot.ORANGE, plot.GREEN), "os^", strict=True)
    for question, color, marker in styles:
        mine = [r for r in rows if r["question"] == question]
        grown = [r for r in mine if r["graph"] != "youtube"]
        ax.loglog(
            [r["nodes"] for r in grown], [r["seconds"] for r in grown], color=color, marker=marker,
            label=f"{question}: n^{exponents[question]:.2f}",
        )  # fmt: skip
        for r in mine:
            if r["graph"] == "youtube":
                ax.loglog(r["nodes"], r["seconds"], color=color, marker=marker, mfc="white", ms=9)
    ax.set(xlabel="nodes", ylabel="seconds", title="Block models; hollow: com-Youtube")
    ax.legend(frameon=False)
    plot.save(ax, RESULTS / "scale.png")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default="10000,100000,1000000")
    parser.add_argument("--child", nargs=2)
    arguments = parser.parse_args()
    if arguments.child:
        child(*arguments.child)
        return
    names = arguments.sizes.split(",")
    if (DATA / "com-youtube.npz").exists():
        names.append("youtube")
    else:
        print("com-youtube.npz is not at hand; left out")
    rows = []
    for name in names:
        for question in QUESTIONS:
            done = subprocess.run(
                [sys.executable, __file__, "--child", name, question],
                capture_output=True, text=True, check=True,
                env={**os.environ, "OMP_NUM_THREADS": "1"},
            )  # fmt: skip
            rows.append({"graph": name, "question": question, **json.loads(done.stdout)})
            print(rows[-1], file=sys.stderr)
    exponents = {}
    for question in QUESTIONS:
        grown = [r for r in rows if r["question"] == question and r["graph"] != "youtube"]
        nodes, seconds = (np.log([r[name] for r in grown]) for name in ("nodes", "seconds"))
        slope = np.polyfit(nodes, seconds, 1)[0] if len(grown) > 1 else float("nan")
        exponents[question] = float(slope)
    report("scale", rows, exponents=exponents, s=S, eps=EPS, tol=TOL)
    print("growth exponents:", {k: round(v, 2) for k, v in exponents.items()})
    draw(rows, exponents)


if __name__ == "__main__":
    main()
