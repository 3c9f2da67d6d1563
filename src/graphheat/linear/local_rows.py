"""Rows of the heat kernel of a few nodes of a large graph, with what they may lack.

Push computes a row from below: exact − returned ≥ 0 in every column, rounding aside. And heat is
conserved: Σ_w √d_w H_vw = √d_v, as D^{1/2}1 is a fixed point of e^{-sL}. So what a row lacks is
known once it is there,

    m_v = √d_v − Σ_w √d_w H̃_vw,

whatever the degrees of its surroundings were before the graph grew: any sum Σ_w H_vw p_w over the
row is off by at most m_v · max_w |p_w| / √d_w.

References
----------
K. Kloster, D. F. Gleich: Heat Kernel Based Community Detection, KDD 2014 (hk-relax).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graphheat.graph import Graph
from graphheat.heat import HeatKernel

Array = NDArray[np.float64]

SELF_LOOPS = 1.0  # as all heat of the linear models has them
TOL = 1e-8  # of a row, in every column
WHOLE = 1e9  # multiply-adds of the whole graph below which nobody waits for it: some seconds
ORDER = 40  # of a series, about
HOPELESS = 0.05  # of a row's heat, in units of √d
EXACT_ENOUGH = 0.005  # of a probability: beyond it the whole graph is computed


@dataclass(frozen=True, eq=False)
class LocalRows:
    """Rows of e^{-sL} with self-loops, shape (k, n), each entry at most what it should be.

    Attributes
    ----------
    heat
        The rows.
    lacking
        m of each row, shape (k,).
    degrees
        d of all nodes, self-loops included, shape (n,).
    """

    heat: sp.csr_array
    lacking: Array
    degrees: Array

    @classmethod
    def of(cls, graph: Graph, rows: NDArray[np.int64], s: float) -> LocalRows | None:
        """Compute rows of the kernel; only what heat reaches from them is visited.

        None where they lack so much that no use could be made of them.

        Examples
        --------
        >>> import graphheat
        >>> graph = graphheat.datasets.block_model(300, 3, seed=0)
        >>> found = LocalRows.of(graph, np.array([5]), 1.0)
        >>> exact = HeatKernel(graph, 1.0, tol=1e-12, self_loops=SELF_LOOPS).row(5).toarray()
        >>> off = np.abs(exact - found.heat.toarray()).sum()
        >>> bool(off <= found.lacking[0] + 1e-9)
        True
        """
        kernel = HeatKernel(graph, s, tol=TOL, self_loops=SELF_LOOPS, engine="push")
        degrees: Array = graph.adjacency.sum(axis=1).astype(np.float64) + SELF_LOOPS
        root = np.sqrt(degrees)
        # Where heat is everywhere after s, one row tells so, and the others need not be tried.
        for tried in (rows[:1], rows):
            heat = kernel.rows(tried).astype(np.float64)
            lacking = np.maximum(root[tried] - heat @ root, 0.0)
            if lacking.max(initial=0.0) > HOPELESS:
                return None
        return cls(heat, lacking, degrees)

    def error(self, values: Array) -> Array:
        """Return how far Σ_w H_vw values_w may be off, shape (k,) or (k, c)."""
        most = np.abs(values / np.sqrt(self.degrees).reshape(-1, *[1] * (values.ndim - 1)))
        largest = most.max(axis=0)
        return np.asarray(np.multiply.outer(self.lacking, largest))


def is_local(graph: Graph, rows: int, columns: int) -> bool:
    """Tell whether rows are to be tried: few of them, on a graph whose whole would take long."""
    whole = ORDER * (graph.adjacency.nnz + graph.n) * float(columns)
    return whole > WHOLE and rows <= columns * ORDER


def note(rows: int, error: float) -> str:
    """Return a sentence on how accurate local rows were."""
    return (
        f"Labelled locally, by the rows of the heat kernel of {rows:,} nodes alone: probabilities "
        f"are within {error:.1g} of those that the whole graph gives."
    )
