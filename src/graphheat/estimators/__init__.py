"""scikit-learn's interface: classifiers of graphs, and a transformer for any classifier."""

from graphheat.estimators.classifier import GraphHeatClassifier
from graphheat.estimators.heat_diffusion import HeatDiffusion
from graphheat.estimators.heat_regressor import HeatRegressor
from graphheat.estimators.label_spreading import HeatLabelSpreading

__all__ = ["GraphHeatClassifier", "HeatDiffusion", "HeatLabelSpreading", "HeatRegressor"]
