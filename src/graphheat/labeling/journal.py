"""The journal of labels: who answered what for which node, and when; one SQLite file.

An entry is on the disk before :meth:`Journal.add` returns: SQLite commits with its write-ahead log
flushed (``synchronous = FULL``), so that neither a killed process nor a power cut takes it back.
Entries are never changed; what holds now is what replaying them gives. An entry has an id of its
sender's making, and the same id twice is one entry: who got no answer may ask again.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from types import NoneType
from typing import Literal, get_args

from graphheat.checks import shown
from graphheat.errors import FileFormatError, GraphHeatError, OutputError, WriteError
from graphheat.io import check_writable
from graphheat.io.archive import exists, reason_of
from graphheat.io.sqlite_file import all_rows, bounded, check_plain

Kind = Literal["label", "unsure", "skip", "remove", "class", "rename"]

APPLICATION = 0x47484C42  # "GHLB", in the file's header
VERSION = 1
SCHEMA = """
CREATE TABLE graph (fingerprint TEXT NOT NULL, nodes INTEGER NOT NULL, name TEXT NOT NULL);
CREATE TABLE entries (
    revision INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    at TEXT NOT NULL,
    who TEXT NOT NULL,
    kind TEXT NOT NULL,
    node INTEGER,
    class INTEGER,
    text TEXT
);
CREATE TABLE estimates (
    revision INTEGER PRIMARY KEY,
    labels INTEGER NOT NULL,
    accuracy REAL NOT NULL,
    low REAL NOT NULL,
    high REAL NOT NULL
);
"""


COLUMNS = {
    "graph": ("fingerprint", "nodes", "name"),
    "entries": ("revision", "id", "at", "who", "kind", "node", "class", "text"),
    "estimates": ("revision", "labels", "accuracy", "low", "high"),
}


class ConflictError(GraphHeatError, ValueError):
    """An id that was used before, for something else."""


@dataclass(frozen=True)
class Entry:
    """A line of the journal.

    Attributes
    ----------
    id
        The sender's own, distinct.
    kind
        ``"label"``, ``"unsure"``, ``"skip"`` or ``"remove"`` (of a node), ``"class"`` (a new one)
        or ``"rename"``.
    node, code, text
        The row number, the class's code, the class's name; None where the kind has none.
    revision, at, who
        Its number from 1 on, the time (UTC), and who wrote it; set by the journal.
    """

    id: str
    kind: Kind
    node: int | None = None
    code: int | None = None
    text: str | None = None
    revision: int = 0
    at: str = ""
    who: str = ""

    @property
    def content(self) -> tuple[object, ...]:
        """What it says, apart from when and by whom."""
        return self.kind, self.node, self.code, self.text


class Journal:
    """A journal that is open; its methods may be called from several threads.

    Parameters
    ----------
    path
        The file.
    fingerprint, nodes, name
        Of the graph that is labelled: a journal is of one graph.
    resume
        Whether to go on with a journal that is there; otherwise there must be none.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "labels.sqlite"
    >>> with Journal(path, "abc", 10, "people") as journal:
    ...     journal.add(Entry("1", "class", text="tea"), who="ann")
    ...     journal.add(Entry("2", "label", node=3, code=0), who="ann")
    ...     journal.add(Entry("2", "label", node=3, code=0), who="ann")  # asked again
    1
    2
    2
    >>> with Journal(path, "abc", 10, "people", resume=True) as journal:
    ...     [entry.kind for entry in journal.entries()]
    ['class', 'label']
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        fingerprint: str,
        nodes: int,
        name: str,
        *,
        resume: bool = False,
    ) -> None:
        self.path = Path(path)
        held = exists(self.path)
        if held and not resume and self.path.stat().st_size:
            raise OutputError(
                f"{self.path} already holds labels. Pass --resume to go on with them, or name "
                "another folder."
            )
        check_writable(self.path)
        self._lock = threading.Lock()
        try:
            self._file = sqlite3.connect(
                self.path, isolation_level=None, check_same_thread=False, timeout=10.0
            )
        except sqlite3.DatabaseError as error:
            raise self._failure(error) from error
        try:
            self._file.execute("PRAGMA trusted_schema = OFF")
            if not self.path.stat().st_size:  # none, or killed before its first line
                self._begin(fingerprint, nodes, name)
            self._check(fingerprint, nodes, name)
            self._file.execute("PRAGMA journal_mode = WAL")
            self._file.execute("PRAGMA synchronous = FULL")
        except (sqlite3.DatabaseError, GraphHeatError, UnicodeDecodeError) as error:
            self._file.close()
            if isinstance(error, sqlite3.DatabaseError):
                raise self._failure(error) from error
            if isinstance(error, GraphHeatError):
                raise
            raise FileFormatError(f"{self.path} is damaged: {reason_of(error)}.") from error

    def _begin(self, fingerprint: str, nodes: int, name: str) -> None:
        """Write mark, tables and graph, all or nothing."""
        text = name.encode("utf-8", "replace").decode("utf-8")
        self._file.execute("BEGIN IMMEDIATE")
        self._file.execute(f"PRAGMA application_id = {APPLICATION}")
        self._file.execute(f"PRAGMA user_version = {VERSION}")
        for statement in SCHEMA.split(";")[:-1]:
            self._file.execute(statement)
        self._file.execute("INSERT INTO graph VALUES (?, ?, ?)", (fingerprint, nodes, text))
        self._file.execute("COMMIT")

    def _check(self, fingerprint: str, nodes: int, name: str) -> None:
        (mark,) = self._file.execute("PRAGMA application_id").fetchone()
        (version,) = self._file.execute("PRAGMA user_version").fetchone()
        if mark != APPLICATION or version != VERSION:
            raise FileFormatError(f"{self.path} is not a journal of labels that graphheat wrote.")
        check_plain(self._file, self.path, COLUMNS)
        held = self._rows("SELECT fingerprint, nodes, name FROM graph")
        plain = len(held) == 1 and [type(each) for each in held[0]] == [str, int, str]
        if not plain:
            raise FileFormatError(f"{self.path} is damaged: it does not say of which graph it is.")
        if held[0][:2] != (fingerprint, nodes):
            raise FileFormatError(
                f"{self.path} holds labels of another graph ({shown(held[0][2])}, "
                f"{held[0][1]:,} nodes), or of {name} as it was before. Name another folder."
            )

    def _rows(self, question: str) -> list[tuple[object, ...]]:
        """Return what is there, however much a damaged file says it is, or raise."""
        size = self.path.stat().st_size
        try:
            with bounded(self._file, size):
                return all_rows(self._file.execute(question), size, self.path)
        except (sqlite3.DatabaseError, UnicodeDecodeError, OverflowError) as error:
            reason = reason_of(error)
            raise FileFormatError(f"{self.path} is damaged: {reason}.") from error

    def add(self, entry: Entry, *, who: str) -> int:
        """Write an entry and return its revision; it is on the disk then.

        Raises :class:`ConflictError` where its id stands for something else, and
        :class:`~graphheat.errors.WriteError` where it cannot be written; it is then not there.
        """
        with self._lock:
            try:
                held = self._of(entry.id)
                if held is None:
                    at = datetime.now(UTC).isoformat(timespec="milliseconds")
                    done = self._file.execute(
                        "INSERT INTO entries (id, at, who, kind, node, class, text) "
                        "VALUES (?, ?, ?, ?, ?, ?, ?)",
                        (entry.id, at, who, entry.kind, entry.node, entry.code, entry.text),
                    )
                    return int(done.lastrowid or 0)
            except sqlite3.DatabaseError as error:
                raise self._failure(error) from error
        if held.content != entry.content:
            raise ConflictError(f"The id {entry.id} stands for another entry; take a new one.")
        return held.revision

    def of(self, id: str) -> Entry | None:
        """Return the entry of an id, or None."""
        with self._lock:
            try:
                return self._of(id)
            except sqlite3.DatabaseError as error:
                raise self._failure(error) from error

    def _of(self, id: str) -> Entry | None:
        rows = self._file.execute(f"{SELECT} WHERE id = ?", (id,)).fetchall()
        return self._entry(rows[0]) if rows else None

    def entries(self) -> list[Entry]:
        """Return all entries, in the order in which they came."""
        with self._lock:
            rows = self._rows(f"{SELECT} ORDER BY revision")
        found = [self._entry(row) for row in rows]
        if any(a.revision >= b.revision for a, b in pairwise(found)):
            raise FileFormatError(f"{self.path} is damaged: it holds an entry twice.")
        return found

    def note(self, revision: int, labels: int, accuracy: float, low: float, high: float) -> None:
        """Keep an estimate of the accuracy after some labels."""
        with self._lock:
            try:
                self._file.execute(
                    "INSERT OR REPLACE INTO estimates VALUES (?, ?, ?, ?, ?)",
                    (revision, labels, accuracy, low, high),
                )
            except sqlite3.DatabaseError as error:
                raise self._failure(error) from error

    def estimates(self) -> list[tuple[int, float, float, float]]:
        """Return labels, accuracy, low and high of every estimate so far."""
        with self._lock:
            rows = self._rows("SELECT labels, accuracy, low, high FROM estimates ORDER BY revision")
        for row in rows:
            count, *shares = row
            if not isinstance(count, int) or not all(
                isinstance(share, float) and 0.0 <= share <= 1.0 for share in shares
            ):
                raise FileFormatError(f"{self.path} is damaged: {shown(row)} is no estimate.")
        return rows  # type: ignore[return-value]  # as was checked

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._file.close()

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _entry(self, row: tuple[object, ...]) -> Entry:
        """Return a line as an entry, or raise: SQLite's columns hold any type."""
        id, kind, node, code, text, revision, at, who = row
        plain = all(isinstance(each, str) for each in (id, at, who)) and kind in get_args(Kind)
        whole = isinstance(revision, int) and all(
            each is None or isinstance(each, int) for each in (node, code)
        )
        if not plain or not whole or not isinstance(text, (str, NoneType)):
            raise FileFormatError(f"{self.path} is damaged: {shown(row)} is no entry.")
        return Entry(*row)  # type: ignore[arg-type]

    def _failure(self, error: sqlite3.DatabaseError) -> GraphHeatError:
        if isinstance(error, sqlite3.OperationalError):
            return WriteError(f"{self.path} cannot be written: {error}. The label was not saved.")
        return FileFormatError(f"{self.path} is damaged, or no journal of labels: {error}.")


SELECT = "SELECT id, kind, node, class, text, revision, at, who FROM entries"
