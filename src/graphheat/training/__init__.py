"""One training loop: recipes, stopping, checkpoints, and the run they make."""

from graphheat.training.loop import Epoch, fit, train
from graphheat.training.problem import Problem, prepare
from graphheat.training.recipes import RECIPES, Settings, settings_for
from graphheat.training.run import Run

__all__ = [
    "RECIPES",
    "Epoch",
    "Problem",
    "Run",
    "Settings",
    "fit",
    "prepare",
    "settings_for",
    "train",
]
