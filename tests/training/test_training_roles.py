"""Which labels teach, which stop and which test."""

import numpy as np
import pytest

from graphheat.datasets import block_model
from graphheat.errors import GraphError, KernelMemoryError, ParameterError
from graphheat.graph import Graph
from graphheat.heat import kernel as kernel_module
from graphheat.training import fit, prepare, settings_for
from graphheat.training.holdout import assign_roles
from graphheat.training.loop import FIXED_EPOCHS

GRAPH = block_model(60, 3, features=8, labels_per_class=4, seed=0)


def ring(labels, features=True, **more):
    n = len(labels)
    ids = np.arange(n)
    random = np.random.default_rng(0)
    return Graph.from_edges(
        ids,
        (ids + 1) % n,
        features=random.normal(size=(n, 4)) if features else None,
        labels=labels,
        **more,
    )


def test_the_graphs_split_is_taken_as_it_is():
    roles = assign_roles(GRAPH, 0)
    for name in ("train", "val", "test"):
        assert np.array_equal(getattr(roles, name), GRAPH.split[name])
    assert roles.note is None


def test_without_a_train_part_every_label_outside_val_and_test_teaches():
    val, test = GRAPH.split["val"], GRAPH.split["test"]
    roles = assign_roles(GRAPH.with_split(val=val, test=test), 0)
    assert np.array_equal(roles.train, np.setdiff1d(np.arange(60), np.concatenate([val, test])))


def test_own_holdout_is_a_fifth_of_each_class_and_disjoint():
    graph = GRAPH.with_split(test=GRAPH.split["test"])
    roles = assign_roles(graph, 0)
    assert not np.intersect1d(roles.train, roles.val).size
    free = np.setdiff1d(np.arange(60), GRAPH.split["test"])
    assert np.array_equal(np.union1d(roles.train, roles.val), free)
    for code in range(3):
        members = (GRAPH.labels[free] == code).sum()
        assert (GRAPH.labels[roles.val] == code).sum() == max(1, round(members / 5))


def test_own_holdout_follows_the_seed():
    graph = GRAPH.with_split()
    first, same, other = (assign_roles(graph, seed).val for seed in (0, 0, 1))
    assert np.array_equal(first, same)
    assert not np.array_equal(first, other)


def test_own_holdout_is_said():
    run = fit(GRAPH.with_split(), max_epochs=2)
    (note,) = run.notes
    assert note.startswith("No validation labels were given: 12 of 60 labelled nodes are held out")
    assert fit(GRAPH, max_epochs=2).notes == ()


def test_a_class_with_a_single_label_stays_in_training():
    labels = np.full(30, None, dtype=object)
    labels[:12], labels[15] = "many", "one"
    labels[20:26] = "some"
    roles = assign_roles(ring(labels), 0)
    assert 15 in roles.train
    assert 15 not in roles.val
    run = fit(ring(labels), max_epochs=5)
    assert run.classes == ("many", "one", "some")


# ------------------------------------------------------------------ calibration nodes

LARGE = block_model(400, 4, features=8, labels_per_class=5, seed=0)


def with_validation(count):
    """Return ``LARGE`` with that many validation nodes; half the other nodes test."""
    free = np.setdiff1d(np.arange(400), LARGE.split["train"])
    return LARGE.with_split(train=LARGE.split["train"], val=free[:count], test=free[count::2])


def test_a_share_of_the_validation_nodes_calibrates_and_does_not_stop():
    graph = with_validation(200)
    roles = assign_roles(graph, 0, calibration=0.3)
    assert (len(roles.calibration), len(roles.val)) == (60, 140)
    both = np.concatenate([roles.calibration, roles.val])
    assert np.array_equal(np.sort(both), graph.split["val"])
    for code in range(4):
        expected = 0.3 * (graph.labels[graph.split["val"]] == code).sum()
        assert abs((graph.labels[roles.calibration] == code).sum() - expected) <= 1
    assert np.array_equal(roles.train, graph.split["train"])
    assert roles.note is None


def test_calibration_nodes_follow_the_seed():
    graph = with_validation(200)
    first, same, other = (assign_roles(graph, seed, 0.3).calibration for seed in (0, 0, 1))
    assert np.array_equal(first, same)
    assert not np.array_equal(first, other)


def test_without_a_share_nothing_is_drawn():
    roles = assign_roles(with_validation(200), 0)
    assert len(roles.calibration) == 0
    assert len(roles.val) == 200


@pytest.mark.parametrize(("count", "share"), [(59, 0.34), (60, 0.3), (100, 0.7)])
def test_too_few_validation_nodes_are_not_divided_and_it_is_said(count, share):
    roles = assign_roles(with_validation(count), 0, share)
    assert len(roles.calibration) == 0
    assert len(roles.val) == count
    assert f"{count} validation labels are too few to hold {share:.0%} out" in roles.note


def test_sixty_validation_nodes_are_just_enough():
    roles = assign_roles(with_validation(60), 0, 1 / 3)
    assert (len(roles.calibration), len(roles.val)) == (20, 40)


def test_the_notes_of_both_holdouts_are_joined():
    note = assign_roles(GRAPH.with_split(), 0, 0.3).note
    assert note.startswith("No validation labels were given: 12")
    assert note.endswith("so the same nodes do both.")


def test_a_split_with_calibration_nodes_uses_those():
    graph = with_validation(200)
    val = graph.split["val"]
    parts = {**graph.split, "val": val[:100], "calibration": val[100:]}
    for share in (0.0, 0.3):
        roles = assign_roles(graph.with_split(**parts), 0, share)
        assert np.array_equal(roles.calibration, val[100:])
        assert np.array_equal(roles.val, val[:100])
    run = fit(graph.with_split(**parts), max_epochs=2)
    assert np.array_equal(run.members("calibration"), val[100:])
    del parts["train"]
    assert not np.intersect1d(assign_roles(graph.with_split(**parts), 0).train, val).size


@pytest.mark.parametrize("share", [-0.1, 1.0, np.nan, "0.3"])
def test_a_share_outside_the_range_is_said(share):
    with pytest.raises(ParameterError, match="'calibration' parameter of assign_roles"):
        assign_roles(GRAPH, 0, share)


def test_test_nodes_without_a_label_do_not_count():
    labels = ["a"] * 5 + ["b"] * 5 + [None] * 2
    roles = assign_roles(ring(labels, split={"test": [4, 9, 10, 11]}), 0)
    assert roles.test.tolist() == [4, 9]


def test_without_three_labels_of_a_class_epochs_are_fixed():
    labels = ["a", "b", "a", "b", *[None] * 8]
    run = fit(ring(labels), max_epochs=1000)
    assert run.epochs == run.best_epoch == FIXED_EPOCHS
    assert "No class has three labels" in run.notes[0]
    assert run.val_accuracy is None
    assert run.test_accuracy is None
    assert fit(ring(labels), max_epochs=7).epochs == 7


def test_no_label_at_all():
    for graph in (ring([None] * 5), ring(["a", "b", None, None, None], split={"train": []})):
        with pytest.raises(GraphError, match=r"There is no labelled node .* of each class\."):
            fit(graph)


def test_a_single_class():
    with pytest.raises(GraphError, match="name one class only \\('a'\\); at least two"):
        fit(ring(["a", "a", None, None, None]))


def test_a_graph_without_features_is_pointed_to_label_spreading():
    with pytest.raises(GraphError, match=r"has no features.*Use HeatLabelSpreading"):
        fit(ring(["a", "b", "a", "b"], features=False))


def test_bad_labels_are_said_before_a_kernel_is_computed(monkeypatch):
    monkeypatch.setattr(kernel_module.HeatKernel, "matrix", None)
    graph = ring([None] * 5)
    with pytest.raises(GraphError, match="no labelled node"):
        prepare(graph, settings_for(graph))


def test_a_component_without_labels_is_predicted_but_not_reached():
    n = 20
    ids = np.arange(n)
    step = np.where(ids % 10 == 9, ids - 9, ids + 1)  # two rings of ten
    labels = np.full(n, None, dtype=object)
    labels[:4], labels[4:8] = "a", "b"
    features = np.random.default_rng(0).normal(size=(n, 3))
    run = fit(Graph.from_edges(ids, step, features=features, labels=labels), max_epochs=10)
    assert run.reached[:10].all()
    assert not run.reached[10:].any()
    assert np.isfinite(run.probabilities).all()
    assert run.predictions_frame()["predicted"].notna().all()


def test_reached_is_where_the_heat_of_the_training_nodes_adds_up_to_eps():
    run = fit(GRAPH, s=1.0, eps=0.3, max_epochs=1)
    heat = kernel_module.HeatKernel(GRAPH, 1.0, method="reference").matrix()
    expected = heat[:, GRAPH.split["train"]].sum(axis=1) >= 0.3
    assert np.array_equal(run.reached, expected)
    assert 0 < expected.sum() < GRAPH.n


@pytest.mark.parametrize("self_loops", [False, True])
def test_isolated_nodes_and_self_loops_are_no_trouble(self_loops):
    source, target = [0, 1, 2], [1, 2, 2 if self_loops else 3]
    graph = Graph.from_edges(
        source, target, nodes=range(6), features=np.eye(6), labels=["a", "b"] * 3
    )
    run = fit(graph, max_epochs=3)
    assert np.allclose(run.probabilities.sum(axis=1), 1)


def test_a_kernel_that_would_not_fit_is_refused_by_fit_and_the_implicit_one_is_not(monkeypatch):
    monkeypatch.setattr(kernel_module, "available_memory", lambda: 1000)
    with pytest.raises(KernelMemoryError, match=r"would not fit in memory.*eps=None"):
        fit(GRAPH, max_epochs=1)
    assert fit(GRAPH, eps=None, max_epochs=1).epochs == 1


@pytest.mark.parametrize("s", [0.0, 1e6])
def test_the_ends_of_the_range_of_s_train(s):
    run = fit(GRAPH, s=s, max_epochs=2)
    assert np.isfinite(run.probabilities).all()
