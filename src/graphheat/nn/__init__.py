"""The network: heat products with gradients, the layer, the two-layer model."""

from graphheat.nn.conv import HeatConv
from graphheat.nn.features import SparseFeatures
from graphheat.nn.model import GraphHeat
from graphheat.nn.operator import HeatOperator, heat_operator
from graphheat.nn.relational import RelationalHeatConv

__all__ = [
    "GraphHeat",
    "HeatConv",
    "HeatOperator",
    "RelationalHeatConv",
    "SparseFeatures",
    "heat_operator",
]
