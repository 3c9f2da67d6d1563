"""The recipe on the public splits of the paper's graphs, and what each of its parts is worth.

Settings for each data set: those that `search.py` found on the validation labels and
`graphheat.recipes.network_recipe.SEARCHED` holds. This is where the test set is evaluated.

python benchmarks/beyond.py [--seeds 100] [--ablation-seeds 20] [--part 1/2]
"""

from __future__ import annotations

import argparse
import functools
from pathlib import Path
from typing import Any

import numpy as np
from interleave import report, spread
from kept_runs import run_file
from ledger import Task, add_part, carry_out

import graphheat
from graphheat.recipes.network_recipe import SEARCHED

GRAPHS = ("cora", "citeseer", "pubmed")
VARIANTS: dict[str, dict[str, Any]] = {
    "whole": {},
    "no consistency": {"consistency": 0.0},
    "no node dropped": {"drop_nodes": 0.0},
    "no self term": {"self_term": False},
    "mean of powers": {"propagation": "powers"},
}


def main() -> None:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--seeds", type=int, default=100)
    options.add_argument("--ablation-seeds", type=int, default=20)
    options.add_argument("--graphs", default=",".join(GRAPHS))
    options.add_argument(
        "--table", action="store_true", help="only write the table of what is there"
    )
    options.add_argument("--runs", type=Path, help="folder to keep whole runs in, as kept_runs.py")
    add_part(options)
    arguments = options.parse_args()
    graphs = arguments.graphs.split(",")
    counts = dict.fromkeys(VARIANTS, arguments.ablation_seeds) | {"whole": arguments.seeds}
    tasks = [
        {"graph": graph, "variant": variant, "seed": seed}
        for seed in range(max(counts.values()))
        for graph in graphs
        for variant, count in counts.items()
        if seed < count
    ]
    tasks.sort(key=lambda task: task["variant"] != "whole")
    part = "0/1" if arguments.table else arguments.part
    keeping = functools.partial(work, runs=arguments.runs)
    rows = carry_out("beyond", tasks, keeping, part=part, out=arguments.out)
    report("beyond", summary(rows), whole=arguments.table)


def work(task: Task, runs: Path | None = None) -> dict[str, Any]:
    """Make a run and return how good it is, how sure of itself, and how long it took."""
    graph = graphheat.datasets.load(task["graph"])
    changes = dict(VARIANTS[task["variant"]])
    if "propagation" in changes:  # walks of 0 … 2s steps: as many in the mean as heat's
        changes["order"] = round(2 * SEARCHED[graph.name]["s"])
    run = graphheat.fit(graph, "consistent", seed=task["seed"], threads=1, **changes)
    if runs and task["variant"] == "whole":
        runs.mkdir(parents=True, exist_ok=True)
        run.save(run_file(runs, "consistent", graph.name, run.seed))
    confidence = run.calibration_report()
    return {
        "test": round(run.accuracy("test"), 4),
        "val": round(float((run.predicted == graph.labels)[graph.split["val"]].mean()), 4),
        "epochs": run.epochs,
        "best_epoch": run.best_epoch,
        "seconds": round(run.seconds, 2),
        "temperature": round(confidence["temperature"], 4),
        "error_before": round(confidence["error_before"], 5),
        "error_after": round(confidence["error_after"], 5),
        "error_by_chance": round(confidence["expected_by_chance"], 5),
    }


def summary(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return a row for each graph and variant; differences are paired, over the seeds of both."""
    table = []
    for graph, variant in dict.fromkeys((row["graph"], row["variant"]) for row in rows):
        mine = {
            row["seed"]: row for row in rows if (row["graph"], row["variant"]) == (graph, variant)
        }
        whole = {
            row["seed"]: row for row in rows if (row["graph"], row["variant"]) == (graph, "whole")
        }
        values = {
            key: np.array([row[key] for row in mine.values()]) for key in ("test", "val", "seconds")
        }
        apart = np.array(
            [100 * (mine[seed]["test"] - whole[seed]["test"]) for seed in mine if seed in whole]
        )
        table.append(
            {
                "graph": graph,
                "variant": variant,
                "test %": spread(values["test"]),
                "validation %": spread(values["val"]),
                "seeds": len(mine),
                "to the whole": None if variant == "whole" else f"{apart.mean():+.2f}",
                "seconds per run": round(float(np.median(values["seconds"])), 1),
            }
        )
    return table


if __name__ == "__main__":
    main()
