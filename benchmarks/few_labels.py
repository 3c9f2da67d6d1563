"""One label per class (or a few), no validation set: the recipe beside LP and GCN, same draws.

Draw k takes random nodes of each class of Cora as the only labels; all other nodes are tested. The
graph goes by another name, so that nothing is known of it but what a user's graph would tell.

python benchmarks/few_labels.py [--labels 1] [--draws 20] [--part 1/2]
"""

from __future__ import annotations

import argparse
import functools
from typing import Any

import numpy as np
from interleave import report, spread
from ledger import Task, add_part, carry_out, compared

import graphheat
from graphheat import Graph

RECIPES = ("consistent", "linear", "paper", "lp", "gcn")


def main() -> None:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--labels", default="1", help="of each class; 1,2,5 for several")
    options.add_argument("--draws", type=int, default=20)
    add_part(options)
    arguments = options.parse_args()
    tasks = [
        {"labels": int(labels), "draw": draw, "recipe": recipe}
        for labels in arguments.labels.split(",")
        for draw in range(arguments.draws)
        for recipe in RECIPES
    ]
    rows = carry_out("few_labels", tasks, work, part=arguments.part, out=arguments.out)
    report("few_labels", summary(rows), whole=arguments.draws >= 20)


def work(task: Task) -> dict[str, Any]:
    """Label Cora from a draw of labels."""
    graph = drawn(task["labels"], task["draw"])
    run = graphheat.fit(graph, task["recipe"], seed=task["draw"], threads=1)
    return {"test": round(run.accuracy("test"), 4), "seconds": round(run.seconds, 2)}


@functools.lru_cache(maxsize=1)
def drawn(labels: int, draw: int) -> Graph:
    """Return Cora with a few random labels of each class to learn from, and nothing to stop by."""
    cora = graphheat.datasets.load("cora")
    random = np.random.default_rng([labels, draw])
    train = np.concatenate(
        [
            random.permutation(np.flatnonzero(cora.labels == code))[:labels]
            for code in range(len(cora.classes))
        ]
    )
    return Graph.from_scipy(
        cora.adjacency,
        features=cora.features,
        labels=cora.labels,
        classes=cora.classes,
        split={"train": np.sort(train), "test": np.setdiff1d(np.arange(cora.n), train)},
        name="papers",
    )


def summary(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return a row for each number of labels and recipe; p of a paired t-test against ours."""
    table = []
    for labels, recipe in dict.fromkeys((row["labels"], row["recipe"]) for row in rows):
        mine, ours = (
            {row["draw"]: row["test"] for row in rows
             if row["labels"] == labels and row["recipe"] == name}
            for name in (recipe, RECIPES[0])
        )  # fmt: skip
        table.append(
            {
                "labels per class": labels,
                "recipe": recipe,
                "test %": spread(list(mine.values())),
                "draws": len(mine),
                **compared(ours, mine),
            }
        )
    return table


if __name__ == "__main__":
    main()
