"""``predict``: the labels of a fitted run, for its nodes, another graph's or new ones."""

from __future__ import annotations

from typing import Any

import click

from graphheat.cli.options import claim, common, safe_csv, threads

MOST_ROWS = 20  # of labels that are printed


@click.command()
@click.argument("run")
@click.option("--graph", metavar="G", help="Another graph with the same features (.npz or name).")
@click.option("--nodes", metavar="T", help="Table of new nodes, with the columns of the old ones.")
@click.option("--edges", metavar="E", help="Edges of the new nodes, among them and to old ones.")
@click.option("--features", metavar="F", help="More features of the new nodes, as in fitting.")
@click.option("--out", metavar="CSV", help="File for the predictions.")
@safe_csv
@threads
@common
def predict(
    run: str,
    graph: str | None,
    nodes: str | None,
    edges: str | None,
    features: str | None,
    out: str | None,
    safe_csv: bool,
    threads: int | None,
    as_json: bool,
) -> None:
    """Write the label, confidence and class probabilities of every node of a RUN.

    RUN is a folder that `fit --out` wrote, or a checkpoint in it. It holds the labels of the graph
    that it was fitted on; --graph labels the nodes of another. --nodes and --edges label new nodes
    of the run's own graph (--graph says where it is now), without a new fit.
    """
    from graphheat.cli import display, run_folder
    from graphheat.cli.disk_commands import predict_disk
    from graphheat.cli.options import open_graph
    from graphheat.cli.run_graph import grow
    from graphheat.linear.disk_run import DiskRun
    from graphheat.runs import load_run

    if nodes is None and (edges is not None or features is not None):
        option = "--features" if edges is None else "--edges"
        raise click.UsageError(f"{option} goes with --nodes, a table of the new nodes.")
    if nodes is None and out is None:
        raise click.UsageError("Missing option '--out'.")
    claim(out)
    fitted = load_run(run)
    if isinstance(fitted, DiskRun):
        if out is None or nodes is not None or graph is not None:
            raise click.UsageError("A run on a graph on disk labels that graph; give --out alone.")
        predict_disk(fitted, out, as_json)
        return
    new = 0
    if nodes is not None:
        given = {"edges": edges, "nodes": nodes, "features": features}
        base, grown = grow(fitted, graph, given)
        new = grown.n - base.n
        predictions = fitted.predict(grown, nodes=grown.nodes[base.n :].tolist(), threads=threads)
    elif graph is not None:
        other = open_graph({"graph": graph})
        predictions = fitted.predict(other, threads=threads)
        if other.fingerprint != fitted.fingerprint:
            display.say(f"{other.name} is not the graph of this run: its nodes are new to it.")
    else:
        predictions = fitted.predictions()
    for note in predictions.notes:
        display.say(note)
    frame = predictions.frame()
    if out is not None:
        run_folder.write_csv(out, frame, safe=safe_csv)
    result: dict[str, Any] = {
        "nodes": len(frame),
        "mean_confidence": float(frame["confidence"].mean()),
        "predicted": {str(k): int(v) for k, v in frame["predicted"].value_counts().items()},
        "out": out,
    }
    if new:
        result["new_nodes"] = new
    if as_json:
        if out is None:
            result["labels"] = dict(zip(map(str, frame["node"]), frame["predicted"], strict=True))
        display.print_json(result)
        return
    display.table(["class", "nodes"], [[k, v] for k, v in result["predicted"].items()])
    if out is None:
        shown = frame[["node", "predicted", "confidence"]].head(MOST_ROWS)
        rows = shown.astype({"node": str}).to_numpy(dtype=object).tolist()
        display.table(list(shown), rows)
        more = f"; the first {MOST_ROWS} are shown, --out writes all" if new > MOST_ROWS else ""
        display.say(f"{new:,} new nodes labelled{more}.")
        return
    kind = "new nodes" if new else "nodes"
    display.say(f"Labels of {result['nodes']:,} {kind}: {out}")
