"""How much of a graph a page holds: all, or the part that most heat of chosen nodes reaches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graphheat.checks import check_count
from graphheat.graph import Graph
from graphheat.heat import HeatKernel

MAX_NODES = 50_000
MAX_EDGES = 500_000


@dataclass(frozen=True, eq=False)
class Part:
    """The nodes of a page.

    Attributes
    ----------
    rows
        Row numbers in the whole graph, ascending, shape (k,).
    adjacency
        Their edges, shape (k, k).
    degrees
        Their weighted degrees in the whole graph, shape (k,), or None when nothing was left out:
        with these S keeps its entries, and what flows out of the part is lost, not turned back.
    note
        A sentence for the reader, or None.
    """

    rows: NDArray[np.int64]
    adjacency: sp.csr_array
    degrees: NDArray[np.float64] | None
    note: str | None


def choose_part(
    graph: Graph,
    s: float,
    around: Sequence[Any] = (),
    *,
    max_nodes: int = MAX_NODES,
    max_edges: int = MAX_EDGES,
) -> Part:
    """Return the whole graph where it fits, otherwise the part around the chosen nodes.

    Parameters
    ----------
    around
        Node ids. A graph over the limits is cut to the nodes that get most of their heat; without
        a choice, of the node of the highest degree.
    s
        The time after which heat is compared, at least 1.

    Notes
    -----
    *Cost*: one e^{-sL}x. *Deterministic*: yes; ties go to the lower row number.
    """
    check_count(max_nodes, "max_nodes", "write_page")
    check_count(max_edges, "max_edges", "write_page")
    chosen = [graph.index_of(node) for node in around]
    adjacency = graph.adjacency
    upper = sp.triu(adjacency, format="coo")
    if graph.n <= max_nodes and upper.nnz <= max_edges:
        return Part(np.arange(graph.n), adjacency, None, None)
    degrees = np.asarray(adjacency.sum(axis=1), dtype=np.float64).ravel()
    seeds = chosen or [int(np.diff(adjacency.indptr).argmax())]
    signal = np.zeros(graph.n)
    signal[seeds] = 1.0
    heat = HeatKernel(graph, max(s, 1.0), tol=1e-8).apply(signal)
    heat[seeds] = np.inf
    rank = np.empty(graph.n, dtype=np.int64)
    rank[np.lexsort((np.arange(graph.n), -heat))] = np.arange(graph.n)
    # An edge comes in with the later of its ends; the part ends before an edge too many.
    arrival = np.sort(np.maximum(rank[upper.row], rank[upper.col]))
    size = min(max_nodes, graph.n)
    if len(arrival) > max_edges:
        size = min(size, max(int(arrival[max_edges]), 1))
    rows = np.flatnonzero(rank < size)
    named = ", ".join(str(graph.nodes[index]) for index in seeds[:3])
    more = f" and {len(seeds) - 3:,} more" if len(seeds) > 3 else ""
    how = "" if chosen else ", the node of highest degree"
    note = (
        f"A part of a larger graph: the {size:,} of {graph.n:,} nodes that most heat from "
        f"{named}{more}{how} reaches. Degrees are those of the whole graph; heat that leaves the "
        "part is lost, so weights near its rim are low."
    )
    return Part(rows, sp.csr_array(adjacency[rows][:, rows]), degrees[rows], note)
