"""Sparse input features that stay sparse, with dropout on what is not zero."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, overload

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from graphheat.graph.feature_matrix import Features
from graphheat.nn.csr import csr_tensor


@dataclass(frozen=True)
class _Pattern:
    """Where the non-zeros are, by rows and by columns; shared by every dropout of one matrix."""

    crow: Tensor
    col: Tensor
    crow_t: Tensor
    col_t: Tensor
    to_t: Tensor  # position of each transposed non-zero among the original ones
    shape: tuple[int, int]


@dataclass(frozen=True)
class SparseFeatures:
    """A sparse feature matrix X, shape (n, f), that knows its transpose.

    ``X @ W`` is differentiable in W; its gradient Xᵀg uses the transpose laid out once.

    Examples
    --------
    >>> import scipy.sparse as sp, torch
    >>> X = SparseFeatures.from_scipy(sp.csr_array([[0.0, 2.0], [1.0, 0.0]]))
    >>> X @ torch.eye(2)
    tensor([[0., 2.],
            [1., 0.]])
    """

    pattern: _Pattern
    values: Tensor

    @classmethod
    def from_scipy(cls, matrix: sp.csr_array, dtype: torch.dtype = torch.float32) -> SparseFeatures:
        """Lay out a SciPy sparse matrix, shape (n, f), and its transpose."""
        rows = sp.csr_array(matrix)
        rows.sum_duplicates()
        numbered = sp.csr_array(
            (np.arange(rows.nnz), rows.indices, rows.indptr), shape=rows.shape
        ).tocsc()
        pattern = _Pattern(
            crow=torch.tensor(rows.indptr, dtype=torch.int32),
            col=torch.tensor(rows.indices, dtype=torch.int32),
            crow_t=torch.tensor(numbered.indptr, dtype=torch.int32),
            col_t=torch.tensor(numbered.indices, dtype=torch.int32),
            to_t=torch.tensor(numbered.data, dtype=torch.int64),
            shape=rows.shape,
        )
        return cls(pattern, torch.tensor(rows.data).to(dtype))

    def to_scipy(self) -> sp.csr_array:
        """Return the matrix for SciPy, on the same memory."""
        p = self.pattern
        return sp.csr_array((self.values.numpy(), p.col.numpy(), p.crow.numpy()), shape=p.shape)

    @property
    def shape(self) -> tuple[int, int]:
        """(n, f)."""
        return self.pattern.shape

    @property
    def dtype(self) -> torch.dtype:
        """The precision of the values."""
        return self.values.dtype

    def size(self, axis: int) -> int:
        """Length along ``axis``, as for a tensor."""
        return self.pattern.shape[axis]

    def dropout(self, p: float, training: bool) -> SparseFeatures:
        """Drop each non-zero with probability ``p`` and scale the others by 1 / (1 − p)."""
        if not training or p == 0:
            return self
        return replace(self, values=torch.nn.functional.dropout(self.values, p))

    def __matmul__(self, weight: Tensor) -> Tensor:
        product: Tensor = _FeatureProduct.apply(weight, self)
        return product


Input = Tensor | SparseFeatures


def as_input(features: Features) -> Input:
    """Return scaled features, shape (n, f), as torch takes them: sparse ones stay sparse."""
    if sp.issparse(features):
        return SparseFeatures.from_scipy(features)
    return torch.tensor(features, dtype=torch.float32)


@overload
def dropout(x: Tensor, p: float, training: bool) -> Tensor: ...
@overload
def dropout(x: SparseFeatures, p: float, training: bool) -> SparseFeatures: ...
def dropout(x: Input, p: float, training: bool) -> Input:
    """Drop values (of sparse features: non-zeros) with probability ``p``, and scale the others."""
    if isinstance(x, SparseFeatures):
        return x.dropout(p, training)
    return torch.nn.functional.dropout(x, p, training)


class _FeatureProduct(torch.autograd.Function):
    """XW with the gradient XᵀG for W; X itself has none."""

    @staticmethod
    def forward(ctx: Any, weight: Tensor, x: SparseFeatures) -> Tensor:
        ctx.x = x
        p = x.pattern
        return csr_tensor(p.crow, p.col, x.values, p.shape) @ weight

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        p = ctx.x.pattern
        transposed = csr_tensor(p.crow_t, p.col_t, ctx.x.values[p.to_t], p.shape[::-1])
        return transposed @ grad.contiguous(), None
