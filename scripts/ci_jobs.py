"""The environments that a release must work in, each a job: ``make ci-full`` runs them all.

    python scripts/ci_jobs.py [wheel] [no-torch] [no-numba] [lowest] [python3.12] …

A job makes a virtual environment in a temporary folder, installs the built wheel there (never the
source tree), and runs tests against what is installed. A failed test fails the job, and so does an
installation of the first five jobs, which is tried three times. Another Python is optional: where
it or one of its wheels cannot be had, or no time is left of ``--minutes``, its job is skipped, and
its line says why. Torch is in none of these environments, as its usual builds come with gigabytes
of CUDA; ``make test`` has it.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RUNNERS = ("pytest", "pytest-timeout", "pytest-xdist", "hypothesis", "networkx")
TABLES = ("pyarrow", "polars", "openpyxl", "zstandard")

# What a job takes at most on two slow cores; a command that takes longer hangs.
MINUTES_PER_COMMAND = 20
MINUTES_PER_JOB = 6

# The boxes that need no torch, without what takes long and is the same in every environment.
BOXES = (
    *("tests/graph", "tests/features", "tests/io", "tests/calibration", "tests/datasets"),
    *("tests/linear", "tests/runs", "tests/test_suitability.py"),
    *("tests/estimators/test_estimators_node_folds.py", "tests/cli/test_cli_suspects.py"),
)
HEAT = ("tests/heat", "tests/filters")
FEW = ("tests/graph", "tests/io/test_io_formats.py", "tests/calibration", "tests/linear")


class JobError(Exception):
    """A job failed."""


class NotHereError(Exception):
    """What an optional job needs is not to be had here."""


def run(*words: str | Path, cwd: Path = ROOT) -> None:
    """Run a command; what it printed is shown only if it fails."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    shown = " ".join(str(word) for word in words[:6])
    try:
        done = subprocess.run(
            [str(word) for word in words],
            cwd=cwd,
            env={**kept, "OMP_NUM_THREADS": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=60 * MINUTES_PER_COMMAND,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise JobError(f"{shown} …: not done after {MINUTES_PER_COMMAND} minutes") from error
    if done.returncode:
        print(done.stdout, flush=True)
        raise JobError(f"{shown} …: exit code {done.returncode}")


@dataclass(frozen=True)
class Environment:
    """An empty virtual environment in a folder of its own."""

    folder: Path
    interpreter: str = sys.executable

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return self.folder / "bin" / "python"

    def install(self, *words: str | Path, tries: int = 3) -> None:
        """Install by pip; a network that fails is tried again."""
        if not self.python.exists():
            run(self.interpreter, "-m", "venv", self.folder)
        pip = (self.python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
        for left in reversed(range(tries)):
            try:
                return run(*pip, *words)
            except JobError:
                if not left:
                    raise
                time.sleep(5)

    def try_commands(self) -> None:
        """From files to labels and a page, in an empty folder, by the installed command."""
        folder = self.folder / "tried"
        shutil.copytree(ROOT / "examples" / "people", folder)
        command = self.python.parent / "graphheat"
        table = ("edges.csv", "--nodes", "nodes.csv", "--label-column", "drink")
        run(command, "--version", cwd=folder)
        run(command, "info", *table, cwd=folder)
        run(command, "fit", *table, "--out", "run", cwd=folder)
        run(command, "predict", "run", "--out", "drinks.csv", cwd=folder)
        run(command, "explain", "run", "hal.ford", cwd=folder)
        run(command, "explore", "run", "--out", "drinks.html", cwd=folder)
        run(command, "paper", "table2", "--rows", "lp,graphheat", cwd=folder)  # of the wheel

    def test(self, *paths: str) -> None:
        """Run tests (paths and options of pytest) against what is installed, not the sources."""
        words = ("-n", "2", "--dist", "worksteal", "-p", "no:cacheprovider")
        run(self.python, "-m", "pytest", *words, *paths)


def pinned(*words: str | Path) -> tuple[str | Path, ...]:
    """Return what to install, in the versions that ``make test`` has."""
    return ("-c", ROOT / "constraints.txt", *words)


def wheel(environment: Environment, built: Path) -> None:
    """Install the wheel and what it requires, nothing else, and try it."""
    environment.install(*pinned(built))
    environment.try_commands()


def no_torch(environment: Environment, built: Path) -> None:
    """Test what works without torch."""
    environment.install(*pinned(built, *RUNNERS, *TABLES, "duckdb"))
    environment.test(*BOXES, *HEAT, "tests/test_without_torch.py")


def no_numba(environment: Environment, built: Path) -> None:
    """Take numba away: SciPy's engine does its work, more slowly."""
    environment.install(*pinned(built, *RUNNERS, *TABLES))
    run(environment.python, "-m", "pip", "uninstall", "--quiet", "--yes", "numba", "llvmlite")
    environment.try_commands()
    environment.test(*FEW)


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


def lowest(environment: Environment, built: Path) -> None:
    """Install the lowest versions that are declared."""
    environment.install(built, *lowest_versions(), *RUNNERS)
    environment.try_commands()
    # Old releases call what newer ones of their own dependencies deprecate.
    environment.test("-W", "ignore::DeprecationWarning", *BOXES, *HEAT)


def newest(environment: Environment, built: Path) -> None:
    """Install as a stranger does: what the index offers today, without our pins."""
    environment.install(built, *RUNNERS)
    environment.try_commands()
    environment.test(*FEW)


def another_python(environment: Environment, built: Path) -> None:
    """Try another interpreter."""
    try:
        environment.install(*pinned(built, *RUNNERS, *TABLES), tries=2)
    except JobError as error:
        raise NotHereError("its packages cannot be installed here") from error
    environment.try_commands()
    environment.test(*BOXES)


def interpreters(version: str) -> Iterator[str]:
    """Yield where a Python of a version may be: on the path, or of pyenv."""
    yield from filter(None, [shutil.which(version)])
    folder = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    number = version.removeprefix("python")
    yield from (str(path) for path in sorted(folder.glob(f"{number}.*/bin/python"), reverse=True))


def found_interpreter(version: str) -> str:
    """Return a Python of a version that runs and is that version: a shim of pyenv may not be."""
    asked = "import sys, ensurepip, venv; print('python%d.%d' % sys.version_info[:2])"
    for path in interpreters(version):
        answer = subprocess.run([path, "-c", asked], capture_output=True, text=True, check=False)
        if answer.returncode == 0 and answer.stdout.strip() == version:
            return path
    raise NotHereError(f"there is no {version} on this machine")


Job = Callable[[Environment, Path], None]
REQUIRED: Mapping[str, Job] = {
    "wheel": wheel,
    "no-torch": no_torch,
    "no-numba": no_numba,
    "lowest": lowest,
    "newest": newest,
}
OPTIONAL = ("python3.12", "python3.13", "python3.14")
NAMES = (*REQUIRED, *OPTIONAL)


def do(name: str, folder: Path, built: Path, minutes_left: float) -> None:
    """Do a job in a folder of its own."""
    if name in REQUIRED:
        return REQUIRED[name](Environment(folder), built)
    if minutes_left < MINUTES_PER_JOB:
        raise NotHereError(f"{minutes_left:.0f} minutes are left")
    return another_python(Environment(folder, found_interpreter(name)), built)


def build(folder: Path) -> Path:
    """Build the wheel from the sdist, so that what is published is what is tried; return it."""
    run(sys.executable, "-m", "build", "--outdir", folder, ROOT)
    return next(folder.glob("*.whl"))


def results(names: Sequence[str], minutes: float) -> Iterator[tuple[str, str]]:
    """Do the jobs in order; yield each one's name and how it ended."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="graphheat-ci-") as made:
        built = build(Path(made) / "dist")
        for name in names:
            started = time.monotonic()
            folder = Path(made) / name
            try:
                do(name, folder, built, minutes - (started - began) / 60)
                result = "passed"
            except NotHereError as reason:
                result = f"skipped: {reason}"
            except JobError as error:
                result = f"FAILED: {error}"
            shutil.rmtree(folder, ignore_errors=True)
            yield name, f"{time.monotonic() - started:4.0f} s  {result}"


def main() -> int:
    """Run the named jobs, or all; print how each ended."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("jobs", nargs="*", metavar="JOB", help=f"of {', '.join(NAMES)}")
    parser.add_argument("--minutes", type=float, default=25, help="for all jobs (25)")
    options = parser.parse_args()
    unknown = [name for name in options.jobs if name not in NAMES]
    if unknown:
        parser.error(f"There is no job {unknown[0]!r}; there are {', '.join(NAMES)}.")
    failed = False
    for name, result in results(options.jobs or NAMES, options.minutes):
        print(f"{name:12} {result}", flush=True)
        failed = failed or "FAILED" in result
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
