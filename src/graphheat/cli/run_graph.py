"""A run together with the graph that it was fitted on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from graphheat.cli.options import open_graph

if TYPE_CHECKING:
    from graphheat.graph import Graph
    from graphheat.runs import Run


def graph_of(run: Run, source: dict[str, Any], run_graph: str | None) -> Graph:
    """Return a run's graph: from --graph, or from where the run says it came.

    Parameters
    ----------
    source
        What the command line said: ``graph`` names the run, the rest says how to read --graph.
    run_graph
        What --graph said.
    """
    from graphheat.errors import MissingPathError

    if run_graph is not None:
        return open_graph({**source, "graph": run_graph})
    if len(source) > 1:
        option = next(name for name in source if name != "graph").replace("_", "-")
        raise click.UsageError(f"--{option} tells how to read a graph; name that with --graph.")
    if "graph" not in run.source:
        raise click.UsageError("This run does not say which graph it was fitted on; give --graph.")
    try:
        return open_graph(run.source)
    except MissingPathError as error:
        raise MissingPathError(
            f"The run's graph is not where it was ({run.source['graph']!r}); name it with --graph."
        ) from error
