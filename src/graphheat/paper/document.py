"""The page of results: tables, figures, claims, and what differs from the paper and why."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas

from graphheat.io import replacing
from graphheat.paper import markdown, tables
from graphheat.paper.claims import Claim
from graphheat.paper.differences import DIFFERENCES
from graphheat.paper.figures import FIGURES
from graphheat.paper.rows import GRAPHS, ROWS
from graphheat.paper.tables import Cell, Changes

CLOSE = 1.5  # points within which a figure counts as reproduced

INTRODUCTION = """\
# The paper, checked

Every baseline, table, figure and claim of *Graph Convolutional Networks using Heat Kernel for
Semi-supervised Learning* (IJCAI 2019), run again. This page is written by `graphheat paper page`
from [runs.csv](runs.csv), which holds every run behind it: recipe, data set, all settings, seed,
versions, seconds, accuracies and the labels given to the test nodes. `graphheat paper all` makes
the runs anew.

The split is the public one: 20 training labels per class, 500 nodes for validation, 1,000 for the
test. What has to be chosen is chosen on validation labels. Accuracies are on the test nodes, in
per cent, mean ± sample standard deviation over seeds 0, 1, 2, …, with the number of runs in
brackets; never a best run.
"""


def write(
    path: Path,
    runs: pandas.DataFrame,
    claims: Sequence[Claim],
    figures: Sequence[Path],
    changes: Changes,
) -> None:
    """Write the page, as a whole."""
    text = render(runs, claims, [each.name for each in figures], changes)
    with replacing(path) as aside:
        aside.write_text(text)


def render(
    runs: pandas.DataFrame, claims: Sequence[Claim], figures: Sequence[str], changes: Changes
) -> str:
    """Return the page as Markdown."""
    cells = tables.table2(runs, changes=changes)
    parts = [
        INTRODUCTION,
        _warning(changes),
        "## Table 2: every recipe on every data set\n",
        _table2(cells),
        _reading(cells),
        "## Table 1: the data sets\n",
        _table1(),
        "## Table 3: how far heat reaches\n",
        _table3(),
        "## Figures\n",
        _figures(figures),
        "## Claims\n",
        _claims(claims),
        "## Recipe by recipe: what differs from the paper, and why\n",
        _recipes(cells),
    ]
    return "\n".join(part for part in parts if part)


def _warning(changes: Changes) -> str:
    if not changes:
        return ""
    return (
        "**This is the short profile: a moment of each recipe, to see that everything runs. "
        "Nothing here is a result.**\n"
    )


def _table2(cells: Sequence[Cell]) -> str:
    by_place = {(cell.row.key, cell.graph): cell for cell in cells}
    wide = []
    for key, row in ROWS.items():
        line = [f"**{row.title}**" if key == "graphheat" else row.title]
        for graph in GRAPHS:
            cell = by_place[key, graph]
            line += [tables.published_text(cell), tables.accuracy_text(cell)]
        wide.append(line)
    head = ["recipe"]
    for graph in GRAPHS:
        head += [f"{graph}: paper", "ours"]
    text = markdown.table(head, wide) + "\n"
    for graph in GRAPHS:
        text += f"\n### {graph.capitalize()}: gaps, tests and seconds\n\n"
        text += markdown.table(tables.TABLE2_COLUMNS, tables.table2_lines(cells, graph)) + "\n"
    return text


def _reading(cells: Sequence[Cell]) -> str:
    counted = [cell for cell in cells if cell.gap is not None]
    near = [cell for cell in counted if is_near(cell)]
    return (
        "Figures in brackets are not in the paper's table: they were published elsewhere. *p*: "
        "two-sided paired t-test against GraphHeat over the seeds that both have (for a recipe "
        "without chance, GraphHeat's runs against its one figure). *Seconds*: median of a run on "
        "one thread of a machine that was busy with other work, so they compare only roughly.\n\n"
        f"Of {len(counted)} published figures, {len(near)} are met within {CLOSE} points, or an "
        "independent reproduction of the same recipe is; the others are explained below.\n"
    )


def is_near(cell: Cell) -> bool:
    """Whether our mean is within 1.5 points of the published figure or of a reproduction."""
    if cell.mean is None:
        return False
    known = [*cell.row.reproduced.get(cell.graph, ())]
    if cell.published is not None:
        known.append(cell.published)
    return any(abs(cell.mean - figure) <= CLOSE for figure in known)


def _table1() -> str:
    frame = tables.table1()
    rows = [
        [each.graph, each.count.replace("_", " "), f"{each.paper:g}", f"{each.counted:g}"]
        for each in frame.itertuples(name="Count")
    ]
    return markdown.table(["data set", "count", "the paper", "counted"], rows) + (
        "\n\nThe paper counts the edges of the raw files, with repeats and self-loops; here each "
        "undirected edge counts once.\n"
    )


def _table3() -> str:
    frame = tables.table3()
    exact = (frame["range"] == frame["paper_range"]) & (
        frame["max_range"] == frame["paper_max_range"]
    )
    rows = [
        ["range, the paper", *frame["paper_range"]],
        ["range", *frame["range"]],
        ["maximum range, the paper", *frame["paper_max_range"]],
        ["maximum range", *frame["max_range"]],
    ]
    text = markdown.table(["node of Cora", *frame["node"]], rows)
    return text + f"\n\n{int(exact.sum())} of {len(frame)} nodes as the paper has them.\n"


def _figures(names: Sequence[str]) -> str:
    text = ""
    for figure in FIGURES:
        picture = f"{figure.name}.png"
        if picture in names:
            text += f"### Figure {figure.number}: {figure.title}\n\n"
            text += f"![Figure {figure.number}]({picture})\n\n"
            text += f"[SVG]({figure.name}.svg) · [data]({figure.name}.csv)\n\n"
    return text


def _claims(claims: Sequence[Claim]) -> str:
    rows = [[claim.section, claim.text, f"**{claim.verdict}**", claim.numbers] for claim in claims]
    text = markdown.table(["section", "claim", "verdict", "measured"], rows)
    details = [
        f"- {claim.section}, {claim.text} {claim.detail}" for claim in claims if claim.detail
    ]
    return text + "\n\n" + "\n".join(details) + "\n"


def _recipes(cells: Sequence[Cell]) -> str:
    text = ""
    for key, row in ROWS.items():
        own = [cell for cell in cells if cell.row.key == key]
        text += f"### {row.title}\n\n"
        gaps = [
            f"{cell.graph.capitalize()} {cell.mean:.1f} (published {cell.published:.1f})"
            for cell in own
            if cell.mean is not None and cell.published is not None and not is_near(cell)
        ]
        if gaps:
            text += f"*More than {CLOSE} points from every published figure: {', '.join(gaps)}.* "
        text += DIFFERENCES.get(key, "As published.") + "\n\n"
    return text
