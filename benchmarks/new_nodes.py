"""New nodes labelled by a run of before, against a fit on everything.

200 nodes that neither train nor validate are held back, with their edges; the rest is fitted, the
graph grown by them (columns in another order, a category that was not seen), and their labels are
compared with the truth, beside those of a fit on the whole graph. Then the seconds that reading,
growing and labelling take where the graph has 20,000 nodes, torch aside.

python benchmarks/new_nodes.py [--draws 5] [--recipes linear,spreading]
"""

from __future__ import annotations

import argparse
import time

import numpy as np
import pandas as pd
import scipy.sparse as sp
from interleave import report

import graphheat
from graphheat import Graph, datasets

HELD_BACK = 200
FRUITS = np.array(["apple", "banana", "cherry", "date"])


def tables(graph: Graph, seed: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return a block model as tables: numbers, and a category that shows the class, mostly."""
    draw = np.random.default_rng(seed)
    upper = sp.triu(graph.adjacency).tocoo()
    fruit = np.where(draw.random(graph.n) < 0.7, graph.labels, draw.integers(0, 4, graph.n))
    nodes = pd.DataFrame(np.asarray(graph.features), columns=list("hvwxyz"))
    nodes.insert(0, "id", np.arange(graph.n))
    nodes["fruit"] = FRUITS[fruit]
    known = np.isin(np.arange(graph.n), graph.split.train)
    nodes["label"] = pd.Series(graph.labels).map("c{}".format).where(known)
    return pd.DataFrame({"source": upper.row, "target": upper.col}), nodes


def block_draw(seed: int, recipe: str) -> tuple[float, float]:
    """Return accuracies on nodes of a block model: by the run of before, and by a new fit."""
    blocks = datasets.block_model(3000, 4, features=6, labels_per_class=20, seed=seed)
    edges, nodes = tables(blocks, seed)
    free = np.setdiff1d(np.arange(blocks.n), [*blocks.split.train, *blocks.split.val])
    rows = np.sort(np.random.default_rng(seed).choice(free, HELD_BACK, replace=False))
    new = nodes["id"].isin(rows)
    later = edges["source"].isin(rows) | edges["target"].isin(rows)
    old = Graph.from_frames(edges[~later], nodes[~new])
    added = nodes[new].drop(columns="label")[["fruit", *"zyxwvh", "id"]]
    added.iloc[:5, 0] = "elderberry"  # not seen before
    grown = old.extended(added, edges[later])
    run = graphheat.fit(old, recipe, threads=1)
    found = run.predict(grown, nodes=rows.tolist())
    whole = graphheat.fit(Graph.from_frames(edges, nodes), recipe, threads=1)
    truth = np.array([f"c{code}" for code in blocks.labels[rows]])
    names = np.array(run.classes)
    return (
        float((names[found.predicted] == truth).mean()),
        float((names[whole.predicted[rows]] == truth).mean()),
    )


def cora_draw(seed: int, recipe: str) -> tuple[float, float]:
    """Return the same on Cora, whose features are sparse."""
    cora = datasets.load("cora")
    free = np.setdiff1d(np.arange(cora.n), [*cora.split.train, *cora.split.val])
    rows = np.sort(np.random.default_rng(seed).choice(free, HELD_BACK, replace=False))
    keep = np.setdiff1d(np.arange(cora.n), rows)
    place = np.full(cora.n, -1)
    place[keep] = np.arange(len(keep))
    split = {name: place[part][place[part] >= 0] for name, part in cora.split.items()}
    features = sp.csr_array(cora.features)
    old = Graph.from_scipy(
        cora.adjacency[keep][:, keep], features[keep], cora.labels[keep],
        classes=cora.classes, nodes=cora.nodes[keep], split=split,
    )  # fmt: skip
    upper = sp.triu(cora.adjacency).tocoo()
    later = np.isin(upper.row, rows) | np.isin(upper.col, rows)
    edges = list(zip(cora.nodes[upper.row[later]], cora.nodes[upper.col[later]], strict=True))
    grown = old.extended(cora.nodes[rows].tolist(), edges, features=features[rows])
    run = graphheat.fit(old, recipe, threads=1)
    whole = graphheat.fit(cora, recipe, threads=1)
    found = run.predict(grown, nodes=cora.nodes[rows].tolist())
    truth = cora.labels[rows]
    return float((found.predicted == truth).mean()), float((whole.predicted[rows] == truth).mean())


def seconds(recipe: str, rounds: int = 5) -> tuple[float, float]:
    """Return the least seconds to grow 20,000 nodes by 200, and to label these."""
    blocks = datasets.block_model(20_000, 4, features=6, labels_per_class=20, seed=0)
    edges, nodes = tables(blocks, 0)
    rows = np.arange(19_800, 20_000)
    new = nodes["id"].isin(rows)
    later = edges["source"].isin(rows) | edges["target"].isin(rows)
    old = Graph.from_frames(edges[~later], nodes[~new])
    run = graphheat.fit(old, recipe, threads=1)
    growing, labelling = [], []
    for _ in range(rounds):
        began = time.perf_counter()
        grown = old.extended(nodes[new].drop(columns="label"), edges[later])
        growing.append(time.perf_counter() - began)
        began = time.perf_counter()
        run.predict(grown, nodes=rows.tolist())
        labelling.append(time.perf_counter() - began)
    return min(growing), min(labelling)


def main() -> None:
    """Measure, print a table and write results/new_nodes.json."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--recipes", default="linear,spreading")
    given = parser.parse_args()
    rows = []
    for recipe in given.recipes.split(","):
        growing, labelling = seconds(recipe)
        for name, draw in (("block model", block_draw), ("cora", cora_draw)):
            pairs = np.array([draw(seed, recipe) for seed in range(given.draws)])
            rows.append(
                {
                    "graph": name,
                    "recipe": recipe,
                    "run of before": round(float(pairs[:, 0].mean()), 4),
                    "new fit": round(float(pairs[:, 1].mean()), 4),
                    "difference": round(float((pairs[:, 0] - pairs[:, 1]).mean()), 4),
                    "worst": round(float((pairs[:, 0] - pairs[:, 1]).min()), 4),
                    "seconds to grow 20,000": round(growing, 3),
                    "to label": round(labelling, 3),
                }
            )
    report("new_nodes", rows, draws=given.draws)


if __name__ == "__main__":
    main()
