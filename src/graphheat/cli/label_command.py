"""``label``: label a graph in the browser, with models that follow."""

from __future__ import annotations

import getpass
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from graphheat.cli.options import common, graph_source, heading_of, open_graph, threads

if TYPE_CHECKING:
    from graphheat.graph import Graph

JOURNAL, GRAPH, TABLE = "labels.sqlite", "graph.npz", "labels.csv"


@click.command()
@graph_source
@click.option("--classes", metavar="A,B,C", help="Names of classes (default: the graph's).")
@click.option("--out", metavar="DIR", required=True,
              help="Folder for the journal of labels, and for the run at the end.")  # fmt: skip
@click.option("--resume", is_flag=True, help="Go on with the labels in --out.")
@click.option("--host", default="127.0.0.1", show_default=True,
              help="Address to listen on; any but 127.0.0.1 lets others in.")  # fmt: skip
@click.option("--port", type=click.IntRange(0, 65535), default=0, show_default=True,
              help="Port to listen on; 0: any that is free.")  # fmt: skip
@click.option("--title", "heading", metavar="T", help="Heading (default: the graph's name).")
@click.option("--noun", metavar="WORD", help="What nodes are, in the plural, such as papers.")
@click.option("--who", metavar="NAME", help="Whose labels these are (default: the user's name).")
@click.option("--networks/--no-networks", default=True, show_default=True,
              help="Whether the default recipe trains in the background.")  # fmt: skip
@click.option("--open", "opens", is_flag=True, help="Open the page in a browser.")
@threads
@common
def label(
    source: dict[str, Any],
    classes: str | None,
    out: str,
    resume: bool,
    host: str,
    port: int,
    heading: str | None,
    noun: str | None,
    who: str | None,
    networks: bool,
    opens: bool,
    threads: int | None,
    as_json: bool,
) -> None:
    """Label GRAPH in a browser, and watch the graph follow.

    Prints an address with a token; whoever has it may label. Each label is on the disk before the
    page confirms it (DIR/labels.sqlite: who, when, what). A linear model follows every label, the
    default recipe trains in the background and takes over where it predicts labels that it has not
    seen better. "Finish" on the page writes DIR as `fit --out` does, and DIR/labels.csv.
    Ctrl-C ends; --resume goes on.
    """
    from graphheat.cli import display, run_folder
    from graphheat.disk import DiskGraph
    from graphheat.explorer import MAX_EDGES, MAX_NODES, page_text
    from graphheat.io.file_lock import locked
    from graphheat.labeling.journal import Journal
    from graphheat.labeling.label_server import LabelServer
    from graphheat.labeling.session import Session

    graph = open_graph(source)
    edges = None if isinstance(graph, DiskGraph) else graph.adjacency.nnz // 2
    if edges is None or graph.n > MAX_NODES or edges > MAX_EDGES:
        raise click.UsageError(
            f"A page holds up to {MAX_NODES:,} nodes and {MAX_EDGES:,} edges of a graph in memory; "
            f"{graph.name} is larger. `graphheat suggest` says what to label next."
        )
    names = [] if classes is None else [name for name in classes.split(",") if name.strip()]
    folder = run_folder.make_folder(out)
    with ExitStack() as held:
        held.enter_context(locked(folder / run_folder.LOCK, folder))
        check_place(folder)
        journal = held.enter_context(
            Journal(folder / JOURNAL, graph.fingerprint, graph.n, graph.name, resume=resume)
        )
        if heading is None:
            heading = heading_of(graph.name, source["graph"])
        page = page_text(graph, title=heading, noun=noun, server=True)
        session = Session(
            graph, journal, classes=names, who=who or _user(), networks=networks, threads=threads
        )
        held.callback(session.close)
        server = LabelServer(
            session,
            page,
            lambda labelled: write_labelled(folder, labelled),
            host=host,
            port=port,
        )
        if as_json:
            display.print_json({"address": server.address, "out": out})
        else:
            display.out.print(server.address, highlight=False, markup=False, soft_wrap=True)
            display.say("Open this address in a browser; Ctrl-C ends, and --resume goes on.")
        if opens:
            click.launch(server.address)
        server.run()
    display.say(f"{session.answers.count:,} labels are in {folder / JOURNAL}.")


def check_place(folder: Path) -> None:
    """Raise where finishing would replace a run that labelling has not made, or what is read."""
    from graphheat.cli import run_folder
    from graphheat.errors import OutputError
    from graphheat.io import check_writable
    from graphheat.io.archive import exists

    if run_folder.held_files(folder) and not exists(folder / JOURNAL):
        raise OutputError(
            f"{folder} holds a run, and no labels; finishing would replace it. Name another folder."
        )
    for name in (GRAPH, TABLE, *run_folder.FILES):
        check_writable(folder / name)


def write_labelled(folder: Path, graph: Graph) -> dict[str, str]:
    """Write graph, run and node table of what was labelled; return where run and table are."""
    from graphheat.cli import run_folder
    from graphheat.cli.fit_command import summarize
    from graphheat.io import write_npz
    from graphheat.recipes.fit import fit
    from graphheat.runs.checkpoint import FILENAME

    write_npz(graph, folder / GRAPH)
    run_folder.clear(folder, keep_runs=False)
    run = fit(graph, checkpoint=folder / FILENAME, source={"graph": str(folder / GRAPH)})
    run_folder.write_run(folder, run, summarize([run]), safe=True)
    table = run.predictions_frame()
    kept = [name for name in ("node", "title", "label", "predicted", "confidence") if name in table]
    run_folder.write_csv(folder / TABLE, table[kept], safe=True)
    return {"run": str(folder), "table": str(folder / TABLE)}


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "somebody"
