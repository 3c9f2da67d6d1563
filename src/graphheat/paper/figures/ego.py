"""A node and those around it, and where to draw them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import scipy.sparse as sp
from matplotlib.collections import LineCollection
from numpy.typing import ArrayLike, NDArray
from scipy.sparse.csgraph import shortest_path

from graphheat.graph import Graph
from graphheat.graph.hops import hop_distances

if TYPE_CHECKING:
    from matplotlib.axes import Axes

STEPS = 300  # of stress majorisation; positions move by less than a hair long before


@dataclass(frozen=True, eq=False)
class Ego:
    """Some nodes around a target, their edges and their places.

    Attributes
    ----------
    nodes
        ``index``, ``node`` (the user's id), ``hop``, ``degree`` (in the whole graph), ``label``
        (code), ``x``, ``y``: one row per node, the target first, then by hop and row number.
    edges
        ``source`` and ``target``, row numbers of the graph, each edge once; ``tree`` marks the
        edges of one shortest path from every node to the target.
    """

    nodes: pd.DataFrame
    edges: pd.DataFrame

    @property
    def indices(self) -> NDArray[np.int64]:
        """Row numbers of the nodes, shape (k,)."""
        return np.asarray(self.nodes["index"], dtype=np.int64)

    @property
    def places(self) -> NDArray[np.float64]:
        """Where the nodes are drawn, shape (k, 2)."""
        return np.asarray(self.nodes[["x", "y"]], dtype=np.float64)


def ego_network(graph: Graph, index: int, orders: int, also: ArrayLike = ()) -> Ego:
    """Return the nodes within ``orders`` edges of ``index``, laid out.

    Parameters
    ----------
    also
        Row numbers of further nodes to take in, each with a shortest path to the target.

    Notes
    -----
    Places minimise the stress Σ (‖p_a − p_b‖ − d_ab)² / d_ab² over the distances d of the network
    drawn, by majorisation from rings around the target; deterministic.
    """
    hops = hop_distances(graph.adjacency, index)
    chosen = set(np.flatnonzero((hops >= 0) & (hops <= orders)).tolist())
    for node in np.asarray(also, dtype=np.int64).tolist():
        while node not in chosen:
            chosen.add(node)
            near = _neighbors(graph, node)
            near = near[hops[near] == hops[node] - 1]
            # A path that is there already, or else the lowest row number.
            node = next((step for step in near.tolist() if step in chosen), int(near[0]))
    members = np.array(sorted(chosen, key=lambda node: (hops[node], node)))
    inside = sp.csr_array(graph.adjacency[members][:, members])
    upper = sp.coo_array(sp.triu(inside, 1))
    parents = _parents(inside, hops[members])
    low, high = upper.coords
    tree = [parents[b] == a or parents[a] == b for a, b in zip(low, high, strict=True)]
    places = _places(inside, hops[members], parents)
    nodes = pd.DataFrame(
        {
            "index": members,
            "node": graph.nodes[members],
            "hop": hops[members],
            "degree": np.diff(graph.adjacency.indptr)[members],
            "label": graph.labels[members],
            "x": places[:, 0],
            "y": places[:, 1],
        }
    )
    edges = pd.DataFrame({"source": members[low], "target": members[high], "tree": tree})
    return Ego(nodes, edges)


def segments(ego: Ego, edges: pd.DataFrame) -> list[NDArray[np.float64]]:
    """Return the ends of edges as points, for a LineCollection."""
    place = dict(zip(ego.indices.tolist(), ego.places, strict=True))
    return [
        np.array([place[a], place[b]])
        for a, b in zip(edges["source"], edges["target"], strict=True)
    ]


def draw_edges(ego: Ego, ax: Axes, *, color: str = "#888888", width: float = 0.6) -> Axes:
    """Draw every edge as a thin line beneath the nodes."""
    lines = LineCollection(segments(ego, ego.edges), colors=color, linewidths=width, zorder=2)
    ax.add_collection(lines)
    return ax


def draw_ground(
    ego: Ego, members: Iterable[int], ax: Axes, *, color: str, size: float, zorder: float
) -> Axes:
    """Draw the ground that a set of nodes stands on: a disc each, joined along the tree's edges.

    Unlike a hull, it takes in no node that is not a member. ``size`` is in points.
    """
    inside = ego.nodes["index"].isin(set(members))
    joined = ego.edges[ego.edges["tree"]]
    both = joined["source"].isin(ego.indices[inside]) & joined["target"].isin(ego.indices[inside])
    ground = LineCollection(
        segments(ego, joined[both]),
        colors=color,
        linewidths=size,
        capstyle="round",
        zorder=zorder,
    )
    ax.add_collection(ground)
    discs = ego.places[inside]
    ax.scatter(
        discs[:, 0], discs[:, 1], s=(1.3 * size) ** 2, color=color, linewidths=0, zorder=zorder
    )
    return ax


def free_place(
    ego: Ego, index: int, taken: Iterable[ArrayLike] = (), box: tuple[float, float] = (0.62, 0.4)
) -> NDArray[np.float64]:
    """Return a place near a node, shape (2,), for words that should cover neither node nor edge.

    Parameters
    ----------
    taken
        Places of other words.
    box
        Half width and half height of the words, in units of an edge.
    """
    along = np.linspace(0, 1, 9)[:, None]
    lines = [a + along * (b - a) for a, b in segments(ego, ego.edges)]
    things = np.concatenate([ego.places, *lines])
    others = np.array(list(taken), dtype=np.float64).reshape(-1, 2)
    home = ego.places[np.flatnonzero(ego.indices == index)[0]]
    strangers = ego.places[ego.indices != index]
    best: NDArray[np.float64] = home
    best_score = -np.inf
    for radius in (0.5, 0.65, 0.8, 1.0, 1.25, 1.5, 1.8):
        for angle in np.arange(24) * np.pi / 12:
            place = home + radius * np.array([np.cos(angle), np.sin(angle)])
            room = np.max(np.abs(things - place) / box, axis=1).min()
            if len(others):
                room = min(room, np.max(np.abs(others - place) / box, axis=1).min() / 2)
            leader = home + along * (place - home)
            gaps = np.linalg.norm(strangers[:, None] - leader[None], axis=2)
            if gaps.min(initial=np.inf) < 0.17:
                continue  # the line from the words to their node would touch another
            score = 4 * min(room, 1.0) - 0.3 * radius  # near, once there is room
            if score > best_score + 1e-12:
                best, best_score = place, score
    return best


def _neighbors(graph: Graph, node: int) -> NDArray[np.int64]:
    start, stop = graph.adjacency.indptr[node : node + 2]
    return graph.adjacency.indices[start:stop].astype(np.int64)


def _parents(inside: sp.csr_array, hops: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return for each node its neighbour nearest to the target, shape (k,); −1 for the target."""
    parents = np.full(len(hops), -1)
    for node in range(1, len(hops)):
        near = np.sort(inside.indices[inside.indptr[node] : inside.indptr[node + 1]])
        parents[node] = near[np.argmin(hops[near])]
    return parents


def _places(
    inside: sp.csr_array, hops: NDArray[np.int64], parents: NDArray[np.int64]
) -> NDArray[np.float64]:
    k = len(hops)
    if k == 1:
        return np.zeros((1, 2))
    distances = shortest_path(inside, unweighted=True)
    weights = np.zeros((k, k))
    far = distances > 0
    weights[far] = distances[far] ** -2.0
    graph_laplacian = np.diag(weights.sum(axis=1)) - weights
    # The target stays at the origin; without it the matrix is regular.
    inverse = np.linalg.inv(graph_laplacian[1:, 1:])
    places = _rings(hops, parents)
    for _ in range(STEPS):
        apart = places[:, None] - places[None]
        lengths = np.maximum(np.linalg.norm(apart, axis=2), 1e-9)
        pull = weights * distances / lengths
        wanted = (pull[:, :, None] * apart).sum(axis=1)
        places[1:] = inverse @ wanted[1:]
    return places


def _rings(hops: NDArray[np.int64], parents: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return places on circles around the target; a node's children share its sector."""
    k = len(hops)
    leaves = np.zeros(k)
    for node in reversed(range(k)):
        leaves[node] = max(leaves[node], 1)
        if parents[node] >= 0:
            leaves[parents[node]] += leaves[node]
    start, width = np.zeros(k), np.zeros(k)
    width[0] = 2 * np.pi
    used = np.zeros(k)
    for node in range(1, k):  # parents come before children
        parent = parents[node]
        of_children = leaves[parent] if leaves[parent] > 0 else 1
        width[node] = width[parent] * leaves[node] / of_children
        start[node] = start[parent] + used[parent]
        used[parent] += width[node]
    middle = start + width / 2
    return np.asarray(hops[:, None] * np.column_stack([np.cos(middle), np.sin(middle)]))
