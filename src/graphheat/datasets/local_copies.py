"""Public data sets that are on disk already, in the layouts of PyG, OGB and DGL.

Nothing is downloaded, and no pickle is loaded: what those libraries keep as pickles is refused with
what to do instead.
"""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphheat.checks import shown
from graphheat.datasets.tensor_file import read_tensors
from graphheat.errors import FileFormatError, MissingDependencyError, MissingPathError
from graphheat.graph import Graph
from graphheat.io.archive import (
    as_path,
    existing_file,
    exists,
    is_folder,
    read_archive,
    read_bytes,
    reason_of,
)
from graphheat.io.table_sources import Table, open_table, unpacked_bytes
from graphheat.io.text_table import check_width
from graphheat.io.written import as_integers, is_number
from graphheat.memory import check_nodes_fit

PICKLES = (".pkl", ".pickle", ".p", ".dgl", ".bin")
SAVE_AGAIN = (
    "Open it with its own library, once, and keep it: "
    "graphheat.write_npz(graphheat.Graph.from_pyg(data), 'graph.npz')."
)
PARTS = ("x", "edge_index", "edge_attr", "edge_weight", "y", "train_mask", "val_mask", "test_mask")
LONGEST_META = 100_000  # bytes of a meta.yaml; PyYAML takes seconds for a megabyte
EXACT = 2**53  # whole numbers up to here are themselves as floats
MARKS = {"0": False, "1": True, "0.0": False, "1.0": True, "false": False, "true": True}


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
    data, slices = read_tensors(path, PARTS, SAVE_AGAIN)
    if slices - {1}:
        raise FileFormatError(
            f"{path} holds {max(slices):,} graphs, and graphheat labels the nodes of one."
        )
    for name in ("train_mask", "val_mask", "test_mask"):
        mask = data.get(name)
        if mask is not None and mask.ndim == 2:
            data[name] = _column(mask, split, path)
    edges, n = data["edge_index"], data.get("num_nodes")
    named = int(edges.max(initial=-1)) + 1 if edges.dtype.kind in "iu" else 0
    check_nodes_fit(max(named, n or 0), path.stat().st_size, path)
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
    n = _node_count(raw)
    edges = _numbers(raw / "edge.csv.gz")
    if edges.shape[1] != 2:
        raise FileFormatError(f"{raw / 'edge.csv.gz'} must have two columns; got {edges.shape[1]}.")
    parts: dict[str, Any] = {"name": folder.name}
    if exists(raw / "node-feat.csv.gz"):
        parts["features"] = _numbers(raw / "node-feat.csv.gz", integers=False)
    labels = _label_codes(raw / "node-label.csv.gz")
    if labels.shape[1] > 1:
        parts |= {"label_sets": _label_sets(labels, raw), "classes": tuple(range(labels.shape[1]))}
    else:
        parts["labels"] = labels[:, 0]
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
    if exists(folder / "meta.yaml"):
        return _csv_dataset(folder)
    graph, data = folder / "reddit_graph.npz", folder / "reddit_data.npz"
    if exists(graph) and exists(data):
        return _reddit(graph, data)
    raise _nothing_known(folder, "meta.yaml of a CSVDataset, or reddit_graph.npz")


# ---------------------------------------------------------------------- PyG


def _column(masks: NDArray[Any], split: int, path: Path) -> NDArray[Any]:
    if not 0 <= split < masks.shape[1]:
        raise FileFormatError(
            f"{path} has {masks.shape[1]} splits, numbered from 0; got split={split}."
        )
    return np.asarray(masks[:, split])


# ---------------------------------------------------------------------- DGL


def _csv_dataset(folder: Path) -> Graph:
    nodes, edges = _csv_files(folder)
    written = nodes.words("node_id")
    index = {node: row for row, node in enumerate(written)}
    if len(index) < len(written):
        raise FileFormatError(f"{folder}: the nodes' file names a node twice.")
    try:
        ends = [[index[node] for node in edges.words(name)] for name in ("src_id", "dst_id")]
    except KeyError as error:
        raise FileFormatError(
            f"{folder}: an edge names the node {shown(error.args[0])!r}, which the file of nodes "
            "lacks."
        ) from None
    parts: dict[str, Any] = {"name": folder.name, "nodes": _values(written)}
    if "feat" in nodes.first:
        parts["features"] = _vectors(nodes.words("feat"), folder)
    if "label" in nodes.first:
        parts["labels"] = _values(nodes.words("label"))
    parts["split"] = {
        part: _mask(nodes.words(f"{part}_mask"), folder)
        for part in ("train", "val", "test")
        if f"{part}_mask" in nodes.first
    }
    pairs = np.array(ends, dtype=np.int64).reshape(2, -1)
    return Graph.from_edge_index(pairs, num_nodes=len(index), symmetrize="max", **parts)


def _values(words: Sequence[str]) -> NDArray[Any]:
    """Return ids or labels: numbers where all are whole ones, words otherwise, None for nothing."""
    known = as_integers([word for word in words if word])
    found = np.array([word or None for word in words], dtype=object)
    if known is not None:
        found[found != np.array(None)] = known
    return found.astype(np.int64) if known is not None and len(known) == len(words) else found


def _mask(words: Sequence[str], folder: Path) -> NDArray[np.bool_]:
    try:
        return np.array([MARKS[word.lower()] for word in words], dtype=np.bool_)
    except KeyError as error:
        raise FileFormatError(
            f"{folder}: a mask must be 0 or 1 for every node; got {shown(error.args[0])!r}."
        ) from None


def _vectors(cells: Sequence[str], folder: Path) -> NDArray[np.float64]:
    """Return vectors that are written as "0.5,1.0" each, shape (n, f)."""
    rows = [[number.strip() for number in cell.split(",")] for cell in cells]
    for row in rows:
        for number in row:
            if not is_number(number):
                raise FileFormatError(f"{folder}: features must be numbers; got {shown(number)!r}.")
    if len({len(row) for row in rows}) > 1:
        raise FileFormatError(f"{folder}: nodes have different numbers of features.")
    return np.array(rows, dtype=np.float64)


def _csv_files(folder: Path) -> tuple[Table, Table]:
    try:
        import yaml
    except ImportError as error:
        raise MissingDependencyError(
            "fetch_dgl reads meta.yaml with PyYAML: pip install pyyaml."
        ) from error
    path = existing_file(folder / "meta.yaml")
    if path.stat().st_size > LONGEST_META:
        raise FileFormatError(f"{path} has more than {LONGEST_META:,} bytes.")
    tables = []
    try:
        # Words alone: no dates, no numbers, and no merged mappings, which can grow without end.
        meta = yaml.load(read_bytes(path).decode("utf-8"), Loader=yaml.BaseLoader)
        for kind in ("node_data", "edge_data"):
            if len(meta[kind]) != 1:
                raise FileFormatError(f"{path} has {len(meta[kind])} kinds of {kind}; one is read.")
            name = as_path(meta[kind][0]["file_name"]).name  # never a file elsewhere
            tables.append(open_table(existing_file(folder / name), _separator(meta, path)))
        for table, names in zip(tables, (("node_id",), ("src_id", "dst_id")), strict=True):
            for name in names:
                if name not in table.first:
                    raise FileFormatError(f"{folder} lacks the column {name!r}.")
    except (yaml.YAMLError, KeyError, TypeError, UnicodeDecodeError, RecursionError) as error:
        raise FileFormatError(f"{path} is no meta.yaml of DGL's: {reason_of(error)}.") from None
    return tables[0], tables[1]


def _separator(meta: Any, path: Path) -> str:
    found = meta.get("separator", ",")
    if not isinstance(found, str) or len(found) != 1:
        raise FileFormatError(f"{path}: separator must be one character; got {shown(found)!r}.")
    return found


def _reddit(graph: Path, data: Path) -> Graph:
    edges, nodes = read_archive(graph), read_archive(data)
    try:
        ends, shape, node_types = [edges["row"], edges["col"]], edges["shape"], nodes["node_types"]
        features, labels = nodes["feature"], nodes["label"]
    except KeyError as error:
        raise FileFormatError(f"{graph.parent} lacks the array {error.args[0]!r}.") from None
    whole = all(each.ndim == 1 and each.dtype.kind in "iu" for each in (*ends, shape, node_types))
    if not whole or len(shape) != 2 or len(ends[0]) != len(ends[1]) or shape.min() < 0:
        raise FileFormatError(
            f"{graph.parent}: row and col must be whole numbers, one each per edge, shape two, and "
            "node_types one per node."
        )
    n = int(shape[0])
    check_nodes_fit(n, graph.stat().st_size + data.stat().st_size, graph)
    split = {part: node_types == code for part, code in (("train", 1), ("val", 2), ("test", 3))}
    return Graph.from_edge_index(
        np.stack(ends), num_nodes=n, symmetrize="max", features=features, labels=labels,
        split=split, name="reddit",
    )  # fmt: skip


# ---------------------------------------------------------------------- files


def _numbers(path: Path, *, integers: bool = True) -> NDArray[Any]:
    """Return a table of numbers without a header, shape (rows, columns)."""
    import pandas

    data = unpacked_bytes(existing_file(path))
    check_width(path, data.partition(b"\n")[0], len(data))
    try:
        with np.errstate(invalid="ignore"):  # pandas casts before it compares, and refuses
            kind = np.int64 if integers else np.float64
            how: Any = {"header": None, "dtype": kind, "skip_blank_lines": False}
            frame = pandas.read_csv(io.BytesIO(data), **how)
        return np.asarray(frame.to_numpy())
    except (ValueError, TypeError, OverflowError) as error:
        raise FileFormatError(f"{path} is no table of numbers: {reason_of(error)}.") from None


def _node_count(raw: Path) -> int:
    path = raw / "num-node-list.csv.gz"
    found = _numbers(path)
    if found.size != 1 or found.min() < 0:
        raise FileFormatError(f"{path} must hold one whole number ≥ 0, the nodes of one graph.")
    n = int(found[0, 0])
    check_nodes_fit(n, existing_file(raw / "edge.csv.gz").stat().st_size, path)
    return n


def _label_codes(path: Path) -> NDArray[np.int64]:
    """Return labels, −1 for none, shape (rows, columns)."""
    with suppress(FileFormatError):
        return np.asarray(_numbers(path))
    labels = _numbers(path, integers=False)  # nothing, or "nan", is no whole number
    known = labels[~np.isnan(labels)]
    if not np.all(np.abs(known) <= EXACT) or np.any(known % 1):
        raise FileFormatError(f"{path} must hold whole numbers, or nothing.")
    return np.where(np.isnan(labels), -1, labels).astype(np.int64)


def _label_sets(labels: NDArray[np.int64], raw: Path) -> NDArray[np.int8]:
    """Return marks of labels: 1, 0, and −1 throughout a row that has none."""
    if labels.min(initial=0) < -1 or labels.max(initial=0) > 1:
        raise FileFormatError(
            f"{raw / 'node-label.csv.gz'} must hold 0 or 1 where it has several columns."
        )
    unknown = (labels < 0).any(axis=1, keepdims=True)
    return np.where(unknown, -1, labels).astype(np.int8)


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
        if exists(path / name):
            return existing_file(path / name)
    raise _nothing_known(path, names[0])


def _nothing_known(folder: Path, wanted: str) -> FileFormatError:
    held = []
    with suppress(OSError):  # a folder that may not be listed
        held = [path.name for path in folder.iterdir() if path.suffix.lower() in PICKLES]
        held += [path.name for path in folder.glob("raw/ind.*")]
    also = f" It holds {held[0]}, a pickle, which is never loaded. {SAVE_AGAIN}" if held else ""
    return FileFormatError(f"{folder} holds no {wanted}.{also}")


def _name(path: Path) -> str:
    folder = path.parent.parent if path.parent.name == "processed" else path.parent
    return folder.name or path.stem
