"""Input features: words by row, measurements by column."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from graphheat import datasets
from graphheat.graph import Graph
from graphheat.training import prepare, settings_for
from graphheat.training.scaling import LENGTH, Scaling, suitable_scaling

WORDS = np.array([[0, 2, 0, 0], [1, 0, 0, 3], [0, 0, 0, 0], [0, 0, 5, 0]], dtype=np.float32)
TABLE = np.array([[31, 0.1, 7], [28, -0.3, 7], [3, 0.2, 7], [60, 0.9, 7]], dtype=np.float32)


def dense(x):
    if hasattr(x, "pattern"):
        p = x.pattern
        parts = x.values.numpy(), p.col.numpy(), p.crow.numpy()
        return sp.csr_array(parts, shape=x.shape).toarray()
    return x.numpy()


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_rows_are_divided_by_their_sum_and_empty_rows_stay_empty(form):
    x = dense(Scaling.learn(form(WORDS), "rows").apply(form(WORDS)))
    assert x.sum(axis=1) == pytest.approx([1, 1, 0, 1])
    assert x[1] == pytest.approx([0.25, 0, 0, 0.75])


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_rows_are_given_one_length_and_empty_rows_stay_empty(form):
    x = dense(Scaling.learn(form(WORDS), "lengths").apply(form(WORDS)))
    assert np.linalg.norm(x, axis=1) == pytest.approx([LENGTH, LENGTH, 0, LENGTH])
    assert x[1] / LENGTH == pytest.approx(WORDS[1] / np.sqrt(10))


def test_words_get_one_length_where_nothing_was_chosen_before():
    cora = datasets.load("cora")
    other = replace(cora, name="papers")
    for recipe in ("consistent", "normalized"):
        assert settings_for(other, recipe).scaling == "lengths"
    assert settings_for(other, "paper").scaling == "rows"
    assert settings_for(cora, "consistent").scaling == "rows"


def test_rows_with_negative_features_are_divided_by_the_sum_of_absolute_values():
    x = dense(Scaling.learn(TABLE, "rows").apply(TABLE))
    assert np.abs(x).sum(axis=1) == pytest.approx(1)
    assert np.array_equal(np.sign(x), np.sign(TABLE))


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_columns_get_mean_0_and_deviation_1_and_constant_ones_become_0(form):
    x = dense(Scaling.learn(form(TABLE), "columns").apply(form(TABLE)))
    assert x.mean(axis=0) == pytest.approx(0, abs=1e-6)
    assert x.std(axis=0) == pytest.approx([1, 1, 0], abs=1e-6)


@pytest.mark.parametrize("n", [3, 7, 1000])
def test_a_constant_column_says_nothing_of_another_graph_either(n):
    """Its mean is rounded, and a deviation of 1e-17 would blow up what differs from it."""
    scaling = Scaling.learn(np.full((n, 1), 0.1, dtype=np.float32), "columns")
    assert np.abs(dense(scaling.apply(np.array([[0.1], [0.3]], dtype=np.float32)))).max() < 1


def test_none_takes_features_as_they_are():
    assert np.array_equal(dense(Scaling.learn(TABLE, "none").apply(TABLE)), TABLE)


@pytest.mark.parametrize("kind", ["rows", "columns", "none"])
def test_scaling_survives_a_checkpoint(kind):
    scaling = Scaling.learn(TABLE, kind)
    again = Scaling.from_tensors(kind, scaling.tensors())
    assert np.array_equal(dense(again.apply(TABLE)), dense(scaling.apply(TABLE)))


def graph_of(features):
    return Graph.from_scipy(np.ones((4, 4)) - np.eye(4), features, labels=["a", "b", "a", "b"])


def test_words_are_scaled_by_row_and_measurements_by_column():
    assert suitable_scaling(graph_of(WORDS)) == "rows"
    assert suitable_scaling(graph_of(sp.csr_array(TABLE))) == "rows"
    assert suitable_scaling(graph_of(TABLE)) == "columns"
    assert suitable_scaling(graph_of(None)) == "rows"


@pytest.mark.parametrize("name", ["cora", "citeseer", "pubmed"])
def test_the_papers_data_sets_are_scaled_by_row_as_in_the_paper(name):
    assert settings_for(datasets.load(name)).scaling == "rows"


def test_the_network_gets_scaled_features():
    graph = graph_of(sp.csr_array(WORDS))
    problem = prepare(graph, settings_for(graph))
    assert np.array_equal(dense(problem.x), dense(problem.scaling.apply(graph.features)))
