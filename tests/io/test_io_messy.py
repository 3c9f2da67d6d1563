"""A hundred messy files whose truth is known: read rightly, or refused naming row and column."""

from datetime import date

import numpy as np
import pytest
import scipy.sparse as sp
from helpers.messy_tables import messy_table
from helpers.sentences import checked

from graphheat.errors import GraphHeatError
from graphheat.io import read_csv

EPOCH = date(1970, 1, 1)


def decoded(graph):
    """Return the table that the features stand for: name → (kind, values), None where missing."""
    features = graph.features
    dense = features.toarray() if isinstance(features, sp.csr_array) else features
    place, columns = 0, {}
    for column in graph.schema.columns:
        block = dense[:, place : place + len(column.names)].astype(float)
        place += len(column.names)
        missing = block[:, -1] == 1 if column.indicator else np.zeros(graph.n, dtype=bool)
        own = block[:, : len(column.own_names)]
        if column.kind in ("number", "date"):
            values = (own[:, 0] * column.deviation + column.mean).tolist()
        elif column.kind == "boolean":
            values = (own[:, 0] == 1).tolist()
        elif column.kind == "category":
            values = [column.values[row.argmax()] if row.any() else None for row in own]
        elif column.kind == "text":
            values = [{column.terms[k] for k in np.flatnonzero(row)} for row in own]
        else:
            values = [None] * graph.n
        columns[column.name] = (
            column.kind,
            [None if lost else value for lost, value in zip(missing, values, strict=True)],
        )
    return columns


def assert_read_rightly(graph, table):
    assert graph.nodes.tolist() == table.ids
    labels = [None if code < 0 else graph.classes[code] for code in graph.labels]
    assert labels == table.labels
    found = decoded(graph)
    assert list(found) == list(table.columns)
    for name, (kind, values) in table.columns.items():
        assert found[name][0] == kind, name
        for one, truth in zip(found[name][1], values, strict=True):
            if truth is None:
                assert one is None, name
            elif kind == "number":
                assert one == pytest.approx(truth, rel=1e-5, abs=1e-2), name
            elif kind == "date":
                assert one == pytest.approx((truth - EPOCH).days, abs=0.1), name
            elif kind == "text":
                assert one == set(truth.split()), name
            else:
                assert one == truth, name


@pytest.mark.parametrize("seed", range(100))
def test_a_messy_file_is_read_rightly_or_refused(tmp_path, seed):
    table = messy_table(seed)
    (tmp_path / "nodes.csv").write_bytes(table.data)
    ends = "".join(f"{table.ids[0]},{node}\n" for node in table.ids[1:])
    (tmp_path / "edges.csv").write_text("source,target\n" + ends)
    try:
        graph = read_csv(tmp_path / "edges.csv", tmp_path / "nodes.csv")
    except GraphHeatError as error:
        assert table.poison is not None, error
        what, column, row = table.poison
        message = checked(error)
        assert str(tmp_path / "nodes.csv") in message
        if column is not None:
            assert repr(column) in message
        if row is not None:
            header = what in ("long row", "short row")  # counted from the first row of the file
            # With a comma at the end of every line it is a cell below no name.
            assert f"row {row + header}" in message or f"'too much' in row {row}" in message
    else:
        assert table.poison is None, table.poison
        assert_read_rightly(graph, table)


def test_the_hundred_have_every_kind_of_mess():
    tables = [messy_table(seed) for seed in range(100)]
    poisons = [table.poison[0] for table in tables if table.poison is not None]
    assert set(poisons) == {"duplicate header", "long row", "short row", "mixed type"}
    assert 20 <= len(poisons) <= 60
    assert sum(table.data[:2] in (b"\xff\xfe", b"\xfe\xff") for table in tables) > 10
    assert sum(table.data[:3] == b"\xef\xbb\xbf" for table in tables) > 10
    kinds = {kind for table in tables for kind, _ in table.columns.values()}
    assert kinds == {"number", "category", "date", "boolean", "text"}
