"""Formats by suffix: who reads a file, and which options there are."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Unpack

from graphheat.errors import FileFormatError, ParameterError
from graphheat.graph import Graph
from graphheat.io.archive import existing_file
from graphheat.io.csv import read_csv
from graphheat.io.mtx import read_mtx
from graphheat.io.npz import read_npz
from graphheat.io.table_options import (
    ArchiveOptions,
    EdgeListOptions,
    GraphOptions,
    MatrixOptions,
    check_names,
    chosen,
    option_names,
)
from graphheat.io.table_sources import TABLES, split_part, table_suffix


@dataclass(frozen=True)
class Format:
    """A kind of graph file.

    Attributes
    ----------
    read
        Called with the path and the options; returns the graph.
    options
        Names of the options that it takes.
    reason
        Why it does not take the others, for a message.
    """

    read: Callable[..., Graph]
    options: frozenset[str]
    reason: str


EDGE_LIST = Format(
    read_csv,
    frozenset(["nodes", *option_names(EdgeListOptions)]),
    "an edge list is undirected",
)
ARCHIVE = Format(
    read_npz,
    frozenset(option_names(ArchiveOptions)),
    "an archive holds its nodes, features and labels",
)
MATRIX = Format(
    read_mtx,
    frozenset(["nodes", *option_names(MatrixOptions)]),
    "a matrix has one entry per edge and no header",
)

# Every kind of table can hold the edges.
FORMATS: Mapping[str, Format] = {
    **dict.fromkeys(TABLES, EDGE_LIST),
    ".npz": ARCHIVE,
    ".mtx": MATRIX,
}


def read_graph(path: str | os.PathLike[str], **options: Unpack[GraphOptions]) -> Graph:
    """Read a graph from an edge list, an archive or a matrix, by the suffix of ``path``.

    Parameters
    ----------
    path
        ``.csv``, ``.tsv``, ``.txt`` or ``.edges``, also with ``.gz`` or ``.zst`` behind it,
        ``.parquet``, ``.xlsx``, ``.jsonl``, ``.ndjson``, ``.sqlite`` or ``.db``
        (:func:`read_csv`); ``.npz`` (:func:`read_npz`) or ``.mtx`` (:func:`read_mtx`);
        :data:`FORMATS` has them all. ``shop.sqlite::friends`` and ``book.xlsx::Sheet2`` name the
        table or sheet in a file.
    nodes, features, id, label, split, title, columns, categorical, kinds, missing, decimal, \
    schema, source_column, target_column, weight_column, header, delimiter
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
    check_names(options, GraphOptions, "read_graph")
    file, part = split_part(path)
    existing_file(file)
    kind = FORMATS.get(table_suffix(file))
    if kind is None:
        known = ", ".join(FORMATS)
        raise FileFormatError(f"{file} must end in one of {known}; got {file.suffix!r}.")
    given = _given(options)
    for option in given:
        if option not in kind.options:
            raise ParameterError(f"{option} does not go with {file.name}: {kind.reason}.")
    return kind.read(file if part is None else path, **given)


def _given(options: GraphOptions) -> dict[str, Any]:
    given = chosen(GraphOptions, options)
    for option in ("categorical", "kinds"):
        if not given.get(option, True):
            del given[option]  # no categories are no option
    return given
