"""The folder of a run: kept, resumed, replaced, never half-written."""

import json
import os
from pathlib import Path

import pytest
import torch
from helpers.command import invoke

from graphheat.datasets import block_model
from graphheat.io import write_npz
from graphheat.runs import load_run
from graphheat.training import loop

GRAPH = block_model(60, 3, features=8, labels_per_class=4, seed=0)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_npz(GRAPH, tmp_path / "g.npz")
    return tmp_path


def fit(*options, graph="g.npz", out="run", recipe="consistent"):
    given = ("--recipe", recipe, "--epochs", "8", "-s", "1", "--out", out)
    return invoke("fit", graph, *given, *options)


def refused(*options, code=2, **where):
    result = fit(*options, **where)
    assert result.exit_code == code, result.output
    assert result.stdout == ""
    return sentence(result)


def sentence(result):
    """Return the error; nothing but what was read stands before it."""
    *account, error = result.stderr.splitlines()
    assert error.startswith("Error: ")
    assert not any("Error" in line for line in account)
    return error


def contents(folder="run"):
    files = sorted(path for path in Path(folder).rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def interrupt_at(monkeypatch, epoch, seed=None):
    plain = loop.Loop._evaluate

    def evaluate(self, *args):
        if self.epoch == epoch and seed in (None, torch.initial_seed()):
            raise KeyboardInterrupt
        return plain(self, *args)

    monkeypatch.setattr(loop, "CHECKPOINT_SECONDS", -1.0)
    monkeypatch.setattr(loop.Loop, "_evaluate", evaluate)


def test_a_folder_that_holds_a_run_is_left_alone():
    assert fit().exit_code == 0
    before = contents()
    assert "already holds a run. Pass --resume to go on with it, or --force" in refused()
    assert "already holds a run" in refused("--seeds", "2")
    assert contents() == before


def test_a_folder_of_seeds_is_left_alone():
    assert fit("--seeds", "2").exit_code == 0
    before = contents()
    assert "already holds a run" in refused()
    assert contents() == before


def test_force_replaces_the_run():
    fit()
    assert fit("--force", "--seed", "1").exit_code == 0
    assert json.loads(Path("run/metrics.json").read_text())["runs"][0]["seed"] == 1


def test_force_replaces_a_folder_of_seeds_and_keeps_what_is_not_ours():
    fit("--seeds", "3")
    Path("run/notes.txt").write_text("mine")
    Path("run/seed-1/notes.txt").write_text("mine")
    assert fit("--force", "--seeds", "1").exit_code == 0
    assert "seed-0/predictions.csv" in contents()
    assert not Path("run/seed-2").exists()
    assert [name for name in contents() if name.startswith("seed-1/")] == ["seed-1/notes.txt"]
    assert Path("run/notes.txt").read_text() == "mine"


def test_force_does_not_lose_the_old_run_to_a_graph_that_cannot_be_fitted(folder):
    fit()
    before = contents()
    write_npz(block_model(30, 3, features=0, labels_per_class=4), folder / "bare.npz")
    assert "HeatLabelSpreading" in refused("--force", graph="bare.npz")
    assert contents() == before


def test_resume_of_a_finished_run_changes_no_prediction():
    fit()
    before = contents()
    assert fit("--resume").exit_code == 0
    after = contents()
    for name in ("checkpoint.safetensors", "predictions.csv", "history.csv", "metrics.json"):
        assert after[name] == before[name]


def test_resume_writes_what_a_killed_run_did_not_come_to_write():
    fit()
    before = contents()
    for name in ("predictions.csv", "history.csv", "metrics.json", "training.png"):
        Path("run", name).unlink()
    fit("--resume")
    assert contents().keys() == before.keys()
    assert contents()["predictions.csv"] == before["predictions.csv"]


def test_an_interrupted_run_goes_on_to_the_same_predictions(monkeypatch):
    with monkeypatch.context() as patch:
        interrupt_at(patch, 4)
        result = fit()
    assert result.exit_code == 1
    assert "goes on with --resume" in result.stderr
    assert list(contents()) == ["checkpoint.safetensors"]
    assert fit("--resume").exit_code == 0
    assert fit(out="undisturbed").exit_code == 0
    assert contents()["predictions.csv"] == contents("undisturbed")["predictions.csv"]
    assert contents()["history.csv"] == contents("undisturbed")["history.csv"]


def test_an_interrupted_default_keeps_its_stages_says_so_and_goes_on(monkeypatch):
    fit(recipe="auto", out="whole")
    with monkeypatch.context() as patch:
        interrupt_at(patch, 4)
        result = fit(recipe="auto")
    assert result.exit_code == 0
    assert "Interrupted: the answer is that of the stages so far; --resume" in result.stderr
    assert {"checkpoint.safetensors", "predictions.csv", "metrics.json"} <= set(contents())
    assert json.loads(contents()["metrics.json"])["runs"][0]["interrupted"] is True
    assert load_run("run").interrupted
    assert invoke("predict", "run", "--out", "labels.csv").exit_code == 0
    assert fit("--resume", recipe="auto").exit_code == 0
    assert contents()["predictions.csv"] == Path("whole/predictions.csv").read_bytes()
    assert "interrupted" not in json.loads(contents()["metrics.json"])["runs"][0]
    assert not load_run("run").interrupted


def test_a_default_that_was_killed_goes_on_to_the_same_predictions(monkeypatch):
    def killed(self, *args):
        if self.epoch == 4:
            raise RuntimeError("killed")
        return plain(self, *args)

    plain = loop.Loop._evaluate
    with monkeypatch.context() as patch:
        patch.setattr(loop, "CHECKPOINT_SECONDS", -1.0)
        patch.setattr(loop.Loop, "_evaluate", killed)
        assert fit(recipe="auto").exit_code == 1
    assert set(contents()) == {"checkpoint.safetensors", "predictions.csv"}  # the linear stage's
    assert "already holds a run" in refused(recipe="auto")
    assert fit("--resume", recipe="auto").exit_code == 0
    assert fit(out="undisturbed", recipe="auto").exit_code == 0
    assert contents()["predictions.csv"] == contents("undisturbed")["predictions.csv"]


def test_finished_seeds_are_kept(monkeypatch):
    with monkeypatch.context() as patch:
        interrupt_at(patch, 4, seed=1)
        assert fit("--seeds", "3").exit_code == 1
    first = contents()["seed-0/checkpoint.safetensors"]
    assert "seed-0/predictions.csv" in contents()
    assert "seed-1/predictions.csv" not in contents()
    assert fit("--seeds", "3", "--resume").exit_code == 0
    assert contents()["seed-0/checkpoint.safetensors"] == first
    fit("--seeds", "3", out="undisturbed")
    for seed in range(3):
        name = f"seed-{seed}/predictions.csv"
        assert contents()[name] == contents("undisturbed")[name]


def test_resume_extends_the_seeds():
    fit("--seeds", "1")
    fit("--seeds", "2", "--resume")
    assert len(json.loads(Path("run/metrics.json").read_text())["runs"]) == 2


def test_resume_starts_where_there_is_nothing():
    assert fit("--resume", out="new/deep").exit_code == 0


def test_an_interrupted_run_is_not_predicted_from(monkeypatch):
    with monkeypatch.context() as patch:
        interrupt_at(patch, 4)
        fit()
    result = invoke("predict", "run", "--out", "l.csv")
    assert result.exit_code == 2
    assert "interrupted after 4 epochs" in result.stderr


def test_a_folder_of_seeds_asks_which(folder):
    fit("--seeds", "2")
    result = invoke("predict", "run", "--out", "l.csv")
    assert result.exit_code == 2
    assert "name one of them, such as run/seed-0" in result.stderr
    result = invoke("predict", "run/seed-1", "--out", "l.csv")
    assert result.exit_code == 0


# ------------------------------------------------------------------ checkpoints that do not fit


def test_a_checkpoint_of_another_graph_other_settings_or_another_seed(folder):
    fit()
    write_npz(block_model(60, 3, features=8, labels_per_class=4, seed=1), folder / "other.npz")
    assert "belongs to another graph" in refused("--resume", graph="other.npz")
    assert "started with -s 1.0, not 2.0" in refused("--resume", "-s", "2")
    assert "started with --seed 0, not 1" in refused("--resume", "--seed", "1")


@pytest.mark.parametrize("share", [0.0, 0.5])
def test_a_damaged_checkpoint(share):
    fit()
    path = Path("run/checkpoint.safetensors")
    data = path.read_bytes()
    path.write_bytes(data[: int(share * len(data))])
    assert "is damaged and cannot be read" in refused("--resume")
    result = invoke("predict", "run", "--out", "l.csv")
    assert result.exit_code == 2
    assert "is damaged" in result.stderr
    assert not Path("l.csv").exists()


def test_a_checkpoint_of_a_newer_schema(monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr("graphheat.runs.checkpoint.SCHEMA", 99)
        fit()
    assert "has schema 99" in refused("--resume")


# ------------------------------------------------------------------ places that cannot be written


def test_a_file_in_place_of_the_folder():
    Path("run").write_text("mine")
    assert "run is a file; name a folder" in refused()
    assert Path("run").read_text() == "mine"
    assert "cannot be made" in refused(out="run/below")


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs /proc")
def test_a_folder_that_cannot_be_made():
    assert "/proc/x cannot be made" in refused(out="/proc/x")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write")
def test_a_folder_without_permission():
    Path("run").mkdir(mode=0o500)
    assert "run cannot be written to" in refused()


@pytest.mark.parametrize("out", ["missing/l.csv", "run", "g.npz/l.csv"])
def test_predict_to_a_place_that_cannot_be_written(out):
    fit()
    result = invoke("predict", "run", "--out", out)
    assert result.exit_code == 2
    sentence(result)


@pytest.mark.parametrize("out", ["missing/k.npz", "g.npz/k.npz"])
def test_kernel_to_a_place_that_cannot_be_written(out):
    result = invoke("kernel", "g.npz", "--s", "1", "--out", out)
    assert result.exit_code == 2
    sentence(result)


# ------------------------------------------------------------------ half-written files


def test_a_file_that_could_not_be_finished_leaves_the_old_one(monkeypatch):
    fit()
    before = contents()

    def broken(self, path, **options):
        Path(path).write_text("node,label\n1,")
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("pandas.DataFrame.to_csv", broken)
        assert "No space left on device" in refused("--resume", code=1)
    assert contents() == before


def test_nothing_written_aside_is_left():
    fit("--seeds", "2")
    assert not [name for name in contents() if ".part" in name]


@pytest.mark.parametrize("option", ["--resume", "--force"])
def test_what_a_killed_process_left_aside_is_cleared(option):
    fit()
    aside = Path("run/.checkpoint.123.part.safetensors")
    mine = Path("run/.mine.part.safetensors")
    for path in (aside, mine):
        path.write_bytes(b"half")
    fit(option)
    assert not aside.exists()
    assert mine.exists()
