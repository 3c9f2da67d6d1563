"""e^{-sL} without eigendecomposition and without torch: apply, matrix, row, sweep, plan."""

from graphheat.heat.kernel import HeatKernel
from graphheat.heat.laplacian import laplacian, normalized_adjacency
from graphheat.heat.neighborhood import Neighborhood, neighborhood
from graphheat.heat.plan import Plan

__all__ = [
    "HeatKernel",
    "Neighborhood",
    "Plan",
    "laplacian",
    "neighborhood",
    "normalized_adjacency",
]
