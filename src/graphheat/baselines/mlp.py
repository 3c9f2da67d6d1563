"""MLP: two layers that see a node's own features and no edge."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from graphheat.baselines.baseline import Baseline, Outcome
from graphheat.baselines.baseline_run import BaselineRecipe
from graphheat.baselines.descent import kipf_rule, seeded
from graphheat.baselines.field import Edges
from graphheat.baselines.twolayer import TwoLayers, adam, learn
from graphheat.graph import Graph, Split
from graphheat.nn.features import Input
from graphheat.progress import Progress


@dataclass(frozen=True)
class MLP(Baseline):
    """The multilayer perceptron of Kipf and Welling's comparison, with the settings of their GCN.

    Attributes
    ----------
    hidden, dropout
        Units of the hidden layer; dropout on its input and on its output.
    l2
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
    l2: float = 5e-4
    learning_rate: float = 0.01
    max_epochs: int = 200
    patience: int = 10

    def fit(
        self, graph: Graph, split: Split, seed: int = 0, *, progress: Progress | None = None
    ) -> Outcome:
        """Learn from the labels of ``split``; isolated nodes are like any other."""
        features = self.features_of(graph)
        with seeded(seed):
            net = TwoLayers(
                _Layer(features.shape[1], self.hidden),
                _Layer(self.hidden, len(graph.classes)),
                self.dropout,
            )
            none = Edges(torch.empty((2, 0), dtype=torch.long))
            return learn(
                net,
                none,
                adam(net, net.first, self.l2, self.learning_rate),
                graph,
                split,
                kipf_rule(self.max_epochs, self.patience),
                progress=progress,
            )


class _Layer(nn.Module):
    """A linear map without a bias, drawn after Glorot, that leaves the edges alone."""

    def __init__(self, in_channels: int, out_channels: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(in_channels, out_channels))
        nn.init.xavier_uniform_(self.weight)

    def forward(self, x: Input, *edges: Tensor | None) -> Tensor:
        return x @ self.weight


RECIPE = BaselineRecipe(MLP)
