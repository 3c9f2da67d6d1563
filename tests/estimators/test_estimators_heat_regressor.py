"""HeatRegressor against its closed form, its intervals against the truth, and bad input."""

import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from helpers.sentences import refusal
from scipy.linalg import expm
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import parametrize_with_checks

from graphheat import Graph, HeatKernel, HeatRegressor
from graphheat.datasets import block_model
from graphheat.errors import GraphError, ParameterError
from graphheat.heat import laplacian
from graphheat.linear import kriging
from graphheat.linear.kriging import MEAN, Covariance, Inputs, krige

GRAPH = block_model(200, 3, features=8, homophily=0.9, feature_strength=0.7, seed=0)
VALUES = np.array([10.0, 20.0, 40.0])[GRAPH.labels]
KNOWN = np.arange(200) % 4 == 0
Y = np.where(KNOWN, VALUES, np.nan)
BARE = Graph.from_scipy(GRAPH.adjacency)


def correlations(graph, s):
    heat = expm(-s * laplacian(graph.adjacency + sp.eye_array(graph.n)).toarray())
    own = np.sqrt(np.diagonal(heat))
    return heat / own / own[:, None]


def test_means_and_deviations_are_those_of_the_gaussian_process():
    s, noise = 4.0, 0.3
    model = HeatRegressor(s=s, noise=noise).fit(BARE, Y)
    K = correlations(BARE, s) + MEAN
    a = np.flatnonzero(KNOWN)
    C = K[np.ix_(a, a)] + noise * np.eye(len(a))
    t = VALUES[a] - VALUES[a].mean()
    signal = t @ np.linalg.solve(C, t) / len(a)
    mean = VALUES[a].mean() + K[:, a] @ np.linalg.solve(C, t)
    variance = np.diagonal(K) - (K[:, a] @ np.linalg.inv(C) * K[:, a]).sum(axis=1) + noise
    assert model.predict() == pytest.approx(mean, abs=1e-3)
    assert model.signal_ == pytest.approx(signal, rel=1e-4)
    expected = np.sqrt(signal * variance)
    ratio = model.deviations_ / expected
    assert ratio == pytest.approx(ratio[0], rel=1e-4)  # but for the leave-one-out scale


@pytest.mark.parametrize("feature_weight", [0.0, 0.4])
def test_what_is_left_out_is_what_the_others_say(feature_weight):
    covariance = Covariance(3.0, feature_weight, 0.2)
    model = HeatRegressor(s=3.0, feature_weight=feature_weight, noise=0.2).fit(GRAPH, Y)
    known = np.flatnonzero(KNOWN)
    for place in (0, 7):
        others = np.delete(known, place)
        # The mean of the values is a prior, and the features' unit too: both as with all of them.
        inputs = Inputs(GRAPH, known, model._scaling)
        K = covariances(inputs, covariance)
        i, rest = place, np.delete(np.arange(len(known)), place)
        C = K[np.ix_(rest, rest)] + 0.2 * np.eye(len(rest))
        centre = VALUES[known].mean()
        expected = centre + K[i, rest] @ np.linalg.solve(C, VALUES[others] - centre)
        assert model.left_out_[place] == pytest.approx(expected, abs=1e-6)


def covariances(inputs, covariance):
    """Return those among the known nodes, from the parts, without noise."""
    heat = next(inputs.correlations(inputs.known, (covariance.s,)))
    gram = next(inputs.inner_products(inputs.known, (covariance.s,)))
    weight = covariance.feature_weight
    features = weight * gram if weight else 0.0
    return (1 - weight) * heat + features + MEAN


def test_features_join_the_covariance_everywhere():
    """Means and variances of the known nodes, computed as everybody's are."""
    covariance = Covariance(2.0, 0.5, 0.1)
    known = np.flatnonzero(KNOWN)
    model = HeatRegressor().fit(GRAPH, Y)
    inputs = Inputs(GRAPH, known, model._scaling)
    found = krige(inputs, VALUES[known], covariance)
    K = covariances(inputs, covariance)
    C = K + 0.1 * np.eye(len(known))
    centre = VALUES[known].mean()
    mean = centre + K @ np.linalg.solve(C, VALUES[known] - centre)
    assert found.mean[known] == pytest.approx(mean, abs=1e-4)
    variance = np.diagonal(K) - (K @ np.linalg.inv(C) * K).sum(axis=1) + 0.1
    assert found.deviation[known] == pytest.approx(np.sqrt(found.signal * variance), rel=1e-4)


def test_random_signals_estimate_variances_of_large_graphs(monkeypatch):
    known = np.flatnonzero(KNOWN)
    model = HeatRegressor().fit(GRAPH, Y)
    inputs = Inputs(GRAPH, known, model._scaling)
    exact = krige(inputs, VALUES[known], Covariance(5.0, 0.5, 0.1))
    monkeypatch.setattr(kriging, "EXACT", 4)
    rough = krige(inputs, VALUES[known], Covariance(5.0, 0.5, 0.1))
    assert np.abs(rough.deviation / exact.deviation - 1).mean() < 0.05
    assert rough.deviation[known] == pytest.approx(exact.deviation[known], rel=1e-6)
    assert np.abs(rough.mean - exact.mean).max() < 0.1 * np.std(VALUES)
    assert rough.left_out == pytest.approx(exact.left_out)


@pytest.mark.parametrize("alpha", [0.1, 0.3])
def test_intervals_hold_the_values_as_often_as_they_say(alpha):
    inside, widths = [], []
    for seed in range(12):
        random = np.random.default_rng(seed)
        graph = block_model(300, 4, homophily=0.8, features=0, seed=seed)
        values = random.normal(size=4)[graph.labels] * 3 + random.standard_t(4, size=300)
        known = random.random(300) < 0.3
        model = HeatRegressor(threads=1).fit(graph, np.where(known, values, np.nan))
        low, high = model.predict_interval(alpha).T
        inside.append(((low <= values) & (values <= high))[~known].mean())
        widths.append(np.mean(high - low) / np.std(values))
    assert np.mean(inside) == pytest.approx(1 - alpha, abs=0.03)
    assert np.mean(widths) < 3


def test_heat_tells_more_than_the_mean_and_features_more_than_heat():
    mixed = block_model(200, 3, features=4, homophily=0.6, seed=0)
    values = np.array([10.0, 20.0, 40.0])[mixed.labels]
    values += 10 * HeatKernel(mixed, 1.0, self_loops=1.0).apply(mixed.features[:, 0])
    errors = {}
    for name, graph in (("heat", Graph.from_scipy(mixed.adjacency)), ("both", mixed)):
        mean = HeatRegressor().fit(graph, np.where(KNOWN, values, np.nan)).predict()
        errors[name] = np.sqrt(((mean - values)[~KNOWN] ** 2).mean())
    assert errors["heat"] < 0.9 * values[~KNOWN].std()
    assert errors["both"] < errors["heat"]


def test_every_way_in_gives_the_same():
    expected = HeatRegressor(s=2.0).fit(GRAPH, Y).predict()
    listed = [value if seen else None for value, seen in zip(VALUES, KNOWN, strict=True)]
    for y in (Y, Y.tolist(), listed):
        model = HeatRegressor(s=2.0).fit(GRAPH.features, y, adjacency=GRAPH.adjacency)
        assert model.predict() == pytest.approx(expected)
        assert np.array_equal(model.predict(GRAPH.features), model.predict())
    sparse = HeatRegressor(s=2.0).fit(sp.csr_array(GRAPH.features), Y, adjacency=GRAPH)
    assert sparse.predict().shape == (200,)


def test_a_graph_whose_classes_are_numbers_has_values():
    graph = Graph.from_scipy(GRAPH.adjacency, labels=VALUES, split={"test": np.flatnonzero(~KNOWN)})
    model = HeatRegressor().fit(graph)
    assert model.labelled_.tolist() == np.flatnonzero(KNOWN).tolist()
    assert model.predict() == pytest.approx(HeatRegressor().fit(BARE, Y).predict())


def test_isolated_nodes_have_the_mean_and_the_widest_interval():
    adjacency = sp.block_diag([GRAPH.adjacency, np.zeros((1, 1))]).tocsr()
    model = HeatRegressor().fit(None, np.append(Y, np.nan), adjacency=adjacency)
    mean, deviation = model.predict(return_std=True)
    assert abs(mean[-1] - VALUES[KNOWN].mean()) < np.std(VALUES) / 2
    assert deviation[-1] == deviation.max()


def test_values_may_all_be_equal():
    model = HeatRegressor().fit(BARE, np.where(KNOWN, 5.0, np.nan))
    assert model.predict() == pytest.approx(5.0)
    assert model.predict_interval() == pytest.approx(5.0)


def test_units_of_the_values_do_not_matter():
    one, other = HeatRegressor().fit(GRAPH, Y), HeatRegressor().fit(GRAPH, 1e6 * Y - 3e7)
    assert other.predict() == pytest.approx(1e6 * np.asarray(one.predict()) - 3e7, rel=1e-6)
    assert other.deviations_ == pytest.approx(1e6 * one.deviations_, rel=1e-6)


def test_other_rows_are_joined_to_the_nearest():
    X = np.random.default_rng(0).normal(size=(120, 2))
    values = 3 * X[:, 0] + np.sin(2 * X[:, 1])
    model = HeatRegressor().fit(X[:100], values[:100])
    assert model.score(X[100:], values[100:]) > 0.7
    mixed = model.predict(np.vstack([X[:3], X[100:]]))
    assert mixed[:3] == pytest.approx(model.predict()[:3])
    assert model.predict_interval(0.2, X[100:]).shape == (20, 2)
    sparse = HeatRegressor().fit(sp.csr_array(X[:100]), values[:100])
    assert sparse.predict(sp.csr_array(X)) == pytest.approx(sparse.predict(X))
    assert model.predict(sp.csr_array(X)) == pytest.approx(model.predict(X))


def test_few_values_have_wide_intervals():
    y = np.full(200, np.nan)
    y[:3] = 1.0, 2.0, 4.0
    model = HeatRegressor().fit(BARE, y)
    width = np.diff(model.predict_interval(0.01)).ravel()
    assert np.isfinite(width).all()
    assert width.min() > 3


def test_bad_input_is_refused_in_a_sentence():
    assert "two known values" in refusal(HeatRegressor().fit, BARE, np.full(200, np.nan))
    assert "one value per node" in refusal(HeatRegressor().fit, BARE, Y[:5])
    assert "y holds 'tea'" in refusal(HeatRegressor().fit, BARE, ["tea"] * 200)
    assert "infinity" in refusal(HeatRegressor().fit, BARE, np.full(200, np.inf))
    assert "requires y" in refusal(HeatRegressor().fit, BARE)
    assert "got both" in refusal(HeatRegressor().fit, BARE, Y, adjacency=GRAPH)
    model = HeatRegressor().fit(GRAPH, Y)
    assert "the nodes it was fitted on" in refusal(model.predict, BARE)
    assert "edges are not known" in refusal(model.predict, GRAPH.features[:3])
    assert "'alpha'" in refusal(model.predict_interval, 1.0)
    with pytest.raises(NotFittedError):
        HeatRegressor().predict()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"s": -1}, "'s'"),
        ({"s": "long"}, "'s'"),
        ({"feature_weight": 2}, "'feature_weight'"),
        ({"noise": 0}, "'noise'"),
        ({"noise": None}, "'noise'"),
    ],
)
def test_parameters_are_checked_in_fit(options, words):
    with pytest.raises(ParameterError, match=words):
        HeatRegressor(**options).fit(GRAPH, Y)


def test_too_many_values_are_refused_before_they_are_tried(monkeypatch):
    monkeypatch.setattr(kriging, "available_memory", lambda: 1000)
    with pytest.raises(MemoryError, match="Pass fewer known values"):
        HeatRegressor(s=1.0, noise=1.0, feature_weight=0.0).fit(BARE, Y)


def test_it_clones_and_needs_no_torch():
    model = HeatRegressor(s=2.0, noise=0.1)
    assert clone(model).get_params() == model.get_params()
    script = "import sys, graphheat; graphheat.HeatRegressor; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout.strip() == "False", done.stderr


def test_score_leaves_unknown_values_out():
    model = HeatRegressor().fit(GRAPH, Y)
    assert model.score(None, np.where(KNOWN, np.nan, VALUES)) > 0.5
    with pytest.raises(GraphError, match="y holds none"):
        model.score(None, np.full(200, np.nan))


@parametrize_with_checks([HeatRegressor(neighbors=5)])
def test_scikit_learns_checks_pass(estimator, check):
    check(estimator)
