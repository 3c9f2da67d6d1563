"""Whether explanations are what they claim to be, for every recipe that has them.

For random nodes and the classes they were given: how far contributions plus constant are from the
logit that the model itself computes; for some of them, how far a logit moves in float64 when the
features of a source are multiplied by 1 + 1e-6, beside 1e-6 times its contribution; and whether a
second fit with the same seed is explained in the same words and numbers.

python benchmarks/explanations.py [--graph cora] [--nodes 100] [--recipes paper,linear]
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from interleave import report
from numpy.typing import NDArray

import graphheat
from graphheat import Graph
from graphheat.linear import LinearRun
from graphheat.linear.diffusion import Diffusion
from graphheat.nn import heat_operator
from graphheat.training.build import build_network

RECIPES = ("consistent", "normalized", "paper", "linear")
STEP = 1e-6
MOVED = 10  # nodes whose three largest sources are moved

Logits = Callable[[NDArray[np.float64]], NDArray[np.float64]]


def main() -> None:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--graph", default="cora")
    options.add_argument("--nodes", type=int, default=100)
    options.add_argument("--recipes", default=",".join(RECIPES))
    arguments = options.parse_args()
    graph = graphheat.datasets.load(arguments.graph)
    nodes = np.random.default_rng(0).choice(graph.n, arguments.nodes, replace=False)
    names = arguments.recipes.split(",")
    rows = [measured(graph, recipe, nodes) for recipe in names]
    report("explanations", rows, whole=tuple(names) == RECIPES, graph=graph.name)


def measured(graph: Graph, recipe: str, nodes: NDArray[np.int64]) -> dict[str, Any]:
    """Return how far a recipe's explanations of some nodes are from what they claim."""
    run = graphheat.fit(graph, recipe, seed=0, threads=1)
    explainer = run.explainer(graph)
    x, logits_of = model(graph, run)
    logits = logits_of(x)
    explained = [explainer.explain(graph.nodes[node]) for node in nodes]
    apart, ratios = [], []
    for node, why in zip(nodes, explained, strict=True):
        code = run.classes.index(why.label)
        apart.append(abs(why.constant + why.contributions.sum() - logits[node, code]))
    for node, why in zip(nodes[:MOVED], explained, strict=False):
        code = run.classes.index(why.label)
        for source, given in zip(why.sources[:3], why.contributions, strict=False):
            more = x.copy()
            more[source] *= 1 + STEP
            ratios.append((logits_of(more)[node, code] - logits[node, code]) / (STEP * given))
    again = graphheat.fit(graph, recipe, seed=0, threads=1).explainer(graph)
    same = all(
        np.array_equal(why.contributions, other.contributions) and why.text() == other.text()
        for why, other in zip(
            explained, (again.explain(why.node) for why in explained), strict=True
        )
    )
    return {
        "recipe": recipe,
        "nodes": len(nodes),
        "sum to logit, largest difference": f"{max(apart):.1e}",
        "sources moved": len(ratios),
        "moved / contribution, lowest … highest": f"{min(ratios):.6f} … {max(ratios):.6f}",
        "a second fit": "identical" if same else "differs",
    }


def model(graph: Graph, run: Any) -> tuple[NDArray[np.float64], Logits]:
    """Return the scaled features, shape (n, f), and what computes logits of such, in float64."""
    scaled = run.scaling.apply(graph.features)
    x = (scaled.toarray() if isinstance(scaled, sp.csr_array) else scaled).astype(np.float64)
    if isinstance(run, LinearRun):
        diffusion = Diffusion(graph, run.scaling, self_weight=run.self_weight)
        return x, lambda x: diffusion.spread(x @ run.weights, run.s) + run.bias
    settings = run.settings
    network = build_network(x.shape[1], len(run.classes), settings)
    network.load_state_dict({name: torch.tensor(each) for name, each in run.weights.items()})
    network = network.double().eval()
    operator = heat_operator(
        graph, settings.s, K=settings.K, eps=settings.eps, self_loops=settings.self_loops,
        tol=1e-10, dtype=torch.float64,
    )  # fmt: skip

    def logits(x: NDArray[np.float64]) -> NDArray[np.float64]:
        with torch.no_grad():
            return network(torch.from_numpy(x), operator).numpy()

    return x, logits


if __name__ == "__main__":
    main()
