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
from graphheat.recipes.ensemble_recipe import BASE
from graphheat.recipes.folds import FOLDS, KINDS, MEMBERS
from graphheat.runs import checkpoint
from graphheat.runs.combined_run import CombinedRun
from graphheat.training import NetworkRun, loop
from graphheat.training.ensemble import _label_weights, prepare_ensemble, train_ensemble

GRAPH = block_model(90, 3, features=8, labels_per_class=6, seed=0)
TRAIN = np.sort(GRAPH.split["train"])
DEALT = np.arange(len(TRAIN)) % FOLDS
IGNORANT = np.full((1, GRAPH.n, 3), 1 / 3)  # a teacher that knows nothing
SETTINGS = BASE.changed({"s": 2.0, "scaling": "standard", "max_epochs": 8})


CONSISTENT, SUPERVISED = 0, 1


def trained(
    graph=GRAPH, *, kind=CONSISTENT, settings=SETTINGS, seed=0, teachers=IGNORANT, **options
):
    split = graph.with_split(train=TRAIN, test=GRAPH.split["test"]).completed_split(
        0, hold_out=False
    )
    if "folds" in options:
        teachers = np.repeat(teachers, 1 + FOLDS, axis=0)
    prepared = prepare_ensemble(graph, settings, threads=1)
    return train_ensemble(
        prepared, split, seed, members=MEMBERS, teachers=teachers, threads=1, **options
    )[kind]


@cache
def folded(kind=CONSISTENT):
    return trained(folds=DEALT, kind=kind)


def relabelled(position, *, code=None):
    """The graph with another label at one training node."""
    labels = GRAPH.labels.copy()
    node = TRAIN[position]
    labels[node] = (labels[node] + 1) % 3 if code is None else code
    return Graph.from_scipy(
        GRAPH.adjacency, GRAPH.features, labels, classes=GRAPH.classes, split=GRAPH.split
    )


# ------------------------------------------------------------------ folds


@pytest.mark.parametrize("kind", [CONSISTENT, SUPERVISED])
@pytest.mark.parametrize("position", [0, 5])
def test_an_out_of_fold_prediction_has_learned_nothing_from_the_labels_of_its_fold(position, kind):
    other = trained(relabelled(position), folds=DEALT, kind=kind)
    same = (folded(kind).out_of_fold == other.out_of_fold).all(axis=1)
    assert np.array_equal(same, DEALT[position] == DEALT)


def test_those_that_answer_have_seen_all_labels():
    run = folded()
    for position in (0, 5):
        other = trained(relabelled(position), folds=DEALT)
        for one, two in zip(run.parts, other.parts, strict=True):
            assert not np.array_equal(one.weights["first.weight"], two.weights["first.weight"])
    assert trained().out_of_fold is None


def test_a_label_without_a_fold_has_no_such_prediction():
    folds = DEALT.copy()
    folds[3] = -1
    run = trained(folds=folds)
    assert np.isnan(run.out_of_fold).all(axis=1).tolist() == (folds < 0).tolist()


def test_validation_labels_play_no_part_in_training():
    plain = graphheat.fit(GRAPH, "ensemble", max_epochs=3, threads=1)
    labels = GRAPH.labels.copy()
    val = GRAPH.split["val"]
    labels[val] = (labels[val] + 1) % 3
    other = Graph.from_scipy(
        GRAPH.adjacency, GRAPH.features, labels, classes=GRAPH.classes, split=GRAPH.split
    )
    changed = graphheat.fit(other, "ensemble", max_epochs=3, threads=1)
    assert isinstance(plain, CombinedRun)
    assert isinstance(changed, CombinedRun)
    assert len(plain.parts) == KINDS
    kinds = {part.recipe: part for part in plain.parts}
    for part in changed.parts:  # a kind that labels speak against is left out
        assert np.array_equal(part.probabilities, kinds[part.recipe].probabilities)
        assert part.out_of_fold is None  # validation labels judge, so all members see all labels
    assert not np.array_equal(plain.weights, changed.weights)  # they weigh the two kinds


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


@pytest.mark.parametrize("kind", [CONSISTENT, SUPERVISED])
def test_they_learn(kind):
    settings = SETTINGS.changed({"max_epochs": 60})
    run = trained(folds=DEALT, settings=settings, kind=kind)
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


def test_supervised_networks_learn_from_labels_alone():
    sure = np.tile((0.98, 0.01, 0.01), (1, GRAPH.n, 1))  # a teacher that says the same of all nodes
    for kind, differs in ((CONSISTENT, True), (SUPERVISED, False)):
        other = trained(kind=kind, teachers=sure)
        assert np.array_equal(other.probabilities, trained(kind=kind).probabilities) != differs
        assert all((part.settings.consistency == 0) != differs for part in other.parts)


# ------------------------------------------------------------------ classes, alignment, teachers


def test_labels_of_rare_classes_count_for_more_where_labels_are_few():
    few = _label_weights(np.array([0] * 9 + [1]), classes=2)
    np.testing.assert_allclose(few[-1] / few[0], 5.0)  # (1 + 9) / (1 + 1)
    many = _label_weights(np.array([0] * 9000 + [1] * 1000), classes=2)
    assert many[-1] / many[0] < 1.01


def test_views_are_drawn_to_the_shares_that_are_expected():
    settings = SETTINGS.changed({"max_epochs": 40, "consistency": 1.0, "warmup": 1})
    few, many = (
        trained(settings=settings, teachers=np.tile(shares, (1, GRAPH.n, 1)))
        .probabilities[:, 0]
        .mean()
        for shares in ((0.1, 0.45, 0.45), (0.8, 0.1, 0.1))
    )
    assert many > few + 0.02


def test_a_teacher_is_followed_where_labels_say_nothing():
    """Neighbours and features tell nothing here; what a teacher knows of the nodes is kept."""
    random = np.random.default_rng(0)
    graph = block_model(200, 3, homophily=1 / 3, features=200, feature_strength=0.1, seed=1)
    teacher = np.full((1, graph.n, 3), 0.1)
    teacher[0, np.arange(graph.n), graph.labels] = 0.8
    shuffled = random.permutation(teacher, axis=1)
    settings = BASE.changed({"s": 1.0, "scaling": "standard", "drop_nodes": 0.0, "max_epochs": 40})
    split = graph.completed_split(0, hold_out=False)
    right, wrong = (
        train_ensemble(
            prepare_ensemble(graph, settings), split, 0, members=2, teachers=each, threads=1
        )[CONSISTENT].test_accuracy
        for each in (teacher, shuffled)
    )
    assert right > wrong + 0.1


def test_features_of_any_size_are_trained_alike():
    larger = Graph.from_scipy(
        GRAPH.adjacency, 1000 * GRAPH.features, GRAPH.labels, classes=GRAPH.classes,
        split=GRAPH.split,
    )  # fmt: skip
    settings = SETTINGS.changed({"scaling": "none"})
    one, two = trained(settings=settings), trained(larger, settings=settings)
    np.testing.assert_allclose(one.probabilities, two.probabilities, atol=1e-4)


# ------------------------------------------------------------------ chance, interruption, mistakes


def test_a_seed_decides_the_run():
    assert np.array_equal(trained(folds=DEALT).probabilities, folded().probabilities)
    other = trained(folds=DEALT, seed=1)
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
        trained(folds=DEALT, save=save, progress=stop)
    header, arrays = checkpoint.read(path)
    assert header["epoch"] == after
    seen = []
    resumed = trained(
        folds=DEALT, saved=(header, arrays), progress=lambda done, *_: seen.append(done)
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
    run = trained(folds=DEALT, deadline=0.0)
    assert run.best_epoch == 1
    assert np.isfinite(run.probabilities).all()


def test_it_survives_its_file(tmp_path):
    folded().save(tmp_path / "run.safetensors")
    assert_same_run(graphheat.load_run(tmp_path / "run.safetensors"), folded())


def test_features_that_are_not_numbers_any_more_are_said():
    vast = Graph.from_scipy(
        GRAPH.adjacency, np.full((90, 8), 3e38), GRAPH.labels, classes=GRAPH.classes,
        split=GRAPH.split,
    )  # fmt: skip
    with pytest.raises(GraphError, match="Training diverged"):
        trained(vast, settings=SETTINGS.changed({"scaling": "none"}))


def test_there_is_no_batch_normalisation():
    with pytest.raises(ParameterError, match="no batch normalisation"):
        graphheat.fit(GRAPH, "ensemble", normalize=True)
