"""What a heat product costs forward and backward; ratios in one run.

    python benchmarks/train_step.py [--repeats 7] [--out benchmarks/results/train_step.json]

For the paper's kernels and 16 columns (its hidden units): the explicit product with the symmetric
backward pass, the same product under torch's own autograd, and the implicit product. Ways are
interleaved, one thread, best of several.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path

import torch

from graphheat import datasets
from graphheat.nn import heat_operator
from graphheat.training.recipes import PUBLISHED

COLUMNS = 16


def forward_backward(
    product: Callable[[torch.Tensor], torch.Tensor], n: int
) -> tuple[float, float]:
    x = torch.rand(n, COLUMNS, requires_grad=True)
    gradient = torch.rand(n, COLUMNS)
    started = time.perf_counter()
    y = product(x)
    middle = time.perf_counter()
    y.backward(gradient)
    return middle - started, time.perf_counter() - middle


def measure(name: str, repeats: int) -> dict[str, dict[str, float]]:
    graph = datasets.load(name)
    s, eps = PUBLISHED[name]
    explicit, implicit = heat_operator(graph, s, eps=eps), heat_operator(graph, s)
    matrix = explicit._matrices[0]
    zero = torch.zeros(graph.n, COLUMNS)
    ways: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
        "explicit": lambda x: explicit([zero, x]),
        "implicit": lambda x: implicit([zero, x]),
        "explicit, torch autograd": lambda x: matrix @ x,
    }
    best = {way: (float("inf"), float("inf")) for way in ways}
    for repeat in range(repeats):
        for way, product in ways.items():
            if way == "explicit, torch autograd" and repeat > 1 and graph.n > 10_000:
                continue  # seconds each; two are enough for a minimum
            forward, backward = forward_backward(product, graph.n)
            best[way] = min(best[way][0], forward), min(best[way][1], backward)
    return {
        way: {"forward_ms": 1e3 * f, "backward_ms": 1e3 * b, "backward_over_forward": b / f}
        for way, (f, b) in best.items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument(
        "--out", type=Path, default=Path(__file__).parent / "results/train_step.json"
    )
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    results = {}
    print("| graph | way | backward / forward | forward ms | backward ms |")
    print("|---|---|---:|---:|---:|")
    for name in PUBLISHED:
        results[name] = measure(name, arguments.repeats)
        for way, row in results[name].items():
            print(
                f"| {name} | {way} | {row['backward_over_forward']:.2f} | "
                f"{row['forward_ms']:.2f} | {row['backward_ms']:.2f} |"
            )
    arguments.out.parent.mkdir(exist_ok=True)
    arguments.out.write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    main()
