"""Amazon Photo, which nothing was tuned on: `consistent` beside GCN and the paper's.

20 random labels per class train, 30 per class validate, all others are tested; split k is also seed
k. Needs amazon_photo.npz in GRAPHHEAT_DATA (or in ../shared/data beside the clone).

python benchmarks/photo.py [--splits 20] [--part 1/2]
"""

from __future__ import annotations

import argparse
import functools
import os
from pathlib import Path
from typing import Any

import numpy as np
from interleave import report, spread
from ledger import Task, add_part, carry_out, compared

import graphheat
from graphheat import Graph
from graphheat.io import read_npz

DATA = Path(os.environ.get("GRAPHHEAT_DATA") or Path(__file__).parents[2] / "shared" / "data")
RECIPES: dict[str, dict[str, Any]] = {
    "consistent": {"recipe": "consistent"},
    "paper": {"recipe": "paper"},
    "gcn": {"recipe": "gcn"},
    # Of Shchur and others (2018), who also train for as long as it takes.
    "gcn, tuned": {
        "recipe": "gcn", "hidden": 64, "dropout": 0.8, "l2": 1e-3,
        "max_epochs": 100_000, "patience": 50,
    },
    "linear": {"recipe": "linear"},
}  # fmt: skip


def main() -> None:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--splits", type=int, default=20)
    options.add_argument("--recipes", default=";".join(RECIPES))
    add_part(options)
    arguments = options.parse_args()
    tasks = [
        {"split": split, "recipe": recipe}
        for split in range(arguments.splits)
        for recipe in arguments.recipes.split(";")
    ]
    rows = carry_out("photo", tasks, work, part=arguments.part, out=arguments.out)
    report("photo", summary(rows), whole=arguments.splits >= 20)


def work(task: Task) -> dict[str, Any]:
    """Label Photo from a split."""
    graph = parted(task["split"])
    run = graphheat.fit(graph, seed=task["split"], threads=1, **RECIPES[task["recipe"]])
    return {
        "test": round(run.accuracy("test"), 4),
        "val": round(run.val_accuracy, 4),
        "s": run.settings_dict().get("s"),
        "epochs": run.epochs,
        "seconds": round(run.seconds, 1),
    }


@functools.lru_cache(maxsize=1)
def photo() -> Graph:
    """Read the graph."""
    return read_npz(DATA / "amazon_photo.npz")


def parted(split: int) -> Graph:
    """Return the graph with a random split."""
    graph = photo()
    random = np.random.default_rng(split)
    parts: dict[str, list[Any]] = {"train": [], "val": [], "test": []}
    for code in range(len(graph.classes)):
        members = random.permutation(np.flatnonzero(graph.labels == code))
        for part, nodes in zip(parts, np.split(members, [20, 50]), strict=True):
            parts[part].append(nodes)
    return graph.with_split(**{part: np.sort(np.concatenate(each)) for part, each in parts.items()})


def summary(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return a row for each recipe; p of a paired t-test against ours."""
    table = []
    ours = {row["split"]: row["test"] for row in rows if row["recipe"] == "consistent"}
    for recipe in dict.fromkeys(row["recipe"] for row in rows):
        mine = {row["split"]: row["test"] for row in rows if row["recipe"] == recipe}
        table.append(
            {
                "recipe": recipe,
                "test %": spread(list(mine.values())),
                "splits": len(mine),
                **compared(ours, mine),
                "seconds per run": round(
                    float(np.median([row["seconds"] for row in rows if row["recipe"] == recipe])), 1
                ),
            }
        )
    return table


if __name__ == "__main__":
    main()
