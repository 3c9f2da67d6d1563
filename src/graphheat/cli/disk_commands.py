"""What commands do differently when GRAPH is a graph on disk."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from graphheat.disk import DiskGraph
    from graphheat.linear.disk_run import DiskRun

MOST_PAGE = 2000  # nodes of a page around chosen ones


def fit_disk(
    graph: DiskGraph,
    recipe: str,
    changes: dict[str, Any],
    *,
    seed: int,
    out: str | None,
    resume: bool,
    force: bool,
    threads: int | None,
    source: dict[str, Any],
    cluster: str | None,
    as_json: bool,
) -> None:
    """Fit, label all nodes, and stream the labels to ``predictions.parquet``."""
    from contextlib import nullcontext

    from graphheat.cli import display, run_folder
    from graphheat.recipes.disk_fit import fit_on_disk
    from graphheat.runs.checkpoint import FILENAME

    folder = None
    if out is not None:
        claimed = run_folder.claimed_folder(out, several=False, resume=resume, force=force)
        folder = click.get_current_context().with_resource(claimed)
        run_folder.clear(folder, keep_runs=not force)
    opened: Any = nullcontext()
    if cluster is not None:
        from graphheat.heat.engines.cluster.cluster import open_cluster

        opened = open_cluster(cluster, folder)
    with opened as executor, display.progress() as progress:
        run = fit_on_disk(
            graph,
            recipe,
            seed=seed,
            threads=threads,
            checkpoint=None if folder is None else folder / FILENAME,
            resume=resume,
            progress=progress,
            source=source,
            cluster=executor,
            **changes,
        )
        if folder is not None:
            run.write_predictions(folder / "predictions.parquet", progress=progress)
    for note in run.notes:
        display.say(note)
    summary = {
        "graph": run.name,
        "recipe": run.recipe,
        "settings": run.settings_dict(),
        "test_accuracy": run.test_accuracy,
        "val_accuracy": run.val_accuracy,
        "seconds": round(run.seconds, 1),
        "out": out,
    }
    if folder is not None:
        run_folder.write_metrics(folder, summary)
    if as_json:
        display.print_json(summary)
        return
    shown = {k: v for k, v in summary.items() if k not in ("settings", "out")}
    rows = [[key.replace("_", " "), display.cell_text(value)] for key, value in shown.items()]
    display.table(["fit", ""], rows)
    display.say(
        "Nothing was kept; --out DIR writes the labels and the model."
        if folder is None
        else f"Labels of every node: {folder / 'predictions.parquet'}"
    )


def predict_disk(run: DiskRun, out: str, as_json: bool) -> None:
    """Stream the labels of a run to a file."""
    from graphheat.cli import display

    with display.progress() as progress:
        run.write_predictions(out, progress=progress)
    result = {"nodes": run.graph.n, "out": out}
    if as_json:
        display.print_json(result)
        return
    display.say(f"Labels of {run.graph.n:,} nodes: {out}")


def page_part(graph: DiskGraph, around: tuple[str, ...], s: float) -> Any:
    """Return the part of a graph around some nodes, in memory, and a sentence about it."""
    import numpy as np

    from graphheat.linear.heat_rows import HeatRows

    if not around:
        raise click.UsageError(
            f"{graph.name} is on disk; name the nodes to show the part around with --around."
        )
    chosen = np.unique([graph.index_of(node) for node in around])
    rows = HeatRows(graph).of(chosen, max(s, 1.0)).rows
    by_heat = np.argsort(-rows.data, kind="stable")
    _, first = np.unique(rows.indices[by_heat], return_index=True)
    near = rows.indices[by_heat][np.sort(first)][:MOST_PAGE]
    members = np.unique(np.concatenate([chosen, near]))
    note = (
        f"A part of a larger graph: {len(members):,} of {graph.n:,} nodes, those that most heat "
        f"from {', '.join(around[:3])} reaches. Edges that leave the part are left out."
    )
    return graph.subgraph(members), note


def is_disk_graph(name: str) -> bool:
    """Tell whether a path is a folder that ``ingest`` made."""
    from graphheat.disk.array_folder import HEADER
    from graphheat.io.archive import exists

    return exists(Path(name) / HEADER) or name.rstrip("/").endswith(".graph")
