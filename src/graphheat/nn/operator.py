"""Heat products that torch can differentiate."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
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
from graphheat.heat import HeatKernel, normalized_adjacency
from graphheat.heat.laplacian import Isolated
from graphheat.heat.series import SINGLE, ChebyshevSeries, heat_series
from graphheat.nn.csr import to_torch
from graphheat.nn.heat_layer import TOL
from graphheat.nn.kernel_matrix import KernelMatrix
from graphheat.nn.torch_engine import TorchEngine
from graphheat.progress import Progress

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
    engine
        What computed the kernel matrices, or ``"implicit"``.
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
        products: TorchEngine | None = None,
        series: ChebyshevSeries | None = None,
        engine: str = "implicit",
    ) -> None:
        self.n, self.K, self.s, self.eps, self.tol, self.dtype = n, K, s, eps, tol, dtype
        self.engine = engine
        self._matrices = matrices  # none for K = 1 and a threshold, and for implicit products
        self._products = products
        self._series = series
        self._loops: HeatOperator | None = None
        self.nnz = sum(each.nnz for each in (matrices if products is None else [products.operand]))

    @property
    def method(self) -> str:
        """The engine, by its earlier name."""
        return self.engine

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

    def transposed(self, grad: Tensor) -> list[Tensor]:
        """Return e^{-ksL}ᵀ grad for k = 0 … K − 1: what terms, shape (n, c), get back from it."""
        if self.eps is not None:
            return [grad, *(H @ grad for H in self._matrices)]
        found = [grad]
        for _ in range(self.K - 1):
            found.append(self._diffuse(found[-1], None))
        return found

    def gradients(
        self, grad: Tensor, terms: list[Tensor], s: Tensor
    ) -> tuple[list[Tensor], Tensor]:
        """Return what terms get back from ``grad``, and s, where it is learned; implicit only.

        For tracers, below which there is no autograd; elsewhere torch derives the same.
        """
        assert self._products is not None  # a learned s has them
        series = heat_series(check_s(float(s), "HeatConv"), self.tol, 1)
        diffused: list[Tensor] = []
        total = terms[-1]
        for term in reversed(terms[:-1]):
            diffused.append(self._products.apply(total.contiguous(), series))
            total = term + diffused[-1]
        found, to_s = [grad], torch.zeros_like(s)
        for y in reversed(diffused):
            to_s = to_s - (found[-1] * (y - self._products.tensor @ y)).sum().to(s.dtype)
            found.append(self._products.apply(found[-1].contiguous(), series))
        return found, to_s

    def by_loops(self) -> HeatOperator:
        """Return the operator that uses compiled loops for products of any size, where it can."""
        if self._products is None:
            return self
        if self._loops is None:
            self._loops = copy.copy(self)
            self._loops._products = replace(self._products, compiled_work=0.0)
        return self._loops

    def to(self, device: torch.device) -> HeatOperator:
        """Return the operator with its kernel matrices on another device; explicit ones only."""
        if self.eps is None:
            raise ParameterError("An implicit operator stays on the CPU; give the layer the edges.")
        other = copy.copy(self)
        other._matrices = [each.to(device) for each in self._matrices]
        return other

    def rows(self, index: Tensor) -> HeatOperator:
        """Return the operator whose products have only the rows ``index``, shape (r, c).

        A loss on a few nodes needs no more of the last layer; with a kernel matrix that layer then
        costs r / n of the whole, and its values are the same.
        """
        return _RowOperator(self, index)

    def _diffuse(self, x: Tensor, s: Tensor | None) -> Tensor:
        assert self._products is not None  # implicit operators have them
        if s is not None:
            diffused: Tensor = _DiffusionInTime.apply(x, s, self._products, self.tol)
            return diffused
        if self._series is None:
            self._series = heat_series(self.s, self.tol, 1)
        return symmetric_product(x, partial(self._products.apply, series=self._series))


class _RowOperator(HeatOperator):
    """Some rows of another operator's products; see :meth:`HeatOperator.rows`."""

    def __init__(self, whole: HeatOperator, index: Tensor) -> None:
        self.n, self.K, self.s, self.eps = whole.n, whole.K, whole.s, whole.eps
        self.tol, self.dtype, self.engine = whole.tol, whole.dtype, whole.engine
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
    tol: float = TOL,
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
        Called as ``progress(rows_done, n, "rows")`` while the last kernel is computed.

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
        products = TorchEngine.of(S, dtype, compiled_work)
        return HeatOperator(n, K, s, None, [], tol, dtype, products=products)
    eps = check_eps(eps, "HeatConv")
    matrices, engine = [], "none"
    S = normalized_adjacency(adjacency, self_loops=self_loops, isolated=isolated)
    for k in range(1, K):
        kernel = HeatKernel(
            adjacency, k * s, tol=tol, self_loops=self_loops, isolated=isolated, threads=threads
        )
        matrix = kernel.matrix(eps, progress=progress if k == K - 1 else None)
        engine = kernel.plan(eps).engine
        if zero_diagonal:
            matrix = without_diagonal(matrix)
        matrices.append(KernelMatrix.lay_out(matrix, S, dtype))
    return HeatOperator(n, K, s, eps, matrices, tol, dtype, engine=engine)


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
    series = ChebyshevSeries(coefficients, SINGLE)
    products = TorchEngine.of(S, dtype, compiled_work)
    return HeatOperator(
        graph.n, 2, order / 2, None, [], tol, dtype,
        products=products, series=series, engine="powers",
    )  # fmt: skip


def polynomial_product(
    S: sp.csr_array, series: ChebyshevSeries, *, compiled_work: float = COMPILED_WORK
) -> Multiply:
    """Return z ↦ Σ_k c_k T_k(S) z for dense float32 z, shape (n, c)."""
    products = TorchEngine.of(S, torch.float32, compiled_work)
    return partial(products.apply, series=replace(series, dtype=SINGLE))


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
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None]:
        return ctx.multiply_transposed(grad.contiguous()), None, None


class _DiffusionInTime(torch.autograd.Function):
    """y = e^{-sL}x with gradients in x (the same product) and in s (−L e^{-sL}x, exactly)."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, s: Tensor, products: TorchEngine, tol: float) -> Tensor:
        ctx.products = products
        time = check_s(float(s), "HeatConv")  # training may have driven it anywhere
        ctx.series = heat_series(time, tol, 1)
        y = products.apply(x.contiguous(), ctx.series)
        ctx.save_for_backward(y, s)
        return y

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        y, s = ctx.saved_tensors
        grad = grad.contiguous()
        grad_x = ctx.products.apply(grad, ctx.series) if ctx.needs_input_grad[0] else None
        grad_s = None
        if ctx.needs_input_grad[1]:
            grad_s = (-(grad * (y - ctx.products.tensor @ y)).sum()).to(s.dtype).reshape(s.shape)
        return grad_x, grad_s, None, None
