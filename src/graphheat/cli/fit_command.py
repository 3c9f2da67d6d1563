"""``fit``: train on a graph, once or over seeds."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from graphheat.cli.options import (
    EpsType,
    SettingType,
    TimeType,
    common,
    graph_source,
    open_graph,
    safe_csv,
    threads,
)

if TYPE_CHECKING:
    from graphheat.runs import Run


@click.command()
@graph_source
@click.option("--recipe", default="auto", show_default=True,
              help="auto, spreading, linear, ensemble, paper, …, gcn, lp, …")  # fmt: skip
@click.option("-s", "--s", type=TimeType(), metavar="F|auto",
              help="Diffusion time; auto: by labels (default: the recipe's).")  # fmt: skip
@click.option(
    "--eps",
    type=EpsType(),
    default="recipe",
    metavar="F|none",
    help="Threshold; none: products without a matrix (default: the recipe's).",
)
@click.option("--budget", type=click.FloatRange(min=0), metavar="SECONDS",
              help="Of recipe auto: stop after so long with the best so far.")  # fmt: skip
@click.option("--epochs", type=click.IntRange(min=1), help="At most this many epochs.")
@click.option("--hidden", type=click.IntRange(min=1), help="Hidden units.")
@click.option("--set", "given", type=SettingType(), multiple=True, metavar="NAME=VALUE",
              help="Any other setting of the recipe, such as dropout=0.8.")  # fmt: skip
@click.option("--seed", type=click.IntRange(min=0), help="One run with this seed (default 0).")
@click.option("--seeds", type=click.IntRange(min=1), metavar="N", help="N runs, seeds 0…N−1.")
@click.option("--from", "start", metavar="RUN",
              help="Start from a run: its recipe, what it chose, its weights.")  # fmt: skip
@click.option("--out", metavar="DIR", help="Folder for checkpoint, predictions and metrics.")
@click.option("--resume", is_flag=True, help="Go on with the run in --out.")
@click.option("--force", is_flag=True, help="Replace the run in --out.")
@safe_csv
@click.option(
    "--cluster",
    metavar="ADDRESS|local:N",
    help="Dask cluster for a graph on disk: a scheduler's address, or N processes here.",
)
@threads
@common
def fit(
    source: dict[str, Any],
    recipe: str,
    s: float | str | None,
    eps: float | str | None,
    budget: float | None,
    epochs: int | None,
    hidden: int | None,
    given: tuple[tuple[str, Any], ...],
    seed: int | None,
    seeds: int | None,
    start: str | None,
    out: str | None,
    resume: bool,
    force: bool,
    cluster: str | None,
    safe_csv: bool,
    threads: int | None,
    as_json: bool,
) -> None:
    """Train on a GRAPH and label every node.

    Labels come with the graph: those of its split, or every label of the node table. The default,
    auto, spreads labels, fits linear models and trains networks, says what each brought, and weighs
    them by labels that they have not seen. Ctrl-C keeps what there is.
    """
    if seed is not None and seeds is not None:
        raise click.UsageError("--seed and --seeds exclude each other.")
    if resume and force:
        raise click.UsageError("--resume and --force exclude each other.")
    if out is None and (resume or force):
        raise click.UsageError("--resume and --force need --out.")

    from graphheat import recipes
    from graphheat.cli import display, run_folder
    from graphheat.cli.disk_commands import fit_disk
    from graphheat.disk import DiskGraph
    from graphheat.recipes.fit import recipe_for
    from graphheat.recipes.warm_start import start_of
    from graphheat.runs.checkpoint import FILENAME

    if recipe != "sampled":
        recipes.get(recipe)  # an unknown name is reported before a file is read
    graph = open_graph(source)
    named = {"max_epochs": epochs, "hidden": hidden, "s": s, "budget": budget}
    changes = {name: value for name, value in named.items() if value is not None} | dict(given)
    if eps != "recipe":
        changes["eps"] = eps
    if isinstance(graph, DiskGraph):
        if seeds is not None:
            raise click.UsageError("--seeds is for graphs in memory; give one --seed.")
        fit_disk(
            graph, recipe, changes, seed=seed or 0, out=out, resume=resume, force=force,
            threads=threads, source=source, cluster=cluster, as_json=as_json,
        )  # fmt: skip
        return
    if cluster is not None or recipe == "sampled":
        what = "--recipe sampled" if cluster is None else "--cluster"
        raise click.UsageError(f"{what} is for graphs on disk; make one with graphheat ingest.")
    begun = start_of(graph, recipe, changes, start)
    for note in begun.notes:
        display.say(note)
    graph = begun.graph
    chosen = recipes.get(recipe_for(graph, begun.recipe))
    settings = chosen.settings(graph, **begun.changes)
    several = seeds is not None
    folder = None
    if out is not None:
        claimed = run_folder.claimed_folder(out, several=several, resume=resume, force=force)
        folder = click.get_current_context().with_resource(claimed)
    numbers = list(range(seeds)) if seeds is not None else [seed or 0]

    with display.progress() as progress:
        prepared = chosen.prepare(graph, settings, threads=threads, progress=progress)
        if folder is not None:  # the old run goes only now that the new one is known to start
            chosen.identity(prepared, numbers[0], progress)
            run_folder.clear(folder, keep_runs=not force)
        runs = []
        for each in numbers:
            place = run_folder.seed_folder(folder, each) if folder and several else folder
            run = chosen.fit(
                prepared,
                each,
                checkpoint=None if place is None else place / FILENAME,
                resume=resume,
                progress=progress,
                source=source,
                stage=None
                if place is None
                else partial(run_folder.write_labels, place, safe=safe_csv),
                **begun.options,
            )
            runs.append(run)
            if place is not None:
                run_folder.write_run(place, run, summarize([run]), safe=safe_csv)
    for note in dict.fromkeys(note for run in runs for note in run.notes):
        display.say(note)
    summary = summarize(runs)
    if folder is not None and several:
        run_folder.write_metrics(folder, summary)
    if as_json:
        display.print_json({**summary, "out": out})
    else:
        print_summary(summary, out)


def summarize(runs: Sequence[Run]) -> dict[str, Any]:
    """Return what ``--json`` prints and ``metrics.json`` holds."""
    from graphheat.recipes.evaluation import deviation

    first = runs[0]
    settings = first.settings_dict()
    tests = [run.test_accuracy for run in runs if run.test_accuracy is not None]
    vals = [run.val_accuracy for run in runs if run.val_accuracy is not None]
    return {
        "graph": first.name,
        "recipe": first.recipe,
        **{name: settings[name] for name in ("s", "eps", "threads") if name in settings},
        "settings": settings,
        "test_accuracy_mean": sum(tests) / len(tests) if tests else None,
        "test_accuracy_std": deviation(tests) if tests else None,
        "val_accuracy_mean": sum(vals) / len(vals) if vals else None,
        "runs": [run.metrics() for run in runs],
    }


def print_summary(summary: dict[str, Any], out: str | None) -> None:
    """Print a row per run and the mean."""
    from graphheat.cli import display

    rows = [
        [
            run["seed"],
            _percentage(run["test_accuracy"]),
            _percentage(run["val_accuracy"]),
            run["best_epoch"],
            run["epochs"],
            round(run["seconds"], 1),
        ]
        for run in summary["runs"]
    ]
    settings = summary["settings"]
    heat = ""
    chosen = isinstance(settings.get("s"), str)  # of several parts, each with its own
    if "s" in settings and "eps" in settings and not chosen:
        implicit = "none" if settings["eps"] is None else f"{settings['eps']:g}"
        heat = f", s = {settings['s']:g}, eps = {implicit}"
    elif "s" in settings and "l2" in settings and len(rows) == 1 and not chosen:
        heat = f", s = {settings['s']:g}, l2 = {settings['l2']:g}"
    for run in summary["runs"] if len(rows) == 1 else []:
        if run.get("stages"):
            _print_stages(run)
    display.table(
        ["seed", "test %", "validation %", "best epoch", "epochs", "seconds"],
        rows,
        title=f"{summary['graph']}: recipe {summary['recipe']}{heat}",
    )
    if len(rows) > 1 and summary["test_accuracy_mean"] is not None:
        display.out.print(
            f"test accuracy {100 * summary['test_accuracy_mean']:.2f} ± "
            f"{100 * summary['test_accuracy_std']:.2f} % over {len(rows)} seeds",
            highlight=False,
        )
    if out is None:
        display.say("Nothing was kept; --out DIR writes the labels, the model and the history.")
    elif len(rows) == 1:
        display.say(f"Labels of every node: {out}/predictions.csv")
    else:
        display.say(f"Every seed's labels: {out}/seed-*/predictions.csv")


def _print_stages(run: dict[str, Any]) -> None:
    """Print what each stage brought."""
    from graphheat.cli import display

    judged = {"validation": "validation %", "out-of-fold": "left-out %"}
    display.table(
        ["stage", "seconds", judged.get(run["judged_by"], "right %"), "weight"],
        [
            [
                stage["name"],
                round(stage["seconds"], 1),
                _percentage(stage["accuracy"]),
                round(stage["weight"], 2),
            ]
            for stage in run["stages"]
        ],
    )


def _percentage(value: float | None) -> float | None:
    return None if value is None else round(100 * value, 1)
