"""The linear recipe: what it learns, what it chooses, what it keeps, and why."""

from __future__ import annotations

import json
from functools import cache

import numpy as np
import pandas
import pytest
import scipy.sparse as sp
from click.testing import CliRunner
from sklearn.linear_model import LogisticRegression

import graphheat
from graphheat import plot
from graphheat.cli import main
from graphheat.cli.run_folder import load_run
from graphheat.datasets import block_model
from graphheat.errors import CheckpointError, GraphError, ParameterError
from graphheat.explain import LinearExplainer, explain_linear
from graphheat.graph import Graph
from graphheat.linear import LinearRun, fit_linear, linear_probabilities_on
from graphheat.linear.choice import best_of, deal_folds, sharpness_of
from graphheat.linear.diffusion import Diffusion
from graphheat.training.scaling import Scaling

GRAPH = block_model(300, 3, seed=0)


@cache
def fitted():
    """The run that many tests look at, made once."""
    return fit_linear(GRAPH, threads=1)


def regression_on(rows, run, graph):
    """scikit-learn's answer to the same question, with the same penalty."""
    train = run.training_nodes
    spread = ((rows[train] - rows[train].mean(axis=0)) ** 2).sum() / len(train)
    model = LogisticRegression(C=1 / (len(train) * run.l2 * spread), tol=1e-10, max_iter=10_000)
    return model.fit(rows[train], graph.labels[train]).predict_proba(rows)


def dense_diffusion(graph, s):
    """Shares of heat with self-loops, from an eigendecomposition; shape (n, n)."""
    A = graph.adjacency.toarray() + np.eye(graph.n)
    roots = np.sqrt(A.sum(axis=1))
    values, vectors = np.linalg.eigh(np.eye(graph.n) - A / np.outer(roots, roots))
    heat = vectors @ np.diag(np.exp(-s * values)) @ vectors.T
    return heat / heat.sum(axis=1, keepdims=True)


def test_without_heat_it_is_sklearns_regression_on_the_raw_features():
    run = fit_linear(GRAPH, s=0, l2=0.01, scaling="none")
    expected = regression_on(np.asarray(GRAPH.features, dtype=np.float64), run, GRAPH)
    np.testing.assert_allclose(run.probabilities, expected, atol=1e-5)


@pytest.mark.parametrize("features", [64, 20])  # more and fewer than the training nodes
@pytest.mark.parametrize(("s", "own"), [(0.7, 0.0), (0.7, 0.2), (6.0, 0.0), (6.0, 0.5)])
def test_with_heat_it_is_sklearns_regression_on_the_diffused_features(features, s, own):
    graph = block_model(200, 3, features=features, labels_per_class=10, seed=3)
    run = fit_linear(graph, s=s, l2=0.003, own=own)
    x = np.asarray(graph.features, dtype=np.float64)
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    rows = own * x + (1 - own) * dense_diffusion(graph, s) @ x
    np.testing.assert_allclose(run.probabilities, regression_on(rows, run, graph), atol=1e-4)


def test_heat_solves_what_features_alone_cannot():
    graph = block_model(1000, 2, degree=20, homophily=0.95, feature_strength=0.6, seed=1)
    alone, run = fit_linear(graph, s=0), fit_linear(graph)
    assert run.s > 0
    assert alone.test_accuracy < 0.7 < 0.95 < run.test_accuracy


def test_the_choice_is_no_graph_where_edges_know_nothing():
    graph = block_model(1000, 4, homophily=0.25, feature_strength=6.0, seed=1)
    assert fit_linear(graph, own=0.0).s <= 1
    run = fit_linear(graph)
    assert run.s <= 1 or run.own > 0
    assert run.val_accuracy >= fit_linear(graph, s=0).val_accuracy - 0.01


def test_the_path_holds_every_pair_and_the_chosen_row_is_the_runs():
    run = fitted()
    frame = run.path_frame()
    assert len(frame) == frame["own"].nunique() * frame["s"].nunique() * frame["l2"].nunique()
    assert frame["s"].min() == 0 and frame["s"].max() >= 12
    chosen = frame[frame["chosen"]]
    assert chosen[["own", "s", "l2"]].to_numpy().tolist() == [[run.own, run.s, run.l2]]
    assert chosen["val_accuracy"].item() == pytest.approx(run.val_accuracy, abs=0.011)
    assert run.path.by == "validation" and run.notes == ()


@pytest.mark.parametrize(("degree", "s"), [(80, 20.0), (10, 200.0)])
def test_where_heat_has_levelled_all_features_rounding_teaches_nothing(degree, s):
    graph = block_model(200, 3, degree=degree, homophily=0.4, features=16, seed=1)
    run = fit_linear(graph, s=s, l2=1e-3)
    np.testing.assert_allclose(run.probabilities, 1 / 3, atol=1e-6)


def test_test_labels_play_no_part():
    shuffled = GRAPH.labels.copy()
    test = GRAPH.split["test"]
    shuffled[test] = np.roll(shuffled[test], 7)
    other = Graph.from_scipy(
        adjacency=GRAPH.adjacency, features=GRAPH.features, labels=shuffled,
        classes=GRAPH.classes, split=GRAPH.split,
    )  # fmt: skip
    ours, theirs = fitted(), fit_linear(other, threads=1)
    np.testing.assert_array_equal(ours.probabilities, theirs.probabilities)
    assert ours.test_accuracy != theirs.test_accuracy


def test_a_pair_is_judged_with_its_neighbours():
    accuracy = np.full((1, 5, 5), 0.7)
    accuracy[0, 0, 4] = 0.9  # a lucky pair
    accuracy[0, 3, 1:4] = accuracy[0, 4, 1:4] = 0.8
    chosen = np.unravel_index(best_of(accuracy, np.ones((1, 5, 5))), accuracy.shape)
    assert chosen == (0, 4, 2)


def test_loss_settles_what_accuracy_does_not():
    loss = np.array([[[0.6, 0.5], [0.7, 0.5]]])
    assert best_of(np.full((1, 2, 2), 0.8), loss) == 1


def test_logits_are_sharpened_until_they_are_as_sure_as_right():
    random = np.random.default_rng(0)
    codes = random.integers(0, 3, 2000)
    logits = 2.0 * np.eye(3)[codes] + random.gumbel(size=(2000, 3))
    truth, loss = sharpness_of(logits, codes)
    faint, same = sharpness_of(logits / 1000, codes)
    assert faint == pytest.approx(1000 * truth, rel=1e-3) and same == pytest.approx(loss, rel=1e-6)
    assert np.isfinite(sharpness_of(np.zeros((4, 3)), np.zeros(4, dtype=int))[1])


def test_without_validation_labels_it_cross_validates_and_says_so():
    graph = GRAPH.with_split(train=GRAPH.split["train"], test=GRAPH.split["test"])
    run = fit_linear(graph, seed=4)
    assert run.path.by == "cross-validation"
    assert "5-fold cross-validation over the 60 training labels" in run.notes[0]
    assert len(run.training_nodes) == 60 and run.val_accuracy is None
    assert run.test_accuracy > 0.8
    near = fit_linear(graph, seed=4, l2=0.01), fit_linear(graph, seed=4, l2=0.01)
    np.testing.assert_array_equal(near[0].path.loss, near[1].path.loss)
    assert (fit_linear(graph, seed=5, l2=0.01).path.loss != near[0].path.loss).any()


def test_folds_leave_every_class_a_teacher():
    codes = np.array([0, 1, 1, 2, 2, 2, 2, 2, 2, 2])
    folds = deal_folds(codes, seed=0)
    assert folds[0] == -1 and folds.max() == 4
    for k in range(5):
        assert set(codes[folds != k]) == {0, 1, 2}
    assert deal_folds(np.array([0, 1, 2]), seed=0) is None


def test_one_label_a_class_falls_back_to_defaults():
    train = [np.flatnonzero(GRAPH.labels == code)[0] for code in range(3)]
    run = fit_linear(GRAPH.with_split(train=train))
    assert (run.s, run.l2) == (5.0, 1e-3) and "No class has two labels" in run.notes[0]
    assert len(run.path) == 0 and len(run.path_frame()) == 0
    assert np.isfinite(run.probabilities).all()
    with pytest.raises(ParameterError, match="no path to draw"):
        plot.path(run)


def test_one_class_with_one_label_among_others():
    labels = GRAPH.labels
    train = np.concatenate(
        [np.flatnonzero(labels == 0)[:1], np.flatnonzero(labels == 1)[:8],
         np.flatnonzero(labels == 2)[:2]]
    )  # fmt: skip
    run = fit_linear(GRAPH.with_split(train=train))
    assert run.path.by == "cross-validation"
    assert set(run.predicted[train]) == {0, 1, 2}


def test_a_class_that_nobody_teaches_is_the_last_choice():
    train = GRAPH.split["train"]
    graph = GRAPH.with_split(
        train=train[GRAPH.labels[train] != 1], val=GRAPH.split["val"], test=GRAPH.split["test"]
    )
    run = fit_linear(graph)
    assert (run.predicted != 1).all() and np.isfinite(run.path.loss).all()
    assert (run.probabilities[:, 1] > 0).all() and (run.probabilities[:, 1] < 1e-9).all()
    result = explain_linear(run, graph, 5, label=graph.classes[1])
    assert len(result.sources) == 0 and result.logit == result.constant


def test_features_that_are_all_alike_give_the_training_shares():
    graph = Graph.from_scipy(
        adjacency=sp.csr_array(np.roll(np.eye(8), 1, 0) + np.roll(np.eye(8), -1, 0)),
        features=np.ones((8, 3)), labels=np.array([0, 0, 0, 1, -1, -1, -1, -1]),
        classes=("a", "b"),
    )  # fmt: skip
    run = fit_linear(graph, s=1.0, l2=0.1)
    np.testing.assert_allclose(run.probabilities, np.tile([0.75, 0.25], (8, 1)), atol=1e-6)


def test_two_runs_are_identical_and_threads_change_nothing_that_matters():
    first, second = fitted(), fit_linear(GRAPH, threads=1)
    np.testing.assert_array_equal(first.probabilities, second.probabilities)
    np.testing.assert_array_equal(first.path.loss, second.path.loss)
    np.testing.assert_allclose(
        fit_linear(GRAPH, threads=2).probabilities, first.probabilities, atol=1e-6
    )


def test_no_features_is_an_error_that_names_a_way_out():
    with pytest.raises(GraphError, match="HeatLabelSpreading"):
        fit_linear(block_model(60, 2, features=0, seed=0))


@pytest.mark.parametrize(
    "wrong",
    [
        {"s": -1},
        {"s": "soon"},
        {"l2": 0},
        {"hidden": 16},
        {"scaling": "x"},
        {"seed": -1},
        {"own": 1.0},
    ],
)
def test_wrong_settings_are_named(wrong):
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        fit_linear(GRAPH, **wrong)


def test_diffused_rows_agree_by_every_way():
    whole = Diffusion(GRAPH, Scaling("none"))
    nodes, times, shares = np.array([7, 3, 250]), np.array([0.0, 0.5, 9.0]), (0.0, 0.3)
    for s, each_share in zip(times, whole.path(nodes, times, shares), strict=True):
        for own, rows in zip(shares, each_share, strict=True):
            mix = own * np.eye(GRAPH.n) + (1 - own) * dense_diffusion(GRAPH, s)
            diffusion, exact = whole.keeping(own), mix[nodes] @ GRAPH.features
            np.testing.assert_allclose(rows, exact, atol=2e-3)
            np.testing.assert_allclose(diffusion.rows(nodes, s), exact, atol=1e-5)
            np.testing.assert_allclose(diffusion.spread(GRAPH.features, s)[nodes], exact, atol=1e-5)
            np.testing.assert_allclose(diffusion.weights(nodes, s), mix[nodes], atol=1e-6)


# --------------------------------------------------------------------- doors and files


def test_save_and_load_keep_everything(tmp_path):
    run = fitted()
    run.save(tmp_path / "run.safetensors")
    back = LinearRun.load(tmp_path / "run.safetensors")
    assert (back.asked, back.s, back.l2, back.recipe) == (run.asked, run.s, run.l2, "linear")
    assert (back.own, back.path.forms) == (run.own, run.path.forms)
    for name in ("weights", "bias", "duals", "probabilities", "reached", "roles"):
        np.testing.assert_array_equal(getattr(back, name), getattr(run, name))
    pandas.testing.assert_frame_equal(back.path_frame(), run.path_frame())
    np.testing.assert_allclose(linear_probabilities_on(back, GRAPH), run.probabilities, atol=1e-9)


def test_fit_and_evaluate_know_it():
    run = graphheat.fit(GRAPH, "linear", s=3.0)
    assert run.recipe == "linear" and run.s == 3.0
    result = graphheat.evaluate(GRAPH, "linear", seeds=range(3), s=2.0)
    assert [each.seed for each in result.runs] == [0, 1, 2]
    assert len(set(result.accuracies.tolist())) == 1
    with pytest.raises(ParameterError, match="eps"):
        graphheat.evaluate(GRAPH, "linear", eps=1e-4)


def test_the_classifier_knows_it(tmp_path):
    model = graphheat.GraphHeatClassifier(recipe="linear", random_state=0).fit(GRAPH)
    assert model.score() > 0.8 and model.reached_.any()
    other = block_model(120, 3, seed=0)
    assert model.predict_proba(other).shape == (120, 3)
    model.save(tmp_path / "m.safetensors")
    loaded = graphheat.GraphHeatClassifier.load(tmp_path / "m.safetensors")
    assert loaded.recipe == "linear"
    np.testing.assert_array_equal(loaded.predict(), model.predict())
    np.testing.assert_array_equal(loaded.predict(other), model.predict(other))
    with pytest.raises(GraphError, match="64 features"):
        model.predict(block_model(90, 3, features=5, seed=0))
    with pytest.raises(ParameterError, match="hidden"):
        graphheat.GraphHeatClassifier(recipe="linear", hidden=8).fit(GRAPH)


def test_the_picture_marks_the_choice():
    run = fitted()
    ax = plot.new_axes()
    assert plot.path(run, ax) is ax
    marked = ax.lines[-1]
    assert marked.get_xdata()[0] == run.s and f"s = {run.s:g}" in marked.get_label()


def call(*words, code=0):
    result = CliRunner().invoke(main, [str(word) for word in words])
    assert result.exit_code == code, result.output + result.stderr
    return result


def test_the_command_line_fits_resumes_and_predicts(tmp_path):
    file, out = tmp_path / "g.npz", tmp_path / "run"
    graphheat.write_npz(GRAPH, file)
    told = json.loads(call("fit", file, "--recipe", "linear", "--out", out, "--json").stdout)
    assert told["settings"]["chosen_by"] == "validation" and told["s"] == told["settings"]["s"]
    files = {path.name for path in out.iterdir()}
    assert {"path.csv", "path.png", "predictions.csv", "checkpoint.safetensors"} <= files
    assert pandas.read_csv(out / "path.csv")["chosen"].sum() == 1
    assert "linear" in call("fit", file, "--recipe", "linear", "--out", out, "--resume").output
    call("fit", file, "--recipe", "linear", "-s", 2, "--out", out, "--resume", code=2)
    call("fit", file, "--recipe", "linear", "--out", out, code=2)
    other = tmp_path / "other.npz"
    graphheat.write_npz(block_model(80, 3, seed=2), other)
    call("predict", out, "--graph", other, "--out", tmp_path / "p.csv")
    assert len(pandas.read_csv(tmp_path / "p.csv")) == 80
    call("fit", file, "--recipe", "linear", "-s", 2, "--set", "l2=0.01", "--out", out, "--force")
    run = load_run(str(out))
    assert (run.s, run.l2) == (2.0, 0.01)
    assert not (out / "path.csv").exists()
    call("fit", file, "--recipe", "linear", "--eps", "1e-4", code=2)
    call("fit", file, "--recipe", "linear", "--hidden", "8", code=2)


def test_another_recipes_run_is_not_resumed(tmp_path):
    graphheat.fit(GRAPH, "lp").save(tmp_path / "lp.safetensors")
    with pytest.raises(CheckpointError, match="another recipe"):
        LinearRun.load_matching(tmp_path / "lp.safetensors", GRAPH, 0, fitted().asked)


# --------------------------------------------------------------------- why


def odd_graph():
    """String ids, sparse words, an isolated node, and a component without labels."""
    random = np.random.default_rng(5)
    n = 60
    A = np.triu(random.random((n, n)) < 0.08, 1)
    A[:50, 50:] = False
    A[49] = A[:, 49] = False
    words = sp.csr_array((random.random((n, 30)) < 0.2).astype(float))
    labels = random.integers(0, 3, n)
    labels[50:] = -1
    return Graph.from_scipy(
        adjacency=sp.csr_array((A + A.T).astype(float)), features=words, labels=labels,
        classes=("red", "green", "blue"), nodes=[f"n{i}" for i in range(n)],
        split={"train": np.arange(20), "val": np.arange(20, 40)},
    )  # fmt: skip


@pytest.mark.parametrize("graph", [GRAPH, odd_graph()], ids=["table", "words"])
@pytest.mark.parametrize(("s", "own"), [(0.0, 0.0), (4.0, 0.0), (4.0, 0.2)])
def test_contributions_and_constant_sum_to_the_logit(graph, s, own):
    run = fit_linear(graph, s=s, l2=0.003, own=own)
    explainer = LinearExplainer(run, graph)
    logs = np.log(run.probabilities)
    for index in range(0, graph.n, 7):
        logits = []
        for name in graph.classes:
            for view in ("sources", "labels"):
                why = explainer.explain(graph.nodes[index], label=name, view=view)
                total = why.constant + why.contributions.sum()
                assert total == pytest.approx(why.logit, abs=1e-6)
            assert why.training.all()
            logits.append(why.logit)
        logits = np.array(logits)
        np.testing.assert_allclose(
            logits - logits.mean(), logs[index] - logs[index].mean(), atol=1e-6
        )


def test_an_isolated_node_is_its_own_source_and_an_unreached_one_has_no_training_source():
    graph = odd_graph()
    run = fit_linear(graph, s=4.0, l2=0.01)
    alone = explain_linear(run, graph, "n49")
    assert alone.sources.tolist() == [49] and alone.hops.tolist() == [0]
    far = explain_linear(run, graph, "n55")
    assert not far.training.any() and not run.reached[50:].any()
    assert len(explain_linear(run, graph, "n55", view="labels").sources) > 0


@pytest.mark.parametrize("own", [0.0, 0.2])
def test_scaling_a_source_moves_the_logit_by_its_contribution(own):
    run = fit_linear(GRAPH, s=2.0, l2=0.01, scaling="none", own=own)
    why = explain_linear(run, GRAPH, 11)
    source, step = why.sources[1], 1e-3
    features = np.asarray(GRAPH.features, dtype=np.float64).copy()
    features[source] *= 1 + step
    changed = Graph.from_scipy(adjacency=GRAPH.adjacency, features=features)
    after = Diffusion(changed, run.scaling, own=own).rows(np.array([11]), run.s)[0]
    moved = after @ run.weights[:, run.classes.index(why.label)] + why.constant - why.logit
    assert moved == pytest.approx(step * why.contributions[1], rel=1e-2)


def test_what_would_be_without_a_source():
    run = fit_linear(GRAPH, s=2.0, l2=0.01)
    explainer = LinearExplainer(run, GRAPH)
    why = explainer.explain(11)
    assert why.predicted == why.label == run.classes[run.predicted[11]]
    largest = why.nodes[why.sources[0]]
    other = explainer.without(11, largest)
    np.testing.assert_allclose(other.logits, why.without_largest.logits)
    code = run.classes.index(why.label)
    assert other.logits[code] == pytest.approx(why.logit - why.contributions[0], abs=1e-9)
    nothing = explainer.without(11, list(why.nodes))
    np.testing.assert_allclose(nothing.logits, run.bias)
    assert explainer.explain(11, view="labels").without_largest is None


def test_wrong_questions_are_named():
    run = fit_linear(GRAPH, s=1.0, l2=0.01)
    with pytest.raises(ParameterError, match="label"):
        explain_linear(run, GRAPH, 0, label="no such class")
    with pytest.raises(ParameterError, match="view"):
        explain_linear(run, GRAPH, 0, view="edges")
    with pytest.raises(GraphError, match="not the graph"):
        explain_linear(run, block_model(300, 3, seed=9), 0)


def test_nodes_that_calibrate_keep_their_role_and_choose_nothing():
    val = GRAPH.split["val"]
    graph = GRAPH.with_split(
        train=GRAPH.split["train"], val=val[:40], calibration=val[40:], test=GRAPH.split["test"]
    )
    run = fit_linear(graph)
    assert run.calibration_role == "calibration"
    assert np.array_equal(run.members("calibration"), np.sort(val[40:]))
    other = graph.with_split(train=GRAPH.split["train"], val=val[:40], test=GRAPH.split["test"])
    assert np.array_equal(run.probabilities, fit_linear(other).probabilities)
