"""What a heat product costs a training step, forward and backward; ratios in one run.

    python benchmarks/train_step.py [--rounds 7] [--graphs cora,citeseer,pubmed]

For the paper's kernels and 16 columns (its hidden units), one thread: the explicit product with the
symmetric backward pass, the implicit product, and peers over the same kernel: torch's own autograd
for CSR, PyG's gather and scatter, a dense matrix.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import torch
from interleave import report
from torch import Tensor

from graphheat import HeatKernel, datasets
from graphheat.nn import heat_operator
from graphheat.nn.csr import to_torch
from graphheat.recipes.network_recipe import PUBLISHED

COLUMNS = 16
SMALL = 5_000  # nodes up to which the slow peers are run


def ways_for(name: str) -> dict[str, Callable[[Tensor], Tensor]]:
    graph = datasets.load(name)
    s, eps = PUBLISHED[name]
    explicit, implicit = heat_operator(graph, s, eps=eps), heat_operator(graph, s)
    matrix = to_torch(HeatKernel(graph, s).matrix(eps), torch.float32)
    zero = torch.zeros(graph.n, COLUMNS)
    ways: dict[str, Callable[[Tensor], Tensor]] = {
        "explicit": lambda x: explicit([zero, x]),
        "implicit": lambda x: implicit([zero, x]),
        "torch CSR autograd": lambda x: matrix @ x,
    }
    if graph.n <= SMALL:
        dense = matrix.to_dense()
        ways["dense"] = lambda x: dense @ x
        try:
            from torch_geometric.nn import SimpleConv
        except ImportError:
            print("PyG is not installed: its message passing is left out")
        else:
            coo = matrix.to_sparse_coo().coalesce()
            layer = SimpleConv(aggr="sum")
            ways["PyG message passing"] = lambda x: layer(x, coo.indices(), coo.values())
    return ways


def forward_backward(way: Callable[[Tensor], Tensor], n: int) -> tuple[float, float]:
    x, gradient = torch.rand(n, COLUMNS, requires_grad=True), torch.rand(n, COLUMNS)
    started = time.perf_counter()
    y = way(x)
    middle = time.perf_counter()
    y.backward(gradient)
    return middle - started, time.perf_counter() - middle


def measure(name: str, rounds: int) -> list[dict[str, Any]]:
    ways, n = ways_for(name), datasets.load(name).n
    best = {way: (float("inf"), float("inf")) for way in ways}
    for round_number in range(rounds):
        for way, product in ways.items():
            if sum(best[way]) > 1.0 and round_number > 1:
                continue  # seconds each: two are enough for a minimum
            forward, backward = forward_backward(product, n)
            best[way] = min(best[way][0], forward), min(best[way][1], backward)
    step = sum(best["explicit"])
    return [
        {
            "graph": name,
            "implementation": way,
            "step / explicit step": (forward + backward) / step,
            "backward / forward": backward / forward,
            "forward ms": 1e3 * forward,
            "backward ms": 1e3 * backward,
        }
        for way, (forward, backward) in best.items()
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--graphs", default=",".join(PUBLISHED))
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    rows = [row for name in arguments.graphs.split(",") for row in measure(name, arguments.rounds)]
    report(
        "train_step",
        rows,
        whole=arguments.graphs == parser.get_default("graphs"),
        torch=torch.__version__,
        threads=1,
    )


if __name__ == "__main__":
    main()
