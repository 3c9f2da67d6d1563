"""Files of runs: which class reads one, and what all kinds keep alike."""

from __future__ import annotations

import os
from importlib import import_module
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any

import numpy as np

from graphheat.checks import shown
from graphheat.errors import CheckpointError, MissingPathError
from graphheat.features import FeatureSchema
from graphheat.io.archive import as_path, exists, is_folder, reason_of
from graphheat.protected_inputs import note_input
from graphheat.runs import checkpoint
from graphheat.runs.checkpoint import FILENAME, Arrays, Header
from graphheat.runs.run_schema import check_run_file

if TYPE_CHECKING:
    from graphheat.runs.run import Run

History = dict[str, list[float]]
HISTORY_COLUMNS = ("train_loss", "val_loss", "val_accuracy")

# The kinds of runs that come with the package, and where each lives; others register themselves
# when their module is imported.
KINDS: dict[str, str | type[Run]] = {
    "network": "graphheat.training.network_run:NetworkRun",
    "linear": "graphheat.linear.linear_run:LinearRun",
    "neighbors": "graphheat.linear.neighbor_run:NeighborRun",
    "spreading": "graphheat.linear.spreading:SpreadingRun",
    "label_sets": "graphheat.linear.label_sets_run:LabelSetsRun",
    "combined": "graphheat.runs.combined_run:CombinedRun",
    "sampled": "graphheat.linear.sampled_run:SampledRun",
    "disk": "graphheat.linear.disk_run:DiskRun",
    "baseline": "graphheat.baselines.baseline_run:BaselineRun",
}


def load_run(path: str | os.PathLike[str]) -> Run:
    """Read the run in a folder that ``graphheat fit --out`` wrote, or in a file, of any recipe.

    Examples
    --------
    >>> load_run("nowhere")
    Traceback (most recent call last):
        ...
    graphheat.errors.MissingPathError: There is no checkpoint at nowhere.
    """
    given = as_path(path)
    if is_folder(given):
        if not exists(given / FILENAME):
            several = sorted(each for each in given.glob("seed-*") if each.is_dir())
            if several:
                raise MissingPathError(
                    f"{given} holds several runs; name one of them, such as {several[0]}."
                )
        given = given / FILENAME
    parts = checkpoint.read(given)
    note_input(given.stat())
    return run_from(*parts, path=given)


def run_from(header: Header, arrays: Arrays, *, path: str | os.PathLike[str] = "The file") -> Run:
    """Rebuild a finished run, of the class that its kind names."""
    if header.get("state") != "finished":
        raise CheckpointError(
            f"{path} holds a run that was interrupted after {header.get('epoch')} epochs. "
            "Finish it first with --resume."
        )
    kind = str(header.get("kind"))
    if kind not in KINDS:
        for point in entry_points(group="graphheat.recipes"):
            point.load()  # a third party's runs register when its recipe is imported
    if kind not in KINDS:
        raise CheckpointError(
            f"{path} holds a run of the kind {shown(kind)!r}, which nothing here can read. "
            "Install what wrote it."
        )
    found = KINDS[kind]
    owner: type[Run] = resolve(found) if isinstance(found, str) else found
    check_run_file(header, arrays, path)
    try:
        return owner.from_parts(header, arrays)
    except CheckpointError:
        raise
    except (
        *(KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError),
        *(ZeroDivisionError, RecursionError),
    ) as error:  # what no declaration foresees, such as settings that contradict each other
        raise CheckpointError(f"{path} is damaged: {reason_of(error)}.") from error


def resolve(path: str) -> Any:
    """Return what ``"module:name"`` names."""
    module, _, name = path.partition(":")
    return getattr(import_module(module), name)


def features_header(run: Run) -> Header:
    """Return what a header says of a run's features: a schema, which names them, or names."""
    if run.schema is not None:
        return {"feature_schema": run.schema.to_dict()}
    return {} if run.feature_names is None else {"feature_names": list(run.feature_names)}


def features_from(header: Header) -> dict[str, Any]:
    """Undo :func:`features_header`; earlier files say nothing of them."""
    if "feature_schema" in header:
        schema = FeatureSchema.from_dict(header["feature_schema"])
        return {"schema": schema, "feature_names": schema.feature_names}
    names = header.get("feature_names")
    return {"schema": None, "feature_names": None if names is None else tuple(names)}


def history_arrays(history: History) -> Arrays:
    """Return a history as arrays, one per column."""
    return {
        f"history/{name}": np.array(values, dtype=np.float64) for name, values in history.items()
    }


def history_from(arrays: Arrays) -> History:
    """Undo :func:`history_arrays`: all columns, or none."""
    if not checkpoint.with_prefix(arrays, "history/"):
        return {}
    return {name: arrays[f"history/{name}"].tolist() for name in HISTORY_COLUMNS}
