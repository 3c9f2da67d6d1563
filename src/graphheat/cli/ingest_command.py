"""``ingest`` and ``plan``: graphs larger than memory, and what they take."""

from __future__ import annotations

import time
from typing import Any, get_args

import click

from graphheat.cli.options import common, graph_source, open_graph, threads
from graphheat.graph.adjacency import Duplicates, SelfLoops


@click.command()
@click.argument("edges", nargs=-1, required=True, metavar="EDGES...")
@click.option("--out", metavar="G.graph", required=True, help="Folder to make.")
@click.option("--nodes", multiple=True, metavar="T", help="Node table; may be repeated.")
@click.option("--features", multiple=True, metavar="F",
              help="Sparse features: a table of node, feature and value.")  # fmt: skip
@click.option("--memory", default="4GB", show_default=True, help="What it may use.")
@click.option("--source-column", metavar="C", help="Edge column of one end.")
@click.option("--target-column", metavar="C", help="Edge column of the other end.")
@click.option("--weight-column", metavar="C", help="Edge column of the weight.")
@click.option("--id-column", "id_column", metavar="C", help="Column of the node ids.")
@click.option("--label-column", metavar="C", help="Column of the labels.")
@click.option("--split-column", metavar="C", help="Column of train/val/calibration/test.")
@click.option("--columns", metavar="C,C", help="Feature columns (default: all other numbers).")
@click.option("--header/--no-header", default=None, help="Whether text files name their columns.")
@click.option("--delimiter", metavar="D", help="Of text files (default: look).")
@click.option("--duplicates", type=click.Choice(get_args(Duplicates)), default="error",
              show_default=True, help="What to do with an edge of two weights.")  # fmt: skip
@click.option("--self-loops", type=click.Choice(get_args(SelfLoops)), default="keep",
              show_default=True, help="What to do with self-loops.")  # fmt: skip
@click.option("--dtype", type=click.Choice(("float32", "float16")), default="float32",
              show_default=True, help="Of dense features on disk.")  # fmt: skip
@click.option("--order", type=click.Choice(("auto", "near", "given")), default="auto",
              show_default=True, help="In which nodes are kept.")  # fmt: skip
@click.option("--restart", is_flag=True, help="Throw away what an interrupted one left.")
@threads
@common
def ingest(
    edges: tuple[str, ...],
    out: str,
    nodes: tuple[str, ...],
    features: tuple[str, ...],
    memory: str,
    source_column: str | None,
    target_column: str | None,
    weight_column: str | None,
    id_column: str | None,
    label_column: str | None,
    split_column: str | None,
    columns: str | None,
    header: bool | None,
    delimiter: str | None,
    duplicates: Duplicates,
    self_loops: SelfLoops,
    dtype: Any,
    order: Any,
    restart: bool,
    threads: int | None,
    as_json: bool,
) -> None:
    """Turn EDGES (CSV, also .gz, or Parquet; several files) into a graph on disk.

    They may be larger than memory. A killed ingestion goes on when it is started again; the folder
    appears when it is whole.
    """
    from graphheat.cli import display
    from graphheat.disk import ingest as ingest_files

    began = time.perf_counter()
    with display.progress() as progress:
        graph = ingest_files(
            list(edges),
            out,
            nodes=list(nodes) or None,
            features=list(features) or None,
            memory=memory,
            source_column=source_column,
            target_column=target_column,
            weight_column=weight_column,
            id=id_column,
            label=label_column,
            split=split_column,
            columns=columns.split(",") if columns else None,
            header=header,
            delimiter=delimiter,
            duplicates=duplicates,
            self_loops=self_loops,
            dtype=dtype,
            order=order,
            restart=restart,
            threads=threads,
            progress=progress,
        )
    seconds = time.perf_counter() - began
    print_disk_graph(graph, as_json, seconds=round(seconds, 1), out=out)


def print_disk_graph(graph: Any, as_json: bool, **more: Any) -> None:
    """Print what a disk graph's header counts."""
    from graphheat.cli import display

    counts = {**graph.describe().as_dict(), "bytes_on_disk": graph.bytes_on_disk()}
    if as_json:
        display.print_json({"graph": graph.name, **counts, "notes": graph.notes, **more})
        return
    labels, split = counts.pop("label_counts"), counts.pop("split")
    rows = [[key.replace("_", " "), display.cell_text(v)] for key, v in {**counts, **more}.items()]
    display.table([graph.name, ""], rows)
    if labels:
        display.table(["class", "nodes"], [[k, v] for k, v in labels.items()])
    if split:
        display.table(["split", "nodes"], [[k, v] for k, v in split.items()])
    for note in graph.notes:
        display.say(note)


@click.command()
@graph_source
@click.option("-s", "--s", type=float, default=3.0, show_default=True, help="Diffusion time.")
@click.option("--diffused", type=click.IntRange(min=1),
              help="Columns to diffuse (default: classes, and two).")  # fmt: skip
@click.option("--workers", type=click.IntRange(min=0), default=0, show_default=True,
              help="Machines of a cluster.")  # fmt: skip
@click.option("--memory", help="Of a machine, such as 16GB (default: what is left here).")
@threads
@common
def plan(
    source: dict[str, Any],
    s: float,
    diffused: int | None,
    workers: int,
    memory: str | None,
    threads: int | None,
    as_json: bool,
) -> None:
    """Say what labelling a GRAPH takes in memory, on disk and on a cluster, and choose."""
    import os

    from graphheat.cli import display
    from graphheat.disk.duck_tables import memory_bytes
    from graphheat.linear.work_plan import plan_work

    graph = open_graph(source)
    found = plan_work(
        graph,
        s=s,
        columns=diffused,
        workers=workers,
        threads=threads or os.cpu_count() or 1,
        room=None if memory is None else memory_bytes(memory),
    )
    if as_json:
        display.print_json(found.as_dict())
        return
    display.table(
        ["where", "memory GB", "disk GB", "network GB", "training s", "labelling s", "fits"],
        [
            [way.where, *(round(b / 1e9, 2) for b in (way.memory, way.disk, way.network)),
             round(way.training, 1), round(way.labelling, 1), way.fits]
            for way in found.ways
        ],
        title=f"{found.graph}: {found.columns} columns, {found.order} products, {found.dtype}",
    )  # fmt: skip
    display.say(str(found))
