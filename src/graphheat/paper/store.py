"""The store of runs: SQLite, one row per run, unique by recipe, graph, settings and seed."""

from __future__ import annotations

import io
import json
import math
import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import pandas

from graphheat.checks import shown
from graphheat.errors import FileFormatError, MissingPathError, OutputError, WriteError
from graphheat.io import check_writable, replacing
from graphheat.io.archive import as_path, existing_file, exists, read_bytes, reason_of
from graphheat.io.sqlite_file import all_rows, bounded, check_plain
from graphheat.paper.task import Record, Task, load_graph
from graphheat.runs.former import current_settings

SCHEMA = 2  # 1 had other names for a few settings
APPLICATION = 0x47486561  # "GHea", in the header of the file: whose database it is
TABLES = """
CREATE TABLE IF NOT EXISTS runs (
    row TEXT NOT NULL,
    graph TEXT NOT NULL,
    settings TEXT NOT NULL,
    seed INTEGER NOT NULL,
    started TEXT NOT NULL,
    seconds REAL NOT NULL,
    test_accuracy REAL NOT NULL,
    val_accuracy REAL NOT NULL,
    metrics TEXT NOT NULL,
    versions TEXT NOT NULL,
    test_predicted TEXT NOT NULL,
    PRIMARY KEY (row, graph, settings, seed)
);
CREATE TABLE IF NOT EXISTS failures (
    row TEXT NOT NULL,
    graph TEXT NOT NULL,
    seed INTEGER NOT NULL,
    message TEXT NOT NULL
);
"""
COLUMNS = ("row", "graph", "settings", "seed", "started", "seconds", "test_accuracy",
           "val_accuracy", "metrics", "versions", "test_predicted")  # fmt: skip
PLAIN = {"runs": COLUMNS, "failures": ("row", "graph", "seed", "message")}


class Store:
    """A file of runs that several processes may read and write at once.

    Parameters
    ----------
    path
        The SQLite file; made when it does not exist. A run is written in one transaction: a
        process that is killed leaves either the whole row or none.

    Examples
    --------
    >>> import tempfile
    >>> store = Store(Path(tempfile.mkdtemp()) / "runs.sqlite")
    >>> len(store.runs())
    0
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        if self.path.is_dir():
            raise OutputError(f"{self.path} is a folder; name a file for the runs.")
        if not self.path.parent.is_dir():
            raise OutputError(f"{self.path} cannot be made: there is no folder {self.path.parent}.")
        check_writable(self.path)
        with self._open() as db:
            found = _version(db, self.path)
            db.executescript(TABLES)
            if found == 1:
                _rename_settings(db)
            db.execute(f"PRAGMA application_id = {APPLICATION}")
            db.execute(f"PRAGMA user_version = {SCHEMA}")

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        # One connection per call: SQLite's may not be carried into another process.
        with _guarded(self.path), closing(sqlite3.connect(self.path, timeout=60)) as db, db:
            yield db

    def add(self, record: Record) -> bool:
        """Keep a run; False when the same one is already there, which then stays as it was."""
        metrics = dict(record.metrics)
        test = load_graph(record.graph).split["test"]
        values = (
            record.row,
            record.graph,
            json.dumps(record.settings, sort_keys=True),
            record.seed,
            record.started,
            record.seconds,
            metrics.pop("test_accuracy"),
            metrics.pop("val_accuracy"),
            json.dumps(metrics, sort_keys=True),
            json.dumps(record.versions, sort_keys=True),
            "".join(map(str, record.predicted[test].tolist())),
        )
        return self._insert([values]) == 1

    def take(self, runs: pandas.DataFrame) -> int:
        """Keep the runs of another store, as :func:`read_runs` gives them; return how many."""
        named = {*COLUMNS, "metrics"}
        others = [name for name in runs.columns if name not in named]
        values = []
        for run in runs.to_dict("records"):
            metrics = {name: run[name] for name in others if not pandas.isna(run[name])}
            metrics = {name: _whole(value) for name, value in metrics.items()}
            run |= {
                name: json.dumps(run[name], sort_keys=True) for name in ("settings", "versions")
            }
            run["metrics"] = json.dumps(metrics, sort_keys=True)
            values.append(tuple(run[name] for name in COLUMNS))
        return self._insert(values)

    def _insert(self, values: list[tuple[Any, ...]]) -> int:
        marks = ", ".join("?" * len(COLUMNS))
        with self._open() as db:
            before = db.total_changes
            db.executemany(
                f"INSERT OR IGNORE INTO runs ({', '.join(COLUMNS)}) VALUES ({marks})", values
            )
            added = db.total_changes - before
            db.executemany(
                "DELETE FROM failures WHERE row = ? AND graph = ? AND seed = ?",
                [(row, graph, seed) for row, graph, _, seed, *_ in values],
            )
        return added

    def fail(self, task: Task, message: str) -> None:
        """Note why a run could not be made; it is tried again by the next sweep."""
        with self._open() as db:
            db.execute(
                "INSERT INTO failures VALUES (?, ?, ?, ?)",
                (task.row, task.graph, task.seed, message),
            )

    def failures(self) -> list[tuple[str, str, int, str]]:
        """Return row, graph, seed and message of the runs that failed."""
        with self._open() as db:
            return db.execute("SELECT * FROM failures").fetchall()

    def __contains__(self, task: Task) -> bool:
        with self._open() as db:
            return (
                db.execute(
                    "SELECT 1 FROM runs WHERE row = ? AND graph = ? AND settings = ? AND seed = ?",
                    task.key,
                ).fetchone()
                is not None
            )

    def missing(self, tasks: Iterable[Task]) -> list[Task]:
        """Return the tasks that have no run yet, in their order."""
        with self._open() as db:
            there = set(db.execute("SELECT row, graph, settings, seed FROM runs"))
        return [task for task in tasks if task.key not in there]

    def runs(self) -> pandas.DataFrame:
        """Return every run: see :func:`read_runs`."""
        return read_store(self.path)


def read_store(path: Path) -> pandas.DataFrame:
    """Return the runs of a store, which is opened for reading alone."""
    existing_file(path, noted=False)
    with _guarded(path), closing(sqlite3.connect(_read_only(path), uri=True, timeout=60)) as db:
        version = _version(db, path)
        if not _tables(db):
            return _unfold(pandas.DataFrame(columns=COLUMNS), path)
        size = path.stat().st_size
        with bounded(db, size):
            asked = f"SELECT {', '.join(COLUMNS)} FROM runs ORDER BY row, graph, settings, seed"
            found = all_rows(db.execute(asked), size, path)
    frame = _unfold(pandas.DataFrame(found, columns=COLUMNS), path)
    if version == 1:
        frame["settings"] = [current_settings(each) for each in frame["settings"]]
    return frame


def _read_only(path: Path) -> str:
    return f"{path.absolute().as_uri()}?mode=ro"


@contextmanager
def _guarded(path: Path) -> Iterator[None]:
    """Say what SQLite raises in one sentence."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        if "full" in str(error) or "disk I/O" in str(error):
            raise WriteError(f"{path} cannot be written: {error}.") from error
        raise FileFormatError(f"{path} cannot be used as a store of runs: {error}.") from error
    except (UnicodeDecodeError, OverflowError) as error:  # text of a damaged row
        raise FileFormatError(f"{path} is no whole store of runs: {reason_of(error)}.") from error


def _tables(db: sqlite3.Connection) -> set[str]:
    listed = db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
    return {str(name) for (name,) in listed if not str(name).startswith("sqlite_")}


def _version(db: sqlite3.Connection, path: Path) -> int:
    """Return the schema of a store, 0 of a new one; raise where it is another program's."""
    owner = db.execute("PRAGMA application_id").fetchone()[0]
    version = int(db.execute("PRAGMA user_version").fetchone()[0])
    tables = _tables(db)
    columns = {str(each[1]) for each in db.execute("PRAGMA table_info(runs)")}
    # Stores of before say nothing of whose they are; they have the table of runs.
    ours = owner == APPLICATION or (owner == 0 and columns == set(COLUMNS))
    if not ours and (tables or owner):
        raise FileFormatError(
            f"{path} is a database of another program; it is left alone. Name another file."
        )
    check_plain(db, path, PLAIN)
    if version > SCHEMA:
        raise FileFormatError(
            f"{path} has schema {version}; this version reads up to {SCHEMA}. Upgrade graphheat."
        )
    return version


def write_runs(frame: pandas.DataFrame, path: str | os.PathLike[str]) -> None:
    """Write runs as CSV, as a whole; :func:`read_runs` reads them back."""
    frame = frame.copy()
    for column in ("settings", "versions"):
        frame[column] = [json.dumps(each, sort_keys=True) for each in frame[column]]
    frame["seconds"] = frame["seconds"].round(2)
    with replacing(path) as aside:
        frame.to_csv(aside, index=False)


def committed_runs() -> Path:
    """Return the file of runs that comes with graphheat."""
    packaged = Path(str(resources.files("graphheat.paper"))) / "runs.csv"
    in_clone = Path(__file__).parents[3] / "docs" / "results" / "runs.csv"
    for path in (packaged, in_clone):
        if path.is_file():
            return path
    raise MissingPathError("No runs come with this graphheat. Make some with graphheat paper all.")


def read_runs(path: str | os.PathLike[str]) -> pandas.DataFrame:
    """Return the runs of a store or of its CSV export.

    Returns
    -------
    pandas.DataFrame
        One row per run: ``row``, ``graph``, ``settings`` and ``versions`` (dicts), ``seed``,
        ``started``, ``seconds``, ``test_accuracy``, ``val_accuracy``, one column per metric, and
        ``test_predicted``: the class codes of the test nodes, one digit per node.
    """
    path = as_path(path)
    if not exists(path):
        raise MissingPathError(f"There are no runs at {path}. Make some with graphheat paper all.")
    if path.suffix != ".csv":
        return read_store(path)
    data = read_bytes(existing_file(path))
    try:
        frame = pandas.read_csv(io.BytesIO(data), dtype={"test_predicted": str})
    except (ValueError, OverflowError) as error:
        raise FileFormatError(f"{path} is not an export of runs: {reason_of(error)}.") from error
    frame = _checked(frame, path)
    frame["settings"] = [current_settings(each) for each in frame["settings"]]
    return frame


# What each column of runs must be; the others, metrics, may be anything plain.
SCHEMA_OF_RUNS: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    **{name: (lambda value: isinstance(value, str), "text") for name in
       ("row", "graph", "started", "test_predicted")},
    "seed": (lambda value: _is_real(value) and float(value).is_integer(), "a whole number"),
    "seconds": (lambda value: _is_real(value) and value >= 0, "a number ≥ 0"),
    "test_accuracy": (lambda value: _is_real(value) and 0 <= value <= 1, "a number in [0, 1]"),
    "val_accuracy": (lambda value: _is_real(value) and 0 <= value <= 1, "a number in [0, 1]"),
}  # fmt: skip


def _is_real(value: Any) -> bool:
    real = isinstance(value, (int, float, np.integer, np.floating))
    return real and not isinstance(value, bool) and math.isfinite(value)


def _checked(frame: pandas.DataFrame, path: Path) -> pandas.DataFrame:
    """Return runs with settings and versions as mappings, or raise with the first wrong cell."""
    for column in (*SCHEMA_OF_RUNS, "settings", "versions"):
        if column not in frame:
            raise FileFormatError(f"{path} is no table of runs: it lacks {column!r}.")
    for column, (fits, what) in SCHEMA_OF_RUNS.items():
        for row, value in enumerate(frame[column].tolist(), start=1):
            if not fits(value):
                raise FileFormatError(
                    f"{path} is no table of runs: {column} must be {what}; got "
                    f"{shown(value)!r} in row {row}."
                )
    for column in ("settings", "versions"):
        frame[column] = [_mapping(each, column, path) for each in frame[column]]
    return frame


def _mapping(text: Any, column: str, path: Path) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, TypeError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise FileFormatError(f"{path} is no table of runs: {column} must be a JSON object.")
    return found


def _unfold(frame: pandas.DataFrame, path: Path) -> pandas.DataFrame:
    """Check runs; turn their JSON columns into values, and metrics into columns."""
    metrics = [_mapping(each, "metrics", path) for each in frame.pop("metrics")]
    frame = _checked(frame, path)
    for name in sorted({name for each in metrics for name in each}):
        frame[name] = [each.get(name) for each in metrics]
    return frame


def _rename_settings(db: sqlite3.Connection) -> None:
    """Bring the settings of a store of schema 1 to their present names."""
    for row, settings in db.execute("SELECT rowid, settings FROM runs").fetchall():
        current = json.dumps(current_settings(json.loads(settings)), sort_keys=True)
        db.execute("UPDATE runs SET settings = ? WHERE rowid = ?", (current, row))


def _whole(value: Any) -> Any:
    """Return a count as an int: beside missing values, pandas makes floats of them."""
    return int(value) if isinstance(value, float) and value.is_integer() else value
