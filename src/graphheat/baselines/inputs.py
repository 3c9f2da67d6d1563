"""Node features as the input of a network, sparse where they are sparse."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import scipy.sparse as sp
from torch import Tensor, nn

from graphheat.errors import GraphError
from graphheat.features import Scaling, suitable_scaling
from graphheat.graph import Graph
from graphheat.nn import SparseFeatures
from graphheat.nn.features import Input, as_input

if TYPE_CHECKING:
    from torch_geometric.nn import MessagePassing


def network_input(graph: Graph) -> Input:
    """Return the features, shape (n, f): bag-of-words l1-scaled, dense features standardised."""
    if graph.features is None:
        raise GraphError(f"{graph.name} has no features, which a network needs as its input.")
    return as_input(Scaling.learn(graph.features, suitable_scaling(graph)).apply(graph.features))


def rows(x: Input, nodes: Tensor) -> Input:
    """Return the rows of ``nodes`` in their order, shape (m, f)."""
    if isinstance(x, Tensor):
        return x[nodes]
    p = x.pattern
    parts = (part.numpy() for part in (x.values, p.col, p.crow))
    return SparseFeatures.from_scipy(sp.csr_array(tuple(parts), shape=p.shape)[nodes.numpy()])


class Mapped(nn.Module):
    """A PyG layer whose linear map ``lin`` is taken out and applied first, to sparse features too.

    Layers that map and then propagate (GCNConv, GATConv) compute the same as they do alone.

    Shapes
    ------
    - **input**: x (n, in_channels), dense or sparse; what else the layer takes
    - **output**: that of the layer
    """

    def __init__(self, layer: MessagePassing) -> None:
        super().__init__()
        self.map, layer.lin = layer.lin, nn.Identity()
        self.layer = layer

    def forward(self, x: Input, *edges: Any) -> Tensor:
        """Map, then propagate."""
        propagated: Tensor = self.layer(x @ self.map.weight.t(), *edges)
        return propagated
