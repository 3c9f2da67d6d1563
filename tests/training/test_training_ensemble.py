"""An ensemble: its folds are honest, its members are networks, and it resumes bit for bit."""

from functools import cache

import numpy as np
import pytest
import torch
from helpers.same_run import assert_same_run

import graphheat
from graphheat.datasets import block_model
from graphheat.errors import CheckpointError, GraphError, ParameterError
from graphheat.graph import Graph
from graphheat.nn import GraphHeat
from graphheat.recipes.ensemble_recipe import BASE, MEMBERS, deal_folds
from graphheat.runs import checkpoint
from graphheat.training import NetworkRun, loop
from graphheat.training.ensemble import prepare_ensemble, train_ensemble

GRAPH = block_model(90, 3, features=8, labels_per_class=6, seed=0)
TRAIN = np.sort(GRAPH.split["train"])
FOLDS = np.arange(len(TRAIN)) % MEMBERS
PRIOR = np.full(3, 1 / 3)
SETTINGS = BASE.changed({"s": 2.0, "scaling": "standard", "max_epochs": 8})


def trained(graph=GRAPH, *, settings=SETTINGS, seed=0, prior=PRIOR, **options):
    split = graph.with_split(train=TRAIN, test=GRAPH.split["test"]).completed_split(
        0, hold_out=False
    )
    prepared = prepare_ensemble(graph, settings, threads=1)
    return train_ensemble(prepared, split, seed, members=MEMBERS, prior=prior, threads=1, **options)


@cache
def folded():
    return trained(folds=FOLDS)


def relabelled(position, *, code=None):
    """The graph with another label at one training node."""
    labels = GRAPH.labels.copy()
    node = TRAIN[position]
    labels[node] = (labels[node] + 1) % 3 if code is None else code
    return Graph.from_scipy(
        GRAPH.adjacency, GRAPH.features, labels, classes=GRAPH.classes, split=GRAPH.split
    )


# ------------------------------------------------------------------ folds


@pytest.mark.parametrize("position", [0, 5])
def test_a_member_learns_nothing_from_the_labels_of_its_own_fold(position):
    other = trained(relabelled(position), folds=FOLDS)
    for member in range(MEMBERS):
        one, two = folded().parts[member], other.parts[member]
        same = all(np.array_equal(one.weights[name], two.weights[name]) for name in one.weights)
        assert same == (member == FOLDS[position])


def test_out_of_fold_predictions_are_those_of_the_member_that_has_not_seen_the_label():
    run = folded()
    for position, fold in enumerate(FOLDS):
        expected = run.parts[fold].probabilities[TRAIN[position]]
        assert np.array_equal(run.out_of_fold[position], expected)
    assert trained().out_of_fold is None


def test_a_label_without_a_fold_is_seen_by_all_and_has_no_such_prediction():
    folds = FOLDS.copy()
    folds[3] = -1
    run = trained(folds=folds)
    assert np.isnan(run.out_of_fold).all(axis=1).tolist() == (folds < 0).tolist()
    other = trained(relabelled(3), folds=folds)
    for one, two in zip(run.parts, other.parts, strict=True):
        assert not np.array_equal(one.weights["first.weight"], two.weights["first.weight"])


def test_folds_leave_every_class_a_label():
    codes = np.array([0, 1, 1, 2, 2, 2, 2, 2, 2, 2])
    folds = deal_folds(codes, 4, seed=0)
    assert folds[0] == -1 and set(folds[1:]) == {0, 1, 2, 3}
    for fold in range(4):
        assert set(codes[folds != fold]) == {0, 1, 2}
    counts = np.bincount(folds[1:])
    assert counts.max() - counts.min() <= 1
    assert np.array_equal(folds, deal_folds(codes, 4, seed=0))
    assert deal_folds(np.array([0, 1, 2]), 4, seed=0) is None
    assert deal_folds(np.array([0, 0, 1]), 4, seed=0) is None


def test_validation_labels_play_no_part_in_training():
    plain = graphheat.fit(GRAPH, "ensemble", max_epochs=3, threads=1)
    labels = GRAPH.labels.copy()
    val = GRAPH.split["val"]
    labels[val] = (labels[val] + 1) % 3
    other = Graph.from_scipy(
        GRAPH.adjacency, GRAPH.features, labels, classes=GRAPH.classes, split=GRAPH.split
    )
    changed = graphheat.fit(other, "ensemble", max_epochs=3, threads=1)
    assert np.array_equal(plain.probabilities, changed.probabilities)
    assert plain.out_of_fold is None  # validation labels judge, so all members see all labels


# ------------------------------------------------------------------ members


def test_members_are_networks_of_the_paper_with_the_same_probabilities():
    run = folded()
    prepared = prepare_ensemble(GRAPH, SETTINGS, threads=1)
    for part in run.parts:
        assert isinstance(part, NetworkRun)
        network = GraphHeat(8, 3, s=SETTINGS.s, hidden=SETTINGS.hidden, bias=True)
        network.load_state_dict({name: torch.tensor(w) for name, w in part.weights.items()})
        network.eval()
        with torch.no_grad():
            logits = network(prepared.x, prepared.operator)
        np.testing.assert_allclose(logits.softmax(1).numpy(), part.probabilities, atol=1e-6)
        np.testing.assert_allclose(part.probabilities_on(GRAPH), part.probabilities, atol=1e-5)


def test_members_differ_and_count_alike():
    run = folded()
    assert len(run.parts) == MEMBERS
    np.testing.assert_allclose(run.weights, 1 / MEMBERS)
    first = [part.weights["first.weight"] for part in run.parts]
    assert not any(np.array_equal(first[0], other) for other in first[1:])


def test_a_member_is_trained_as_it_would_be_alone():
    # Members share products, not weights: none of the others' labels move it.
    run, other = folded(), trained(folds=np.where(FOLDS == 2, -1, FOLDS))
    for member in (0, 1, 3):
        weights = run.parts[member].weights
        for name, weight in weights.items():
            assert np.array_equal(weight, other.parts[member].weights[name])


def test_they_learn():
    settings = SETTINGS.changed({"max_epochs": 60})
    run = trained(folds=FOLDS, settings=settings)
    assert run.test_accuracy > 0.8
    right = run.out_of_fold.argmax(axis=1) == GRAPH.labels[TRAIN]
    assert right.mean() > 0.7


def test_sparse_and_dense_features_are_trained_alike():
    import scipy.sparse as sp

    words = (np.random.default_rng(0).random((90, 40)) < 0.05) * 1.0
    settings = SETTINGS.changed({"scaling": "l2", "input_dropout": 0.0})
    runs = [
        trained(
            Graph.from_scipy(
                GRAPH.adjacency, form(words), GRAPH.labels, classes=GRAPH.classes, split=GRAPH.split
            ),
            settings=settings,
        )
        for form in (sp.csr_array, np.asarray)
    ]
    np.testing.assert_allclose(runs[0].probabilities, runs[1].probabilities, atol=1e-3)


# ------------------------------------------------------------------ labels and alignment


def test_weights_of_labels_are_those_of_the_loss():
    plain, doubled = trained(), trained(label_weights=np.full(len(TRAIN), 2.0))
    np.testing.assert_allclose(plain.probabilities, doubled.probabilities, atol=1e-6)
    weights = np.where(GRAPH.labels[TRAIN] == 0, 10.0, 1.0)
    settings = SETTINGS.changed({"max_epochs": 25})
    plain, uneven = (
        trained(settings=settings, label_weights=each) for each in (np.ones(len(TRAIN)), weights)
    )
    assert uneven.probabilities[:, 0].mean() > plain.probabilities[:, 0].mean()


def test_views_are_drawn_to_the_shares_that_are_expected():
    settings = SETTINGS.changed({"max_epochs": 40, "consistency": 1.0, "warmup": 1})
    few, many = (
        trained(settings=settings, prior=np.array(prior)).probabilities[:, 0].mean()
        for prior in ((0.1, 0.45, 0.45), (0.8, 0.1, 0.1))
    )
    assert many > few + 0.02


# ------------------------------------------------------------------ chance, interruption, mistakes


def test_a_seed_decides_the_run():
    assert np.array_equal(trained(folds=FOLDS).probabilities, folded().probabilities)
    other = trained(folds=FOLDS, seed=1)
    assert not np.array_equal(other.probabilities, folded().probabilities)


@pytest.mark.parametrize("after", [1, 3, 7])
def test_an_interrupted_ensemble_goes_on_to_the_same_end(monkeypatch, tmp_path, after):
    monkeypatch.setattr(loop, "CHECKPOINT_SECONDS", -1.0)
    path = tmp_path / "run.safetensors"

    def save(header, arrays):
        checkpoint.write(path, {"state": "running", **header}, arrays)

    def stop(done, total, text):
        if done == after:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        trained(folds=FOLDS, save=save, progress=stop)
    header, arrays = checkpoint.read(path)
    assert header["epoch"] == after
    seen = []
    resumed = trained(
        folds=FOLDS, saved=(header, arrays), progress=lambda done, *_: seen.append(done)
    )
    assert seen == list(range(after + 1, 9))
    assert np.array_equal(resumed.probabilities, folded().probabilities)
    for one, two in zip(resumed.parts, folded().parts, strict=True):
        for name, weight in one.weights.items():
            assert np.array_equal(weight, two.weights[name])


def test_a_state_of_another_network_is_refused(monkeypatch):
    held = []
    monkeypatch.setattr(loop, "CHECKPOINT_SECONDS", -1.0)
    trained(save=lambda *state: held.append(state))
    with pytest.raises(CheckpointError, match="does not fit this network"):
        trained(settings=SETTINGS.changed({"hidden": 4}), saved=held[-1])


def test_a_deadline_stops_it_after_an_epoch():
    run = trained(folds=FOLDS, deadline=0.0)
    assert run.best_epoch == 1
    assert np.isfinite(run.probabilities).all()


def test_it_survives_its_file(tmp_path):
    folded().save(tmp_path / "run.safetensors")
    assert_same_run(graphheat.load_run(tmp_path / "run.safetensors"), folded())


def test_features_that_are_not_numbers_any_more_are_said():
    with pytest.raises(GraphError, match="Training diverged"):
        trained(settings=SETTINGS.changed({"learning_rate": 1e30}))


def test_there_is_no_batch_normalisation():
    with pytest.raises(ParameterError, match="no batch normalisation"):
        graphheat.fit(GRAPH, "ensemble", normalize=True)
