"""64 columns on a million nodes and five million edges: ours beside SciPy's and torch's CSR.

    python benchmarks/bandwidth.py [--nodes 1000000] [--rounds 3]

The same Chebyshev recurrence to the same order, in one run and interleaved, all with two threads
(SciPy has one). *of the copy bandwidth*: bytes that a product must read and write (a row of 64
numbers for each entry and five for each node, and the indices) per second, over what two threads
reach that copy one large array into another, both in memory already, in the same run.
"""

from __future__ import annotations

import argparse
import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from interleave import best_of, report

S, TOL, COLUMNS, THREADS = 3.0, 1e-3, 64, 2


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    import torch

    from graphheat.datasets import block_model
    from graphheat.heat.engines.panel.panel import PanelEngine
    from graphheat.heat.engines.scipy import ScipyEngine
    from graphheat.heat.operand import Operand
    from graphheat.heat.series import heat_series

    torch.set_num_threads(THREADS)
    graph = block_model(given.nodes, 5, degree=10.0, features=0, seed=0)
    operand = Operand.of_graph(graph.adjacency)
    series = heat_series(S, TOL, operand.longest_row)
    pool = ThreadPoolExecutor(THREADS)
    ours, scipys = PanelEngine(), ScipyEngine()
    rows = []
    for dtype in (np.dtype(np.float32), np.dtype(np.float64)):
        X = np.random.default_rng(0).random((graph.n, COLUMNS)).astype(dtype)
        S_matrix = operand.matrix_in(dtype)
        sparse = torch.sparse_csr_tensor(
            torch.as_tensor(S_matrix.indptr.astype(np.int64)),
            torch.as_tensor(S_matrix.indices.astype(np.int64)),
            torch.as_tensor(S_matrix.data),
            size=S_matrix.shape,
        )

        def in_torch(X: Any = X, sparse: Any = sparse) -> Any:
            before = torch.as_tensor(X)
            now = sparse @ before
            total = before * float(series.coefficients[0]) + now * float(series.coefficients[1])
            for c in series.coefficients[2:]:
                before, now = now, torch.addmm(before, sparse, now, beta=-1, alpha=2)
                total.add_(now, alpha=float(c))
            return total

        big, other = np.ones(1 << 28, dtype=np.uint8), np.ones(1 << 28, dtype=np.uint8)
        halves = slice(0, len(big) // 2), slice(len(big) // 2, len(big))

        def copy(big: Any = big, other: Any = other, halves: Any = halves) -> None:
            list(pool.map(lambda half: np.copyto(other[half], big[half]), halves))

        ways: dict[str, Any] = {
            "panel": lambda X=X: ours.apply(operand, X, [series], threads=THREADS),
            "scipy": lambda X=X: scipys.apply(operand, X, [series]),
            "torch": in_torch,
            "copy": copy,
        }
        few = np.ascontiguousarray(X[:, :8])
        exact = scipys.apply(operand, few, [series])[0]
        assert np.abs(ours.apply(operand, few, [series], threads=THREADS)[0] - exact).max() < 1e-4
        best = best_of(ways, given.rounds, patience=120)
        row_bytes = COLUMNS * dtype.itemsize
        needed = series.order * (operand.nnz * (row_bytes + 4) + 5 * graph.n * row_bytes)
        copied = 2 * big.nbytes / best["copy"]
        rows.append(
            {
                "dtype": str(dtype),
                "ours s": best["panel"],
                **{f"x {name}": best[name] / best["panel"] for name in list(ways)[1:-1]},
                "GB needed": needed / 1e9,
                "copy GB/s": copied / 1e9,
                "of the copy bandwidth": needed / best["panel"] / copied,
            }
        )
    report(
        "bandwidth", rows, nodes=graph.n, entries=operand.nnz, columns=COLUMNS,
        order=series.order, threads=THREADS, load=round(os.getloadavg()[0], 1),
    )  # fmt: skip


if __name__ == "__main__":
    main()
