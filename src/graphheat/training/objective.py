"""What a training minimises: a network, the loss of its next step, and its present logits."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from graphheat.nn import HeatOperator
from graphheat.training.build import build_network
from graphheat.training.prepared import PreparedNetwork

Weights = dict[str, Tensor]


class Targets(NamedTuple):
    """What a network is to learn, and where it is looked at.

    Attributes
    ----------
    nodes, labels
        Training nodes, and the class codes that they are to be given, shape (m,).
    looked_at
        Nodes whose logits are asked for between steps, shape (r,).
    """

    nodes: NDArray[np.int64]
    labels: NDArray[np.int64]
    looked_at: NDArray[np.int64]


class Objective(Protocol):
    """A network under training, as the loop sees it."""

    @property
    def module(self) -> nn.Module:
        """Whose state the optimizer changes and a checkpoint holds."""

    def start(self, epoch: int) -> None:
        """Get ready for the steps after ``epoch``: 0, or where a resumed run goes on."""

    def loss(self) -> Tensor:
        """Return the loss of the next step, a scalar; what is random comes from torch's state."""

    def logits(self) -> Tensor:
        """Return the logits of the nodes that are looked at between steps, shape (r, c)."""

    def weights(self) -> Weights:
        """Return a copy of the weights that prediction needs."""


class NetworkObjective(Objective, Protocol):
    """An objective that also says how its weights are penalised."""

    def groups(self) -> list[dict[str, Any]]:
        """Return the optimizer's parameter groups, with their L2 penalties."""


class SupervisedObjective:
    """The paper's: mean cross-entropy of the training labels."""

    def __init__(self, prepared: PreparedNetwork, targets: Targets, seed: int) -> None:
        self.prepared = prepared
        self.module = build_network(
            prepared.x.size(1), len(prepared.graph.classes), prepared.settings
        )
        self.labels = torch.tensor(targets.labels)
        self._train, self._looked_at = (
            prepared.operator.rows(torch.tensor(nodes))
            for nodes in (targets.nodes, targets.looked_at)
        )

    def groups(self) -> list[dict[str, Any]]:
        """Return both layers' weights: the first's with L2, the second's without."""
        # Adam's weight_decay adds l2·W to the gradient: that of l2·½‖W‖².
        l2 = self.prepared.settings.l2
        return [
            {"params": self.module.first.parameters(), "weight_decay": l2},
            {"params": self.module.second.parameters(), "weight_decay": 0.0},
        ]

    def start(self, epoch: int) -> None:
        """Nothing: each step is like any other."""

    def loss(self) -> Tensor:
        """Return the loss of the next step."""
        return cross_entropy(self._forward(self._train), self.labels)

    def logits(self) -> Tensor:
        """Return the logits of the nodes that are looked at."""
        return self._forward(self._looked_at)

    def weights(self) -> Weights:
        """Return the network's weights."""
        return copied(self.module)

    def _forward(self, last: HeatOperator) -> Tensor:
        logits: Tensor = self.module(self.prepared.x, self.prepared.operator, last=last)
        return logits


def copied(module: nn.Module) -> Weights:
    """Return a copy of a module's weights."""
    return {name: tensor.detach().clone() for name, tensor in module.state_dict().items()}
