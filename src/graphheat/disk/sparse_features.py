"""Sparse features of a disk graph: from a table of (node, feature, value) to rows on disk."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from graphheat.disk import edge_stream
from graphheat.disk.array_folder import new_array
from graphheat.disk.duck_tables import DuckTables, identifier
from graphheat.disk.edge_buckets import EdgeBuckets
from graphheat.errors import FileFormatError

NODE = ("node", "id", "node_id", "source")
FEATURE = ("feature", "word", "term", "column", "target")


def read_sparse_features(
    tables: DuckTables, files: Sequence[Path], folder: Path, n: int, *, most: int
) -> dict[str, Any]:
    """Write ``feature_ends``, ``feature_columns`` and ``feature_values``; return their names."""
    scan = tables.scan(files)
    names = list(tables.columns(scan))
    lower = {name.lower(): name for name in reversed(names)}
    node = next((lower[word] for word in NODE if word in lower), None)
    feature = next((lower[word] for word in FEATURE if word in lower), None)
    if node is None or feature is None or node == feature:
        raise FileFormatError(
            "A table of sparse features needs columns node and feature, and perhaps value; got "
            f"{', '.join(names)}."
        )
    value = next((lower[word] for word in ("value", "weight", "count") if word in lower), None)
    column = f"CAST({identifier(feature)} AS VARCHAR)"
    listed = tables.execute(f"SELECT DISTINCT {column} AS w FROM {scan} ORDER BY w")
    words = [row[0] for row in listed]
    if None in words:
        raise FileFormatError("A feature's name is missing in the table of sparse features.")
    tables.execute(
        f"COPY (SELECT w AS id, row_number() OVER (ORDER BY w) - 1 AS i FROM "
        f"(SELECT DISTINCT {column} AS w FROM {scan})) TO '{folder / 'words.parquet'}' "
        "(FORMAT parquet)"
    )
    edges = edge_stream.EdgeTable(tuple(files), node, feature, value, numbers=False)
    buckets = EdgeBuckets(
        folder / "feature-buckets", (0, n), weighted=value is not None, most=most, duplicates="sum"
    )
    buckets.cut([0] * (len(buckets.bounds) - 1))
    for u, v, w in edge_stream.pairs(
        tables,
        edges,
        files,
        folder / "ids.parquet",
        numbers=False,
        targets=folder / "words.parquet",
    ):
        buckets.add(u, v, w)
    ends = np.zeros(n + 1, dtype=np.int64)
    with (
        (folder / "feature_columns.raw").open("wb") as columns,
        (folder / "feature_values.raw").open("wb") as values,
    ):
        for part in buckets.sorted_rows():
            ends[part.first + 1 : part.last + 1] = part.counts
            part.columns.tofile(columns)
            held = np.ones(len(part.columns)) if part.weights is None else part.weights
            held.astype(np.float32).tofile(values)
    np.cumsum(ends, out=ends)
    np.save(folder / "feature_ends.npy", ends)
    for name, dtype in (("feature_columns", np.int32), ("feature_values", np.float32)):
        array = new_array(folder / f"{name}.npy", (int(ends[-1]),), dtype)
        if ends[-1]:
            array[:] = np.memmap(folder / f"{name}.raw", dtype, "r")
        array.flush()
    return {"count": len(words), "names": words if len(words) <= 100_000 else []}
