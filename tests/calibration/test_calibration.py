"""Calibration: temperature, calibration error and what chance shows, prediction sets."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import expm
from scipy.special import softmax

from graphheat.calibration import (
    calibrated,
    diffused_scores,
    expected_by_chance,
    expected_calibration_error,
    plain_scores,
    prediction_sets,
    reliability,
    temperature,
)
from graphheat.datasets import block_model
from graphheat.errors import ParameterError


def drawn(n, classes, sharpness, seed):
    """Return probabilities, and labels drawn from them made ``sharpness`` times as sure."""
    random = np.random.default_rng(seed)
    logits = 2.0 * random.standard_normal((n, classes))
    p = softmax(logits, axis=1)
    true = softmax(logits * sharpness, axis=1)
    labels = (random.random((n, 1)) > true.cumsum(axis=1)).sum(axis=1)
    return p, np.minimum(labels, classes - 1)


@pytest.mark.parametrize("sharpness", [0.5, 1.0, 2.0])
def test_the_temperature_undoes_what_was_done(sharpness):
    p, labels = drawn(20_000, 4, sharpness, seed=0)
    T = temperature(p, labels, np.arange(20_000))
    assert sharpness * T == pytest.approx(1, rel=0.05)


def test_calibrated_probabilities_are_less_wrong_and_predict_the_same():
    p, labels = drawn(20_000, 3, 0.4, seed=1)
    fitted, judged = np.arange(10_000), np.arange(10_000, 20_000)
    better = calibrated(p, temperature(p, labels, fitted))
    assert np.allclose(better.sum(axis=1), 1)
    assert (better.argmax(axis=1) == p.argmax(axis=1)).all()
    before = expected_calibration_error(p, labels, judged)
    assert expected_calibration_error(better, labels, judged) < before / 3


def test_temperature_one_changes_nothing():
    p, _ = drawn(50, 3, 1.0, seed=2)
    assert np.allclose(calibrated(p, 1.0), p)


def test_exact_zeros_do_no_harm():
    p = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
    T = temperature(p, [0, 1, 1], [0, 1, 2])
    assert np.isfinite(calibrated(p, T)).all()


def test_calibration_error_by_hand():
    p = [[0.9, 0.1], [0.9, 0.1], [0.6, 0.4], [0.4, 0.6]]
    # bin of 0.9: accuracy 1/2; bin of 0.6: accuracy 1.
    assert expected_calibration_error(p, [0, 1, 0, 1], range(4)) == pytest.approx(0.4)
    assert expected_calibration_error(p, [0, 1, 0, 1], range(4), bins=1) == pytest.approx(0.0)


def test_a_handful_of_nodes_all_right_does_not_make_certainties():
    p = np.array([[0.7, 0.3], [0.3, 0.7], [0.6, 0.4]])
    T = temperature(p, [0, 1, 0], range(3))
    assert T == 1
    assert calibrated(p, T).max() < 0.99


def test_bins_hold_every_node_once_and_their_gaps_are_the_error():
    p, labels = drawn(500, 4, 0.7, seed=5)
    seen = reliability(p, labels, range(500), bins=10)
    assert seen.counts.sum() == 500
    assert len(seen.edges) == 11
    held = seen.counts > 0
    assert np.isnan(seen.accuracy[~held]).all()
    assert (seen.counts @ np.nan_to_num(seen.accuracy)) == (p.argmax(axis=1) == labels).sum()
    assert (seen.confidence[held] <= seen.edges[1:][held]).all()
    assert (seen.confidence[held] > seen.edges[:-1][held]).all()
    assert seen.error == expected_calibration_error(p, labels, range(500), bins=10)


def test_certainty_belongs_to_the_last_bin():
    assert reliability([[1.0, 0.0]], [0], [0]).counts.tolist() == [0] * 14 + [1]


def test_chance_by_hand():
    # Three nodes of .6: k right with probability C(3, k) .6^k .4^(3−k), and |k − 1.8| / 3 off.
    gaps = np.abs(np.arange(4) - 1.8) / 3
    by_hand = gaps @ [0.4**3, 3 * 0.6 * 0.4**2, 3 * 0.6**2 * 0.4, 0.6**3]
    assert expected_by_chance([[0.6, 0.4]] * 3, range(3)) == pytest.approx(by_hand, abs=1e-12)
    assert expected_by_chance([[1.0, 0.0]] * 3, range(3)) == 0


def test_chance_is_the_mean_error_of_labels_drawn_from_the_probabilities():
    p = softmax(2 * np.random.default_rng(0).standard_normal((400, 3)), axis=1)
    random = np.random.default_rng(1)
    errors = []
    for _ in range(300):
        labels = np.minimum((random.random((400, 1)) > p.cumsum(axis=1)).sum(axis=1), 2)
        errors.append(expected_calibration_error(p, labels, range(400)))
    spread = np.std(errors) / np.sqrt(300)
    assert expected_by_chance(p, range(400)) == pytest.approx(np.mean(errors), abs=4 * spread)


def test_the_chance_of_many_nodes_falls_like_the_root():
    p = np.tile([0.7, 0.3], (20_000, 1))
    normal = np.sqrt(2 / np.pi * 0.7 * 0.3 / 20_000)
    assert expected_by_chance(p, range(20_000)) == pytest.approx(normal, rel=1e-3)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([0.05, 0.1, 0.3]))
def test_sets_cover_as_promised_on_average(seed, alpha):
    p, labels = drawn(20_000, 5, 0.7, seed)
    nodes = np.arange(10_000)
    sets = prediction_sets(p, nodes, labels, alpha)
    held = sets[np.arange(10_000, 20_000), labels[10_000:]].mean()
    assert held > 1 - alpha - 0.04  # six standard deviations of the two samples
    assert sets.any(axis=1).all()
    assert sets[np.arange(20_000), p.argmax(axis=1)].all()


def test_smaller_alpha_gives_larger_sets():
    p, labels = drawn(1_000, 5, 1.0, seed=3)
    nodes = np.arange(300)
    assert (prediction_sets(p, nodes, labels, 0.05) >= prediction_sets(p, nodes, labels, 0.2)).all()


def test_too_few_calibration_nodes_promise_nothing():
    p, labels = drawn(20, 3, 1.0, seed=4)
    assert prediction_sets(p, range(8), labels, 0.1).all()
    assert not prediction_sets(p, range(9), labels, 0.1).all()  # ⌈10 · 0.9⌉ = 9 are enough


# ------------------------------------------------------------------ diffused sets


def blocks(seed=0, n=600):
    """Return a block model, and probabilities that know the label only in part."""
    graph = block_model(n, 3, seed=seed)
    random = np.random.default_rng(seed)
    logits = random.standard_normal((n, 3)) + 1.2 * np.eye(3)[graph.labels]
    return graph, softmax(logits, axis=1)


def test_without_edges_diffused_scores_are_the_plain_ones():
    p, labels = drawn(60, 3, 1.0, seed=6)
    edgeless = np.zeros((60, 60))
    assert np.array_equal(diffused_scores(p, edgeless), plain_scores(p))
    sets = prediction_sets(p, range(30), labels, score="diffused", graph=edgeless)
    assert np.array_equal(sets, prediction_sets(p, range(30), labels))


def test_an_isolated_node_keeps_its_score_and_others_do_not():
    p, _ = drawn(3, 2, 1.0, seed=7)
    pair = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    changed = (diffused_scores(p, pair) != plain_scores(p)).any(axis=1)
    assert changed.tolist() == [True, True, False]


def test_diffused_scores_are_means_of_scores():
    graph, p = blocks()
    for s in (0.5, 3.0, 20.0):
        assert diffused_scores(np.full((600, 3), 0.4), graph, s=s) == pytest.approx(0.6, abs=1e-6)
        scores = diffused_scores(p, graph, s=s, share=1.0)
        assert scores.min() > plain_scores(p).min()
        assert scores.max() < plain_scores(p).max()
    assert np.array_equal(diffused_scores(p, graph, share=0.0), plain_scores(p))


def test_diffused_scores_are_those_of_the_matrix_exponential():
    graph, p = blocks(n=60)
    A = graph.adjacency.toarray()
    walk = A / np.maximum(A.sum(axis=1, keepdims=True), 1)
    walk[A.sum(axis=1) == 0, A.sum(axis=1) == 0] = 1
    exact = 0.3 * (1 - p) + 0.7 * expm(-2.0 * (np.eye(60) - walk)) @ (1 - p)
    assert diffused_scores(p, graph, s=2.0, share=0.7) == pytest.approx(exact, abs=1e-7)


def test_relabelled_nodes_have_the_same_sets():
    graph, p = blocks()
    order = np.random.default_rng(3).permutation(600)
    place = np.argsort(order)
    sets = prediction_sets(p, range(200), graph.labels, score="diffused", graph=graph)
    again = prediction_sets(
        p[order],
        place[:200],
        graph.labels[order],
        score="diffused",
        graph=graph.adjacency[order][:, order],
    )
    assert np.array_equal(again, sets[order])


@pytest.mark.parametrize("score", ["plain", "diffused"])
@pytest.mark.parametrize("alpha", [0.05, 0.1])
def test_coverage_over_random_halvings_is_what_was_promised(score, alpha):
    graph, p = blocks()
    random = np.random.default_rng(0)
    held = []
    for _ in range(100):
        mixed = random.permutation(600)
        sets = prediction_sets(p, mixed[:300], graph.labels, alpha, score=score, graph=graph)
        held.append(sets[mixed[300:], graph.labels[mixed[300:]]].mean())
    # Exactly ⌈301 (1 − alpha)⌉ / 301 in the mean; a halving is off by about .025. The accuracy is
    # below 1 − alpha, so that hardly any set would be empty.
    assert np.mean(held) == pytest.approx(1 - alpha, abs=0.01)


def test_diffused_sets_are_smaller_where_neighbours_are_alike():
    graph, p = blocks()
    plain, diffused = (
        prediction_sets(p, range(300), graph.labels, score=score, graph=graph)
        for score in ("plain", "diffused")
    )
    assert diffused[300:].sum() < 0.9 * plain[300:].sum()


def test_diffused_sets_are_not_larger_where_neighbours_know_nothing():
    graph, p = blocks()
    order = np.random.default_rng(0).permutation(graph.n)
    others = graph.adjacency[order][:, order]  # edges of other nodes
    plain, diffused = (
        prediction_sets(p, range(300), graph.labels, score=score, graph=others)
        for score in ("plain", "diffused")
    )
    assert diffused.sum() <= plain.sum()


def test_other_nodes_may_choose_how_far_scores_are_diffused():
    graph, p = blocks()
    labels, asked = graph.labels, {"score": "diffused", "graph": graph}
    three = prediction_sets(p, range(300), labels, choosing_nodes=range(300, 303), **asked)
    assert np.array_equal(three, prediction_sets(p, range(300), labels))  # too few to prefer any
    many = prediction_sets(p, range(300), labels, choosing_nodes=range(300, 600), **asked)
    assert many.sum() < three.sum()
    random, held = np.random.default_rng(1), []
    for _ in range(100):
        mixed = random.permutation(600)
        sets = prediction_sets(p, mixed[:200], labels, choosing_nodes=mixed[200:300], **asked)
        held.append(sets[mixed[300:], labels[mixed[300:]]].mean())
    assert np.mean(held) == pytest.approx(0.9, abs=0.01)


def test_filled_sets_cover_as_often_as_the_network_is_right():
    p, labels = drawn(4_000, 3, 3.0, seed=8)
    right = (p.argmax(axis=1) == labels)[2_000:].mean()
    sets = prediction_sets(p, range(2_000), labels, 0.5)
    assert right > 0.7
    assert sets[np.arange(2_000, 4_000), labels[2_000:]].mean() == right


def test_no_set_is_empty_when_the_network_is_nearly_always_right():
    p = np.array([[0.99, 0.01]] * 99 + [[0.55, 0.45]])
    sets = prediction_sets(p, range(99), np.zeros(100, dtype=int), 0.5)
    assert sets[99].tolist() == [True, False]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda p, y: temperature(p, y, []), "at least one labelled node"),
        (lambda p, y: temperature(p, [-1, 0, 0], [0]), "labels are known"),
        (lambda p, y: temperature(p, [0, 1], [0]), "one per row"),
        (lambda p, y: temperature([0.5, 0.5], y, [0]), "shape"),
        (lambda p, y: calibrated(p, 0.0), "'T' parameter"),
        (lambda p, y: calibrated([[np.nan, 1.0]], 1.0), "finite"),
        (lambda p, y: prediction_sets(p, [0], y, 1.0), "'alpha' parameter"),
        (lambda p, y: prediction_sets(p, [7], y, 0.1), r"in \[0, 3\)"),
        (lambda p, y: expected_calibration_error(p, y, [0], bins=0), "'bins' parameter"),
        (lambda p, y: expected_by_chance(p, [3]), r"in \[0, 3\)"),
        (lambda p, y: expected_by_chance([["a", "b"]], [0]), "finite"),
        (lambda p, y: prediction_sets(p * np.nan, [0], y), "finite"),
        (lambda p, y: prediction_sets(p[:, 0], [0], y), "shape"),
        (lambda p, y: prediction_sets(p, [0], y[:2]), "one per row"),
        (lambda p, y: prediction_sets(p, [0], y * np.nan), "labels are known"),
        (lambda p, y: prediction_sets(p, [0], y, score="best"), "'score' parameter"),
        (lambda p, y: prediction_sets(p, [0], y, score="diffused"), "Pass graph="),
        (lambda p, y: diffused_scores(p, np.zeros((2, 2))), "2 nodes for 3 rows"),
        (lambda p, y: diffused_scores(p, np.zeros((3, 3)), share=2.0), "'share' parameter"),
        (lambda p, y: diffused_scores(p, np.zeros((3, 3)), s=-1.0), "'s' parameter"),
    ],
)
def test_bad_input_is_said_in_a_sentence(call, words):
    p = np.array([[0.5, 0.5], [0.9, 0.1], [0.2, 0.8]])
    with pytest.raises(ParameterError, match=words):
        call(p, np.array([0, 0, 1]))
