"""``kernel`` and ``neighbors``: e^{-sL}, and whom it reaches."""

from __future__ import annotations

import time
from typing import Any

import click

from graphheat.cli.options import claim, common, graph_source, open_graph, threads


@click.command()
@graph_source
@click.option("-s", "--s", type=float, required=True, help="Diffusion time.")
@click.option("--eps", type=float, default=1e-4, show_default=True, help="Threshold in [0, 1).")
@click.option("--tol", type=float, default=1e-6, show_default=True, help="Accuracy of an entry.")
@click.option("--out", metavar="K.npz", help="File for the matrix (SciPy's sparse npz).")
@click.option("--plan", "plan_only", is_flag=True, help="Say what it would take, and stop.")
@threads
@common
def kernel(
    source: dict[str, Any],
    s: float,
    eps: float,
    tol: float,
    out: str | None,
    plan_only: bool,
    threads: int | None,
    as_json: bool,
) -> None:
    """Compute the heat kernel e^{-sL} of a GRAPH, entries of at least eps, and save it."""
    import scipy.sparse as sp

    from graphheat.cli import display
    from graphheat.heat import HeatKernel
    from graphheat.io import check_writable, replacing

    claim(None if plan_only else out)
    graph = open_graph(source)
    heat = HeatKernel(graph, s, tol=tol, threads=threads)
    plan = heat.plan(eps)
    result: dict[str, Any] = {"graph": graph.name, "s": s, "eps": eps, "plan": plan.as_dict()}
    if not plan_only:
        if out is None:
            raise click.UsageError("Name a file with --out K.npz, or ask for the --plan alone.")
        if not out.endswith(".npz"):
            raise click.UsageError(f"--out must end in .npz; got {out!r}.")
        check_writable(out)
        started = time.perf_counter()
        with display.progress() as progress:
            matrix = heat.matrix(eps, progress=progress)
        result |= {"entries": int(matrix.nnz), "seconds": time.perf_counter() - started}
        with replacing(out) as aside:
            sp.save_npz(aside, matrix)
        result["out"] = out
    if as_json:
        display.print_json(result)
        return
    rows = [[key.replace("_", " "), display.cell_text(value)] for key, value in
            {**plan.as_dict(), **result}.items() if key != "plan"]  # fmt: skip
    display.table(["kernel", ""], rows)


@click.command()
@graph_source
@click.argument("node")
@click.option("-s", "--s", type=float, default=3.0, show_default=True, help="Diffusion time.")
@click.option("--eps", type=float, default=1e-4, show_default=True, help="Threshold in [0, 1).")
@click.option("--limit", type=click.IntRange(min=0), default=20, show_default=True,
              help="Neighbours to show; --json gives all.")  # fmt: skip
@common
def neighbors(
    source: dict[str, Any], node: str, s: float, eps: float, limit: int, as_json: bool
) -> None:
    """Show the nodes of GRAPH that at least eps of NODE's heat reaches, heaviest first."""
    from graphheat.cli import display
    from graphheat.heat import neighborhood

    graph = open_graph(source)
    near = neighborhood(graph, graph.index_of(node), s, eps)

    def describe(index: int) -> dict[str, Any]:
        label = graph.labels[index]
        return {
            "node": graph.nodes[index].item() if hasattr(graph.nodes[index], "item")
            else graph.nodes[index],
            "class": graph.classes[label] if label >= 0 else None,
            "title": graph.titles[index] if graph.titles is not None else None,
        }  # fmt: skip

    found = [
        {**describe(int(index)), "weight": float(weight), "hops": int(hops)}
        for index, weight, hops in zip(near.neighbors, near.weights, near.hops, strict=True)
    ]
    if as_json:
        display.print_json(
            {
                "graph": graph.name,
                **describe(near.index),
                "s": s,
                "eps": eps,
                "self_weight": near.self_weight,
                "range": near.range,
                "max_range": near.max_range,
                "neighbors": found,
            }
        )
        return
    print_neighbors(describe(near.index), near, found[:limit])


def print_neighbors(source: dict[str, Any], near: Any, found: list[dict[str, Any]]) -> None:
    """Print a neighbourhood as a table, with the paper's ranges below it."""
    from graphheat.cli import display

    shown = ["node", "weight", "hops", "class", "title"]
    if all(entry["title"] is None for entry in found):
        shown.remove("title")
    label = f", {source['class']}" if source["class"] is not None else ""
    display.table(
        shown,
        [[str(entry[key]) if key == "node" else entry[key] for key in shown] for entry in found],
        title=f"Heat from node {source['node']}{label} (s = {near.s:g}, eps = {near.eps:g})",
    )
    more = len(near.neighbors) - len(found)
    display.out.print(
        f"{len(near.neighbors):,} neighbours{f' ({more:,} not shown)' if more else ''}, up to "
        f"{near.range} hops away of {near.max_range} possible; "
        f"{near.self_weight:.4f} of the heat stays.",
        highlight=False,
    )
