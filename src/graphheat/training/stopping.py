"""When a training stops, and of which epoch the weights are kept."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from torch import Tensor

from graphheat.training.recipes import Keep, Settings


@dataclass
class Best:
    """The weights that are kept, and how good validation has been.

    Attributes
    ----------
    loss, accuracy
        The lowest and the highest so far.
    improved
        The last epoch at which either was as good as ever.
    epoch, weights
        Of the epoch that is kept.
    """

    loss: float = math.inf
    accuracy: float = -math.inf
    improved: int = 0
    epoch: int = 0
    weights: dict[str, Tensor] = field(default_factory=dict)

    def take(self, epoch: int, loss: float, accuracy: float, keep: Keep) -> bool:
        """Note an epoch's validation; return whether its weights are to be kept."""
        lower, as_right = loss < self.loss, accuracy >= self.accuracy
        if lower or as_right:
            self.improved = epoch
        self.loss, self.accuracy = min(self.loss, loss), max(self.accuracy, accuracy)
        return as_right if keep == "accuracy" else lower


def has_waited(settings: Settings, losses: list[float], best: Best) -> bool:
    """Whether the rule of ``settings.stopping`` ends the training; ``losses`` are validation's."""
    epoch, patience = len(losses), settings.patience
    if not math.isfinite(losses[-1]):
        return True  # diverged: later epochs cannot come back
    if settings.stopping == "patience":
        return epoch - best.epoch >= patience
    if settings.stopping == "either":
        return epoch - best.improved >= patience
    window = losses[-(patience + 1) : -1]
    return epoch > patience and losses[-1] > float(np.mean(window))
