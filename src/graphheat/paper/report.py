"""From runs to what people look at: figures, claims, and a page with all of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import cast

import numpy as np
import pandas
from numpy.typing import NDArray

from graphheat.paper import document
from graphheat.paper.claims import Claim, Results, all_claims
from graphheat.paper.figures import PaperFigure, draw_all
from graphheat.paper.rows import GRAPHS, ROWS
from graphheat.paper.store import read_runs, write_runs
from graphheat.paper.tables import NOTHING_CHANGED, Changes, preset_runs
from graphheat.paper.task import load_graph
from graphheat.recipes import fit
from graphheat.training.network_run import NetworkRun

Say = Callable[[str], None]

# Metrics of a run, by the names that the claims know them by.
PICKS = {
    "accuracy_last_epoch": "last",
    "accuracy_best_val_accuracy": "best_val_accuracy",
    "accuracy_best_test": "best_test",
}

# What Figure 4 may vary: all else must be as the paper has it.
VARIED = ("s", "eps")


def example_network(changes: Changes = NOTHING_CHANGED, say: Say = print) -> NetworkRun:
    """Train GraphHeat on Cora with seed 0: what Figure 3 draws and the claims look into."""
    say("Training a network on Cora …")
    run = fit(load_graph("cora"), "paper", seed=0, threads=1, **changes.get("graphheat", {}))
    return cast(NetworkRun, run)


def draw_figures(
    runs: pandas.DataFrame,
    folder: Path,
    *,
    network: NetworkRun,
    changes: Changes = NOTHING_CHANGED,
    say: Say = print,
) -> list[Path]:
    """Draw the five figures into a folder and return their files.

    Figure 4 is left out when the runs hold nothing that varies s or eps.
    """

    def tell(figure: PaperFigure) -> None:
        say(f"Figure {figure.number}: {figure.title} …")

    varied = influence_runs(runs, changes)
    sweep = varied if len(varied) else None
    drawn = draw_all(folder, load_graph("cora"), run=network, sweep=sweep, callback=tell)
    return [path for files in drawn.values() for path in files]


def influence_runs(runs: pandas.DataFrame, changes: Changes = NOTHING_CHANGED) -> pandas.DataFrame:
    """Return GraphHeat's runs on Cora that differ from the paper's settings in s or eps alone."""
    heat = runs[(runs["row"] == "graphheat") & (runs["graph"] == "cora")]
    if heat.empty:
        return heat
    base = preset_runs(heat, "graphheat", "cora", changes)
    if base.empty:
        return base
    wanted = {k: v for k, v in base["settings"].iloc[0].items() if k not in VARIED}
    alike = [{k: v for k, v in each.items() if k not in VARIED} == wanted
             for each in heat["settings"]]  # fmt: skip
    heat = heat[alike]
    # As many seeds at the paper's own setting as at the others.
    others = heat[~heat.index.isin(base.index)]
    if others.empty:
        return others
    heat = heat[heat["seed"] <= others["seed"].max()]
    return heat.assign(**{name: [each[name] for each in heat["settings"]] for name in VARIED})


def check_claims(
    runs: pandas.DataFrame,
    *,
    network: NetworkRun,
    changes: Changes = NOTHING_CHANGED,
    say: Say = print,
) -> list[Claim]:
    """Return every claim of the paper with its number."""
    results = results_of(runs, network, changes)
    return all_claims(results, progress=lambda done, total, text: say(f"Claims: {text} …"))


def results_of(
    runs: pandas.DataFrame, network: NetworkRun, changes: Changes = NOTHING_CHANGED
) -> Results:
    """Return what the claims are checked against: the runs with each row's presets."""
    parts = [preset_runs(runs, row, graph, changes) for row in ROWS for graph in GRAPHS]
    presets = pandas.concat([part for part in parts if len(part)] or parts[:1])
    heat = presets[presets["row"] == "graphheat"].rename(columns=PICKS)
    has_picks = len(heat) > 0 and set(PICKS.values()) <= set(heat.columns)
    varied = influence_runs(runs, changes)
    return Results(
        graphs={name: load_graph(name) for name in GRAPHS},
        runs=presets if len(presets) else None,
        sweep=varied if len(varied) else None,
        predictions=cora_predictions(presets) or None,
        picks=heat.assign(lowest_val_loss=heat["test_accuracy"]) if has_picks else None,
        run=network,
    )


def cora_predictions(presets: pandas.DataFrame) -> dict[str, NDArray[np.int64]]:
    """Return by recipe the class codes of Cora's nodes, shape (seeds, n); −1 off the test set."""
    cora = load_graph("cora")
    found = {}
    for row, part in presets[presets["graph"] == "cora"].groupby("row"):
        codes = np.full((len(part), cora.n), -1)
        codes[:, cora.split["test"]] = [list(map(int, each)) for each in part["test_predicted"]]
        found[str(row)] = codes
    return found


def write_report(
    runs: pandas.DataFrame, folder: Path, *, changes: Changes = NOTHING_CHANGED, say: Say = print
) -> list[Path]:
    """Write runs.csv, the figures and results.md into a folder; return the files."""
    table = folder / "runs.csv"
    write_runs(runs, table)
    runs = read_runs(table)  # what a reader of the page finds beside it: seconds are rounded
    network = example_network(changes, say)
    figures = draw_figures(runs, folder, network=network, changes=changes, say=say)
    claims = check_claims(runs, network=network, changes=changes, say=say)
    text = folder / "results.md"
    document.write(text, runs, claims, figures, changes)
    return [table, *figures, text]
