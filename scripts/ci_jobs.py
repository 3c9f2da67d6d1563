"""The environments that a release must work in, each a job: ``make ci-full`` runs them all.

    python scripts/ci_jobs.py [wheel] [no-numba] [lowest] [python3.12] [python3.13] [python3.14]

A job makes a virtual environment under build/ci, installs the built wheel there (never the source
tree), and runs tests against what is installed. An interpreter that is not to be had is named and
skipped. Torch is in none of these environments, as its oldest supported build comes with gigabytes
of CUDA; ``make test`` has it.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BUILD = ROOT / "build" / "ci"
RUNNERS = ["pytest", "pytest-timeout", "pytest-xdist", "hypothesis", "networkx", "coverage"]

# What needs no torch, chosen so that a job takes a few minutes: the lower boxes, and the command.
TESTS = [
    *("tests/graph", "tests/features", "tests/io", "tests/heat", "tests/calibration"),
    *(
        "tests/linear",
        "tests/datasets",
        "tests/runs",
        "tests/estimators/test_estimators_node_folds.py",
    ),
    *(
        "tests/cli/test_cli_suspects.py",
        "tests/cli/test_cli_predict_new.py",
        "tests/test_suitability.py",
    ),
]
NUMBA_TESTS = ["tests/graph", "tests/io/test_io_npz.py", "tests/calibration", "tests/linear"]


class JobError(Exception):
    """A job failed, or cannot run here."""


class NotHereError(JobError):
    """What a job needs is not to be had here."""


def run(*words: str | Path, cwd: Path = ROOT) -> None:
    """Run a command, or raise with its exit code."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    environment.pop("PYTHONPATH", None)
    done = subprocess.run([str(word) for word in words], cwd=cwd, env=environment, check=False)
    if done.returncode:
        raise JobError(
            f"{' '.join(str(word) for word in words[:6])} …: exit code {done.returncode}"
        )


def built_wheel() -> Path:
    """Build the wheel from the sdist, so that what is published is what is tried; return it."""
    out = BUILD / "dist"
    if not any(out.glob("*.whl")):
        shutil.rmtree(out, ignore_errors=True)
        run(sys.executable, "-m", "build", "--outdir", out, ROOT)
    return next(out.glob("*.whl"))


def environment(name: str, python: str = sys.executable) -> Path:
    """Make an empty virtual environment; return its interpreter."""
    folder = BUILD / name
    shutil.rmtree(folder, ignore_errors=True)
    run(python, "-m", "venv", folder)
    return folder / "bin" / "python"


def install(python: Path, *words: str | Path) -> None:
    """Install by pip."""
    run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *words)


def try_commands(python: Path) -> None:
    """From files to labels and a page, in an empty folder, by the installed command."""
    folder = BUILD / f"tried-{python.parents[1].name}"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(ROOT / "examples" / "people", folder)
    command = python.parent / "graphheat"
    table = ("edges.csv", "--nodes", "nodes.csv", "--label-column", "drink")
    run(command, "--version", cwd=folder)
    run(command, "info", *table, cwd=folder)
    run(command, "fit", *table, "--out", "run", cwd=folder)
    run(command, "predict", "run", "--out", "drinks.csv", cwd=folder)
    run(command, "explain", "run", "hal.ford", cwd=folder)
    run(command, "explore", "run", "--out", "drinks.html", cwd=folder)
    carried = "from importlib.resources import files; files('graphheat.paper').joinpath('runs.csv')"
    run(python, "-c", f"{carried}.open().readline()", cwd=folder)  # what `paper table2` shows


def test(python: Path, paths: Sequence[str]) -> None:
    """Run tests against what is installed: the source tree is not on the path."""
    run(python, "-m", "pytest", "-n", "2", "--dist", "worksteal", "-p", "no:cacheprovider", *paths)


def wheel() -> None:
    """Install the wheel as it is, without torch, and try it."""
    python = environment("wheel")
    install(python, "-c", ROOT / "constraints.txt", built_wheel(), *RUNNERS, "pyarrow", "duckdb",
            "openpyxl", "zstandard", "polars")  # fmt: skip
    try_commands(python)
    test(python, [*TESTS, "tests/test_without_torch.py"])


def no_numba() -> None:
    """Take numba away: SciPy's engine does its work, more slowly."""
    python = environment("no-numba")
    install(python, "-c", ROOT / "constraints.txt", built_wheel(), *RUNNERS, "pyarrow", "polars",
            "openpyxl", "zstandard")  # fmt: skip
    run(python, "-m", "pip", "uninstall", "--quiet", "--yes", "numba", "llvmlite")
    try_commands(python)
    test(python, NUMBA_TESTS)


def lowest_versions() -> list[str]:
    """Return the lowest version that pyproject.toml declares of each dependency."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = [*project["dependencies"], *project["optional-dependencies"]["tables"]]
    found = []
    for requirement in wanted:
        match = re.fullmatch(r"([\w.\[\]-]+)>=([\w.]+)", requirement)
        if match is None:
            raise JobError(f"{requirement!r} declares no lowest version.")
        found.append(f"{match[1]}=={match[2]}")
    return found


def lowest() -> None:
    """Install the lowest versions that are declared."""
    python = environment("lowest")
    install(python, built_wheel(), *lowest_versions(), *RUNNERS)
    try_commands(python)
    test(python, TESTS)


def another_python(version: str) -> Callable[[], None]:
    """Return the job of another interpreter."""

    def job() -> None:
        found = shutil.which(version)
        folders = sorted(
            (Path.home() / ".pyenv" / "versions").glob(version.removeprefix("python") + "*")
        )
        if found is None and folders:
            found = str(folders[-1] / "bin" / "python")
        if found is None or subprocess.run([found, "--version"], check=False).returncode:
            raise NotHereError(f"There is no {version} on this machine.")
        python = environment(version, found)
        install(python, "-c", ROOT / "constraints.txt", built_wheel(), *RUNNERS, "pyarrow",
                "polars", "openpyxl", "zstandard")  # fmt: skip
        try_commands(python)
        test(python, TESTS)

    return job


JOBS: dict[str, Callable[[], None]] = {
    "wheel": wheel,
    "no-numba": no_numba,
    "lowest": lowest,
    **{name: another_python(name) for name in ("python3.12", "python3.13", "python3.14")},
}


def main() -> int:
    """Run the named jobs, or all; say how each ended."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("jobs", nargs="*", metavar="JOB", help=f"of {', '.join(JOBS)}")
    named = parser.parse_args().jobs or list(JOBS)
    unknown = [name for name in named if name not in JOBS]
    if unknown:
        parser.error(f"There is no job {unknown[0]!r}; there are {', '.join(JOBS)}.")
    BUILD.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(BUILD / "dist", ignore_errors=True)
    ended = []
    for name in named:
        print(f"== {name}", flush=True)
        began = time.monotonic()
        try:
            JOBS[name]()
            result = "passed"
        except NotHereError as reason:
            result = f"skipped: {reason}"
        except JobError as error:
            result = f"FAILED: {error}"
        shutil.rmtree(BUILD / name, ignore_errors=True)
        ended.append(f"{name:12} {time.monotonic() - began:5.0f} s  {result}")
    print(*ended, sep="\n", flush=True)
    return 1 if any("FAILED" in line for line in ended) else 0


if __name__ == "__main__":
    sys.exit(main())
