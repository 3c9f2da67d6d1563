"""Section 3.1: how smooth labels and features are on the graphs (Eq. 6)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graphheat.graph import Graph
from graphheat.heat import laplacian, normalized_adjacency
from graphheat.paper.claims.claim import Claim, judge

PERMUTATIONS = 20


@dataclass(frozen=True)
class Smoothness:
    """xᵀLx / xᵀx of some signals, and the same after shuffling their values among the nodes.

    0 is as smooth as can be, 2 as rough; a signal that knows nothing of the edges is near 1.
    """

    observed: float
    permuted: float
    permuted_std: float

    @property
    def smooth(self) -> bool:
        """Whether the signals are smoother than shuffled ones by more than three deviations."""
        return self.permuted - self.observed > 3 * self.permuted_std

    def __str__(self) -> str:
        return f"{self.observed:.3f} against {self.permuted:.3f} ± {self.permuted_std:.3f}"


def smoothness(graph: Graph, signals: Any, *, seed: int = 0) -> Smoothness:
    """Measure how smooth signals are: tr(XᵀLX) / tr(XᵀX), beside 20 shuffles of the nodes.

    Parameters
    ----------
    signals
        Columns X, dense or sparse, shape (n, c).
    seed
        Of the shuffles.

    Examples
    --------
    >>> ends = Graph.from_scipy(np.kron(np.eye(2), [[0, 1.0], [1, 0]]))
    >>> smoothness(ends, np.array([[1.0], [1.0], [0.0], [0.0]])).observed
    0.0
    """
    upper = sp.coo_array(sp.triu(normalized_adjacency(graph.adjacency)))
    a, b = upper.coords
    weights = np.where(a == b, 1.0, 2.0) * upper.data  # S is symmetric: each edge counts twice
    X = sp.csr_array(signals, dtype=np.float64)
    norm = float((X.data**2).sum())

    def quotient(order: NDArray[np.int64]) -> float:
        # xᵀLx = xᵀx − xᵀSx, summed over columns: the rows of X at both ends of every edge.
        ends = (X[order[a]] * X[order[b]]).sum(axis=1)
        return 1.0 - float(weights @ np.asarray(ends).ravel()) / norm

    rng = np.random.default_rng(seed)
    shuffles = [quotient(rng.permutation(graph.n)) for _ in range(PERMUTATIONS)]
    return Smoothness(
        quotient(np.arange(graph.n)), float(np.mean(shuffles)), float(np.std(shuffles, ddof=1))
    )


def label_indicators(graph: Graph) -> sp.csr_array:
    """Return one column per class, 1 on its nodes, shape (n, c); rows without label are 0."""
    known = np.flatnonzero(graph.labels >= 0)
    places = (known, graph.labels[known])
    return sp.csr_array((np.ones(len(known)), places), shape=(graph.n, len(graph.classes)))


def smoothness_claims(graphs: Mapping[str, Graph]) -> list[Claim]:
    """Return the claims on labels, features and Eq. 6 for graphs by name."""
    detail = (
        "xᵀLx / xᵀx over all columns (0 smooth, 2 rough), against the mean ± std of "
        f"{PERMUTATIONS} shuffles of the nodes."
    )
    found = []
    for text, columns in (
        ("Labels are smooth: linked nodes tend to share them.", label_indicators),
        ("Features are smooth: linked nodes tend to have similar ones.", lambda g: g.features),
    ):
        measured = {
            name: smoothness(graph, columns(graph))
            for name, graph in graphs.items()
            if columns(graph) is not None
        }
        numbers = "; ".join(f"{name} {each}" for name, each in measured.items())
        verdict = judge(each.smooth for each in measured.values())
        found.append(Claim("3.1", text, numbers or "—", verdict, detail))
    return [*found, equation_6(graphs)]


def equation_6(graphs: Mapping[str, Graph]) -> Claim:
    """Return the claim that xᵀLx is the sum over edges, for a random signal."""
    numbers, right = [], []
    isolated_nodes = 0
    for name, graph in graphs.items():
        x = np.random.default_rng(0).standard_normal(graph.n)
        left = float(x @ (laplacian(graph.adjacency) @ x))
        degree = np.asarray(graph.adjacency.sum(axis=1), dtype=np.float64).ravel()
        scaled = np.divide(x, np.sqrt(degree), out=np.zeros(graph.n), where=degree > 0)
        edges = sp.coo_array(graph.adjacency)
        a, b = edges.coords
        over_edges = float((edges.data * (scaled[a] - scaled[b]) ** 2).sum()) / 2
        alone = float((x[degree == 0] ** 2).sum())
        isolated_nodes += int((degree == 0).sum())
        gap = abs(left - over_edges) / left
        numbers.append(f"{name} differs by {gap:.0e}" if gap > 1e-9 else f"{name} equal")
        right.append(gap < 1e-9)
        if not np.isclose(left, over_edges + alone, rtol=1e-9):
            # Isolated nodes are the only cause known; anything else is a defect of the Laplacian.
            right[-1] = False
            numbers[-1] += " (not by isolated nodes alone)"
    detail = "Relative difference of both sides for one random signal."
    if isolated_nodes:
        detail += (
            f" The formula L = I − D^-½AD^-½ gives the {isolated_nodes} isolated nodes L_ii = 1, "
            "but they have no edge in the sum."
        )
    text = "xᵀLx is the sum over edges of squared differences (Eq. 6)."
    return Claim("3.1", text, "; ".join(numbers) or "—", judge(right), detail)
