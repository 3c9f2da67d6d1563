"""The default recipe on the public splits, with no setting of its own for any data set.

Beside `beyond.py`, whose recipe has settings that validation labels chose for each data set. This
is where the test labels are looked at; `linear` and `spreading` do not depend on the seed.

python benchmarks/public.py [--seeds 100] [--graphs cora,citeseer] [--part 1/2]
"""

from __future__ import annotations

import argparse
import functools
from typing import Any

import numpy as np
from interleave import report, spread
from ledger import Task, add_part, carry_out

import graphheat
from graphheat import recipes

GRAPHS = ("cora", "citeseer", "pubmed")
RECIPES = {"auto": None, "linear": 1, "spreading": 1}  # how many seeds tell something


def main() -> None:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--seeds", type=int, default=100)
    options.add_argument("--graphs", default=",".join(GRAPHS))
    options.add_argument("--table", action="store_true", help="only show what is there")
    add_part(options)
    arguments = options.parse_args()
    tasks = [
        {"recipe": recipe, "graph": graph, "seed": seed}
        for seed in range(arguments.seeds)
        for graph in arguments.graphs.split(",")
        for recipe, most in RECIPES.items()
        if most is None or seed < most
    ]
    part = "0/1" if arguments.table else arguments.part
    rows = carry_out("public", tasks, work, part=part, out=arguments.out)
    report("public", summary(rows), whole=arguments.table)


@functools.cache
def prepared(recipe: str, graph: str) -> Any:
    """Prepare once what seeds share."""
    loaded, chosen = graphheat.datasets.load(graph), recipes.get(recipe)
    return chosen.prepare(loaded, chosen.settings(loaded), threads=1)


def work(task: Task) -> dict[str, Any]:
    """Make a run, and return how good it is and how long it took."""
    run = recipes.get(task["recipe"]).fit(prepared(task["recipe"], task["graph"]), task["seed"])
    error = run.calibration_report()
    return {
        "test": round(run.accuracy("test"), 4),
        "val": round(run.accuracy("val"), 4),
        "calibration": round(error["error_after"] or error["error_before"], 5),
        "seconds": round(run.seconds, 2),
    }


def summary(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return a row for each graph and recipe."""
    table = []
    for graph, recipe in dict.fromkeys((row["graph"], row["recipe"]) for row in rows):
        mine = [row for row in rows if (row["graph"], row["recipe"]) == (graph, recipe)]
        table.append(
            {
                "graph": graph,
                "recipe": recipe,
                "test %": spread([row["test"] for row in mine]),
                "validation %": spread([row["val"] for row in mine]),
                "calibration error": f"{np.mean([row['calibration'] for row in mine]):.3f}",
                "seeds": len(mine),
                "seconds per run": round(float(np.median([row["seconds"] for row in mine])), 1),
            }
        )
    return table


if __name__ == "__main__":
    main()
