"""Consistency regularisation: random views of the graph that must agree on every node.

References
----------
W. Feng, J. Zhang, Y. Dong et al.: Graph Random Neural Networks for Semi-Supervised Learning on
Graphs, NeurIPS 2020 (GRAND): node dropping, and a loss towards the sharpened mean of the views.
Here heat takes the place of its mean of powers, and cross-entropy that of its squared distance.
W. Feng, Y. Dong, T. Huang et al.: GRAND+: Scalable Graph Random Neural Networks, WWW 2022: a
weight of the consistency loss that grows over the first steps.
"""

from __future__ import annotations

from typing import Any, cast

import torch
from torch import Tensor, nn
from torch.nn.functional import log_softmax, nll_loss, relu

from graphheat.nn import HeatOperator
from graphheat.training.dropout import drop_values, kept_share
from graphheat.training.objective import SupervisedObjective, Targets
from graphheat.training.prepared import PreparedNetwork
from graphheat.training.settings import ConsistencySettings


class ConsistencyObjective(SupervisedObjective):
    """The labels' loss in several random views of the graph, and how far these disagree.

    See :class:`~graphheat.training.ConsistencySettings`. A view lacks the features of random nodes.
    As e^{-sL}(M ⊙ X)Θ = e^{-sL}(M ⊙ (XΘ)), features are multiplied once for all views, and all
    views then go through one diffusion side by side, of shape (n, views · hidden).
    """

    def __init__(self, prepared: PreparedNetwork, targets: Targets, seed: int) -> None:
        super().__init__(prepared, targets, seed)
        self.settings = cast(ConsistencySettings, prepared.settings)
        self.train = torch.tensor(targets.nodes)
        self._step = 0
        if not self.settings.self_term:
            for layer in (self.module.first, self.module.second):
                _hold_at_zero(layer.weight)

    def groups(self) -> list[dict[str, Any]]:
        """Return all weights, with L2."""
        return [{"params": self.module.parameters(), "weight_decay": self.settings.l2}]

    def start(self, epoch: int) -> None:
        """Note how far the warm-up is."""
        self._step = epoch

    def loss(self) -> Tensor:
        """Return the loss of the next step."""
        self._step += 1
        return consistency_loss(self.views(), self.train, self.labels, self.settings, self._step)

    def views(self) -> Tensor:
        """Return the logits of all nodes in all views, shape (n, views, c)."""
        settings, operator = self.settings, self.prepared.operator
        first, second = self.module.first, self.module.second
        assert first.bias is not None and second.bias is not None  # as these settings have it
        x = drop_values(self.prepared.x, settings.input_dropout)
        kept = kept_share((operator.n, settings.views, 1), settings.drop_nodes)
        # A node without features gives nothing to any node of that view.
        terms = [(x @ weight)[:, None] * kept for weight in first.weight]
        hidden = relu(_convolve(operator, terms) + first.bias)
        hidden = hidden * kept_share(tuple(hidden.shape), settings.dropout)
        return _convolve(operator, [hidden @ weight for weight in second.weight]) + second.bias


def consistency_loss(
    logits: Tensor, train: Tensor, labels: Tensor, settings: ConsistencySettings, step: int
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


def _convolve(operator: HeatOperator, terms: list[Tensor]) -> Tensor:
    """Return Σ_k e^{-ksL} terms[k] for terms of shape (n, views, c)."""
    shape = terms[0].shape
    return operator([term.reshape(shape[0], -1) for term in terms]).view(shape)
