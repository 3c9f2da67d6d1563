"""What makes a graph the graph that it is, as one number."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

if TYPE_CHECKING:
    from graphheat.graph.graph import Graph


def fingerprint_of(graph: Graph) -> str:
    """Return SHA-256 of edges, features, labels, classes, ids and split."""
    digest = hashlib.sha256()

    def add(name: str, array: NDArray[Any]) -> None:
        digest.update(f"{name}:{array.dtype.str}:{array.shape};".encode())
        digest.update(np.ascontiguousarray(array).tobytes())

    for name, matrix in (("adjacency", graph.adjacency), ("features", graph.features)):
        if matrix is None:
            continue
        if sp.issparse(matrix):
            add(f"{name}.indptr", matrix.indptr.astype(np.int64))
            add(f"{name}.indices", matrix.indices.astype(np.int64))
            add(f"{name}.data", matrix.data)
            add(f"{name}.shape", np.array(matrix.shape, dtype=np.int64))
        else:
            add(name, np.asarray(matrix))
    add("labels", graph.labels)
    if graph.label_sets is not None:
        add("label_sets", graph.label_sets)
    digest.update(repr((graph.classes, graph.nodes.tolist())).encode())
    for name in sorted(graph.split):
        add(f"split.{name}", graph.split[name])
    return digest.hexdigest()
