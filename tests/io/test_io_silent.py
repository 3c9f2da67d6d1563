"""What was once read wrongly without a word: each is now right, or refused."""

import numpy as np
import pandas as pd
import pytest
from helpers.sentences import refusal

import graphheat
from graphheat.datasets import block_model
from graphheat.features import recoded
from graphheat.graph import Graph
from graphheat.io import read_csv

MODEL = block_model(180, 3, labels_per_class=10, val=30, test=60, seed=0)
UPPER = np.array(np.triu(MODEL.adjacency.toarray(), 1).nonzero())
EDGES = pd.DataFrame({"source": UPPER[0], "target": UPPER[1]})
FRUIT = np.array(["banana", "apple", "cherry"])


def people(labels, rng, other=None):
    """Return a node table in which the fruit tells the class three times out of four."""
    true = rng.random(len(labels)) < 0.75
    fruit = np.where(true, FRUIT[labels], rng.choice(FRUIT, size=len(labels)))
    fruit = np.where(fruit == "banana", other, fruit) if other else fruit
    return pd.DataFrame(
        {"id": np.arange(len(labels)), "fruit": fruit, "age": rng.normal(40, 9, len(labels))}
    )


def test_an_index_that_pandas_wrote_is_no_weight_and_no_feature(tmp_path):
    nodes = people(MODEL.labels, np.random.default_rng(0)).assign(label=MODEL.labels)
    EDGES.to_csv(tmp_path / "edges.csv")
    nodes.to_csv(tmp_path / "nodes.csv")
    graph = read_csv(tmp_path / "edges.csv", tmp_path / "nodes.csv")
    assert (graph.adjacency - MODEL.adjacency).count_nonzero() == 0
    assert set(graph.adjacency.data) == {1}
    assert graph.schema.kinds == {"fruit": "category", "age": "number"}
    for sentence in graph.account:
        assert sentence.endswith("left out: the row index.")


def test_a_column_of_years_is_no_weight(tmp_path):
    EDGES.assign(year=2019 + EDGES.index % 3).to_csv(tmp_path / "edges.csv", index=False)
    graph = read_csv(tmp_path / "edges.csv")
    assert set(graph.adjacency.data) == {1}
    assert graph.account[0].endswith("every weight is 1; left out: 'year'.")


def test_another_set_of_categories_does_not_shift_the_features():
    rng = np.random.default_rng(1)
    split = {
        "train": np.arange(0, 180, 6),
        "test": np.setdiff1d(np.arange(180), np.arange(0, 180, 6)),
    }
    here = Graph.from_frames(EDGES, people(MODEL.labels, rng).assign(label=MODEL.labels))
    run = graphheat.fit(here.with_split(**split), "linear", s=0.0)
    table = people(MODEL.labels, rng, other="aardvark").assign(label=MODEL.labels)
    there = Graph.from_frames(EDGES, table)
    assert there.feature_names[:3] == ("fruit=aardvark", "fruit=apple", "fruit=cherry")
    by_name = Graph.from_frames(EDGES, table, schema=here.schema)
    assert any("'aardvark'" in note for note in by_name.notes)
    np.testing.assert_allclose(recoded(here.schema, there).features, by_name.features, atol=1e-5)
    truth = MODEL.labels
    right = run.predict(by_name).probabilities.argmax(axis=1) == truth
    assert right[table.fruit != "aardvark"].mean() > 0.7


@pytest.mark.parametrize("form", ["{:.2f}", "{:,.2f}", "{:.0f}"])
def test_prices_are_no_labels(tmp_path, form):
    EDGES.to_csv(tmp_path / "edges.csv", index=False)
    prices = [form.format(price) for price in np.random.default_rng(2).uniform(10, 9000, 180)]
    pd.DataFrame({"id": range(180), "price": prices}).to_csv(tmp_path / "nodes.csv", index=False)
    message = refusal(read_csv, tmp_path / "edges.csv", tmp_path / "nodes.csv", label="price")
    assert message.startswith("Column 'price' of ")
    assert "holds numbers, not classes" in message


def test_rows_that_lost_a_cell_are_not_filled_up(tmp_path):
    EDGES.to_csv(tmp_path / "edges.csv", index=False)
    table = people(MODEL.labels, np.random.default_rng(0)).to_csv(index=False).splitlines()
    table[7] = table[7].rpartition(",")[0]
    (tmp_path / "nodes.csv").write_text("\n".join(table))
    assert "row 8, the first included, has 2 ('6', …)" in refusal(
        read_csv, tmp_path / "edges.csv", tmp_path / "nodes.csv"
    )


def test_a_table_without_a_header_does_not_lose_its_first_node(tmp_path):
    (tmp_path / "edges.csv").write_text("2,3\n3,4\n4,2\n")
    (tmp_path / "nodes.csv").write_text("1,0.5\n2,0.1\n3,0.2\n4,0.3\n")  # node 1 has no edge
    assert "must have a header row; its first row holds numbers alone" in refusal(
        read_csv, tmp_path / "edges.csv", tmp_path / "nodes.csv"
    )
