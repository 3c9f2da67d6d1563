"""HeatConv: the paper's graph convolution as a layer."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from graphheat.checks import check_choice, check_eps
from graphheat.errors import ParameterError
from graphheat.nn.edge_matrix import EdgeMatrix, Symmetrize, edge_matrix
from graphheat.nn.features import SparseFeatures
from graphheat.nn.graph_edges import GraphEdges
from graphheat.nn.heat_layer import (
    HALVES,
    Channels,
    HeatLayer,
    is_exported,
    is_traced,
    single_precision,
)
from graphheat.nn.operator import HeatOperator, heat_operator
from graphheat.nn.traced_heat import enlist, traced_heat

Input = Tensor | SparseFeatures


class HeatConv(HeatLayer):
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
        Numbers of input and output features; in_channels = −1: known at the first call. A pair of
        in_channels is for edges between two kinds of nodes, sources and targets.
    s
        Diffusion time; with ``learn_s`` its first value.
    K
        Number of kernel terms, at least 1. K = 1 is a linear layer.
    eps
        None: implicit, by Chebyshev products cut off at 1e-6, no threshold, no matrix: cheapest on
        larger graphs.
        A number: explicit; entries of each e^{-ksL} below it are dropped, as in the paper. The
        matrix is computed on the CPU, whatever the device, and weights get no gradients.
    learn_s
        Make s a parameter, kept ≥ 0 by a softplus; implicit only.
    bias
        Add a bias; the paper has none.
    zero_diagonal
        Zero the kernels' diagonals, as the authors' code does; explicit only.
    symmetrize
        What to do with one-way edges, and with edges whose directions differ in weight: ``"max"``
        takes the larger weight for both directions, ``"sum"`` the sum of both; None: they are an
        error. ``layer.symmetrized`` says what was done to the last graph.
    cached
        Keep the operator between calls; it is rebuilt when edges, weights or the number of nodes
        change. Leave it on unless every call brings another graph. Beyond the CPU, a graph is known
        by its tensors and not by their values, so that nothing is read back: give the same tensors.

    Shapes
    ------
    - **input**: x (n, in_channels), dense or :class:`~graphheat.nn.SparseFeatures`; edge_index
      (2, e); edge_weight (e,), optional. In place of edge_index: a sparse adjacency tensor (n, n),
      or an operator from :func:`~graphheat.nn.heat_operator`.
      Of edges between two kinds of nodes: x is a pair of tensors, (n₁, in_channels[0]) and
      (n₂, in_channels[1]), and edge_index leads from the first kind to the second.
    - **output**: (n, out_channels); (n₂, out_channels) for a pair

    Notes
    -----
    *Accuracy*: 1e-6 in the spectral norm beside the rounding of the dtype; float16 and bfloat16
    are diffused in float32. *Cost*: order m ≈ √(30 s) + 10 products with S per term. *Gradients*:
    in x, weights, a learned s, and edge_weight (implicit). *Deterministic*: on the CPU. *Isolated
    nodes*: keep e^{-ks} of what they have.

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
        in_channels: Channels,
        out_channels: int,
        s: float,
        *,
        K: int = 2,
        eps: float | None = None,
        learn_s: bool = False,
        bias: bool = False,
        zero_diagonal: bool = False,
        symmetrize: Symmetrize | None = None,
        cached: bool = True,
    ) -> None:
        super().__init__(in_channels, out_channels, s, K, learn_s, bias)
        self.eps = None if eps is None else check_eps(eps, "HeatConv")
        check_choice(symmetrize, "symmetrize", "HeatConv", (None, "max", "sum"))
        self.zero_diagonal, self.symmetrize, self.cached = zero_diagonal, symmetrize, cached
        if self.eps is None and zero_diagonal:
            raise ParameterError(
                "The 'zero_diagonal' parameter of HeatConv needs an explicit kernel: give eps."
            )
        if self.eps is not None and learn_s:
            raise ParameterError(
                "The 'learn_s' parameter of HeatConv needs the implicit kernel: pass eps=None."
            )
        self._cache: tuple[GraphEdges, torch.dtype, HeatOperator | EdgeMatrix] | None = None
        self.symmetrized: str | None = None
        self._number = enlist(self)

    def forward(
        self,
        x: Input | tuple[Tensor, Tensor],
        edge_index: Tensor | HeatOperator,
        edge_weight: Tensor | None = None,
    ) -> Tensor:
        """Convolve; shapes are given above."""
        own = x[1] if isinstance(x, tuple) else x
        joined = self._joined(x)
        if isinstance(edge_index, HeatOperator):
            y = self._by(edge_index, joined)
        else:
            n, sources = joined.shape[0], x[0].shape[0] if isinstance(x, tuple) else None
            edges = GraphEdges.of(edge_index, edge_weight, n, sources, self.symmetrize)
            y = self._diffused(edges, joined)
        y = y[-own.size(0) :] if isinstance(x, tuple) else y
        return y if self.bias is None else y + self.bias

    def _joined(self, x: Input | tuple[Tensor, Tensor]) -> Tensor:
        """Return all nodes' terms side by side, shape (n, K · out_channels); sources come first."""
        if not isinstance(x, tuple):
            if self.source_weight is not None:
                raise ParameterError(
                    f"This layer has in_channels = {self.in_channels}, for edges between two kinds "
                    "of nodes; give x as a pair (sources, targets)."
                )
            return self.weighted(x, self.weight)
        sources, targets = x
        if sources is None or targets is None:
            raise ParameterError(
                "x must hold the features of sources and of targets, and one is None; heat flows "
                "both ways along an edge."
            )
        theta = self.weight[1:] if self.source_weight is None else self.source_weight
        given = self.weighted(sources, theta)
        nothing = given.new_zeros(given.shape[0], self.out_channels)  # Θ_0 is the targets' own
        return torch.cat(
            [torch.cat([nothing, given], dim=1), self.weighted(targets, self.weight)], dim=0
        )

    def _by(self, operator: HeatOperator, joined: Tensor) -> Tensor:
        if operator.K != self.K:
            raise ParameterError(
                f"The operator has K = {operator.K} terms and this layer {self.K}; "
                "build it with the layer's K."
            )
        if joined.dtype != operator.dtype and joined.dtype not in HALVES:
            raise ParameterError(
                f"x is {joined.dtype} and the operator {operator.dtype}; "
                f"build it with dtype={joined.dtype}."
            )
        if joined.shape[0] != operator.n:
            raise ParameterError(
                f"x must have one row per node; got {joined.shape[0]} for {operator.n} nodes."
            )
        if joined.dtype in HALVES:
            with single_precision(joined.device):
                terms = joined.to(operator.dtype).split(self.out_channels, dim=1)
                return operator(list(terms), self.time()).to(joined.dtype)
        return operator(list(joined.split(self.out_channels, dim=1)), self.time())

    def _diffused(self, edges: GraphEdges, joined: Tensor) -> Tensor:
        """Return Σ_k e^{-ksL} of the terms, float16 and bfloat16 diffused in float32."""
        if joined.dtype not in HALVES:
            return self._by_edges(edges, joined)
        with single_precision(joined.device):
            return self._by_edges(edges, joined.to(torch.float32)).to(joined.dtype)

    def _by_edges(self, edges: GraphEdges, joined: Tensor) -> Tensor:
        """Return Σ_k e^{-ksL} of the terms, by the way that fits device, tracer and gradients."""
        traced, exported = is_traced(), is_exported()
        weight_grad = edges.weight is not None and edges.weight.requires_grad
        mask = self._edge_mask_of(edges)
        explicit = self.eps is not None
        if explicit and (weight_grad or mask is not None or exported):
            raise ParameterError(
                f"eps = {self.eps} asks for a kernel matrix, which has no gradients in edge "
                "weights, no edge masks and no export; pass eps=None, or edge_weight.detach()."
            )
        if explicit or (edges.on_cpu and not exported and not weight_grad and mask is None):
            if traced:
                s = self.time()
                return traced_heat(
                    joined, edges.index, edges.weight, s, self._number, edges.sources
                )
            terms = list(joined.split(self.out_channels, dim=1))
            return self._operator(edges, joined.dtype)(terms, self.time())
        return self.horner(self._matrix(edges, mask, traced), joined)

    def _edge_mask_of(self, edges: GraphEdges) -> Tensor | None:
        """Return what S is multiplied with, edge by edge, shape (e,); here: nothing."""
        return None

    def _matrix(self, edges: GraphEdges, mask: Tensor | None, traced: bool) -> EdgeMatrix:
        """Return S in torch's operations, kept where it depends on nothing that learns."""
        plain = mask is None and not (edges.weight is not None and edges.weight.requires_grad)
        keep = self.cached and plain and not traced
        if keep and self._cache is not None and self._cache[0].same(edges):
            kept = self._cache[2]
            if isinstance(kept, EdgeMatrix):
                return kept
        if edges.on_cpu and not traced:
            edges.check()  # elsewhere the device asserts it, without a wait
            self.symmetrized = edges.account()
        else:
            self.symmetrized = edges.rule()
        index, weight = edges.stacked()
        matrix = edge_matrix(index, weight, edges.n, symmetrize=edges.symmetrize, mask=mask)
        if keep:
            self._cache = edges.kept(), matrix.value.dtype, matrix
        return matrix

    def _operator(self, edges: GraphEdges, dtype: torch.dtype) -> HeatOperator:
        """Return the operator of a graph, for products in ``dtype``."""
        if self._cache is not None and self._cache[1] == dtype and self._cache[0].same(edges):
            kept = self._cache[2]
            if isinstance(kept, HeatOperator):
                return kept
        operator = heat_operator(
            edges.adjacency(),
            self._s,
            K=self.K,
            eps=self.eps,
            zero_diagonal=self.zero_diagonal,
            dtype=dtype,
        )
        if not edges.on_cpu:
            operator = operator.to(edges.index.device)
        self.symmetrized = edges.account()
        if self.cached:
            self._cache = edges.kept(), dtype, operator
        return operator

    def operator_of(
        self, x: Input, edge_index: Tensor, edge_weight: Tensor | None
    ) -> HeatOperator | None:
        """Return the layer's operator for a graph, for several layers to share.

        None where each layer has to see the edges: in a tracer, beyond the CPU, with gradients in
        the weights.
        """
        edges = GraphEdges.of(edge_index, edge_weight, x.size(0), None, self.symmetrize)
        learns = edge_weight is not None and edge_weight.requires_grad
        if is_traced() or not edges.on_cpu or learns:
            return None
        return self._operator(edges, torch.float32 if x.dtype in HALVES else x.dtype)

    # ------------------------------------------------------------------ state

    def __getstate__(self) -> dict[str, Any]:
        # torch can neither copy nor pickle CSR tensors; the operator is built again when needed.
        state = super().__getstate__()  # type: ignore[no-untyped-call]  # torch's has no types
        return {**state, "_cache": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)  # type: ignore[no-untyped-call]
        self._number = enlist(self)  # a copy is another layer

    def extra_repr(self) -> str:
        """Return what ``repr`` shows."""
        more = "" if self.symmetrize is None else f", symmetrize={self.symmetrize!r}"
        return f"{super().extra_repr()}, eps={self.eps}{more}"
