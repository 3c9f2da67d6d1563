"""Sections 3.2 and 3.3: parameters against range, and work, counted and not timed."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from graphheat.datasets import block_model
from graphheat.graph import Graph
from graphheat.heat import HeatKernel
from graphheat.paper.claims.claim import Claim, judge
from graphheat.paper.claims.reach import Reach
from graphheat.training.build import build_network
from graphheat.training.settings import NetworkSettings

HIDDEN = 16
NODES = (500, 1000, 2000, 4000)  # of block models that grow at one degree
DEGREE, S, EPS = 4.0, 3.5, 1e-4


def graphheat_parameters(features: int, classes: int, s: float) -> int:
    """Return the number of weights of the paper's network, counted in the network itself."""
    network = build_network(features, classes, NetworkSettings(s=s, hidden=HIDDEN))
    return sum(parameter.numel() for parameter in network.parameters())


def chebynet_parameters(features: int, classes: int, K: int) -> int:
    """Return the number of weights of two ChebyNet layers with polynomials of K terms."""
    return K * (features * HIDDEN + HIDDEN * classes)


def parameters_against_range(graph: Graph, reach: Reach) -> Claim:
    """Return the claim that parameters do not grow with the order of neighbours."""
    features = 0 if graph.features is None else graph.features.shape[1]
    classes = len(graph.classes)
    ours = {s: graphheat_parameters(features, classes, s) for s in (0.5, 3.5, 10.0)}
    hops = int(np.median(reach.range))
    theirs = {K: chebynet_parameters(features, classes, K) for K in (2, 3, hops + 1)}
    return Claim(
        "3.3 (4)",
        "The number of parameters does not grow with the order of neighbours.",
        f"GraphHeat {', '.join(f'{count:,} at s = {s:g}' for s, count in ours.items())}; ChebyNet "
        + ", ".join(
            f"{count:,} for {K - 1} {_hops(K - 1)} per layer" for K, count in sorted(theirs.items())
        ),
        judge([len(set(ours.values())) == 1]),
        f"Two layers of {HIDDEN} units on {graph.name.title()}, where the median range at s = "
        f"{reach.s:g} is {hops}. With more kernel terms (K > 2 in Eq. 13) GraphHeat's grow, too; "
        "and powers of a GCN's operator reach far without parameters as well.",
    )


def product_work(graphs: Mapping[str, Graph], times: Mapping[str, float]) -> Claim:
    """Return the claim that e^{-sL} costs O(m·|E|): for a product with a signal."""
    numbers = []
    for name, graph in graphs.items():
        order, stored = HeatKernel(graph, times[name]).order, graph.adjacency.nnz
        numbers.append(f"{name} {order} × {stored:,} = {order * stored:,}")
    work, edges = [], []
    for nodes in NODES:
        grown = block_model(nodes, 4, degree=DEGREE, features=0, labels_per_class=1)
        kernel = HeatKernel(grown, S)
        edges.append(grown.adjacency.nnz)
        work.append(kernel.order * grown.adjacency.nnz)
    power = _power(edges, work)
    return Claim(
        "3.2",
        "A product of e^{-sL} with a signal costs O(m × edges).",
        f"multiply-adds per column: {'; '.join(numbers)}; on block models they grow like "
        f"(number of edges)^{power:.2f}",
        judge([bool(abs(power - 1) < 0.05)]),
        "Order for an accuracy of 1e-6 times stored entries of L − I; block models of "
        f"{NODES[0]:,} to {NODES[-1]:,} nodes at degree {DEGREE:g}, where the order stays.",
    )


def matrix_work(graphs: Mapping[str, Graph], reaches: Mapping[str, Reach]) -> Claim:
    """Return the same claim of the matrix that the paper thresholds."""
    numbers = []
    for name, reach in reaches.items():
        graph = graphs[name]
        stored, order = graph.adjacency.nnz, HeatKernel(graph, reach.s).order
        numbers.append(
            f"{name} keeps {reach.entries:,} entries, {reach.entries / max(stored, 1):.0f} times "
            f"those of A; a product with it costs {reach.entries / max(order * stored, 1):.1f} "
            "times one by polynomials"
        )
    entries, work = [], []
    for nodes in NODES:
        grown = block_model(nodes, 4, degree=DEGREE, features=0, labels_per_class=1)
        kernel = HeatKernel(grown, S)
        entries.append(int(kernel.matrix(EPS).nnz))
        work.append(kernel.order * grown.adjacency.nnz * nodes)
    power, of_entries = _power(NODES, work), _power(NODES, entries)
    return Claim(
        "3.2",
        "The matrix e^{-sL} costs O(m × edges).",
        f"{'; '.join(numbers)}; on block models the work grows like n^{power:.2f}, the entries "
        f"like n^{of_entries:.2f}",
        judge([bool(abs(power - 1) < 0.05)]),
        "The matrix is n products, so O(m × edges × n) multiply-adds by polynomials. The entries "
        f"kept at a fixed eps grow like n² on small graphs and like n on large ones "
        f"({entries[0]:,} at {NODES[0]:,} nodes, {entries[-1]:,} at {NODES[-1]:,}).",
    )


def threshold_savings(graphs: Mapping[str, Graph], reaches: Mapping[str, Reach]) -> Claim:
    """Return the claim of Section 4.5 that a small eps speeds computation up."""
    numbers, saved = [], []
    for name, reach in reaches.items():
        reachable = int(reach.pairs_by_hop.sum())
        graph = graphs[name]
        implicit = HeatKernel(graph, reach.s).order * graph.adjacency.nnz
        numbers.append(
            f"{name} {reach.entries:,} of {reachable:,} entries ({reach.entries / reachable:.1%}); "
            f"without a matrix {implicit:,}"
        )
        saved.append(reach.entries < reachable)
    return Claim(
        "4.5",
        "Dropping entries below a small eps speeds computation up.",
        f"multiply-adds of a product per column: {'; '.join(numbers)}" if numbers else "—",
        judge(saved),
        "Entries kept against those of the full matrix, which has one for every reachable pair; "
        "without a matrix: order times edges, by polynomials.",
    )


def _hops(count: int) -> str:
    return "hop" if count == 1 else "hops"


def _power(sizes: tuple[int, ...] | list[int], work: list[int]) -> float:
    """Return p of work ~ size^p, by least squares of logarithms."""
    return float(np.polyfit(np.log(sizes), np.log(work), 1)[0])
