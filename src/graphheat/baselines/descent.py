"""Full-batch gradient descent with the stopping rules of the original authors."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from graphheat.baselines.system import Callback, Outcome, Step
from graphheat.errors import GraphError
from graphheat.graph import Graph
from graphheat.training.holdout import Roles
from graphheat.training.run import HISTORY_COLUMNS


@dataclass(frozen=True)
class Stopping:
    """When to stop, and which weights to keep.

    Attributes
    ----------
    rule
        ``"mean"``: when the validation loss is above the mean of the ``patience`` before it, from
        epoch ``patience`` + 2 on (Kipf's code). ``"loss"``: when it has not fallen for
        ``patience`` epochs. ``"either"``: when neither loss nor accuracy has been as good as the
        best so far for ``patience`` epochs (GAT's code). ``"accuracy"``: when the accuracy has not.
        ``"never"``: after ``max_epochs``.
    keep
        ``"last"``: the weights at the end. ``"loss"``: those of the lowest validation loss.
        ``"both"``: the last at which loss and accuracy were both as good as the best so far.
        ``"accuracy"``: the last at which the accuracy was.
    penalised
        Whether the validation loss of these rules counts the L2 penalties too, as it does in
        Kipf's code and those that follow it. The history's never does.
    fixed_epochs
        How many to run, at most ``max_epochs``, when there is no validation label to stop by.
    """

    max_epochs: int
    patience: int
    rule: Literal["mean", "loss", "either", "accuracy", "never"] = "loss"
    keep: Literal["last", "loss", "both", "accuracy"] = "loss"
    penalised: bool = False
    fixed_epochs: int = 200


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Draw torch's random numbers from ``seed`` inside, and leave the caller's as they were."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        yield


def descend(
    model: nn.Module,
    predict: Callable[[], Tensor],
    optimizer: torch.optim.Optimizer,
    graph: Graph,
    roles: Roles,
    stopping: Stopping,
    *,
    extra_loss: Callable[[], Tensor] | None = None,
    predict_train: Callable[[], Tensor] | None = None,
    predict_val: Callable[[], Tensor] | None = None,
    callback: Callback | None = None,
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
        Return the logits of ``roles.train`` and ``roles.val`` alone, where that is cheaper than to
        take them from ``predict``.
    """
    labels = torch.tensor(graph.labels)
    train, val = torch.tensor(roles.train), torch.tensor(roles.val)
    train_logits = predict_train or (lambda: predict()[train])
    val_logits = predict_val or (lambda: predict()[val])
    state = _State(stopping, len(val) > 0)
    while not state.done():
        model.train()
        optimizer.zero_grad()
        loss = cross_entropy(train_logits(), labels[train])
        if extra_loss is not None:
            loss = loss + extra_loss()
        loss.backward()
        optimizer.step()
        val_loss, val_accuracy = math.nan, math.nan
        if len(val):
            logits = _logits(model, val_logits)
            val_loss = cross_entropy(logits, labels[val]).item()
            val_accuracy = (logits.argmax(1) == labels[val]).double().mean().item()
        penalty = _penalty(optimizer) if stopping.penalised else 0.0
        state.record(loss.item(), val_loss, val_accuracy, model, penalty)
        if callback is not None:
            text = f"val loss {val_loss:.3f}" if len(val) else f"loss {loss.item():.3f}"
            callback(Step(state.epoch, state.max_epochs, text))
    if state.kept is not None:
        model.load_state_dict(state.kept)
    probabilities = torch.softmax(_logits(model, predict).double(), dim=1).numpy()
    if not np.isfinite(probabilities).all():
        raise GraphError("Training diverged. Scale the features, or lower learning_rate.")
    return Outcome(probabilities, state.history, state.kept_epoch or state.epoch)


def _logits(model: nn.Module, predict: Callable[[], Tensor]) -> Tensor:
    model.eval()
    with torch.no_grad():
        return predict()


def _penalty(optimizer: torch.optim.Optimizer) -> float:
    """Return Σ ½·weight_decay·‖W‖², whose gradient is what the optimizer adds."""
    return sum(
        0.5 * group["weight_decay"] * float(weight.detach().square().sum())
        for group in optimizer.param_groups
        for weight in group["params"]
        if group["weight_decay"]
    )


class _State:
    def __init__(self, stopping: Stopping, validated: bool) -> None:
        self.stopping, self.validated = stopping, validated
        most = stopping.max_epochs
        self.max_epochs = most if validated else min(most, stopping.fixed_epochs)
        self.history: dict[str, list[float]] = {name: [] for name in HISTORY_COLUMNS}
        self.watched: list[float] = []  # the validation losses that the rules look at
        self.best_loss, self.best_accuracy, self.waited = math.inf, -math.inf, 0
        self.kept: dict[str, Any] | None = None
        self.kept_epoch = 0

    @property
    def epoch(self) -> int:
        return len(self.history["train_loss"])

    def record(
        self,
        loss: float,
        val_loss: float,
        accuracy: float,
        model: nn.Module,
        penalty: float = 0.0,
    ) -> None:
        for name, value in zip(HISTORY_COLUMNS, (loss, val_loss, accuracy), strict=True):
            self.history[name].append(value)
        if not self.validated:
            return
        val_loss += penalty
        self.watched.append(val_loss)
        keep, rule = self.stopping.keep, self.stopping.rule
        as_low, as_right = val_loss <= self.best_loss, accuracy >= self.best_accuracy
        lower = val_loss < self.best_loss
        better = {"either": as_low or as_right, "accuracy": as_right}.get(rule, lower)
        self.waited = 0 if better else self.waited + 1
        chosen = {"loss": lower, "both": as_low and as_right, "accuracy": as_right}
        if chosen.get(keep, False):
            self.kept = {k: v.detach().clone() for k, v in model.state_dict().items()}
            self.kept_epoch = self.epoch
        self.best_loss = min(self.best_loss, val_loss)
        self.best_accuracy = max(self.best_accuracy, accuracy)

    def done(self) -> bool:
        rule, patience = self.stopping.rule, self.stopping.patience
        if self.epoch >= self.max_epochs:
            return True
        if not self.validated or self.epoch == 0 or rule == "never":
            return False
        losses = self.watched
        if not math.isfinite(losses[-1]):
            return True  # diverged: later epochs cannot come back
        if rule == "mean":
            window = losses[-(patience + 1) : -1]
            return self.epoch > patience + 1 and losses[-1] > float(np.mean(window))
        return self.waited >= patience
