"""How long a new process with an empty compile cache takes to Cora's kernel.

python benchmarks/cold_start.py [--rounds 3]
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
    times: dict[str, list[float]] = {
        "python alone": [],
        "import graphheat": [],
        "Cora's kernel": [],
    }
    codes = dict(zip(times, ("pass", "import graphheat", CODE), strict=True))
    for _ in range(arguments.rounds):
        for name, code in codes.items():
            with tempfile.TemporaryDirectory() as cache:
                times[name].append(seconds(code, cache))
    report("cold_start", [{"process": k, "seconds": min(v)} for k, v in times.items()])


if __name__ == "__main__":
    main()
