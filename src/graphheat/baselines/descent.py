"""Gradient descent on the labels of a split, by the one training loop."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from graphheat.baselines.baseline import Outcome
from graphheat.errors import GraphError
from graphheat.graph import Graph, Split
from graphheat.progress import Progress
from graphheat.training.loop import Loop, seeded
from graphheat.training.objective import Weights, copied
from graphheat.training.stop_rule import Keep, StopRule

__all__ = ["descend", "kipf_rule", "seeded"]

Predict = Callable[[], Tensor]


class LabelObjective:
    """Mean cross-entropy of the training labels, of any network, and what is added to it."""

    def __init__(
        self,
        module: nn.Module,
        train_logits: Predict,
        val_logits: Predict,
        labels: Tensor,
        extra_loss: Predict | None,
    ) -> None:
        self.module, self.labels, self.extra_loss = module, labels, extra_loss
        self.train_logits, self.logits = train_logits, val_logits

    def start(self, epoch: int) -> None:
        """Nothing: each step is like any other."""

    def loss(self) -> Tensor:
        """Return the loss of the next step."""
        loss = cross_entropy(self.train_logits(), self.labels)
        return loss if self.extra_loss is None else loss + self.extra_loss()

    def weights(self) -> Weights:
        """Return a copy of the network's weights."""
        return copied(self.module)


def kipf_rule(max_epochs: int, patience: int, keep: Keep = "last") -> StopRule:
    """Return the rule of Kipf's code: the penalised loss is above the mean of those before it."""
    return StopRule(max_epochs, patience, "mean", keep, delay=1, penalised=True)


def descend(
    model: nn.Module,
    predict: Predict,
    optimizer: torch.optim.Optimizer,
    graph: Graph,
    split: Split,
    rule: StopRule,
    *,
    extra_loss: Predict | None = None,
    predict_train: Predict | None = None,
    predict_val: Predict | None = None,
    progress: Progress | None = None,
) -> Outcome:
    """Minimise the mean cross-entropy of the training labels.

    Parameters
    ----------
    model
        Whose ``train`` and ``eval`` modes and weights are meant.
    predict
        Returns the logits of all nodes, shape (n, c), by the model as it is.
    optimizer
        With all L2 penalties as weight decay of its parameter groups.
    extra_loss
        Called after each training ``predict`` and added to the loss.
    predict_train, predict_val
        Return the logits of ``split.train`` and ``split.val`` alone, where that is cheaper than to
        take them from ``predict``.
    """
    train, val = torch.tensor(split.train), torch.tensor(split.val)
    objective = LabelObjective(
        model,
        predict_train or (lambda: predict()[train]),
        predict_val or (lambda: predict()[val]),
        torch.tensor(graph.labels[split.train]),
        extra_loss,
    )
    loop = Loop(objective, optimizer, rule, graph.labels[split.val])
    trained = loop.run(progress=progress)
    if trained.weights:
        model.load_state_dict(trained.weights)
    model.eval()
    with torch.no_grad():
        probabilities = torch.softmax(predict().double(), dim=1).numpy()
    if not np.isfinite(probabilities).all():
        raise GraphError("Training diverged. Scale the features, or lower learning_rate.")
    return Outcome(probabilities, trained.history, trained.best_epoch or loop.epoch)
