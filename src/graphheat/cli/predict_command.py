"""``predict``: the labels of a fitted run."""

from __future__ import annotations

from typing import Any

import click

from graphheat.cli.options import common, threads


@click.command()
@click.argument("run")
@click.option("--graph", metavar="G", help="Another graph with the same features (.npz or name).")
@click.option("--out", metavar="CSV", required=True, help="File for the predictions.")
@threads
@common
def predict(run: str, graph: str | None, out: str, threads: int | None, as_json: bool) -> None:
    """Write the label, confidence and class probabilities of every node of a RUN.

    RUN is a folder that `fit --out` wrote, or a checkpoint in it. It holds the labels of the graph
    that it was fitted on; --graph labels the nodes of another.
    """
    from graphheat.cli import display, run_folder
    from graphheat.cli.options import open_graph
    from graphheat.runs import load_run

    fitted = load_run(run)
    predictions = fitted.predictions()
    if graph is not None:
        other = open_graph({"graph": graph})
        predictions = fitted.predict(other, threads=threads)
        if other.fingerprint != fitted.fingerprint:
            display.say(f"{other.name} is not the graph of this run: its nodes are new to it.")
    frame = predictions.frame()
    run_folder.write_csv(out, frame)
    result: dict[str, Any] = {
        "nodes": len(frame),
        "mean_confidence": float(frame["confidence"].mean()),
        "predicted": {str(k): int(v) for k, v in frame["predicted"].value_counts().items()},
        "out": out,
    }
    if as_json:
        display.print_json(result)
        return
    display.table(["class", "nodes"], [[k, v] for k, v in result["predicted"].items()])
    display.say(f"Labels of {result['nodes']:,} nodes: {out}")
