"""Runs that are written down one by one, so that a sweep goes on where it stopped."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from interleave import RESULTS

Task = dict[str, Any]


def carry_out(
    name: str,
    tasks: Iterable[Task],
    work: Callable[[Task], dict[str, Any]],
    *,
    part: str = "1/1",
    out: Path | None = None,
) -> list[dict[str, Any]]:
    """Do the tasks that ``results/NAME.csv`` does not hold, and return what it then says of all.

    Parameters
    ----------
    tasks
        Named values that tell one task from another; the first columns of the file.
    work
        Returns what is found, named likewise; the same names for all tasks.
    part
        ``"2/3"``: every third task from the second on, for processes side by side.
    """
    path = out or RESULTS / f"{name}.csv"
    share, of = (int(each) for each in part.split("/"))
    tasks = list(tasks)
    for number, task in enumerate(tasks):
        if number % of != share - 1 or _key(task) in _read(path, task):
            continue
        found = work(task)
        new = not path.exists()
        with path.open("a", newline="") as file:  # one short line at a time: never half of one
            lines = csv.writer(file)
            if new:
                lines.writerow([*task, *found])
            lines.writerow([*_key(task), *found.values()])
        print(*_key(task), *found.values(), flush=True)
    held = _read(path, tasks[0])
    return [task | held[_key(task)] for task in tasks if _key(task) in held]


def add_part(options: Any) -> None:
    """Add the options that a sweep has."""
    options.add_argument("--part", default="1/1", help="2/3: every third task from the second on")
    options.add_argument("--out", type=Path, help="default: benchmarks/results")


def _key(task: Task) -> tuple[str, ...]:
    return tuple(
        json.dumps(value, sort_keys=True) if isinstance(value, dict) else str(value)
        for value in task.values()
    )


def _read(path: Path, like: Task) -> dict[tuple[str, ...], dict[str, Any]]:
    if not path.exists():
        return {}
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    return {
        tuple(row[name] for name in like): {
            name: _number(value) for name, value in row.items() if name not in like
        }
        for row in rows
    }


def _number(text: str) -> Any:
    try:
        return float(text)
    except ValueError:
        return text
