"""``export``: a fitted run as a file that runs without graphheat."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import click

from graphheat.cli.options import claim, common, graph_source, threads


@click.command()
@partial(graph_source, metavar="RUN")
@click.option("--out", metavar="ONNX", required=True, help="File for the model (.onnx).")
@click.option("--graph", "run_graph", metavar="G", help="The run's graph, if it is elsewhere now.")
@click.option("--edges", metavar="E", help="Edges of new nodes, which --nodes then has.")
@threads
@common
def export(
    source: dict[str, Any],
    out: str,
    run_graph: str | None,
    edges: str | None,
    threads: int | None,
    as_json: bool,
) -> None:
    """Write a RUN as an ONNX model: features of its nodes in, class probabilities out.

    RUN is a folder that `fit --out` wrote, or a checkpoint in it. The graph's edges are part of the
    file. --nodes and --edges add new nodes to the run's graph, as for `predict`.
    """
    from graphheat.cli import display
    from graphheat.cli.run_graph import shown_graph
    from graphheat.runs import load_run

    if Path(out).suffix.lower() != ".onnx":
        raise click.UsageError(f"--out takes a file that ends in .onnx; got {out!r}.")
    claim(out)
    run = load_run(source["graph"])
    graph = shown_graph(run, source, run_graph, edges)
    run.to_onnx(out, graph, threads=threads)
    result = {"nodes": graph.n, "classes": len(run.classes), "out": out,
              "bytes": Path(out).stat().st_size}  # fmt: skip
    if as_json:
        display.print_json(result)
        return
    display.say(
        f"{run.recipe} on {graph.name}: {graph.n:,} nodes, {len(run.classes)} classes, "
        f"{result['bytes'] / 1e6:.1f} MB: {out}"
    )
