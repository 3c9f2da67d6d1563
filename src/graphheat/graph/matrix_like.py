"""Other libraries' graphs wherever a matrix is taken, duck-typed: NetworkX, igraph, PyGSP."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from graphheat.errors import GraphError

WEIGHT = "weight"  # the attribute that the others use


def matrix_of(graph: Any) -> Any:
    """Return the adjacency of a NetworkX, igraph or PyGSP graph, and anything else as it is.

    The weights are those of the attribute ``weight``, 1 where an edge has none; parallel edges are
    summed; rows are in the order of the graph's own nodes. A directed graph gives a matrix that is
    not symmetric, entry (i, j) for an edge from i to j.

    Examples
    --------
    >>> import networkx
    >>> matrix_of(networkx.path_graph(3)).toarray().tolist()
    [[0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0]]
    """
    if sp.issparse(graph) or isinstance(graph, np.ndarray):
        return graph
    if hasattr(graph, "vcount") and hasattr(graph, "get_edgelist"):
        pairs = np.array(graph.get_edgelist(), dtype=np.int64).reshape(-1, 2)
        weights = graph.es[WEIGHT] if WEIGHT in graph.es.attributes() else None
        return _matrix(pairs, weights, int(graph.vcount()), bool(graph.is_directed()))
    if hasattr(graph, "is_directed") and hasattr(graph, "adjacency") and hasattr(graph, "edges"):
        place = {node: index for index, node in enumerate(graph.nodes)}
        edges = list(graph.edges(data=WEIGHT))
        pairs = np.array([(place[a], place[b]) for a, b, _ in edges], dtype=np.int64)
        weights = [each for _, _, each in edges]
        return _matrix(pairs.reshape(-1, 2), weights, len(place), bool(graph.is_directed()))
    weights = getattr(graph, "W", None)
    return weights if hasattr(graph, "N") and sp.issparse(weights) else graph


def _matrix(pairs: Any, weights: Any, n: int, directed: bool) -> sp.csr_array:
    try:
        values = np.ones(len(pairs))
        if weights is not None:
            values = np.array([1.0 if each is None else float(each) for each in weights])
    except (TypeError, ValueError) as error:
        raise GraphError(f"An edge's {WEIGHT!r} must be a number: {error}.") from None
    source, target = pairs[:, 0], pairs[:, 1]
    if not directed:
        other = source != target  # a loop is one entry
        source, target = np.r_[source, target[other]], np.r_[target, source[other]]
        values = np.r_[values, values[other]]
    return sp.csr_array(sp.coo_array((values, (source, target)), shape=(n, n)))
