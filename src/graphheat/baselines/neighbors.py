"""Who is whose neighbour, for systems in which no node is its own."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from graphheat.graph import Graph


def neighbor_weights(graph: Graph) -> sp.csr_array:
    """Return the adjacency matrix without its diagonal, shape (n, n), float64, all stored > 0."""
    weights = sp.csr_array(graph.adjacency, dtype=np.float64)
    weights = sp.csr_array(weights - sp.diags_array(weights.diagonal()))
    weights.eliminate_zeros()
    return weights
