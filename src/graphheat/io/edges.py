"""Edge lists: the ends and the weight of every edge, as a table has them."""

from __future__ import annotations

import re
from collections.abc import Container
from typing import NamedTuple, Unpack

import numpy as np
from numpy.typing import NDArray

from graphheat.errors import FileFormatError, ParameterError
from graphheat.features.cells import cells as by_value
from graphheat.features.kinds import Style, numbers_of
from graphheat.features.numerals import reading
from graphheat.io.edge_columns import has_header, named_columns, unnamed_columns
from graphheat.io.table_options import EdgeColumnOptions, Source
from graphheat.io.table_sources import Table, open_table
from graphheat.io.written import is_number, named


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
    source: Source,
    *,
    known: Container[str] | None = None,
    **options: Unpack[EdgeColumnOptions],
) -> Edges:
    """Read the edges of a table.

    Parameters
    ----------
    source
        A file or a frame, as for :func:`graphheat.io.table_sources.open_table`. In text, leading
        ``#`` or ``%`` lines are comments.
    known
        The ids of a node table, which help to tell a header from an edge.
    **options
        ``header``, ``delimiter``, ``source_column``, ``target_column`` and ``weight_column``, as
        for :func:`graphheat.read_csv`.
    """
    import pandas as pd

    asked = (
        options.get("source_column"),
        options.get("target_column"),
        options.get("weight_column"),
    )
    header = options.get("header")
    if header is None and any(name is not None for name in asked):
        header = True
    if header is False and any(name is not None for name in asked):
        raise ParameterError(
            "source_column, target_column and weight_column are names in a header row; "
            "header=False says there is none."
        )
    table = open_table(source, options.get("delimiter"), "edges")
    path, width = table.path, len(table.first)
    if table.headed:
        header = True
    if width < 2:
        raise FileFormatError(
            f"{path} must have a source and a target column; its first row has one cell "
            f"({named(table.first)}). Pass delimiter= if it is not a tab, semicolon, comma or "
            "space."
        )
    frame = table.strings()
    if header is None:
        header = has_header(table, frame, known)
    rows = frame.iloc[1:] if header else frame
    places = named_columns(table, rows, *asked) if header else unnamed_columns(table, frame)
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
        decimal = options.get("decimal")
        column = rows[places.weight].to_numpy(dtype=object)
        weight = _weights(column, table, places.weight, Style(decimal), bool(header))
    half, distinct = len(rows), np.asarray(ids, dtype=object)
    return Edges(distinct, positions[:half], positions[half:], weight, places.account)


def _weights(
    written: NDArray[np.object_], table: Table, place: int, style: Style, header: bool
) -> NDArray[np.float64]:
    if style.decimal != "," and all(map(is_number, written)):
        weight = written.astype(np.float64)
        lost = [cell for cell in written[weight == 0] if re.search("[1-9]", cell.partition("e")[0])]
        if lost:
            raise FileFormatError(
                f"{table.path} has a weight too small for float64, {named(lost[:1])}: it would be "
                "0, which is no edge."
            )
        return weight
    name = table.first[place] if header else str(place + 1)
    odd = next((row for row, cell in enumerate(written) if reading(cell.strip()) is None), None)
    if odd is not None:
        raise FileFormatError(
            f"{table.path} must have numbers in its weight column; got {named([written[odd]])} in "
            f"row {odd + 1}, the header aside. Give the column another name if it is not a weight."
        )
    return numbers_of(name, by_value(written), str(table.path), style)
