"""Runs that are written down one by one, so that a sweep goes on where it stopped."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from interleave import RESULTS
from scipy.stats import ttest_rel

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
        ``"2/3"``: every third task from the second on, for processes side by side; ``"0/1"``: none,
        to read what is there.
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


def compared(ours: Mapping[Any, float], theirs: Mapping[Any, float]) -> dict[str, Any]:
    """Return how far shares of ours are above theirs where both were measured, and a paired p."""
    both = sorted(ours.keys() & theirs.keys())
    if len(both) < 2 or ours == theirs:
        return {"ours above it by": None, "won": None, "p": None}
    pair = np.array([[ours[key], theirs[key]] for key in both])
    apart = 100 * (pair[:, 0] - pair[:, 1])
    return {
        "ours above it by": f"{apart.mean():.2f}",
        "won": f"{(apart > 0).sum()}/{len(both)}",
        "p": float(ttest_rel(pair[:, 0], pair[:, 1]).pvalue),
    }


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
