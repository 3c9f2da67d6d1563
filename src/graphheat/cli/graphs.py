"""``datasets`` and ``info``: graphs, counted."""

from __future__ import annotations

from typing import Any

import click

from graphheat.cli.options import common, graph_source, open_graph


@click.command()
@common
def datasets(as_json: bool) -> None:
    """List the graphs that come with the package, with the paper's counts beside ours.

    The paper counts the edges of the raw files, which hold repeats and self-loops.
    """
    from graphheat import datasets as bundled
    from graphheat.cli import display

    entries: list[dict[str, Any]] = []
    for name in bundled.names():
        info, counted = bundled.info(name), bundled.load(name).describe()
        entries.append(
            {
                "name": name,
                "title": info.title,
                "source": info.source,
                "nodes": counted.nodes,
                "edges": counted.edges,
                "paper_edges": info.paper.edges if info.paper else None,
                "classes": len(counted.label_counts),
                "features": counted.features,
                "train_labels": counted.split.get("train", 0),
                "homophily": counted.homophily,
            }
        )
    if as_json:
        display.print_json({"datasets": entries})
        return
    shown = [key for key in entries[0] if key not in ("title", "source")]
    display.table(
        [key.replace("_", " ") for key in shown], [[e[key] for key in shown] for e in entries]
    )
    for entry in entries:
        display.out.print(f"{entry['title']} ({entry['source']})", highlight=False)


@click.command()
@graph_source
@common
def info(source: dict[str, Any], as_json: bool) -> None:
    """Count a GRAPH: nodes, edges, components, isolated nodes, labels, homophily."""
    from graphheat.cli import display

    graph = open_graph(source)
    counts = graph.describe().as_dict()
    if as_json:
        display.print_json({"graph": graph.name, **counts})
        return
    labels, split = counts.pop("label_counts"), counts.pop("split")
    rows = [[key.replace("_", " "), display.cell_text(value)] for key, value in counts.items()]
    display.table([graph.name, ""], rows)
    if labels:
        display.table(["class", "nodes"], [[k, v] for k, v in labels.items()])
    if split:
        display.table(["split", "nodes"], [[k, v] for k, v in split.items()])
    if counts["self_loops"]:
        display.say("Self-loops are kept; --self-loops drop removes them.")
    if counts["isolated"]:
        display.say(
            f"{counts['isolated']:,} nodes have no edge: heat neither leaves nor reaches them."
        )
