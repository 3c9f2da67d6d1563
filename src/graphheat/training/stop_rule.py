"""When a training stops, and of which epoch the weights are kept."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

Rule = Literal["kept", "mean", "loss", "either", "accuracy", "never"]
Keep = Literal["loss", "accuracy", "both", "last"]


@dataclass(frozen=True)
class StopRule:
    """When to stop, and which weights to keep.

    Attributes
    ----------
    max_epochs, patience
        At most so many epochs; and how long to wait, where the rule waits.
    rule
        ``"kept"``: when for ``patience`` epochs none was worth keeping. ``"loss"``: when the
        validation loss has not fallen for ``patience`` epochs. ``"accuracy"``: when the accuracy
        has not been as high as ever. ``"either"``: when neither has been as good as ever (GAT's
        code). ``"mean"``: when the loss is above the mean of the ``patience`` before it, from epoch
        ``patience`` + 1 + ``delay`` on (Kipf's code: a delay of 1). ``"never"``: after
        ``max_epochs``.
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
    rule: Rule = "loss"
    keep: Keep = "loss"
    delay: int = 0
    penalised: bool = False
    fixed_epochs: int = 200


@dataclass
class Best:
    """The weights that are kept, and how good validation has been.

    Attributes
    ----------
    loss, accuracy
        The lowest and the highest so far.
    waited
        Epochs since the rule saw something as good as ever.
    epoch, weights
        Of the epoch that is kept.
    """

    rule: StopRule
    loss: float = math.inf
    accuracy: float = -math.inf
    waited: int = 0
    epoch: int = 0
    weights: dict[str, Any] = field(default_factory=dict)

    def take(self, loss: float, accuracy: float) -> bool:
        """Note an epoch's validation; return whether its weights are to be kept."""
        lower, as_low = loss < self.loss, loss <= self.loss
        as_right = accuracy >= self.accuracy
        kept = {
            "loss": lower, "accuracy": as_right, "both": as_low and as_right, "last": False
        }[self.rule.keep]  # fmt: skip
        better = {"kept": kept, "either": as_low or as_right, "accuracy": as_right}
        self.waited = 0 if better.get(self.rule.rule, lower) else self.waited + 1
        self.loss, self.accuracy = min(self.loss, loss), max(self.accuracy, accuracy)
        return kept

    def has_waited(self, losses: list[float]) -> bool:
        """Whether the rule ends the training; ``losses`` are validation's, epoch by epoch."""
        epoch, patience = len(losses), self.rule.patience
        if self.rule.rule == "never":
            return False
        if not math.isfinite(losses[-1]):
            return True  # diverged: later epochs cannot come back
        if self.rule.rule == "mean":
            window = losses[-(patience + 1) : -1]
            return epoch > patience + self.rule.delay and losses[-1] > float(np.mean(window))
        return self.waited >= patience
