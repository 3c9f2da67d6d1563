"""How many of the first suspects are labels that were flipped.

A share of the public training labels is flipped to another class at random, again and again; no
other label is looked at. Precision is among as many suspects as labels were flipped.

python benchmarks/suspects.py [--draws 20] [--graphs cora,citeseer,pubmed] [--share 0.1]
"""

from __future__ import annotations

import argparse

import numpy as np
from interleave import report

from graphheat import Graph, datasets, suspects

GRAPHS = "cora,citeseer,pubmed"
DRAWS = 20


def flipped(graph: Graph, share: float, seed: int) -> tuple[Graph, set[object]]:
    """Return the graph with a share of its training labels flipped, and whose."""
    random = np.random.default_rng(seed)
    train = graph.split["train"]
    wrong = random.choice(train, round(share * len(train)), replace=False)
    labels = np.full(graph.n, -1)
    labels[train] = graph.labels[train]
    classes = len(graph.classes)
    labels[wrong] = (labels[wrong] + random.integers(1, classes, len(wrong))) % classes
    spoilt = Graph.from_scipy(
        graph.adjacency,
        graph.features,
        labels,
        classes=graph.classes,
        nodes=graph.nodes,
        split={"train": train},
    )
    return spoilt, set(graph.nodes[wrong].tolist())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graphs", default=GRAPHS)
    parser.add_argument("--draws", type=int, default=DRAWS)
    parser.add_argument("--share", type=float, default=0.1)
    arguments = parser.parse_args()
    rows = []
    for name in arguments.graphs.split(","):
        graph = datasets.load(name)
        first, flagged, hits, noise = [], [], [], []
        for seed in range(arguments.draws):
            spoilt, wrong = flipped(graph, arguments.share, seed)
            found = suspects(spoilt)
            first.append(np.mean([node in wrong for node in found.nodes[: len(wrong)]]))
            flagged.append(found.count)
            hits.append(sum(node in wrong for node in found.nodes[: found.count]))
            noise.append(found.noise)
        rows.append(
            {
                "graph": name,
                "labels": len(graph.split["train"]),
                "flipped": len(wrong),
                "precision": round(float(np.mean(first)), 3),
                "its deviation": round(float(np.std(first, ddof=1)), 3),
                "look wrong": round(float(np.mean(flagged)), 1),
                "of these flipped": round(sum(hits) / max(sum(flagged), 1), 3),
                "estimated share": round(float(np.mean(noise)), 3),
                "look wrong, none flipped": suspects(graph).count,
            }
        )
    whole = arguments.graphs == GRAPHS and arguments.draws == DRAWS and arguments.share == 0.1
    report("suspects", rows, whole=whole, draws=arguments.draws, share=arguments.share)


if __name__ == "__main__":
    main()
