"""A kernel matrix laid out for products: nodes with the same rows once, neighbours close together.

Two nodes are twins when they have the same neighbours, with the same weights: leaves of one hub,
above all. Heat treats them alike, so their rows of H are the same but for the entries among the
twins themselves. With B, shape (n, classes), saying which node is in which class,

    H = B Ĥ Bᵀ + diag(d),

where Ĥ holds one row per class and d what a node's own entry has beyond that of its twins. Pubmed's
kernel has 30.5 million entries and Ĥ 19.8 million; in an order in which neighbours are close, a
product then takes less than half of the time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from torch import Tensor

from graphheat.heat.engines.numba.ordering import order
from graphheat.nn.csr import to_scipy, to_torch

WORTHWHILE = 0.8  # of the entries left: above that, the detour over classes costs what it saves


@dataclass(frozen=True, eq=False)
class KernelMatrix:
    """A symmetric H, shape (n, n), for products with tensors of a few columns.

    Attributes
    ----------
    entries
        H itself or, with ``twins``, Ĥ; CSR.
    twins
        What leads from Ĥ to H; None where H is kept as it is.
    """

    entries: Tensor
    twins: _Twins | None = None

    @classmethod
    def lay_out(cls, H: sp.csr_array, S: sp.csr_array, dtype: torch.dtype) -> KernelMatrix:
        """Lay out H = f(S), thresholded; S, shape (n, n), says which nodes are twins."""
        ordering = order(S)
        label = np.empty(H.shape[0], dtype=np.int64)
        label[ordering.members] = np.repeat(np.arange(len(ordering.sizes)), ordering.sizes)
        first = ordering.members[ordering.starts[:-1]].astype(np.int64)
        compact = _compact(H, ordering.sizes, ordering.members, ordering.starts, first)
        if compact.nnz > WORTHWHILE * H.nnz:
            return cls(to_torch(H, dtype))
        own = H.diagonal() - compact.diagonal()[label]
        if not _same(H, compact, label, own):  # rounding has separated twins
            return cls(to_torch(H, dtype))
        members = sp.csr_array(
            (np.ones(len(label), dtype=H.dtype), ordering.members, ordering.starts),
            shape=(len(first), len(label)),
        )
        twins = _Twins(torch.tensor(label), to_torch(members, dtype), torch.tensor(own).to(dtype))
        return cls(to_torch(compact, dtype), twins)

    @property
    def nnz(self) -> int:
        """Stored numbers."""
        return int(self.entries.values().numel())

    def to(self, device: torch.device) -> KernelMatrix:
        """Return the matrix on another device."""
        twins = self.twins
        if twins is not None:
            twins = _Twins(*(each.to(device) for each in (twins.label, twins.members, twins.own)))
        return KernelMatrix(self.entries.to(device), twins)

    def __matmul__(self, x: Tensor) -> Tensor:
        if self.twins is None:
            return self.entries @ x
        heat = self.entries @ (self.twins.members @ x)
        return torch.addcmul(heat[self.twins.label], self.twins.own[:, None], x)

    def rows(self, index: NDArray[np.int64]) -> sp.csr_array:
        """Return some rows of H, shape (r, n), as a SciPy array."""
        stored = to_scipy(self.entries)
        if self.twins is None:
            return sp.csr_array(stored[index])
        label, own = self.twins.label.numpy(), self.twins.own.numpy()
        spread = sp.csr_array(stored[label[index]] @ to_scipy(self.twins.members))
        place = sp.csr_array(
            (own[index], index, np.arange(len(index) + 1)), shape=(len(index), len(label))
        )
        return sp.csr_array(spread + place)


@dataclass(frozen=True, eq=False)
class _Twins:
    """Class of each node, shape (n,); Bᵀ, CSR of shape (classes, n); d, shape (n,)."""

    label: Tensor
    members: Tensor
    own: Tensor


def _compact(
    H: sp.csr_array,
    sizes: NDArray[np.int64],
    members: NDArray[np.int32],
    starts: NDArray[np.int64],
    first: NDArray[np.int64],
) -> sp.csr_array:
    """Return Ĥ: H between the first nodes of the classes; on the diagonal, between two twins."""
    compact = sp.csr_array(H[first][:, first])
    several = np.flatnonzero(sizes > 1)
    second = members[starts[several] + 1]
    change = np.zeros(len(first), dtype=H.dtype)
    between = np.asarray(H[first[several], second]).ravel()
    change[several] = between - compact.diagonal()[several]
    compact = sp.csr_array(compact + sp.diags_array(change))
    compact.eliminate_zeros()
    compact.sort_indices()
    return compact


def _same(
    H: sp.csr_array, compact: sp.csr_array, label: NDArray[np.int64], own: NDArray[np.floating]
) -> bool:
    """Whether both layouts give a random vector the same product, but for float32's rounding."""
    x = np.random.default_rng(0).random(len(label))
    exact = H.astype(np.float64) @ x
    folded = np.bincount(label, weights=x, minlength=compact.shape[0])
    found = (compact.astype(np.float64) @ folded)[label] + own.astype(np.float64) * x
    return bool(np.allclose(found, exact, rtol=0, atol=1e-7))
