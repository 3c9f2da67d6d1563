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
        run, chosen = made[0], made[0].settings_dict()
        rows.append(
            {
                "graph": name,
                "test %": round(100 * run.test_accuracy, 1),
                "validation %": round(100 * run.val_accuracy, 1),
                "scaling": chosen["scaling"],
                "self weight": chosen["self_weight"],
                "s": chosen["s"],
                "l2": chosen["l2"],
                "tried": len(run.search),
                "seconds, best": round(min(each.seconds for each in made), 1),
            }
        )
    report("linear", rows, whole=arguments.graphs == GRAPHS)


if __name__ == "__main__":
    main()
