"""Feature schemas: kinds by a stated rule, learned on one table, applied by name to another."""

import json
from datetime import date, datetime
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from helpers.sentences import refusal

from graphheat.errors import ParameterError
from graphheat.features import FeatureSchema, apply_schema, recoded
from graphheat.features.cells import cells
from graphheat.features.kinds import guess, numbers_of
from graphheat.graph import Graph

TABLE: dict[str, Any] = {
    "age": [31, None, 3, 28],
    "drink": ["tea", "milk", None, "tea"],
    "born": [date(1990, 1, 2), date(1991, 1, 1), None, date(2020, 5, 5)],
    "member": ["yes", "no", "yes", None],
    "about": ["heat on a graph", "likes to read long books", "heat and more heat here", None],
    "nothing": [None] * 4,
}
EDGES = {"source": [0, 1, 2], "target": [1, 2, 3]}


def kind_of(values, name="x"):
    return guess(name, cells(values), "t.csv").kind


# ------------------------------------------------------------------------------ the rule


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1, 2, None], "number"),
        (["1", "2.5", "-1e3"], "number"),
        (["1,5", "2,25"], "number"),
        (["1.234,5", "7"], "number"),
        (["1,234.5", "999"], "number"),
        (["1 234,5", "1'000"], "number"),
        (["$ 12.50", "$3"], "number"),
        (["12 %", "7.5 %"], "number"),
        (["01", "02", "13"], "category"),  # codes
        ([True, False, None], "boolean"),
        (["Yes", "no"], "boolean"),
        (["y", "n"], "boolean"),
        (["y", "y"], "category"),
        ([1, 0], "number"),
        (["2024-01-31", "2024-02-01T10:00:00"], "date"),
        (["31.1.2024", "1.2.2024"], "date"),
        ([datetime(2024, 1, 1), None], "date"),
        (["red", "blue", "red"], "category"),
        (["a b c d", "one two three four five"], "text"),
        ([f"user{i}" for i in range(30)], "skip"),
        ([None, None], "skip"),
    ],
)
def test_kinds(values, kind):
    assert kind_of(values) == kind


@pytest.mark.parametrize("name", ["user_id", "ID", "id", "customerId", "row uuid"])
def test_numbers_that_are_identifiers(name):
    assert kind_of([7, 9, 11], name.replace("ID", "xID")) == "skip"
    assert kind_of([7, 9, 9], name) == "number"
    assert kind_of([7.5, 9, 11], name) == "number"


def test_numbers_that_count_the_rows():
    assert kind_of(range(5, 45), "index") == "skip"
    assert kind_of(range(5, 15), "index") == "number"
    assert kind_of([*range(40), 7], "index") == "number"


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (["1", "2", "many"], "holds numbers, but 'many' in row 3"),
        (["2024-01-31", "2024-02-01", "soon"], "holds dates, but 'soon' in row 3"),
        (["2024-01-31", "2024-02-31", "2024-03-01"], "holds dates of more than one format"),
        (["02/03/2024", "04/05/2024"], "'02/03/2024' in row 1, whose day and month are ambiguous"),
        (["1,234", "2,345"], "'1,234' in row 1, which is 1234 or 1.234: pass decimal="),
        (["1,5", "2.5"], "'2.5' in row 2, which does not go with the decimal sign ','"),
        (["$5", "€7"], "mixes units: '$', '€'"),
        (["5", "7 %"], "mixes units: none, '%'"),
    ],
)
def test_what_is_ambiguous_is_asked(values, words):
    assert words in refusal(FeatureSchema.learn, {"price": values})
    assert "'price'" in refusal(FeatureSchema.learn, {"price": values})


@pytest.mark.parametrize(
    ("values", "numbers"),
    [
        (["1.234,5", "7", "1.234"], [1234.5, 7, 1234]),
        (["1,234.5", "7", "1,234"], [1234.5, 7, 1234]),
        (["0,5", None, "1,234"], [0.5, np.nan, 1.234]),
        (["1.234", "2.5"], [1.234, 2.5]),
        (["1.234", "12"], [1.234, 12]),
        (["12\u00a0345,5", "7"], [12345.5, 7]),
        (["-3", "+4", ".5"], [-3, 4, 0.5]),
    ],
)
def test_numbers_as_people_write_them(values, numbers):
    found = numbers_of("x", cells(values), "t.csv")
    np.testing.assert_allclose(found, numbers)


def test_other_columns_settle_the_decimal_sign():
    table = {"a": ["1,5", "2"], "b": ["1.234", "2.345"], "c": ["1,234", "7"]}
    encoded = FeatureSchema.learn(table).encode(table)
    assert encoded.features.tolist() == [[1.5, 1234, 1.234], [2, 2345, 7]]
    printed = FeatureSchema.learn({"c": ["1,234", "7"]}, decimal=".")
    assert printed.encode({"c": ["1,234", "7"]}).features.tolist() == [[1234], [7]]


def test_kinds_as_said():
    table = {"zip": [10115, 20095, 10115], "when": ["02/03/2024", "03/03/2024", None]}
    schema = FeatureSchema.learn(table, kinds={"zip": "category", "when": "date:%d/%m/%Y"})
    assert schema.feature_names == ("zip=10115", "zip=20095", "when", "when is missing")
    days = schema.encode(table).features[:2, 2]
    other = FeatureSchema.learn({"when": ["2024-03-02", "2024-03-03", None]})
    np.testing.assert_allclose(
        days, other.encode({"when": ["2024-03-02", "2024-03-03", None]})[0][:2, 0]
    )
    assert FeatureSchema.learn(table, kinds={"zip": "skip", "when": "text"}).kinds == {
        "zip": "skip",
        "when": "text",
    }
    with pytest.raises(ParameterError, match=r"must be one of number, .* Got 'colour' instead"):
        FeatureSchema.learn(table, kinds={"zip": "colour"})
    assert "must hold numbers; got '02/03/2024' in row 1" in refusal(
        FeatureSchema.learn, table, kinds={"when": "number"}
    )
    assert "must be yes or no; got '10115' in row 1" in refusal(
        FeatureSchema.learn, {"zip": table["zip"]}, kinds={"zip": "boolean"}
    )
    assert "kinds names a column that is no feature: 'zap'" in refusal(
        FeatureSchema.learn, {"zip": table["zip"]}, kinds={"zap": "text"}
    )


# --------------------------------------------------------------------------- encoding


def test_features_by_kind():
    schema = FeatureSchema.learn(TABLE)
    features = schema.encode(TABLE).features
    columns = dict(zip(schema.feature_names, features.T.tolist(), strict=True))
    assert columns["age is missing"] == [0, 1, 0, 0]
    assert columns["drink=milk"] == [0, 1, 0, 0]
    assert columns["drink is missing"] == [0, 0, 1, 0]
    assert columns["member"] == [1, 0, 1, 1]  # the more frequent value where it is missing
    assert np.mean(columns["age"]) == pytest.approx(0)
    assert np.std(columns["age"]) == pytest.approx(1)
    assert columns["age"][1] == pytest.approx(columns["age"][3])  # the median, 28
    assert columns["about:books"][1] > 0 == columns["about:books"][0]
    assert not any(name.startswith("nothing") for name in columns)
    frame = schema.frame().set_index("column")
    assert frame.loc["age", "missing"] == 1
    assert frame.loc["drink", "kind"] == "category"
    assert frame.loc["nothing"].tolist() == ["skip", 0, 0, "empty"]
    assert len(schema.notes) == 2


def test_numbers_alone_stay_as_they_are():
    table = {"a": [1, 2, None], "b": [True, False, True]}
    encoded = FeatureSchema.learn(table).encode(table)
    assert encoded.features.tolist() == [[1, 0, 1], [2, 0, 0], [1.5, 1, 1]]


def test_many_categories_and_words_are_sparse():
    table = {"city": [f"c{i % 100}" for i in range(300)], "x": range(0, 600, 2)}
    features = FeatureSchema.learn(table).encode(table).features
    assert isinstance(features, sp.csr_array)
    assert features.shape == (300, 101)


def test_missing_values_may_be_refused():
    message = refusal(FeatureSchema.learn, {"a": [1, None]}, missing="error")
    assert (
        "Column 'a' of the table must have a value in every row; 1 are missing (first in row 2)"
        in (message)
    )
    schema = FeatureSchema.learn({"a": [1, 2]}, missing="error")
    assert "first in row 1" in refusal(schema.encode, {"a": [None, 2]}, missing="error")
    with pytest.raises(ParameterError, match="'missing' parameter"):
        FeatureSchema.learn({"a": [1]}, missing="drop")


def test_infinite_numbers_are_refused():
    assert "must hold finite numbers; got inf in row 2" in refusal(
        FeatureSchema.learn, {"a": [1.0, np.inf]}
    )
    assert "got 1e+300 in row 1" in refusal(FeatureSchema.learn, {"a": ["1e300", "2"]})


# --------------------------------------------------------- learned here, applied there


def test_a_schema_is_plain_json_and_comes_back():
    schema = FeatureSchema.learn(TABLE, array=("words.npz", 3))
    text = json.dumps(schema.to_dict())
    again = FeatureSchema.from_dict(json.loads(text))
    assert again == schema
    assert again.feature_names == schema.feature_names
    one, two = (each.encode(TABLE, array=np.eye(4, 3)) for each in (schema, again))
    np.testing.assert_array_equal(one.features, two.features)
    assert "newer version" in refusal(FeatureSchema.from_dict, {"schema": "graphheat.features/9"})
    odd = json.loads(text.replace('"number"', '"galaxy"'))
    assert "no kind 'galaxy'" in refusal(FeatureSchema.from_dict, odd)


def test_columns_go_by_name_in_any_order():
    schema = FeatureSchema.learn(TABLE)
    backwards = {name: TABLE[name][::-1] for name in reversed(TABLE)}
    np.testing.assert_array_equal(
        apply_schema(schema, backwards).features, schema.encode(TABLE).features[::-1]
    )


def test_missing_extra_and_unseen():
    schema = FeatureSchema.learn({"fruit": ["apple", "banana", "cherry"], "x": [1, 2, 3]})
    other = schema.encode({"fruit": ["aardvark", "apple", None], "x": [1, None, 3], "y": [0, 0, 0]})
    assert other.features[:, :3].tolist() == [[0, 0, 0], [1, 0, 0], [0, 0, 0]]
    assert [note.split(",")[0][:60] for note in other.notes] == [
        "the table has columns that the features were not learned fro",
        "Column 'fruit' of the table has 1 values that were not seen ",
        "Column 'fruit' of the table lacks 1 values (first in row 3)",
        "Column 'x' of the table lacks 1 values (first in row 2)",
    ]
    assert "lacks 1 of the 2 columns that the features were learned from: 'x'" in refusal(
        schema.encode, {"fruit": ["apple"]}
    )
    boolean = FeatureSchema.learn({"m": ["yes", "no"]})
    assert "must be yes or no; got 'maybe' in row 2" in refusal(
        boolean.encode, {"m": ["yes", "maybe"]}
    )
    number = FeatureSchema.learn({"m": [1, 2]})
    assert "must hold numbers; got 'x' in row 1" in refusal(number.encode, {"m": ["x", "y"]})


def test_arrays_go_beside_columns():
    schema = FeatureSchema.learn({"x": [1, 2]}, array=("w.npy", 2))
    assert schema.feature_names == ("x", "w.npy[0]", "w.npy[1]")
    assert schema.encode({"x": [1, 2]}, array=np.eye(2)).features.tolist() == [[1, 1, 0], [2, 0, 1]]
    assert sp.issparse(schema.encode({"x": [1, 2]}, array=sp.csr_array(np.eye(2))).features)
    assert "learned with w.npy beside the columns" in refusal(schema.encode, {"x": [1]})
    assert "must have 2 columns" in refusal(schema.encode, {"x": [1]}, array=np.eye(1))
    alone = FeatureSchema.learn({"x": [1, 2]})
    assert "learned without an array" in refusal(alone.encode, {"x": [1]}, array=np.eye(1))


# ----------------------------------------------------------------- graphs, recoded


def graph_of(table, **options):
    n = len(next(iter(table.values())))
    return Graph.from_frames(EDGES, {"id": list(range(n)), **table}, **options)


def test_a_graph_is_recoded_as_the_other_was_read():
    here = {
        "fruit": ["apple", "banana", "cherry", "apple"],
        "age": [10, None, 30, 50],
        "born": ["2001-01-01", "2002-01-01", "2003-01-01", "2004-01-01"],
        "ok": ["yes", "no", "no", None],
    }
    there = {
        "ok": ["no", "no", "yes", "yes"],
        "born": ["2011-01-01", "2012-01-01", None, "2014-01-01"],
        "age": [None, 7, 8, 9],
        "fruit": ["aardvark", "apple", "cherry", "cherry"],
        "more": ["a", "b", "a", "b"],
    }
    schema = graph_of(here).schema
    known = {name: there[name] for name in here}
    read_so = graph_of(known, schema=schema)
    made = recoded(schema, graph_of(there))
    # A gap that only the other table has in a column without an indicator is filled in, too.
    np.testing.assert_allclose(made.features, read_so.features, atol=1e-4)
    assert any("'aardvark'" in note for note in made.notes)
    assert any("left out: 'more'" in note for note in made.notes)
    assert recoded(schema, read_so).features is read_so.features


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"age": [1, 2, 3, 4]}, "lacks 1 of the 2 columns"),
        (
            {"age": ["a", "b", "a", "b"], "about": ["w x y z"] * 4},
            "is a category, and was a number",
        ),
        ({"age": [1, 2, 3, 4], "about": ["v w x y z"] * 4}, "were counted on its own table"),
    ],
)
def test_what_cannot_be_recoded(table, words):
    schema = graph_of({"age": [1, 2, 3, 4], "about": ["some words to be counted"] * 4}).schema
    assert words in refusal(recoded, schema, graph_of(table))
    bare = Graph.from_edges([0], [1], features=np.eye(2))
    assert "does not say how its features were made" in refusal(recoded, schema, bare)
