"""GraphHeatClassifier: the fitted nodes, other nodes, files, seeds."""

import pickle
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import accuracy_score

import graphheat
from graphheat import GraphHeatClassifier
from graphheat.datasets import block_model
from graphheat.errors import CheckpointError, GraphError, ParameterError
from graphheat.explain import explain
from graphheat.graph import Graph

GRAPH = block_model(60, 3, features=8, labels_per_class=4, seed=0)
OTHER = block_model(40, 3, features=8, labels_per_class=4, seed=1)
BLOCKS = block_model(300, 3, seed=0)
X, A, Y = GRAPH.features, GRAPH.adjacency, GRAPH.labels


def model(**options):
    return GraphHeatClassifier(**{"max_epochs": 15, "random_state": 0, **options})


@pytest.fixture(scope="module")
def fitted():
    return model().fit(X, Y, adjacency=A)


@pytest.fixture
def loaded(fitted, tmp_path):
    fitted.save(tmp_path / "model.safetensors")
    return GraphHeatClassifier.load(tmp_path / "model.safetensors")


def test_nothing_is_answered_before_fit():
    for ask in (
        lambda m: m.predict(),
        lambda m: m.predict_proba(X),
        lambda m: m.score(),
        lambda m: m.predictions_frame(),
        lambda m: m.save("nowhere"),
        lambda m: m.explain(0),
    ):
        with pytest.raises(NotFittedError):
            ask(model())


def test_predict_without_x_with_the_fitted_x_and_with_the_fitted_graph_agree(fitted):
    expected = fitted.predict_proba()
    same = Graph.from_scipy(A, X, Y)
    for given in (X, X.astype(np.float64), X.tolist(), fitted.graph_, same):
        assert np.array_equal(fitted.predict_proba(given), expected)
        assert np.array_equal(fitted.predict(given), fitted.predict())
    assert np.array_equal(fitted.predict(), fitted.classes_[expected.argmax(axis=1)])


def test_another_x_needs_its_adjacency(fitted):
    with pytest.raises(ParameterError, match=r"edges are not known\. Pass adjacency=, or call"):
        fitted.predict(OTHER.features)
    with pytest.raises(ParameterError, match="edges are not known"):
        fitted.predict(np.asarray(X) + 1)


def test_another_x_with_its_adjacency_is_another_graph(fitted):
    shares = fitted.predict_proba(OTHER.features, adjacency=OTHER.adjacency)
    assert shares.shape == (40, 3)
    assert np.allclose(shares.sum(axis=1), 1)
    assert np.array_equal(shares, fitted.predict_proba(OTHER))


def test_the_fitted_x_with_the_fitted_adjacency_gives_the_fitted_answer(fitted):
    for edges in (A, A.toarray(), Graph.from_scipy(A)):
        assert np.array_equal(fitted.predict_proba(X, adjacency=edges), fitted.predict_proba())
    other = A.toarray()
    other[0], other[:, 0] = 0, 0
    found = fitted.predict_proba(X, adjacency=other)
    assert not np.allclose(found, fitted.predict_proba(), atol=1e-6)


def test_a_network_computes_the_fitted_answer_again():
    network = model(recipe="consistent").fit(X, Y, adjacency=A)
    again = network.run_.probabilities_on(Graph.from_scipy(A, X))
    assert np.allclose(again, network.predict_proba(), atol=1e-6)


def test_a_model_of_nearest_neighbours_finds_those_of_another_x():
    near = model(neighbors=4).fit(X, Y)
    assert near.predict_proba(OTHER.features).shape == (40, 3)


def test_a_wrong_number_of_features_is_refused(fitted):
    with pytest.raises(
        ValueError, match="X has 7 features, but GraphHeatClassifier is expecting 8"
    ):
        fitted.predict(OTHER.features[:, :7], adjacency=OTHER.adjacency)
    narrow = Graph.from_scipy(OTHER.adjacency, OTHER.features[:, :7])
    with pytest.raises(GraphError, match="fitted on 8 features per node; graph has 7"):
        fitted.predict(narrow)


def test_score_is_the_accuracy(fitted):
    assert fitted.score(X, Y) == accuracy_score(Y, fitted.predict())
    weights = np.arange(60)
    expected = accuracy_score(Y, fitted.predict(), sample_weight=weights)
    assert fitted.score(X, Y, sample_weight=weights) == pytest.approx(expected)
    test = OTHER.split["test"]
    assert fitted.score(OTHER) == accuracy_score(OTHER.labels[test], fitted.predict(OTHER)[test])


def test_score_without_y_needs_test_nodes(fitted):
    with pytest.raises(GraphError, match="no labelled test nodes"):
        fitted.score()
    with pytest.raises(ParameterError, match="needs y beside X, or a Graph"):
        fitted.score(X)


def test_score_compares_names_and_not_codes():
    trees = Graph.from_scipy(
        A, X, np.array([2, 0, 1])[Y], classes=["ash", "beech", "cedar"], split=GRAPH.split
    )
    turned = Graph.from_scipy(
        A, X, Y, classes=["cedar", "ash", "beech"], split=GRAPH.split, nodes=np.arange(60) + 100
    )
    # Not the default: its label spreading has no say on a graph with other nodes.
    fitted = GraphHeatClassifier(recipe="linear", random_state=0).fit(trees)
    assert fitted.score(turned) == fitted.score(trees)


# ---------------------------------------------------------------------- files


def test_a_loaded_model_answers_for_the_fitted_nodes_without_the_graph(fitted, loaded):
    assert loaded.graph_ is None
    assert np.array_equal(loaded.predict_proba(), fitted.predict_proba())
    assert np.array_equal(loaded.predict(), fitted.predict())
    assert np.array_equal(loaded.reached_, fitted.reached_)
    assert loaded.classes_.tolist() == fitted.classes_.tolist()
    assert loaded.predictions_frame().equals(fitted.predictions_frame())


def test_a_loaded_model_knows_the_fitted_graph_again(fitted, loaded):
    assert loaded.predict_proba(fitted.graph_) is loaded.probabilities_


def test_a_loaded_model_labels_another_graph(fitted, loaded):
    assert np.array_equal(loaded.predict_proba(OTHER), fitted.predict_proba(OTHER))
    assert loaded.score(OTHER) == fitted.score(OTHER)
    # It does not hold its graph, so X is that of other nodes, and label spreading has no say.
    with_edges = loaded.predict_proba(X, adjacency=A)
    expected = fitted.run_.probabilities_on(Graph.from_scipy(A, X))
    assert np.allclose(with_edges, expected, atol=1e-6)


def test_a_loaded_model_says_what_it_does_not_hold(loaded):
    with pytest.raises(ParameterError, match="edges are not known"):
        loaded.predict(X)
    with pytest.raises(ParameterError, match=r"score needs y beside X, or a Graph .* loaded model"):
        loaded.score()


def test_a_loaded_model_has_the_parameters_that_fit_it_again(fitted, loaded):
    again = clone(loaded).fit(fitted.graph_)
    assert np.array_equal(again.probabilities_, fitted.probabilities_)


def test_a_run_of_fit_can_be_loaded(tmp_path):
    run = graphheat.fit(GRAPH, "paper", max_epochs=5, checkpoint=tmp_path / "run.safetensors")
    loaded = GraphHeatClassifier.load(tmp_path / "run.safetensors")
    assert np.allclose(loaded.predict_proba(), run.probabilities)


def test_the_linear_recipe_is_fitted_saved_and_loaded_likewise(tmp_path):
    linear = GraphHeatClassifier(recipe="linear", random_state=0).fit(BLOCKS)
    assert linear.score() > 0.8 and linear.reached_.any()
    other = block_model(120, 3, seed=0)
    assert linear.predict_proba(other).shape == (120, 3)
    linear.save(tmp_path / "linear.safetensors")
    loaded = GraphHeatClassifier.load(tmp_path / "linear.safetensors")
    assert loaded.recipe == "linear"
    assert np.array_equal(loaded.predict(), linear.predict())
    assert np.array_equal(loaded.predict(other), linear.predict(other))


def test_the_linear_recipe_refuses_what_it_does_not_know():
    linear = GraphHeatClassifier(recipe="linear").fit(BLOCKS)
    with pytest.raises(GraphError, match="64 features"):
        linear.predict(block_model(90, 3, features=5, seed=0))
    with pytest.raises(ParameterError, match="hidden"):
        GraphHeatClassifier(recipe="linear", hidden=8).fit(BLOCKS)


def test_a_loaded_linear_model_chooses_again_what_it_had_chosen(tmp_path):
    model = GraphHeatClassifier(recipe="linear").fit(GRAPH)
    model.save(tmp_path / "linear.safetensors")
    again = clone(GraphHeatClassifier.load(tmp_path / "linear.safetensors")).fit(GRAPH)
    assert np.array_equal(again.probabilities_, model.probabilities_)


def test_a_loaded_run_of_a_baseline_answers_for_the_graph_that_it_was_fitted_on(tmp_path):
    run = graphheat.fit(GRAPH, "lp")
    run.save(tmp_path / "lp.safetensors")
    loaded = GraphHeatClassifier.load(tmp_path / "lp.safetensors")
    assert loaded.recipe == "lp"
    assert np.allclose(loaded.predict_proba(), run.probabilities)
    with pytest.raises(GraphError, match="labels the graph that it was fitted on"):
        loaded.predict(OTHER)


def test_a_damaged_file_is_refused(tmp_path):
    (tmp_path / "model.safetensors").write_bytes(b"garbage")
    with pytest.raises(CheckpointError, match="is damaged"):
        GraphHeatClassifier.load(tmp_path / "model.safetensors")


# ---------------------------------------------------------------- scikit-learn


def test_parameters_survive_get_params_set_params_and_clone():
    original = model(s=2.0, eps=None, K=3, hidden=4, neighbors=7, threads=1)
    assert clone(original).get_params() == original.get_params()
    assert GraphHeatClassifier().set_params(**original.get_params()).K == 3


def test_an_int_random_state_repeats_and_none_does_not():
    pytest.importorskip("torch")
    first, second = (model().fit(GRAPH).probabilities_ for _ in range(2))
    assert np.array_equal(first, second)
    first, second = (model(random_state=None).fit(GRAPH).probabilities_ for _ in range(2))
    assert not np.array_equal(first, second)


def test_a_random_state_is_drawn_from():
    pytest.importorskip("torch")
    states = [np.random.RandomState(5) for _ in range(2)]
    first, second = (model(random_state=state).fit(GRAPH) for state in states)
    assert np.array_equal(first.probabilities_, second.probabilities_)
    again = model(random_state=states[0]).fit(GRAPH)
    assert not np.array_equal(again.probabilities_, first.probabilities_)


def test_the_seed_of_the_classifier_is_the_seed_of_fit():
    run = graphheat.fit(GRAPH, seed=7, max_epochs=15)
    assert np.allclose(model(random_state=7).fit(GRAPH).probabilities_, run.probabilities)
    assert model(random_state=np.int64(7)).fit(GRAPH).run_.seed == 7


def test_own_validation_labels_are_said_in_the_run(fitted):
    network = model(recipe="consistent", max_epochs=2).fit(X, Y, adjacency=A)
    assert "held out" in network.run_.notes[0]
    assert not any("held out" in note for note in fitted.run_.notes)
    assert len(fitted.run_.members("train")) == 60


def test_the_default_says_what_each_stage_brought(fitted):
    pytest.importorskip("torch")
    stages = fitted.run_.stages
    assert [stage.name for stage in stages] == ["spreading", "linear", "ensemble"]
    assert fitted.run_.judged_by == "out-of-fold"


def test_refitting_forgets_the_graph_before():
    twice = model().fit(X, Y, adjacency=A)
    twice.fit(OTHER)
    assert twice.predict().shape == (40,)
    assert twice.graph_ is OTHER
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert twice.predict(OTHER).shape == (40,)


def test_explain_answers_for_a_row_and_keeps_its_kernel_for_the_next(fitted):
    shown = fitted.explain(3)
    assert shown.label == fitted.predict()[3]
    assert shown.constant + shown.contributions.sum() == pytest.approx(shown.logit, abs=1e-4)
    kept = fitted._explainer_on(fitted.graph_)
    assert fitted.explain(4, label=1).label == 1
    assert fitted._explainer_on(fitted.graph_) is kept
    assert b"Explainer" not in pickle.dumps(fitted)


def test_explain_after_another_fit_is_of_that_fit():
    changing = model(max_epochs=3).fit(GRAPH)
    changing.explain(3)
    changing.fit(OTHER)
    assert changing.explain(3).logit == explain(changing.run_, OTHER, 3).logit


def test_a_loaded_model_needs_its_graph_to_explain(loaded, fitted):
    with pytest.raises(ParameterError, match="pass graph= to explain"):
        loaded.explain(3)
    shown = loaded.explain(3, graph=fitted.graph_)
    assert np.array_equal(shown.contributions, fitted.explain(3).contributions)
