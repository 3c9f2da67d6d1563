"""Columns by name, row indices that pandas leaves behind, and what a read says it took for what."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from helpers.sentences import refusal
from helpers.text_files import text_writer

from graphheat.errors import FileFormatError, GraphError, ParameterError
from graphheat.graph import Graph
from graphheat.io import read_csv, read_graph, write_mtx, write_npz


@pytest.fixture
def write(tmp_path):
    return text_writer(tmp_path, "edges.csv")


FRIENDS = pd.DataFrame({"source": ["ann", "bob", "cat"], "target": ["bob", "cat", "dan"]})
PLAIN = Graph.from_edges(FRIENDS["source"], FRIENDS["target"])


# ------------------------------------------------------------------------------- edges


@pytest.mark.parametrize("names", [("source", "target"), ("Src", "DST"), ("person", "friend")])
@pytest.mark.parametrize("shuffled", [False, True])
def test_the_row_index_of_pandas_is_no_weight(tmp_path, names, shuffled):
    frame = FRIENDS.set_axis(names, axis=1)
    frame = frame.iloc[::-1] if shuffled else frame
    frame.to_csv(tmp_path / "edges.csv")
    graph = read_csv(tmp_path / "edges.csv")
    assert graph.fingerprint == PLAIN.fingerprint
    assert graph.account == (
        f"edges.csv: '{names[0]}' and '{names[1]}' are the ends of an edge, every weight is 1; "
        "left out: the row index.",
    )


def test_an_index_that_was_saved_twice(tmp_path):
    FRIENDS.to_csv(tmp_path / "once.csv")
    pd.read_csv(tmp_path / "once.csv").to_csv(tmp_path / "twice.csv")
    assert read_csv(tmp_path / "twice.csv").fingerprint == PLAIN.fingerprint


def test_the_index_beside_a_weight(tmp_path):
    FRIENDS.assign(w=[0.5, 2.0, 3.0]).to_csv(tmp_path / "edges.csv")
    graph = read_csv(tmp_path / "edges.csv")
    assert sorted(set(graph.adjacency.data)) == [0.5, 2.0, 3.0]
    assert "'w' is the weight; left out: the row index." in graph.account[0]


@pytest.mark.parametrize("column", ["year", "count", "kind", "timestamp"])
def test_another_column_is_no_weight(write, column):
    graph = read_csv(write(f"source,target,{column}\nann,bob,2019\nbob,cat,2021\ncat,dan,2021\n"))
    assert graph.fingerprint == PLAIN.fingerprint
    assert graph.account[0].endswith(f"every weight is 1; left out: '{column}'.")
    stated = read_csv(write(f"a,b,{column}\nann,bob,3\nbob,cat,4\n"), weight_column=column)
    assert sorted(set(stated.adjacency.data)) == [3, 4]
    assert f"'{column}' is the weight" in stated.account[0]


@pytest.mark.parametrize("name", ["weight", "Weight", "W", "edge_weight", "value"])
def test_a_weight_by_its_usual_names(write, name):
    graph = read_csv(write(f"{name},from,to\n2,ann,bob\n3,bob,cat\n"))
    assert sorted(set(graph.adjacency.data)) == [2, 3]


def test_columns_as_said(write):
    path = write("source,target,who,whom,much\n1,2,ann,bob,1\n3,4,bob,cat,1\n5,6,cat,dan,1\n")
    options = {"source_column": "who", "target_column": "whom", "weight_column": "much"}
    graph = read_graph(path, **options)
    assert graph.fingerprint == PLAIN.fingerprint
    assert graph.account[0].endswith("left out: 'source', 'target'.")


def test_one_end_by_name_and_the_other_as_what_is_left(write):
    graph = read_csv(write("friend,source\nbob,ann\ncat,bob\ndan,cat\n"), header=True)
    assert graph.fingerprint == PLAIN.fingerprint


@pytest.mark.parametrize(
    ("text", "options", "kind", "words"),
    [
        ("a,b,c\nx,y,1\n", {}, FileFormatError, "none is called source or target: 'a', 'b', 'c'"),
        ("id,who,whom\n1,x,y\n2,y,z\n", {"header": True}, FileFormatError, "source or target"),
        ("source,a,b\nx,y,z\n", {"header": True}, FileFormatError, "none is called target"),
        ("source,target\nx,y\n", {"weight_column": "w"}, GraphError, "lacks: 'w'. Its columns are"),
        (
            "source,target\nx,y\n",
            {"source_column": "target", "target_column": "target"},
            ParameterError,
            "must be different columns; got 'target' twice",
        ),
        (
            "source,target\nx,y\n",
            {"source_column": "source", "header": False},
            ParameterError,
            "header=False says there is none",
        ),
        ("source,target,w,W\nx,y,1,2\n", {}, FileFormatError, "has 2 columns called 'w'"),
        (",friend\n0,x\n1,y\n", {}, FileFormatError, "none is called source or target"),
    ],
)
def test_columns_that_cannot_be_told(write, text, options, kind, words):
    path = write(text)
    assert words in refusal(read_csv, path, **options)
    with pytest.raises(kind):
        read_csv(path, **options)


def test_without_a_header_the_third_of_three_columns_is_the_weight(write):
    graph = read_csv(write("ann bob 0.5\nbob cat 2\n"))
    assert sorted(set(graph.adjacency.data)) == [0.5, 2]
    assert graph.account == (
        "edges.csv has no header: columns 1 and 2 are the ends of an edge, column 3 is the weight.",
    )
    assert read_csv(write("1 2\n2 3\n")).account[0].endswith("every weight is 1.")


def test_without_a_header_a_first_column_that_counts_is_asked_for(write):
    assert "may be a row index or the source" in refusal(read_csv, write("0,4,5\n1,5,6\n2,6,7\n"))
    assert read_csv(write("0,1,0.5\n1,2,3\n2,3,1\n")).n == 4  # ids are whole numbers
    assert read_csv(write("0,1,1\n1,2,1\n2,3,1\n")).describe().edges == 3


def test_a_trailing_comma_in_every_row(write):
    assert read_csv(write("source,target,\nann,bob,\nbob,cat,\ncat,dan,\n")).fingerprint == (
        PLAIN.fingerprint
    )


# ------------------------------------------------------------------------- node tables


NODES = pd.DataFrame(
    {"id": ["dan", "cat", "bob", "ann"], "label": ["x", None, "y", "x"], "age": [4.5, 3, 2, 1]}
)


def test_the_row_index_is_no_feature(tmp_path):
    FRIENDS.to_csv(tmp_path / "edges.csv", index=False)
    NODES.to_csv(tmp_path / "plain.csv", index=False)
    NODES.to_csv(tmp_path / "nodes.csv")
    plain = read_csv(tmp_path / "edges.csv", tmp_path / "plain.csv")
    graph = read_csv(tmp_path / "edges.csv", tmp_path / "nodes.csv")
    assert graph.fingerprint == plain.fingerprint
    assert graph.account[1] == (
        "nodes.csv: 'id' is the id, 'label' the label, 1 column is a feature ('age' number); "
        "left out: the row index."
    )


def test_the_row_index_is_no_id_where_the_next_column_has_names(tmp_path):
    FRIENDS.to_csv(tmp_path / "edges.csv", index=False)
    NODES.rename(columns={"id": "person"}).to_csv(tmp_path / "nodes.csv")
    graph = read_csv(tmp_path / "edges.csv", tmp_path / "nodes.csv")
    assert graph.nodes.tolist() == ["dan", "cat", "bob", "ann"]
    assert graph.features.shape == (4, 1)


@pytest.mark.parametrize("name", ["paper_id", "PaperID"])
def test_a_column_called_something_id_is_the_id(write, name):
    table = write(f",{name},x\n0,30,1\n1,10,2\n2,20,3\n", "nodes.csv")
    assert read_csv(write("10,20\n20,30\n"), table).nodes.tolist() == [30, 10, 20]


def test_the_row_index_is_the_id_where_nothing_else_can_be(write):
    table = write(",age,label\n0,31,x\n1,28,y\n2,31,\n", "nodes.csv")
    graph = read_csv(write("0,1\n1,2\n"), table)
    assert graph.nodes.tolist() == [0, 1, 2]
    assert graph.features.tolist() == [[31], [28], [31]]
    assert graph.account[1].startswith("nodes.csv: the row index is the id, 'label' the label")
    assert "pass id= where they are another" in refusal(read_csv, write("5,6\n6,7\n"), table)


def test_an_unnamed_column_of_names_is_the_id(write):
    table = write(",age\nann,1\nbob,2\n", "nodes.csv")
    assert read_csv(write("source,target\nann,bob\n"), table).nodes.tolist() == ["ann", "bob"]


def test_an_empty_unnamed_column_is_no_feature(write):
    table = write("id,age,\nann,1,\nbob,2,\n", "nodes.csv")
    graph = read_csv(write("source,target\nann,bob\n"), table)
    assert graph.features.tolist() == [[1], [2]]


def test_the_row_index_of_a_feature_file(tmp_path):
    FRIENDS.to_csv(tmp_path / "edges.csv", index=False)
    NODES[["id", "age"]].to_csv(tmp_path / "x.csv")
    graph = read_csv(tmp_path / "edges.csv", features=tmp_path / "x.csv")
    assert graph.features.tolist() == [[1], [2], [3], [4.5]]
    assert graph.account[1] == "x.csv: 1 column is a feature ('age' number)."


# ------------------------------------------------------------------------- the account


def test_every_format_gives_an_account(tmp_path):
    graph = Graph.from_edges([0, 1], [1, 2], labels=["a", None, "b"], split={"train": [0]})
    write_npz(graph, tmp_path / "g.npz")
    write_mtx(graph, tmp_path / "g.mtx")
    np.savez(tmp_path / "e.npz", edge_index=[[0], [1]], y=[0, 1], note=[1])
    sp.save_npz(tmp_path / "s.npz", sp.csr_array(np.ones((2, 2))))
    (tmp_path / "n.csv").write_text("id,label\n2,x\n1,y\n0,\n")
    (tmp_path / "m.csv").write_text("id,label\nann,x\nbob,y\ncat,\n")

    def account(name, **options):
        return read_graph(tmp_path / name, **options).account

    assert account("g.npz") == ("g.npz: a graph with labels, split.",)
    assert account("e.npz") == ("e.npz: taken from edge_index, y; left out: 'note'.",)
    assert account("s.npz") == ("s.npz: a sparse matrix, taken for the edges of nodes 0, 1, 2, ….",)
    assert account("g.mtx") == ("g.mtx: a matrix of 3 rows, which are nodes 0 … 2.",)
    numbers = account("g.mtx", nodes=tmp_path / "n.csv")
    assert numbers[0].endswith("joined to the node table by the row numbers of its ids.")
    assert account("g.mtx", nodes=tmp_path / "m.csv")[0].endswith("in the order of its ids.")
    assert len(numbers) == 2


def test_the_account_is_no_part_of_the_graph(write):
    graph = read_csv(write("ann bob\nbob cat\ncat dan\n"))
    assert graph.account
    assert PLAIN.account == ()
    assert graph.fingerprint == PLAIN.fingerprint
    copies = copy.deepcopy(graph), pickle.loads(pickle.dumps(graph))  # noqa: S301
    assert all(other.account == graph.account for other in copies)
    assert graph.with_split(test=[0]).account == graph.account


def test_long_names_are_cut(write):
    graph = read_csv(write(f"source,target,{'x' * 9000}\na,b,1\n"))
    assert len(graph.account[0]) < 200


# ------------------------------------------------------------------ labels that are numbers


def labelled(write, cells):
    rows = "".join(f"n{row},{cell}\n" for row, cell in enumerate(cells))
    table = write(f"id,price\n{rows}", "nodes.csv")
    edges = write("source,target\n" + "".join(f"n{row},n0\n" for row in range(1, len(cells))))
    return edges, table


@pytest.mark.parametrize(
    "form", ["{:.2f}", "{:.1e}", '"{:.2f}"', "-{:.3f}", '"1,{:06.2f}"', "{:.2f} "]
)
def test_a_column_of_prices_is_no_label(write, form):
    cells = [form.format(1.37 * row + 0.011) for row in range(60)]
    edges, table = labelled(write, cells)
    message = refusal(read_csv, edges, table, label="price")
    assert message.startswith(f"Column 'price' of {table} was taken for the label, but it holds")
    assert "distinct values are not whole" in message


def test_whole_prices_are_no_labels(write):
    edges, table = labelled(write, [137 * row * row % 9973 for row in range(60)])
    message = refusal(read_csv, edges, table, label="price")
    assert message.startswith(f"Column 'price' of {table} was taken for the label, but it holds")
    assert "60 different whole numbers for 60 labelled nodes, from 0 to " in message


def test_labels_that_pandas_wrote_as_floats(write):
    edges, table = labelled(write, ["1.0", "", "2.0", "1.0"])
    assert read_csv(edges, table, label="price").classes == (1, 2)


def test_prices_with_a_decimal_comma_and_some_missing(write):
    edges, table = labelled(write, [f'"{row},5"' if row % 3 else "" for row in range(40)])
    assert "such as '1,5'" in refusal(read_csv, edges, table, label="price")


@pytest.mark.parametrize(
    ("cells", "classes"),
    [
        (range(60), 60),  # whole numbers without gaps are classes, however many
        ([row % 30 * 1000 for row in range(60)], 30),  # and so are some that repeat
        ([10**row for row in range(15)], 15),  # or are few
        ([f"{row % 15}.0" for row in range(60)], 15),
        ([f"{row % 10 / 2:.1f}" for row in range(60)], 10),  # ratings in halves
        ([f"v1.{row}.{row}" for row in range(60)], 60),
        ([f"1.{row}.7" for row in range(60)], 60),
        ([*(f"{row}.5" for row in range(59)), "none of these"], 60),
    ],
)
def test_numbers_that_may_be_classes(write, cells, classes):
    edges, table = labelled(write, list(cells))
    assert len(read_csv(edges, table, label="price").classes) == classes
