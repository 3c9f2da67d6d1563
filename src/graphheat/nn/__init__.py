"""The network: heat products with gradients, the layer, the two-layer model."""

from graphheat.nn.conv import HeatConv
from graphheat.nn.features import SparseFeatures
from graphheat.nn.model import GraphHeat
from graphheat.nn.operator import HeatOperator, heat_operator

__all__ = ["GraphHeat", "HeatConv", "HeatOperator", "SparseFeatures", "heat_operator"]
