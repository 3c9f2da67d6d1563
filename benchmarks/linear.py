"""The linear recipe on the public splits: accuracy, what it chose, and seconds, choice included.

python benchmarks/linear.py [--rounds 3] [--graphs cora,citeseer,pubmed]
"""

from __future__ import annotations

import argparse

from interleave import report
from kept_runs import GRAPHS

import graphheat


def main() -> None:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--graphs", default=GRAPHS)
    arguments = options.parse_args()
    rows = []
    for name in arguments.graphs.split(","):
        graph = graphheat.datasets.load(name)
        made = [graphheat.fit(graph, "linear") for _ in range(arguments.rounds)]
        run = made[0]
        rows.append(
            {
                "graph": name,
                "test %": round(100 * run.test_accuracy, 1),
                "validation %": round(100 * run.val_accuracy, 1),
                "scaling": run.scaling.kind,
                "own": run.own,
                "s": run.s,
                "l2": run.l2,
                "tried": len(run.path),
                "seconds, best": round(min(each.seconds for each in made), 1),
            }
        )
    report("linear", rows, whole=arguments.graphs == GRAPHS)


if __name__ == "__main__":
    main()
