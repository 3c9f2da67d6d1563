"""GraphHeat: the paper's two-layer network."""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn
from torch.nn.functional import relu

from graphheat.checks import check_number
from graphheat.nn.conv import HeatConv
from graphheat.nn.features import SparseFeatures, dropout
from graphheat.nn.operator import HeatOperator


class GraphHeat(nn.Module):
    r"""Two heat convolutions with a ReLU between them (Eq. 15), returning logits.

    .. math:: Z = \mathrm{softmax}\Big(\sum_k e^{-ksL}\,
              \mathrm{ReLU}\big(\sum_k e^{-ksL} X \Theta^1_k\big)\, \Theta^2_k\Big)

    Parameters
    ----------
    in_channels, out_channels
        Numbers of features and of classes.
    s, K, eps, bias, zero_diagonal
        As for :class:`~graphheat.nn.HeatConv`.
    hidden
        Units between the layers; 16 in the paper.
    dropout
        On the input (its non-zeros, when sparse) and on the hidden units.

    Shapes
    ------
    - **input**: as for :class:`~graphheat.nn.HeatConv`
    - **output**: logits (n, out_channels); the softmax belongs to the loss

    Examples
    --------
    >>> import torch
    >>> model = GraphHeat(3, 2, s=3.0, eps=1e-4)
    >>> edge_index = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    >>> model(torch.randn(3, 3), edge_index).shape
    torch.Size([3, 2])
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        *,
        s: float,
        K: int = 2,
        eps: float | None = None,
        hidden: int = 16,
        dropout: float = 0.5,
        bias: bool = False,
        zero_diagonal: bool = False,
    ) -> None:
        super().__init__()
        self.dropout = check_number(dropout, "dropout", "GraphHeat", 0.0, 1.0, right="open")
        shared: dict[str, Any] = {
            "s": s, "K": K, "eps": eps, "bias": bias, "zero_diagonal": zero_diagonal
        }  # fmt: skip
        self.first = HeatConv(in_channels, hidden, **shared)
        self.second = HeatConv(hidden, out_channels, **shared)

    def reset_parameters(self) -> None:
        """Draw both layers' weights anew."""
        self.first.reset_parameters()
        self.second.reset_parameters()

    def forward(
        self,
        x: Tensor | SparseFeatures,
        edge_index: Tensor | HeatOperator,
        edge_weight: Tensor | None = None,
        *,
        last: HeatOperator | None = None,
    ) -> Tensor:
        """Return logits; shapes are given above.

        ``last`` is the second layer's operator where the logits of some nodes are enough:
        ``operator.rows(index)`` gives logits of shape (len(index), out_channels).
        """
        if not isinstance(edge_index, HeatOperator):
            # One operator serves both layers, where there is one.
            shared = self.first.operator_of(x, edge_index, edge_weight)
            if shared is not None:
                edge_index, edge_weight = shared, None
        hidden = relu(self.first(dropout(x, self.dropout, self.training), edge_index, edge_weight))
        hidden = dropout(hidden, self.dropout, self.training)
        logits: Tensor = self.second(hidden, edge_index if last is None else last, edge_weight)
        return logits
