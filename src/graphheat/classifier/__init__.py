"""scikit-learn's face of GraphHeat, and its evaluation over seeds."""

from graphheat.classifier.estimator import GraphHeatClassifier
from graphheat.classifier.evaluation import Evaluation, evaluate
from graphheat.classifier.fitting import fit

__all__ = ["Evaluation", "GraphHeatClassifier", "evaluate", "fit"]
