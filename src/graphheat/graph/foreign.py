"""Other libraries' graphs, duck-typed: PyG's ``Data``, NetworkX and igraph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graphheat.errors import GraphError, MissingDependencyError
from graphheat.graph.adjacency import Duplicates, as_weights, from_pairs
from graphheat.graph.label_sets import joined

if TYPE_CHECKING:
    from graphheat.graph.graph import Graph


def as_array(value: Any) -> NDArray[Any]:
    """Return a tensor or an array-like as a NumPy array."""
    if hasattr(value, "detach"):
        value = value.detach().cpu()
        if getattr(value, "is_sparse", False) or "sparse" in str(getattr(value, "layout", "")):
            value = value.to_dense()
        value = value.numpy()
    return np.asarray(value)


def _edge_pairs(edge_index: Any) -> NDArray[Any]:
    pairs = as_array(edge_index)
    if pairs.ndim != 2 or pairs.shape[0] != 2 or (pairs.size and pairs.dtype.kind not in "iu"):
        raise GraphError(
            f"edge_index must hold integers in shape (2, e); got {pairs.dtype} {pairs.shape}."
        )
    return pairs


def edge_index_to_scipy(
    edge_index: Any, edge_weight: Any, num_nodes: int | None, duplicates: Duplicates = "error"
) -> sp.csr_array:
    """Return the (directed) matrix of a PyG ``edge_index``, shape (2, e)."""
    pairs = _edge_pairs(edge_index)
    weight = None if edge_weight is None else as_weights(as_array(edge_weight))
    n = num_nodes if num_nodes is not None else (int(pairs.max()) + 1 if pairs.size else 0)
    return from_pairs(pairs[0], pairs[1], weight, n, duplicates=duplicates, directed=True)


def pyg_parts(data: Any) -> dict[str, Any]:
    """Return what ``Graph.from_scipy`` needs from a PyG ``Data``-like object."""
    if getattr(data, "edge_index", None) is None:
        raise GraphError("from_pyg needs an object with an edge_index; this one has none.")
    x, y = getattr(data, "x", None), getattr(data, "y", None)
    pairs = _edge_pairs(data.edge_index)
    n = getattr(data, "num_nodes", None)
    if n is None and x is not None:
        if not getattr(x, "shape", ()):
            raise GraphError("x must have a row per node; it has no rows.")
        n = int(x.shape[0])
    weight = getattr(data, "edge_weight", None)
    attribute = getattr(data, "edge_attr", None)
    if (
        weight is None
        and attribute is not None
        and as_array(attribute).size == max(pairs.shape[1], 1)
    ):
        weight = attribute  # one number per edge is a weight; a vector per edge is not
    labels = None
    if y is not None:
        labels = as_array(y)
        labels = labels.ravel() if labels.ndim == 2 and labels.shape[1] == 1 else labels
    split = {}
    for name in ("train", "val", "calibration", "test"):
        mask = getattr(data, f"{name}_mask", None)
        if mask is not None:
            split[name] = as_array(mask).astype(bool)
    return {
        "adjacency": edge_index_to_scipy(pairs, weight, n),
        "features": None if x is None else as_array(x),
        "labels": labels,
        "split": split,
    }


def to_pyg(graph: Graph) -> Any:
    """Return ``graph`` as a PyG ``Data``, both directions of every edge named."""
    try:
        import torch
        from torch_geometric.data import Data
    except ImportError as error:
        raise MissingDependencyError(
            "to_pyg needs torch-geometric: pip install graphheat[pyg]."
        ) from error
    coo = graph.adjacency.tocoo()
    data = Data(
        edge_index=torch.tensor(np.stack([coo.row, coo.col]), dtype=torch.long),
        y=torch.tensor(graph.labels if graph.label_sets is None else graph.label_sets),
        num_nodes=graph.n,
    )
    if np.any(coo.data != 1):
        data.edge_weight = torch.tensor(coo.data, dtype=torch.float32)
    if graph.features is not None:
        dense = graph.features.toarray() if sp.issparse(graph.features) else graph.features
        data.x = torch.tensor(dense)
    for name, indices in graph.split.items():
        mask = torch.zeros(graph.n, dtype=torch.bool)
        mask[torch.tensor(indices)] = True
        data[f"{name}_mask"] = mask
    return data


def networkx_parts(
    graph: Any,
    weight: str | None,
    label: str | None,
    features: Sequence[str] | None,
    duplicates: Duplicates = "error",
) -> dict[str, Any]:
    """Return what ``Graph.from_scipy`` needs from a NetworkX graph."""
    if graph.is_directed():
        raise GraphError(
            "from_networkx needs an undirected graph; got a directed one. "
            "Pass graph.to_undirected()."
        )
    nodes = list(graph.nodes)
    position = {node: index for index, node in enumerate(nodes)}
    edges = [(position[a], position[b], found) for a, b, found in graph.edges(data=True)]
    return _parts(
        nodes, edges, [graph.nodes[node] for node in nodes], weight, label, features, duplicates
    )


def igraph_parts(
    graph: Any,
    weight: str | None,
    label: str | None,
    features: Sequence[str] | None,
    duplicates: Duplicates = "error",
) -> dict[str, Any]:
    """Return what ``Graph.from_scipy`` needs from an igraph graph."""
    if graph.is_directed():
        raise GraphError(
            "from_igraph needs an undirected graph; got a directed one. Pass graph.as_undirected()."
        )
    nodes = graph.vs["name"] if "name" in graph.vs.attributes() else list(range(graph.vcount()))
    edges = [(*edge.tuple, edge.attributes()) for edge in graph.es]
    vertices = [vertex.attributes() for vertex in graph.vs]
    return _parts(nodes, edges, vertices, weight, label, features, duplicates)


def _parts(
    nodes: Sequence[Any],
    edges: Sequence[tuple[int, int, Mapping[str, Any]]],
    attributes: Sequence[Mapping[str, Any]],
    weight: str | None,
    label: str | None,
    features: Sequence[str] | None,
    duplicates: Duplicates,
) -> dict[str, Any]:
    """Return parts of a graph from edges between positions, and what each node and edge says."""
    weights = [1.0] * len(edges)
    if weight is not None:
        weights = [
            1.0 if found.get(weight) is None else _number(found[weight], weight, f"edge {a}–{b}")
            for a, b, found in edges
        ]
    parts: dict[str, Any] = {
        "adjacency": from_pairs(
            np.array([a for a, _, _ in edges], dtype=np.int64),
            np.array([b for _, b, _ in edges], dtype=np.int64),
            np.array(weights, dtype=np.float64),
            len(nodes),
            duplicates=duplicates,
        ),
        "nodes": np.array(nodes)
        if all(isinstance(node, int) and not isinstance(node, bool) for node in nodes)
        else np.array([str(node) for node in nodes], dtype=object),
    }
    if label is not None:
        values = np.empty(len(nodes), dtype=object)
        values[:] = [found.get(label) for found in attributes]
        parts["labels"] = values
    if features:
        pairs = list(zip(nodes, attributes, strict=True))
        lacking = [
            node for node, found in pairs if any(found.get(name) is None for name in features)
        ]
        if lacking:
            raise GraphError(
                f"{len(lacking):,} nodes lack one of the attributes {list(features)} "
                f"(first {lacking[0]!r})."
            )
        parts["features"] = np.array(
            [
                [_number(found[name], name, f"node {node!r}") for name in features]
                for node, found in pairs
            ]
        )
        parts["feature_names"] = tuple(features)
    return parts


def _number(value: Any, attribute: str, owner: str) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise GraphError(
            f"Attribute {attribute!r} must be a number; got {str(value)[:60]!r} at {owner}. "
            "Graph.from_frames takes words, too."
        ) from None


def to_networkx(graph: Graph) -> Any:
    """Return ``graph`` as a NetworkX ``Graph``."""
    try:
        import networkx
    except ImportError as error:
        raise MissingDependencyError("to_networkx needs networkx: pip install networkx.") from error
    result = networkx.Graph(name=graph.name)
    nodes = graph.nodes.tolist()
    for index, node in enumerate(nodes):
        attributes: dict[str, Any] = {}
        if graph.label_sets is not None:
            words = joined(graph.label_sets[index], graph.classes)
            attributes |= {} if words is None else {"label": words}
        if graph.labels[index] >= 0:
            attributes["label"] = graph.classes[graph.labels[index]]
        if graph.titles is not None:
            attributes["title"] = graph.titles[index]
        result.add_node(node, **attributes)
    upper = sp.coo_array(sp.triu(graph.adjacency))
    result.add_weighted_edges_from(
        (nodes[i], nodes[j], float(w))
        for i, j, w in zip(upper.row, upper.col, upper.data, strict=True)
    )
    return result
