"""Heat and a linear classifier: labels in moments, all settings from one diffusion."""

from graphheat.linear.grid import Candidate, GridSearch
from graphheat.linear.linear_fit import fit_linear
from graphheat.linear.linear_run import LinearRun, LinearSettings

__all__ = ["Candidate", "GridSearch", "LinearRun", "LinearSettings", "fit_linear"]
