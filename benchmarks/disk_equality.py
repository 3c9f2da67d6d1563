"""com-Youtube on disk against SciPy's exponential of the same graph: rows, apply and labels.

    python benchmarks/disk_equality.py

*difference*: from ``scipy.sparse.linalg.expm_multiply`` in float64 (Al-Mohy and Higham's method, no
line of ours), relative to a column's length (apply), in an entry (rows), in a probability (labels).

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
from scipy.sparse.linalg import expm_multiply
from scipy.special import softmax

S = 3.0


class Reference:
    """e^{-sL} of an adjacency by SciPy."""

    def __init__(self, adjacency: sp.csr_array) -> None:
        root = 1.0 / np.sqrt(np.asarray(adjacency.sum(axis=1)).ravel())
        n = adjacency.shape[0]
        self.laplacian = sp.csr_array(
            sp.eye_array(n) - sp.diags_array(root) @ adjacency @ sp.diags_array(root)
        )

    def apply(self, block: np.ndarray, s: float) -> np.ndarray:
        """Return the diffused columns, a few at a time."""
        parts = [
            expm_multiply(-s * self.laplacian, block[:, a : a + 8], traceA=-s * block.shape[0])
            for a in range(0, block.shape[1], 8)
        ]
        return np.concatenate(parts, axis=1)


def main() -> None:
    from graphheat import HeatKernel
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

    heat = Reference(graph.adjacency)
    block = random.random((graph.n, 8))
    exact = heat.apply(block, S)
    for tol in (1e-3, 1e-6):
        kernel = HeatKernel(disk, S, tol=tol)
        started = time.perf_counter()
        found = kernel.apply(block)
        seconds = time.perf_counter() - started
        error = np.linalg.norm(found - exact, axis=0) / np.linalg.norm(block, axis=0)
        rows.append(
            {"what": f"apply, tol {tol:g}", "seconds": seconds, "difference": float(error.max()),
             "bound": kernel.error_bound}
        )  # fmt: skip
    nodes = random.choice(graph.n, 16, replace=False)
    kernel = HeatKernel(disk, S, tol=1e-4)
    kernel.rows(nodes[:1])
    started = time.perf_counter()
    some = kernel.rows(nodes).toarray()
    seconds = (time.perf_counter() - started) / len(nodes)
    units = np.zeros((graph.n, len(nodes)))
    units[nodes, np.arange(len(nodes))] = 1.0
    difference = float(np.abs(some - heat.apply(units, S).T).max())
    rows.append(
        {"what": "a row, tol 0.0001", "seconds": seconds, "difference": difference, "bound": 1e-4}
    )

    ours = fit_on_disk(disk, "linear", s=2.0)
    model = ours.model
    looped = Reference(sp.csr_array(graph.adjacency + sp.eye_array(graph.n, format="csr")))
    columns = np.column_stack([model.project(model.scaling.apply(X)), np.ones(graph.n)])
    spread = looped.apply(columns, model.s)
    diffused = spread[:, :-1] / spread[:, -1:]
    own = model.self_weight
    logits = model.logits(own * columns[:, :-1] + (1 - own) * diffused)
    theirs = softmax(logits, axis=1)
    gap = np.abs(ours.probabilities - theirs)
    same = ours.probabilities.argmax(axis=1) == theirs.argmax(axis=1)
    rows.append(
        {"what": "labels, s 2", "seconds": ours.seconds, "difference": float(gap.max()),
         "same labels %": 100 * float(same.mean()), "test %": 100 * ours.test_accuracy}
    )  # fmt: skip
    shutil.rmtree(folder)
    report("disk_equality", rows, nodes=graph.n, entries=graph.adjacency.nnz)


if __name__ == "__main__":
    main()
