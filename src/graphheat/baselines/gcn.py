"""GCN: the graph convolutional network."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from torch_geometric.nn import GCNConv
from torch_geometric.nn.conv.gcn_conv import gcn_norm

from graphheat.baselines.baseline import Baseline, Outcome
from graphheat.baselines.baseline_run import BaselineRecipe
from graphheat.baselines.descent import kipf_rule, seeded
from graphheat.baselines.field import Edges, edges_of
from graphheat.baselines.inputs import Mapped
from graphheat.baselines.twolayer import TwoLayers, adam, learn
from graphheat.graph import Graph, Split
from graphheat.progress import Progress


@dataclass(frozen=True)
class GCN(Baseline):
    """Two layers that average over neighbours, with self-loops and symmetric normalisation.

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
    name: ClassVar[str] = "gcn"
    title: ClassVar[str] = "GCN"
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
        """Learn from the labels of ``split``; an isolated node sees its own features."""
        features = self.features_of(graph)
        edges = Edges(*gcn_norm(*edges_of(graph, self_loops=False), num_nodes=graph.n))
        with seeded(seed):
            net = TwoLayers(
                Mapped(_convolution(features.shape[1], self.hidden)),
                _convolution(self.hidden, len(graph.classes)),
                self.dropout,
            )
            return learn(
                net,
                edges,
                adam(net, net.first, self.l2, self.learning_rate),
                graph,
                split,
                kipf_rule(self.max_epochs, self.patience),
                progress=progress,
            )


def _convolution(in_channels: int, out_channels: int) -> GCNConv:
    # The edges come normalised, and the authors' layers have no bias.
    return GCNConv(in_channels, out_channels, normalize=False, bias=False)


RECIPE = BaselineRecipe(GCN)
