"""The paper's three tables, its figures beside ours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas
from scipy import stats

from graphheat import datasets
from graphheat.heat import neighborhood
from graphheat.paper.rows import GRAPHS, ROWS, Row
from graphheat.paper.task import full_settings, load_graph
from graphheat.recipes.evaluation import deviation
from graphheat.recipes.network_recipe import PUBLISHED

Changes = Mapping[str, Mapping[str, Any]]
NOTHING_CHANGED: Changes = MappingProxyType({})

# Table 3 of the paper: node of Cora → neighbouring range, maximum range.
PAPER_RANGES = {
    12: (1, 1),
    75: (2, 2),
    26: (3, 3),
    1284: (4, 13),
    1351: (5, 13),
    1385: (6, 11),
    1666: (7, 11),
}


def table1() -> pandas.DataFrame:
    """Return the counts of the three data sets, as the paper prints them and as counted here."""
    rows = []
    for name in GRAPHS:
        graph, paper = load_graph(name), datasets.info(name).paper
        assert paper is not None and graph.features is not None  # the paper's three
        summary = graph.describe()
        counted = {
            "nodes": graph.n,
            "edges": summary.edges,
            "classes": len(graph.classes),
            "features": graph.features.shape[1],
            "label_rate": round(len(graph.split["train"]) / graph.n, 3),
        }
        rows += [
            {"graph": name, "count": what, "paper": getattr(paper, what), "counted": value}
            for what, value in counted.items()
        ]
    return pandas.DataFrame(rows)


@dataclass(frozen=True)
class Cell:
    """One recipe on one data set; accuracies in per cent.

    Attributes
    ----------
    published
        The paper's figure, or one published elsewhere for recipes that its table leaves out.
    n, mean, std, seconds
        Our runs with the recipe's presets: their number, test accuracy, and seconds per run.
    gap
        Mean minus ``published``.
    p
        Two-sided p-value against GraphHeat: a paired t-test over the seeds that both have; for a
        recipe without chance, a t-test of GraphHeat's runs against its one figure. None where
        either has too few runs.
    """

    row: Row
    graph: str
    published: float | None
    n: int
    mean: float | None
    std: float | None
    seconds: float | None
    gap: float | None
    p: float | None


def table2(
    runs: pandas.DataFrame,
    rows: Sequence[str] | None = None,
    changes: Changes = NOTHING_CHANGED,
) -> list[Cell]:
    """Return a cell for every recipe and data set.

    ``changes`` says by row what the runs to take differ in from the presets: by default nothing.
    """
    chosen = list(ROWS.values()) if rows is None else [ROWS[key] for key in rows]
    heat = {graph: preset_runs(runs, "graphheat", graph, changes) for graph in GRAPHS}
    return [
        _cell(row, graph, preset_runs(runs, row.key, graph, changes), heat[graph])
        for row in chosen
        for graph in GRAPHS
    ]


def preset_runs(
    runs: pandas.DataFrame, row: str, graph: str, changes: Changes = NOTHING_CHANGED
) -> pandas.DataFrame:
    """Return the runs of a row on a graph whose settings are the presets, by seed."""
    found = runs[(runs["row"] == row) & (runs["graph"] == graph)]
    if found.empty:
        return found
    wanted = full_settings(row, graph, dict(changes.get(row, {})))
    return found[[each == wanted for each in found["settings"]]].sort_values("seed")


def _cell(row: Row, graph: str, found: pandas.DataFrame, heat: pandas.DataFrame) -> Cell:
    position = GRAPHS.index(graph)
    published = row.published[position]
    if published is None:
        published = row.elsewhere[position]
    if found.empty:
        return Cell(row, graph, published, 0, None, None, None, None, None)
    accuracies = 100 * found["test_accuracy"].to_numpy()
    mean = float(accuracies.mean())
    return Cell(
        row=row,
        graph=graph,
        published=published,
        n=len(found),
        mean=mean,
        std=deviation(accuracies) if len(found) > 1 else None,
        seconds=float(found["seconds"].median()),
        gap=None if published is None else mean - published,
        p=None if row.key == "graphheat" else compare(found, heat),
    )


def compare(one: pandas.DataFrame, other: pandas.DataFrame) -> float | None:
    """Return the p-value of equal mean accuracies; see :class:`Cell`."""
    if len(one) == 1 and len(other) > 2:
        result = stats.ttest_1samp(other["test_accuracy"], one["test_accuracy"].iloc[0])
        return float(result.pvalue)
    both = one.merge(other, on="seed", suffixes=("_one", "_other"))
    if len(both) < 3:
        return None
    difference = both["test_accuracy_one"] - both["test_accuracy_other"]
    if np.ptp(difference) == 0:  # a t-test would divide by zero
        return 1.0 if difference.iloc[0] == 0 else 0.0
    return float(stats.ttest_1samp(difference, 0.0).pvalue)


def table3(s: float | None = None, eps: float | None = None) -> pandas.DataFrame:
    """Return neighbouring and maximum range of the paper's seven nodes of Cora, with ours."""
    paper_s, paper_eps = PUBLISHED["cora"]
    cora = load_graph("cora")
    rows: list[dict[str, Any]] = []
    for node, (paper_range, paper_max) in PAPER_RANGES.items():
        found = neighborhood(cora, node, paper_s if s is None else s, eps or paper_eps)
        rows.append(
            {
                "node": node,
                "paper_range": paper_range,
                "range": found.range,
                "paper_max_range": paper_max,
                "max_range": found.max_range,
            }
        )
    return pandas.DataFrame(rows)


# ---------------------------------------------------------------------- as text


def accuracy_text(cell: Cell) -> str:
    """Return "83.2 ± 0.6 (20)", or "—" without runs."""
    if cell.mean is None:
        return "—"
    spread = "" if cell.std is None else f" ± {cell.std:.1f}"
    return f"{cell.mean:.1f}{spread} ({cell.n})"


def number_text(value: float | None, form: str) -> str:
    """Return a number in a format, or "—"; never a "-0.0"."""
    return "—" if value is None else format(round(value, 1) + 0.0, form)


def p_text(value: float | None) -> str:
    """Return a p-value as people write it."""
    if value is None:
        return "—"
    return "< .001" if value < 0.001 else f"{value:.3f}".removeprefix("0")


TABLE2_COLUMNS = ("recipe", "paper", "ours (runs)", "gap", "p", "seconds")


def table2_lines(cells: Sequence[Cell], graph: str) -> list[list[str]]:
    """Return the rows of Table 2 for one data set, as text under :data:`TABLE2_COLUMNS`."""
    return [
        [
            cell.row.title,
            published_text(cell),
            accuracy_text(cell),
            number_text(cell.gap, "+.1f"),
            p_text(cell.p),
            number_text(cell.seconds, ".1f"),
        ]
        for cell in cells
        if cell.graph == graph
    ]


def published_text(cell: Cell) -> str:
    """Return the published figure; in brackets where it is not the paper's own."""
    in_table = cell.row.published[GRAPHS.index(cell.graph)] is not None
    if cell.published is not None and not in_table:
        return f"({cell.published:.1f})"
    return number_text(cell.published, ".1f")
