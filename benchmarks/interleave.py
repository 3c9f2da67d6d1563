"""Timing side by side: every way in turn, several rounds, the best of each; ratios first."""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from graphheat.paper.markdown import table

RESULTS = Path(__file__).parent / "results"


def best_of(
    ways: Mapping[str, Callable[[], Any]],
    rounds: int,
    patience: float = 20.0,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, float]:
    """Run every way once a round and return the least seconds of each.

    A way that has used up ``patience`` seconds sits out the later rounds. ``clock``:
    ``time.process_time`` on a machine with other work, which counts what all threads used.
    """
    best: dict[str, float] = {}
    spent = dict.fromkeys(ways, 0.0)
    for round_number in range(rounds):
        for name, way in ways.items():
            if round_number and spent[name] > patience:
                continue
            started = clock()
            way()
            seconds = clock() - started
            spent[name] += seconds
            best[name] = min(best.get(name, seconds), seconds)
    return best


def report(question: str, rows: list[dict[str, Any]], *, whole: bool = True, **facts: Any) -> None:
    """Print the rows as a Markdown table; write a ``whole`` run and its machine as JSON."""
    print(markdown(rows))
    if not whole:
        return
    RESULTS.mkdir(exist_ok=True)
    machine = {"processor": platform.machine(), "cores": os.cpu_count(), **facts}
    text = json.dumps({"machine": machine, "rows": rows}, indent=2)
    (RESULTS / f"{question}.json").write_text(text + "\n")


def markdown(rows: list[dict[str, Any]]) -> str:
    """Return rows of named cells as a Markdown table."""
    columns = list(dict.fromkeys(key for row in rows for key in row))
    return table(columns, [[_cell(row.get(column)) for column in columns] for row in rows])


def spread(values: Any) -> str:
    """Return mean ± standard deviation of shares, in percent."""
    percent = 100 * np.asarray(values, dtype=float)
    deviation = f" ± {percent.std(ddof=1):.2f}" if len(percent) > 1 else ""
    return f"{percent.mean():.2f}{deviation}"


def _cell(value: Any) -> str:
    if value is None:
        return "–"
    return f"{value:.3g}" if isinstance(value, float) else str(value)
