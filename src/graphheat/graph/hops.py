"""Distances in edges."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import breadth_first_order, connected_components


class BreadthFirst(NamedTuple):
    """What a breadth-first search from one node finds.

    Attributes
    ----------
    order
        Row numbers of the nodes that it comes to, in that order.
    hops
        Distances in edges, shape (n,); −1 where there is no path.
    parents
        Each node's neighbour on the way back, shape (n,); −1 for the first node and where there is
        no path.
    """

    order: NDArray[np.int64]
    hops: NDArray[np.int64]
    parents: NDArray[np.int64]


def hop_distances(adjacency: sp.csr_array, index: int) -> NDArray[np.int64]:
    """Return the number of edges from row ``index`` to every node, shape (n,); −1 = no path.

    Examples
    --------
    >>> path = sp.csr_array(np.diag([1.0, 1.0], 1) + np.diag([1.0, 1.0], -1))
    >>> hop_distances(path, 0)
    array([0, 1, 2])
    """
    return breadth_first(adjacency, index).hops


def breadth_first(adjacency: sp.csr_array, index: int) -> BreadthFirst:
    """Search from row ``index`` of a symmetric matrix, shape (n, n)."""
    n = adjacency.shape[0]
    order, found = breadth_first_order(adjacency, index, directed=False)
    parents = np.where(found < 0, -1, found).astype(np.int64)
    place = np.empty(n, dtype=np.int64)
    place[order] = np.arange(len(order))
    # In breadth-first order the places of parents rise, so that a level is one run of the order.
    parent_places = place[parents[order[1:]]]
    hops = np.full(n, -1, dtype=np.int64)
    begin, end, depth = 0, 1, 0
    while begin < end:
        hops[order[begin:end]] = depth
        begin, end = end, 1 + int(np.searchsorted(parent_places, end))
        depth += 1
    return BreadthFirst(order.astype(np.int64), hops, parents)


def component_of(adjacency: sp.csr_array) -> NDArray[np.int32]:
    """Return the number of each node's connected component, shape (n,).

    Examples
    --------
    >>> component_of(sp.csr_array([[0, 1, 0], [1, 0, 0], [0, 0, 0]]))
    array([0, 0, 1], dtype=int32)
    """
    numbers: NDArray[np.int32] = connected_components(adjacency, directed=False)[1]
    return numbers
