"""Random walks for what push leaves out: the tail of a row of e^{-sL}, without a bias.

With P = D^{-1}A, [e^{-sL}]_vw = √(d_v / d_w) · P(a walk from v of Poisson(s) steps ends at w). A
push within a fixed work finds the large entries, certified; where neighbourhoods are wide, the rest
is spread over so many nodes that each is below the tolerance, and together they are most of the
heat. To drop them makes a row that is more like its own node than the exact one is. Here walks that
end outside the entries that are kept stand for all that is outside, and are given the mass that is
known to be missing: what they bring a node has the right mean, and an error that falls with the
root of their number, however wide the neighbourhoods and however large the graph.

References
----------
R. Yang, X. Xiao, Z. Wei et al.: Efficient Estimation of Heat Kernel PageRank for Local Clustering,
SIGMOD 2019 (TEA): walks from what push leaves. S. Wang, R. Yang, X. Xiao et al.: FORA, KDD 2017.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import pdtr

from graphheat.heat.engines.push.walk import Ranked

WALKS = 4096  # of a row
WIDEST = 256.0  # entries that a weighted step may look at, on average: it goes through a row


class HeatWalks:
    """Walks of Poisson(s) steps on one graph.

    Parameters
    ----------
    ranks
        The graph, with a self-loop at every node.

    Notes
    -----
    *Accuracy*: unbiased; lengths are quantiles of their distribution, so that only where a walk
    goes is left to chance. *Cost*: s steps per walk, whatever n. *Deterministic*: yes; what is
    drawn depends on the node and on s alone.
    """

    def __init__(self, ranks: Ranked) -> None:
        self._ranks = ranks
        self.possible = not len(ranks.edges.chances) or _passed(ranks) <= WIDEST

    def ends(self, place: int, s: float) -> NDArray[np.int64]:
        """Return the places where walks from a place end, shape (walks,)."""
        from graphheat.linear.walk_loops import walk

        found = np.empty(WALKS, dtype=np.int64)
        seed = (int(place) << 20) ^ round(1000 * s)
        walk(self._ranks.edges, self._ranks.degrees, place, self._lengths(s), seed, found)
        return found

    def outside(
        self, place: int, s: float, kept: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return where walks end that end at none of the places ``kept``, and the share of each."""
        ends, counts = np.unique(self.ends(place, s), return_counts=True)
        other = ~np.isin(ends, kept)
        return ends[other], counts[other] / max(1, counts[other].sum())

    @staticmethod
    @lru_cache(maxsize=16)
    def _lengths(s: float) -> NDArray[np.int64]:
        """Return steps of walks, falling, shape (walks,)."""
        quantiles = (np.arange(WALKS)[::-1] + 0.5) / WALKS
        possible = np.arange(int(s + 12.0 * s**0.5) + 24)
        return np.searchsorted(pdtr(possible, s), quantiles)


def _passed(ranks: Ranked) -> float:
    """Return the entries of a row that a walk passes through, on average."""
    counts = np.diff(ranks.edges.indptr).astype(np.float64)
    return float((counts * ranks.degrees).sum() / ranks.degrees.sum())
