"""Which runs the paper's experiment consists of: the whole of it, and a short one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from graphheat import baselines
from graphheat.paper.rows import GRAPHS, ROWS, Row, row_named
from graphheat.paper.task import Task
from graphheat.training.recipes import PUBLISHED

# Figure 4: accuracy on Cora over s at the paper's eps, and over eps at the paper's s.
S_VALUES = (0.5, 1.0, 2.0, 3.0, 3.5, 4.0, 5.0, 7.0, 10.0, 15.0)
EPS_VALUES = (1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 3e-2, 1e-1)
FIGURE4_SEEDS = 10

# Enough to exercise every system; nobody should quote what comes of it.
SHORT_EPOCHS = {"max_epochs": 3}


def full(
    seeds: int, rows: Sequence[str] | None = None, graphs: Sequence[str] = GRAPHS
) -> list[Task]:
    """Return the tasks of Table 2 with ``seeds`` seeds a system, and of Figure 4.

    Deterministic systems run once. The rows come in the order of the table, graph by graph from
    the smallest, so that a table with few gaps is there early.
    """
    names = list(ROWS) if rows is None else list(rows)
    tasks = [
        Task(name, graph, seed)
        for graph in graphs
        for name in names
        for seed in range(seeds if is_stochastic(row_named(name)) else 1)
    ]
    if "graphheat" in names and "cora" in graphs:
        tasks += figure4(min(seeds, FIGURE4_SEEDS))
    return list(dict.fromkeys(tasks))


def figure4(seeds: int) -> Iterator[Task]:
    """Return the tasks of Figure 4 that Table 2 does not have."""
    s, eps = PUBLISHED["cora"]
    for value in S_VALUES:
        if value != s:
            yield from (Task("graphheat", "cora", seed, (("s", value),)) for seed in range(seeds))
    for value in EPS_VALUES:
        if value != eps:
            yield from (Task("graphheat", "cora", seed, (("eps", value),)) for seed in range(seeds))


def is_stochastic(row: Row) -> bool:
    """Whether the seed changes a row's result."""
    return row.is_heat or baselines.load(row.system).stochastic


def changes_in(settings: dict[str, Any], task: Task) -> dict[str, Any]:
    """Return which of a run's settings differ from a task's, with the run's values."""
    return {name: value for name, value in settings.items() if task.settings.get(name) != value}
