"""An order of the nodes in which the numba engine finds neighbours close together, and twins once.

Two nodes are twins when their rows of S are the same: leaves of one hub, above all. Then
S (e_u − e_v) = 0, every polynomial p keeps p(S) (e_u − e_v) = p(0) (e_u − e_v), and their columns
of p(S) are the same but for the entries of the twins themselves. So a class of m twins is computed
once. For u and v of classes C and D

    p(S)_uv = h_CD + p(0) ([u = v] − [C = D] / m),

where h is what the recurrence of p gives on the classes, with the entries S_uv · m_D for a row C,
when the column of D starts with 1 / m_D at D. Pubmed has 13,013 classes among 19,717 nodes, which
halves the work.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import reverse_cuthill_mckee


@dataclass(frozen=True)
class Ordering:
    """The classes of twins, in an order in which neighbours are close.

    Attributes
    ----------
    S
        S_uv · m_D between classes, shape (classes, classes), int32 indices.
    starts, members
        The nodes of class C are ``members[starts[C]:starts[C + 1]]``; shapes (classes + 1,), (n,).
    """

    S: sp.csr_array
    starts: NDArray[np.int64]
    members: NDArray[np.int32]

    @property
    def sizes(self) -> NDArray[np.int64]:
        """The number of twins in each class, shape (classes,)."""
        return np.diff(self.starts)


def order(S: sp.csr_array) -> Ordering:
    """Find the twins of a symmetric S, shape (n, n), and order their classes by Cuthill and McKee.

    Nodes without entries are not taken for twins: they lie in different components.
    """
    by_class, firsts = _twins(S)
    representatives = by_class[firsts]
    sizes = np.diff(np.append(firsts, len(by_class)))
    classes = sp.csr_array(S[representatives][:, representatives])
    # scipy's stubs know the matrix, its code either.
    places = reverse_cuthill_mckee(sp.csr_matrix(classes), symmetric_mode=True)
    classes = sp.csr_array(classes[places][:, places])
    classes.sort_indices()
    sizes, firsts = sizes[places], firsts[places]
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    within = np.arange(len(by_class)) - np.repeat(starts[:-1], sizes)
    members = by_class[np.repeat(firsts, sizes) + within].astype(np.int32)
    indices = classes.indices.astype(np.int32, copy=False)
    weights = classes.data * sizes[indices].astype(S.dtype)
    return Ordering(
        sp.csr_array((weights, indices, classes.indptr), classes.shape), starts, members
    )


def _twins(S: sp.csr_array) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the nodes, class after class, and where each class starts."""
    n = S.shape[0]
    lengths = np.diff(S.indptr).astype(np.int64)
    code = np.random.default_rng(0).integers(2**63, size=n, dtype=np.uint64)
    value = np.ascontiguousarray(S.data).view(f"u{S.dtype.itemsize}").astype(np.uint64)
    # A sum of codes (modulo 2⁶⁴) for each row, equal for equal rows and hardly for others.
    sums = np.append(np.uint64(0), np.cumsum(code[S.indices] * (2 * value + 1)))
    keys = sums[S.indptr[1:]] - sums[S.indptr[:-1]]
    nodes = np.argsort(keys, kind="stable")
    before, after = nodes[:-1], nodes[1:]
    alike = keys[before] == keys[after]
    alike &= (lengths[before] == lengths[after]) & (lengths[before] > 0)
    before, after = before[alike], after[alike]
    entries = lengths[before]
    ends = np.cumsum(entries)
    within = np.arange(entries.sum()) - np.repeat(ends - entries, entries)
    left = np.repeat(S.indptr[before], entries) + within
    right = np.repeat(S.indptr[after], entries) + within
    same = (S.indices[left] == S.indices[right]) & (S.data[left] == S.data[right])
    if len(entries):
        alike[alike] = np.logical_and.reduceat(same, ends - entries)
    return nodes, np.flatnonzero(np.append(True, ~alike))
