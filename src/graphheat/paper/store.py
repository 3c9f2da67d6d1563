"""The store of runs: SQLite, one row per run, unique by recipe, graph, settings and seed."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pandas

from graphheat.errors import FileFormatError, MissingPathError, OutputError
from graphheat.io import replacing
from graphheat.paper.task import Record, Task, load_graph
from graphheat.runs.former import current_settings

SCHEMA = 2  # 1 had other names for a few settings
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
        with self._open() as db:
            found = db.execute("PRAGMA user_version").fetchone()[0]
            if found > SCHEMA:
                raise FileFormatError(
                    f"{self.path} has schema {found}; this version reads up to {SCHEMA}. "
                    "Upgrade graphheat."
                )
            db.executescript(TABLES)
            if found == 1:
                _rename_settings(db)
            db.execute(f"PRAGMA user_version = {SCHEMA}")

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        try:
            # One connection per call: SQLite's may not be carried into another process.
            with closing(sqlite3.connect(self.path, timeout=60)) as db, db:
                yield db
        except sqlite3.DatabaseError as error:
            raise FileFormatError(
                f"{self.path} cannot be used as a store of runs: {error}."
            ) from error

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
        with self._open() as db:
            found = db.execute(
                f"SELECT {', '.join(COLUMNS)} FROM runs ORDER BY row, graph, settings, seed"
            ).fetchall()
        return _unfold(pandas.DataFrame(found, columns=COLUMNS))


def write_runs(frame: pandas.DataFrame, path: str | os.PathLike[str]) -> None:
    """Write runs as CSV, as a whole; :func:`read_runs` reads them back."""
    frame = frame.copy()
    for column in ("settings", "versions"):
        frame[column] = [json.dumps(each, sort_keys=True) for each in frame[column]]
    frame["seconds"] = frame["seconds"].round(2)
    with replacing(path) as aside:
        frame.to_csv(aside, index=False)


def read_runs(path: str | os.PathLike[str]) -> pandas.DataFrame:
    """Return the runs of a store or of its CSV export.

    Returns
    -------
    pandas.DataFrame
        One row per run: ``row``, ``graph``, ``settings`` and ``versions`` (dicts), ``seed``,
        ``started``, ``seconds``, ``test_accuracy``, ``val_accuracy``, one column per metric, and
        ``test_predicted``: the class codes of the test nodes, one digit per node.
    """
    path = Path(path)
    if not path.is_file():
        raise MissingPathError(f"There are no runs at {path}. Make some with graphheat paper all.")
    if path.suffix != ".csv":
        return Store(path).runs()
    try:
        frame = pandas.read_csv(path, dtype={"test_predicted": str})
        for column in ("settings", "versions"):
            frame[column] = [json.loads(each) for each in frame[column]]
        frame["settings"] = [current_settings(each) for each in frame["settings"]]
    except (ValueError, KeyError, TypeError) as error:
        raise FileFormatError(f"{path} is not an export of runs: {error}.") from error
    return frame


def _unfold(frame: pandas.DataFrame) -> pandas.DataFrame:
    """Turn the JSON columns into values, and metrics into columns."""
    metrics: list[dict[str, Any]] = [json.loads(each) for each in frame.pop("metrics")]
    for column in ("settings", "versions"):
        frame[column] = [json.loads(each) for each in frame[column]]
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
