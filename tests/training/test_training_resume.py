"""Interrupted runs go on as if nothing had happened."""

import numpy as np
import pytest
from helpers.network import fit_network

from graphheat.datasets import block_model
from graphheat.errors import OutputError
from graphheat.runs import Run
from graphheat.training import loop

GRAPH = block_model(60, 3, features=8, labels_per_class=4, seed=0)
EPOCHS = 25


@pytest.fixture(scope="module")
def undisturbed():
    return fit_network(GRAPH, seed=2, max_epochs=EPOCHS)


def stop_at(epoch, error=KeyboardInterrupt):
    def observer(now):
        if now.epoch == epoch:
            raise error

    return observer


def go_on(path, **options):
    return fit_network(GRAPH, seed=2, max_epochs=EPOCHS, checkpoint=path, resume=True, **options)


def assert_same(a, b):
    assert a.history == b.history
    assert a.best_epoch == b.best_epoch
    for name, weight in a.weights.items():
        assert np.array_equal(weight, b.weights[name])
    assert np.array_equal(a.probabilities, b.probabilities)
    assert np.array_equal(a.reached, b.reached)


@pytest.mark.parametrize("epoch", [1, 2, 7, EPOCHS - 1, EPOCHS])
def test_ctrl_c_after_any_epoch_and_resume(undisturbed, tmp_path, epoch):
    path = tmp_path / "run.safetensors"
    with pytest.raises(KeyboardInterrupt):
        go_on(path, observer=stop_at(epoch))
    seen = []
    resumed = go_on(path, observer=lambda now: seen.append(now.epoch))
    assert seen == list(range(epoch + 1, EPOCHS + 1))
    assert_same(resumed, undisturbed)


def test_ctrl_c_many_times(undisturbed, tmp_path):
    path = tmp_path / "run.safetensors"
    for epoch in range(1, EPOCHS + 1, 3):
        with pytest.raises(KeyboardInterrupt):
            go_on(path, observer=stop_at(epoch))
    assert_same(go_on(path), undisturbed)


@pytest.mark.parametrize("place", ["_step", "_evaluate"])
def test_ctrl_c_in_the_middle_of_an_epoch(undisturbed, tmp_path, monkeypatch, place):
    # Weights have moved and dropout was drawn, but the epoch is not whole: nothing of it counts.
    path = tmp_path / "run.safetensors"
    with pytest.raises(KeyboardInterrupt):
        go_on(path, observer=stop_at(4))
    plain = getattr(loop.Loop, place)

    def interrupted(self, *args):
        result = plain(self, *args)
        if self.epoch >= 9:
            raise KeyboardInterrupt
        return result

    with monkeypatch.context() as patch:
        patch.setattr(loop.Loop, place, interrupted)
        patch.setattr(loop, "CHECKPOINT_SECONDS", -1.0)
        with pytest.raises(KeyboardInterrupt):
            go_on(path)
    assert_same(go_on(path), undisturbed)


@pytest.mark.parametrize("epoch", [1, 6, 20])
def test_any_other_error_leaves_the_last_checkpoint(undisturbed, tmp_path, monkeypatch, epoch):
    monkeypatch.setattr(loop, "CHECKPOINT_SECONDS", -1.0)
    path = tmp_path / "run.safetensors"
    with pytest.raises(RuntimeError):
        go_on(path, observer=stop_at(epoch, RuntimeError))
    seen = []
    resumed = go_on(path, observer=lambda now: seen.append(now.epoch))
    assert seen[0] == epoch  # the epoch under way was not kept
    assert_same(resumed, undisturbed)


def test_an_error_before_the_first_checkpoint_starts_anew(undisturbed, tmp_path, monkeypatch):
    monkeypatch.setattr(loop, "CHECKPOINT_SECONDS", 1e9)
    path = tmp_path / "run.safetensors"
    with pytest.raises(RuntimeError):
        go_on(path, observer=stop_at(10, RuntimeError))
    assert not path.exists()
    assert_same(go_on(path), undisturbed)


@pytest.mark.parametrize(
    "options", [{"eps": None}, {"recipe": "authors"}, {"scaling": "l1"}, {"K": 1}]
)
def test_every_kind_of_run_resumes(tmp_path, options):
    path = tmp_path / "run.safetensors"
    with pytest.raises(KeyboardInterrupt):
        fit_network(GRAPH, max_epochs=12, checkpoint=path, observer=stop_at(5), **options)
    resumed = fit_network(GRAPH, max_epochs=12, checkpoint=path, resume=True, **options)
    assert_same(resumed, fit_network(GRAPH, max_epochs=12, **options))


def test_a_run_without_validation_labels_resumes(tmp_path):
    few = np.full(GRAPH.n, False)
    few[[np.flatnonzero(GRAPH.labels == code)[0] for code in range(3)]] = True
    graph = GRAPH.with_split(train=few)
    path = tmp_path / "run.safetensors"
    with pytest.raises(KeyboardInterrupt):
        fit_network(graph, max_epochs=12, checkpoint=path, observer=stop_at(5))
    resumed = fit_network(graph, max_epochs=12, checkpoint=path, resume=True)
    plain = fit_network(graph, max_epochs=12)
    assert np.array_equal(resumed.probabilities, plain.probabilities)
    assert resumed.history["train_loss"] == plain.history["train_loss"]


def test_resume_takes_the_threads_of_the_checkpoint(tmp_path):
    path = tmp_path / "run.safetensors"
    with pytest.raises(KeyboardInterrupt):
        go_on(path, threads=2, observer=stop_at(3))
    assert go_on(path).threads == 2


def test_a_finished_run_is_returned_without_training(tmp_path):
    path = tmp_path / "run.safetensors"
    first = go_on(path)
    written = path.read_bytes()
    again = go_on(path, observer=stop_at(1, AssertionError))
    assert_same(first, again)
    assert path.read_bytes() == written


def test_a_checkpoint_is_not_overwritten_unasked(tmp_path):
    path = tmp_path / "run.safetensors"
    go_on(path)
    with pytest.raises(OutputError, match=r"already holds a run\. Pass resume=True"):
        fit_network(GRAPH, seed=2, max_epochs=EPOCHS, checkpoint=path)


def test_checkpoints_are_written_along_the_way_and_nothing_aside_stays(tmp_path, monkeypatch):
    monkeypatch.setattr(loop, "CHECKPOINT_SECONDS", -1.0)
    path = tmp_path / "run.safetensors"
    seen = []
    go_on(path, observer=lambda now: seen.append(path.exists()))
    assert seen == [False] + [True] * (EPOCHS - 1)
    assert list(tmp_path.iterdir()) == [path]
    assert_same(Run.load(path), go_on(path))
