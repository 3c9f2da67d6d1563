"""Heat, then a batch-normalised network, trained on views that were diffused beforehand.

References
----------
W. Feng, J. Zhang, Y. Dong et al.: Graph Random Neural Networks for Semi-Supervised Learning on
Graphs, NeurIPS 2020 (GRAND, in the form that it has on Pubmed).
W. Feng, Y. Dong, T. Huang et al.: GRAND+: Scalable Graph Random Neural Networks, WWW 2022: views
from a propagation computed beforehand, in batches of unlabelled nodes.
"""

from __future__ import annotations

from typing import Any, NamedTuple, cast

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import relu

from graphheat.errors import GraphError, ParameterError
from graphheat.nn import HeatOperator, SparseFeatures
from graphheat.training.consistency import consistency_loss
from graphheat.training.dropout import kept_share
from graphheat.training.objective import Targets, Weights
from graphheat.training.prepared import PreparedNetwork
from graphheat.training.settings import ConsistencySettings

VIEWS = 8  # that are held at a time
EVERY = 10  # steps after which the oldest view is drawn anew
MEMORY = 4e9  # bytes that all views may take


class View(NamedTuple):
    """What some nodes' features give: diffused, shape (n, f), and the share kept, (n, 1)."""

    diffused: Tensor
    kept: Tensor


class BatchNormObjective:
    """Heat in the first layer only, batch normalisation before and behind the hidden layer.

    For a random choice M of the nodes that keep their features,

        x̄ = [M ⊙ X, e^{-sL}(M ⊙ X)],    logits = norm(ReLU(norm(x̄) Θ¹ + b¹)) Θ² + b².

    Eight diffused views, dense, are held, of which a step takes some, and every tenth step the
    oldest is drawn anew. A step looks at the training nodes and at ``batch`` random others. At
    prediction both normalisations are affine, so that they fold into the weights: what comes of
    the training is a :class:`~graphheat.nn.GraphHeat` with Θ²_1 = 0.
    """

    def __init__(self, prepared: PreparedNetwork, targets: Targets, seed: int) -> None:
        self.prepared, self.seed = prepared, seed
        self.settings = cast(ConsistencySettings, prepared.settings)
        n, f = prepared.x.size(0), prepared.x.size(1)
        if self.settings.views > VIEWS:
            raise ParameterError(
                f"The 'views' parameter of fit must be at most {VIEWS} with normalize=True. "
                f"Got {self.settings.views} instead."
            )
        if 4.0 * n * f * (VIEWS + 1) > MEMORY:
            raise GraphError(
                f"normalize=True holds {VIEWS + 1} dense matrices of {n:,} × {f:,}, more than "
                f"{MEMORY / 1e9:g} GB; pass normalize=False."
            )
        inputs = 2 * f if self.settings.self_term else f
        self.module = _Network(inputs, self.settings.hidden, len(prepared.graph.classes))
        self.train = torch.tensor(targets.nodes)
        self.labels = torch.tensor(targets.labels)
        self._dense = _dense(prepared.x)
        whole = View(self._diffuse(self._dense), torch.ones(n, 1))
        self._looked_at = self._input(whole, torch.tensor(targets.looked_at))
        self._views: list[View] = []
        self._step = 0

    def groups(self) -> list[dict[str, Any]]:
        """Return all weights, with L2."""
        return [{"params": self.module.parameters(), "weight_decay": self.settings.l2}]

    def start(self, epoch: int) -> None:
        """Draw the views that the steps after ``epoch`` begin with."""
        self._step = epoch
        newest = epoch // EVERY
        self._views = [self._view(age) for age in range(newest, newest + VIEWS)]

    def loss(self) -> Tensor:
        """Return the loss of the next step."""
        settings, n = self.settings, self.prepared.graph.n
        others = torch.randperm(n)[: settings.batch]
        nodes = torch.cat([self.train, others])
        chosen = torch.randperm(VIEWS)[: settings.views].tolist()
        logits = torch.stack(
            [self._logits(self._input(self._views[v], nodes)) for v in chosen], dim=1
        )
        self._step += 1
        if self._step % EVERY == 0:
            newest = self._step // EVERY
            self._views = [*self._views[1:], self._view(newest + VIEWS - 1)]
        known = torch.arange(len(self.train))
        return consistency_loss(logits, known, self.labels, settings, self._step)

    def logits(self) -> Tensor:
        """Return the logits of the nodes that are looked at, all features in place."""
        return self._logits(self._looked_at)

    def weights(self) -> Weights:
        """Fold the normalisations into the weights of a GraphHeat network."""
        net = self.module
        with torch.no_grad():
            scale, shift = _affine(net.before)
            first = net.first.weight.T
            inner = first * scale[:, None]
            inner_bias = net.first.bias + shift @ first
            scale, shift = _affine(net.behind)
            second = net.second.weight.T
            outer = second * scale[:, None]
            outer_bias = net.second.bias + shift @ second
            heat = inner[-self._dense.shape[1] :]
            own = inner[: len(heat)] if self.settings.self_term else torch.zeros_like(heat)
            return {
                "first.weight": torch.stack([own, heat]),
                "first.bias": inner_bias,
                "second.weight": torch.stack([outer, torch.zeros_like(outer)]),
                "second.bias": outer_bias,
            }

    def _logits(self, x: Tensor) -> Tensor:
        training = self.module.training
        drops = (self.settings.input_dropout, self.settings.dropout) if training else (0.0, 0.0)
        logits: Tensor = self.module(x, *drops)
        return logits

    def _view(self, number: int) -> View:
        """Return the view of a number, which with the seed decides it: a resumed run's is equal."""
        random = np.random.default_rng([self.seed, number])
        share = self.settings.drop_nodes
        drawn = (random.random((len(self._dense), 1)) >= share) / (1 - share)
        kept = torch.tensor(drawn, dtype=torch.float32)
        return View(self._diffuse(self._dense * kept), kept)

    def _input(self, view: View, nodes: Tensor) -> Tensor:
        """Return what the network sees of some nodes: (r, 2f), or without a self term (r, f)."""
        if not self.settings.self_term:
            return view.diffused[nodes]
        return torch.cat([self._dense[nodes] * view.kept[nodes], view.diffused[nodes]], dim=1)

    def _diffuse(self, x: Tensor) -> Tensor:
        operator: HeatOperator = self.prepared.operator
        with torch.no_grad():
            return operator([torch.zeros(()), x])


class _Network(nn.Module):
    def __init__(self, features: int, hidden: int, classes: int) -> None:
        super().__init__()
        self.before = nn.BatchNorm1d(features)
        self.first = nn.Linear(features, hidden)
        self.behind = nn.BatchNorm1d(hidden)
        self.second = nn.Linear(hidden, classes)

    def forward(self, x: Tensor, input_dropout: float, dropout: float) -> Tensor:
        """Return logits, shape (r, c), of diffused features, shape (r, f)."""
        x = self.before(x)
        x = x * kept_share(tuple(x.shape), input_dropout)
        hidden = self.behind(relu(self.first(x)))
        hidden = hidden * kept_share(tuple(hidden.shape), dropout)
        logits: Tensor = self.second(hidden)
        return logits


def _affine(norm: nn.BatchNorm1d) -> tuple[Tensor, Tensor]:
    """Return scale and shift of a normalisation at prediction: x ↦ x·scale + shift."""
    assert norm.running_mean is not None and norm.running_var is not None
    scale = norm.weight / torch.sqrt(norm.running_var + norm.eps)
    return scale, norm.bias - norm.running_mean * scale


def _dense(x: Tensor | SparseFeatures) -> Tensor:
    return torch.from_numpy(x.to_scipy().toarray()) if isinstance(x, SparseFeatures) else x
