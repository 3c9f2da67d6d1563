"""Rows of e^{-sL} for a model to learn from: local, certified, their largest entries alone.

To train, a model looks at the diffused features of a few nodes, which are rows of the kernel times
the features. A row by push costs what its tolerance asks for, however large the graph is; so here
the work is fixed, by counted edges, and the tolerance follows. With A + I in place of A and d its
degrees, Σ_w H_vw √(d_w / d_v) = 1 exactly: what the entries that are kept have of it is the share
of a node's heat that is accounted for. The rest is told, and a time of which too little is kept is
not offered.

References
----------
A. Bojchevski, J. Klicpera, B. Perozzi et al.: Scaling Graph Neural Networks with Approximate
PageRank, KDD 2020 (PPRGo), and W. Feng, Y. Dong, T. Huang et al.: GRAND+: Scalable Graph Random
Neural Networks, WWW 2022: training from the largest entries of sparse rows. K. Kloster, D. Gleich:
Heat Kernel Based Community Detection, KDD 2014: push for heat.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graphheat.disk import DiskGraph
from graphheat.graph import Graph
from graphheat.heat.engines.push.push import Push
from graphheat.heat.engines.push.walk import given_ranks, mapped_ranks
from graphheat.linear.diffusion import SELF_LOOPS

MOST_EDGES = 50_000  # that a row may push over on average
TOP = 1024  # entries of a row that are kept
LEAST_KEPT = 0.5  # share of the heat that a time must account for to be offered
COARSEST, FINEST, FINER = 0.05, 1e-6, 0.4  # tolerances, and from one to the next
PROBES = 8  # nodes by which the tolerance is found
STRIP = 64  # rows at a time


class RowsOf(NamedTuple):
    """Rows of the kernel of some nodes at one time.

    Attributes
    ----------
    rows
        Shape (k, n), each divided by its sum.
    kept
        The share of each node's heat that they account for, shape (k,), in [0, 1].
    tol
        What no entry of e^{-sL} is off by, before the division.
    """

    rows: sp.csr_array
    kept: NDArray[np.float64]
    tol: float


class HeatRows:
    """Rows of e^{-sL} of one graph with a self-loop at every node, for any time.

    Parameters
    ----------
    graph
        In memory or on disk.
    threads
        Threads for many rows. The result does not depend on it.

    Notes
    -----
    *Accuracy*: every entry within the tolerance that 50,000 pushed edges per row allow; the
    largest 1,024 entries are kept. *Cost*: memory for 44 bytes per node and thread, and then what
    the pushed edges cost, whatever n. *Deterministic*: yes. *Isolated nodes*: keep their heat.

    Examples
    --------
    >>> import graphheat
    >>> graph = graphheat.datasets.block_model(300, 3, seed=0)
    >>> found = HeatRows(graph).of(np.array([4, 7]), s=1.0)
    >>> found.rows.shape, bool(found.kept.min() > 0.99)
    ((2, 300), True)
    """

    def __init__(self, graph: Graph | DiskGraph, *, threads: int = 1) -> None:
        self.n = graph.n
        self._ranks = (
            mapped_ranks(graph, SELF_LOOPS)
            if isinstance(graph, DiskGraph)
            else given_ranks(graph.adjacency, SELF_LOOPS)
        )
        self._push = Push(self._ranks, 1.0, COARSEST, threads=threads)
        self._tolerances: dict[float, float] = {}

    def tolerance(self, s: float, nodes: NDArray[np.int64]) -> float:
        """Return the finest tolerance for which rows of ``nodes`` stay within the work."""
        if s not in self._tolerances:
            probes = nodes[np.linspace(0, len(nodes) - 1, min(PROBES, len(nodes))).astype(int)]
            tol = COARSEST
            while tol * FINER >= FINEST:
                push = self._push.retimed(s, tol * FINER)
                push.rows(probes, 1.0)
                if push.edges_pushed > MOST_EDGES * len(probes):
                    break
                tol *= FINER
            self._tolerances[s] = tol
        return self._tolerances[s]

    def offered(self, times: NDArray[np.float64], nodes: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the times at which rows account for enough heat; the shortest ones always."""
        probes = nodes[np.linspace(0, len(nodes) - 1, min(PROBES, len(nodes))).astype(int)]
        for k, s in enumerate(times):
            # Longer times keep less: the first that keeps too little ends the list.
            if k >= 2 and float(self.of(probes, s).kept.mean()) < LEAST_KEPT:
                return times[:k]
        return times

    def of(self, nodes: NDArray[np.int64], s: float) -> RowsOf:
        """Return the rows of ``nodes``, row numbers, shape (k,), at time ``s``."""
        if s == 0:
            here = np.arange(len(nodes))
            units = sp.csr_array((np.ones(len(nodes)), (here, nodes)), shape=(len(nodes), self.n))
            return RowsOf(units, np.ones(len(nodes)), 0.0)
        tol = self.tolerance(s, nodes)
        push = self._push.retimed(s, tol)
        columns, values, counts, kept = [], [], [], []
        for a in range(0, len(nodes), STRIP):
            found = push.rows(nodes[a : a + STRIP])[0]
            for k, node in enumerate(nodes[a : a + STRIP]):
                part = slice(found.indptr[k], found.indptr[k + 1])
                heat, at = found.data[part].astype(np.float64), found.indices[part]
                if len(heat) > TOP:
                    largest = np.sort(np.argpartition(-heat, TOP)[:TOP])
                    heat, at = heat[largest], at[largest]
                places = self._ranks.rank[at]
                ratio = self._ranks.degrees[places] / self._ranks.degrees[self._ranks.rank[node]]
                share = float(heat @ np.sqrt(ratio))
                columns.append(at)
                values.append(heat / heat.sum())
                counts.append(len(at))
                kept.append(min(share, 1.0))
        indptr = np.concatenate([[0], np.cumsum(counts)])
        parts = np.concatenate(values), np.concatenate(columns), indptr
        return RowsOf(sp.csr_array(parts, shape=(len(nodes), self.n)), np.array(kept), tol)
