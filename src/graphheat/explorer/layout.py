"""Where each node goes on the page: heat gives the start, forces refine it, components are packed.

A component's start is what heat makes of random columns: after a long time only the smooth ones
of its eigenvectors are left, so that nodes which heat connects start side by side. Forces then pull
along edges and push between all nodes; on large components the push goes through a grid
(:mod:`graphheat.explorer.mesh`), on small ones from node to node. Small components are laid out by
themselves and set in rings around the largest.
"""

from __future__ import annotations

import math

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from graphheat.checks import check_seed
from graphheat.explorer.mesh import Points, repulsion
from graphheat.graph import Graph
from graphheat.heat import HeatKernel
from graphheat.heat.engines import ONE_OFF

PAIRWISE = 500  # nodes up to which a component's push goes from node to node
START_TIME = 40.0  # s of the heat that smooths the start
COLUMNS = 12  # random columns that it smooths
GRAVITY = 0.05  # more of it makes a disc, less lets tendrils grow
APART = 0.5  # least distance to aim at, where a node has about one unit of area
APART_STEPS = 12
MASS_POWER = 0.75  # of the degree: hubs make room around them


def lay_out(graph: Graph | sp.csr_array, *, seed: int = 0) -> NDArray[np.float32]:
    """Return a place for every node, shape (n, 2), within [0, 1]².

    Parameters
    ----------
    graph
        A graph, or its symmetric adjacency matrix, shape (n, n); weights play no part.
    seed
        The start's random columns; another seed turns and mirrors, and may settle elsewhere.

    Notes
    -----
    *Cost*: ``O(n + |E|)`` per step and a few hundred steps; Pubmed takes seconds. *Deterministic*:
    yes, to the bit on the same machine. *Isolated nodes*: each is a component, in the outermost
    ring.

    Examples
    --------
    >>> ring = np.roll(np.eye(6), 1, axis=0) + np.roll(np.eye(6), -1, axis=0)
    >>> lay_out(Graph.from_scipy(ring)).shape
    (6, 2)
    """
    check_seed(seed)
    adjacency = graph.adjacency if isinstance(graph, Graph) else sp.csr_array(graph)
    adjacency = sp.csr_array(
        (np.ones(adjacency.nnz), adjacency.indices, adjacency.indptr), shape=adjacency.shape
    )
    n = adjacency.shape[0]
    count, member = connected_components(adjacency, directed=False)
    sizes = np.bincount(member, minlength=count)
    by_size = np.lexsort((np.arange(count), -sizes))  # ties by the first node
    order = np.argsort(member, kind="stable")
    starts = np.concatenate([[0], np.cumsum(sizes)])
    parts: list[Points] = []
    for component in by_size:
        nodes = order[starts[component] : starts[component + 1]]
        parts.append(_place_component(adjacency, nodes, seed))
    places = np.empty((n, 2))
    for component, centre, part in zip(by_size, _packed(parts), parts, strict=True):
        places[order[starts[component] : starts[component + 1]]] = centre + part
    return _unit_square(places)


def _place_component(adjacency: sp.csr_array, nodes: NDArray[np.int64], seed: int) -> Points:
    """Return a component's places around (0, 0), about one unit of area per node."""
    size = len(nodes)
    if size == 1:
        return np.zeros((1, 2))
    if size == 2:
        return np.array([[-0.5, 0.0], [0.5, 0.0]])
    part = sp.csr_array(adjacency[nodes][:, nodes])
    places = _start(part, seed)
    places = _by_forces(part, places)
    places = _drawn_in(places - places.mean(axis=0))
    room = 1.35 if size > PAIRWISE else 1.0  # the main picture gets more than the fringe
    places = places * (room * math.sqrt(size / math.pi) / _typical_radius(places))
    return _apart(places, seed)


def _start(part: sp.csr_array, seed: int) -> Points:
    """Return the two leading directions of smoothed random columns, spread over a disc."""
    n = part.shape[0]
    columns = np.random.default_rng(seed).standard_normal((n, COLUMNS))
    root = np.sqrt(np.asarray(part.sum(axis=1)).ravel())
    # D^{1/2}1 is what heat tends to everywhere: it says nothing of where a node is.
    columns -= np.outer(root, root @ columns) / (root @ root)
    kernel = HeatKernel(part, START_TIME, tol=1e-3, engine=ONE_OFF)
    smooth = kernel.apply(columns) / root[:, None]
    smooth -= smooth.mean(axis=0)
    _, vectors = np.linalg.eigh(smooth.T @ smooth)
    flat = smooth @ vectors[:, -2:][:, ::-1]
    signs = np.sign(flat[np.abs(flat).argmax(axis=0), [0, 1]])  # eigenvectors have no sign
    ranks = np.argsort(np.argsort(flat * signs, axis=0, kind="stable"), axis=0, kind="stable")
    # By rank: a few far nodes would otherwise press all others into one spot.
    square = (ranks + 0.5) / n * 2.0 - 1.0
    x, y = square.T
    return math.sqrt(n) * np.column_stack([x * np.sqrt(1 - y * y / 2), y * np.sqrt(1 - x * x / 2)])


def _by_forces(part: sp.csr_array, places: Points) -> Points:
    """Return the places after the forces have had their way, on finer and finer grids.

    Edges pull like springs, masses push like 1/distance, and gravity holds the whole together;
    steps grow shorter until nothing moves.
    """
    n = part.shape[0]
    ends, counts = part.indices, np.diff(part.indptr)
    starts = np.repeat(np.arange(n), counts)
    degree = np.maximum(counts, 1).astype(np.float64)
    mass = (1.0 + degree) ** MASS_POWER
    stages = _stages(n)
    total, done = sum(steps for _, steps in stages), 0
    for cells, steps in stages:
        for _ in range(steps):
            push = _pairwise(places, mass) if cells == 0 else repulsion(places, mass, cells)
            force = mass[:, None] * (push - GRAVITY * places)
            for axis in (0, 1):
                pull = places[ends, axis] - places[starts, axis]
                force[:, axis] += np.bincount(starts, weights=pull, minlength=n)
            left = 1.0 - done / total
            spread = math.sqrt(float((places * places).sum(axis=1).mean()))
            longest = spread * (0.15 * left * left + 0.002)
            step = force / (degree + mass)[:, None]
            length = np.sqrt((step * step).sum(axis=1, keepdims=True)) + 1e-12
            places = places + step * np.minimum(1.0, longest / length)
            places -= places.mean(axis=0)
            done += 1
    return places


def _stages(n: int) -> list[tuple[int, int]]:
    """Return (cells, steps) of each stage; 0 cells: from node to node."""
    if n <= PAIRWISE:
        return [(0, 60 if n < 20 else 150)]
    side = 2 ** math.ceil(math.log2(math.sqrt(n)))
    return [(max(64, min(side << k, 512)), steps) for k, steps in enumerate((90, 90, 60))]


def _pairwise(places: Points, mass: NDArray[np.float64]) -> Points:
    apart = places[:, None, :] - places[None, :, :]
    square = (apart * apart).sum(axis=2) + 0.01
    force: Points = (apart * (mass[None, :] / square)[:, :, None]).sum(axis=1)
    return force


def _apart(places: Points, seed: int) -> Points:
    """Return the places with nodes that lie on each other moved aside.

    Twins, such as the leaves of one hub, feel the same forces and end on one spot.
    """
    random = np.random.default_rng(seed)
    places = places + random.uniform(-0.05, 0.05, places.shape)
    for _ in range(APART_STEPS):
        pairs = cKDTree(places).query_pairs(APART, output_type="ndarray")
        if not len(pairs):
            break
        a, b = pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))].T
        between = places[a] - places[b]
        length = np.sqrt((between * between).sum(axis=1)) + 1e-9
        push = between * (0.3 * (APART - length) / length)[:, None]
        for axis in (0, 1):
            moved = np.bincount(a, weights=push[:, axis], minlength=len(places))
            moved -= np.bincount(b, weights=push[:, axis], minlength=len(places))
            places[:, axis] += np.clip(moved, -APART, APART)
    return places


def _typical_radius(places: Points) -> float:
    distance = np.sqrt((places * places).sum(axis=1))
    return float(np.quantile(distance, 0.9)) or 1.0


def _drawn_in(places: Points) -> Points:
    """Return the places with far tendrils shortened: beyond the 95 % radius by the root."""
    distance = np.sqrt((places * places).sum(axis=1))
    edge = float(np.quantile(distance, 0.95)) or 1.0
    wanted = np.where(distance > edge, edge * np.sqrt(np.maximum(distance, edge) / edge), distance)
    shrunk: Points = places * (wanted / np.maximum(distance, 1e-12))[:, None]
    return shrunk


def _packed(parts: list[Points]) -> Points:
    """Return a centre for every part, largest first: rings of discs around the first."""
    radii = [float(np.sqrt((part * part).sum(axis=1)).max(initial=0.0)) + 0.7 for part in parts]
    centres = np.zeros((len(parts), 2))
    inner, k = radii[0], 1
    while k < len(parts):
        ring = inner + radii[k]  # the ring's widest disc comes first
        angle, first = 0.0, k
        while k < len(parts):
            need = 2.0 * math.asin(min(1.0, radii[k] / ring))
            if k > first and angle + need > 2.0 * math.pi:
                break
            centres[k] = ring * math.cos(angle + need / 2), ring * math.sin(angle + need / 2)
            angle += need
            k += 1
        # What is left of the circle is shared out between the discs of the ring.
        turn = (2.0 * math.pi - angle) / (k - first) * np.arange(k - first)
        x, y = centres[first:k].T.copy()
        centres[first:k, 0] = x * np.cos(turn) - y * np.sin(turn)
        centres[first:k, 1] = x * np.sin(turn) + y * np.cos(turn)
        inner = ring + radii[first]
    return centres


def _unit_square(places: Points) -> NDArray[np.float32]:
    low, span = places.min(axis=0), float(np.ptp(places, axis=0).max(initial=0.0)) or 1.0
    margin = (1.0 - np.ptp(places, axis=0) / span) / 2.0
    return np.asarray((places - low) / span + margin, dtype=np.float32)
