"""Node features as the input of a network, sparse where they are sparse."""

from __future__ import annotations

from typing import Any

import scipy.sparse as sp
from torch import Tensor, nn

from graphheat.errors import GraphError
from graphheat.graph import Graph
from graphheat.nn import SparseFeatures
from graphheat.training.scaling import Scaling, suitable_scaling

Input = Tensor | SparseFeatures


def network_input(graph: Graph) -> Input:
    """Return the features, shape (n, f): words by row, measurements by column standardised."""
    if graph.features is None:
        raise GraphError(f"{graph.name} has no features, which a network needs as its input.")
    return Scaling.learn(graph.features, suitable_scaling(graph)).apply(graph.features)


def rows(x: Input, nodes: Tensor) -> Input:
    """Return the rows of ``nodes`` in their order, shape (m, f)."""
    if isinstance(x, Tensor):
        return x[nodes]
    p = x.pattern
    parts = (part.numpy() for part in (x.values, p.col, p.crow))
    return SparseFeatures.from_scipy(sp.csr_array(tuple(parts), shape=p.shape)[nodes.numpy()])


def dropout(x: Input, p: float, training: bool) -> Input:
    """Drop entries (of sparse features: of those that are not zero) and scale the others up."""
    if isinstance(x, Tensor):
        return nn.functional.dropout(x, p, training)
    return x.dropout(p, training)


class Mapped(nn.Module):
    """A PyG layer whose linear map ``lin`` is taken out and applied first, to sparse features too.

    Layers that map and then propagate (GCNConv, GATConv) compute the same as they do alone.

    Shapes
    ------
    - **input**: x (n, in_channels), dense or sparse; what else the layer takes
    - **output**: that of the layer
    """

    def __init__(self, layer: nn.Module) -> None:
        super().__init__()
        self.map, layer.lin = layer.lin, nn.Identity()
        self.layer = layer

    def forward(self, x: Input, *edges: Any) -> Tensor:
        """Map, then propagate."""
        return self.layer(x @ self.map.weight.t(), *edges)
