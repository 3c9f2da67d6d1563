"""load_run: by folder and by file, and what it says of anything else."""

import json
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest
from helpers.same_run import assert_same_run
from safetensors.numpy import save_file

import graphheat
from graphheat.baselines.baseline_run import BaselineRun
from graphheat.datasets import block_model
from graphheat.errors import CheckpointError, MissingPathError
from graphheat.linear.linear_run import LinearRun
from graphheat.runs import Run, checkpoint, load_run, run_file

GRAPH = block_model(40, 2, features=6, labels_per_class=4, seed=0)


@pytest.fixture(scope="module")
def lp():
    return graphheat.fit(GRAPH, "lp", source={"graph": "blocks"})


@pytest.fixture
def folder(lp, tmp_path):
    lp.save(tmp_path / checkpoint.FILENAME)
    return tmp_path


def test_folder_and_file_are_the_same_run(lp, folder):
    for place in (folder, str(folder), folder / checkpoint.FILENAME):
        assert_same_run(load_run(place), lp)


def test_the_class_is_that_of_the_kind(folder):
    for owner in (Run, BaselineRun):
        assert type(owner.load(folder / checkpoint.FILENAME)) is BaselineRun
    with pytest.raises(CheckpointError, match="holds a run of 'lp', which is not a LinearRun"):
        LinearRun.load(folder / checkpoint.FILENAME)


def test_an_empty_folder_and_a_missing_path(tmp_path):
    for place in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(MissingPathError, match="There is no checkpoint at"):
            load_run(place)


def test_a_folder_of_several_runs_names_one(folder):
    for seed in (0, 1):
        (folder / f"seed-{seed}").mkdir()
        shutil.copy(folder / checkpoint.FILENAME, folder / f"seed-{seed}")
    (folder / checkpoint.FILENAME).unlink()
    with pytest.raises(MissingPathError, match=r"holds several runs; name one .*seed-0\."):
        load_run(folder)
    assert load_run(folder / "seed-1").recipe == "lp"


def rewrite(path: Path, **changes):
    header, arrays = checkpoint.read(path)
    save_file(arrays, path, {"graphheat": json.dumps({**header, **changes})})


def test_a_kind_that_nothing_can_read(folder):
    rewrite(folder / checkpoint.FILENAME, kind="crystal")
    with pytest.raises(CheckpointError, match="run of the kind 'crystal', which nothing here"):
        load_run(folder)


def test_a_third_partys_kind_is_read_when_its_recipe_is_installed(folder, monkeypatch):
    rewrite(folder / checkpoint.FILENAME, kind="crystal")
    monkeypatch.setattr(run_file, "KINDS", dict(run_file.KINDS))

    def load():
        class CrystalRun(Run, kind="crystal"):
            pass

    monkeypatch.setattr(run_file, "entry_points", lambda group: [SimpleNamespace(load=load)])
    assert type(load_run(folder)).__name__ == "CrystalRun"


@pytest.mark.parametrize("missing", ["probabilities", "labels", "roles", "nodes"])
def test_an_array_that_is_missing_is_named(folder, missing):
    header, arrays = checkpoint.read(folder / checkpoint.FILENAME)
    del arrays[missing]
    save_file(arrays, folder / checkpoint.FILENAME, {"graphheat": json.dumps(header)})
    with pytest.raises(CheckpointError, match=f"is damaged: it lacks '{missing}'"):
        load_run(folder)
