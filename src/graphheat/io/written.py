"""Cells as tables have them: what is a number, what a row index, and how names are shown."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

_INTEGER = re.compile(r"0|-?[1-9][0-9]*")
_UNNAMED = re.compile(r"|Unnamed: [0-9]+")  # the second is what pandas makes of the first


def is_integer(cell: str) -> bool:
    """Tell whether ``cell`` is an integer as Python writes it: "12", but not "012" or "1.0"."""
    return _INTEGER.fullmatch(cell) is not None


def is_number(cell: str) -> bool:
    """Tell whether ``cell`` is a number in plain digits: "1e-3", but not "1_000" or "١"."""
    if "_" in cell or not cell.isascii():
        return False
    try:
        float(cell)
    except ValueError:
        return False
    return True


def is_unnamed(name: str) -> bool:
    """Tell whether a column has no name, or the one that pandas gives it then."""
    return _UNNAMED.fullmatch(name) is not None


def is_row_index(name: str, cells: Iterable[str]) -> bool:
    """Tell whether a column is a table's row index: without a name, and whole numbers that differ.

    ``DataFrame.to_csv`` writes one (0, 1, 2, …, or what is left of that after a selection) unless
    it gets ``index=False``.

    Examples
    --------
    >>> is_row_index("", ["0", "1", "2"]), is_row_index("age", ["0", "1", "2"])
    (True, False)
    """
    if not is_unnamed(name):
        return False
    seen: set[str] = set()
    for cell in map(str.strip, cells):
        if cell in seen or not is_integer(cell):
            return False
        seen.add(cell)
    return bool(seen)


def row_indices(names: Sequence[str], cells: Callable[[int], Iterable[str]]) -> list[int]:
    """Return which of a table's first columns are row indices; ``cells`` gives a column's cells."""
    found: list[int] = []
    while len(found) < len(names) and is_row_index(names[len(found)], cells(len(found))):
        found.append(len(found))
    return found


def as_integers(cells: Sequence[str]) -> NDArray[np.int64] | None:
    """Return the cells as integers when every one is a canonical integer, else None.

    Examples
    --------
    >>> as_integers(["7", "-1"])
    array([ 7, -1])
    >>> as_integers(["7", "007"]) is None
    True
    """
    if not all(map(is_integer, cells)):
        return None
    try:
        return np.array([int(cell) for cell in cells], dtype=np.int64)
    except (OverflowError, ValueError):  # of twenty digits, or of 5,000: a string
        return None


def named(names: Sequence[Any], most: int = 5) -> str:
    """Return the first few names for a message, long ones cut."""
    shown = [
        name[:60] + "…" if isinstance(name, str) and len(name) > 60 else name for name in names
    ]
    return ", ".join(map(repr, shown[:most])) + (", …" if len(names) > most else "")
