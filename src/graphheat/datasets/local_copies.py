"""Public data sets that are on disk already, in the layouts of PyG, OGB and DGL.

Nothing is downloaded, and no pickle is loaded: what those libraries keep as pickles is refused with
what to do instead.
"""

from __future__ import annotations

import io
import os
import warnings
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graphheat.errors import FileFormatError, MissingDependencyError, MissingPathError
from graphheat.graph import Graph
from graphheat.graph.foreign import as_array
from graphheat.io.archive import as_path, existing_file, is_folder, read_archive, reason_of
from graphheat.io.table_sources import unpacked_bytes
from graphheat.memory import check_room

PICKLES = (".pkl", ".pickle", ".p", ".dgl", ".bin")
SAVE_AGAIN = (
    "Open it with its own library, once, and keep it: "
    "graphheat.write_npz(graphheat.Graph.from_pyg(data), 'graph.npz')."
)


def fetch_pyg(root: str | os.PathLike[str], *, split: int = 0) -> Graph:
    """Read a data set that PyTorch Geometric has processed.

    Parameters
    ----------
    root
        The folder that a PyG data set was made with, or its ``processed/data.pt``.
    split
        Which column of the masks, where a data set comes with several splits.

    Notes
    -----
    ``torch.load(weights_only=True)`` reads tensors and plain containers; PyG's classes are named in
    such a file, and stand for nothing here. Files of PyG before 2.4 hold objects and are refused.
    """
    path = _in_folder(root, "processed/data.pt", "geometric_data_processed.pt")
    size = path.stat().st_size
    check_room(size, size, path)
    data, slices = _pyg_parts(path)
    if slices:
        counts = {len(as_array(value)) - 1 for value in slices.values() if value is not None}
        if counts - {1}:
            raise FileFormatError(
                f"{path} holds {max(counts):,} graphs, and graphheat labels the nodes of one."
            )
    for name in ("train_mask", "val_mask", "test_mask"):
        mask = data.get(name)
        if mask is not None and as_array(mask).ndim == 2:
            data[name] = _column(as_array(mask), split, path)
    return Graph.from_pyg(SimpleNamespace(**data), name=_name(path), symmetrize="max")


def fetch_ogb(root: str | os.PathLike[str]) -> Graph:
    """Read a node-property data set of the Open Graph Benchmark.

    Parameters
    ----------
    root
        The data set's folder, such as ``dataset/ogbn_arxiv``: ``raw/`` with ``edge.csv.gz``,
        ``node-feat.csv.gz`` and ``node-label.csv.gz``, and ``split/*/`` with ``train.csv.gz``,
        ``valid.csv.gz`` and ``test.csv.gz``.

    Notes
    -----
    An edge is undirected here, also where a data set has directions. Class names are the numbers of
    the file. A data set with several labels per node (ogbn-proteins) becomes one of label sets.
    """
    folder = _folder(root)
    raw = folder / "raw"
    n = int(_numbers(raw / "num-node-list.csv.gz").ravel()[0])
    edges = _numbers(raw / "edge.csv.gz")
    if edges.shape[1] != 2:
        raise FileFormatError(f"{raw / 'edge.csv.gz'} must have two columns; got {edges.shape[1]}.")
    parts: dict[str, Any] = {"name": folder.name}
    if (raw / "node-feat.csv.gz").exists():
        parts["features"] = _numbers(raw / "node-feat.csv.gz", integers=False)
    labels = _numbers(raw / "node-label.csv.gz", integers=False)
    if (labels % 1 > 0).any():  # NaN, which is no label, is not
        raise FileFormatError(f"{raw / 'node-label.csv.gz'} must hold whole numbers, or nothing.")
    if labels.shape[1] > 1:
        sets = np.where(np.isnan(labels).any(axis=1, keepdims=True), -1.0, labels).astype(np.int8)
        parts |= {"label_sets": sets, "classes": tuple(range(labels.shape[1]))}
    else:
        codes = labels[:, 0]
        parts["labels"] = np.where(np.isnan(codes), -1, codes).astype(np.int64)
    splits = sorted((folder / "split").glob("*/train.csv.gz"))
    if splits:
        parts["split"] = {
            part: _numbers(splits[0].with_name(f"{name}.csv.gz")).ravel()
            for part, name in (("train", "train"), ("val", "valid"), ("test", "test"))
        }
    return Graph.from_edge_index(edges.T, num_nodes=n, symmetrize="max", **parts)


def fetch_dgl(root: str | os.PathLike[str]) -> Graph:
    """Read a data set in one of DGL's layouts that are no pickles.

    Parameters
    ----------
    root
        A folder of ``dgl.data.CSVDataset`` with one graph, one kind of nodes and one kind of edges
        (``meta.yaml``, and the files that it names: ``node_id``, ``feat``, ``label``,
        ``train_mask``, …; ``src_id``, ``dst_id``); or one of ``dgl.data.RedditDataset``
        (``reddit_data.npz``, ``reddit_graph.npz``).

    Notes
    -----
    What ``dgl.save_graphs`` writes (``.bin``) is DGL's own binary format, which only DGL reads.
    """
    folder = _folder(root)
    if (folder / "meta.yaml").exists():
        return _csv_dataset(folder)
    graph, data = folder / "reddit_graph.npz", folder / "reddit_data.npz"
    if graph.exists() and data.exists():
        return _reddit(graph, data)
    raise _nothing_known(folder, "meta.yaml of a CSVDataset, or reddit_graph.npz")


# ---------------------------------------------------------------------- PyG


class _NamedClass:
    """What a class of PyG's that a file names stands for here: nothing."""


def _pyg_parts(path: Path) -> tuple[dict[str, Any], Mapping[str, Any] | None]:
    try:
        import torch
    except ImportError as error:
        raise MissingDependencyError(
            "fetch_pyg needs torch: pip install 'graphheat[nn]'."
        ) from error
    inert: list[Any] = [
        (_NamedClass, f"torch_geometric.data.data.{name}") for name in ("Data", "BaseData")
    ]
    try:
        with torch.serialization.safe_globals(inert):
            loaded = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # torch raises much, and of many kinds
        raise FileFormatError(
            f"{path} holds more than tensors, or is damaged; it is not loaded. {SAVE_AGAIN}"
        ) from error
    entries = loaded if isinstance(loaded, tuple) else (loaded,)
    if not entries or not isinstance(entries[0], dict) or "edge_index" not in entries[0]:
        raise FileFormatError(f"{path} is no data set of PyG's with an edge_index. {SAVE_AGAIN}")
    slices = entries[1] if len(entries) > 1 and isinstance(entries[1], dict) else None
    return dict(entries[0]), slices


def _column(masks: NDArray[Any], split: int, path: Path) -> NDArray[Any]:
    if not 0 <= split < masks.shape[1]:
        raise FileFormatError(
            f"{path} has {masks.shape[1]} splits, numbered from 0; got split={split}."
        )
    return np.asarray(masks[:, split])


# ---------------------------------------------------------------------- DGL


def _csv_dataset(folder: Path) -> Graph:
    nodes, edges = _csv_files(folder)
    index = {node: row for row, node in enumerate(nodes["node_id"])}
    try:
        ends = [[index[node] for node in edges[name]] for name in ("src_id", "dst_id")]
    except KeyError as error:
        raise FileFormatError(
            f"{folder}: an edge names the node {error.args[0]!r}, which the nodes' file lacks."
        ) from None
    parts: dict[str, Any] = {"name": folder.name, "nodes": np.array(nodes["node_id"])}
    if "feat" in nodes:
        parts["features"] = _vectors(nodes["feat"], folder)
    if "label" in nodes:
        parts["labels"] = np.array(nodes["label"])
    parts["split"] = {
        part: np.array(nodes[f"{part}_mask"], dtype=float) > 0
        for part in ("train", "val", "test")
        if f"{part}_mask" in nodes
    }
    pairs = np.array(ends, dtype=np.int64).reshape(2, -1)
    return Graph.from_edge_index(pairs, num_nodes=len(index), symmetrize="max", **parts)


def _vectors(cells: list[Any], folder: Path) -> NDArray[np.float64]:
    """Return vectors that are written as "0.5,1.0" each, shape (n, f)."""
    try:
        rows = [[float(number) for number in str(cell).split(",")] for cell in cells]
    except ValueError as error:
        raise FileFormatError(f"{folder}: features must be numbers; {reason_of(error)}.") from None
    if len({len(row) for row in rows}) > 1:
        raise FileFormatError(f"{folder}: nodes have different numbers of features.")
    return np.array(rows)


def _csv_files(folder: Path) -> tuple[dict[str, list[Any]], dict[str, list[Any]]]:
    try:
        import yaml
    except ImportError as error:
        raise MissingDependencyError(
            "fetch_dgl reads meta.yaml with PyYAML: pip install pyyaml."
        ) from error
    path = existing_file(folder / "meta.yaml")
    tables = []
    try:
        meta = yaml.safe_load(path.read_text(encoding="utf-8"))
        for kind in ("node_data", "edge_data"):
            if len(meta[kind]) != 1:
                raise FileFormatError(f"{path} has {len(meta[kind])} kinds of {kind}; one is read.")
            name = as_path(meta[kind][0]["file_name"]).name  # never a file elsewhere
            tables.append(_table(folder / name, meta.get("separator", ",")))
        missing = {"node_id"} - set(tables[0]) or {"src_id", "dst_id"} - set(tables[1])
        if missing:
            raise FileFormatError(f"{folder} lacks the column {sorted(missing)[0]!r}.")
    except (yaml.YAMLError, KeyError, TypeError, UnicodeDecodeError, RecursionError) as error:
        raise FileFormatError(f"{path} is no meta.yaml of DGL's: {reason_of(error)}.") from None
    return tables[0], tables[1]


def _table(path: Path, separator: str) -> dict[str, list[Any]]:
    import pandas

    data = io.BytesIO(unpacked_bytes(existing_file(path)))
    try:
        with warnings.catch_warnings():  # cells beyond the header's would be cut off
            warnings.simplefilter("error", pandas.errors.ParserWarning)
            frame = pandas.read_csv(data, sep=separator, index_col=False)
    except (ValueError, UnicodeDecodeError, pandas.errors.ParserWarning) as error:
        raise FileFormatError(f"{path} is no table: {reason_of(error)}.") from None
    return {str(name): frame[name].tolist() for name in frame}


def _reddit(graph: Path, data: Path) -> Graph:
    edges, nodes = read_archive(graph), read_archive(data)
    try:
        pairs = np.stack([edges["row"], edges["col"]])
        n = int(edges["shape"][0])
        roles = nodes["node_types"]
        split = {part: roles == code for part, code in (("train", 1), ("val", 2), ("test", 3))}
        features, labels = nodes["feature"], nodes["label"]
    except KeyError as error:
        raise FileFormatError(f"{graph.parent} lacks the array {error.args[0]!r}.") from None
    matrix = sp.csr_array((np.ones(pairs.shape[1]), (pairs[0], pairs[1])), shape=(n, n))
    return Graph.from_scipy(matrix.maximum(matrix.T), features, labels, split=split, name="reddit")


# ---------------------------------------------------------------------- files


def _numbers(path: Path, *, integers: bool = True) -> NDArray[Any]:
    """Return a table of numbers without a header, shape (rows, columns)."""
    import pandas

    data = io.BytesIO(unpacked_bytes(existing_file(path)))
    try:
        frame = pandas.read_csv(data, header=None)
        return np.asarray(frame.to_numpy(dtype=np.int64 if integers else np.float64))
    except (ValueError, TypeError, OverflowError) as error:
        raise FileFormatError(f"{path} is no table of numbers: {reason_of(error)}.") from None


def _folder(root: str | os.PathLike[str]) -> Path:
    folder = as_path(root)
    if folder.suffix.lower() in PICKLES:
        raise FileFormatError(f"{folder} is a pickle or DGL's own format; neither is loaded here.")
    if not is_folder(folder):
        raise MissingPathError(f"{folder} is no folder; name the one that holds the data set.")
    return folder


def _in_folder(root: str | os.PathLike[str], *names: str) -> Path:
    path = as_path(root)
    if not is_folder(path):
        return existing_file(path)
    for name in names:
        if (path / name).exists():
            return existing_file(path / name)
    raise _nothing_known(path, names[0])


def _nothing_known(folder: Path, wanted: str) -> FileFormatError:
    held = [path.name for path in folder.iterdir() if path.suffix.lower() in PICKLES]
    held += [path.name for path in folder.glob("raw/ind.*")]
    also = f" It holds {held[0]}, a pickle, which is never loaded. {SAVE_AGAIN}" if held else ""
    return FileFormatError(f"{folder} holds no {wanted}.{also}")


def _name(path: Path) -> str:
    folder = path.parent.parent if path.parent.name == "processed" else path.parent
    return folder.name or path.stem
