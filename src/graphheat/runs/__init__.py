"""What any recipe returns: a run, its predictions, and the one file that holds both; no torch."""

from graphheat.runs.predictions import Predictions
from graphheat.runs.protocols import Explainer
from graphheat.runs.run import Run
from graphheat.runs.run_file import load_run

__all__ = ["Explainer", "Predictions", "Run", "load_run"]
