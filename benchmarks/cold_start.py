"""How long a new process takes to Cora's kernel and to 64 diffused columns.

    python benchmarks/cold_start.py [--rounds 3]

Columns go by numba: once with an empty compile cache, once with the one that this leaves behind.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time

from interleave import report

CODE = """
import graphheat
graphheat.HeatKernel(graphheat.datasets.load("cora"), 3.5).matrix(1e-4)
"""
COLUMNS = """
import numpy as np, graphheat
graphheat.HeatKernel(graphheat.datasets.load("cora"), 3.5).apply(np.ones((2708, 64)))
"""


def seconds(code: str, cache: str) -> float:
    started = time.perf_counter()
    subprocess.run(
        [sys.executable, "-c", code], check=True, env={**os.environ, "NUMBA_CACHE_DIR": cache}
    )
    return time.perf_counter() - started


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    codes = {
        "python alone": "pass",
        "import graphheat": "import graphheat",
        "Cora's kernel": CODE,
        "64 columns on Cora, nothing compiled": COLUMNS,
        "64 columns on Cora, compiled before": COLUMNS,
    }
    times: dict[str, list[float]] = {name: [] for name in codes}
    for _ in range(arguments.rounds):
        with tempfile.TemporaryDirectory() as cache:
            for name, code in codes.items():
                times[name].append(seconds(code, cache))
    report("cold_start", [{"process": k, "seconds": min(v)} for k, v in times.items()])


if __name__ == "__main__":
    main()
