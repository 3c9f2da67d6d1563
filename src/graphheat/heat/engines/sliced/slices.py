"""Slices: the rows of a graph by length, eight side by side, so that one instruction serves eight.

The format is SELL-C-σ with σ = n: the longer rows come first, eight consecutive ones are a slice,
and a slice is stored an entry of each row at a time, short rows filled up. Rows of one length stay
in the given order. The values that most rows read are then side by side at the front, in the
nearest caches.

References
----------
M. Kreutzer, G. Hager, G. Wellein, H. Fehske, A. Bishop: A Unified Sparse Matrix Data Format for
Efficient General Sparse Matrix-Vector Multiplication on Modern Processors with Wide SIMD Units,
SIAM Journal on Scientific Computing 2014.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphheat.heat.engines.panel.links import Arrays as LinkArrays
from graphheat.heat.engines.panel.links import links_of
from graphheat.heat.operand import Operand
from graphheat.heat.series import DOUBLE

LANES = 8  # rows of a slice


class Arrays(NamedTuple):
    """What loops read; a place is a row in the order of slices, there being m ≥ n of them.

    Attributes
    ----------
    starts
        Where the entries of each slice begin, shape (m / 8 + 1,).
    columns, weights
        The place that is read, and its weight; shape (0,) where all weights are 1 and there is
        nothing filled up that counts.
    factor
        What a row's sum is multiplied by, shape (m,).
    own
        What a row counts for in its own sum beside its entries, shape (m,) or (0,).
    """

    starts: NDArray[np.int64]
    columns: NDArray[np.int32]
    weights: NDArray[np.float64]
    factor: NDArray[np.float64]
    own: NDArray[np.float64]


class Slices(NamedTuple):
    """A graph by slices.

    Attributes
    ----------
    arrays
        What loops read.
    order, place
        The node at each place, and the place of each node, shape (n,).
    roots
        Square roots of the degrees by place, shape (n,), or (0,): 1 everywhere.
    """

    arrays: Arrays
    order: NDArray[np.int64]
    place: NDArray[np.int64]
    roots: NDArray[np.float64]

    @property
    def places(self) -> int:
        """How many places there are: n, filled up to whole slices, and one that stays 0."""
        return len(self.arrays.factor)

    def bounds(self, parts: int) -> list[tuple[int, int]]:
        """Return (first, last) of about so many ranges of slices with equally many entries."""
        starts = self.arrays.starts
        goals = np.linspace(0, int(starts[-1]), parts + 1)[1:-1]
        cuts = np.searchsorted(starts, goals).tolist()
        cuts = sorted({0, *cuts, len(starts) - 1})
        return list(pairwise(cuts))


def slices_of(operand: Operand) -> Slices:
    """Return the slices of an operand in memory, made once.

    Notes
    -----
    *Cost*: a few passes over the entries; 4 bytes per entry, 12 with weights.
    """
    return operand.kept(("slices",), lambda: _make(operand))


def _make(operand: Operand) -> Slices:
    links = links_of(operand, DOUBLE)
    indptr, indices, weights, own = _with_isolated(links.arrays)
    n, inverse = links.n, links.arrays.inverse
    lengths = np.diff(indptr)
    order = np.argsort(-lengths, kind="stable")
    m = LANES * (n // LANES + 1)  # one more at least, which stays 0: filled-up entries read it
    place = np.empty(n, dtype=np.int64)
    place[order] = np.arange(n)
    long = np.zeros(m, dtype=np.int64)
    long[:n] = lengths[order]
    widths = long.reshape(-1, LANES).max(axis=1)
    starts = np.concatenate([[0], np.cumsum(LANES * widths)])
    # The entry j of the row at place i is at starts[i // 8] + 8 j + i mod 8.
    row = np.repeat(place, lengths)
    at = starts[row // LANES] + LANES * (np.arange(len(indices)) - np.repeat(indptr[:-1], lengths))
    at += row % LANES
    columns = np.full(int(starts[-1]), n, dtype=np.int32)
    columns[at] = place[indices]
    values = np.empty(0)
    if len(weights):
        values = np.zeros(len(columns))
        values[at] = weights

    def by_place(given: Any, beyond: float) -> NDArray[np.float64]:
        found = np.full(m, beyond)
        found[:n] = np.broadcast_to(given, (n,))[order]
        return found

    factor = by_place(inverse, 0.0) if len(inverse) else by_place(1.0, 0.0)
    loops = by_place(own, 0.0) if len(own) else np.empty(0)
    roots = np.empty(0) if links.roots is None else np.ascontiguousarray(links.roots[order])
    return Slices(Arrays(*_read_only(starts, columns, values, factor, loops)),
                  *_read_only(order, place, roots))  # fmt: skip


def _with_isolated(
    links: LinkArrays,
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[Any], NDArray[Any]]:
    """Return indptr, indices, weights and own, isolated nodes being their own neighbours.

    Where no other node counts in its own sum, no step then reads ``own``.
    """
    indptr, indices, weights, _, own = links
    lengths = np.diff(indptr)
    alone = np.flatnonzero((lengths == 0) & (own == 1) if len(own) > 1 else [])
    if len(weights) or not len(alone) or np.count_nonzero(own) > len(alone):
        return indptr, indices, weights, own
    lengths[alone] = 1
    indices = np.insert(indices, indptr[alone], alone)
    return np.concatenate([[0], np.cumsum(lengths)]), indices, weights, np.empty(0)


def _read_only(*arrays: NDArray[Any]) -> list[NDArray[Any]]:
    """Return arrays as loops were compiled for: only read."""
    for array in arrays:
        array.flags.writeable = False
    return list(arrays)
