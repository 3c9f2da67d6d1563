"""Features that mattered, labels whose heat arrived, and titles: for every kind of explanation."""

from functools import cache
from typing import Any

import numpy as np
import pytest

import graphheat
from graphheat.datasets import block_model
from graphheat.graph import Graph
from graphheat.heat import HeatKernel

BLOCKS = block_model(90, 3, features=5, labels_per_class=5, seed=0)
GRAPH = Graph.from_scipy(
    BLOCKS.adjacency, BLOCKS.features, BLOCKS.labels, classes=("ash", "oak", "elm"),
    split=BLOCKS.split, titles=[f"Tree no. {k}" for k in range(90)], feature_names="abcde",
)  # fmt: skip
RECIPES = {"linear": {}, "spreading": {}, "paper": {"max_epochs": 15}, "auto": {"max_epochs": 2}}


@cache
def fitted(recipe) -> Any:
    return graphheat.fit(GRAPH, recipe, threads=1, **RECIPES[recipe])


@pytest.mark.parametrize("recipe", ["linear", "paper", "auto"])
def test_features_give_what_the_sources_give(recipe):
    run = fitted(recipe)
    explainer = run.explainer(GRAPH)
    by_feature = explainer.by_feature(40, [0, 2])
    assert by_feature.shape == (5, 2)
    if recipe != "auto":
        given, _ = explainer.contributions(40, [0, 2])
        np.testing.assert_allclose(by_feature.sum(axis=0), given.sum(axis=0), atol=1e-6)
    found = explainer.explain(40)
    frame = found.features(3)
    assert len(frame) == 3 and set(frame["feature"]) < set("abcde")
    assert frame["contribution"].abs().is_monotonic_decreasing
    assert "Features that mattered: " in found.text()


def test_a_feature_that_is_zero_everywhere_gave_nothing():
    features = BLOCKS.features.copy()
    features[:, 2] = 0.0
    graph = Graph.from_scipy(
        BLOCKS.adjacency, features, BLOCKS.labels, classes=(0, 1, 2), split=BLOCKS.split
    )
    found = graphheat.fit(graph, "linear").explainer(graph).explain(40)
    assert found.by_feature[2] == 0
    assert "feature 2" not in found.features().feature.tolist()


@pytest.mark.parametrize("recipe", RECIPES)
def test_heat_of_labelled_nodes_by_class(recipe):
    run = fitted(recipe)
    found = run.explainer(GRAPH).explain(40)
    frame = found.labels()
    assert set(frame["class"]) == {"ash", "oak", "elm"}
    assert frame["share"].sum() == pytest.approx(1)
    assert frame["heat"].is_monotonic_decreasing
    assert all(name.startswith("Tree no. ") for name in frame["nodes"][0])
    assert "Heat from labelled nodes: " in found.text()


def test_the_heat_of_label_spreading_is_that_of_the_kernel():
    run = fitted("spreading")
    row = HeatKernel(GRAPH, run.s, self_loops=1.0, tol=1e-9).row(40).toarray()[0]
    found = run.explainer(GRAPH).explain(40)
    np.testing.assert_allclose(found.heat, row[np.sort(run.split.train)], atol=1e-6)
    assert found.by_feature is None and found.feature_sentence() is None


def test_titles_stand_with_the_ids():
    found = fitted("linear").explainer(GRAPH).explain("tree no. 40")
    assert found.headline().startswith("Node Tree no. 40 (40): ")
    assert "from Tree no. " in found.text()
    assert found.table()["title"][0] == f"Tree no. {found.sources[0]}"
    plain = graphheat.fit(BLOCKS, "linear").explainer(BLOCKS).explain(40)
    assert plain.headline().startswith("Node 40: ")
    assert "title" not in plain.table()


def test_without_features_nothing_is_said_of_them():
    bare = Graph.from_scipy(
        BLOCKS.adjacency, None, BLOCKS.labels, classes=(0, 1, 2), split=BLOCKS.split
    )
    found = graphheat.fit(bare).explainer(bare).explain(40)
    assert found.without_largest is None and "features" not in found.text()
    assert "Heat from labelled nodes: " in found.text()


@pytest.mark.parametrize("recipe", RECIPES)
def test_what_is_computed_ahead_for_several_nodes_changes_nothing(recipe):
    alone, ahead = (fitted(recipe).explainer(GRAPH) for _ in range(2))
    ahead.look_ahead(np.array([40, 3, 71]))
    for index in (3, 40, 12):  # the last was not among them
        for one, other in zip(
            alone.contributions(index, [1, 0]), ahead.contributions(index, [1, 0]), strict=True
        ):
            np.testing.assert_allclose(one, other, atol=1e-5)
        if recipe != "spreading":
            np.testing.assert_allclose(
                alone.by_feature(index, [2]), ahead.by_feature(index, [2]), atol=1e-5
            )


def test_classes_asked_for_together_are_those_asked_for_alone():
    explainer = fitted("paper").explainer(GRAPH)
    together, constants = explainer.contributions(40, [0, 1, 2])
    for code in range(3):
        given, constant = explainer.contributions(40, [code])
        np.testing.assert_allclose(given[:, 0], together[:, code], atol=1e-12)
        assert constant[0] == pytest.approx(constants[code])
