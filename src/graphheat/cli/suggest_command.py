"""``suggest``: which nodes to label next."""

from __future__ import annotations

from typing import Any

import click

from graphheat.cli.options import claim, common, graph_source, open_graph, safe_csv, threads


@click.command()
@graph_source
@click.option("--count", type=click.IntRange(min=1), default=10, show_default=True,
              help="How many nodes.")  # fmt: skip
@click.option("--exclude", multiple=True, metavar="NODE",
              help="A node that is not to be asked; may be repeated.")  # fmt: skip
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True,
              help="Of the draw of nodes that stand for a large graph.")  # fmt: skip
@click.option("--out", metavar="CSV", help="File for the suggestions.")
@safe_csv
@threads
@common
def suggest(
    source: dict[str, Any],
    count: int,
    exclude: tuple[str, ...],
    seed: int,
    out: str | None,
    safe_csv: bool,
    threads: int | None,
    as_json: bool,
) -> None:
    """Say which nodes of GRAPH to label next, and why.

    Without any label: nodes whose heat covers most of the graph, spread over its clusters. Then
    nodes whose answer reaches most of what is uncertain, none telling what another tells already.
    """
    from graphheat.cli import display, run_folder
    from graphheat.disk import DiskGraph
    from graphheat.io import check_writable
    from graphheat.labeling.suggestion import frame as table_of
    from graphheat.labeling.suggestion import suggest as find

    claim(out)
    graph = open_graph(source)
    if isinstance(graph, DiskGraph):
        raise click.UsageError("suggest is for graphs in memory; this one is on disk.")
    if out is not None:
        check_writable(out)  # now it is known what was read
    found = find(graph, count, exclude=exclude, seed=seed, threads=threads)
    frame = table_of(found)
    if out is not None:
        run_folder.write_csv(out, frame, safe=safe_csv)
    if as_json:
        rows = frame.to_dict("records")
        display.print_json({"graph": graph.name, "out": out, "suggestions": rows})
        return
    named = graph.titles is not None
    display.table(
        ["node", *(["title"] if named else []), "why"],
        [[str(each.node), *([each.title] if named else []), each.why] for each in found],
        title=f"What to label next in {graph.name}",
    )
    if out is not None:
        display.say(f"Suggestions: {out}")
