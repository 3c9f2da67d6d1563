"""Graphs whose edges join unlike nodes: the recipe beside itself without the graph.

Block models of 1,000 nodes in 4 classes, 20 labels per class, informative features; seed k is
graph k and run k.

python benchmarks/homophily.py [--seeds 10] [--part 1/2]
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from interleave import report, spread
from ledger import Task, add_part, carry_out

import graphheat
from graphheat.suitability import suitability

HOMOPHILY = (0.1, 0.3, 0.5)
RECIPES: dict[str, dict[str, Any]] = {
    "consistent": {"recipe": "consistent"},
    "its own MLP": {"recipe": "consistent", "s": 0.0, "drop_nodes": 0.0},
    "paper": {"recipe": "paper"},
}


def main() -> None:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--seeds", type=int, default=10)
    add_part(options)
    arguments = options.parse_args()
    tasks = [
        {"homophily": homophily, "recipe": recipe, "seed": seed}
        for seed in range(arguments.seeds)
        for homophily in HOMOPHILY
        for recipe in RECIPES
    ]
    rows = carry_out("homophily", tasks, work, part=arguments.part, out=arguments.out)
    report("homophily", summary(rows), whole=arguments.seeds >= 10)


def work(task: Task) -> dict[str, Any]:
    """Label a block model."""
    graph = graphheat.datasets.block_model(
        1000, 4, homophily=task["homophily"], feature_strength=2.0, seed=task["seed"]
    )
    run = graphheat.fit(graph, seed=task["seed"], threads=1, **RECIPES[task["recipe"]])
    return {
        "test": round(run.accuracy("test"), 4),
        "s": run.settings_dict()["s"],
        "verdict": suitability(graph).verdict,
    }


def summary(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return a row for each homophily and recipe."""
    table = []
    for homophily, recipe in dict.fromkeys((row["homophily"], row["recipe"]) for row in rows):
        mine, alone = (
            {
                row["seed"]: row
                for row in rows
                if (row["homophily"], row["recipe"]) == (homophily, name)
            }
            for name in (recipe, "its own MLP")
        )
        apart = [100 * (mine[seed]["test"] - alone[seed]["test"]) for seed in mine if seed in alone]
        verdicts = [row["verdict"] for row in mine.values()]
        table.append(
            {
                "homophily": homophily,
                "recipe": recipe,
                "test %": spread([row["test"] for row in mine.values()]),
                "above its MLP by": f"{np.mean(apart):.2f}" if apart else None,
                "at least": round(min(apart), 2) if apart else None,
                "s (median)": float(np.median([row["s"] for row in mine.values()])),
                "seeds": len(mine),
                "info says": ", ".join(
                    f"{each} {verdicts.count(each)}" for each in sorted({*verdicts})
                ),
            }
        )
    return table


if __name__ == "__main__":
    main()
