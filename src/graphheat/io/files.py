"""A graph from a path: the suffix says how to read it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from graphheat.errors import FileFormatError, ParameterError
from graphheat.graph import Graph
from graphheat.graph.adjacency import Duplicates, SelfLoops, Symmetrize
from graphheat.io.archive import existing_file
from graphheat.io.csv import read_csv
from graphheat.io.mtx import read_mtx
from graphheat.io.npz import read_npz

EDGE_LISTS = (".csv", ".tsv", ".txt", ".edges")

_TABLE = ("nodes", "features", "id", "label", "split", "title", "columns", "categorical")

# What cannot be said of a format, and why.
_OUT_OF_PLACE = {
    ".npz": ((*_TABLE, "header", "delimiter"), "an archive holds its nodes, features and labels"),
    ".mtx": (("header", "duplicates"), "a matrix has one entry an edge and no header"),
    ".csv": (("symmetrize",), "an edge list is undirected"),
}


def read_graph(
    path: str | os.PathLike[str],
    *,
    nodes: str | os.PathLike[str] | None = None,
    features: str | os.PathLike[str] | None = None,
    id: str | None = None,
    label: str | None = None,
    split: str | None = None,
    title: str | None = None,
    columns: Sequence[str] | None = None,
    categorical: Sequence[str] | None = None,
    header: bool | None = None,
    delimiter: str | None = None,
    duplicates: Duplicates | None = None,
    symmetrize: Symmetrize | None = None,
    self_loops: SelfLoops | None = None,
    name: str | None = None,
) -> Graph:
    """Read a graph from an edge list, an archive or a matrix, by the suffix of ``path``.

    Parameters
    ----------
    path
        ``.csv``, ``.tsv``, ``.txt`` or ``.edges`` (:func:`read_csv`), ``.npz`` (:func:`read_npz`)
        or ``.mtx`` (:func:`read_mtx`).
    nodes, features, id, label, split, title, columns, categorical, header, delimiter
        As for :func:`read_csv`; an archive takes none of them.
    duplicates, symmetrize, self_loops, name
        As for the function that reads the file; None is its default.

    Examples
    --------
    >>> read_graph("graph.docx")
    Traceback (most recent call last):
        ...
    graphheat.errors.MissingPathError: graph.docx does not exist; name a file to read.
    """
    path = existing_file(path)
    given: dict[str, Any] = {
        "nodes": nodes,
        "features": features,
        "id": id,
        "label": label,
        "split": split,
        "title": title,
        "columns": columns,
        "categorical": categorical or None,
        "header": header,
        "delimiter": delimiter,
        "duplicates": duplicates,
        "symmetrize": symmetrize,
        "self_loops": self_loops,
        "name": name,
    }
    options = {option: value for option, value in given.items() if value is not None}
    suffix = path.suffix.lower()
    kind = ".csv" if suffix in EDGE_LISTS else suffix
    if kind not in _OUT_OF_PLACE:
        known = ", ".join((*EDGE_LISTS, ".npz", ".mtx"))
        raise FileFormatError(f"{path} must end in one of {known}; got {path.suffix!r}.")
    refused, reason = _OUT_OF_PLACE[kind]
    for option in refused:
        if option in options:
            raise ParameterError(f"{option} does not go with {Path(path).name}: {reason}.")
    if kind == ".csv":
        return read_csv(path, **options)
    return read_npz(path, **options) if kind == ".npz" else read_mtx(path, **options)
