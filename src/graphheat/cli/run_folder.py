"""The files of a run: a checkpoint, and what people read."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphheat.checks import shown
from graphheat.errors import OutputError
from graphheat.io import check_writable, replacing
from graphheat.io.file_lock import locked
from graphheat.io.spreadsheet import guarded_frame
from graphheat.runs import Run
from graphheat.runs.checkpoint import FILENAME
from graphheat.runs.run_file import HISTORY_COLUMNS

if TYPE_CHECKING:
    import pandas

FILES = (
    FILENAME,
    "predictions.csv",
    "history.csv",
    "metrics.json",
    "path.csv",
    "path.png",
    "training.png",
    "reliability.png",
)


LOCK = ".graphheat.lock"


@contextmanager
def claimed_folder(path: str, *, several: bool, resume: bool, force: bool) -> Iterator[Path]:
    """Hold a folder for a run, or for ``several``; or raise before anything is computed.

    A second process that claims it meanwhile learns who holds it.
    """
    folder = make_folder(path)
    with locked(folder / LOCK, folder):
        _check_held(folder, several=several, resume=resume, force=force)
        yield folder


def make_folder(path: str) -> Path:
    """Return a folder that can be written to, made where it is not there; or raise."""
    folder = Path(path)
    try:
        if not path.strip():
            raise OutputError("A folder needs a name; --out is empty.")
        if folder.exists() and not folder.is_dir():
            raise OutputError(f"{folder} is a file; name a folder.")
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:  # no permission, a name too long, NUL
        if isinstance(error, OutputError):
            raise
        reason = error.strerror if isinstance(error, OSError) else error
        raise OutputError(f"{shown(folder)} cannot be made: {reason}.") from error
    if not os.access(folder, os.W_OK | os.X_OK):
        raise OutputError(f"{folder} cannot be written to.")
    return folder


def _check_held(folder: Path, *, several: bool, resume: bool, force: bool) -> None:
    held = held_files(folder)
    if held and not (resume or force):
        raise OutputError(
            f"{folder} already holds a run. Pass --resume to go on with it, or --force to "
            "replace it."
        )
    if resume and several and (folder / FILENAME).exists():
        raise OutputError(f"{folder} holds a single run; resume it without --seeds.")
    if resume and not several and _seed_folders(folder):
        raise OutputError(f"{folder} holds several runs; resume them with --seeds.")
    for file in _run_files(folder):
        check_writable(file)  # a device, or what the command reads, is not replaced


def clear(folder: Path, *, keep_runs: bool) -> None:
    """Remove what a killed process left half-written and, unless ``keep_runs``, whole runs."""
    for place in (*_seed_folders(folder), folder):
        doomed = [file for name in FILES for file in _asides(place, name)]
        for file in doomed if keep_runs else [*doomed, *_run_files(place)]:
            file.unlink()
        if place != folder and not any(place.iterdir()):
            place.rmdir()


def held_files(folder: Path) -> list[Path]:
    """Return the files of a run in a folder, and its folders of seeds."""
    return [*_run_files(folder), *_seed_folders(folder)]


def _asides(folder: Path, name: str) -> list[Path]:
    stem, suffix = Path(name).stem, Path(name).suffix
    return list(folder.glob(f".{stem}.*.part{suffix}"))


def _run_files(folder: Path) -> list[Path]:
    return [folder / name for name in FILES if (folder / name).exists()]


def _seed_folders(folder: Path) -> list[Path]:
    return [path for path in sorted(folder.glob("seed-*")) if path.is_dir()]


def seed_folder(folder: Path, seed: int) -> Path:
    """Return (and make) the folder of one seed among several."""
    path = folder / f"seed-{seed}"
    path.mkdir(exist_ok=True)
    return path


def write_labels(folder: Path, run: Run, *, safe: bool = False) -> None:
    """Write the labels of every node, as far as they are known."""
    write_csv(folder / "predictions.csv", run.predictions_frame(), safe=safe)


def write_run(folder: Path, run: Run, metrics: dict[str, Any], *, safe: bool = False) -> None:
    """Write predictions, metrics, what was tried or learned, and pictures beside the checkpoint.

    Pictures come last: whatever may be wrong with them, the labels are there.
    """
    write_labels(folder, run, safe=safe)
    write_metrics(folder, {**metrics, "calibration": run.calibration_report()})
    if run.history:
        import pandas

        history = pandas.DataFrame({name: run.history[name] for name in HISTORY_COLUMNS})
        history.insert(0, "epoch", range(1, run.epochs + 1))
        write_csv(folder / "history.csv", history)
    searched = run.search is not None and len(run.search)
    if searched:
        write_csv(folder / "path.csv", run.search.frame())
    if run.history or searched or len(run.members("test")):
        from graphheat import plot

        if run.history:
            plot.save(plot.training_curve(run), folder / "training.png")
        if searched:
            plot.save(plot.path(run), folder / "path.png")
        if len(run.members("test")):
            plot.save(plot.reliability(run), folder / "reliability.png")


def write_csv(path: str | Path, frame: pandas.DataFrame, *, safe: bool = False) -> None:
    """Write a frame as CSV, as a whole; ``safe``: no cell of it is taken for a formula."""
    with replacing(path) as aside:
        (guarded_frame(frame) if safe else frame).to_csv(aside, index=False)


def write_metrics(folder: Path, metrics: dict[str, Any]) -> None:
    """Write ``metrics.json``, as a whole."""
    with replacing(folder / "metrics.json") as aside:
        aside.write_text(json.dumps(metrics, indent=2, allow_nan=False) + "\n")
