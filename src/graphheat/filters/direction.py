"""Directed graphs: symmetrisations by name.

===========  ==================================================================================
symmetrize   what is filtered with
===========  ==================================================================================
sum          A + Aᵀ
max          the larger of both directions
coupling     A Aᵀ without its diagonal: how much two nodes point to the same ones
cocitation   Aᵀ A without its diagonal: how much the same ones point to two nodes
magnetic     (A + Aᵀ)/2 with e^{2πiq} along one-way edges and e^{-2πiq} against them: complex
===========  ==================================================================================

The magnetic matrix H = B + iC is Hermitian. Engines take the real symmetric [[B, −C], [C, B]] in
its place, of twice the size, with the same eigenvalues, each twice.

References
----------
M. Kessler: Bibliographic coupling between scientific papers, 1963. V. Satuluri, S. Parthasarathy:
Symmetrizations for clustering directed graphs, EDBT 2011. M. Fanuel, C. Alaíz, J. Suykens: Magnetic
eigenmaps for community detection in directed networks, Physical Review E 2017.
"""

from __future__ import annotations

import math
from typing import Any, Literal, get_args

import numpy as np
import scipy.sparse as sp

from graphheat.checks import check_choice, check_number
from graphheat.errors import GraphError, KernelMemoryError
from graphheat.graph.adjacency import canonical, sorted_rows, without_diagonal
from graphheat.heat.laplacian import Laplacian
from graphheat.heat.operand import Operand
from graphheat.memory import available_memory

Symmetrization = Literal["sum", "max", "coupling", "cocitation", "magnetic"]


def symmetrized(adjacency: Any, how: Symmetrization) -> sp.csr_array:
    """Return a symmetric matrix of a directed graph, shape (n, n); ``magnetic``: (A + Aᵀ)/2."""
    check_choice(how, "symmetrize", "GraphFilter", (None, *get_args(Symmetrization)))
    A = canonical(adjacency)
    if how == "sum":
        result = A + A.T
    elif how == "magnetic":
        result = (A + A.T) * 0.5
    elif how == "max":
        result = A.maximum(A.T)
    else:
        A = A if how == "coupling" else sp.csr_array(A.T.tocsr())
        _check_room(A)
        result = without_diagonal(sp.csr_array(A @ A.T))
    result = sp.csr_array(result)
    if not np.isfinite(result.sum(axis=1)).all():
        raise GraphError("Edge weights are too large: a node's degree overflows. Scale them down.")
    return sorted_rows(result)


def _check_room(A: sp.csr_array) -> None:
    """Refuse a product A Aᵀ that may not fit: Σ_j (edges into j)² entries at most."""
    into = np.bincount(A.indices, minlength=A.shape[0]).astype(np.float64)
    size, room = 32 * min(float((into**2).sum()), float(A.shape[0]) ** 2), available_memory()
    if room is not None and size > room:
        raise KernelMemoryError(
            f"Coupling would take up to {size / 1e9:.1f} GB, and {room / 1e9:.1f} GB are free: "
            "some node has very many edges. Pass symmetrize='sum'."
        )


def magnetic_operand(adjacency: Any, laplacian: Laplacian, q: float) -> Operand:
    """Return the operand of the magnetic Laplacian, shape (2n, 2n).

    Parameters
    ----------
    q
        The charge: a one-way edge turns by 2πq; an edge both ways, by nothing.
    """
    q = check_number(q, "q", "GraphFilter", -1.0, 1.0)
    A = canonical(adjacency)
    base = Operand.of_laplacian(symmetrized(adjacency, "magnetic"), laplacian)
    ways = sp.csr_array((np.ones(A.nnz), A.indices, A.indptr), shape=A.shape)
    one_way = sp.csr_array(ways - ways.T).tocoo()  # 1 along, −1 against, 0 both ways
    there = one_way.data != 0
    rows, columns, sign = one_way.row[there], one_way.col[there], one_way.data[there]
    # S's own entry, turned: cos − 1 beside it, and sin.
    weight = np.asarray(base.S[rows, columns]).ravel()
    angle = 2 * math.pi * q
    shape = A.shape
    less = sp.csr_array(sp.coo_array((weight * (math.cos(angle) - 1), (rows, columns)), shape))
    B = sp.csr_array(base.S + less)
    C = sp.csr_array(sp.coo_array((weight * sign * math.sin(angle), (rows, columns)), shape))
    S = sorted_rows(sp.csr_array(sp.block_array([[B, -C], [C, B]], format="csr")))
    operand = Operand(S, self_loops=laplacian.self_loops, isolated=laplacian.isolated)
    operand.laplacian, operand.lmax = laplacian, base.lmax
    # |cos| + |sin| is √2 at most, row by row.
    operand.absolute_norm = base.absolute_norm * math.sqrt(2)
    return operand
