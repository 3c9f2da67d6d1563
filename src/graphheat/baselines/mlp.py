"""MLP: two layers that see a node's own features and no edge."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from graphheat.baselines.descent import Stopping, seeded
from graphheat.baselines.field import Edges
from graphheat.baselines.inputs import Input
from graphheat.baselines.system import Callback, Outcome, System
from graphheat.baselines.twolayer import TwoLayers, adam, learn
from graphheat.graph import Graph
from graphheat.training.holdout import Roles


@dataclass(frozen=True)
class MLP(System):
    """The multilayer perceptron of Kipf and Welling's comparison, with the settings of their GCN.

    Attributes
    ----------
    hidden, dropout
        Units of the hidden layer; dropout on its input and on its output.
    weight_decay
        L2 penalty on the first layer's weights.
    learning_rate, max_epochs, patience
        Of Adam; and of Kipf's stopping rule.
    """

    brief: ClassVar[Mapping[str, Any]] = {"max_epochs": 3}
    name: ClassVar[str] = "mlp"
    title: ClassVar[str] = "MLP"
    reference: ClassVar[str] = (
        "Kipf and Welling, Semi-Supervised Classification with Graph Convolutional Networks, 2017"
    )

    hidden: int = 16
    dropout: float = 0.5
    weight_decay: float = 5e-4
    learning_rate: float = 0.01
    max_epochs: int = 200
    patience: int = 10

    def fit(
        self, graph: Graph, roles: Roles, seed: int = 0, *, callback: Callback | None = None
    ) -> Outcome:
        """Learn from the labels of ``roles``; isolated nodes are like any other."""
        self.check(graph)
        with seeded(seed):
            net = TwoLayers(
                _Layer(graph.features.shape[1], self.hidden),
                _Layer(self.hidden, len(graph.classes)),
                self.dropout,
            )
            none = Edges(torch.empty((2, 0), dtype=torch.long))
            return learn(
                net,
                none,
                adam(net, net.first, self.weight_decay, self.learning_rate),
                graph,
                roles,
                Stopping(self.max_epochs, self.patience, "mean", "last", penalised=True),
                callback=callback,
            )


class _Layer(nn.Module):
    """A linear map without a bias, drawn after Glorot, that leaves the edges alone."""

    def __init__(self, in_channels: int, out_channels: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(in_channels, out_channels))
        nn.init.xavier_uniform_(self.weight)

    def forward(self, x: Input, *edges: Tensor | None) -> Tensor:
        return x @ self.weight
