"""What the linear model learns, and what it chooses."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import scipy.sparse as sp
from helpers.linear import linear_run
from scipy.special import softmax
from sklearn.linear_model import Ridge
from sklearn.model_selection import LeaveOneOut, cross_val_predict
from sklearn.utils.class_weight import compute_sample_weight

from graphheat.datasets import block_model
from graphheat.errors import GraphError, ParameterError
from graphheat.features import Scaling
from graphheat.graph import Graph
from graphheat.linear.diffusion import Diffusion
from graphheat.linear.grid import sharpness_of
from graphheat.linear.linear_fit import fit_best
from graphheat.linear.linear_run import LinearSettings

GRAPH = block_model(300, 3, seed=0)


@cache
def fitted():
    """The run that many tests look at, made once."""
    return linear_run(GRAPH, threads=1)


def ridge_on(rows, run, graph):
    """scikit-learn's answer with the same penalty: of all nodes, and of each label left out.

    Scores become logits by the factor that suits the labels left out.
    """
    train = run.training_nodes
    known, codes = rows[train], graph.labels[train]
    weights = compute_sample_weight(run.settings.class_weight, codes)
    center = np.average(known, axis=0, weights=weights)
    spread = np.average(((known - center) ** 2).sum(axis=1), weights=weights)
    model, truth = Ridge(alpha=run.l2 * spread), np.eye(len(graph.classes))[codes]
    counted = {"sample_weight": weights}
    left_out = cross_val_predict(model, known, truth, cv=LeaveOneOut(), params=counted)
    sharpness, _ = sharpness_of(left_out, codes)
    whole = model.fit(known, truth, **counted).predict(rows)
    return softmax(sharpness * whole, axis=1), softmax(sharpness * left_out, axis=1)


def dense_diffusion(graph, s):
    """Shares of heat with self-loops, from an eigendecomposition; shape (n, n)."""
    A = graph.adjacency.toarray() + np.eye(graph.n)
    roots = np.sqrt(A.sum(axis=1))
    values, vectors = np.linalg.eigh(np.eye(graph.n) - A / np.outer(roots, roots))
    heat = vectors @ np.diag(np.exp(-s * values)) @ vectors.T
    return heat / heat.sum(axis=1, keepdims=True)


def test_without_heat_it_is_sklearns_ridge_on_the_raw_features():
    run = linear_run(GRAPH, s=0, l2=0.01, scaling="none")
    expected, left_out = ridge_on(np.asarray(GRAPH.features, dtype=np.float64), run, GRAPH)
    np.testing.assert_allclose(run.probabilities, expected, atol=1e-5)
    np.testing.assert_allclose(run.out_of_fold, left_out, atol=1e-5)


@pytest.mark.parametrize("features", [64, 20])  # more and fewer than the training nodes
@pytest.mark.parametrize(("s", "weight"), [(0.7, 0.0), (0.7, 0.2), (6.0, 0.0), (6.0, 0.5)])
def test_with_heat_it_is_sklearns_ridge_on_the_diffused_features(features, s, weight):
    graph = block_model(200, 3, features=features, labels_per_class=10, seed=3)
    run = linear_run(graph, s=s, l2=0.003, self_weight=weight)
    x = np.asarray(graph.features, dtype=np.float64)
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    rows = weight * x + (1 - weight) * dense_diffusion(graph, s) @ x
    expected, left_out = ridge_on(rows, run, graph)
    np.testing.assert_allclose(run.probabilities, expected, atol=1e-3)
    np.testing.assert_allclose(run.out_of_fold, left_out, atol=1e-3)


def test_heat_solves_what_features_alone_cannot():
    graph = block_model(1000, 2, degree=20, homophily=0.95, feature_strength=0.6, seed=1)
    alone, run = linear_run(graph, s=0), linear_run(graph)
    assert run.s > 0
    assert alone.test_accuracy < 0.7 < 0.95 < run.test_accuracy


def test_the_choice_is_no_graph_where_edges_know_nothing():
    graph = block_model(1000, 4, homophily=0.25, feature_strength=6.0, seed=1)
    assert linear_run(graph, self_weight=0.0).s <= 1
    run = linear_run(graph)
    assert run.s <= 1 or run.self_weight > 0
    assert run.val_accuracy >= linear_run(graph, s=0).val_accuracy - 0.01


def test_the_grid_holds_what_was_tried_and_the_chosen_row_is_the_runs():
    run = fitted()
    frame = run.search.frame()
    rows = frame[["scaling", "self_weight", "s", "l2"]]
    assert not rows.duplicated().any()
    assert len(frame) % frame["l2"].nunique() == 0
    plain = frame[frame["self_weight"] == 0]
    assert len(plain) == plain["s"].nunique() * plain["l2"].nunique()
    assert frame["s"].min() == 0 and frame["s"].max() >= 12
    chosen = frame[frame["chosen"]]
    assert chosen[["self_weight", "s", "l2"]].to_numpy().tolist() == [
        [run.self_weight, run.s, run.l2]
    ]
    assert chosen["val_loss"].item() == frame["val_loss"].min()
    right = run.out_of_fold.argmax(axis=1) == run.labels[run.training_nodes]
    assert chosen["val_accuracy"].item() == pytest.approx(right.mean(), abs=0.02)
    assert run.search.by == "leave-one-out" and run.notes == ()


def test_the_best_candidates_of_one_search_differ_in_more_than_the_penalty():
    runs = fit_best(GRAPH, GRAPH.completed_split(0), LinearSettings(), 4, threads=1)
    losses = [run.search.loss[run.search.chosen] for run in runs]
    assert losses == sorted(losses)
    assert len({(run.scaling.kind, run.self_weight, run.s) for run in runs}) == 4
    np.testing.assert_array_equal(runs[0].probabilities, fitted().probabilities)


@pytest.mark.parametrize(("degree", "s"), [(80, 20.0), (10, 200.0)])
def test_where_heat_has_levelled_all_features_rounding_teaches_nothing(degree, s):
    graph = block_model(200, 3, degree=degree, homophily=0.4, features=16, seed=1)
    run = linear_run(graph, s=s, l2=1e-3)
    np.testing.assert_allclose(run.probabilities, 1 / 3, atol=1e-6)


def test_test_labels_play_no_part():
    shuffled = GRAPH.labels.copy()
    test = GRAPH.split["test"]
    shuffled[test] = np.roll(shuffled[test], 7)
    other = Graph.from_scipy(
        adjacency=GRAPH.adjacency, features=GRAPH.features, labels=shuffled,
        classes=GRAPH.classes, split=GRAPH.split,
    )  # fmt: skip
    ours, theirs = fitted(), linear_run(other, threads=1)
    np.testing.assert_array_equal(ours.probabilities, theirs.probabilities)
    assert ours.test_accuracy != theirs.test_accuracy


def test_validation_labels_play_no_part_in_the_choice():
    graph = GRAPH.with_split(train=GRAPH.split["train"], test=GRAPH.split["test"])
    run = linear_run(graph, seed=4, threads=1)
    assert run.search.by == "leave-one-out" and run.notes == ()
    assert len(run.training_nodes) == 60 and run.val_accuracy is None
    np.testing.assert_array_equal(run.probabilities, fitted().probabilities)
    np.testing.assert_array_equal(run.search.loss, fitted().search.loss)


def test_a_label_left_out_is_judged_as_by_a_fit_without_it():
    settings = {"s": 2.0, "l2": 0.1, "scaling": "standard", "threads": 1}
    train = np.sort(GRAPH.split["train"])
    run = linear_run(GRAPH, **settings)
    for position in (0, 17, 59):
        without = np.delete(train, position)
        other = linear_run(GRAPH.with_split(train=without), **settings)
        # The unit of the penalty and the sharpness differ a little by the one label.
        np.testing.assert_allclose(
            run.out_of_fold[position], other.probabilities[train[position]], atol=0.05
        )


def test_balanced_classes_count_alike_however_many_labels_they_have():
    labels = GRAPH.labels
    train = np.concatenate(
        [np.flatnonzero(labels == code)[:count] for code, count in enumerate((40, 4, 4))]
    )
    graph = GRAPH.with_split(train=train, test=np.setdiff1d(np.arange(GRAPH.n), train))
    plain, balanced = (
        linear_run(graph, s=0, l2=10.0, scaling="none", class_weight=kind)
        for kind in (None, "balanced")
    )
    assert balanced.probabilities[:, 0].mean() < plain.probabilities[:, 0].mean() - 0.05
    for run in (plain, balanced):
        expected, left_out = ridge_on(np.asarray(graph.features, dtype=np.float64), run, graph)
        np.testing.assert_allclose(run.probabilities, expected, atol=1e-5)
        np.testing.assert_allclose(run.out_of_fold, left_out, atol=1e-5)


def test_one_label_per_class_falls_back_to_defaults():
    train = [np.flatnonzero(GRAPH.labels == code)[0] for code in range(3)]
    run = linear_run(GRAPH.with_split(train=train))
    assert (run.s, run.l2) == (5.0, 0.1) and "No class has two labels" in run.notes[0]
    assert len(run.search) == 0 and len(run.search.frame()) == 0
    assert np.isfinite(run.probabilities).all()


def test_a_single_pair_of_labels_chooses_nothing():
    labels = GRAPH.labels
    train = [np.flatnonzero(labels == code)[0] for code in range(3)]
    train.append(np.flatnonzero(labels == 0)[1])
    run = linear_run(GRAPH.with_split(train=train))
    assert (run.s, run.l2) == (5.0, 0.1) and "Only two labels are of one class" in run.notes[0]


def test_one_class_with_one_label_among_others():
    labels = GRAPH.labels
    train = np.concatenate(
        [np.flatnonzero(labels == 0)[:1], np.flatnonzero(labels == 1)[:8],
         np.flatnonzero(labels == 2)[:2]]
    )  # fmt: skip
    run = linear_run(GRAPH.with_split(train=train))
    assert run.search.by == "leave-one-out"
    assert set(run.predicted[train]) == {0, 1, 2}


def test_a_class_without_training_labels_is_the_last_choice():
    train = GRAPH.split["train"]
    graph = GRAPH.with_split(
        train=train[GRAPH.labels[train] != 1], val=GRAPH.split["val"], test=GRAPH.split["test"]
    )
    run = linear_run(graph)
    assert (run.predicted != 1).all() and np.isfinite(run.search.loss).all()
    assert (run.probabilities[:, 1] > 0).all() and (run.probabilities[:, 1] < 1e-9).all()


def test_features_that_are_all_alike_tell_the_commoner_class_alone():
    graph = Graph.from_scipy(
        adjacency=sp.csr_array(np.roll(np.eye(8), 1, 0) + np.roll(np.eye(8), -1, 0)),
        features=np.ones((8, 3)), labels=np.array([0, 0, 0, 1, -1, -1, -1, -1]),
        classes=("a", "b"),
    )  # fmt: skip
    run = linear_run(graph, s=1.0, l2=0.1)
    assert np.ptp(run.probabilities, axis=0).max() < 1e-9
    assert (run.probabilities[:, 0] > 0.5).all()


def test_two_runs_are_identical_and_threads_change_nothing_that_matters():
    first, second = fitted(), linear_run(GRAPH, threads=1)
    np.testing.assert_array_equal(first.probabilities, second.probabilities)
    np.testing.assert_array_equal(first.search.loss, second.search.loss)
    np.testing.assert_allclose(
        linear_run(GRAPH, threads=2).probabilities, first.probabilities, atol=1e-6
    )


def test_nodes_that_calibrate_keep_their_part_and_choose_nothing():
    val = GRAPH.split["val"]
    graph = GRAPH.with_split(
        train=GRAPH.split["train"], val=val[:40], calibration=val[40:], test=GRAPH.split["test"]
    )
    run = linear_run(graph)
    assert run.calibration_part == "calibration"
    assert np.array_equal(run.members("calibration"), np.sort(val[40:]))
    other = graph.with_split(train=GRAPH.split["train"], val=val[:40], test=GRAPH.split["test"])
    assert np.array_equal(run.probabilities, linear_run(other).probabilities)


def test_no_features_is_an_error_that_names_a_way_out():
    with pytest.raises(GraphError, match="HeatLabelSpreading"):
        linear_run(block_model(60, 2, features=0, seed=0))


@pytest.mark.parametrize(
    "wrong",
    [
        {"s": -1},
        {"s": "soon"},
        {"l2": 0},
        {"hidden": 16},
        {"scaling": "x"},
        {"self_weight": 1.0},
        {"class_weight": "equal"},
    ],
)
def test_wrong_settings_are_named(wrong):
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        linear_run(GRAPH, **wrong)


def test_diffused_rows_agree_by_every_way():
    whole = Diffusion(GRAPH, Scaling("none"))
    times = np.array([0.0, 0.5, 9.0])
    # Fewer nodes than features, and more: the narrow side is diffused.
    for nodes in (np.array([7, 3, 250]), np.arange(0, 300, 2)):
        for s, rows in zip(times, whole.path(nodes, times), strict=True):
            heat = dense_diffusion(GRAPH, s)
            np.testing.assert_allclose(rows, heat[nodes] @ GRAPH.features, atol=2e-3)
            for weight in (0.0, 0.3):
                mix = weight * np.eye(GRAPH.n) + (1 - weight) * heat
                diffusion, exact = whole.keeping(weight), mix[nodes] @ GRAPH.features
                np.testing.assert_allclose(diffusion.rows(nodes, s), exact, atol=1e-5)
                np.testing.assert_allclose(
                    diffusion.spread(GRAPH.features, s)[nodes], exact, atol=1e-5
                )
                np.testing.assert_allclose(diffusion.weights(nodes, s), mix[nodes], atol=1e-6)


def test_scalings_that_share_rows_of_the_kernel_find_what_each_finds_alone():
    words = sp.csr_array(sp.random_array((GRAPH.n, 400), density=0.05, rng=0))  # more than labels
    graph = replace(GRAPH, features=words, feature_names=None, schema=None)
    nodes, times = np.sort(GRAPH.split.train)[:30], np.array([0.0, 1.0, 6.0])
    first = Diffusion(graph, Scaling.learn(words, "l2"))
    for kind in ("l2", "tfidf"):
        scaling = Scaling.learn(words, kind)
        shared, alone = first.rescaled(scaling), Diffusion(graph, scaling)
        for one, other in zip(shared.path(nodes, times), alone.path(nodes, times), strict=True):
            np.testing.assert_array_equal(one, other)
        for weight in (0.0, 0.3):
            rows = shared.keeping(weight).rows(nodes, 6.0)
            np.testing.assert_array_equal(rows, alone.keeping(weight).rows(nodes, 6.0))
            whole = alone.keeping(weight).spread(alone.features.toarray(), 6.0)[nodes]
            np.testing.assert_allclose(rows, whole, atol=1e-6)
