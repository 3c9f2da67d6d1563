"""The walk that the push follows: its levels, and the graph it goes over, nodes by falling degree.

Both are prepared once, for any number of rows; what they mean is explained in
:mod:`graphheat.heat.engines.push.push`.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components
from scipy.special import gammaln

from graphheat.disk import DiskGraph


class Levels(NamedTuple):
    """The numbers that belong to the levels of the walk.

    Attributes
    ----------
    start
        Heat and residual of the seed at level 0, shape (2,).
    table
        Shape (4, levels), a column for level k: *gain* and *deposit*, the residual and the heat
        that come of what arrives; *charge*, Ψ_k; *share*, the part of the budget that may be spent
        by then.
    s
        The diffusion time, for levels beyond the table.
    """

    start: NDArray[np.float64]
    table: NDArray[np.float64]
    s: float


def levels(s: float) -> Levels:
    """Return the levels for diffusion time ``s``, shape (4, 2s + 64)."""
    size = int(2 * s) + 64  # beyond it the kernel knows what to do; it hardly ever comes there
    if s == 0:
        return Levels(np.array([1.0, 0.0]), np.vstack([np.zeros(size), np.ones((3, size))]), 0.0)
    k = np.arange(size)
    weights = np.exp(k * math.log(s) - s - gammaln(k + 1))
    # For large s the first weights are too small for numbers. Up to level ``first`` residuals are
    # what is there, without a weight, and the charge keeps them from being carried.
    first = int(np.argmax(weights[1:] >= 1e-200))
    gain, deposit, charge = s / (k + 1), np.ones(size), np.full(size, 1e300)
    if first:
        gain[:first], gain[first] = 1.0, weights[first + 1]
        deposit[: first + 1] = weights[: first + 1]
    charge[-1] = 1 / (1 - s / (size + 1))  # a geometric series that is larger, term by term
    for a in range(size - 2, first - 1, -1):
        charge[a] = 1 + s / (a + 2) * charge[a + 1]
    # Any share that rises to 1 is right. With all of the budget at once, the first levels, where Ψ
    # is large, would leave little to the others: twice the edges at s = 10 and 30. The root of the
    # heat given off so far needed the fewest on most graphs.
    share = np.sqrt(np.minimum(np.cumsum(weights), 1.0))
    start = np.array([math.exp(-s), 1.0 if first else s * math.exp(-s)])
    return Levels(start, np.vstack([gain, deposit, charge, share]), s)


def rounding(s: float, longest_row: int) -> float:
    """Bound what float64 arithmetic can cost an entry, to first order.

    A step adds up at most d numbers, d being the longest row, and divides by degrees that were
    added up too; everything is positive, so heat that has come k steps is off by k (2d + 16) units
    of itself, and the mean of k is s. For large s the first weight comes from a logarithm.
    """
    return 2.0**-53 * ((s + 1) * (2 * longest_row + 16) + 4 * s * math.log(s + 2))


class Edges(NamedTuple):
    """The adjacency, rows and columns by rank.

    Attributes
    ----------
    indptr, indices
        Shapes (n + 1,) and (nnz,).
    chances
        Weight over the degree of the row, shape (nnz,); empty when all weights are equal.
    divided
        Whether ``chances`` were divided by the degrees; mapped weights were not.
    own
        Weight of a self-loop at every node that is not among the entries.
    """

    indptr: NDArray[np.int64]
    indices: NDArray[np.uint32]
    chances: NDArray[np.float64]
    divided: bool = True
    own: float = 0.0


class Ranked(NamedTuple):
    """A graph whose nodes are numbered by falling degree, ties by index.

    Attributes
    ----------
    order, rank
        The index of each number, and the number of each index, shape (n,).
    degrees, ceilings
        The degree of each node and the largest of its component, shape (n,): edges when their
        weights are equal, otherwise relative to the largest degree of all, so that weights of
        1e300 do no harm; 1 for a node without edges.
    edges
        By number.
    """

    order: NDArray[np.int32]
    rank: NDArray[np.int32]
    degrees: NDArray[np.float64]
    ceilings: NDArray[np.float64]
    edges: Edges

    @property
    def longest_row(self) -> int:
        """The largest number of edges of a node."""
        return int(np.diff(self.edges.indptr).max(initial=0))


def ranked(adjacency: sp.csr_array, self_loops: float) -> Ranked:
    """Return the graph of ``adjacency``, shape (n, n), with ``self_loops`` on its diagonal."""
    n = adjacency.shape[0]
    if self_loops:
        adjacency = sp.csr_array(adjacency + self_loops * sp.eye_array(n, format="csr"))
    if not adjacency.data.all():
        adjacency = adjacency.copy()
        adjacency.eliminate_zeros()
    equal = bool(np.all(adjacency.data == adjacency.data[:1]))
    if equal:
        degrees = np.diff(adjacency.indptr).astype(np.float64)
    else:
        sums = np.asarray(adjacency.sum(axis=1), dtype=np.float64).ravel()
        # The floor keeps 1 / degree a number where weights differ by more than that.
        degrees = np.where(sums > 0, np.maximum(sums / sums.max(), 1e-250), 0.0)
    order = np.argsort(-degrees, kind="stable")
    rank = np.empty(n, dtype=np.int32)
    rank[order] = np.arange(n, dtype=np.int32)
    components, component = connected_components(adjacency, directed=False)
    largest = np.zeros(components)
    np.maximum.at(largest, component, degrees)
    degrees, ceilings = degrees[order], largest[component[order]]
    by_rank = adjacency[order]
    chances = np.empty(0)
    if not equal:
        chances = by_rank.data / np.repeat(sums[order], np.diff(by_rank.indptr))
    return Ranked(
        order=order.astype(np.int32),
        rank=rank,
        degrees=np.where(degrees > 0, degrees, 1.0),
        ceilings=np.where(degrees > 0, ceilings, 1.0),
        edges=Edges(
            by_rank.indptr.astype(np.int64), rank[by_rank.indices].astype(np.uint32), chances
        ),
    )


def mapped_ranks(graph: DiskGraph, self_loops: float) -> Ranked:
    """Return a graph on disk as it is: numbered by place, edges mapped.

    Half rows and matrices, which need numbers by falling degree, cannot be had of it.
    """
    degrees = graph.degrees + self_loops
    ceilings = None
    if graph.describe().components > 1:
        numbers = np.asarray(graph.components)
        largest = np.zeros(int(numbers.max()) + 1)
        np.maximum.at(largest, numbers, degrees)
        ceilings = np.where(degrees > 0, largest[numbers], 1.0)
    same = np.arange(graph.n, dtype=np.int32) if graph.order is None else None
    return _as_given(
        Edges(
            np.asarray(graph.indptr),
            np.asarray(graph.indices).view(np.uint32),
            np.empty(0) if graph.weights is None else np.asarray(graph.weights),
            divided=False,
            own=float(self_loops),
        ),
        degrees,
        ceilings,
        np.asarray(graph.order) if same is None else same,
        np.asarray(graph.rank) if same is None else same,
    )


def given_ranks(adjacency: sp.csr_array, self_loops: float) -> Ranked:
    """Return a graph in memory as it is, at the cost of its nodes alone, or of a sum of weights.

    What :func:`ranked` does besides, to number by degree and to look for components, is for many
    rows; without it the largest degree of all stands for that of the component.
    """
    n = adjacency.shape[0]
    ones = bool((adjacency.data == 1).all())
    degrees = (
        np.diff(adjacency.indptr).astype(np.float64)
        if ones
        else np.asarray(adjacency.sum(axis=1), dtype=np.float64).ravel()
    )
    same = np.arange(n, dtype=np.int32)
    return _as_given(
        Edges(
            adjacency.indptr.astype(np.int64),
            adjacency.indices.astype(np.int32, copy=False).view(np.uint32),
            np.empty(0) if ones else np.asarray(adjacency.data, dtype=np.float64),
            divided=False,
            own=float(self_loops),
        ),
        degrees + self_loops,
        None,
        same,
        same,
    )


def _as_given(
    edges: Edges,
    degrees: NDArray[np.float64],
    ceilings: NDArray[np.float64] | None,
    order: NDArray[np.int32],
    rank: NDArray[np.int32],
) -> Ranked:
    if ceilings is None:
        ceilings = np.broadcast_to(np.float64(degrees.max(initial=1.0)), degrees.shape)
    for array in (edges.indptr, edges.indices, edges.chances):
        array.flags.writeable = False  # as mapped ones are: the loops are compiled once
    return Ranked(order, rank, np.where(degrees > 0, degrees, 1.0), ceilings, edges)
