"""How often prediction sets hold the true class, and how large they are.

The validation and test nodes of the public split are halved at random, again and again: one half
calibrates, the other is evaluated.

python benchmarks/prediction_sets.py [--recipe paper] [--seeds 1] [--halvings 100] [--runs FOLDER]
"""

from __future__ import annotations

import numpy as np
from interleave import report
from kept_runs import GRAPHS, parser, runs

from graphheat import Graph
from graphheat.calibration import prediction_sets
from graphheat.runs import Run


def halved(graph: Graph, run: Run, score: str, alpha: float, halvings: int) -> np.ndarray:
    """Return coverage, mean size and share of single classes of each halving, shape (halvings, 3).

    The halvings are the same for every score.
    """
    nodes = np.concatenate([run.members(part) for part in ("val", "calibration", "test")])
    random = np.random.default_rng(run.seed)
    rows = []
    for _ in range(halvings):
        mixed = random.permutation(nodes)
        calibration, evaluated = mixed[: len(mixed) // 2], mixed[len(mixed) // 2 :]
        sets = prediction_sets(
            run.probabilities, calibration, run.labels, alpha, score=score, graph=graph
        )[evaluated]
        sizes = sets.sum(axis=1)
        held = sets[np.arange(len(evaluated)), run.labels[evaluated]]
        rows.append((held.mean(), sizes.mean(), (sizes == 1).mean()))
    return np.array(rows)


def main() -> None:
    options = parser(__doc__, seeds=1)
    options.add_argument("--halvings", type=int, default=100)
    options.add_argument("--alpha", type=float, default=0.1)
    arguments = options.parse_args()
    rows = []
    for name in arguments.graphs.split(","):
        found: dict[str, list[np.ndarray]] = {"plain": [], "diffused": []}
        accuracies = []
        for graph, run in runs(arguments, name):
            accuracies.append(run.test_accuracy)
            for score, measured in found.items():
                measured.append(halved(graph, run, score, arguments.alpha, arguments.halvings))
        for score, measured in found.items():
            each = np.concatenate(measured)
            rows.append(
                {
                    "graph": name,
                    "score": score,
                    "coverage %": round(100 * each[:, 0].mean(), 2),
                    "its deviation": round(100 * each[:, 0].std(ddof=1), 2),
                    "classes per set": round(each[:, 1].mean(), 3),
                    "sets of one class %": round(100 * each[:, 2].mean(), 1),
                    "test accuracy %": round(100 * float(np.mean(accuracies)), 2),
                }
            )
    report(
        "prediction_sets",
        rows,
        whole=arguments.graphs == GRAPHS,
        recipe=arguments.recipe,
        settings=" ".join(arguments.given) or "the recipe's",
        runs=arguments.seeds,
        halvings=arguments.halvings,
        alpha=arguments.alpha,
    )


if __name__ == "__main__":
    main()
