"""What learns: a network, the loss of its next step, and what it says of some nodes now."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, log_softmax, nll_loss, relu

from graphheat.nn import HeatOperator
from graphheat.training.drops import drop_values, kept_share
from graphheat.training.network import build_network
from graphheat.training.problem import Problem
from graphheat.training.recipes import ConsistentSettings

Weights = dict[str, Tensor]


class Lesson(NamedTuple):
    """What a network is taught and asked.

    Attributes
    ----------
    nodes, labels
        Nodes that teach, and the class codes that they teach, shape (m,).
    looked_at
        Nodes whose logits are asked for between steps, shape (r,).
    """

    nodes: NDArray[np.int64]
    labels: NDArray[np.int64]
    looked_at: NDArray[np.int64]


class Learner(Protocol):
    """A network under training.

    Attributes
    ----------
    module
        Whose state the optimizer changes and a checkpoint holds.
    """

    module: nn.Module

    def groups(self) -> list[dict[str, Any]]:
        """Return the optimizer's parameter groups, with their L2 penalties."""

    def start(self, epoch: int) -> None:
        """Get ready for the steps after ``epoch``: 0, or where a resumed run goes on."""

    def loss(self) -> Tensor:
        """Return the loss of the next step, a scalar; what is random comes from torch's state."""

    def logits(self) -> Tensor:
        """Return the logits of the nodes that are looked at between steps, shape (r, c)."""

    def weights(self) -> Weights:
        """Return the weights of a :class:`~graphheat.nn.GraphHeat` that says the same."""


class LabelLearner:
    """The paper's: mean cross-entropy of the training labels."""

    def __init__(self, problem: Problem, lesson: Lesson) -> None:
        self.problem = problem
        self.module = build_network(problem.x.size(1), len(problem.graph.classes), problem.settings)
        self.labels = torch.tensor(lesson.labels)
        self._train, self._looked_at = (
            problem.operator.rows(torch.tensor(nodes)) for nodes in (lesson.nodes, lesson.looked_at)
        )

    def groups(self) -> list[dict[str, Any]]:
        """Return both layers' weights: the first's with L2, the second's without."""
        # Adam's weight_decay adds l2·W to the gradient: that of l2·½‖W‖².
        l2 = self.problem.settings.l2
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
        logits: Tensor = self.module(self.problem.x, self.problem.operator, last=last)
        return logits


class ViewLearner(LabelLearner):
    """The labels' loss in several random views of the graph, and how far these disagree.

    See :class:`~graphheat.training.ConsistentSettings`. A view lacks the features of random nodes.
    As e^{-sL}(M ⊙ X)Θ = e^{-sL}(M ⊙ (XΘ)), features are multiplied once for all views, and all
    views then go through one diffusion side by side, of shape (n, views · hidden).
    """

    def __init__(self, problem: Problem, lesson: Lesson) -> None:
        super().__init__(problem, lesson)
        self.train = torch.tensor(lesson.nodes)
        self._step = 0
        if not _settings(problem).identity:
            for layer in (self.module.first, self.module.second):
                _hold_at_zero(layer.weight)

    def groups(self) -> list[dict[str, Any]]:
        """Return all weights, with L2."""
        return [{"params": self.module.parameters(), "weight_decay": self.problem.settings.l2}]

    def start(self, epoch: int) -> None:
        """Note how far the warm-up is."""
        self._step = epoch

    def loss(self) -> Tensor:
        """Return the loss of the next step."""
        self._step += 1
        settings = _settings(self.problem)
        return agreement_loss(self.views(), self.train, self.labels, settings, self._step)

    def views(self) -> Tensor:
        """Return the logits of all nodes in all views, shape (n, views, c)."""
        settings, operator = _settings(self.problem), self.problem.operator
        first, second = self.module.first, self.module.second
        x = drop_values(self.problem.x, settings.input_dropout)
        kept = kept_share((operator.n, settings.views, 1), settings.drop_nodes)
        # A node without features gives nothing to any node of that view.
        terms = [(x @ weight)[:, None] * kept for weight in first.weight]
        hidden = relu(_convolve(operator, terms) + first.bias)
        hidden = hidden * kept_share(tuple(hidden.shape), settings.dropout)
        return _convolve(operator, [hidden @ weight for weight in second.weight]) + second.bias


def agreement_loss(
    logits: Tensor, train: Tensor, labels: Tensor, settings: ConsistentSettings, step: int
) -> Tensor:
    """Return the mean loss of the labels, plus that of the views' sharpened mean on all rows.

    Both are cross-entropies: a view is drawn to what the views together say as it is to a label.

    Parameters
    ----------
    logits
        Shape (r, views, c).
    train, labels
        Rows whose classes are known, and these.
    step
        Counted from 1: the second part grows to its full weight over ``settings.warmup`` steps.
        Early on all views say next to nothing, and sharpening that would decide by chance.
    """
    logarithms = log_softmax(logits, dim=2)
    views = logits.shape[1]
    loss = nll_loss(logarithms[train].flatten(0, 1), labels.repeat_interleave(views))
    if settings.consistency == 0 or views == 1:
        return loss
    target = sharpened(logarithms.detach().exp().mean(dim=1), settings.sharpening)
    apart = -(target[:, None] * logarithms).sum(dim=2).mean()
    return loss + settings.consistency * min(1.0, step / settings.warmup) * apart


def sharpened(p: Tensor, temperature: float) -> Tensor:
    """Return p^{1/T} with rows that sum to 1, shape as given.

    Examples
    --------
    >>> sharpened(torch.tensor([[0.5, 0.5], [0.75, 0.25]]), 0.5)
    tensor([[0.5000, 0.5000],
            [0.9000, 0.1000]])
    """
    powers = p.pow(1 / temperature)
    total = powers.sum(dim=1, keepdim=True)
    # Where all powers are too small for a float32, the largest takes all.
    largest = (p == p.amax(dim=1, keepdim=True)).to(p.dtype)
    largest = largest / largest.sum(dim=1, keepdim=True)
    return torch.where(total > 0, powers / total, largest)


def _hold_at_zero(weight: nn.Parameter) -> None:
    """Set Θ_0 of a layer's weights, shape (K, f, c), to 0 and keep it there."""
    mask = torch.ones(len(weight), 1, 1)
    mask[0] = 0
    with torch.no_grad():
        weight.mul_(mask)
    weight.register_hook(lambda gradient: gradient * mask)


def copied(module: nn.Module) -> Weights:
    """Return a copy of a module's weights."""
    return {name: tensor.detach().clone() for name, tensor in module.state_dict().items()}


def _convolve(operator: HeatOperator, terms: list[Tensor]) -> Tensor:
    """Return Σ_k e^{-ksL} terms[k] for terms of shape (n, views, c)."""
    shape = terms[0].shape
    return operator([term.reshape(shape[0], -1) for term in terms]).view(shape)


def _settings(problem: Problem) -> ConsistentSettings:
    assert isinstance(problem.settings, ConsistentSettings)
    return problem.settings
