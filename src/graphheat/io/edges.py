"""Edge lists: the ends and the weight of every edge, as a text file has them."""

from __future__ import annotations

from collections.abc import Container
from typing import NamedTuple, Unpack

import numpy as np
from numpy.typing import NDArray

from graphheat.errors import FileFormatError, ParameterError
from graphheat.io.edge_columns import has_header, named_columns, unnamed_columns
from graphheat.io.table import is_number, named, open_table
from graphheat.io.table_options import EdgeColumnOptions, PathLike


class Edges(NamedTuple):
    """The distinct ids (as written), the positions of both ends in them, and the weights.

    ``account`` says which columns they came from.
    """

    ids: NDArray[np.object_]
    source: NDArray[np.int64]
    target: NDArray[np.int64]
    weight: NDArray[np.float64] | None
    account: str


def read_edges(
    path: PathLike,
    *,
    known: Container[str] | None = None,
    **options: Unpack[EdgeColumnOptions],
) -> Edges:
    """Read the edges of a text file.

    Parameters
    ----------
    path
        CSV, TSV, semicolons or spaces; UTF-8; leading ``#`` or ``%`` lines are comments.
    known
        The ids of a node table, which help to tell a header from an edge.
    **options
        ``header``, ``delimiter``, ``source_column``, ``target_column`` and ``weight_column``, as
        for :func:`graphheat.read_csv`.
    """
    import pandas as pd

    said = (
        options.get("source_column"),
        options.get("target_column"),
        options.get("weight_column"),
    )
    header = options.get("header")
    if header is None and any(name is not None for name in said):
        header = True
    if header is False and any(name is not None for name in said):
        raise ParameterError(
            "source_column, target_column and weight_column are names in a header row; "
            "header=False says there is none."
        )
    table = open_table(path, options.get("delimiter"))
    width = len(table.first)
    if width < 2:
        raise FileFormatError(
            f"{path} must have a source and a target column; its first row has one cell "
            f"({table.first[0]!r}). Pass delimiter= if it is not a tab, semicolon, comma or space."
        )
    frame = table.strings()
    if header is None:
        header = has_header(table, frame, known)
    rows = frame.iloc[1:] if header else frame
    places = named_columns(table, rows, *said) if header else unnamed_columns(table, frame)
    ends = places.source, places.target
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
    weight = None
    if places.weight is not None:
        weight = _weights(rows[places.weight].to_numpy(dtype=object), path)
    half, distinct = len(rows), np.asarray(ids, dtype=object)
    return Edges(distinct, positions[:half], positions[half:], weight, places.account)


def _weights(cells: NDArray[np.object_], path: PathLike) -> NDArray[np.float64]:
    odd = next((row for row, cell in enumerate(cells) if not is_number(cell)), None)
    if odd is not None:
        raise FileFormatError(
            f"{path} must have numbers in its weight column; got {named([cells[odd]])} in row "
            f"{odd + 1}, the header aside. Give the column another name if it is not a weight."
        )
    return cells.astype(np.float64)
