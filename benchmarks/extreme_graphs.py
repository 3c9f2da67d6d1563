"""Graphs that strain a graph on disk: a star of five million leaves, an edge named 10⁹ times.

    python benchmarks/extreme_graphs.py [--leaves 5000000] [--copies 1000000000]

Each is ingested from Parquet with ``memory="1GB"``. *error*: what ``apply`` of four columns is off
by, relative to a column's length, against the closed form of a star (D^{1/2}1 is fixed; what is
orthogonal to it and to the hub decays as e^{-s}).
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from interleave import report

S = 1.0


def star(leaves: int, folder: Path) -> dict[str, Any]:
    from graphheat import HeatKernel
    from graphheat.disk import ingest

    ids = np.arange(leaves)
    pq.write_table(
        pa.table({"source": np.full(leaves, leaves), "target": ids}), folder / "star.parquet"
    )
    started = time.perf_counter()
    graph = ingest(folder / "star.parquet", folder / "star.graph", memory="1GB")
    ingested = time.perf_counter() - started
    hub = graph.index_of(leaves)
    X = np.random.default_rng(0).standard_normal((graph.n, 4))
    started = time.perf_counter()
    heat = HeatKernel(graph, S, tol=1e-6)
    found = heat.apply(X)
    seconds = time.perf_counter() - started
    exact = _star(X, hub, leaves)
    error = np.linalg.norm(found - exact, axis=0) / np.linalg.norm(X, axis=0)
    started = time.perf_counter()
    rows = HeatKernel(graph, S, tol=1e-4).rows([hub, (hub + 1) % graph.n], 1e-3)
    return {
        "graph": f"star, {leaves:,} leaves", "ingest s": ingested, "apply 4 s": seconds,
        "error": float(error.max()), "bound": heat.error_bound, "two rows s":
        time.perf_counter() - started, "entries of the rows": int(rows.nnz),
    }  # fmt: skip


def _star(X: np.ndarray, hub: int, leaves: int) -> np.ndarray:
    """Return e^{-sL}X of a star: eigenvalues 0, 2 and, for all else, 1."""
    leaf = np.ones(len(X), dtype=bool)
    leaf[hub] = False
    even = np.zeros(len(X))
    even[leaf], even[hub] = 1 / np.sqrt(2 * leaves), 1 / np.sqrt(2)
    odd = np.where(leaf, even, -even)
    result = np.exp(-S) * X
    for vector, value in ((even, 0.0), (odd, 2.0)):
        result += np.outer(vector, (np.exp(-S * value) - np.exp(-S)) * (vector @ X))
    return result


def copies(count: int, folder: Path) -> dict[str, Any]:
    from graphheat.disk import ingest

    part = min(count, 10_000_000)
    table = pa.table({"source": np.zeros(part, dtype=np.int64), "target": np.ones(part, np.int64)})
    for number in range(-(-count // part)):
        pq.write_table(table, folder / f"copies-{number:03d}.parquet")
    started = time.perf_counter()
    graph = ingest(str(folder / "copies-*.parquet"), folder / "copies.graph", memory="1GB")
    return {
        "graph": f"{count:,} copies of an edge", "ingest s": time.perf_counter() - started,
        "nodes": graph.n, "edges": graph.describe().edges,
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--leaves", type=int, default=5_000_000)
    parser.add_argument("--copies", type=int, default=1_000_000_000)
    given = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="graphheat-odd-"))
    rows = []
    try:
        rows.append(star(given.leaves, folder))
        print(rows[-1], flush=True)
        rows.append(copies(given.copies, folder))
        print(rows[-1], flush=True)
    finally:
        shutil.rmtree(folder)
    report("extreme_graphs", rows)


if __name__ == "__main__":
    main()
