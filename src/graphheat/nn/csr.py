"""SciPy's CSR matrices as torch tensors."""

from __future__ import annotations

import warnings

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor


def csr_tensor(crow: Tensor, col: Tensor, values: Tensor, shape: tuple[int, int]) -> Tensor:
    """Return a torch CSR tensor without checks, which its maker has made."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Sparse CSR tensor support is in beta")
        warnings.filterwarnings("ignore", message="Sparse invariant checks")
        return torch.sparse_csr_tensor(crow, col, values, shape, check_invariants=False)


def to_torch(matrix: sp.csr_array, dtype: torch.dtype) -> Tensor:
    """Return ``matrix`` as a torch CSR tensor; int32 indices where they fit, as MKL wants them."""
    return csr_tensor(
        torch.from_numpy(np.array(matrix.indptr)),
        torch.from_numpy(np.array(matrix.indices)),
        torch.from_numpy(np.array(matrix.data)).to(dtype),
        matrix.shape,
    )


def to_scipy(tensor: Tensor) -> sp.csr_array:
    """Return a torch CSR tensor as a SciPy array on the same memory."""
    parts = tensor.values().numpy(), tensor.col_indices().numpy(), tensor.crow_indices().numpy()
    n, m = tensor.shape
    return sp.csr_array(parts, shape=(n, m))
