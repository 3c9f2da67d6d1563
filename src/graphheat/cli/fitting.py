"""``fit``: train on a graph, once or over seeds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from graphheat.cli.options import (
    EpsType,
    SettingType,
    TimeType,
    common,
    graph_source,
    open_graph,
    threads,
)

if TYPE_CHECKING:
    from rich.progress import Progress

    from graphheat.graph import Graph
    from graphheat.training.run import Labelling

    Maker = Callable[[int, Path | None, bool], Labelling]


@click.command()
@graph_source
@click.option("--recipe", default="consistent", show_default=True,
              help="consistent, normalized, paper, authors, linear, or gcn, lp, …")  # fmt: skip
@click.option("-s", "--s", type=TimeType(), metavar="F|auto",
              help="Diffusion time; auto: by labels (default: the recipe's).")  # fmt: skip
@click.option(
    "--eps",
    type=EpsType(),
    default="recipe",
    metavar="F|none",
    help="Threshold; none: products without a matrix (default: the recipe's).",
)
@click.option("--epochs", type=click.IntRange(min=1), help="At most this many epochs.")
@click.option("--hidden", type=click.IntRange(min=1), help="Hidden units.")
@click.option("--set", "given", type=SettingType(), multiple=True, metavar="NAME=VALUE",
              help="Any other setting of the recipe, such as dropout=0.8.")  # fmt: skip
@click.option("--seed", type=click.IntRange(min=0), help="One run with this seed (default 0).")
@click.option("--seeds", type=click.IntRange(min=1), metavar="N", help="N runs, seeds 0…N−1.")
@click.option("--out", metavar="DIR", help="Folder for checkpoint, predictions and metrics.")
@click.option("--resume", is_flag=True, help="Go on with the run in --out.")
@click.option("--force", is_flag=True, help="Replace the run in --out.")
@threads
@common
def fit(
    source: dict[str, Any],
    recipe: str,
    s: Any,
    eps: Any,
    epochs: int | None,
    hidden: int | None,
    given: tuple[tuple[str, Any], ...],
    seed: int | None,
    seeds: int | None,
    out: str | None,
    resume: bool,
    force: bool,
    threads: int | None,
    as_json: bool,
) -> None:
    """Train on a GRAPH and label every node.

    Labels come with the graph: those of its split, or every label of the node table. Without
    validation labels a fifth is held out to decide when to stop (the linear recipe cross-validates
    instead).
    """
    if seed is not None and seeds is not None:
        raise click.UsageError("--seed and --seeds exclude each other.")
    if resume and force:
        raise click.UsageError("--resume and --force exclude each other.")
    if out is None and (resume or force):
        raise click.UsageError("--resume and --force need --out.")

    from graphheat.baselines import SYSTEMS
    from graphheat.classifier.fitting import LINEAR, check_recipe
    from graphheat.cli import display, run_folder

    check_recipe(recipe)
    if recipe in SYSTEMS and (s is not None or eps != "recipe"):
        raise click.UsageError(f"-s and --eps are for GraphHeat; {recipe} has neither.")
    if recipe == LINEAR and eps != "recipe":
        raise click.UsageError("--eps is for a kernel matrix; linear diffuses without one.")
    graph = open_graph(source)
    named = {"max_epochs": epochs, "hidden": hidden}
    changes = {name: value for name, value in named.items() if value is not None} | dict(given)
    several = seeds is not None
    folder = None
    if out is not None:
        folder = run_folder.open_folder(out, several=several, resume=resume, force=force)
    chosen = list(range(seeds)) if seeds is not None else [seed or 0]

    with display.progress_bar() as bar:
        if recipe in SYSTEMS:
            make = _system_maker(graph, recipe, changes, source, threads, bar)
        elif recipe == LINEAR:
            make = _linear_maker(graph, {"s": s, **changes}, source, threads, bar)
        else:
            make = _heat_maker(
                graph, recipe, s, {"eps": eps, **changes}, source, threads, bar, first=chosen[0]
            )
        if folder is not None:  # the old run goes only now that the new one is known to start
            run_folder.clear(folder, keep_runs=not force)
        runs = []
        for each in chosen:
            place = run_folder.seed_folder(folder, each) if folder and several else folder
            runs.append(make(each, place, resume))
            if place is not None:
                run_folder.write_run(place, runs[-1], summarize(runs[-1:]))
    for note in dict.fromkeys(note for run in runs for note in run.notes):
        display.say(note)
    summary = summarize(runs)
    if folder is not None and several:
        run_folder.write_metrics(folder, summary)
    if as_json:
        display.print_json({**summary, "out": out})
    else:
        print_summary(summary, out)


def _heat_maker(
    graph: Graph,
    recipe: str,
    s: Any,
    changes: dict[str, Any],
    source: dict[str, Any],
    threads: int | None,
    bar: Progress,
    first: int,
) -> Maker:
    """Get ready for the first seed's run, and return what makes a seed's run."""
    from graphheat.classifier.choosing import Chosen
    from graphheat.classifier.fitting import with_notes
    from graphheat.classifier.preparing import Preparation
    from graphheat.cli import run_folder
    from graphheat.training import train
    from graphheat.training.checkpoint import FILENAME
    from graphheat.training.problem import Problem

    preparation = Preparation(graph, recipe, s, changes, threads=threads)

    def ready(seed: int) -> tuple[Chosen, Problem]:
        task = bar.add_task("choice of s", total=None, detail="", visible=False)
        chosen = preparation.choose(
            seed,
            lambda e: bar.update(
                task, visible=True, completed=e.step, total=e.steps, detail=e.text
            ),
        )
        bar.remove_task(task)
        task = bar.add_task("kernel", total=graph.n, detail="")
        problem = preparation.problem(chosen, lambda done, n: bar.update(task, completed=done))
        bar.remove_task(task)
        return chosen, problem

    ready(first)

    def make(seed: int, folder: Path | None, resume: bool) -> Labelling:
        chosen, problem = ready(seed)
        task = bar.add_task(f"seed {seed}", total=problem.settings.max_epochs, detail="")
        run = train(
            problem,
            seed,
            threads=threads,
            checkpoint=None if folder is None else folder / FILENAME,
            resume=resume,
            source=source,
            callback=lambda e: bar.update(
                task, completed=e.epoch, detail=f"epoch {e.epoch}, val loss {e.val_loss:.3f}"
            ),
        )
        bar.remove_task(task)
        told = with_notes(run, graph, chosen.notes)
        if folder is not None and told is not run:
            told.save(folder / FILENAME)
        if folder is not None and chosen.linear is not None:
            run_folder.write_path(folder, chosen.linear)
        return told

    return make


def _system_maker(
    graph: Graph,
    system: str,
    changes: dict[str, Any],
    source: dict[str, Any],
    threads: int | None,
    bar: Progress,
) -> Maker:
    """Return what makes a seed's run of a system that GraphHeat is compared with."""
    from graphheat import baselines
    from graphheat.baselines.fitting import SystemRun, fit_system
    from graphheat.datasets import paper_name

    baselines.load(system).preset(paper_name(graph), **changes).check(graph)
    return _whole_maker(
        partial(fit_system, graph, system, threads=threads or 1, source=source, **changes),
        lambda file, seed: SystemRun.load_matching(file, graph, system, seed, changes),
        bar,
    )


def _linear_maker(
    graph: Graph,
    changes: dict[str, Any],
    source: dict[str, Any],
    threads: int | None,
    bar: Progress,
) -> Maker:
    """Return what makes a seed's run of the linear recipe."""
    from graphheat.classifier.fitting import LINEAR, fit
    from graphheat.linear import LinearRun
    from graphheat.linear.fitting import linear_settings

    asked = linear_settings(**changes)
    return _whole_maker(
        partial(fit, graph, LINEAR, threads=threads, source=source, **changes),
        lambda file, seed: LinearRun.load_matching(file, graph, seed, asked),
        bar,
    )


def _whole_maker(
    fit_seed: Callable[..., Labelling], load: Callable[[Path, int], Labelling], bar: Progress
) -> Maker:
    """Return what makes runs of which only finished ones are kept, or loads them."""
    from graphheat.training.checkpoint import FILENAME

    def make(seed: int, folder: Path | None, resume: bool) -> Labelling:
        file = None if folder is None else folder / FILENAME
        if resume and file is not None and file.exists():
            return load(file, seed)
        task = bar.add_task(f"seed {seed}", total=None, detail="")
        run = fit_seed(
            seed=seed,
            callback=lambda e: bar.update(task, completed=e.step, total=e.steps, detail=e.text),
        )
        bar.remove_task(task)
        if file is not None:
            run.save(file)
        return run

    return make


def summarize(runs: Sequence[Labelling]) -> dict[str, Any]:
    """Return what ``--json`` prints and ``metrics.json`` holds."""
    from graphheat.classifier.evaluation import deviation

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
    """Print a row a run and the mean."""
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
    if "s" in settings and "eps" in settings:
        implicit = "none" if settings["eps"] is None else f"{settings['eps']:g}"
        heat = f", s = {settings['s']:g}, eps = {implicit}"
    elif "s" in settings and "l2" in settings and len(rows) == 1:
        heat = f", s = {settings['s']:g}, l2 = {settings['l2']:g}"
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


def _percentage(value: float | None) -> float | None:
    return None if value is None else round(100 * value, 1)
