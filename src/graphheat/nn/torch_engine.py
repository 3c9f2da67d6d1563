"""Chebyshev series applied to tensors: by torch's own products, or compiled where that pays."""

from __future__ import annotations

from dataclasses import dataclass

import scipy.sparse as sp
import torch
from torch import Tensor

from graphheat.heat.engines.auto import NUMBA
from graphheat.heat.engines.engine import is_installed
from graphheat.heat.operand import Operand
from graphheat.heat.series import ChebyshevSeries
from graphheat.nn.csr import to_torch


@dataclass(frozen=True)
class TorchEngine:
    """Σ_k c_k T_k(S) x for dense x, shape (n, c).

    The recurrence of :mod:`graphheat.heat.engines` in torch's products (MKL's, for a CSR matrix),
    which need no compiler; from ``compiled_work`` multiply-adds on, the numba engine on the
    tensor's own memory. Neither records anything for autograd: S is symmetric, so the derivative
    is the same product.

    Attributes
    ----------
    tensor
        S, CSR, in the precision of the products.
    operand
        The same S for the numba engine.
    compiled_work
        Multiply-adds of a product from which compiled loops are used.
    """

    tensor: Tensor
    operand: Operand
    compiled_work: float

    @classmethod
    def of(cls, S: sp.csr_array, dtype: torch.dtype, compiled_work: float) -> TorchEngine:
        """Return the engine for S, shape (n, n)."""
        return cls(to_torch(S, dtype), Operand(S), compiled_work)

    def apply(self, x: Tensor, series: ChebyshevSeries) -> Tensor:
        """Return f(S)x, shape (n, c)."""
        work = series.order * self.operand.nnz * x.shape[1]
        if work >= self.compiled_work and x.shape[1] >= 4 and is_installed(NUMBA):
            block, threads = x.detach().numpy(), torch.get_num_threads()
            return torch.from_numpy(NUMBA.apply(self.operand, block, [series], threads=threads)[0])
        S, coefficients = self.tensor, series.coefficients
        total: Tensor = coefficients[0] * x
        if len(coefficients) == 1:
            return total
        before, now = x, S @ x
        total.add_(now, alpha=float(coefficients[1]))
        for c in coefficients[2:]:
            before, now = now, torch.addmm(before, S, now, beta=-1, alpha=2)
            total.add_(now, alpha=float(c))
        return total
