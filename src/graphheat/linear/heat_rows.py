"""Rows of e^{-sL} for a model to learn from: local, certified, their largest entries alone.

To train, a model looks at the diffused features of a few nodes, which are rows of the kernel times
the features. A row by push costs what its tolerance asks for, however large the graph is; so here
the work is fixed, by counted edges, and the tolerance follows. With A + I in place of A and d its
degrees, Σ_w H_vw √(d_w / d_v) = 1 exactly: what the entries that are kept have of it is the share
of a node's heat that is accounted for. The rest is told, and random walks stand for it
(:mod:`graphheat.linear.heat_walks`); where these cannot be had, a time of which too little is kept
is not offered.

References
----------
A. Bojchevski, J. Klicpera, B. Perozzi et al.: Scaling Graph Neural Networks with Approximate
PageRank, KDD 2020 (PPRGo), and W. Feng, Y. Dong, T. Huang et al.: GRAND+: Scalable Graph Random
Neural Networks, WWW 2022: training from the largest entries of sparse rows. K. Kloster, D. Gleich:
Heat Kernel Based Community Detection, KDD 2014: push for heat.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graphheat.disk import DiskGraph
from graphheat.graph import Graph
from graphheat.heat.engines.cluster.block_step import graph_at
from graphheat.heat.engines.cluster.cluster import Cluster
from graphheat.heat.engines.push.push import Push
from graphheat.heat.engines.push.walk import given_ranks, mapped_ranks
from graphheat.linear.diffusion import SELF_LOOPS
from graphheat.linear.heat_walks import HeatWalks

MOST_EDGES = 50_000  # that a row may push over on average
TOP = 1024  # entries of a row that are kept
SURE = 5.0  # tolerances that an entry must have to be kept beside walks
LEAST_MISSING = 0.005  # share of the heat that walks are sent for
LEAST_KEPT = 0.5  # share of the heat that a time must account for to be offered, without walks
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
        The share of each node's heat that certified entries account for, shape (k,), in [0, 1].
    tol
        What no certified entry of e^{-sL} is off by, before the division.
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
    cluster
        Who computes rows of a graph on disk, by batches; None: this process.

    Notes
    -----
    *Accuracy*: the largest 1,024 entries, within the tolerance that 50,000 pushed edges per row
    allow; 4,096 walks for the others, unbiased. *Cost*: memory for 44 bytes per node and thread,
    and then what the pushed edges and the steps of walks cost, whatever n. *Deterministic*: yes.
    *Isolated nodes*: keep their heat.

    Examples
    --------
    >>> import graphheat
    >>> graph = graphheat.datasets.block_model(300, 3, seed=0)
    >>> found = HeatRows(graph).of(np.array([4, 7]), s=1.0)
    >>> found.rows.shape, bool(found.kept.min() > 0.99)
    ((2, 300), True)
    """

    def __init__(
        self, graph: Graph | DiskGraph, *, threads: int = 1, cluster: Cluster | None = None
    ) -> None:
        self.n, self.cluster = graph.n, cluster
        self._graph = graph
        self._ranks = (
            mapped_ranks(graph, SELF_LOOPS)
            if isinstance(graph, DiskGraph)
            else given_ranks(graph.adjacency, SELF_LOOPS)
        )
        self._push = Push(self._ranks, 1.0, COARSEST, threads=threads)
        self._walks = HeatWalks(self._ranks)
        self._tolerances: dict[float, float] = {}

    @property
    def walks(self) -> bool:
        """Whether walks stand for what certified entries lack."""
        return self._walks.possible

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

    def at(self, s: float, tol: float) -> HeatRows:
        """Return this, with the tolerance that was found for a time elsewhere."""
        self._tolerances[s] = tol
        return self

    def offered(self, times: NDArray[np.float64], nodes: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the times at which certified entries have enough heat; the shortest ones always.

        Where there are walks for the rest, :class:`~graphheat.linear.row_diffusion.RowDiffusion`
        knows better.
        """
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
        if self.cluster is not None and len(nodes) > STRIP:
            return self._by_workers(self.cluster, nodes, s, tol)
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
                at, heat, share = self._completed(int(node), s, tol, at, heat)
                columns.append(at)
                values.append(heat / heat.sum())
                counts.append(len(at))
                kept.append(min(share, 1.0))
        indptr = np.concatenate([[0], np.cumsum(counts)])
        parts = np.concatenate(values), np.concatenate(columns), indptr
        return RowsOf(sp.csr_array(parts, shape=(len(nodes), self.n)), np.array(kept), tol)

    def _completed(
        self, node: int, s: float, tol: float, at: NDArray[Any], heat: NDArray[np.float64]
    ) -> tuple[NDArray[Any], NDArray[np.float64], float]:
        """Return entries and their values, with others for what they lack, and their own share."""
        ranks, place = self._ranks, int(self._ranks.rank[node])
        weights = np.sqrt(ranks.degrees[ranks.rank[at]] / ranks.degrees[place])
        share = float(heat @ weights)
        if 1.0 - share < LEAST_MISSING or not self._walks.possible:
            return at, heat, share
        # Push leaves heat out of every entry. Of small ones that may be most of it: walks, which
        # would not count where an entry is kept, had better stand for these altogether.
        sure = heat >= SURE * tol
        at, heat, weights = at[sure], heat[sure], weights[sure]
        share = float(heat @ weights)
        ends, parts = self._walks.outside(place, s, ranks.rank[at])
        more = (1.0 - share) * parts * np.sqrt(ranks.degrees[place] / ranks.degrees[ends])
        nodes = ranks.order[ends].astype(at.dtype)
        return np.concatenate([at, nodes]), np.concatenate([heat, more]), share

    def _by_workers(
        self, cluster: Cluster, nodes: NDArray[np.int64], s: float, tol: float
    ) -> RowsOf:
        assert isinstance(self._graph, DiskGraph)
        path, same = str(Path(self._graph.path).resolve()), self._graph.fingerprint
        tasks = [
            _Batch(path, same, nodes[a : a + STRIP], s, tol) for a in range(0, len(nodes), STRIP)
        ]
        found: list[RowsOf] = cluster.run(_rows_of_batch, tasks)
        rows = sp.csr_array(sp.vstack([each.rows for each in found]))
        return RowsOf(rows, np.concatenate([each.kept for each in found]), tol)


class _Batch(NamedTuple):
    """Nodes whose rows a worker computes; small."""

    graph: str
    fingerprint: str
    nodes: NDArray[np.int64]
    s: float
    tol: float


def _rows_of_batch(task: _Batch) -> RowsOf:
    return rows_at(task.graph, task.fingerprint).at(task.s, task.tol).of(task.nodes, task.s)


@lru_cache(maxsize=1)
def rows_at(path: str, fingerprint: str) -> HeatRows:
    """Return the rows of a graph on disk, prepared once per process."""
    return HeatRows(graph_at(path, fingerprint))
