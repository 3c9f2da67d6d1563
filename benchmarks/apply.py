"""How fast e^{-sL}X is, beside peers that compute the same to the same accuracy.

    python benchmarks/apply.py [--rounds 5] [--graphs cora,pubmed]

``HeatKernel(graph, s, tol=…).apply(X)`` with its defaults (one thread), the same by the scipy
engine, Chebyshev products of the same order in torch (CSR, MKL), and scipy's expm_multiply, which
aims at its own accuracy. float32 and float64.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from interleave import best_of, report
from numpy.typing import NDArray
from scipy.sparse.linalg import expm_multiply

from graphheat import HeatKernel, datasets
from graphheat.heat import laplacian, normalized_adjacency
from graphheat.heat.series import heat_series
from graphheat.nn.csr import to_torch

S, TOL = 3.0, 1e-5
CASES = {"cora": (16, 64, 500, 1433), "pubmed": (16, 64, 500)}


def by_torch(matrix: torch.Tensor, x: torch.Tensor, coefficients: np.ndarray) -> torch.Tensor:
    before, now = x, matrix @ x
    total = coefficients[0] * x + coefficients[1] * now
    for c in coefficients[2:]:
        before, now = now, torch.addmm(before, matrix, now, beta=-1, alpha=2)
        total.add_(now, alpha=float(c))
    return total


def ways_for(name: str, columns: int, dtype: type) -> dict[str, Callable[[], Any]]:
    graph = datasets.load(name)
    X: NDArray[Any] = np.random.default_rng(0).random((graph.n, columns)).astype(dtype)
    matrix = normalized_adjacency(graph.adjacency).astype(dtype)
    kernel = HeatKernel(graph, S, tol=TOL, threads=1)
    by_scipy = HeatKernel(graph, S, tol=TOL, engine="scipy")
    coefficients = heat_series(S, TOL, 1).coefficients
    tensor, S_torch = torch.from_numpy(X), to_torch(matrix, torch.from_numpy(X).dtype)
    L = laplacian(graph.adjacency).astype(dtype)
    ways: dict[str, Callable[[], Any]] = {
        "graphheat": lambda: kernel.apply(X),
        "scipy CSR": lambda: by_scipy.apply(X),
        "torch CSR": lambda: by_torch(S_torch, tensor, coefficients),
    }
    if columns <= 64:
        ways["expm_multiply"] = lambda: expm_multiply(-S * L, X)
    return ways


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--graphs", default=",".join(CASES))
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    rows = []
    for name in arguments.graphs.split(","):
        for columns in CASES[name]:
            for dtype in (np.float32, np.float64):
                best = best_of(ways_for(name, columns, dtype), arguments.rounds, patience=10)
                ours = best["graphheat"]
                rows.append(
                    {
                        "graph": name,
                        "columns": columns,
                        "precision": np.dtype(dtype).name,
                        **{f"{way} / ours": t / ours for way, t in best.items() if t != ours},
                        "ours ms": 1e3 * ours,
                    }
                )
    report(
        "apply",
        rows,
        whole=arguments.graphs == parser.get_default("graphs"),
        s=S,
        tol=TOL,
        threads=1,
    )


if __name__ == "__main__":
    main()
