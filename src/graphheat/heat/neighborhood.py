"""Neighbours as heat defines them: the nodes where at least eps of a node's heat arrives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphheat.disk import DiskGraph
from graphheat.graph import Graph
from graphheat.graph.hops import hop_distances
from graphheat.heat.kernel import HeatKernel
from graphheat.html_table import html_table


@dataclass(frozen=True, repr=False)
class Neighborhood:
    """The heat neighbours of one node, heaviest first; the node itself is not among them.

    Attributes
    ----------
    index
        The node at the source of heat.
    self_weight
        [e^{-sL}]_ii, the heat that stays.
    neighbors, weights, hops
        Row numbers, heat weights and shortest-path distances, shape (k,).
    range
        The largest distance of a neighbour (0 without neighbours): Table 3's neighbouring range.
    max_range
        The largest distance of any node that can be reached: Table 3's maximum range (Eq. 17); of a
        graph on disk, that of the neighbours.
    """

    index: int
    s: float
    eps: float
    self_weight: float
    neighbors: NDArray[np.int64]
    weights: NDArray[np.floating[Any]]
    hops: NDArray[np.int64]
    range: int
    max_range: int

    def __repr__(self) -> str:
        return (
            f"Neighborhood(index={self.index}, s={self.s:g}, eps={self.eps:g}, "
            f"neighbors={len(self.neighbors)}, range={self.range})"
        )

    def _repr_html_(self) -> str:
        rows = [
            [int(index), float(weight), int(hops)]
            for index, weight, hops in zip(
                self.neighbors[:10], self.weights, self.hops, strict=False
            )
        ]
        return html_table(
            f"Heat from row {self.index} (s = {self.s:g}, eps = {self.eps:g})",
            rows,
            columns=["row", "weight", "hops"],
            notes=[
                f"{len(self.neighbors):,} neighbours, up to {self.range} hops away of "
                f"{self.max_range} possible; {self.self_weight:.4f} of the heat stays."
            ],
        )


def neighborhood(graph: Graph | DiskGraph, index: int, s: float, eps: float = 1e-4) -> Neighborhood:
    """Return the nodes j with [e^{-sL}]_ij ≥ eps (the paper's Section 3.3).

    Examples
    --------
    >>> import numpy as np
    >>> path = Graph.from_scipy(np.diag(np.ones(4), 1) + np.diag(np.ones(4), -1))
    >>> near = neighborhood(path, 0, s=1.0, eps=0.05)
    >>> near.neighbors.tolist(), near.hops.tolist(), near.range, near.max_range
    ([1, 2], [1, 2], 2, 4)
    """
    if isinstance(graph, DiskGraph):
        # A tenth of eps tells neighbours from others; finer would cost edges for nothing.
        row = HeatKernel(graph, s, tol=max(eps / 10, 1e-6)).row(index, eps)
        hops = _near_hops(graph, index, row.indices)
    else:
        row = HeatKernel(graph, s).row(index, eps)
        hops = hop_distances(graph.adjacency, index)
    others = row.indices != index
    neighbors, weights = row.indices[others].astype(np.int64), row.data[others]
    order = np.lexsort((neighbors, -weights))  # ties by row number
    neighbors, weights = neighbors[order], weights[order]
    return Neighborhood(
        index=index,
        s=float(s),
        eps=float(eps),
        self_weight=float(row.data[~others].sum()),
        neighbors=neighbors,
        weights=weights,
        hops=hops[neighbors],
        range=int(hops[neighbors].max(initial=0)),
        max_range=int(hops.max(initial=0)),
    )


def _near_hops(graph: DiskGraph, index: int, rows: NDArray[Any]) -> NDArray[np.int64]:
    """Return distances by row, shape (n,); −1 for what a search for ``rows`` does not come to."""
    found = np.full(graph.n, -1, dtype=np.int64)
    wanted = np.zeros(graph.n, dtype=np.bool_)
    wanted[graph.places_of(rows)] = True
    frontier = graph.places_of([index])
    seen = np.zeros(graph.n, dtype=np.bool_)
    seen[frontier] = True
    left, hops = int(wanted.sum()), 0
    while len(frontier) and left > 0:
        arrived = frontier[wanted[frontier]]
        found[graph.rows_at(arrived)] = hops
        left -= len(arrived)
        if left <= 0:
            break
        near = np.concatenate([graph.neighbors_of(int(place)) for place in frontier])
        near = np.unique(near)
        frontier = near[~seen[near]].astype(np.int64)
        seen[frontier] = True
        hops += 1
    return found
