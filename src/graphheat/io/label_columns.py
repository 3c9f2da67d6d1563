"""Several labels per node in a table: "tv|news" in one column, or a column of marks per label."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from graphheat.errors import GraphError, ParameterError
from graphheat.features.cells import MISSING
from graphheat.graph.label_sets import LabelSets, label_sets
from graphheat.io.table_sources import Table

MARKS = {
    **dict.fromkeys(("1", "1.0", "true", "yes", "y", "t", "x", "on"), 1.0),
    **dict.fromkeys(("0", "0.0", "false", "no", "n", "f", "off"), 0.0),
}


def read_label_sets(
    table: Table, label: str | None, separator: str | None, marks: Sequence[str]
) -> LabelSets | None:
    """Return the label sets of a node table; None where it has one label per node.

    Parameters
    ----------
    label, separator
        The column of labels, and what parts several of them in a cell; None: nothing does.
    marks
        Columns of 0/1, yes/no or true/false, each of one label.
    """
    if separator is not None:
        if label is None or not separator.strip():
            raise ParameterError(
                "label_separator parts the labels in a cell, such as '|' in tv|news; it goes with "
                f"a column of labels. Got {separator!r}."
            )
        return _parted(table, label, separator)
    return _marked(table, marks) if marks else None


def _parted(table: Table, label: str, separator: str) -> LabelSets:
    found: list[set[str] | None] = []
    for cell in table.words(label):
        if cell in MISSING:
            found.append(None)
        else:
            found.append({part.strip() for part in cell.split(separator)} - {""})
    if all(each is None for each in found):
        raise GraphError(f"Column {label!r} of {table.path} holds no label at all.")
    sets = label_sets(found)
    assert sets is not None  # it was given sets
    return sets


def _marked(table: Table, marks: Sequence[str]) -> LabelSets:
    if len(set(marks)) != len(marks) or len(marks) < 2:
        raise ParameterError(
            "label must name one column, or at least two different ones of marks; got "
            f"{', '.join(map(repr, marks))}."
        )
    matrix = np.full((len(table.words(marks[0])), len(marks)), np.nan)
    for column, name in enumerate(marks):
        for row, cell in enumerate(table.words(name)):
            if cell in MISSING:
                continue
            if cell.lower() not in MARKS:
                raise GraphError(
                    f"Column {name!r} of {table.path} is one of several labels, and must hold "
                    f"marks (0/1, yes/no, true/false or nothing); got {cell!r} in row "
                    f"{row + 1}, the header aside."
                )
            matrix[row, column] = MARKS[cell.lower()]
    half = np.flatnonzero(np.isnan(matrix).any(axis=1) & ~np.isnan(matrix).all(axis=1))
    if len(half):
        column = int(np.isnan(matrix[half[0]]).argmax())
        raise GraphError(
            f"Column {marks[column]!r} of {table.path} has no mark in row {half[0] + 1}, the "
            "header aside, where other labels have one; mark all, or none where they are unknown."
        )
    known = ~np.isnan(matrix).any(axis=1)
    return LabelSets(np.where(known[:, None], matrix, 0.0), known, tuple(marks))
