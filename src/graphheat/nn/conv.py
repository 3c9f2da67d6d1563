"""HeatConv: the paper's graph convolution as a layer."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from graphheat.checks import check_count, check_eps, check_s
from graphheat.errors import ParameterError
from graphheat.graph.adjacency import validate
from graphheat.graph.foreign import edge_index_to_scipy
from graphheat.nn.features import SparseFeatures
from graphheat.nn.operator import HeatOperator, heat_operator

Key = tuple[int, torch.dtype, Tensor, Tensor | None]  # what an operator was built from


class HeatConv(nn.Module):
    r"""Graph convolution with the heat kernel.

    From "Graph Convolutional Networks using Heat Kernel for Semi-supervised Learning" (Xu et al.,
    IJCAI 2019). As matrices (Eq. 13; K = 2 is the paper's layer, Eq. 14):

    .. math:: Y = \sum_{k=0}^{K-1} e^{-ksL} X \Theta_k, \qquad L = I - D^{-1/2} A D^{-1/2}

    and for a node i, with w the heat that reaches i from j:

    .. math:: y_i = \Theta_0^\top x_i + \sum_j w_{ij}\, \Theta_1^\top x_j,
              \qquad w_{ij} = [e^{-sL}]_{ij}

    Parameters
    ----------
    in_channels, out_channels
        Numbers of input and output features.
    s
        Diffusion time; with ``learn_s`` its first value.
    K
        Number of kernel terms, at least 1. K = 1 is a linear layer.
    eps
        None: implicit, by Chebyshev products cut off at 1e-6, no threshold, no matrix: cheapest on
        larger graphs.
        A number: explicit; entries of each e^{-ksL} below it are dropped, as in the paper.
    learn_s
        Make s a parameter, kept ≥ 0 by a softplus; implicit only.
    bias
        Add a bias; the paper has none.
    zero_diagonal
        Zero the kernels' diagonals, as the authors' code does; explicit only.
    cached
        Keep the operator between calls; it is rebuilt when edges, weights or the number of nodes
        change. Leave it on unless every call brings another graph.

    Shapes
    ------
    - **input**: x (n, in_channels), dense or :class:`~graphheat.nn.SparseFeatures`; edge_index
      (2, e) naming both directions of each edge; edge_weight (e,), optional. In place of
      edge_index: an operator from :func:`~graphheat.nn.heat_operator`.
    - **output**: (n, out_channels)

    Examples
    --------
    >>> import torch
    >>> conv = HeatConv(3, 2, s=2.0)
    >>> edge_index = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    >>> conv(torch.randn(3, 3), edge_index).shape
    torch.Size([3, 2])
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        s: float,
        *,
        K: int = 2,
        eps: float | None = None,
        learn_s: bool = False,
        bias: bool = False,
        zero_diagonal: bool = False,
        cached: bool = True,
    ) -> None:
        super().__init__()
        self.in_channels = check_count(in_channels, "in_channels", "HeatConv")
        self.out_channels = check_count(out_channels, "out_channels", "HeatConv")
        self.K = check_count(K, "K", "HeatConv")
        self.eps = None if eps is None else check_eps(eps, "HeatConv")
        self._s = check_s(s, "HeatConv")
        self.learn_s, self.zero_diagonal, self.cached = learn_s, zero_diagonal, cached
        if self.eps is None and zero_diagonal:
            raise ParameterError(
                "The 'zero_diagonal' parameter of HeatConv needs an explicit kernel: give eps."
            )
        if self.eps is not None and learn_s:
            raise ParameterError(
                "The 'learn_s' parameter of HeatConv needs the implicit kernel: pass eps=None."
            )
        self.weight = nn.Parameter(torch.empty(self.K, in_channels, out_channels))
        self.bias = nn.Parameter(torch.empty(out_channels)) if bias else None
        self.raw_s = nn.Parameter(torch.empty(())) if learn_s else None
        self._cache: tuple[Key, HeatOperator] | None = None
        self.reset_parameters()

    @property
    def s(self) -> float:
        """The diffusion time, as it is now."""
        return self._s if self.raw_s is None else float(nn.functional.softplus(self.raw_s.detach()))

    def reset_parameters(self) -> None:
        """Draw the weights after Glorot, zero the bias, set s to its first value."""
        for term in self.weight:
            nn.init.xavier_uniform_(term)
        if self.bias is not None:
            nn.init.zeros_(self.bias)
        if self.raw_s is not None:
            start = torch.tensor(max(self._s, 1e-6), dtype=torch.float64)
            with torch.no_grad():
                self.raw_s.copy_(start + torch.log(-torch.expm1(-start)))  # softplus inverted

    def forward(
        self,
        x: Tensor | SparseFeatures,
        edge_index: Tensor | HeatOperator,
        edge_weight: Tensor | None = None,
    ) -> Tensor:
        """Convolve; shapes are given above."""
        if isinstance(edge_index, HeatOperator):
            operator = edge_index
            if operator.K != self.K:
                raise ParameterError(
                    f"The operator has K = {operator.K} terms and this layer {self.K}; "
                    "build it with the layer's K."
                )
        else:
            operator = self._operator(x, edge_index, edge_weight)
        if x.dtype != operator.dtype:
            raise ParameterError(
                f"x is {x.dtype} and the operator {operator.dtype}; build it with dtype={x.dtype}."
            )
        if x.size(0) != operator.n:
            raise ParameterError(
                f"x must have one row per node; got {x.size(0)} for {operator.n} nodes."
            )
        # Multiply first: the products then have out_channels columns, not in_channels.
        joined = x @ self.weight.permute(1, 0, 2).reshape(self.in_channels, -1)
        terms = list(joined.split(self.out_channels, dim=1))
        s = None if self.raw_s is None else nn.functional.softplus(self.raw_s)
        y = operator(terms, s)
        return y if self.bias is None else y + self.bias

    def _operator(
        self, x: Tensor | SparseFeatures, edge_index: Tensor, edge_weight: Tensor | None
    ) -> HeatOperator:
        if edge_weight is not None and edge_weight.requires_grad:
            raise ParameterError(
                "edge_weight must not require gradients: HeatConv does not differentiate the "
                "kernel. Pass edge_weight.detach()."
            )
        key = (x.size(0), x.dtype, edge_index, edge_weight)
        if self._cache is not None and _same(self._cache[0], key):
            return self._cache[1]
        adjacency = validate(edge_index_to_scipy(edge_index, edge_weight, x.size(0)))
        operator = heat_operator(
            adjacency,
            self._s,
            K=self.K,
            eps=self.eps,
            zero_diagonal=self.zero_diagonal,
            dtype=x.dtype,
        )
        if self.cached:
            kept = edge_index.clone(), None if edge_weight is None else edge_weight.clone()
            self._cache = ((*key[:2], *kept), operator)
        return operator

    def __getstate__(self) -> dict[str, Any]:
        # torch can neither copy nor pickle CSR tensors; the operator is built again when needed.
        state = super().__getstate__()  # type: ignore[no-untyped-call]  # torch's has no types
        return {**state, "_cache": None}

    def extra_repr(self) -> str:
        """Return what ``repr`` shows."""
        return f"{self.in_channels}, {self.out_channels}, s={self.s:g}, K={self.K}, eps={self.eps}"


def _same(a: Key, b: Key) -> bool:
    for x, y in zip(a, b, strict=True):
        if isinstance(x, Tensor) and isinstance(y, Tensor):
            if not torch.equal(x, y):
                return False
        elif x != y:
            return False
    return True
