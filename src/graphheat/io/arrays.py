"""Graphs from arrays: samples, labels and perhaps edges, as scikit-learn's users have them."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from graphheat.errors import GraphError, ParameterError
from graphheat.graph import Graph
from graphheat.graph.feature_matrix import check_features


def from_arrays(
    X: Any,
    y: ArrayLike | Sequence[object] | None,
    *,
    adjacency: Any = None,
    labelled: ArrayLike | None = None,
    neighbors: int = 10,
) -> Graph:
    """Build a graph from samples, labels and, optionally, the edges between the samples.

    Parameters
    ----------
    X
        Features, dense or sparse, shape (n, f); None with an ``adjacency``.
    y
        Labels, shape (n,); None and NaN mean unlabelled, and so does −1 when at least two other
        classes exist. None in place of the array: no labels, or those of an ``adjacency`` that is
        a graph.
    adjacency
        SciPy sparse or dense, shape (n, n), or a :class:`Graph`, whose ids, titles and (without X)
        features are kept. None: the symmetric nearest-neighbour graph of X.
    labelled
        Boolean mask, shape (n,): where False, the label counts as missing.
    neighbors
        How many nearest neighbours (Euclidean) a sample is joined to when there is no adjacency;
        all others when there are fewer.

    Examples
    --------
    >>> from_arrays([[0.0], [0.1], [5.0], [5.1]], ["a", None, "b", None], neighbors=1)
    Graph(nodes=4, edges=2, features=1, classes=2, labelled=2)
    """
    parts: dict[str, Any] = {}
    if isinstance(adjacency, Graph):
        parts = _parts(adjacency, with_labels=y is None)
        adjacency = adjacency.adjacency
    if X is None and adjacency is None:
        raise GraphError("A graph needs features X or an adjacency; got neither.")
    if X is not None:
        n = _rows(X, "X")
        parts |= {"features": check_features(X, n), "feature_names": None, "schema": None}
    else:
        n = _rows(adjacency, "adjacency")
    if adjacency is None:
        adjacency = _nearest(X, n, neighbors)
    elif _rows(adjacency, "adjacency") != n:
        raise GraphError(
            "X and adjacency must have one row per node each; "
            f"got {n:,} and {_rows(adjacency, 'adjacency'):,}."
        )
    if y is not None:
        parts["labels"] = _labels(y, n)
    if labelled is not None:
        parts.update(_masked(parts, labelled, n))
    return Graph.from_scipy(adjacency, **parts)


def _parts(graph: Graph, *, with_labels: bool) -> dict[str, Any]:
    parts: dict[str, Any] = {
        "features": graph.features,
        "feature_names": graph.feature_names,
        "schema": graph.schema,
        "nodes": graph.nodes,
        "titles": graph.titles,
        "name": graph.name,
    }
    if with_labels:
        labels = graph.labels if graph.label_sets is None else None
        parts |= {"labels": labels, "label_sets": graph.label_sets}
        parts |= {"classes": graph.classes, "split": graph.split}
    return parts


def _rows(matrix: Any, name: str) -> int:
    shape = matrix.shape if hasattr(matrix, "shape") else np.shape(matrix)
    if len(shape) != 2:
        raise GraphError(f"{name} must be a matrix with one row per node; got shape {shape}.")
    return int(shape[0])


def _labels(y: ArrayLike | Sequence[object], n: int) -> NDArray[Any]:
    labels = np.asarray(y)
    if labels.dtype.kind == "U" and not isinstance(y, np.ndarray):
        labels = np.asarray(y, dtype=object)  # ["a", nan] must not become the string "nan"
    if labels.shape != (n,):
        raise GraphError(
            f"y must hold one label per node; got shape {labels.shape} for {n:,} nodes."
        )
    return labels


def _masked(parts: dict[str, Any], labelled: ArrayLike, n: int) -> dict[str, Any]:
    mask = np.asarray(labelled)
    if mask.dtype.kind != "b" or mask.shape != (n,):
        raise GraphError(
            f"labelled must be a boolean mask of shape ({n},); got {mask.dtype} {mask.shape}."
        )
    if "labels" not in parts:
        return {}
    if parts.get("label_sets") is not None:
        return {"label_sets": np.where(mask[:, None], parts["label_sets"], -1), "split": {}}
    if "classes" in parts:
        kept = {
            name: indices[mask[indices]] if name != "test" else indices
            for name, indices in parts["split"].items()
        }
        return {"labels": np.where(mask, parts["labels"], -1), "split": kept}
    # As objects, so that a class without a single labelled node is not a class at all.
    labels = parts["labels"].astype(object)
    labels[~mask] = None
    return {"labels": labels}


def _nearest(X: Any, n: int, neighbors: int) -> Any:
    if not isinstance(neighbors, Integral) or isinstance(neighbors, bool) or neighbors < 1:
        raise ParameterError(
            f"The 'neighbors' parameter must be an integer ≥ 1. Got {neighbors!r} instead."
        )
    if n <= 1:
        return sp.csr_array((n, n))
    from sklearn.neighbors import kneighbors_graph

    samples = sp.csr_array(X) if sp.issparse(X) else np.asarray(X)
    if samples.shape[1] == 0:
        raise GraphError("X needs at least one column to find nearest neighbours; got none.")
    joined = kneighbors_graph(samples, min(int(neighbors), n - 1), mode="connectivity")
    return sp.csr_array(joined.maximum(joined.T))
