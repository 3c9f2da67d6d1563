"""How fast the thresholded matrix of e^{-sL} is, beside its peers.

    python benchmarks/kernel.py [--rounds 3] [--graphs cora,citeseer,pubmed,photo] [--threads 2]

Peers: numpy's eigh (the paper's authors), PyG's GDC (dense), PyGSP's Chebyshev filter and scipy's
expm_multiply on blocks of the identity. Ours is the numba engine; beside it stand the scipy engine
and ``HeatKernel(graph, s).matrix(eps)`` with its defaults, which below a second's work is scipy's.
The dense ones are cubic and left out above 5,000 nodes; expm_multiply and PyGSP run on 128 columns
there, scaled up. Peers that are not installed are named and left out. `photo` needs GRAPHHEAT_DATA
(or ../shared/data beside the clone).
"""

from __future__ import annotations

import argparse
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from interleave import best_of, report
from scipy.sparse.linalg import expm_multiply

from graphheat import Graph, HeatKernel, datasets, read_npz
from graphheat.heat import laplacian

DATA = Path(os.environ.get("GRAPHHEAT_DATA", Path(__file__).parents[2] / "shared" / "data"))
SETTINGS = {
    "cora": (3.5, 1e-4),
    "citeseer": (4.5, 1e-5),
    "pubmed": (3.0, 1e-5),
    "photo": (3.0, 1e-4),
}
DENSE_LIMIT = 5_000
SAMPLE = 128  # columns of a peer that would take minutes


def load(name: str) -> Graph | None:
    if name != "photo":
        return datasets.load(name)
    path = DATA / "amazon_photo.npz"
    if not path.exists():
        print(f"photo: {path.name} is not at hand; left out")
        return None
    return read_npz(path)


def ways_for(graph: Graph, s: float, eps: float) -> dict[str, tuple[Callable[[], Any], float]]:
    """Return each way and the share of the columns that it computes."""
    A, n = graph.adjacency, graph.n
    L = laplacian(A)
    part = min(n, SAMPLE) if n > DENSE_LIMIT else n
    share = part / n

    def by_columns(width: int, heat_of: Callable[[np.ndarray], np.ndarray]) -> Any:
        kept = []
        for a in range(0, part, width):
            indices = np.arange(a, min(a + width, part))
            heat = heat_of(indices)
            kept.append(sp.csc_array(np.where(heat >= eps, heat, 0)))
        return sp.hstack(kept)

    def eigh() -> Any:
        values, vectors = np.linalg.eigh(L.toarray())
        heat = (vectors * np.exp(-s * values)) @ vectors.T
        return sp.csr_array(np.where(heat >= eps, heat, 0))

    default = HeatKernel(graph, s, threads=1)
    ours = HeatKernel(graph, s, engine="numba", threads=1)
    by_scipy = HeatKernel(graph, s, engine="scipy", threads=1)
    identity = np.eye(n, dtype=np.float64)[:, :part] if n <= DENSE_LIMIT else None

    def unit(indices: np.ndarray) -> np.ndarray:
        if identity is not None:
            return identity[:, indices]
        block = np.zeros((n, len(indices)))
        block[indices, np.arange(len(indices))] = 1
        return block

    ways: dict[str, tuple[Callable[[], Any], float]] = {
        "graphheat": (lambda: ours.matrix(eps), 1.0),
        "graphheat, by default": (lambda: default.matrix(eps), 1.0),
        "graphheat, scipy engine": (lambda: by_scipy.matrix(eps), 1.0),
        "expm_multiply x 256": (
            lambda: by_columns(256, lambda i: expm_multiply(-s * L, unit(i))),
            share,
        ),
    }
    if n <= DENSE_LIMIT:
        ways["eigh"] = (eigh, 1.0)
    try:
        from torch_geometric.transforms import GDC
    except ImportError:
        print("PyG is not installed: GDC is left out")
    else:
        if n <= DENSE_LIMIT:
            gdc = GDC(
                self_loop_weight=0.0,
                diffusion_kwargs={"method": "heat", "t": s},
                sparsification_kwargs={"method": "threshold", "eps": eps},
            )
            ways["PyG GDC"] = (lambda: gdc(graph.to_pyg()), 1.0)
    try:
        import pygsp
    except ImportError:
        print("PyGSP is not installed: its filter is left out")
    else:
        other = pygsp.graphs.Graph(sp.csr_matrix(graph.to_scipy()), lap_type="normalized")
        other.estimate_lmax()
        heat = pygsp.filters.Heat(other, s * other.lmax)
        ways["PyGSP, order 30"] = (
            lambda: by_columns(256, lambda i: heat.filter(unit(i), method="chebyshev", order=30)),
            share,
        )
    return ways


def two_loops(work: Callable[[], Any]) -> float:
    """Return how much two independent loops in two threads gain on this machine, right now."""
    started = time.perf_counter()
    work(), work()
    alone = time.perf_counter() - started
    threads = [threading.Thread(target=work) for _ in range(2)]
    started = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return alone / (time.perf_counter() - started)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--graphs", default="cora,citeseer,pubmed,photo")
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    import torch

    torch.set_num_threads(1)
    rows: list[dict[str, Any]] = []
    for name in arguments.graphs.split(","):
        graph = load(name)
        if graph is None:
            continue
        s, eps = SETTINGS[name]
        ways = ways_for(graph, s, eps)
        ways["graphheat"][0]()  # compile
        best = best_of({way: run for way, (run, _) in ways.items()}, arguments.rounds, patience=15)
        full = {way: seconds / ways[way][1] for way, seconds in best.items()}
        ours = full["graphheat"]
        two = HeatKernel(graph, s, engine="numba", threads=arguments.threads)
        pair = best_of({"two": lambda: two.matrix(eps)}, 2)["two"]  # noqa: B023
        independent = two_loops(ways["graphheat"][0])
        for way, seconds in full.items():
            rows.append(
                {"graph": name, "implementation": way, "x ours": seconds / ours, "seconds": seconds}
            )
        rows.append(
            {
                "graph": name,
                "implementation": f"graphheat, {arguments.threads} threads "
                f"(two independent loops gain {independent:.2f})",
                "x ours": pair / ours,
                "seconds": pair,
            }
        )
    report("kernel", rows, whole=arguments.graphs == parser.get_default("graphs"), threads=1)


if __name__ == "__main__":
    main()
