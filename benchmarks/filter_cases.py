"""Random filters on random graphs against dense eigenvectors, and errors beside their bounds.

    python benchmarks/filter_cases.py [--cases 10000] [--first 0] [--jobs 1]

A case is a weighted graph of 1 to 30 nodes (weights over four decades, hubs, self-loops, isolated
nodes), a filter (each family with random parameters, sums and products of two), a Laplacian, a
tolerance of 1e-9 to 1e-1, an engine and signals of any size in float32 or float64; all of it
follows from the case's number. The reference is f(L) by ``eigh`` in float64, whose own error is
allowed for with 1e-11 of the largest |f|. A case that is refused (a tolerance beyond float64's
proven limit, a function too steep) is counted as such; a bound that is measured instead of proven
likewise, with its filter. Signals of the random walk are measured in the norm ‖D^{1/2}x‖.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
from interleave import report

sys.path.append(str(Path(__file__).parents[1] / "tests" / "contract"))

from random_case import outcome


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    ends: Counter[str] = Counter()
    families: dict[str, list[float]] = {}
    numbers = range(options.first, options.first + options.cases)
    pool = multiprocessing.get_context("spawn").Pool(options.jobs)
    for number, found in zip(numbers, pool.imap(outcome, numbers, 50), strict=True):
        ends[found["is"]] += 1
        families.setdefault(found["engine"], []).append(found["share"])
        if found["is"] not in ("proven", "beyond float64"):
            print(found, flush=True)
        if (number + 1) % 500 == 0:
            print(number + 1, dict(ends), flush=True)
    rows: list[dict[str, Any]] = [
        {
            "engine": engine,
            "cases": len(shares),
            "above their bound": sum(share > 1 for share in shares),
            "largest error / bound": max(shares),
            "median error / bound": float(np.median(shares)),
        }
        for engine, shares in families.items()
    ]
    rows.append({"engine": "all", "cases": sum(ends.values()), **ends})
    report("filter_cases", rows, whole=options.cases >= 10_000)
    if ends["above its bound"]:
        sys.exit(1)


if __name__ == "__main__":
    main()
