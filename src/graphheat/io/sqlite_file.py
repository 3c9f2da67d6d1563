"""SQLite files of others: what a question may cost, and whether tables are what they should be."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from graphheat.checks import shown
from graphheat.errors import FileFormatError
from graphheat.memory import check_room, reading_room

CELL_BYTES = 64  # of a cell as a Python object
_BATCH_ROWS = 1024
_LEAST_STEPS, _STEPS_PER_BYTE, _STEPS_AT_ONCE = 10**8, 100, 10**4  # of SQLite's machine


@contextmanager
def bounded(base: sqlite3.Connection, size: int) -> Iterator[None]:
    """Bound what a file of ``size`` bytes may make of questions in the block.

    A view can compute, and need not end; pages that name each other make a few kilobytes many rows.
    """
    base.execute("PRAGMA trusted_schema = OFF")
    longest = base.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, min(reading_room(size), 10**9))
    steps = iter(range((_LEAST_STEPS + _STEPS_PER_BYTE * size) // _STEPS_AT_ONCE))
    base.set_progress_handler(lambda: next(steps, None) is None, _STEPS_AT_ONCE)
    try:
        yield
    finally:
        base.set_progress_handler(None, 0)
        base.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, longest)


def all_rows(found: sqlite3.Cursor, size: int, path: object) -> list[tuple[Any, ...]]:
    """Return what a question to a file of ``size`` bytes gives, within the budget."""
    rows: list[tuple[Any, ...]] = []
    room, length = reading_room(size), 0
    while batch := found.fetchmany(_BATCH_ROWS):
        rows += batch
        length += sum(CELL_BYTES + _length(value) for row in batch for value in row)
        if length > room:
            check_room(length, size, path)
    return rows


def check_plain(
    base: sqlite3.Connection, path: object, tables: Mapping[str, Sequence[str]]
) -> None:
    """Raise unless a database holds nothing but these tables, with these columns, as plain ones.

    A view in the place of a table, a column that is computed, or a trigger would run what the
    file's author wrote.
    """
    for kind, name, sql in base.execute("SELECT type, name, sql FROM sqlite_master").fetchall():
        if (kind == "index" and sql is None) or name == "sqlite_sequence":
            continue  # what SQLite makes for a table's keys
        if kind != "table" or name not in tables or not str(sql).startswith("CREATE TABLE "):
            raise FileFormatError(f"{path} holds a {kind} {shown(name)!r}, which is none of ours.")
        found = base.execute(f"PRAGMA table_xinfo({name})").fetchall()
        hidden = any(each[-1] for each in found)
        if hidden or [str(each[1]) for each in found] != list(tables[name]):
            raise FileFormatError(f"{path} has other columns in {name!r} than graphheat makes.")


def _length(value: Any) -> int:
    return len(value) if isinstance(value, (str, bytes)) else 0
