"""RelationalHeatConv: heat along edges of several types, each with a share that is learned."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from graphheat.checks import check_choice, check_count
from graphheat.errors import GraphError
from graphheat.nn.edge_matrix import Symmetrize, relation_matrix
from graphheat.nn.graph_edges import GraphEdges
from graphheat.nn.heat_layer import HALVES, HeatLayer, is_traced, single_precision


class RelationalHeatConv(HeatLayer):
    r"""Graph convolution with one heat kernel for all types of edges together.

    .. math:: Y = \sum_{k=0}^{K-1} e^{-ks \sum_r w_r L_r} X \Theta_k,
              \qquad w = \mathrm{softmax}(\omega)

    Each type r of edges has its own normalised Laplacian L_r, and how fast heat flows along it,
    w_r, is learned. PyG's ``HeteroConv`` with a :class:`HeatConv` per type adds up the *results* of
    separate diffusions instead; here heat changes from one type to another on its way.

    Parameters
    ----------
    in_channels, out_channels, s, K, learn_s, bias, symmetrize
        As for :class:`HeatConv`.
    num_relations
        Number of types of edges.

    Attributes
    ----------
    shares
        w, shape (num_relations,): at first all alike.

    Shapes
    ------
    - **input**: x (n, in_channels); edge_index (2, e); edge_type (e,), 0 … num_relations − 1;
      edge_weight (e,), optional. ``HeteroData.to_homogeneous()`` makes these.
    - **output**: (n, out_channels)

    Notes
    -----
    As for :class:`HeatConv`, but for *isolated nodes*: a node without edges of a type has L_r = 0
    there, so that nodes which only some types touch lose no heat to the others.

    Examples
    --------
    >>> conv = RelationalHeatConv(3, 2, num_relations=2, s=2.0)
    >>> edge_index = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    >>> conv(torch.randn(3, 3), edge_index, torch.tensor([0, 0, 1, 1])).shape
    torch.Size([3, 2])
    >>> conv.shares
    tensor([0.5000, 0.5000])
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        num_relations: int,
        s: float,
        *,
        K: int = 2,
        learn_s: bool = False,
        bias: bool = False,
        symmetrize: Symmetrize | None = None,
    ) -> None:
        super().__init__(in_channels, out_channels, s, K, learn_s, bias)
        self.num_relations = check_count(num_relations, "num_relations", "RelationalHeatConv")
        check_choice(symmetrize, "symmetrize", "RelationalHeatConv", (None, "max", "sum"))
        self.symmetrize: Symmetrize | None = symmetrize
        self.raw_shares = nn.Parameter(torch.zeros(self.num_relations))

    @property
    def shares(self) -> Tensor:
        """How fast heat flows along each type of edges, shape (num_relations,), sum 1."""
        return torch.softmax(self.raw_shares, 0).detach()

    def reset_parameters(self) -> None:
        """Draw the weights anew, and let all types count alike."""
        super().reset_parameters()
        if hasattr(self, "raw_shares"):
            nn.init.zeros_(self.raw_shares)

    def forward(
        self, x: Tensor, edge_index: Tensor, edge_type: Tensor, edge_weight: Tensor | None = None
    ) -> Tensor:
        """Convolve; shapes are given above."""
        joined = self.weighted(x, self.weight)
        edges = GraphEdges.of(edge_index, edge_weight, x.size(0), None, self.symmetrize)
        if edge_type.shape != edges.index.shape[1:]:
            raise GraphError(
                f"edge_type must hold one type per edge; got {tuple(edge_type.shape)} for "
                f"{edges.index.shape[1]} edges."
            )
        if edges.on_cpu and not is_traced():
            self._check(edges, edge_type)
        matrix = relation_matrix(
            edges.index,
            edges.weight,
            edge_type,
            torch.softmax(self.raw_shares, 0),
            x.size(0),
            symmetrize=self.symmetrize,
        )
        if joined.dtype in HALVES:
            with single_precision(joined.device):
                y = self.horner(matrix, joined.to(torch.float32)).to(joined.dtype)
        else:
            y = self.horner(matrix, joined)
        return y if self.bias is None else y + self.bias

    def _check(self, edges: GraphEdges, edge_type: Tensor) -> None:
        """Raise where types or the edges of one break a rule."""
        if len(edge_type) and not 0 <= int(edge_type.min()) <= int(edge_type.max()) < (
            self.num_relations
        ):
            raise GraphError(
                f"edge_type must be in [0, {self.num_relations}); got values from "
                f"{int(edge_type.min())} to {int(edge_type.max())}."
            )
        for kind in range(self.num_relations):
            chosen = edge_type == kind
            weight = None if edges.weight is None else edges.weight[chosen]
            of_kind = GraphEdges(edges.index[:, chosen], weight, edges.n, None, self.symmetrize)
            of_kind.check()

    def extra_repr(self) -> str:
        """Return what ``repr`` shows."""
        return f"{super().extra_repr()}, num_relations={self.num_relations}"
