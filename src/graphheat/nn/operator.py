"""Heat products that torch can differentiate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from numpy.polynomial.chebyshev import poly2cheb
from torch import Tensor

from graphheat.checks import check_choice, check_count, check_eps, check_s
from graphheat.errors import ParameterError
from graphheat.graph import Graph
from graphheat.graph.adjacency import validate, without_diagonal
from graphheat.heat import HeatKernel, compiled, normalized_adjacency
from graphheat.heat.chebyshev import Expansion, expand
from graphheat.heat.choice import numba_is_there
from graphheat.heat.kernel import Progress
from graphheat.heat.laplacian import Isolated
from graphheat.nn.csr import to_torch
from graphheat.nn.kernel_matrix import KernelMatrix

Multiply = Callable[[Tensor], Tensor]

COMPILED_WORK = 1e8  # multiply-adds of a product from which compiled loops are worth their start


class HeatOperator:
    """The products Σ_k e^{-ksL} z_k of a layer (Eq. 13), ready to be applied and differentiated.

    Made by :func:`heat_operator`; the same operator may serve several layers.

    Attributes
    ----------
    n, K, s, eps
        Number of nodes, number of terms, diffusion time, and threshold (None: implicit).
    dtype
        The precision of the products.
    nnz
        Stored numbers: of the kernel matrices (explicit) or of S (implicit).
    method
        How the kernel matrices were computed, or ``"implicit"``.
    """

    def __init__(
        self,
        n: int,
        K: int,
        s: float,
        eps: float | None,
        matrices: list[KernelMatrix],
        tol: float,
        dtype: torch.dtype,
        *,
        series: _Series | None = None,
        expansion: Expansion | None = None,
        method: str = "implicit",
    ) -> None:
        self.n, self.K, self.s, self.eps, self.tol, self.dtype = n, K, s, eps, tol, dtype
        self.method = method
        self._matrices = matrices  # none for K = 1 and a threshold, and for implicit products
        self._series = series
        self._expansion = expansion
        self.nnz = sum(each.nnz for each in (matrices if series is None else [series.matrix]))

    def __call__(self, terms: list[Tensor], s: Tensor | None = None) -> Tensor:
        """Return Σ_k e^{-ksL} terms[k].

        Parameters
        ----------
        terms
            K tensors of shape (n, c).
        s
            Diffusion time as a tensor that may require gradients; implicit operators only.
        """
        if len(terms) != self.K:
            raise ParameterError(f"This operator has K = {self.K} terms; got {len(terms)}.")
        if self.eps is None:
            # Horner: z_0 + H(z_1 + H(z_2 + …)), since e^{-ksL} = (e^{-sL})^k exactly.
            total = terms[-1]
            for term in reversed(terms[:-1]):
                total = term + self._diffuse(total, s)
            return total
        total = terms[0]
        for term, H in zip(terms[1:], self._matrices, strict=True):
            total = total + symmetric_product(term, H.__matmul__)
        return total

    def rows(self, index: Tensor) -> HeatOperator:
        """Return the operator whose products have only the rows ``index``, shape (r, c).

        A loss on a few nodes needs no more of the last layer; with a kernel matrix that layer then
        costs r / n of the whole, and its values are the same.
        """
        return _RowOperator(self, index)

    def _diffuse(self, x: Tensor, s: Tensor | None) -> Tensor:
        series = self._series
        if s is not None:
            return _DiffusionInTime.apply(x, s, series, self.tol)
        if self._expansion is None:
            self._expansion = expand(self.s, self.tol, 1)
        return symmetric_product(x, partial(series, expansion=self._expansion))


class _RowOperator(HeatOperator):
    """Some rows of another operator's products; see :meth:`HeatOperator.rows`."""

    def __init__(self, whole: HeatOperator, index: Tensor) -> None:
        self.n, self.K, self.s, self.eps = whole.n, whole.K, whole.s, whole.eps
        self.tol, self.dtype, self.method = whole.tol, whole.dtype, whole.method
        self._whole, self._index = whole, index
        parts = [each.rows(index.numpy()) for each in whole._matrices]
        self._parts = [
            (to_torch(part, self.dtype), to_torch(sp.csr_array(part.T), self.dtype))
            for part in parts
        ]
        self.nnz = sum(part.nnz for part in parts)

    def __call__(self, terms: list[Tensor], s: Tensor | None = None) -> Tensor:
        if self.eps is None:
            return self._whole(terms, s)[self._index]
        total = terms[0][self._index]
        for term, (rows, columns) in zip(terms[1:], self._parts, strict=True):
            total = total + _Product.apply(term, rows.__matmul__, columns.__matmul__)
        return total


def heat_operator(
    graph: Graph | Any,
    s: float,
    *,
    K: int = 2,
    eps: float | None = None,
    zero_diagonal: bool = False,
    self_loops: float = 0.0,
    isolated: Isolated = "paper",
    tol: float = 1e-6,
    threads: int | None = None,
    dtype: torch.dtype = torch.float32,
    compiled_work: float = COMPILED_WORK,
    progress: Progress | None = None,
) -> HeatOperator:
    """Build the operator of a :class:`~graphheat.nn.HeatConv`.

    Parameters
    ----------
    graph
        A Graph or a symmetric matrix, shape (n, n).
    eps
        None: implicit, Chebyshev products with S, no kernel matrix. A number: explicit, the K − 1
        matrices e^{-ksL}, each computed exactly and thresholded once.
    zero_diagonal
        Set the kernels' diagonals to 0, as the paper's authors' code does; explicit only.
    compiled_work
        Implicit only: multiply-adds of a product from which compiled loops are used. Lower it for
        an operator that is applied thousands of times.
    progress
        Called as ``progress(rows_done, n)`` while the last kernel is computed.

    Examples
    --------
    >>> import numpy as np, torch
    >>> pair = np.array([[0.0, 1.0], [1.0, 0.0]])
    >>> operator = heat_operator(pair, s=1.0)
    >>> operator([torch.zeros(2, 1), torch.tensor([[1.0], [1.0]])]).flatten()
    tensor([1., 1.])
    """
    s = check_s(s, "HeatConv")
    K = check_count(K, "K", "HeatConv")
    check_choice(isolated, "isolated", "HeatConv", ("paper", "keep"))
    adjacency = graph.adjacency if isinstance(graph, Graph) else validate(graph)
    n = adjacency.shape[0]
    if eps is None:
        if zero_diagonal:
            raise ParameterError(
                "The 'zero_diagonal' parameter of HeatConv needs an explicit kernel: give eps."
            )
        S = normalized_adjacency(adjacency, self_loops=self_loops, isolated=isolated)
        series = _Series.of(S, dtype, compiled_work)
        return HeatOperator(n, K, s, None, [], tol, dtype, series=series)
    eps = check_eps(eps, "HeatConv")
    matrices, method = [], "none"
    S = normalized_adjacency(adjacency, self_loops=self_loops, isolated=isolated)
    for k in range(1, K):
        kernel = HeatKernel(
            adjacency, k * s, tol=tol, self_loops=self_loops, isolated=isolated, threads=threads
        )
        matrix = kernel.matrix(eps, progress=progress if k == K - 1 else None)
        method = kernel.plan(eps).method
        if zero_diagonal:
            matrix = without_diagonal(matrix)
        matrices.append(KernelMatrix.lay_out(matrix, S, dtype))
    return HeatOperator(n, K, s, eps, matrices, tol, dtype, method=method)


def powers_operator(
    graph: Graph, order: int, *, self_loops: float = 0.0, compiled_work: float = COMPILED_WORK
) -> HeatOperator:
    """Return the mean of the powers S⁰ … S^order in the place of e^{-sL}, K = 2.

    GRAND's propagation (Feng et al. 2020), to be compared with heat. Its ``s`` is the mean number
    of steps, order / 2, as s is that of heat.
    """
    order = check_count(order, "order", "powers_operator")
    S = normalized_adjacency(graph.adjacency, self_loops=self_loops)
    dtype, tol = torch.float32, 0.0
    coefficients = poly2cheb(np.full(order + 1, 1 / (order + 1)))
    expansion = Expansion(order / 2, coefficients, np.dtype(np.float32), 0.0, 0.0)
    series = _Series.of(S, dtype, compiled_work)
    return HeatOperator(
        graph.n, 2, order / 2, None, [], tol, dtype,
        series=series, expansion=expansion, method="powers",
    )  # fmt: skip


def polynomial_product(
    S: sp.csr_array, expansion: Expansion, *, compiled_work: float = COMPILED_WORK
) -> Multiply:
    """Return z ↦ Σ_k c_k T_k(S) z for dense float32 z, shape (n, c)."""
    series = _Series.of(S, torch.float32, compiled_work)
    return partial(series, expansion=replace(expansion, dtype=np.dtype(np.float32)))


def symmetric_product(x: Tensor, multiply: Multiply) -> Tensor:
    """Return Hx, shape (n, c), differentiable in x; ``multiply`` is z ↦ Hz with H = Hᵀ."""
    product: Tensor = _Product.apply(x, multiply, multiply)
    return product


class _Product(torch.autograd.Function):
    """y = Hx, and Hᵀg for its backward pass, both given as functions.

    torch's own derivative of a CSR product transposes H at every call, which costs 63–85 times
    the forward pass on the paper's kernels; H = Hᵀ needs no transpose at all.
    """

    @staticmethod
    def forward(ctx: Any, x: Tensor, multiply: Multiply, multiply_transposed: Multiply) -> Tensor:
        ctx.multiply_transposed = multiply_transposed
        return multiply(x.contiguous())

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None]:  # type: ignore[override]
        return ctx.multiply_transposed(grad.contiguous()), None, None


class _DiffusionInTime(torch.autograd.Function):
    """y = e^{-sL}x with gradients in x (the same product) and in s (−L e^{-sL}x, exactly)."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, s: Tensor, series: _Series, tol: float) -> Tensor:
        ctx.series = series
        time = check_s(float(s), "HeatConv")  # training may have driven it anywhere
        ctx.expansion = expand(time, tol, 1)
        y = series(x.contiguous(), ctx.expansion)
        ctx.save_for_backward(y, s)
        return y

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:  # type: ignore[override]
        y, s = ctx.saved_tensors
        grad = grad.contiguous()
        grad_x = ctx.series(grad, ctx.expansion) if ctx.needs_input_grad[0] else None
        grad_s = None
        if ctx.needs_input_grad[1]:
            grad_s = (-(grad * (y - ctx.series.tensor @ y)).sum()).to(s.dtype).reshape(s.shape)
        return grad_x, grad_s, None, None


@dataclass(frozen=True)
class _Series:
    """Σ_k c_k T_k(S) x for dense x, shape (n, c): by torch, or compiled where that pays."""

    tensor: Tensor
    matrix: sp.csr_array
    compiled_work: float

    @classmethod
    def of(cls, S: sp.csr_array, dtype: torch.dtype, compiled_work: float) -> _Series:
        tensor = to_torch(S, dtype)
        return cls(tensor, S.astype(tensor.values().numpy().dtype), compiled_work)

    def __call__(self, x: Tensor, expansion: Expansion) -> Tensor:
        work = expansion.order * self.matrix.nnz * x.shape[1]
        if work >= self.compiled_work and x.shape[1] >= 4 and numba_is_there():
            block, threads = x.detach().numpy(), torch.get_num_threads()
            heat = compiled.diffuse(self.matrix, block, [expansion], threads=threads)
            return torch.from_numpy(heat[0])
        S, coefficients = self.tensor, expansion.coefficients
        total = coefficients[0] * x
        if len(coefficients) == 1:
            return total
        before, now = x, S @ x
        total.add_(now, alpha=float(coefficients[1]))
        for c in coefficients[2:]:
            before, now = now, torch.addmm(before, S, now, beta=-1, alpha=2)
            total.add_(now, alpha=float(c))
        return total
