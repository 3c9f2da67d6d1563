"""Neighbours as heat defines them: the nodes where at least eps of a node's heat arrives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphheat.graph import Graph
from graphheat.graph.hops import hop_distances
from graphheat.heat.kernel import HeatKernel


@dataclass(frozen=True)
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
        The largest distance of any node that can be reached: Table 3's maximum range (Eq. 17).
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


def neighborhood(graph: Graph, index: int, s: float, eps: float = 1e-4) -> Neighborhood:
    """Return the nodes j with [e^{-sL}]_ij ≥ eps (the paper's Section 3.3).

    Examples
    --------
    >>> import numpy as np
    >>> path = Graph.from_scipy(np.diag(np.ones(4), 1) + np.diag(np.ones(4), -1))
    >>> near = neighborhood(path, 0, s=1.0, eps=0.05)
    >>> near.neighbors.tolist(), near.hops.tolist(), near.range, near.max_range
    ([1, 2], [1, 2], 2, 4)
    """
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
