"""Which nodes an answer about a node would tell of: their likeness, by heat and by features.

Likeness of nodes u and v is the mean of

- the correlation of their heat, H_uv / √(H_uu H_vv) with H = e^{-10 L}, and
- the cosine of their diffused features, s = 5, less their mean; 0 where it is negative;

the first alone where there are no features. Both are 1 of a node with itself.

Notes
-----
*Accuracy*: heat to 1e-6; of more than 512 features as many random directions are taken
(Johnson and Lindenstrauss). *Cost*: a column of the kernel per node of the pool, so that of a large
graph a random pool of nodes stands for all. *Deterministic*: yes, for a seed. *Isolated nodes*: are
like no other but by their features.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphheat.features import Scaling, suitable_scaling
from graphheat.graph import Graph
from graphheat.heat import HeatKernel
from graphheat.heat.engines import ONE_OFF
from graphheat.linear.diffusion import SELF_LOOPS, Diffusion

Codes = NDArray[np.int64]
Likeness = NDArray[np.float32]

HEAT_S, FEATURE_S = 10.0, 5.0
TOL = 1e-6
WIDTH = 512  # random directions that stand for more features
MOST, LEAST = 4000, 128  # nodes of the pool
WORK = 4e9  # multiply-adds that columns of the kernel may take
ORDER = 20  # of the kernel's series, about
STRIP_BYTES = 3e8  # of columns at a time


class Reach:
    """Likeness of any nodes to a pool of nodes that stands for the graph.

    Parameters
    ----------
    graph
        Its labels are not looked at.
    wanted
        Row numbers that the pool is drawn from, rising; default: all.
    seed
        Of the pool's draw, where the graph is too large to be its own pool.

    Attributes
    ----------
    pool
        Row numbers, rising, shape (p,): all of ``wanted`` up to 4,000.
    """

    def __init__(
        self,
        graph: Graph,
        *,
        wanted: Codes | None = None,
        seed: int = 0,
        threads: int | None = None,
    ) -> None:
        self.graph, self.threads, self._seed = graph, threads, seed
        nodes = np.arange(graph.n) if wanted is None else wanted
        affordable = WORK / (ORDER * (graph.adjacency.nnz + graph.n))
        most = int(min(MOST, max(LEAST, affordable)))
        if len(nodes) > most:
            nodes = np.sort(np.random.default_rng(seed).choice(nodes, most, replace=False))
        self.pool: Codes = nodes.astype(np.int64)
        self._kernel = HeatKernel(
            graph, HEAT_S, tol=TOL, self_loops=SELF_LOOPS, engine=ONE_OFF, threads=threads
        )
        self._known: dict[int, Likeness] = {}

    @property
    def share(self) -> float:
        """How many nodes of the graph each of the pool stands for."""
        return self.graph.n / max(len(self.pool), 1)

    @cached_property
    def within(self) -> Likeness:
        """Likeness of the pool's nodes to one another, shape (p, p)."""
        heat = self._columns(self.pool)
        self._own = np.diag(heat).copy()
        return self._likeness(self.pool, heat, self._own)

    def to(self, nodes: Codes) -> Likeness:
        """Return the likeness of some nodes to those of the pool, shape (k, p)."""
        within = self.within
        place = np.searchsorted(self.pool, nodes)
        place = np.minimum(place, len(self.pool) - 1)
        held = self.pool[place] == nodes
        new = [int(node) for node in nodes[~held] if int(node) not in self._known]
        if new:
            rows = np.array(new, dtype=np.int64)
            own = np.empty(len(rows))
            heat = self._columns(rows, own)
            for node, row in zip(new, self._likeness(rows, heat, own), strict=True):
                self._known[node] = row
        found = within[place].copy()
        for k in np.flatnonzero(~held):
            found[k] = self._known[int(nodes[k])]
        return found

    def _columns(self, nodes: Codes, own: NDArray[np.float64] | None = None) -> Likeness:
        """Return heat from ``nodes`` at the pool, shape (k, p), and put H_uu in ``own``."""
        found = np.empty((len(nodes), len(self.pool)), dtype=np.float32)
        width = max(1, int(STRIP_BYTES // (8 * self.graph.n)))
        for a in range(0, len(nodes), width):
            some = nodes[a : a + width]
            units = np.zeros((self.graph.n, len(some)), dtype=np.float32)
            units[some, np.arange(len(some))] = 1.0
            heat = np.asarray(self._kernel.apply(units))
            found[a : a + width] = np.maximum(heat[self.pool], 0.0).T
            if own is not None:
                own[a : a + width] = heat[some, np.arange(len(some))]
        return found

    def _likeness(self, nodes: Codes, heat: Likeness, own: NDArray[Any]) -> Likeness:
        tiny = np.finfo(np.float32).tiny
        scale = np.sqrt(np.maximum(own, tiny))
        like = heat / np.maximum(scale[:, None] * np.sqrt(np.maximum(self._own, tiny)), tiny)
        if self._places is not None:
            cosine = self._places[nodes] @ self._places[self.pool].T
            like = 0.5 * (like + np.maximum(cosine, 0.0))
        result: Likeness = np.minimum(like, 1.0).astype(np.float32)
        return result

    @cached_property
    def _places(self) -> Likeness | None:
        """Diffused features less their mean, each row of length 1, shape (n, f); or None."""
        graph = self.graph
        if graph.features is None or not graph.features.shape[1]:
            return None
        scaling = Scaling.learn(graph.features, suitable_scaling(graph))
        diffusion = Diffusion(graph, scaling, threads=self.threads)
        block = diffusion.features
        if block.shape[1] > WIDTH:
            random = np.random.default_rng(self._seed).normal(size=(block.shape[1], WIDTH))
            block = np.asarray(block @ random) / math.sqrt(WIDTH)
        elif not isinstance(block, np.ndarray):
            block = block.toarray()
        rows = diffusion.spread(block, FEATURE_S)
        rows -= rows.mean(axis=0)
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        lengths[lengths < 1e-6 * max(float(lengths.max(initial=0.0)), 1e-300)] = np.inf
        places: Likeness = (rows / lengths).astype(np.float32)
        return places
