"""A graph as Parquet files, as an ingestion takes them."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pyarrow
import pyarrow.parquet
import scipy.sparse as sp

from graphheat.graph.split import CODES


def node_names(n):
    """Return distinct ids that do not rise with the row number."""
    return np.array([f"node-{(7919 * i) % n:07d}" for i in range(n)])


def write_tables(graph, folder):
    """Write edges (each once, in some order) and nodes; return their paths and the ids."""
    upper = sp.coo_array(sp.triu(graph.adjacency))
    order = np.random.default_rng(0).permutation(upper.nnz)
    ids = graph.nodes if graph.nodes[0] != 0 else node_names(graph.n)
    edges = {"source": ids[upper.row[order]], "target": ids[upper.col[order]]}
    if (upper.data != 1).any():
        edges["weight"] = upper.data[order]
    pyarrow.parquet.write_table(pyarrow.table(edges), folder / "edges.parquet")
    codes = graph.split.codes()
    table = {"id": ids}
    if graph.classes:
        known = graph.labels >= 0
        table["label"] = [
            str(graph.classes[label]) if there else None
            for label, there in zip(graph.labels, known, strict=True)
        ]
        table["split"] = [CODES[code] for code in codes]
    if graph.features is not None:
        table |= {f"f{k}": graph.features[:, k] for k in range(graph.features.shape[1])}
    pyarrow.parquet.write_table(pyarrow.table(table), folder / "nodes.parquet")
    return SimpleNamespace(
        edges=folder / "edges.parquet", nodes=folder / "nodes.parquet", ids=ids, folder=folder
    )
