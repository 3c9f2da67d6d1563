"""The default where there are no features: neighbours in their place, beside label spreading.

The graphs of `suite.py` with their features taken away, and LastFM's listeners, who have none; 60
labels drawn at random (b) or five per class (c), no validation set. LastFM's listeners also with 20
per class and 30 for validation (a), beside GCN and the paper's model, which need features: a column
for each node (Kipf and Welling's way where there are none). Split k is also seed k. Needs the files
of GRAPHHEAT_DATA, as `suite.py` does.

python benchmarks/no_features.py [--splits 3] [--graphs lastfm,cora] [--part 1/2]
python benchmarks/no_features.py --table
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
import suite
from interleave import report
from ledger import Task, add_part, carry_out

import graphheat
from graphheat import Graph, recipes

LASTFM = suite.DATA / "development" / "lastfm"
GRAPHS = ("lastfm", *suite.GRAPHS)
RECIPES = ("spreading", "auto")
PEERS = ("gcn", "gcn, tuned", "paper")  # in regime a, on a column for each node


def main() -> None:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--graphs", default=",".join(GRAPHS))
    options.add_argument("--splits", type=int, default=3)
    options.add_argument("--table", action="store_true", help="only show what is there")
    add_part(options)
    arguments = options.parse_args()
    tasks = [
        {"recipe": recipe, "graph": graph, "regime": regime, "split": split}
        for split in range(arguments.splits)
        for regime in "bc"
        for graph in arguments.graphs.split(",")
        for recipe in RECIPES
    ]
    tasks += [
        {"recipe": recipe, "graph": "lastfm", "regime": "a", "split": split}
        for split in range(arguments.splits)
        for recipe in (*RECIPES, *PEERS)
        if "lastfm" in arguments.graphs.split(",")
    ]
    part = "0/1" if arguments.table else arguments.part
    rows = carry_out("no_features", tasks, work, part=part, out=arguments.out)
    report("no_features", summary(rows), whole=arguments.table)


def work(task: Task) -> dict[str, Any]:
    """Label a graph without its features; seconds are of the processor."""
    graph = bare(task["graph"], task["regime"], task["split"])
    changes = dict(suite.SYSTEMS[task["recipe"]])
    recipe = recipes.get(changes.pop("recipe"))
    if task["recipe"] in PEERS:
        graph = replace(graph, features=sp.eye_array(graph.n, format="csr"))
    began = time.process_time()
    prepared = recipe.prepare(graph, recipe.settings(graph, **changes), threads=1)
    run = recipe.fit(prepared, task["split"])
    return suite.scores(graph, run, time.process_time() - began)


def bare(name: str, regime: str, split: int) -> Graph:
    """Return a graph without features, with the split of a regime."""
    if name != "lastfm":
        return replace(suite.parted(name, regime, split), features=None, feature_names=None)
    graph = graphheat.read_csv(LASTFM / "edges.csv", LASTFM / "users.csv")
    return suite.drawn(graph, regime, split)


def summary(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return a row for each graph and regime: accuracy / balanced accuracy, and the difference."""
    table = []
    for graph, regime in dict.fromkeys((row["graph"], row["regime"]) for row in rows):
        of = {
            recipe: {
                row["split"]: (100 * row["accuracy"], 100 * row["balanced"])
                for row in rows
                if (row["graph"], row["regime"], row["recipe"]) == (graph, regime, recipe)
            }
            for recipe in (*RECIPES, *PEERS)
        }
        both = sorted(of["auto"].keys() & of["spreading"].keys())
        if not both:
            continue
        spreading, auto = (np.array([of[recipe][key] for key in both]) for recipe in RECIPES)
        apart = (auto - spreading)[:, 0]
        error = apart.std(ddof=1) / np.sqrt(len(apart)) if len(apart) > 1 else float("nan")
        table.append(
            {
                "graph": graph,
                "labels": regime,
                "n": len(both),
                "auto": " / ".join(f"{value:.1f}" for value in auto.mean(axis=0)),
                "spreading": " / ".join(f"{value:.1f}" for value in spreading.mean(axis=0)),
                "gain, accuracy": f"{apart.mean():+.1f} ± {error:.1f}",
                **{
                    peer: " / ".join(f"{x:.1f}" for x in np.mean(list(of[peer].values()), axis=0))
                    for peer in PEERS
                    if of[peer]
                },
            }
        )
    return table


if __name__ == "__main__":
    main()
