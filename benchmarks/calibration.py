"""Calibration error before and after temperature scaling, beside what chance alone shows.

Test nodes of the public split, 15 equal-width bins of confidence, mean over seeds.

python benchmarks/calibration.py [--recipe paper] [--seeds 20] [--calibration 0.3] [--runs FOLDER]
"""

from __future__ import annotations

import numpy as np
from interleave import report
from kept_runs import GRAPHS, parser, runs


def main() -> None:
    arguments = parser(__doc__, seeds=20).parse_args()
    rows = []
    for name in arguments.graphs.split(","):
        seen = [(run.calibration_report(), run.test_accuracy) for _, run in runs(arguments, name)]
        reports = [each for each, _ in seen]

        def mean(key: str, reports: list[dict[str, float]] = reports) -> float:
            return float(np.mean([each[key] for each in reports]))

        rows.append(
            {
                "graph": name,
                "learned on": reports[0]["learned_on"],
                "nodes": reports[0]["nodes"],
                "temperature": round(mean("temperature"), 3),
                "error before": round(mean("error_before"), 4),
                "error after": round(mean("error_after"), 4),
                "by chance": round(mean("expected_by_chance"), 4),
                "after − chance": round(mean("error_after") - mean("expected_by_chance"), 4),
                "test accuracy %": round(100 * float(np.mean([right for _, right in seen])), 2),
            }
        )
    report(
        "calibration",
        rows,
        whole=arguments.graphs == GRAPHS,
        recipe=arguments.recipe,
        settings=" ".join(arguments.given) or "the recipe's",
        runs=arguments.seeds,
        **({"calibration": arguments.calibration} if arguments.calibration else {}),
    )


if __name__ == "__main__":
    main()
