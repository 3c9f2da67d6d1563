"""Tables for spreadsheets, which take cells that begin with certain signs for formulas."""

from __future__ import annotations

from collections.abc import Container, Sequence
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


def unguarded_ids(ids: Sequence[str], known: Container[str]) -> list[str]:
    """Return ids as they were before :func:`guarded`, where only so they are known.

    Examples
    --------
    >>> unguarded_ids(["'=a", "'b", "'-c"], {"=a", "'-c"})
    ['=a', "'b", "'-c"]
    """
    return [
        node[1:]
        if node[:1] == "'" and node[1:] in known and node not in known and guarded(node[1:]) == node
        else node
        for node in ids
    ]


def guarded_frame(frame: Any) -> Any:
    """Return a pandas frame whose words, names of columns among them, are guarded."""
    words = [place for place, kind in enumerate(frame.dtypes) if kind.kind not in "biufM"]
    columns = {
        place: [guarded(cell) for cell in column] if place in words else column.array
        for place, (_, column) in enumerate(frame.items())
    }
    return type(frame)(columns).set_axis([guarded(name) for name in frame.columns], axis=1)
