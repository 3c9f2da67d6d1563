"""Adjacency matrices: from pairs of nodes, and the rules every one must keep."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graphheat.checks import check_choice, check_count
from graphheat.errors import GraphError
from graphheat.graph.feature_matrix import dense
from graphheat.graph.matrix_like import matrix_of
from graphheat.graph.sparse_structure import check_structure
from graphheat.memory import NODE_BYTES, available_memory

Duplicates = Literal["error", "sum", "max", "first"]
Symmetrize = Literal["max"]
SelfLoops = Literal["keep", "drop"]

ADVICE = "Pass symmetrize='max' where the Graph is made."


def from_pairs(
    source: NDArray[np.integer[Any]],
    target: NDArray[np.integer[Any]],
    weight: Any,
    n: int,
    *,
    duplicates: Duplicates = "error",
    directed: bool = False,
    ids: NDArray[Any] | None = None,
) -> sp.csr_array:
    """Build an adjacency matrix from pairs of node indices.

    Parameters
    ----------
    source, target
        Node indices, shape (e,).
    weight
        Edge weights, shape (e,); None means 1 everywhere.
    n
        Number of nodes.
    duplicates
        What to do when an edge is named with *different* weights. Repeats of equal weight always
        count once.
    directed
        False: (a, b) and (b, a) are one edge, and the result is symmetric. True: each pair fills
        one entry, as in PyG's ``edge_index``.
    ids
        What to call the nodes in messages, shape (n,); default: their indices.
    """
    check_choice(duplicates, "duplicates", "an edge list", ("error", "sum", "max", "first"))
    source, target = (_ends(name, ends) for name, ends in (("source", source), ("target", target)))
    if weight is None:
        weight = np.ones(len(source))
    weight = as_weights(weight)
    n = check_count(n, "num_nodes", "a graph", least=0)
    room = available_memory()
    if room is not None and n * NODE_BYTES > room:
        raise GraphError(
            f"A graph of {n:,} nodes would not fit in memory ({room / 1e9:.1f} GB free). "
            "Number its nodes from 0 without gaps, or use edges between ids."
        )
    if not len(source) == len(target) == len(weight):
        raise GraphError(
            "Edges need as many sources as targets and weights; "
            f"got {len(source)}, {len(target)} and {len(weight)}."
        )
    for bad, rule in _weight_rules(weight):
        if bad.any():
            at = int(np.argmax(bad))
            raise GraphError(
                f"Edge weights must be {rule}; {int(bad.sum()):,} of {len(weight):,} are not "
                f"(first {weight[at]} at edge {at})."
            )
    for name, ends in (("source", source), ("target", target)):
        outside = (ends < 0) | (ends >= n)
        if outside.any():
            first = int(ends[np.argmax(outside)])
            raise GraphError(f"An edge's {name} must be in [0, {n}); got {first}.")
    if directed:
        low, high = source, target
    else:
        low, high = np.minimum(source, target), np.maximum(source, target)

    # One entry per edge: sort by edge (stable, so that "first" means first in the list), then
    # reduce each run of equal edges.
    order = np.argsort(low * n + high, kind="stable")
    low, high, weight = low[order], high[order], weight[order]
    starts = np.flatnonzero(np.r_[True, (np.diff(low) != 0) | (np.diff(high) != 0)][: len(low)])
    if len(starts):
        smallest = np.minimum.reduceat(weight, starts)
        largest = np.maximum.reduceat(weight, starts)
        differ = smallest != largest
        if differ.any() and duplicates == "error":
            at = int(starts[np.argmax(differ)])
            pair = (low[at], high[at]) if ids is None else (ids[low[at]], ids[high[at]])
            raise GraphError(
                f"{int(differ.sum()):,} edges are named with different weights "
                f"(first between {pair[0]} and {pair[1]}). "
                "Pass duplicates='sum', 'max' or 'first'."
            )
        if duplicates == "sum":
            # Exact repeats are still one edge: only edges with differing weights are summed.
            with np.errstate(over="ignore"):  # an overflow to inf is reported by validate
                weight = np.where(differ, np.add.reduceat(weight, starts), smallest)
        elif duplicates == "max":
            weight = largest
        else:
            weight = weight[starts]
        low, high = low[starts], high[starts]

    if not directed:
        off = low != high
        low, high, weight = (
            np.r_[low, high[off]],
            np.r_[high, low[off]],
            np.r_[weight, weight[off]],
        )
    return sp.csr_array(sp.coo_array((weight, (low, high)), shape=(n, n)))


def as_weights(weight: Any) -> NDArray[np.float64]:
    """Return edge weights as float64, shape (e,), or raise where they are no real numbers."""
    try:
        given = np.asarray(weight)
        if given.dtype.kind == "O":
            given = given.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise GraphError(f"Edge weights must be numbers: {error}.") from None
    if given.dtype.kind not in "biuf":
        raise GraphError(f"Edge weights must be real numbers; got {given.dtype}.")
    return given.astype(np.float64).ravel()


def _ends(name: str, ends: Any) -> NDArray[np.int64]:
    given = np.asarray(ends).ravel()
    if given.size and given.dtype.kind not in "iu":
        raise GraphError(f"An edge's {name} must be a node index; got {given.dtype}.")
    if given.size and given.max() >= 2**63:
        raise GraphError(f"An edge's {name} must be below 2^63; got {given.max()}.")
    return given.astype(np.int64)


def validate(
    adjacency: Any,
    *,
    symmetrize: Symmetrize | None = None,
    self_loops: SelfLoops = "keep",
    advice: str = ADVICE,
) -> sp.csr_array:
    """Return a canonical copy of ``adjacency``, or raise with the rule it breaks.

    The copy is float64, sorted, without stored zeros, with int32 indices when they fit. ``advice``
    is what to do about a matrix that is not symmetric.
    """
    check_choice(symmetrize, "symmetrize", "a graph", (None, "max"))
    check_choice(self_loops, "self_loops", "a graph", ("keep", "drop"))
    matrix = canonical(adjacency)
    if self_loops == "drop":
        matrix = without_diagonal(matrix)
    if symmetrize == "max":
        matrix = sp.csr_array(matrix.maximum(matrix.T))
    else:
        _check_symmetry(matrix, advice)
    return sorted_rows(matrix)


def canonical(adjacency: Any) -> sp.csr_array:
    """Return a copy of ``adjacency``, shape (n, n), by every rule but that of symmetry."""
    adjacency = matrix_of(adjacency)
    given: Any = adjacency if sp.issparse(adjacency) else dense(adjacency, "adjacency")
    if given.ndim != 2 or given.dtype.kind not in "biuf":
        raise GraphError(
            "adjacency must be a numeric matrix (SciPy sparse or 2-D array); "
            f"got {given.dtype} of shape {given.shape}."
        )
    if sp.issparse(given):
        given = check_structure(given, "adjacency")
    with np.errstate(over="ignore"):  # an overflow to inf is reported below
        matrix = sp.csr_array(given, dtype=np.float64, copy=True)
    rows, columns = matrix.shape
    if rows != columns:
        raise GraphError(f"adjacency must be square; got shape ({rows}, {columns}).")
    if rows == 0:
        raise GraphError("The graph is empty: it needs at least one node.")
    matrix.sum_duplicates()
    _check_weights(matrix)
    matrix.eliminate_zeros()
    return matrix


def sorted_rows(matrix: sp.csr_array) -> sp.csr_array:
    """Return ``matrix`` with columns ascending, and int32 indices when they fit."""
    matrix.sort_indices()
    index_type = np.int32 if max(matrix.nnz, matrix.shape[0]) < 2**31 else np.int64
    return sp.csr_array(
        (
            matrix.data,
            matrix.indices.astype(index_type, copy=False),
            matrix.indptr.astype(index_type, copy=False),
        ),
        shape=matrix.shape,
    )


def without_diagonal(matrix: sp.csr_array) -> sp.csr_array:
    """Return a copy of ``matrix``, shape (n, n), without its diagonal and without stored zeros."""
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    kept = (matrix.indices != rows) & (matrix.data != 0)
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows[kept], minlength=matrix.shape[0]))])
    parts = matrix.data[kept], matrix.indices[kept], indptr.astype(matrix.indptr.dtype)
    return sp.csr_array(parts, shape=matrix.shape)


def _entry(matrix: sp.csr_array, position: int) -> tuple[int, int]:
    row = int(np.searchsorted(matrix.indptr, position, side="right")) - 1
    return row, int(matrix.indices[position])


def _weight_rules(weight: NDArray[Any]) -> tuple[tuple[NDArray[np.bool_], str], ...]:
    return (~np.isfinite(weight), "finite"), (weight < 0, "non-negative")


def _check_weights(matrix: sp.csr_array) -> None:
    with np.errstate(over="ignore"):
        too_heavy = np.isfinite(matrix.data).all() and not np.isfinite(matrix.sum(axis=1)).all()
    if too_heavy:
        raise GraphError("Edge weights are too large: a node's degree overflows. Scale them down.")
    for bad, rule in _weight_rules(matrix.data):
        if bad.any():
            at = int(np.argmax(bad))
            i, j = _entry(matrix, at)
            raise GraphError(
                f"Edge weights must be {rule}; {int(bad.sum()):,} of {matrix.nnz:,} are not "
                f"(first {matrix.data[at]} at ({i}, {j}))."
            )


def _check_symmetry(matrix: sp.csr_array, advice: str) -> None:
    difference = sp.csr_array(matrix - matrix.T)
    difference.eliminate_zeros()
    if difference.nnz:
        difference.sort_indices()
        i, j = _entry(difference, 0)
        stored = difference.multiply(matrix).count_nonzero()  # of a one-way pair, the way there is
        raise GraphError(
            f"adjacency must be symmetric; {stored:,} of {matrix.nnz:,} entries differ "
            f"(first at ({i}, {j})). {advice}"
        )
