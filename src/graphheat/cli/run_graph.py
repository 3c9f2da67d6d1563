"""A run together with the graph that it was fitted on, as it was or grown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
import numpy as np

from graphheat.cli.options import open_graph
from graphheat.cli.wording import flag_of

if TYPE_CHECKING:
    from graphheat.graph import Graph
    from graphheat.runs import Run


# How the run's graph was read, as far as that holds for tables of new nodes and edges.
SHARED_OPTIONS = (
    *("id", "label", "title", "missing", "decimal", "source_column", "target_column"),
    *("weight_column", "header", "duplicates", "self_loops"),
)


def shown_graph(run: Run, source: dict[str, Any], run_graph: str | None, edges: str | None) -> Any:
    """Return the graph that a run is asked about: its own, or that one with more nodes and edges.

    --edges, and --nodes without --graph, are of new nodes; with --graph alone the options say how
    to read that.
    """
    if edges is None and (run_graph is not None or "nodes" not in source):
        return graph_of(run, source, run_graph)
    more = {name: source[name] for name in (*SHARED_OPTIONS, "features") if name in source}
    odd = [name for name in source if name not in ("graph", "nodes", *more)]
    if odd:
        raise click.UsageError(
            f"{flag_of(odd[0])} does not go with new nodes: they are read as the run's were."
        )
    given = {"nodes": source.get("nodes"), "edges": edges, **more}
    return grow(run, run_graph, given)[1]


def grow(run: Run, graph: str | None, given: dict[str, Any]) -> tuple[Graph, Graph]:
    """Return the run's graph, and the same with new nodes and edges; say what was taken."""
    from graphheat.cli import display

    how = {} if graph is None else run.source  # that graph elsewhere is read as it was
    base = graph_of(run, {**how, "graph": ""}, graph)
    if base.fingerprint != run.fingerprint:
        display.say(f"{base.name} is not as it was when this run was fitted; its weights stay.")
    options = {name: run.source[name] for name in SHARED_OPTIONS if name in run.source}
    grown = base.extended(**{**options, **given}, new_classes=True)
    if unknown := grown.classes[len(base.classes) :]:
        display.say(f"Labels that the run does not know, left out: {', '.join(map(str, unknown))}.")
    for sentence in (*grown.account, *grown.notes[len(base.notes) :]):
        display.say(sentence)
    new, before, after = grown.n - base.n, base.describe(), grown.describe()
    display.say(
        f"{base.name}: {base.n:,} nodes, and {new:,} new ones with "
        f"{after.edges - before.edges:,} new edges."
    )
    alone = int((np.diff(grown.adjacency.indptr)[base.n :] == 0).sum())
    if alone:
        display.say(f"{alone:,} new nodes have no edge: their features alone label them.")
    return base, grown


def graph_of(run: Run, source: dict[str, Any], run_graph: str | None) -> Any:
    """Return a run's graph: from --graph, or from where the run says it came.

    Parameters
    ----------
    source
        What the command line gave: ``graph`` names the run, the rest says how to read --graph.
    run_graph
        What --graph gave.
    """
    from graphheat.errors import MissingPathError
    from graphheat.linear.disk_run import DiskRun

    if isinstance(run, DiskRun) and run_graph is None:
        return run.graph
    if run_graph is not None:
        return open_graph({**source, "graph": run_graph})
    if len(source) > 1:
        option = flag_of(next(name for name in source if name != "graph"))
        raise click.UsageError(f"{option} tells how to read a graph; name that with --graph.")
    if "graph" not in run.source:
        raise click.UsageError("This run does not say which graph it was fitted on; give --graph.")
    _check_source(run.source)
    try:
        return open_graph(run.source)
    except MissingPathError as error:
        raise MissingPathError(
            f"The run's graph is not where it was ({run.source['graph']!r}); name it with --graph."
        ) from error


def _check_source(source: dict[str, Any]) -> None:
    """Raise where a run says of its graph what no reader understands."""
    from graphheat.errors import CheckpointError
    from graphheat.io.table_options import GraphOptions, option_names

    odd = [name for name in source if name not in ("graph", *option_names(GraphOptions))]
    if odd or not isinstance(source["graph"], str):
        raise CheckpointError(
            "The run does not say as it should where its graph is; name it with --graph."
        )
