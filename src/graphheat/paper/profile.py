"""Which runs the paper's experiment consists of: the whole of it, and a short one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from graphheat import recipes
from graphheat.paper.rows import GRAPHS, ROWS, Row, row_named
from graphheat.paper.task import Task
from graphheat.recipes.network_recipe import PUBLISHED

# Figure 4: accuracy on Cora over s at the paper's eps, and over eps at the paper's s.
S_VALUES = (0.5, 1.0, 2.0, 3.5, 5.0, 7.0, 10.0)
EPS_VALUES = (1e-5, 1e-4, 1e-3, 1e-2, 1e-1)
FIGURE4_SEEDS = 5


def full(
    seeds: int, rows: Sequence[str] | None = None, graphs: Sequence[str] = GRAPHS
) -> list[Task]:
    """Return the tasks of Table 2 with ``seeds`` seeds per recipe, and of Figure 4.

    Deterministic recipes run once. The rows come in the order of the table, graph by graph from
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


def short(
    rows: Sequence[str] | None = None, graphs: Sequence[str] = GRAPHS
) -> tuple[list[Task], dict[str, dict[str, Any]]]:
    """Return tasks that touch every recipe for a moment, and what they change of its presets.

    They answer whether everything runs; nobody should quote what comes of them.
    """
    names = list(ROWS) if rows is None else list(rows)
    changes = {name: brief_settings(row_named(name)) for name in names}
    tasks = [
        Task(name, graph, seed, tuple(changes[name].items()))
        for graph in graphs
        if graph == "cora" or list(graphs) != list(GRAPHS)
        for name in names
        for seed in range(3 if is_stochastic(row_named(name)) else 1)
    ]
    if "graphheat" in names:
        brief = tuple(changes["graphheat"].items())
        for name, value in (("s", 1.0), ("s", 10.0), ("eps", 1e-3), ("eps", 1e-1)):
            tasks += [Task("graphheat", "cora", seed, (*brief, (name, value))) for seed in (0, 1)]
    return tasks, changes


def brief_settings(row: Row) -> dict[str, Any]:
    """Return the changes to a row's presets that make a run take a moment."""
    return dict(recipes.get(row.recipe).brief)


def is_stochastic(row: Row) -> bool:
    """Whether the seed changes a row's result."""
    return recipes.get(row.recipe).stochastic
