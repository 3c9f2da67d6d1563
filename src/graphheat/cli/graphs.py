"""``datasets`` and ``info``: graphs, counted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from graphheat.cli.options import common, graph_source, open_graph

if TYPE_CHECKING:
    from graphheat.suitability import Suitability

MOST_COLUMNS = 40  # of a node table, in the overview


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
    """Count a GRAPH (nodes, edges, components, labels) and tell whether heat will help on it.

    The second from the labels of training and validation alone: how often edges join equal ones,
    and how smooth they are over the graph, against the same with the labels shuffled. Columns of
    a node table are shown with the kind that each was given; --kind changes it.
    """
    from graphheat.cli import display
    from graphheat.cli.ingest_command import print_disk_graph
    from graphheat.disk import DiskGraph
    from graphheat.linear.suspects import quick_suspects, takes_long
    from graphheat.suitability import suitability

    graph = open_graph(source)
    if isinstance(graph, DiskGraph):
        print_disk_graph(graph, as_json)
        return
    counts = graph.describe().as_dict()
    suits, suspects = suitability(graph), quick_suspects(graph)
    columns = [] if graph.schema is None else graph.schema.frame().to_dict("records")
    if as_json:
        doubtful = None if suspects is None else suspects.count
        report = {**counts, "suitability": suits.as_dict(), "labels_that_look_wrong": doubtful}
        read = {"columns": columns, "account": graph.account, "notes": graph.notes}
        display.print_json({"graph": graph.name, **report, **read})
        return
    labels, split = counts.pop("label_counts"), counts.pop("split")
    rows = [[key.replace("_", " "), display.cell_text(value)] for key, value in counts.items()]
    display.table([graph.name, ""], rows)
    if columns:
        display.table(list(columns[0]), [list(row.values()) for row in columns[:MOST_COLUMNS]])
        if len(columns) > MOST_COLUMNS:
            display.out.print(f"… and {len(columns) - MOST_COLUMNS:,} more columns")
    if labels:
        display.table(["class", "nodes"], [[k, v] for k, v in labels.items()])
    if split:
        display.table(["split", "nodes"], [[k, v] for k, v in split.items()])
    if labels:
        _print_suitability(suits)
    more = " …" if len(source) > 1 else ""
    text = None
    if suspects is not None and suspects.count:
        text = f"{suspects.sentence[:-1]}: graphheat suspects {source['graph']}{more}"
    elif labels and graph.label_sets is None and takes_long(graph):
        text = f"Wrong labels take a while to find here: graphheat suspects {source['graph']}{more}"
    if text is not None:
        display.out.print(text, highlight=False, markup=False, soft_wrap=True)
    if counts["self_loops"]:
        display.say("Self-loops are kept; --self-loops drop removes them.")
    if counts["isolated"]:
        display.say(
            f"{counts['isolated']:,} nodes have no edge: heat neither leaves nor reaches them."
        )


def _print_suitability(suits: Suitability) -> None:
    from graphheat.cli import display

    measures = [
        ["homophily", suits.homophily, suits.homophily_by_chance],
        ["smoothness (lower is smoother)", suits.smoothness, suits.smoothness_by_chance],
        ["heat from the same class", suits.heat, suits.heat_by_chance],
    ]
    rows = [row for row in measures if row[1] is not None]
    if rows:
        display.table(["known labels", "here", "by chance"], rows)
    display.out.print(suits.sentence, highlight=False, markup=False, soft_wrap=True)
