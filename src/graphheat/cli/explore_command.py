"""``explore``: a graph, its heat and a run's labels, on one page."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from graphheat.cli.options import claim, common, graph_source, heading_of, open_graph

if TYPE_CHECKING:
    from graphheat.graph import Graph
    from graphheat.runs import Run


@click.command()
@partial(graph_source, metavar="RUN_OR_GRAPH")
@click.option("--out", metavar="HTML", required=True, help="File for the page.")
@click.option("--graph", "run_graph", metavar="G", help="The run's graph, if it is elsewhere now.")
@click.option("--edges", metavar="E", help="For a run: edges of new nodes, which --nodes then has.")
@click.option("-s", "--s", type=float, help="Where the slider of s starts (default: the run's).")
@click.option("--eps", type=float, help="Where the slider of eps starts (default: the run's).")
@click.option(
    "--around",
    multiple=True,
    metavar="NODE",
    help="Around which node to cut a graph that is too large; may be repeated.",
)
@click.option("--title", "heading", metavar="T", help="Heading (default: the graph's name).")
@click.option("--noun", metavar="WORD", help="What nodes are, in the plural, such as papers.")
@click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of the layout."
)
@common
def explore(
    source: dict[str, Any],
    out: str,
    run_graph: str | None,
    edges: str | None,
    s: float | None,
    eps: float | None,
    around: tuple[str, ...],
    heading: str | None,
    noun: str | None,
    seed: int,
    as_json: bool,
) -> None:
    """Write one HTML file on which to see a graph, its heat and, for a run, why each label.

    RUN_OR_GRAPH is a folder that `fit --out` wrote (or a checkpoint in it), or a GRAPH. The page
    opens in a browser from anywhere, fetches nothing and sends nothing. Up to 50,000 nodes and
    500,000 edges; of a larger graph it takes the part that most heat from --around reaches.
    """
    from graphheat.cli import display
    from graphheat.cli.disk_commands import is_disk_graph, page_part
    from graphheat.explorer import write_page
    from graphheat.io import check_writable
    from graphheat.io.archive import is_folder

    claim(out)
    given = Path(source["graph"])
    on_disk = is_disk_graph(source["graph"])
    is_run = not on_disk and (is_folder(given) or given.suffix == ".safetensors")
    shown: Any
    if is_run:
        shown, graph = _open_run(source, run_graph, edges)
    else:
        if run_graph is not None or edges is not None:
            option = "--edges" if run_graph is None else "--graph"
            raise click.UsageError(f"{option} is for runs; a GRAPH is its own.")
        shown, graph = open_graph(source), None
        if on_disk:
            shown, note = page_part(shown, around, 3.0 if s is None else s)
            display.say(note)
    if heading is None and not is_run:
        heading = heading_of(shown.name, source["graph"])
    check_writable(out)  # again: now it is known what was read
    with display.progress() as progress:
        page = write_page(
            shown,
            out,
            graph=graph,
            s=s,
            eps=eps,
            around=around,
            title=heading,
            noun=noun,
            seed=seed,
            progress=progress,
        )
    if as_json:
        display.print_json(page.as_dict())
        return
    if page.note is not None:
        display.say(page.note)
    display.table(
        ["page", ""],
        [
            ["nodes", page.nodes],
            ["edges", page.edges],
            ["labels explained", page.explained],
            ["megabytes", round(page.bytes / 1e6, 2)],
        ],
    )
    display.say(f"Open it in a browser: {out}")


def _open_run(
    source: dict[str, Any], run_graph: str | None, edges: str | None
) -> tuple[Run, Graph]:
    from graphheat.cli.run_graph import shown_graph
    from graphheat.runs import load_run

    run = load_run(source["graph"])
    return run, shown_graph(run, source, run_graph, edges)
