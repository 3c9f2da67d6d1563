"""Graphs in NumPy archives: our own layout, and two that others write."""

from __future__ import annotations

import json
import os
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graphheat.checks import shown
from graphheat.errors import FileFormatError, GraphError, GraphHeatError
from graphheat.features import FeatureSchema
from graphheat.graph import Graph
from graphheat.graph.adjacency import Duplicates, from_pairs
from graphheat.graph.sparse_structure import csr_of
from graphheat.io.archive import Members, as_path, read_archive, reason_of
from graphheat.io.atomic import replacing
from graphheat.io.sparse_archive import SPARSE, is_sparse, sparse_matrix
from graphheat.io.written import named
from graphheat.memory import check_nodes_fit

SCHEMA = "graphheat.graph/1"
SPLIT = ("train", "val", "calibration", "test")

Arrays = dict[str, NDArray[Any]]


def write_npz(graph: Graph, path: str | os.PathLike[str]) -> None:
    """Write ``graph`` as one compressed archive without pickles.

    Parameters
    ----------
    graph
        Everything of it is kept: edges, features with their names and schema, labels, classes, ids,
        titles, split, name.
    path
        The file to write or to replace; it is never seen half-written.

    Notes
    -----
    The archive holds plain arrays: ``schema``; ``adjacency_indptr`` and ``adjacency_indices``, the
    upper triangle with its diagonal; ``adjacency_weights`` unless all are 1; ``features``, or
    ``features_indptr``, ``_indices``, ``_shape`` and (unless all are 1) ``_data``; ``labels``,
    and ``label_sets`` where nodes have several;
    ``nodes`` when they are integers other than 0 … n−1; ``split_0``, ``split_1``, …; and ``words``,
    the UTF-8 bytes of a JSON object with name, classes, titles, string ids, names of the split and
    the feature schema (or the names of the features alone).
    The same graph gives the same bytes.

    Examples
    --------
    >>> import tempfile
    >>> graph = Graph.from_edges(["ann", "bob"], ["bob", "cat"], labels=["tea", None, "coffee"])
    >>> path = Path(tempfile.mkdtemp()) / "friends.npz"
    >>> write_npz(graph, path)
    >>> read_npz(path).fingerprint == graph.fingerprint
    True
    """
    arrays = _pack(graph)
    with replacing(path) as aside, zipfile.ZipFile(aside, "w") as archive:
        for name, array in arrays.items():
            # A fixed date and a fixed order: the same graph gives the same bytes.
            entry = zipfile.ZipInfo(f"{name}.npy", date_time=(1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            with archive.open(entry, "w", force_zip64=True) as stream:
                np.lib.format.write_array(stream, array, version=(1, 0), allow_pickle=False)


def read_npz(
    path: str | os.PathLike[str], *, duplicates: Duplicates = "error", **more: Any
) -> Graph:
    """Read a graph from an archive; nothing in it is ever unpickled.

    Parameters
    ----------
    path
        A file of :func:`write_npz`; or of ``scipy.sparse.save_npz`` (the adjacency alone); or an
        archive with ``edge_index``, shape (2, e), and optionally ``edge_weight``, ``num_nodes``,
        features (``x``, or ``x_data``, ``x_indices``, ``x_indptr``, ``x_shape``), labels ``y`` and
        ``train_mask`` or ``train_idx`` (the same for ``val`` and ``test``). An ``edge_index`` that
        names each edge in one direction only is a list of undirected edges.
    duplicates
        How to settle an edge of an ``edge_index`` that is named with different weights.
    **more
        As for :meth:`Graph.from_scipy`, in place of what the file says.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "triangle.npz"
    >>> np.savez(path, edge_index=[[0, 1, 2], [1, 2, 0]], y=[0, 1, 1])
    >>> read_npz(path)
    Graph(nodes=3, edges=3, features=0, classes=2, labelled=3)
    """
    path = as_path(path)
    arrays = read_archive(path, _is_known)
    try:
        parts = _parts(arrays, path, duplicates)
    except GraphHeatError:
        raise
    except (
        *(KeyError, IndexError, ValueError, TypeError, AttributeError),
        *(OverflowError, RecursionError),  # JSON of great depth
    ) as error:
        raise FileFormatError(
            f"{path} is not a whole graph archive: {reason_of(error)}. Write it again."
        ) from error
    if "labels" in more:
        parts.pop("classes", None)
        parts.pop("label_sets", None)
    if "features" in more:
        parts |= {"feature_names": None, "schema": None}
    return Graph.from_scipy(**{"name": path.stem, **parts, **more})


def _is_known(name: str) -> bool:
    """Tell whether an array is one that any of the layouts has."""
    start = name.partition("_")[0]
    return name in (*OTHERS, *SPARSE, "label_sets") or start in ("adjacency", "features", "split")


def _parts(arrays: Members, path: Path, duplicates: Duplicates) -> dict[str, Any]:
    if "schema" in arrays:
        schema = str(arrays["schema"])
        if schema != SCHEMA:
            raise FileFormatError(
                f"{path} is of schema {shown(schema)!r}; this version reads {SCHEMA!r}. "
                "Update graphheat."
            )
        if arrays.others:
            raise ValueError(f"it holds {named(arrays.others, 1)}, which is no part of a graph")
        parts = _unpack(arrays)
        held = [part for part in ("features", "labels", "split") if _holds(parts, part)]
        what = f"a graph with {', '.join(held)}" if held else "a graph of edges alone"
        return {**parts, "account": (f"{path.name}: {what}.",)}
    if "edge_index" in arrays:
        parts = _from_edge_index(arrays, duplicates, path)
        return parts | {"account": (_account(arrays, path),)}
    if is_sparse(arrays):
        alone = f"{path.name}: a sparse matrix, taken for the edges of nodes 0, 1, 2, …."
        matrix = sparse_matrix(arrays, "adjacency")
        check_nodes_fit(matrix.shape[0], path.stat().st_size, path)
        return {"adjacency": matrix, "account": (alone,)}
    found = named(sorted([*arrays, *arrays.others]), 10) or "nothing"
    raise FileFormatError(
        f"{path} must be a graphheat graph, a scipy.sparse.save_npz file or an archive with "
        f"edge_index; it holds {found}."
    )


def _holds(parts: dict[str, Any], part: str) -> bool:
    if part == "labels":
        return bool(parts["classes"])
    return parts[part] is not None and (part != "split" or bool(parts[part]))


# ---------------------------------------------------------------------- our layout


def _pack(graph: Graph) -> Arrays:
    upper = sp.csr_array(sp.triu(graph.adjacency, format="csr"))
    upper.sort_indices()
    arrays: Arrays = {
        "schema": np.array(SCHEMA),
        "adjacency_indptr": _smallest(upper.indptr),
        "adjacency_indices": _smallest(upper.indices),
    }
    if np.any(upper.data != 1):
        arrays["adjacency_weights"] = _narrow(upper.data)
    features = graph.features
    if isinstance(features, np.ndarray):
        arrays["features"] = features
    elif features is not None:
        arrays["features_shape"] = np.array(features.shape, dtype=np.int64)
        arrays["features_indptr"] = _smallest(features.indptr)
        arrays["features_indices"] = _smallest(features.indices)
        if np.any(features.data != 1):
            arrays["features_data"] = features.data
    arrays["labels"] = graph.labels.astype(_signed(len(graph.classes)))
    if graph.label_sets is not None:
        arrays["label_sets"] = graph.label_sets
    words: dict[str, Any] = {"name": graph.name, "classes": _plain_classes(graph.classes)}
    if graph.nodes.dtype.kind == "O":
        words["nodes"] = graph.nodes.tolist()
    elif not np.array_equal(graph.nodes, np.arange(graph.n)):
        arrays["nodes"] = graph.nodes
    if graph.titles is not None:
        words["titles"] = list(graph.titles)
    if graph.schema is not None:
        words["feature_schema"] = graph.schema.to_dict()
    elif graph.feature_names is not None:
        words["feature_names"] = list(graph.feature_names)
    words["split"] = list(graph.split)
    for position, indices in enumerate(graph.split.values()):
        arrays[f"split_{position}"] = _smallest(indices)
    arrays["words"] = np.frombuffer(json.dumps(words).encode(), dtype=np.uint8)
    return arrays


def _unpack(arrays: Arrays) -> dict[str, Any]:
    words = _words(arrays)
    indptr, indices = arrays["adjacency_indptr"], arrays["adjacency_indices"]
    n = len(indptr) - 1
    weights = arrays.get("adjacency_weights", np.ones(len(indices)))
    upper = csr_of(weights, indices, indptr, (n, n), "adjacency").astype(np.float64)
    parts: dict[str, Any] = {
        "adjacency": upper + sp.triu(upper, k=1).T,
        "labels": None if "label_sets" in arrays else arrays["labels"],
        "label_sets": arrays.get("label_sets"),
        "classes": tuple(words["classes"]),
        "nodes": _ids(words["nodes"]) if "nodes" in words else arrays.get("nodes"),
        "titles": words.get("titles"),
        "name": words["name"],
        "split": {
            name: _whole(arrays[f"split_{position}"], f"split['{name}']")
            for position, name in enumerate(words["split"])
        },
        "features": arrays.get("features"),
        "feature_names": words.get("feature_names"),
    }
    if "feature_schema" in words:
        parts["schema"] = FeatureSchema.from_dict(words["feature_schema"])
    if "features_shape" in arrays:
        columns = arrays["features_indices"]
        ones = np.ones(columns.size, dtype=np.float32)
        parts["features"] = csr_of(
            arrays.get("features_data", ones),
            columns,
            arrays["features_indptr"],
            arrays["features_shape"],
            "features",
        )
    return parts


def _words(arrays: Arrays) -> dict[str, Any]:
    """Return the words of an archive, each of the kind that it must be."""
    words = json.loads(arrays["words"].tobytes())
    kinds: dict[str, Any] = {
        "name": str, "classes": list, "split": list, "nodes": list, "titles": list,
        "feature_names": list, "feature_schema": dict,
    }  # fmt: skip
    if not isinstance(words, dict):
        raise ValueError("its words are no JSON object")
    for key, kind in kinds.items():
        if key in words and not isinstance(words[key], kind):
            raise ValueError(f"{key} is not a {kind.__name__}")
    for key in ("split", "nodes", "titles", "feature_names"):
        if not all(isinstance(each, str) for each in words.get(key, [])):
            raise ValueError(f"{key} must hold strings")
    return words


def _whole(array: NDArray[Any], what: str) -> NDArray[np.int64]:
    if array.size and array.dtype.kind not in "iu":
        raise GraphError(f"{what} must hold row numbers; got {array.dtype}.")
    return array.astype(np.int64)


def _ids(nodes: list[str]) -> NDArray[np.object_]:
    ids = np.empty(len(nodes), dtype=object)
    ids[:] = nodes
    return ids


def _smallest(array: NDArray[Any]) -> NDArray[Any]:
    """Return non-negative integers in the smallest unsigned type that holds them."""
    largest = int(array.max()) if array.size else 0
    return array.astype(np.min_scalar_type(largest))


def _signed(classes: int) -> Any:
    return next(t for t in (np.int8, np.int16, np.int32, np.int64) if classes <= np.iinfo(t).max)


def _narrow(weights: NDArray[np.float64]) -> NDArray[Any]:
    """Return the weights in single precision when that changes none of them."""
    with np.errstate(over="ignore"):  # too large for single precision: then they differ
        single = weights.astype(np.float32)
    return single if np.array_equal(single, weights) else weights


def _plain_classes(classes: tuple[Any, ...]) -> list[Any]:
    for name in classes:
        if type(name) not in (str, int, float, bool):
            raise GraphError(
                "Class names in an archive must be strings, numbers or booleans; "
                f"got {name!r} of type {type(name).__name__}."
            )
    return list(classes)


# ------------------------------------------------------------------- others' layouts

OTHER_FEATURES = ("x", "x_data", "x_indices", "x_indptr", "x_shape")
OTHERS = (
    *("schema", "words", "labels", "nodes"),
    *("edge_index", "edge_weight", "num_nodes", "y"),
    *OTHER_FEATURES,
    *(f"{part}_{kind}" for part in SPLIT for kind in ("mask", "idx")),
)


def _account(arrays: Members, path: Path) -> str:
    """Return which arrays of an archive with an edge_index were taken, and which left out."""
    taken = [name for name in OTHERS if name in arrays and name not in OTHER_FEATURES[2:]]
    left = sorted([*arrays.keys() - set(OTHERS), *arrays.others])
    omitted = f"; left out: {named(left, 3)}" if left else ""
    return f"{path.name}: taken from {', '.join(taken)}{omitted}."


def _from_edge_index(arrays: Arrays, duplicates: Duplicates, path: Path) -> dict[str, Any]:
    pairs = arrays["edge_index"]
    if pairs.ndim != 2 or pairs.shape[0] != 2 or (pairs.size and pairs.dtype.kind not in "iu"):
        raise GraphError(
            f"edge_index must hold integers in shape (2, e); got {pairs.dtype} {pairs.shape}."
        )
    features: Any = arrays.get("x")
    if "x_shape" in arrays:
        parts = arrays["x_data"], arrays["x_indices"], arrays["x_indptr"]
        features = csr_of(*parts, arrays["x_shape"], "features")
    labels = arrays.get("y")
    if labels is not None and labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels.ravel()
    if "num_nodes" in arrays:
        n = _count(arrays["num_nodes"])
    elif features is not None:
        n = int(features.shape[0])
    elif labels is not None:
        n = len(labels)
    else:
        n = int(pairs.max()) + 1 if pairs.size else 0
    check_nodes_fit(n, path.stat().st_size, path)
    return {
        "adjacency": from_pairs(
            pairs[0],
            pairs[1],
            arrays.get("edge_weight"),
            n,
            duplicates=duplicates,
            directed=not _one_way(pairs, n),
        ),
        "features": features,
        "labels": labels,
        "split": {
            name: _as_mask(arrays[f"{name}_{kind}"]) if kind == "mask" else arrays[f"{name}_{kind}"]
            for name in SPLIT
            for kind in ("mask", "idx")
            if f"{name}_{kind}" in arrays
        },
    }


def _count(value: NDArray[Any]) -> int:
    if value.size != 1 or value.dtype.kind not in "iu" or value.ravel()[0] < 0:
        raise ValueError(f"num_nodes must be a whole number, not {value.dtype} {value.shape}")
    return int(value.ravel()[0])


def _as_mask(mask: NDArray[Any]) -> NDArray[Any]:
    """Return a mask of 0 and 1 as what it means; as indices it would name the first two nodes."""
    if mask.dtype.kind != "b" and mask.size and not np.isin(mask, (0, 1)).all():
        raise GraphError(
            f"A mask must hold true and false, or 1 and 0; got {mask.dtype} with {mask.max()}."
        )
    return mask.astype(bool)


def _one_way(pairs: NDArray[Any], n: int) -> bool:
    """Tell whether no edge is named in both directions (self-loops aside)."""
    source, target = pairs.astype(np.int64)
    edge = np.minimum(source, target) * n + np.maximum(source, target)
    forward, backward = np.sort(edge[source < target]), edge[source > target]
    if not (len(forward) and len(backward)):
        return True
    nearest = np.minimum(np.searchsorted(forward, backward), len(forward) - 1)
    return not bool(np.any(forward[nearest] == backward))
