"""``compare``: recipes on the same seeds and splits, as a table with paired tests."""

from __future__ import annotations

from typing import Any

import click

from graphheat.cli.options import claim, common, graph_source, open_graph, threads


@click.command()
@graph_source
@click.option("--recipes", default="auto,linear,spreading", show_default=True, metavar="R,R",
              help="Recipes; the others are compared with the first.")  # fmt: skip
@click.option("--splits", type=click.IntRange(min=1), metavar="N",
              help="Draw N random splits (default: the graph's own, over seeds).")  # fmt: skip
@click.option("--per-class", type=click.IntRange(min=1), default=20, show_default=True,
              help="Training labels per class of a drawn split.")  # fmt: skip
@click.option("--val-per-class", type=click.IntRange(min=0), default=30, show_default=True,
              help="Validation labels per class of a drawn split.")  # fmt: skip
@click.option("--seeds", type=click.IntRange(min=1), metavar="N",
              help="N runs, seeds 0…N−1 (default: 20; with --splits one per split).")  # fmt: skip
@click.option("--metric", default="accuracy", show_default=True,
              help="accuracy, balanced_accuracy, calibration_error or seconds.")  # fmt: skip
@click.option("--jobs", type=click.IntRange(min=1), default=1, show_default=True,
              help="Processes.")  # fmt: skip
@click.option("--out", metavar="FILE", help="Write the table: .csv, .md or .tex.")
@threads
@common
def compare(
    source: dict[str, Any],
    recipes: str,
    splits: int | None,
    per_class: int,
    val_per_class: int,
    seeds: int | None,
    metric: str,
    jobs: int,
    out: str | None,
    threads: int | None,
    as_json: bool,
) -> None:
    """Compare recipes on GRAPH: mean, standard deviation, paired differences and their p."""
    from graphheat.cli import display
    from graphheat.io import check_writable
    from graphheat.recipes.comparison import check_table_path
    from graphheat.recipes.comparison import compare as compare_recipes

    if seeds is not None and splits is not None and seeds != splits:
        raise click.UsageError("--splits has one seed per split; leave --seeds out.")
    if out is not None:
        check_table_path(out)
    claim(out)
    graph = open_graph(source)
    if out is not None:
        check_writable(out)  # now it is known what was read
    with display.progress() as progress:
        found = compare_recipes(
            graph,
            [name.strip() for name in recipes.split(",")],
            seeds=None if seeds is None else range(seeds),
            splits=splits,
            per_class=per_class,
            val_per_class=val_per_class,
            jobs=jobs,
            threads=threads,
            progress=progress,
        )
    if out is not None:
        found.write(out, metric)
    rows = found.rows(metric)
    if as_json:
        display.print_json({"graph": graph.name, "metric": metric, "out": out, "rows": rows})
        return
    display.table(
        list(rows[0]), [list(row.values()) for row in rows], title=f"{graph.name}: {metric}"
    )
