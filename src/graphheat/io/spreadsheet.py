"""Tables for spreadsheets, which take cells that begin with certain signs for formulas."""

from __future__ import annotations

from typing import Any

from graphheat.io.written import is_number

SIGNS = ("=", "+", "-", "@", "\t", "\r", "\n")


def guarded(cell: Any) -> Any:
    """Return a cell that no spreadsheet computes: text that looks like a formula gets a ``'``.

    Numbers stay as they are, also those of text: −1 is no formula.

    Examples
    --------
    >>> [guarded(cell) for cell in ("=1+1", "-1", -1, "ann")]
    ["'=1+1", '-1', -1, 'ann']
    """
    if isinstance(cell, str) and cell.startswith(SIGNS) and not is_number(cell):
        return f"'{cell}"
    return cell


def guarded_frame(frame: Any) -> Any:
    """Return a pandas frame whose words, names of columns among them, are guarded."""
    words = [place for place, kind in enumerate(frame.dtypes) if kind.kind not in "biufM"]
    columns = {
        place: [guarded(cell) for cell in column] if place in words else column.array
        for place, (_, column) in enumerate(frame.items())
    }
    return type(frame)(columns).set_axis([guarded(name) for name in frame.columns], axis=1)
