"""``paper``: the paper's tables, figures and claims, and the runs behind them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from graphheat.cli.options import common

if TYPE_CHECKING:
    import pandas

    from graphheat.paper.store import Store
    from graphheat.paper.task import Task

STORE = "runs.sqlite"


def _names(ctx: click.Context, param: click.Parameter, value: str | None) -> list[str] | None:
    return value.split(",") if value else None


results = click.option(
    "--results",
    metavar="FILE",
    help="Runs to read: a store, or its CSV export (default: paper/runs.sqlite where it exists, "
    "otherwise the runs that come with graphheat).",
)
folder = click.option(
    "--out", metavar="DIR", default="paper", show_default=True, help="Folder for what is made."
)


@click.group()
def paper() -> None:
    """Check the paper: its tables, figures and claims, each with a number.

    Tables and claims read the runs that come with graphheat; `paper all` makes them anew.
    """


@paper.command()
@common
def table1(as_json: bool) -> None:
    """Count the three data sets, beside the paper's counts."""
    from graphheat.cli import display
    from graphheat.paper import tables

    frame = tables.table1()
    if as_json:
        display.print_json({"table1": frame.to_dict("records")})
        return
    rows = [[row.graph, row.count, row.paper, row.counted] for row in frame.itertuples()]
    display.table(["data set", "count", "the paper", "counted"], _plain(frame, rows))
    display.say(
        "The paper counts the edges of the raw files, with repeats and self-loops; here each "
        "undirected edge counts once."
    )


@paper.command()
@results
@click.option("--rows", callback=_names, metavar="R,R", help="Only these rows of Table 2.")
@common
def table2(results: str | None, rows: list[str] | None, as_json: bool) -> None:
    """Show every recipe on every data set, the paper's figure beside ours."""
    from graphheat.cli import display
    from graphheat.paper import tables
    from graphheat.paper.rows import GRAPHS, row_named

    for key in rows or []:
        row_named(key)
    cells = tables.table2(read(results), rows)
    if as_json:
        display.print_json(
            {
                "table2": [
                    {
                        "row": cell.row.key,
                        "graph": cell.graph,
                        "published": cell.published,
                        "runs": cell.n,
                        "mean": cell.mean,
                        "std": cell.std,
                        "seconds": cell.seconds,
                        "gap": cell.gap,
                        "p": cell.p,
                    }
                    for cell in cells
                ]
            }
        )
        return
    for graph in GRAPHS:
        display.table(tables.TABLE2_COLUMNS, tables.table2_lines(cells, graph), title=graph)
        display.out.print()
    display.say(
        "Test accuracy in per cent, mean ± std (runs). (Figures in brackets) are not the paper's "
        "own. p: paired t-test against GraphHeat over common seeds. Seconds: median per run."
    )


@paper.command()
@common
def table3(as_json: bool) -> None:
    """Show how far heat reaches from the paper's seven nodes of Cora."""
    from graphheat.cli import display
    from graphheat.paper import tables

    frame = tables.table3()
    if as_json:
        display.print_json({"table3": frame.to_dict("records")})
        return
    display.table(
        ["node", "range, the paper", "range", "maximum range, the paper", "maximum range"],
        [[int(value) for value in row] for row in frame.to_numpy()],
    )


@paper.command()
@results
@click.option("--export", "export", metavar="CSV", help="Write every run to a CSV file.")
@common
def runs(results: str | None, export: str | None, as_json: bool) -> None:
    """List the runs that there are, or export them."""
    from graphheat.cli import display

    path = results_path(results)
    frame = read(results)
    counts = frame.groupby(["row", "graph"], sort=False).agg(
        runs=("seed", "size"), seconds=("seconds", "sum"), last=("started", "max")
    )
    listed = [
        {"row": row, "graph": graph, "runs": int(each.runs), "seconds": float(each.seconds),
         "last": each.last}
        for (row, graph), each in counts.iterrows()
    ]  # fmt: skip
    if export is not None:
        from graphheat.paper.store import write_runs

        write_runs(frame, export)
        display.say(f"{len(frame):,} runs: {export}")
    if as_json:
        display.print_json({"results": str(path), "total": len(frame), "runs": listed})
        return
    display.table(
        ["row", "data set", "runs", "seconds", "last"],
        [[each["row"], each["graph"], each["runs"], round(each["seconds"], 1), each["last"]]
         for each in listed],
        title=f"{len(frame):,} runs in {path}",
    )  # fmt: skip


@paper.command()
@results
@folder
@common
def figures(results: str | None, out: str, as_json: bool) -> None:
    """Draw the paper's five figures: SVG, PNG and their data as CSV."""
    from graphheat.cli import display
    from graphheat.paper.report import draw_figures, example_network

    target, runs = claim_folder(out), read(results)
    network = example_network(say=display.say)
    written = draw_figures(runs, target, network=network, say=display.say)
    if as_json:
        display.print_json({"figures": [str(path) for path in written]})
        return
    display.say(f"{len(written)} files in {target}")


@paper.command()
@results
@folder
@common
def page(results: str | None, out: str, as_json: bool) -> None:
    """Write the page of results with its figures, from the runs there are."""
    from graphheat.cli import display
    from graphheat.paper.report import write_report

    target = claim_folder(out)
    written = write_report(read(results), target, say=display.say)
    if as_json:
        display.print_json({"files": [str(path) for path in written]})
        return
    display.say(f"Results: {target}/results.md")


@paper.command()
@results
@common
def claims(results: str | None, as_json: bool) -> None:
    """Set each claim of the paper beside a number that bears it out or not."""
    from graphheat.cli import display
    from graphheat.paper.report import check_claims, example_network

    runs = read(results)
    network = example_network(say=display.say)
    found = check_claims(runs, network=network, say=display.say)
    if as_json:
        from dataclasses import asdict

        display.print_json({"claims": [asdict(claim) for claim in found]})
        return
    plain: dict[str, Any] = {"highlight": False, "markup": False}
    for claim in found:
        # Texts hold brackets, which are not meant as markup.
        display.out.print(f"{claim.section}  {claim.text}", style="bold", **plain)
        display.out.print(f"   {claim.verdict}: {claim.numbers}", **plain)
        if claim.detail:
            display.out.print(f"   {claim.detail}", style="dim", **plain)


@paper.command("all")
@click.option("--seeds", type=click.IntRange(min=1), default=20, show_default=True, metavar="N",
              help="Runs of each recipe that depends on chance.")  # fmt: skip
@click.option("--jobs", type=click.IntRange(min=1), default=2, show_default=True,
              help="Processes of one thread each.")  # fmt: skip
@click.option("--rows", callback=_names, metavar="R,R", help="Only these rows of Table 2.")
@click.option("--graphs", callback=_names, metavar="G,G", help="Only these data sets.")
@click.option("--from", "start", metavar="FILE", help="Runs to start from: a store or its CSV.")
@click.option("--short", is_flag=True, help="A moment of each: does everything run?")
@folder
@common
def everything(
    seeds: int,
    jobs: int,
    rows: list[str] | None,
    graphs: list[str] | None,
    start: str | None,
    short: bool,
    out: str,
    as_json: bool,
) -> None:
    """Make every run, table, figure and claim, and a page of results.

    Started again, it makes only the runs that are missing.
    """
    from graphheat.cli import display
    from graphheat.paper import profile, report
    from graphheat.paper.rows import GRAPHS, row_named
    from graphheat.paper.store import Store, read_runs

    for key in rows or []:
        row_named(key)
    for graph in graphs or []:
        if graph not in GRAPHS:
            raise click.UsageError(f"--graphs takes {', '.join(GRAPHS)}; got {graph!r}.")
    target = claim_folder(out)
    store = Store(target / STORE)
    if start is not None:
        display.say(f"{store.take(read_runs(start)):,} runs taken from {start}")
    changes: dict[str, dict[str, Any]] = {}
    if short:
        tasks, changes = profile.short(rows, graphs or GRAPHS)
    else:
        tasks = profile.full(seeds, rows, graphs or GRAPHS)
    _sweep(store, tasks, jobs)
    written = report.write_report(store.runs(), target, changes=changes, say=display.say)
    failures = store.failures()
    if as_json:
        display.print_json(
            {
                "runs": len(store.runs()),
                "files": [str(path) for path in written],
                "failures": [list(each) for each in failures],
            }
        )
    for row, graph, seed, message in failures:
        display.say(f"Failed: {row} on {graph}, seed {seed}: {message}")
    display.say(f"Results: {target}/results.md")
    if failures:
        raise click.exceptions.Exit(1)


def _sweep(store: Store, tasks: list[Task], jobs: int) -> None:
    from graphheat.cli import display
    from graphheat.paper.sweep import sweep

    there = len(tasks) - len(store.missing(tasks))
    display.say(f"{len(tasks):,} runs, {there:,} of them made already, {jobs} processes")
    with display.progress() as progress:
        sweep(store, tasks, jobs=jobs, progress=progress)


def claim_folder(out: str) -> Path:
    """Hold a folder to the command's end, or raise with who holds it."""
    from graphheat.cli.run_folder import LOCK, make_folder
    from graphheat.io.file_lock import locked

    target = make_folder(out)
    click.get_current_context().with_resource(locked(target / LOCK, target))
    return target


def results_path(given: str | None) -> Path:
    """Return the file of runs to read."""
    from graphheat.paper.store import committed_runs

    if given is not None:
        return Path(given)
    own = Path("paper") / STORE
    return own if own.is_file() else committed_runs()


def read(given: str | None) -> pandas.DataFrame:
    """Read the runs to show."""
    from graphheat.paper.store import read_runs

    return read_runs(results_path(given))


def _plain(frame: pandas.DataFrame, rows: list[list[Any]]) -> list[list[Any]]:
    """Show whole numbers as such; a column of counts and one rate is of floats."""
    return [
        [int(cell) if isinstance(cell, float) and cell.is_integer() else cell for cell in row]
        for row in rows
    ]
