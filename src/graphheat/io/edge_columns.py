"""The columns of an edge list: whether the first row names them, and which are ends and weight."""

from __future__ import annotations

import re
from collections.abc import Container, Sequence
from typing import Any, NamedTuple

from graphheat.errors import FileFormatError, GraphError, ParameterError
from graphheat.io.table_sources import Table
from graphheat.io.written import is_integer, is_number, is_row_index, named, row_indices

SOURCE = ("source", "src", "from", "u", "node1", "node_1", "id1", "id_1", "source_id", "start")
TARGET = ("target", "dst", "to", "v", "node2", "node_2", "id2", "id_2", "target_id", "end", "dest")
WEIGHT = ("weight", "w", "edge_weight", "value")

# An edge list of numbers without a header: 0 1 2, 1 2 3, 2 3 1. Fewer rows tell nothing.
LEAST_ROWS_OF_AN_INDEX = 3


class EdgeColumns(NamedTuple):
    """Positions of both ends and the weight, and a sentence that says what was taken for what."""

    source: int
    target: int
    weight: int | None
    account: str


def has_header(table: Table, frame: Any, known: Container[str] | None) -> bool:
    """Tell by the cells whether the first row of an edge list names its columns, or raise.

    Parameters
    ----------
    table, frame
        The file, and all its cells as written.
    known
        The ids of a node table, which help to tell a header from an edge.
    """
    first = table.first
    names = [cell.lower() for cell in first]
    found = {_find(names, SOURCE), _find(names, TARGET)}
    a, b = first[0], first[1]
    rest = frame.iloc[1:, :2]
    again = bool(rest.isin([a, b]).to_numpy().any())
    # A one-letter word may well be a node: u — v. Longer ones are names of columns.
    if None not in found and (all(len(names[i]) > 1 for i in found if i is not None) or not again):
        return True
    if is_row_index(a, frame.iloc[1:, 0]):
        return True
    if len(first) > 3:
        return False  # without known names nothing can be read; unnamed_columns says so
    if is_integer(a) or is_integer(b):
        return False
    if len(rest) and _all_integers(rest):
        return True
    if len(first) == 3:
        if is_number(first[2]):
            return False
        if len(rest) and all(map(is_number, frame.iloc[1:, 2])):
            return True
    if known is not None:
        return a not in known and b not in known
    if again:
        return False
    raise FileFormatError(
        f"{table.path} begins with {a!r}, {b!r}, which may be a header or an edge: "
        "pass header=True or header=False."
    )


def unnamed_columns(table: Table, frame: Any) -> EdgeColumns:
    """Return the columns of an edge list without a header: two ends, or two ends and a weight."""
    width = len(table.first)
    if width > 3:
        raise FileFormatError(
            f"{table.path} has {width} columns, and its first row does not call two of them source "
            "and target. Pass source_column= and target_column=, or name them in a header row."
        )
    if width == 3 and _may_start_with_an_index(frame):
        raise FileFormatError(
            f"{table.path} has no header, and its first column counts 0, 1, 2, …, so that it may "
            "be a row index or the source. Put a header row on top, such as source,target,weight."
        )
    weight = 2 if width == 3 else None
    what = "every weight is 1" if weight is None else "column 3 is the weight"
    account = f"{table.name} has no header: columns 1 and 2 are the ends of an edge, {what}."
    return EdgeColumns(0, 1, weight, account)


def named_columns(
    table: Table,
    rows: Any,
    source_column: str | None,
    target_column: str | None,
    weight_column: str | None,
) -> EdgeColumns:
    """Return the columns of an edge list with a header: as named, by usual names, or the rest.

    The rest are ends only where nothing else is left: two columns and no usual name, or one usual
    name and one other column. A row index, and any column that is neither an end nor,
    by its name or an option, a weight is left out.
    """
    names = [name.lower() for name in table.first]
    source = _said(table, "source_column", source_column)
    target = _said(table, "target_column", target_column)
    weight = _said(table, "weight_column", weight_column)
    taken = [place for place in (source, target, weight) if place is not None]
    if len(set(taken)) < len(taken):
        twice = next(table.first[place] for place in taken if taken.count(place) > 1)
        raise ParameterError(
            "source_column, target_column and weight_column must be different columns; "
            f"got {twice!r} twice."
        )
    if source is None:
        source = _usual(table, names, SOURCE, taken)
    if target is None:
        target = _usual(table, names, TARGET, taken)
    if weight is None:
        weight = _usual(table, names, WEIGHT, taken)
    indices = row_indices(table.first, lambda place: rows[place])
    blank = [
        place
        for place, name in enumerate(table.first)
        if name == "" and place not in indices and not rows[place].str.strip().any()
    ]
    left = [p for p in range(len(names)) if p not in (*taken, *indices, *blank)]
    if None in (source, target) and len(left) == (source, target).count(None):
        if source is None:
            source = left.pop(0)
        if target is None:
            target = left.pop(0)
    if source is None or target is None:
        lacking = "target" if source is not None else "source" if target is not None else None
        raise FileFormatError(
            f"{table.path} has {len(names)} columns, and none is called "
            f"{lacking or 'source or target'}: {named(table.first, 10)}. Pass source_column= and "
            "target_column=, or name them so in the header row."
        )
    return EdgeColumns(
        source, target, weight, _account(table, source, target, weight, left, indices)
    )


def _account(
    table: Table,
    source: int,
    target: int,
    weight: int | None,
    left: Sequence[int],
    indices: Sequence[int],
) -> str:
    first = table.first
    ends = f"{named(first[source : source + 1])} and {named(first[target : target + 1])}"
    what = "every weight is 1" if weight is None else f"{named([first[weight]])} is the weight"
    without = [named([first[place] for place in left], 3)] if left else []
    without += ["the row index"] if indices else []
    omitted = f"; left out: {' and '.join(without)}" if without else ""
    return f"{table.name}: {ends} are the ends of an edge, {what}{omitted}."


def _said(table: Table, option: str, name: str | None) -> int | None:
    if name is None:
        return None
    if name not in table.first:
        raise GraphError(
            f"{option} names a column that {table.path} lacks: {named([name])}. "
            f"Its columns are {named(table.first, 20)}."
        )
    return _only(table, name, table.first)


def _usual(
    table: Table, names: Sequence[str], words: Sequence[str], taken: list[int]
) -> int | None:
    """Return the free column of a usual name; it is then taken."""
    free = ["" if place in taken else name for place, name in enumerate(names)]
    place = _find(free, words)
    if place is not None:
        _only(table, names[place], names)
        taken.append(place)
    return place


def _only(table: Table, name: str, names: Sequence[str]) -> int:
    if names.count(name) > 1:
        raise FileFormatError(
            f"{table.path} has {names.count(name)} columns called {named([name])}; rename all but "
            "one."
        )
    return names.index(name)


def _find(names: Sequence[str], words: Sequence[str]) -> int | None:
    return next((names.index(word) for word in words if word in names), None)


def _all_integers(rest: Any) -> bool:
    return all(is_integer(cell.strip()) for column in rest for cell in rest[column])


def _may_start_with_an_index(frame: Any) -> bool:
    """Tell whether three columns without names may be an index and two ends."""
    if len(frame) < LEAST_ROWS_OF_AN_INDEX:
        return False
    if any(cell.strip() != str(row) for row, cell in enumerate(frame[0])):
        return False
    third = {cell.strip() for cell in frame[2]}
    return third != {"1"} and all(re.fullmatch("[0-9]+", cell) for cell in third)
