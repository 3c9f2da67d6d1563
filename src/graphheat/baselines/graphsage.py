"""GraphSAGE: a node's own features beside the mean of its neighbours'."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from torch import Tensor, nn
from torch_geometric.nn import SAGEConv

from graphheat.baselines.baseline import Baseline, Outcome
from graphheat.baselines.baseline_run import BaselineRecipe
from graphheat.baselines.descent import seeded
from graphheat.baselines.field import Edges, edges_of
from graphheat.baselines.twolayer import TwoLayers, adam, learn
from graphheat.graph import Graph, Split
from graphheat.nn.features import Input
from graphheat.progress import Progress
from graphheat.training.stop_rule import StopRule


@dataclass(frozen=True)
class GraphSAGE(Baseline):
    """Two layers with the mean aggregator, over all neighbours at once.

    Hamilton, Ying and Leskovec did not run these graphs; architecture and settings are those of the
    reference configuration of Shchur et al., Pitfalls of Graph Neural Network Evaluation, 2018: the
    mean is over neighbours and node, and rows longer than 1 are cut to length 1 after either layer.
    Edge weights play no part.

    Attributes
    ----------
    hidden, dropout
        Units of the hidden layer; dropout on its input and on its output.
    l2
        L2 penalty on the first layer's weights.
    learning_rate, max_epochs, patience
        Of Adam; and how long the validation loss may fail to fall.
    """

    brief: ClassVar[Mapping[str, Any]] = {"max_epochs": 3}
    name: ClassVar[str] = "graphsage"
    title: ClassVar[str] = "GraphSAGE"
    reference: ClassVar[str] = (
        "Hamilton, Ying and Leskovec, Inductive Representation Learning on Large Graphs, 2017"
    )

    hidden: int = 16
    dropout: float = 0.5
    l2: float = 5e-4
    learning_rate: float = 0.01
    max_epochs: int = 100_000
    patience: int = 50

    def fit(
        self, graph: Graph, split: Split, seed: int = 0, *, progress: Progress | None = None
    ) -> Outcome:
        """Learn from the labels of ``split``; an isolated node sees its own features."""
        features = self.features_of(graph)
        edges = Edges(edges_of(graph, self_loops=True).edge_index)
        with seeded(seed):
            net = TwoLayers(
                MeanLayer(features.shape[1], self.hidden),
                MeanLayer(self.hidden, len(graph.classes)),
                self.dropout,
            )
            return learn(
                net,
                edges,
                adam(net, net.first, self.l2, self.learning_rate),
                graph,
                split,
                StopRule(self.max_epochs, self.patience, "loss", "loss", penalised=True),
                progress=progress,
            )


class MeanLayer(nn.Module):
    """PyG's SAGEConv with its linear maps first, which makes the means a few columns wide.

    Shapes
    ------
    - **input**: x (n, in_channels), dense or sparse; edge index (2, e)
    - **output**: (n, out_channels), no row longer than 1
    """

    def __init__(self, in_channels: int, out_channels: int) -> None:
        super().__init__()
        self.layer = SAGEConv(in_channels, out_channels)
        self.near, self.layer.lin_l = self.layer.lin_l, nn.Identity()
        self.own, self.layer.lin_r = self.layer.lin_r, nn.Identity()
        for linear in (self.near, self.own):
            nn.init.xavier_uniform_(linear.weight)
        nn.init.zeros_(self.near.bias)

    def forward(self, x: Input, index: Tensor, _: Any = None) -> Tensor:
        """Return the cut sums of both maps."""
        near, own = x @ self.near.weight.t(), x @ self.own.weight.t()
        y: Tensor = self.layer((near, own), index) + self.near.bias
        cut: Tensor = y / y.norm(dim=1, keepdim=True).clamp(min=1)
        return cut


RECIPE = BaselineRecipe(GraphSAGE)
