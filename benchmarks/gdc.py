"""HeatGDC beside PyG's GDC(method="heat"): the same edges, and how long they take.

    python benchmarks/gdc.py [--rounds 3] [--graphs cora,citeseer]

PyG's fast way (exact=False) has no heat kernel and raises NotImplementedError; its exact way is
dense. Both transforms are called as a user calls them, one thread, interleaved, best of the rounds.
"""

from __future__ import annotations

import argparse
from functools import partial
from typing import Any

import numpy as np
import torch
from interleave import best_of, report
from torch_geometric.transforms import GDC

from graphheat import Graph, datasets
from graphheat.pyg import HeatGDC

T, EPS, K = 3.0, 1e-3, 32


def dense(data: Any) -> np.ndarray:
    out = np.zeros((data.num_nodes, data.num_nodes))
    out[data.edge_index[0].numpy(), data.edge_index[1].numpy()] = data.edge_attr.double().numpy()
    return out


def transforms(exact: bool) -> dict[str, tuple[HeatGDC, GDC]]:
    heat = {"method": "heat", "t": T}
    kept: dict[str, dict[str, Any]] = {
        f"eps={EPS:g}": {"method": "threshold", "eps": EPS},
        f"k={K}": {"method": "topk", "k": K, "dim": 0},
    }
    ours = {f"eps={EPS:g}": HeatGDC(T, eps=EPS), f"k={K}": HeatGDC(T, k=K)}
    return {
        name: (ours[name], GDC(diffusion_kwargs=heat, sparsification_kwargs=how, exact=exact))
        for name, how in kept.items()
    }


def applied(transform: Any, graph: Graph) -> Any:
    return transform(graph.to_pyg())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--graphs", default="cora,citeseer")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    rows: list[dict[str, Any]] = []
    for name in arguments.graphs.split(","):
        graph = datasets.load(name)
        for kept, (ours, theirs) in transforms(exact=True).items():
            mine, other = dense(ours(graph.to_pyg())), dense(theirs(graph.to_pyg()))
            both = (mine > 0) & (other > 0)
            calls = {"ours": partial(applied, ours, graph), "GDC": partial(applied, theirs, graph)}
            best = best_of(calls, arguments.rounds)
            try:
                transforms(exact=False)[kept][1](graph.to_pyg())
                fast = "works"
            except NotImplementedError:
                fast = "NotImplementedError"
            rows.append({
                "graph": name,
                "kept": kept,
                "edges": int((mine > 0).sum()),
                "edges of one alone": int(((mine > 0) != (other > 0)).sum()),
                "largest difference": float(np.abs(mine - other)[both].max()),
                "GDC / ours": best["GDC"] / best["ours"],
                "ours s": best["ours"],
                "GDC, exact=False": fast,
            })  # fmt: skip
    report("gdc", rows, threads=1, t=T, whole=arguments.graphs == "cora,citeseer")


if __name__ == "__main__":
    main()
