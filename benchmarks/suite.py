"""The development suite: thirteen graphs, three regimes of labels, every recipe on the same splits.

Regimes: (a) 20 training labels per class and 30 per class for validation (at most a third of a
class each; the files' own masks where they have them), (b) 60 labels drawn at random, no validation
set, (c) 5 per class, no validation set. Split k is also seed k. Everything outside the split is the
test set. Needs the files of GRAPHHEAT_DATA (or of ../shared/data beside the clone).

python benchmarks/suite.py [--systems auto,linear] [--regimes abc] [--splits 5] [--part 1/2]
python benchmarks/suite.py --table
"""

from __future__ import annotations

import argparse
import functools
import os
import time
from pathlib import Path
from typing import Any

import numpy as np
from interleave import report
from ledger import Task, add_part, carry_out
from numpy.typing import NDArray
from sklearn.metrics import balanced_accuracy_score

import graphheat
from graphheat import Graph, recipes
from graphheat.calibration import reliability
from graphheat.io import read_npz

DATA = Path(os.environ.get("GRAPHHEAT_DATA") or Path(__file__).parents[2] / "shared" / "data")
BUNDLED = ("cora", "citeseer", "pubmed")
FILES = {
    "amazon_photo": DATA / "amazon_photo.npz",
    **{
        name: DATA / "development" / f"{name}.npz"
        for name in (
            "acm", "blogcatalog", "flickr", "uai", "citeseer_full", "cora_ml", "minesweeper",
            "wisconsin", "twitch_de",
        )
    },
}  # fmt: skip
GRAPHS = (*BUNDLED, *FILES)
SYSTEMS: dict[str, dict[str, Any]] = {
    "auto": {"recipe": "auto"},
    "spreading": {"recipe": "spreading"},
    "linear": {"recipe": "linear"},
    "ensemble": {"recipe": "ensemble"},
    "mlp": {"recipe": "mlp"},
    "gcn": {"recipe": "gcn"},
    "paper": {"recipe": "paper"},
    "consistent": {"recipe": "consistent"},  # the former default, for the calibration error
    # Of Shchur et al. (2018), who also train for as long as it takes.
    "gcn, tuned": {
        "recipe": "gcn", "hidden": 64, "dropout": 0.8, "l2": 1e-3, "max_epochs": 100_000,
        "patience": 50,
    },
}  # fmt: skip
PEERS = ("spreading", "linear", "mlp", "ensemble")  # what auto must not fall behind


def main() -> None:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--systems", default=";".join(SYSTEMS))
    options.add_argument("--graphs", default=",".join(GRAPHS))
    options.add_argument("--regimes", default="abc")
    options.add_argument("--splits", type=int, default=5)
    options.add_argument("--table", action="store_true", help="only show what is there")
    add_part(options)
    arguments = options.parse_args()
    tasks = [
        {"system": system, "graph": graph, "regime": regime, "split": split}
        for split in range(arguments.splits)
        for regime in arguments.regimes
        for graph in arguments.graphs.split(",")
        for system in arguments.systems.split(";")
    ]
    part = "0/1" if arguments.table else arguments.part
    rows = carry_out("suite", tasks, work, part=part, out=arguments.out)
    report("suite", summary(rows), whole=arguments.table)


def work(task: Task) -> dict[str, Any]:
    """Label a graph from a split; seconds are of the processor, without the reading."""
    where = task["graph"], task["regime"], task["split"]
    if (where, task["system"]) in _STAGES:  # fitted a moment ago as a stage of auto: the same run
        return _STAGES[where, task["system"]]
    graph = parted(*where)
    began = time.process_time()

    def stage(run: Any) -> None:
        if run.recipe in ("spreading", "ensemble"):  # linear is an average there
            _STAGES[where, run.recipe] = scores(graph, run, time.process_time() - began)

    recipe = recipes.get(SYSTEMS[task["system"]]["recipe"])
    changes = {key: value for key, value in SYSTEMS[task["system"]].items() if key != "recipe"}
    prepared = recipe.prepare(graph, recipe.settings(graph, **changes), threads=1)
    run = recipe.fit(prepared, task["split"], stage=stage)
    return scores(graph, run, time.process_time() - began)


_STAGES: dict[tuple[tuple[str, str, int], str], dict[str, Any]] = {}


def scores(graph: Graph, run: Any, seconds: float) -> dict[str, Any]:
    """Return what a run is worth on the test nodes."""
    test = graph.split.test
    truth, predicted = graph.labels[test], run.predicted[test]
    return {
        "accuracy": round(float((truth == predicted).mean()), 5),
        "balanced": round(float(balanced_accuracy_score(truth, predicted)), 5),
        "calibration": round(reliability(_confidence(run), graph.labels, test).error, 5),
        "seconds": round(seconds, 2),
    }


def _confidence(run: Any) -> NDArray[Any]:
    """Return the probabilities that a user is shown: calibrated ones where there are any."""
    calibrated = run.calibrated
    return run.probabilities if calibrated is None else calibrated


@functools.lru_cache(maxsize=1)
def whole(name: str) -> Graph:
    """Read a graph, all of whose labels are known."""
    return graphheat.datasets.load(name) if name in BUNDLED else read_npz(FILES[name])


def parted(name: str, regime: str, split: int) -> Graph:
    """Return a graph with the split of a regime."""
    graph = whole(name)
    masks = np.load(FILES[name]) if name in FILES else {}
    if regime == "a" and "train_masks" in masks:
        keys = {"train": "train_masks", "val": "val_masks", "test": "test_masks"}
        return graph.with_split(
            **{part: np.flatnonzero(masks[key][split]) for part, key in keys.items()}
        )
    return drawn(graph, regime, split)


def drawn(graph: Graph, regime: str, split: int) -> Graph:
    """Return a graph with labels drawn as a regime says."""
    labelled = np.flatnonzero(graph.labels >= 0)
    if regime == "b":
        chosen = np.random.default_rng(split).choice(labelled, 60, replace=False)
        return _with_split(graph, {"train": chosen})
    most = (20, 30) if regime == "a" else (5, 0)
    random = np.random.default_rng(split)
    found: dict[str, list[NDArray[np.int64]]] = {"train": [], "val": []}
    for code in range(len(graph.classes)):
        members = random.permutation(np.flatnonzero(graph.labels == code))
        train, val = (min(count, len(members) // 3) for count in most)
        found["train"].append(members[:train])
        found["val"].append(members[train : train + val])
    parts = {part: np.concatenate(nodes) for part, nodes in found.items()}
    return _with_split(graph, {part: nodes for part, nodes in parts.items() if len(nodes)})


def _with_split(graph: Graph, parts: dict[str, NDArray[np.int64]]) -> Graph:
    rest = graph.labels >= 0
    for nodes in parts.values():
        rest[nodes] = False
    sorted_parts = {part: np.sort(nodes) for part, nodes in parts.items()}
    return graph.with_split(**sorted_parts, test=np.flatnonzero(rest))


def summary(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return a row for each graph and regime: accuracy / balanced accuracy of every system."""
    table = []
    for graph, regime in dict.fromkeys((row["graph"], row["regime"]) for row in rows):
        here = [row for row in rows if (row["graph"], row["regime"]) == (graph, regime)]
        counted = len({row["split"] for row in here if row["system"] == "auto"})
        line: dict[str, Any] = {"graph": graph, "labels": regime, "n": counted}
        for system in dict.fromkeys(row["system"] for row in here):
            mine = [row for row in here if row["system"] == system]
            accuracy, balanced = (
                100 * float(np.mean([row[name] for row in mine]))
                for name in ("accuracy", "balanced")
            )
            line[system] = f"{accuracy:.1f} / {balanced:.1f}"
        for name in ("accuracy", "balanced"):
            line[f"gap, {name}"] = _gap(here, name)
        table.append(line)
    return table


def _gap(rows: list[dict[str, Any]], name: str) -> str | None:
    """Return how far auto is above the best of its peers in the mean, with a standard error."""
    of = {
        system: {row["split"]: row[name] for row in rows if row["system"] == system}
        for system in ("auto", *PEERS)
    }
    if not of["auto"] or not any(of[peer] for peer in PEERS):
        return None
    best = max(PEERS, key=lambda peer: np.mean(list(of[peer].values())) if of[peer] else -1)
    both = sorted(of["auto"].keys() & of[best].keys())
    apart = 100 * np.array([of["auto"][key] - of[best][key] for key in both])
    error = apart.std(ddof=1) / np.sqrt(len(apart)) if len(apart) > 1 else float("nan")
    return f"{apart.mean():+.1f} ± {error:.1f} ({best})"


if __name__ == "__main__":
    main()
