"""Sections 3.3 and 4.6: neighbours by heat, over all nodes of the graphs."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphheat.graph import Graph
from graphheat.heat import HeatKernel
from graphheat.paper.claims.claim import Claim, judge
from graphheat.paper.claims.reach import Reach
from graphheat.paper.tables import PAPER_RANGES

S_VALUES = np.arange(0.5, 10.25, 0.5)
EVERY = 8  # nodes between those whose neighbourhoods are followed over s
BLOCK = 64


def sizes(graph: Graph, s_values: ArrayLike, eps: float, nodes: ArrayLike) -> NDArray[np.int64]:
    """Return how many neighbours heat of at least eps gives, shape (len(s_values), len(nodes)).

    Parameters
    ----------
    nodes
        Row numbers; one basis serves all s.
    """
    kernel = HeatKernel(graph, 1.0, tol=min(1e-6, eps / 10))
    chosen, times = np.asarray(nodes), np.asarray(s_values, dtype=np.float64)
    counts = np.zeros((len(times), len(chosen)), dtype=np.int64)
    for first in range(0, len(chosen), BLOCK):
        part = chosen[first : first + BLOCK]
        sources = np.zeros((graph.n, len(part)))
        sources[part, np.arange(len(part))] = 1.0
        heat = kernel.sweep(sources, times.tolist())
        own = heat[:, part, np.arange(len(part))] >= eps
        counts[:, first : first + BLOCK] = (heat >= eps).sum(axis=1) - own
    return counts


def continuity(graph: Graph, reach: Reach) -> Claim:
    """Return the claim that s tunes neighbourhoods in small steps, unlike hops."""
    nodes = np.arange(0, graph.n, EVERY)
    counts = sizes(graph, S_VALUES, reach.eps, nodes)
    mean = counts.mean(axis=1)
    step = float(np.diff(mean).max())
    by_hops = reach.pairs_by_hop[1:] / graph.n
    distinct = float(np.median([len(set(column)) for column in counts.T.tolist()]))
    shrinking = float((np.diff(counts, axis=0) < 0).any(axis=0).mean())
    picked = [int(np.flatnonzero(s == S_VALUES)[0]) for s in (0.5, 1.0, 2.0, 3.5, 5.0, 10.0)]
    grid = ", ".join(f"{mean[k]:.0f} at s = {S_VALUES[k]:g}" for k in picked)
    return Claim(
        "3.3 (1)",
        "Neighbourhoods are tuned continuously by s.",
        f"mean neighbours {grid}; largest step over Δs = 0.5 is {step:.0f} nodes, over one hop "
        f"{by_hops.max(initial=0):.0f}",
        judge([step < by_hops.max(initial=0), bool((np.diff(mean) >= 0).all())]),
        f"{graph.name.title()}, eps = {reach.eps:g}, every {EVERY}th node: {distinct:g} sizes "
        f"among {len(S_VALUES)} values of s for the median node; {shrinking:.0%} of nodes lose "
        "neighbours somewhere as s grows.",
    )


def dropped_neighbors(reaches: Mapping[str, Reach]) -> Claim:
    """Return the claim that heat leaves out some near neighbours and takes in far ones."""
    numbers, discards, leverages = [], [], []
    for name, reach in reaches.items():
        lost = reach.pairs_by_hop - reach.kept_by_hop
        near = [int(lost[hop]) if hop < len(lost) else 0 for hop in (1, 2, 3)]
        beyond = int(reach.kept_by_hop[3:].sum())
        third = int(reach.pairs_by_hop[3]) if len(lost) > 3 else 0
        numbers.append(
            f"{name} (s = {reach.s:g}, eps = {reach.eps:g}): dropped {near[0]:,} of first order, "
            f"{near[1]:,} of second, {near[2]:,} of {third:,} of third; "
            f"kept {beyond:,} of third order or beyond"
        )
        discards.append(near[0] + near[1] > 0)
        leverages.append(beyond > 0)
    return Claim(
        "3.3 (2)",
        "High-order neighbours are taken in while some low-order ones are discarded.",
        "; ".join(numbers) or "—",
        judge([*discards, *leverages]),
        "Ordered pairs of nodes at the paper's s and eps. Where no first- or second-order "
        "neighbour falls below eps, heat weighs near neighbours but discards none.",
    )


def heavier_second_order(reaches: Mapping[str, Reach]) -> Claim:
    """Return the claim that a second-order neighbour can outweigh a first-order one."""
    shares = {
        name: (int(each.second_is_heavier.sum()), int(each.has_second.sum()))
        for name, each in reaches.items()
    }
    return Claim(
        "4.6",
        "A second-order neighbour can weigh more than a first-order one.",
        "; ".join(
            f"{name} {k:,} of {n:,} nodes ({k / max(n, 1):.0%})" for name, (k, n) in shares.items()
        )
        or "—",
        judge(k > 0 for k, _ in shares.values()),
        "Nodes whose heaviest second-order neighbour outweighs their lightest first-order one, "
        "among nodes that have a second order.",
    )


def light_hubs(reaches: Mapping[str, Reach]) -> Claim:
    """Return the claim that a neighbour of high degree, popular, is weakly tied."""
    shares = {
        name: (int(each.hub_is_lighter.sum()), int(each.has_hub.sum()))
        for name, each in reaches.items()
    }
    return Claim(
        "4.6",
        "High-degree neighbours, popular rather than related, get less weight.",
        "; ".join(
            f"{name} {k:,} of {n:,} nodes ({k / max(n, 1):.0%})" for name, (k, n) in shares.items()
        )
        or "—",
        judge(2 * k > n for k, n in shares.values()),
        "Nodes whose first-order neighbour of the highest degree weighs less than the mean of the "
        "others, among nodes whose neighbours differ in degree; holds where more than half do.",
    )


def varying_range(reaches: Mapping[str, Reach]) -> Claim:
    """Return the claim that ranges differ between nodes, over all of them and not seven."""
    numbers, varied = [], []
    for name, reach in reaches.items():
        counts = np.bincount(reach.range)
        spread = ", ".join(f"{hop}: {count:,}" for hop, count in enumerate(counts) if count)
        numbers.append(
            f"{name} {{{spread}}}, median {np.median(reach.range):g} of a possible "
            f"{np.median(reach.max_range):g}"
        )
        # A node whose heat fills its component has no choice of range.
        free = reach.range < reach.max_range
        varied.append(len(np.unique(reach.range[free])) > 1)
    return Claim(
        "3.3 (3)",
        "The range of neighbours varies from node to node.",
        "; ".join(numbers) or "—",
        judge(varied),
        "Neighbouring range: number of nodes, over all nodes. Ranges that fill a small component "
        "are set by the component; the verdict looks at the other nodes.",
    )


def part_of_immediate(reaches: Mapping[str, Reach]) -> Claim:
    """Return the claim of Section 4.6 that some nodes reach only part of their neighbours."""
    numbers, some = [], []
    for name, reach in reaches.items():
        kept = int(reach.kept_by_hop[1]) if len(reach.kept_by_hop) > 1 else 0
        all_of_them = int(reach.pairs_by_hop[1]) if len(reach.pairs_by_hop) > 1 else 0
        close = reach.range == 1
        numbers.append(
            f"{name}: {kept:,} of {all_of_them:,} first-order pairs are kept; of {close.sum():,} "
            f"nodes with range 1, {(close & (reach.max_range == 1)).sum():,} have no node further "
            "away"
        )
        some.append(kept < all_of_them)
    return Claim(
        "4.6",
        "For some nodes only part of their immediate neighbours are included.",
        "; ".join(numbers) or "—",
        judge(some),
        "At the paper's s and eps. A node with none further away has its range from its "
        "component, not from eps.",
    )


def table_3(reach: Reach) -> Claim:
    """Return the claim of Table 3, on Cora in the public order."""
    text = "The ranges of seven nodes are those of Table 3."
    if len(reach.range) <= max(PAPER_RANGES):
        return Claim("4.6", text, "—", "not measured", "Needs Cora.")
    found = {node: (int(reach.range[node]), int(reach.max_range[node])) for node in PAPER_RANGES}
    right = [found[node] == PAPER_RANGES[node] for node in PAPER_RANGES]
    return Claim(
        "4.6",
        text,
        f"{sum(right)} of {len(right)} exact: "
        + ", ".join(f"{node}: {a} of {b}" for node, (a, b) in found.items()),
        judge(right),
        "Neighbouring range of maximum range (Eq. 17), in the rows of the public files.",
    )


def energy(graphs: Mapping[str, Graph], times: Mapping[str, float]) -> Claim:
    """Return the claim that [e^{-sL}]_ij is the energy that j receives of a unit offered to i."""
    numbers, symmetric, conserved = [], [], []
    for name, graph in graphs.items():
        x, y = np.random.default_rng(0).standard_normal((2, graph.n))
        signals = np.column_stack([np.ones(graph.n), x, y])
        total, to_x, to_y = HeatKernel(graph, times[name], tol=1e-8).apply(signals).T
        numbers.append(f"{name} {total.min():.2f} to {total.max():.2f}")
        symmetric.append(bool(np.isclose(y @ to_x, x @ to_y, atol=1e-6 * graph.n)))
        conserved.append(bool(np.abs(total - 1).max() < 1e-6))
    return Claim(
        "3.3",
        "A weight of e^{-sL} is the energy that j receives of a unit offered to i, and vice versa.",
        f"energy that arrives of a unit: {'; '.join(numbers)}" if numbers else "—",
        judge([*symmetric, *conserved]),
        "Two parts: the same in both directions, and what arrives adds up to the unit (sums of "
        "rows). With the normalised Laplacian the second is so only where all degrees are equal: a "
        "weight is a similarity, not a share.",
    )
