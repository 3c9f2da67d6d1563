"""A graph as the panel engine's loops take it, in memory or mapped.

With degrees d and T = D^{1/2} Z the recurrence T_{k+1} = 2 S T_k − T_{k−1} is

    Z_{k+1} = 2 D^{-1} A Z_k − Z_{k−1}:

where all weights are 1 no entry of S is stored or read, only which node is whose neighbour, and one
number per row. Rounding is that of the recurrence in S, row by row, as scaling a row commutes with
what is relative to it; so the bound of :func:`graphheat.heat.series.proven_rounding` holds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphheat.heat.operand import MappedOperand, Operand


class Arrays(NamedTuple):
    """What loops read.

    Attributes
    ----------
    indptr, indices, weights
        By row; shapes (n + 1,), (nnz,) and (nnz,), or (0,) where all weights are 1.
    inverse
        One over the degree, shape (n,), or (0,) where weights are those of S.
    own
        What a row counts for in its own sum beside its entries, shape (n,), (1,) or (0,).
    """

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    weights: NDArray[Any]
    inverse: NDArray[Any]
    own: NDArray[Any]


@dataclass(frozen=True, eq=False)
class Links:
    """A graph by rows, in one precision.

    Attributes
    ----------
    arrays
        What loops read.
    roots
        Square roots of the degrees, 1 where there is none, shape (n,); None: 1 everywhere.
    rank
        The place of each row, shape (n,), where rows are kept in another order; None: the same.
    """

    arrays: Arrays
    roots: NDArray[Any] | None = None
    rank: NDArray[np.int32] | None = None

    @property
    def n(self) -> int:
        """Number of nodes."""
        return len(self.arrays.indptr) - 1

    def bounds(self, entries: int) -> list[tuple[int, int]]:
        """Return (first, last) of ranges of rows with about so many entries each."""
        indptr, n = self.arrays.indptr, self.n
        found, first = [], 0
        while first < n:
            goal = int(indptr[first]) + entries
            last = int(np.searchsorted(indptr, goal, side="right")) - 1
            last = min(n, max(last, first + 1))
            found.append((first, last))
            first = last
        return found


def links_of(operand: Operand, dtype: np.dtype[Any]) -> Links:
    """Return the links of an operand, made once for each precision."""
    return operand.kept(("links", dtype.str), lambda: _make(operand, dtype))


def _make(operand: Operand, dtype: np.dtype[Any]) -> Links:
    by = _by_degrees if operand.laplacian.divided else _shifted
    if isinstance(operand, MappedOperand):
        graph = operand.graph
        weights = np.empty(0) if graph.weights is None else graph.weights
        degrees = graph.degrees
        return by(operand, graph.indptr, graph.indices, weights, degrees, dtype)
    adjacency = operand.adjacency
    if adjacency is not None and bool((adjacency.data == 1).all()):
        degrees = np.diff(adjacency.indptr).astype(np.float64)
        return by(operand, adjacency.indptr, adjacency.indices, np.empty(0), degrees, dtype)
    S = operand.matrix_in(dtype)
    none = np.empty(0, dtype=dtype)
    return Links(_arrays(S.indptr, S.indices, np.ascontiguousarray(S.data), none, none))


def _by_degrees(
    operand: Operand,
    indptr: Any,
    indices: Any,
    weights: Any,
    degrees: NDArray[np.float64],
    dtype: np.dtype[Any],
) -> Links:
    degrees = degrees + operand.self_loops
    alone = degrees == 0
    own = np.full(1 if operand.self_loops else 0, operand.self_loops, dtype=dtype)
    if alone.any():
        degrees[alone] = 1.0
        if operand.isolated == "keep":
            own = np.where(alone, 1.0, operand.self_loops).astype(dtype)
    inverse = (1.0 / degrees).astype(dtype)
    if operand.isolated == "paper":
        inverse[alone] = 0
    if operand.laplacian.sign < 0:
        inverse = -inverse
    rank = operand.graph.rank if isinstance(operand, MappedOperand) else None
    roots = np.sqrt(degrees).astype(dtype)
    return Links(_arrays(indptr, indices, weights, inverse, own), roots, rank)


def _shifted(
    operand: Operand,
    indptr: Any,
    indices: Any,
    weights: Any,
    degrees: NDArray[np.float64],
    dtype: np.dtype[Any],
) -> Links:
    """Return the links of S = I − (2 / b)(D ∓ A): one factor, degrees on the diagonal."""
    sign, half = operand.laplacian.sign, operand.lmax / 2
    # Self-loops cancel in D − A, where those of A itself are among the entries.
    loops = 2 * operand.self_loops if sign < 0 else 0.0
    factor = np.full(len(degrees), sign / half, dtype=dtype)
    own = (sign * (half - degrees - loops)).astype(dtype)
    rank = operand.graph.rank if isinstance(operand, MappedOperand) else None
    return Links(_arrays(indptr, indices, weights, factor, own), None, rank)


def _arrays(indptr: Any, indices: Any, weights: Any, inverse: Any, own: Any) -> Arrays:
    """Return arrays as loops were compiled for: plain, and only read."""
    parts = (
        np.asarray(indptr).astype(np.int64, copy=False),
        np.asarray(indices).astype(np.int32, copy=False),
        np.asarray(weights),
        inverse,
        own,
    )
    views = [part.view(np.ndarray) for part in parts]
    for view in views:
        view.flags.writeable = False
    return Arrays(*views)
