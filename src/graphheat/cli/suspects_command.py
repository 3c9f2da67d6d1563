"""``suspects``: known labels that the others contradict."""

from __future__ import annotations

from typing import Any

import click

from graphheat.cli.options import claim, common, graph_source, open_graph, safe_csv, threads


@click.command()
@graph_source
@click.option("--parts", default="train", show_default=True, metavar="P,P",
              help="Parts of the split whose labels are judged.")  # fmt: skip
@click.option("--limit", type=click.IntRange(min=0), default=20, show_default=True,
              help="Labels to show; --out and --json give all.")  # fmt: skip
@click.option("--out", metavar="CSV", help="File for all labels, the most doubtful first.")
@safe_csv
@threads
@common
def suspects(
    source: dict[str, Any],
    parts: str,
    limit: int,
    out: str | None,
    safe_csv: bool,
    threads: int | None,
    as_json: bool,
) -> None:
    """Show the known labels of GRAPH that heat from the other labels contradicts.

    Each label is left out in turn and asked of the others, by heat and, where there are features,
    by a linear model on diffused features. The margin is log p(suggested) − log p(label); a label
    looks wrong where that is more likely than not, at the share of wrong labels that is estimated.
    """
    from graphheat.cli import display, run_folder
    from graphheat.io import check_writable
    from graphheat.linear.suspects import suspects as find

    claim(out)
    graph = open_graph(source)
    if out is not None:
        check_writable(out)  # now it is known what was read
    found = find(graph, parts=[name.strip() for name in parts.split(",")], threads=threads)
    frame = found.frame()
    if out is not None:
        run_folder.write_csv(out, frame, safe=safe_csv)
    rows = frame.to_dict("records")
    if as_json:
        summary = {"labels": len(rows) + found.alone, "look_wrong": found.count}
        more = {"contradicted": found.contradicted, "estimated_share": found.noise}
        display.print_json({"graph": graph.name, **summary, **more, "out": out, "suspects": rows})
        return
    shown = list(frame.columns)
    if graph.titles is None:
        shown.remove("title")
    rows = [row for row in rows if row["margin"] > 0][:limit]
    if rows:
        display.table(
            [name.replace("p_wrong", "p wrong") for name in shown],
            [[str(row[key]) if key == "node" else row[key] for key in shown] for row in rows],
            title=f"Labels of {graph.name} that the others contradict",
        )
    text = f"{found.sentence} The others contradict {found.contradicted:,}"
    hidden = found.contradicted - len(rows)
    text += f" ({hidden:,} not shown)." if hidden else "."
    display.out.print(text, highlight=False, markup=False, soft_wrap=True)
    if found.alone:
        display.say(f"Not judged, as the only ones of their class: {found.alone:,} labels.")
    if out is not None:
        display.say(f"All {len(frame):,} labels, the most doubtful first: {out}")
