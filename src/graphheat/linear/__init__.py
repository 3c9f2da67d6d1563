"""Heat and a linear classifier: labels in seconds, with s and L2 chosen along one path of heat."""

from graphheat.linear.fitting import fit_linear
from graphheat.linear.inference import linear_predictions_on, linear_probabilities_on
from graphheat.linear.run import LinearRun

__all__ = ["LinearRun", "fit_linear", "linear_predictions_on", "linear_probabilities_on"]
