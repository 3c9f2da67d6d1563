"""com-Youtube on disk against the same graph in memory: rows, apply and labels.

    python benchmarks/disk_equality.py

Needs com-youtube.npz in GRAPHHEAT_DATA (or ../shared/data beside the clone). Features are those of
nobody: 16 columns of noise around the centre of the node's community by heat from ten hubs, so that
there is something to label. Errors are beside the bounds that were promised.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import scipy.sparse as sp
from interleave import report
from scale import load

S = 3.0


def main() -> None:
    from graphheat import Graph, HeatKernel
    from graphheat.disk import ingest
    from graphheat.recipes.disk_fit import fit_on_disk

    graph = load("youtube")
    folder = Path(tempfile.mkdtemp(prefix="graphheat-youtube-"))
    random = np.random.default_rng(0)
    hubs = np.argsort(-np.diff(graph.adjacency.indptr))[:400:40]
    units = np.zeros((graph.n, len(hubs)), dtype=np.float32)
    units[hubs, np.arange(len(hubs))] = 1
    classes = HeatKernel(graph, 5.0, tol=1e-3).apply(units).argmax(axis=1)
    X = random.standard_normal((graph.n, 16), dtype=np.float32)
    X[np.arange(graph.n), classes] += 2
    parts = np.full(graph.n, "", dtype=object)
    drawn = random.permutation(graph.n)
    parts[drawn[:1000]], parts[drawn[1000:2000]], parts[drawn[2000:12000]] = "train", "val", "test"
    upper = sp.coo_array(sp.triu(graph.adjacency))
    ids = np.array([f"y{i}" for i in range(graph.n)])
    pq.write_table(
        pa.table({"source": ids[upper.row], "target": ids[upper.col]}), folder / "edges.parquet"
    )
    vector = pa.FixedSizeListArray.from_arrays(pa.array(X.ravel()), 16)
    label = np.where(parts != "", np.char.add("c", classes.astype(str)).astype(object), None)
    pq.write_table(
        pa.table({"id": ids, "label": pa.array(label), "split": pa.array(parts), "x": vector}),
        folder / "nodes.parquet",
    )
    started = time.perf_counter()
    disk = ingest(folder / "edges.parquet", folder / "y.graph", nodes=folder / "nodes.parquet")
    rows = [{"what": "ingestion", "seconds": time.perf_counter() - started}]

    block = random.random((graph.n, 8))
    for tol in (1e-3, 1e-6):
        a, b = (HeatKernel(each, S, tol=tol) for each in (disk, graph))
        started = time.perf_counter()
        found = a.apply(block)
        seconds = time.perf_counter() - started
        error = np.linalg.norm(found - b.apply(block), axis=0) / np.linalg.norm(block, axis=0)
        rows.append(
            {"what": f"apply, tol {tol:g}", "seconds": seconds, "difference": float(error.max()),
             "bound": a.error_bound + b.error_bound}
        )  # fmt: skip
    nodes = random.choice(graph.n, 40, replace=False)
    a, b = (HeatKernel(each, S, tol=1e-4) for each in (disk, graph))
    a.rows(nodes[:1])
    started = time.perf_counter()
    some = a.rows(nodes)
    seconds = (time.perf_counter() - started) / len(nodes)
    difference = float(abs(some - b.rows(nodes)).max())
    rows.append(
        {"what": "a row, tol 0.0001", "seconds": seconds, "difference": difference, "bound": 2e-4}
    )

    split = {name: np.flatnonzero(parts == name) for name in ("train", "val", "test")}
    memory = Graph.from_scipy(
        graph.adjacency, X, np.where(parts != "", classes, -1), classes=range(10), split=split
    )
    ours = fit_on_disk(disk, "linear", s=2.0)
    from graphheat.linear.linear_fit import fit_linear
    from graphheat.linear.linear_run import LinearSettings

    theirs = fit_linear(memory, memory.completed_split(0, hold_out=False),
                        LinearSettings.checked(s=2.0))  # fmt: skip
    order = [list(map(str, disk.classes)).index(f"c{k}") for k in range(10)]
    same = ours.probabilities[:, order].argmax(axis=1) == theirs.probabilities.argmax(axis=1)
    gap = np.abs(ours.probabilities[:, order] - theirs.probabilities)
    rows.append(
        {"what": "labels, s 2", "seconds": ours.seconds, "difference": float(gap.mean()),
         "same labels %": 100 * float(same.mean()), "test % disk": 100 * ours.test_accuracy,
         "test % memory": 100 * theirs.test_accuracy}
    )  # fmt: skip
    shutil.rmtree(folder)
    report("disk_equality", rows, nodes=graph.n, entries=graph.adjacency.nnz)


if __name__ == "__main__":
    main()
