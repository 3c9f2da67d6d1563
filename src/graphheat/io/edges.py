"""Edge lists: which columns are the ends and the weight, and whether the first row is a header."""

from __future__ import annotations

import os
from collections.abc import Container
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphheat.errors import FileFormatError
from graphheat.io.table import Table, is_integer, open_table

SOURCE = ("source", "src", "from", "u", "node1", "node_1", "id1", "id_1", "source_id", "start")
TARGET = ("target", "dst", "to", "v", "node2", "node_2", "id2", "id_2", "target_id", "end", "dest")
WEIGHT = ("weight", "w", "edge_weight", "value")


class Edges(NamedTuple):
    """The distinct ids (as written), the positions of both ends in them, and the weights."""

    ids: NDArray[np.object_]
    source: NDArray[np.int64]
    target: NDArray[np.int64]
    weight: NDArray[np.float64] | None


def read_edges(
    path: str | os.PathLike[str],
    *,
    header: bool | None = None,
    delimiter: str | None = None,
    known: Container[str] | None = None,
) -> Edges:
    """Read the edges of a text file of two or three columns: source, target, weight.

    Parameters
    ----------
    path
        CSV, TSV, semicolons or spaces; UTF-8; leading ``#`` or ``%`` lines are comments.
    header
        Whether the first row holds names; None decides by the cells, or raises when they do not
        tell.
    delimiter
        One character; None takes it from the first row.
    known
        The ids of a node table, which help to tell a header from an edge.
    """
    import pandas as pd

    table = open_table(path, delimiter)
    width = len(table.first)
    if width < 2:
        raise FileFormatError(
            f"{path} must have a source and a target column; its first row has one cell "
            f"({table.first[0]!r}). Pass delimiter= if it is not a tab, semicolon, comma or space."
        )
    frame = table.strings()
    if header is None:
        header = _has_header(table, frame, known)
    ends, third = _columns(table, header)
    rows = frame.iloc[1:] if header else frame
    cells = [rows[column].str.strip().to_numpy(dtype=object) for column in ends]
    for column in cells:
        blank = column == ""
        if blank.any():
            raise FileFormatError(
                f"{path} has {int(blank.sum()):,} edges without a source or a target "
                f"(first in row {int(np.argmax(blank)) + 1}, the header aside)."
            )
    positions, ids = pd.factorize(np.concatenate(cells))
    if table.skipped and any(node[0] in "#%" for node in ids):
        raise FileFormatError(
            f"{path} begins with lines that start with # or %, taken as comments, but has ids that "
            "do so too. Remove the comments, or put a header row first."
        )
    weight = None if third is None else _weights(rows[third].to_numpy(dtype=object), path)
    half = len(rows)
    return Edges(np.asarray(ids, dtype=object), positions[:half], positions[half:], weight)


def _columns(table: Table, header: bool) -> tuple[tuple[int, int], int | None]:
    """Return where the ends and the weight stand: by name, else by position."""
    width = len(table.first)
    if header:
        names = [name.lower() for name in table.first]
        source, target, weight = (_find(names, words) for words in (SOURCE, TARGET, WEIGHT))
        if source is not None and target is not None and source != target:
            if weight is None and width == 3:
                weight = ({0, 1, 2} - {source, target}).pop()
            return (source, target), weight
    if width > 3:
        raise FileFormatError(
            f"{table.path} has {width} columns; an edge list has a source, a target and perhaps a "
            "weight. Name its columns source, target and weight in a header row."
        )
    return (0, 1), (2 if width == 3 else None)


def _find(names: list[str], words: tuple[str, ...]) -> int | None:
    return next((names.index(word) for word in words if word in names), None)


def _has_header(table: Table, frame: Any, known: Container[str] | None) -> bool:
    first = table.first
    names = [cell.lower() for cell in first]
    found = {_find(names, SOURCE), _find(names, TARGET)}
    a, b = first[0], first[1]
    rest = frame.iloc[1:, :2]
    again = bool(rest.isin([a, b]).to_numpy().any())
    # A one-letter word may well be a node: u — v. Longer ones are names of columns.
    if None not in found and (all(len(names[i]) > 1 for i in found if i is not None) or not again):
        return True
    if len(first) > 3:
        return False  # without known names nothing can be read; _columns says so
    integers = is_integer(a), is_integer(b)
    if any(integers):
        return False
    if len(rest) and _all_integers(rest):
        return True
    if len(first) == 3:
        if _is_number(first[2]):
            return False
        if len(rest) and all(map(_is_number, frame.iloc[1:, 2])):
            return True
    if known is not None:
        return a not in known and b not in known
    if again:
        return False
    raise FileFormatError(
        f"{table.path} begins with {a!r}, {b!r}, which may be a header or an edge: "
        "pass header=True or header=False."
    )


def _all_integers(rest: Any) -> bool:
    return all(is_integer(cell.strip()) for column in rest for cell in rest[column])


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _weights(cells: NDArray[np.object_], path: str | os.PathLike[str]) -> NDArray[np.float64]:
    try:
        return cells.astype(np.float64)
    except ValueError:
        at = next(row for row, cell in enumerate(cells) if not _is_number(cell))
        raise FileFormatError(
            f"{path} must have numbers in its weight column; got {cells[at]!r} in row {at + 1}, "
            "the header aside. Leave the column out if it is not a weight."
        ) from None
