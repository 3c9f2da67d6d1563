"""GAT: neighbours weighted by attention."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from torch.nn.functional import elu
from torch_geometric.nn import GATConv

from graphheat.baselines.baseline import Baseline, Outcome
from graphheat.baselines.baseline_run import BaselineRecipe
from graphheat.baselines.descent import seeded
from graphheat.baselines.field import Edges, edges_of
from graphheat.baselines.inputs import Mapped
from graphheat.baselines.twolayer import TwoLayers, adam, learn
from graphheat.graph import Graph, Split
from graphheat.progress import Progress
from graphheat.training.stop_rule import Rule, StopRule


@dataclass(frozen=True)
class GAT(Baseline):
    """Two layers of attention heads; edge weights play no part.

    On Citeseer the authors stopped by the validation accuracy alone (issue 14 of their code).

    Attributes
    ----------
    hidden, heads
        Units of each head of the hidden layer, and how many heads, which are joined.
    output_heads
        Heads of the output layer, which are averaged.
    dropout
        On either layer's input and on the attention.
    l2
        L2 penalty on all weights but the biases.
    learning_rate, max_epochs, patience
        Of Adam; and how long what is watched may fail to be as good as the best so far.
    watch
        ``"both"``: validation loss and accuracy; training goes on while either does well, and the
        weights are those at which both last did. ``"accuracy"``: the accuracy alone.
    """

    brief: ClassVar[Mapping[str, Any]] = {"max_epochs": 3}
    name: ClassVar[str] = "gat"
    title: ClassVar[str] = "GAT"
    reference: ClassVar[str] = "Veličković et al., Graph Attention Networks, 2018"
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "citeseer": {"watch": "accuracy"},
        "pubmed": {"output_heads": 8, "learning_rate": 0.01, "l2": 1e-3},
    }

    hidden: int = 8
    heads: int = 8
    output_heads: int = 1
    dropout: float = 0.6
    l2: float = 5e-4
    learning_rate: float = 5e-3
    max_epochs: int = 100_000
    patience: int = 100
    watch: Literal["both", "accuracy"] = "both"

    def fit(
        self, graph: Graph, split: Split, seed: int = 0, *, progress: Progress | None = None
    ) -> Outcome:
        """Learn from the labels of ``split``; an isolated node attends to itself."""
        features = self.features_of(graph)
        edges = Edges(edges_of(graph, self_loops=True).edge_index)
        rule: Rule = "either" if self.watch == "both" else "accuracy"
        with seeded(seed):
            # The edges come with their self-loops.
            more: dict[str, Any] = {"dropout": self.dropout, "add_self_loops": False}
            joined = self.heads * self.hidden
            classes = len(graph.classes)
            net = TwoLayers(
                Mapped(GATConv(features.shape[1], self.hidden, self.heads, **more)),
                GATConv(joined, classes, self.output_heads, concat=False, **more),
                self.dropout,
                elu,
            )
            return learn(
                net,
                edges,
                adam(net, net, self.l2, self.learning_rate),
                graph,
                split,
                StopRule(self.max_epochs, self.patience, rule, self.watch),
                progress=progress,
            )


RECIPE = BaselineRecipe(GAT)
