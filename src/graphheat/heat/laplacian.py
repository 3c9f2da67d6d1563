"""Laplacians of a graph: the paper's normalised one, and others that filters may use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import scipy.sparse as sp

from graphheat.checks import check_choice

Isolated = Literal["paper", "keep"]
LaplacianKind = Literal[
    "normalized", "random_walk", "combinatorial", "signless", "normalized_signless"
]


@dataclass(frozen=True)
class Laplacian:
    """Which Laplacian of a graph.

    With degrees D, S = D^{-1/2} A D^{-1/2} and the self-loops added to A first:

    =====================  ===================  ===========================================
    kind                   L                    spectrum in
    =====================  ===================  ===========================================
    normalized             I − S                [0, 2]
    random_walk            I − D^{-1}A          [0, 2], that of the normalised one
    combinatorial          D − A                [0, b], b a bound that is proven
    signless               D + A                [0, b]
    normalized_signless    I + S                [0, 2]
    =====================  ===================  ===========================================

    Attributes
    ----------
    kind
        One of the table's.
    self_loops
        Weight added to every diagonal entry of A first; D − A does not change by it.
    isolated
        What a node without edges has where degrees divide; see :func:`normalized_adjacency`.
    """

    kind: LaplacianKind = "normalized"
    self_loops: float = 0.0
    isolated: Isolated = "paper"

    def __post_init__(self) -> None:
        check_choice(self.kind, "laplacian", "GraphFilter", get_args(LaplacianKind))

    @property
    def divided(self) -> bool:
        """Whether degrees divide, so that the spectrum is in [0, 2]."""
        return self.kind not in ("combinatorial", "signless")

    @property
    def sign(self) -> float:
        """−1 where A is added in place of subtracted."""
        return -1.0 if self.kind in ("signless", "normalized_signless") else 1.0


def normalized_adjacency(
    adjacency: sp.csr_array, *, self_loops: float = 0.0, isolated: Isolated = "paper"
) -> sp.csr_array:
    """Return S = I − L = D^{-1/2} A D^{-1/2}, shape (n, n), float64; its spectrum is in [−1, 1].

    Parameters
    ----------
    adjacency
        Symmetric and non-negative, shape (n, n).
    self_loops
        Weight added to every diagonal entry of A first. The paper adds none.
    isolated
        A node without edges has no degree to divide by. ``"paper"``: its row of S is 0, so
        L_ii = 1 and it keeps e^{-s} of its heat. ``"keep"``: S_ii = 1, so L_ii = 0 and it keeps
        all (Chung; SciPy's ``csgraph.laplacian``).
    """
    n = adjacency.shape[0]
    if self_loops:
        adjacency = sp.csr_array(adjacency + self_loops * sp.eye_array(n, format="csr"))
    degree = np.asarray(adjacency.sum(axis=1), dtype=np.float64).ravel()
    alone = degree == 0
    scale = np.zeros(n)
    # Square roots before the division: 1 / sqrt(1e-320) is finite where 1 / 1e-320 is not.
    scale[~alone] = 1.0 / np.sqrt(degree[~alone])
    counts = np.diff(adjacency.indptr)
    ends = np.repeat(scale, counts), scale[adjacency.indices]
    # (a * s_i) * s_j and (a * s_j) * s_i may differ in the last bit, and s_i * s_j may overflow;
    # the larger factor first does neither.
    data = (adjacency.data * np.maximum(*ends)) * np.minimum(*ends)
    result = sp.csr_array((data, adjacency.indices, adjacency.indptr), shape=(n, n))
    if isolated == "keep" and alone.any():
        result = sp.csr_array(result + sp.diags_array(alone.astype(np.float64), format="csr"))
    return result


def laplacian(
    adjacency: sp.csr_array, *, self_loops: float = 0.0, isolated: Isolated = "paper"
) -> sp.csr_array:
    """Return L = I − D^{-1/2} A D^{-1/2}, shape (n, n); the arguments are those of S above.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> pair = sp.csr_array([[0.0, 2.0, 0.0], [2.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    >>> laplacian(pair).toarray()
    array([[ 1., -1.,  0.],
           [-1.,  1.,  0.],
           [ 0.,  0.,  1.]])
    """
    S = normalized_adjacency(adjacency, self_loops=self_loops, isolated=isolated)
    return sp.csr_array(sp.eye_array(S.shape[0], format="csr") - S)
