"""Labels as people write them."""

import numpy as np
import pandas as pd
import pytest

from graphheat.errors import GraphError
from graphheat.graph import Graph, encode_labels


@pytest.mark.parametrize(
    ("values", "codes", "classes"),
    [
        (["b", "a", "b"], [1, 0, 1], ("a", "b")),
        (["b", None, "a"], [1, -1, 0], ("a", "b")),
        (["b", float("nan"), "a"], [1, -1, 0], ("a", "b")),
        (np.array(["b", "a"]), [1, 0], ("a", "b")),
        ([3, 5, 3], [0, 1, 0], (3, 5)),
        ([3, None, 5], [0, -1, 1], (3, 5)),
        ([True, False], [1, 0], (False, True)),
        ([True, None, False], [1, -1, 0], (False, True)),
        ([1.0, np.nan, 2.0], [0, -1, 1], (1.0, 2.0)),
        ([None, None], [-1, -1], ()),
        (pd.Series(["b", pd.NA, "a"], dtype="string"), [1, -1, 0], ("a", "b")),
        (pd.Series([2, pd.NA, 4], dtype="Int64"), [0, -1, 1], (2.0, 4.0)),  # what NumPy sees
        (np.array([2, pd.NA, 4], dtype=object), [0, -1, 1], (2, 4)),
        (np.array([np.str_("b"), None], dtype=object), [0, -1], ("b",)),
        (np.array([np.int64(7), None], dtype=object), [0, -1], (7,)),
    ],
)
def test_codes_and_classes(values, codes, classes):
    labels = encode_labels(values)
    assert labels.codes.tolist() == codes
    assert labels.classes == classes
    assert [type(name) for name in labels.classes] == [type(name) for name in classes]


@pytest.mark.parametrize(
    ("values", "codes", "classes"),
    [
        ([-1, 0, 1], [-1, 0, 1], (0, 1)),
        ([-1, 1, -1], [0, 1, 0], (-1, 1)),  # −1 against +1: two classes
        ([-1, -1], [0, 0], (-1,)),
        ([-1, 0, 1, None], [-1, 0, 1, -1], (0, 1)),
        ([-1.0, 0.0, 1.0], [-1, 0, 1], (0.0, 1.0)),
        ([-1.0, 0.0, 1.0, None], [-1, 0, 1, -1], (0.0, 1.0)),
        (np.array([-1, 2, 4, pd.NA], dtype=object), [-1, 0, 1, -1], (2, 4)),
        (["-1", "0", "1"], [0, 1, 2], ("-1", "0", "1")),  # strings mean what they say
    ],
)
def test_minus_one_is_unlabelled_when_two_other_classes_exist(values, codes, classes):
    labels = encode_labels(values)
    assert labels.codes.tolist() == codes
    assert labels.classes == classes


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([0.5, 1.0], "got the continuous value 0.5"),
        ([0.5, None, 1.0], "got the continuous value 0.5"),
        (np.array([1, "a"], dtype=object), "labels must be of one type; got int and str together"),
        ([1, "a", 2], "got int and str together"),
        ([[1, 0], [0, 1]], "labels must be one per node; got an array of shape (2, 2)"),
        (np.array([1j]), "labels must be strings, integers or missing"),
    ],
)
def test_what_is_not_a_label(values, words):
    with pytest.raises(GraphError) as caught:
        encode_labels(values)
    assert words in str(caught.value)


def test_codes_into_given_classes():
    labels = encode_labels([1, -1, 0], classes=(np.str_("z"), "a"))
    assert labels.codes.tolist() == [1, -1, 0]
    assert labels.classes == ("z", "a")
    assert type(labels.classes[0]) is str


@pytest.mark.parametrize(
    ("codes", "classes", "words"),
    [
        ([2], ("a", "b"), "must be −1 or in [0, 2), the number of classes; got 2"),
        ([-2], ("a",), "got -2"),
        ([0], ("a", "a"), "classes must be distinct"),
        ([0.0], ("a",), "integer codes"),
    ],
)
def test_bad_codes(codes, classes, words):
    with pytest.raises(GraphError) as caught:
        encode_labels(codes, classes=classes)
    assert words in str(caught.value)


def test_labels_are_one_a_node():
    with pytest.raises(GraphError, match="labels must be one per node; got 2 for 3 nodes"):
        Graph.from_scipy(np.zeros((3, 3)), labels=["a", "b"])


def test_whole_numbers_that_are_prices_are_refused_and_codes_are_not():
    prices = np.random.default_rng(0).integers(100, 9000, 60)
    for values in (prices, prices.astype(float), prices.astype(object)):
        with pytest.raises(GraphError, match=r"not continuous values.*HeatRegressor"):
            encode_labels(values)
    for codes in (np.arange(60), np.repeat(np.arange(30) * 100, 3), prices[:20]):
        assert len(encode_labels(codes).classes) == len(np.unique(codes))
