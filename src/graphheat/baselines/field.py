"""Which nodes and edges decide what a network predicts for a few nodes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from graphheat.graph import Graph
from graphheat.graph.adjacency import without_diagonal


class Edges(NamedTuple):
    """The messages of a layer: ``edge_index`` (2, e) from row to row, ``values`` (e, …) or None."""

    edge_index: Tensor
    values: Tensor | None = None

    def select(self, chosen: Tensor) -> Edges:
        """Return the edges at these positions."""
        values = None if self.values is None else self.values[chosen]
        return Edges(self.edge_index[:, chosen], values)


class Field(NamedTuple):
    """What the outputs of some nodes depend on.

    Attributes
    ----------
    nodes
        The rows of the input, shape (m,), ascending.
    places
        Where the wanted nodes are among them, shape (k,).
    layers
        For each layer the edges that end where its output is needed, numbered by ``nodes``.
    """

    nodes: Tensor
    places: Tensor
    layers: tuple[Edges, ...]


def edges_of(graph: Graph, *, self_loops: bool) -> Edges:
    """Return both directions of every edge with its weight, shape (e,).

    With ``self_loops`` each node has one of weight 1 in place of what the graph says.
    """
    adjacency = graph.to_scipy()
    if self_loops:
        adjacency = sp.csr_array(without_diagonal(adjacency) + sp.eye_array(graph.n, format="csr"))
    coo = adjacency.tocoo()
    index = torch.tensor(np.stack([coo.row, coo.col]), dtype=torch.long)
    return Edges(index, torch.tensor(coo.data, dtype=torch.float32))


def field_of(nodes: Tensor, edges: Edges, n: int, layers: int = 2) -> Field:
    """Follow the edges of a graph of ``n`` nodes backwards from ``nodes``, one step per layer.

    A network that is given the field's rows and edges computes for the wanted nodes exactly what it
    computes from the whole graph, and gradients too; what depends on the whole graph, such as
    degrees, must be in ``edges.values``. Twenty labels per class need a seventh of Pubmed.
    """
    needed = torch.zeros(n, dtype=torch.bool)
    needed[nodes] = True
    chosen: list[Tensor] = []
    for _ in range(layers):
        chosen.insert(0, needed[edges.edge_index[1]].nonzero().ravel())
        needed[edges.edge_index[0, chosen[0]]] = True
    kept = needed.nonzero().ravel()
    number = torch.full((n,), -1)
    number[kept] = torch.arange(len(kept))
    local = Edges(number[edges.edge_index], edges.values)
    return Field(kept, number[nodes], tuple(local.select(each) for each in chosen))
