"""MoNet: neighbours weighted by Gaussians of their degrees."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor, nn
from torch_geometric.nn import GMMConv
from torch_geometric.utils import softmax

from graphheat.baselines.baseline import Baseline, Outcome
from graphheat.baselines.baseline_run import BaselineRecipe
from graphheat.baselines.descent import seeded
from graphheat.baselines.field import Edges, edges_of
from graphheat.baselines.twolayer import TwoLayers, learn
from graphheat.graph import Graph, Split
from graphheat.nn.features import Input
from graphheat.progress import Progress
from graphheat.training.stop_rule import StopRule


@dataclass(frozen=True)
class MoNet(Baseline):
    """Two layers Σ_k Σ_j w_k(u_ij) x_j Θ_k with Gaussians w_k of u_ij.

    The coordinates are u_ij = tanh(P (d_i^{-1/2}, d_j^{-1/2}) + b) with a learned P and b; degrees
    count the self-loop that every node has. Where the paper is silent this follows its
    authors' code as Shchur et al., Pitfalls of Graph Neural Network Evaluation, 2018, report it:
    the weights w_k of a node's neighbours sum to 1, both layers share the Gaussians and P, layers
    have no bias, and Gaussians and filters learn in turns. Monti et al. did not run Citeseer.

    Attributes
    ----------
    hidden, dropout
        Units of the hidden layer; dropout on its input and on its output.
    kernels, dimension
        Number of Gaussians, and of the coordinates u that they live in.
    l2
        L2 penalty on the first layer's filters.
    learning_rate, max_epochs, patience
        Of Adam; and how long the validation loss may fail to fall.
    turn
        Steps after which the learning passes from Gaussians and P to the filters and back.
    """

    brief: ClassVar[Mapping[str, Any]] = {"max_epochs": 3}
    name: ClassVar[str] = "monet"
    title: ClassVar[str] = "MoNet"
    reference: ClassVar[str] = (
        "Monti et al., Geometric Deep Learning on Graphs and Manifolds Using Mixture Model CNNs, "
        "2017"
    )
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {"pubmed": {"dimension": 3}}

    hidden: int = 16
    kernels: int = 2
    dimension: int = 2
    dropout: float = 0.5
    l2: float = 5e-4
    learning_rate: float = 0.01
    max_epochs: int = 100_000
    patience: int = 50
    turn: int = 12

    def fit(
        self, graph: Graph, split: Split, seed: int = 0, *, progress: Progress | None = None
    ) -> Outcome:
        """Learn from the labels of ``split``; an isolated node sees its own features."""
        features = self.features_of(graph)
        with seeded(seed):
            gaussians = self.dimension, self.kernels
            net = MixtureNetwork(
                Mixture(features.shape[1], self.hidden, *gaussians),
                Mixture(self.hidden, len(graph.classes), *gaussians),
                self.dropout,
            )
            return learn(
                net,
                degree_edges(graph),
                Turns(net, self.l2, self.learning_rate, self.turn),
                graph,
                split,
                StopRule(self.max_epochs, self.patience, "loss", "loss", penalised=True),
                progress=progress,
            )


def degree_edges(graph: Graph) -> Edges:
    """Return the edges j → i, self-loops too, with values (d_i, d_j)^{-1/2}, shape (e, 2)."""
    index, weights = edges_of(graph, self_loops=True)
    assert weights is not None  # as edges_of gives them
    scale = torch.zeros(graph.n).index_add_(0, index[1], weights).rsqrt()
    return Edges(index, torch.stack([scale[index[1]], scale[index[0]]], dim=1))


class Mixture(GMMConv):  # type: ignore[misc]  # PyG has no types
    """PyG's layer without root weight and bias, its Gaussians normalised over a node's neighbours.

    Shapes
    ------
    - **input**: x (n, in_channels), dense or sparse; edge index (2, e); coordinates (e, dim)
    - **output**: (n, out_channels)
    """

    def __init__(self, in_channels: int, out_channels: int, dim: int, kernels: int) -> None:
        super().__init__(
            in_channels, out_channels, dim, kernels, aggr="add", root_weight=False, bias=False
        )

    def reset_parameters(self) -> None:
        """Draw the filters after Glorot; spread the Gaussians of width 1 over (−1, 1)."""
        super().reset_parameters()
        places = (torch.arange(self.kernel_size) * 2 + 0.5) / self.kernel_size - 1
        with torch.no_grad():
            self.mu.copy_(places[:, None])
            self.sigma.fill_(1.0)

    def forward(self, x: Input, index: Tensor, coordinates: Tensor) -> Tensor:
        """Return the sum over Gaussians and neighbours."""
        size = (x.shape[0], x.shape[0])
        sums: Tensor = self.propagate(index, x=(x @ self.g, None), edge_attr=coordinates, size=size)
        return sums

    def message(self, x_j: Tensor, edge_attr: Tensor, index: Tensor, size_i: int) -> Tensor:
        """Return the messages, shape (e, out_channels)."""
        distance = (edge_attr[:, None] - self.mu).square() / (1e-15 + self.sigma.square())
        weights = softmax(-0.5 * distance.sum(dim=2), index, num_nodes=size_i)
        filtered = x_j.view(-1, self.kernel_size, self.out_channels)
        messages: Tensor = (weights[:, :, None] * filtered).sum(dim=1)
        return messages


class MixtureNetwork(TwoLayers):
    """Two layers with the same Gaussians of the same projection."""

    first: Mixture
    second: Mixture

    def __init__(self, first: Mixture, second: Mixture, rate: float) -> None:
        super().__init__(first, second, rate)
        second.mu, second.sigma = first.mu, first.sigma
        self.projection = nn.Linear(2, first.dim)
        nn.init.xavier_uniform_(self.projection.weight)
        nn.init.zeros_(self.projection.bias)

    def forward(self, x: Input, layers: Sequence[Edges]) -> Tensor:
        """Return the logits; the edges have degrees as values."""

        def projected(edges: Edges) -> Edges:
            return Edges(edges.edge_index, torch.tanh(self.projection(edges.values)))

        return super().forward(x, [projected(edges) for edges in layers])


class Turns:
    """Two Adams in the place of one, for Gaussians and for filters, each in its turn."""

    def __init__(self, net: MixtureNetwork, l2: float, learning_rate: float, turn: int) -> None:
        filters: list[dict[str, Any]] = [
            {"params": [net.first.g], "weight_decay": l2},
            {"params": [net.second.g]},
        ]
        gaussians = [net.first.mu, net.first.sigma, *net.projection.parameters()]
        self.both = [
            torch.optim.Adam(gaussians, lr=learning_rate),
            torch.optim.Adam(filters, lr=learning_rate),
        ]
        self.turn, self.steps = turn, 0

    @property
    def param_groups(self) -> list[dict[str, Any]]:
        """Those of both."""
        return [group for optimizer in self.both for group in optimizer.param_groups]

    def zero_grad(self) -> None:
        """Forget the gradients."""
        for optimizer in self.both:
            optimizer.zero_grad()

    def step(self) -> None:
        """Change the weights whose turn it is."""
        self.both[self.steps // self.turn % 2].step()
        self.steps += 1


RECIPE = BaselineRecipe(MoNet)
