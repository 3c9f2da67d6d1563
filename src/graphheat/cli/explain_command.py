"""``explain``: why a node got its label."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from graphheat.cli.options import claim, common, graph_source, threads

if TYPE_CHECKING:
    from graphheat.explain import Explanation
    from graphheat.graph import Graph

PICTURES = (".png", ".svg", ".pdf")


@click.command()
@partial(graph_source, metavar="RUN")
@click.argument("node")
@click.option("--label", "explained", metavar="L", help="Class to explain (default: predicted).")
@click.option("--limit", type=click.IntRange(min=0), default=10, show_default=True,
              help="Sources to show; --json gives all.")  # fmt: skip
@click.option("--out", metavar="PNG", help="File for a picture (.png, .svg, .pdf).")
@click.option("--graph", "run_graph", metavar="G", help="The run's graph, if it is elsewhere now.")
@click.option("--edges", metavar="E", help="Edges of new nodes, which --nodes then has.")
@threads
@common
def explain(
    source: dict[str, Any],
    node: str,
    explained: str | None,
    limit: int,
    out: str | None,
    run_graph: str | None,
    edges: str | None,
    threads: int | None,
    as_json: bool,
) -> None:
    """Say why NODE got its label: what the features of each source node gave to its logit.

    RUN is a folder that `fit --out` wrote, or a checkpoint in it. Contributions and constant sum
    to the logit. --nodes and --edges add new nodes to the run's graph, as for `predict`.
    """
    from graphheat.cli import display
    from graphheat.cli.run_graph import shown_graph
    from graphheat.runs import load_run

    if out is not None and Path(out).suffix.lower() not in PICTURES:
        raise click.UsageError(f"--out takes a picture ({', '.join(PICTURES)}); got {out!r}.")
    claim(out)
    run = load_run(source["graph"])
    if len(source) == 1 and run_graph is None and edges is None:
        run.index_of(node)  # a mistyped name is reported at once, before the graph is read
    graph = shown_graph(run, source, run_graph, edges)
    node = graph.nodes[graph.index_of(node)]
    # A shell's words are text; the run's classes may be numbers.
    label = next((name for name in run.classes if str(name) == explained), explained)
    found = run.explainer(graph, threads=threads).explain(node, label=label)
    if out is not None:
        from graphheat import plot

        plot.save(plot.explanation(found, graph), out)
    if as_json:
        display.print_json({**_as_dict(found, graph), "out": out})
        return
    _print(found, limit)
    if out is not None:
        display.say(f"Picture: {out}")


def _as_dict(found: Explanation, graph: Graph) -> dict[str, Any]:
    without = found.without_largest
    return {
        "graph": graph.name,
        "node": found.node,
        "label": found.label,
        "predicted": found.predicted,
        "probability": found.probability,
        "logit": found.logit,
        "constant": found.constant,
        "by_hop": {str(hop): given for hop, given in found.by_hop().items()},
        "without_largest": None
        if without is None
        else {
            "removed": list(without.removed),
            "label": without.label,
            "probability": without.probability,
        },
        "features": found.features().to_dict("records"),
        "labels": found.labels().to_dict("records"),
        "sources": found.table().to_dict("records"),
    }


def _print(found: Explanation, limit: int) -> None:
    from graphheat.cli import display

    plain: dict[str, Any] = {"highlight": False, "markup": False, "soft_wrap": True}
    display.out.print(found.headline(), style="bold", **plain)
    columns = ["source", "contribution", "hops", "training"]
    rows = [
        [found.name_of(index), f"{given:+.4f}", int(hops), bool(training)]
        for index, given, hops, training in zip(
            found.sources[:limit], found.contributions, found.hops, found.training, strict=False
        )
    ]
    display.table(columns, rows)
    more = len(found.sources) - len(rows)
    if more > 0:
        rest = found.contributions[len(rows) :].sum()
        display.out.print(f"{rest:+.4f} from {more:,} other sources", **plain)
    hops = ", ".join(f"{_where(hop)} {given:+.3f}" for hop, given in found.by_hop().items())
    display.out.print(f"By distance: {hops}.", **plain)
    for sentence in found.sentences():
        display.out.print(sentence, **plain)


def _where(hop: int) -> str:
    return {-1: "without a path", 0: "itself", 1: "1 hop"}.get(hop, f"{hop} hops")
