"""How soon the default is right, when a simulated person answers what is suggested, always rightly.

Start k keeps a random half of the labelled nodes to test by; questions are about the other half.
``suggest`` is :func:`graphheat.suggest`: seven nodes before any label, then five at a time.
``uncertain`` begins with seven random nodes and then takes the five of which the linear recipe is
least sure; ``random`` takes any. After 7, 20, 40 and 80 labels the default recipe, with seed k, is
fitted to what is labelled, without validation labels, and its accuracy on the tested half is noted.

python benchmarks/simulated_person.py [--graphs cora,acm] [--starts 10] [--part 1/2]
"""

from __future__ import annotations

import argparse
import functools
from typing import Any

import numpy as np
from interleave import report, spread
from ledger import Task, add_part, carry_out, compared
from numpy.typing import NDArray
from suite import whole

import graphheat
from graphheat import Graph
from graphheat.labeling.label_reach import Reach
from graphheat.labeling.suggestion import known_so_far

GRAPHS = "cora,citeseer,acm,cora_ml"
WAYS = ("suggest", "random", "uncertain")
COUNTS = (7, 20, 40, 80)
BATCH = 5

Nodes = NDArray[np.int64]


def main() -> None:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--graphs", default=GRAPHS)
    options.add_argument("--starts", type=int, default=10)
    options.add_argument("--recipe", default="auto")
    add_part(options)
    arguments = options.parse_args()
    tasks = [
        {"recipe": arguments.recipe, "start": start, "graph": graph, "way": way}
        for start in range(arguments.starts)
        for graph in arguments.graphs.split(",")
        for way in WAYS
    ]
    rows = carry_out("simulated_person", tasks, work, part=arguments.part, out=arguments.out)
    is_whole = arguments.graphs == GRAPHS and arguments.recipe == "auto"
    report("simulated_person", summary(rows), whole=is_whole and len(rows) == len(tasks) >= 120)


def work(task: Task) -> dict[str, Any]:
    """Label a graph in one way from one start, and score the default along it."""
    graph, start = whole(task["graph"]), task["start"]
    random = np.random.default_rng(start)
    labelled = random.permutation(np.flatnonzero(graph.labels >= 0))
    asked, tested = labelled[::2], np.sort(labelled[1::2])
    barred = np.ones(graph.n, dtype=np.bool_)
    barred[asked] = False
    known = np.empty(0, dtype=np.int64)
    found = {}
    for count in COUNTS:
        while len(known) < count:
            k = min(BATCH if len(known) else COUNTS[0], count - len(known))
            more = ASK[task["way"]](task["graph"], known, barred, k, random)
            known = np.concatenate([known, more])
            barred[known] = True
        run = graphheat.fit(answered(graph, known), task["recipe"], seed=start, threads=1)
        right = run.predicted[tested] == graph.labels[tested]
        found[f"at {count}"] = round(float(right.mean()), 4)
        found[f"classes at {count}"] = len(np.unique(graph.labels[known]))
    return found


def answered(graph: Graph, known: Nodes) -> Graph:
    """Return the graph with the labels that were given, and no others."""
    labels = np.full(graph.n, -1)
    labels[known] = graph.labels[known]
    return Graph.from_scipy(
        graph.adjacency, graph.features, labels, classes=graph.classes, name="answered"
    )


def by_suggestion(
    name: str, known: Nodes, barred: NDArray[np.bool_], k: int, random: np.random.Generator
) -> Nodes:
    graph = answered(whole(name), known)
    exclude = np.flatnonzero(barred)
    found = graphheat.suggest(graph, k, exclude=exclude.tolist(), reach=reach_of(name), threads=1)
    return np.array([each.index for each in found])


def by_chance(
    name: str, known: Nodes, barred: NDArray[np.bool_], k: int, random: np.random.Generator
) -> Nodes:
    return random.choice(np.flatnonzero(~barred), k, replace=False)


def by_uncertainty(
    name: str, known: Nodes, barred: NDArray[np.bool_], k: int, random: np.random.Generator
) -> Nodes:
    text = known_so_far(answered(whole(name), known), known, threads=1)
    if text is None:
        return by_chance(name, known, barred, k, random)
    free = np.flatnonzero(~barred)
    return free[np.argsort(text[free].max(axis=1), kind="stable")[:k]]


ASK = {"suggest": by_suggestion, "random": by_chance, "uncertain": by_uncertainty}


@functools.lru_cache(maxsize=4)
def reach_of(name: str) -> Reach:
    return Reach(whole(name), threads=1)


def summary(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return, per graph and count, each way's accuracy, and how far suggestions are above."""
    table = []
    names = list(dict.fromkeys(row["graph"] for row in rows))
    for name in [*names, "mean"]:
        for count in COUNTS:
            of = {
                way: {
                    (row["graph"], row["start"]): row[f"at {count}"]
                    for row in rows
                    if row["way"] == way and name in (row["graph"], "mean")
                }
                for way in WAYS
            }
            line: dict[str, Any] = {"graph": name, "labels": count}
            line |= {f"{way} %": spread(list(of[way].values())) for way in WAYS if of[way]}
            for other in WAYS[1:]:
                beside = compared(of["suggest"], of[other])
                line |= {
                    f"above {other} by": beside["ours above it by"],
                    f"p, {other}": beside["p"],
                }
            table.append(line | {"starts": len({start for _, start in of["suggest"]})})
    return table


if __name__ == "__main__":
    main()
