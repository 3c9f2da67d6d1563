"""Runs as ONNX files give, in onnxruntime, the probabilities that they have here."""

import json

import numpy as np
import pytest

import graphheat
from graphheat import datasets, recipes
from graphheat.errors import GraphError, UnsupportedError
from graphheat.features import Scaling

onnxruntime = pytest.importorskip("onnxruntime")
pytest.importorskip("onnx")
from graphheat.portable import dense  # noqa: E402


def graph(n=90, **options):
    return datasets.block_model(n, 3, labels_per_class=6, seed=0, **options)


def in_onnxruntime(path, features):
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    given = {each.name: dense(features) for each in session.get_inputs()}
    return session, session.run(["probabilities"], given)[0]


KINDS = [
    ("paper", {"max_epochs": 20}),
    ("authors", {"max_epochs": 20}),
    ("paper", {"max_epochs": 20, "eps": None, "K": 3}),
    ("consistent", {"max_epochs": 8}),
    ("normalized", {"max_epochs": 8}),
    ("linear", {}),
    ("linear", {"s": 3.0, "self_weight": 0.2, "scaling": "tfidf"}),
    ("linear", {"s": 0.0, "scaling": "standard"}),
    ("linear", {"s": 2.0, "scaling": "l1"}),
    ("spreading", {}),
    ("ensemble", {"max_epochs": 8}),
    ("auto", {}),
]


@pytest.mark.parametrize(("recipe", "settings"), KINDS)
def test_probabilities_are_the_runs(recipe, settings, tmp_path):
    fitted = graph()
    run = graphheat.fit(fitted, recipe, seed=0, **settings)
    run.to_onnx(tmp_path / "run.onnx", fitted)
    session, found = in_onnxruntime(tmp_path / "run.onnx", fitted.features)
    assert np.abs(found - run.probabilities).max() < 1e-5
    facts = session.get_modelmeta().custom_metadata_map
    assert json.loads(facts["nodes"]) == list(run.nodes)
    assert json.loads(facts["classes"]) == list(run.classes)


def test_every_recipe_of_heat_is_among_them():
    own = recipes.names()[: recipes.names().index("mlp")]  # the paper's baselines follow
    assert {recipe for recipe, _ in KINDS} == set(own)


@pytest.mark.parametrize("recipe", ["spreading", "auto"])
def test_without_features_nothing_is_asked_for(recipe, tmp_path):
    fitted = graph(features=0)
    run = graphheat.fit(fitted, recipe, seed=0)
    run.to_onnx(tmp_path / "run.onnx", fitted)
    session, found = in_onnxruntime(tmp_path / "run.onnx", None)
    assert not session.get_inputs()
    assert np.abs(found - run.probabilities).max() < 1e-5


def test_other_features_of_the_same_nodes_are_labelled_as_here(tmp_path):
    fitted = graph()
    run = graphheat.fit(fitted, "linear", s=2.0)
    run.to_onnx(tmp_path / "run.onnx", fitted)
    changed = fitted.features.toarray() if hasattr(fitted.features, "toarray") else fitted.features
    changed = np.roll(changed, 1, axis=0)
    other = graphheat.Graph.from_scipy(fitted.adjacency, changed)
    _, found = in_onnxruntime(tmp_path / "run.onnx", changed)
    assert np.abs(found - run.probabilities).max() > 1e-3
    assert np.abs(found - run.probabilities_on(other)).max() < 1e-5


@pytest.mark.parametrize("kind", ["l1", "l2", "standard", "tfidf", "none"])
def test_scaling_is_that_of_fitting(kind):
    from graphheat.portable.onnx_builder import OnnxBuilder
    from graphheat.portable.onnx_model import FEATURES, scaled

    x = np.random.default_rng(0).normal(size=(7, 4)) * (np.arange(7) != 2)[:, None]
    scaling, builder = Scaling.learn(x, kind), OnnxBuilder()
    builder.input(FEATURES, x.shape)
    model = builder.model(scaled(scaling, builder), x.shape, {})
    session = onnxruntime.InferenceSession(model.SerializeToString())
    found = session.run(None, {FEATURES: x})[0]
    assert np.allclose(found, dense(scaling.apply(x)), atol=1e-7)


def test_a_grown_graph_may_be_exported(tmp_path):
    fitted = graph()
    run = graphheat.fit(fitted, "linear", s=2.0)
    grown = fitted.extended([90], [(90, 3)], features=fitted.features[:1])
    run.to_onnx(tmp_path / "run.onnx", grown)
    _, found = in_onnxruntime(tmp_path / "run.onnx", grown.features)
    assert np.abs(found - run.on(grown).probabilities).max() < 1e-5


def test_what_has_no_such_form_says_so(tmp_path):
    fitted = graph()
    run = graphheat.fit(fitted, "lp")
    with pytest.raises(UnsupportedError, match="run of lp has no ONNX form"):
        run.to_onnx(tmp_path / "run.onnx", fitted)
    run = graphheat.fit(fitted, "spreading")
    with pytest.raises(GraphError, match="not the graph"):
        run.to_onnx(tmp_path / "run.onnx", graph(80))
    assert not list(tmp_path.iterdir())
