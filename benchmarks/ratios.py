"""Ratios over time: our seconds in units of a peer's, kept by commit, so that a regression is seen.

    python benchmarks/ratios.py            # measure, compare with what is kept, keep it
    python benchmarks/ratios.py --check    # compare only; exit code 1 where a ratio grew by 20 %

A ratio is the best of several interleaved rounds, ours over the peer's, in one process and one
thread; it is compared with the median of the last five that are kept in results/ratios.csv.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas
from interleave import RESULTS, best_of, markdown
from scipy.linalg import eigh
from scipy.sparse.linalg import expm_multiply
from sklearn.linear_model import LogisticRegression
from sklearn.semi_supervised import LabelSpreading

import graphheat

KEPT = RESULTS / "ratios.csv"
GROWTH = 1.2  # of a ratio, from which on it is a regression
LAST = 5


def pairs() -> dict[str, tuple[Callable[[], Any], Callable[[], Any]]]:
    """Return what is measured: ours, and the peer that is the unit."""
    cora = graphheat.datasets.load("cora")
    signal = np.random.default_rng(0).random((cora.n, 16))
    kernel = graphheat.HeatKernel(cora, s=3.5, tol=1e-6, threads=1)
    laplacian = graphheat.heat.laplacian(cora.adjacency)
    dense = laplacian.toarray()
    train = cora.split["train"]
    features = cora.features.toarray()
    y = np.full(cora.n, -1)
    y[train] = cora.labels[train]
    neighbours = LabelSpreading(kernel="knn", n_neighbors=7)
    return {
        "apply, 16 columns / SciPy's expm_multiply": (
            lambda: kernel.apply(signal),
            lambda: expm_multiply(-3.5 * laplacian, signal),
        ),
        "matrix, eps 1e-4 / eigendecomposition": (
            lambda: graphheat.HeatKernel(cora, s=3.5, tol=1e-6, threads=1).matrix(1e-4),
            lambda: eigh(dense),
        ),
        "linear recipe / a grid of five logistic regressions": (
            lambda: graphheat.fit(cora, "linear", threads=1),
            lambda: [
                LogisticRegression(C=C, max_iter=200).fit(features[train], cora.labels[train])
                for C in (0.01, 0.1, 1, 10, 100)
            ],
        ),
        "label spreading / scikit-learn's, by nearest neighbours": (
            lambda: graphheat.HeatLabelSpreading().fit(cora),
            lambda: neighbours.fit(features, y),
        ),
    }


def judged(ratios: dict[str, float], kept: pandas.DataFrame) -> list[dict[str, Any]]:
    """Return a row per ratio: now, the median of the last that are kept, and how much it grew."""
    rows = []
    for name, now in ratios.items():
        before = kept.loc[kept["what"] == name, "ratio"].tail(LAST)
        usual = float(before.median()) if len(before) else None
        grown = None if usual is None else now / usual
        verdict = "new" if grown is None else "REGRESSION" if grown >= GROWTH else "ok"
        rows.append({"what": name, "ratio": now, "usual": usual, "grown": grown, "": verdict})
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    ratios = {}
    for name, (ours, peer) in pairs().items():
        ours(), peer()  # what is loaded and compiled at the first call is not measured
        best = best_of({"ours": ours, "peer": peer}, options.rounds)
        ratios[name] = best["ours"] / best["peer"]
    columns = ["commit", "version", "what", "ratio"]
    kept = pandas.read_csv(KEPT) if KEPT.exists() else pandas.DataFrame(columns=columns)
    rows = judged(ratios, kept)
    print(markdown(rows))
    if options.check:
        return int(any(row[""] == "REGRESSION" for row in rows))
    asked = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=True
    )
    commit = asked.stdout.strip()
    new = [[commit, graphheat.__version__, name, round(ratio, 4)] for name, ratio in ratios.items()]
    added = pandas.DataFrame(new, columns=columns)
    (added if kept.empty else pandas.concat([kept, added])).to_csv(KEPT, index=False)
    return 0


if __name__ == "__main__":
    sys.exit(main())
