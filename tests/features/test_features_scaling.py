"""Scaling of features: bag-of-words by row, dense features by column."""

import numpy as np
import pytest
import scipy.sparse as sp

from graphheat.errors import ParameterError
from graphheat.features import Scaling, scaling_kind, suitable_scaling
from graphheat.features.scaling import FORMER, LENGTH
from graphheat.graph import Graph

WORDS = np.array([[0, 2, 0, 0], [1, 0, 0, 3], [0, 0, 0, 0], [0, 0, 5, 0]], dtype=np.float32)
TABLE = np.array([[31, 0.1, 7], [28, -0.3, 7], [3, 0.2, 7], [60, 0.9, 7]], dtype=np.float32)


def dense(x):
    assert x.dtype == np.float32
    return x.toarray() if isinstance(x, sp.csr_array) else x


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_rows_are_divided_by_their_sum_and_empty_rows_stay_empty(form):
    x = dense(Scaling.learn(form(WORDS), "l1").apply(form(WORDS)))
    assert x.sum(axis=1) == pytest.approx([1, 1, 0, 1])
    assert x[1] == pytest.approx([0.25, 0, 0, 0.75])


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_rows_are_given_one_length_and_empty_rows_stay_empty(form):
    x = dense(Scaling.learn(form(WORDS), "l2").apply(form(WORDS)))
    assert np.linalg.norm(x, axis=1) == pytest.approx([LENGTH, LENGTH, 0, LENGTH])
    assert x[1] / LENGTH == pytest.approx(WORDS[1] / np.sqrt(10))


def test_rows_with_negative_features_are_divided_by_the_sum_of_absolute_values():
    x = dense(Scaling.learn(TABLE, "l1").apply(TABLE))
    assert np.abs(x).sum(axis=1) == pytest.approx(1)
    assert np.array_equal(np.sign(x), np.sign(TABLE))


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_columns_get_mean_0_and_deviation_1_and_constant_ones_become_0(form):
    x = dense(Scaling.learn(form(TABLE), "standard").apply(form(TABLE)))
    assert x.mean(axis=0) == pytest.approx(0, abs=1e-6)
    assert x.std(axis=0) == pytest.approx([1, 1, 0], abs=1e-6)


@pytest.mark.parametrize("n", [3, 7, 1000])
def test_a_constant_column_says_nothing_of_another_graph_either(n):
    """Its mean is rounded, and a deviation of 1e-17 would blow up what differs from it."""
    scaling = Scaling.learn(np.full((n, 1), 0.1, dtype=np.float32), "standard")
    assert np.abs(dense(scaling.apply(np.array([[0.1], [0.3]], dtype=np.float32)))).max() < 1


def test_none_takes_features_as_they_are():
    assert np.array_equal(dense(Scaling.learn(TABLE, "none").apply(TABLE)), TABLE)


@pytest.mark.parametrize("kind", ["l1", "l2", "standard", "tfidf", "none"])
def test_scaling_survives_a_checkpoint(kind):
    scaling = Scaling.learn(TABLE, kind)
    again = Scaling.from_arrays(kind, scaling.arrays())
    assert np.array_equal(dense(again.apply(TABLE)), dense(scaling.apply(TABLE)))


def graph_of(features):
    return Graph.from_scipy(np.ones((4, 4)) - np.eye(4), features, labels=["a", "b", "a", "b"])


def test_words_are_scaled_by_row_and_measurements_by_column():
    assert suitable_scaling(graph_of(WORDS)) == "l1"
    assert suitable_scaling(graph_of(sp.csr_array(TABLE))) == "l1"
    assert suitable_scaling(graph_of(TABLE)) == "standard"
    assert suitable_scaling(graph_of(None)) == "l1"


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_rare_words_count_more_and_rows_have_length_one(form):
    words = np.array([[1.0, 1.0, 0.0], [1.0, 0.0, 0.0], [1.0, 0.0, 1.0], [1.0, 0.0, 1.0]])
    scaling = Scaling.learn(form(words), "tfidf")
    x = dense(scaling.apply(form(words)))
    # The first word is everywhere and tells nothing.
    np.testing.assert_allclose(x, [[0, 1, 0], [0, 0, 0], [0, 0, 1], [0, 0, 1]], atol=1e-7)
    again = Scaling.from_arrays("tfidf", scaling.arrays())
    np.testing.assert_array_equal(again.idf, scaling.idf)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("kind", ["l1", "l2", "tfidf", "none"])
def test_sparse_features_stay_sparse_and_scale_as_dense_ones_do(form, kind):
    scaling = Scaling.learn(form(WORDS), kind)
    x = scaling.apply(form(WORDS))
    assert sp.issparse(x) == (form is sp.csr_array)
    expected = dense(Scaling.learn(WORDS, kind).apply(WORDS))
    np.testing.assert_allclose(dense(x), expected, atol=1e-7)


@pytest.mark.parametrize(("former", "kind"), FORMER.items())
def test_a_former_name_of_a_kind_is_understood_with_a_warning(former, kind):
    with pytest.warns(DeprecationWarning, match=f"scaling='{former}' is now called '{kind}'"):
        assert scaling_kind(former) == kind


def test_an_unknown_kind_is_named():
    with pytest.raises(ParameterError, match=r"'scaling' parameter of fit .* Got 'cells' instead"):
        scaling_kind("cells")


@pytest.mark.parametrize(
    ("former", "kind", "names"),
    [("rarity", "tfidf", {"rarity": "idf"}), ("columns", "standard", {}), ("rows", "l1", {})],
)
def test_what_a_file_called_otherwise_is_read(former, kind, names):
    scaling = Scaling.learn(TABLE, kind)
    back = {new: old for old, new in names.items()}
    stored = {back.get(name, name): array for name, array in scaling.arrays().items()}
    again = Scaling.from_arrays(former, stored)
    assert again.kind == kind
    assert np.array_equal(dense(again.apply(TABLE)), dense(scaling.apply(TABLE)))
