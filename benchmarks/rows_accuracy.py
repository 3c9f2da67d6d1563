"""Learning from rows beside learning from all diffused features: the linear recipe, both ways.

    python benchmarks/rows_accuracy.py [--splits 3]

The graphs of ``suite``, 20 labels per class to train and 30 to validate, as there. *rows* is what
graphs of 200,000 nodes and more, and graphs on disk, are fitted by.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np
from interleave import report
from suite import GRAPHS, parted

from graphheat.linear import row_diffusion
from graphheat.linear.linear_fit import fit_linear
from graphheat.linear.linear_run import LinearSettings


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--graphs", default=",".join(GRAPHS))
    given = parser.parse_args()
    rows: list[dict[str, Any]] = []
    for name in given.graphs.split(","):
        found: dict[str, list[float]] = {"all": [], "rows": []}
        seconds = {"all": 0.0, "rows": 0.0}
        for number in range(given.splits):
            graph = parted(name, "a", number)
            split = graph.completed_split(0, hold_out=False)
            for way, large in (("all", 10**9), ("rows", 0)):
                row_diffusion.LARGE = large
                started = time.process_time()
                run = fit_linear(graph, split, LinearSettings(), threads=1)
                seconds[way] += time.process_time() - started
                found[way].append(float(run.test_accuracy or 0.0))
        whole, local = (100 * float(np.mean(found[way])) for way in ("all", "rows"))
        rows.append(
            {"graph": name, "all features %": whole, "rows %": local, "difference": local - whole,
             "all s": seconds["all"] / given.splits, "rows s": seconds["rows"] / given.splits}
        )  # fmt: skip
        print(rows[-1], flush=True)
    mean = float(np.mean([row["difference"] for row in rows]))
    report("rows_accuracy", rows, splits=given.splits, mean_difference=round(mean, 2))


if __name__ == "__main__":
    main()
