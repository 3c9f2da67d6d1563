"""Edge lists as they are found: delimiters, headers, comments, damage."""

import os

import numpy as np
import pytest
from helpers.text_files import text_writer

from graphheat.errors import FileFormatError, GraphError, MissingPathError
from graphheat.io import read_csv

FRIENDS = [("ann", "bob"), ("bob", "cat"), ("cat", "ann")]


@pytest.fixture
def write(tmp_path):
    return text_writer(tmp_path, "edges.csv")


def pairs_of(graph):
    rows, columns = np.triu(graph.adjacency.toarray()).nonzero()
    return {(graph.nodes[i], graph.nodes[j]) for i, j in zip(rows, columns, strict=True)}


@pytest.mark.parametrize("delimiter", [",", "\t", ";", " ", "  ", ", "])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("start", ["", "\ufeff", "# a comment\n% another\n\n", "\ufeff# x\n"])
@pytest.mark.parametrize("header", [True, False])
def test_every_layout_gives_the_same_graph(write, delimiter, end, start, header):
    rows = [("source", "target"), *FRIENDS] if header else FRIENDS
    path = write(start + end.join(delimiter.join(row) for row in rows) + end)
    graph = read_csv(path)
    assert graph.nodes.tolist() == ["ann", "bob", "cat"]
    assert graph.describe().edges == 3
    assert graph.name == "edges"


@pytest.mark.parametrize("mark", ["|", ":"])
def test_other_delimiters_are_said(write, mark):
    path = write("\n".join(mark.join(row) for row in FRIENDS))
    assert read_csv(path, delimiter=mark).n == 3
    with pytest.raises(FileFormatError, match=r"must have a source and a target.*delimiter="):
        read_csv(path)


def test_quoted_cells(write):
    graph = read_csv(write('source,target\n"Smith, Ann","Bo ""B"" Li"\n'))
    assert graph.nodes.tolist() == ['Bo "B" Li', "Smith, Ann"]


@pytest.mark.parametrize(
    ("text", "nodes"),
    [
        ("1,2\n2,3\n", [1, 2, 3]),
        ("10\t9\n9\t-4\n", [-4, 9, 10]),
        ("01,2\n2,3\n", ["01", "2", "3"]),
        ("1.0,2\n2,3\n", ["1.0", "2", "3"]),
        ("1,b\n2,b\n", ["1", "2", "b"]),
        ("99999999999999999999,2\n2,3\n", ["2", "3", "99999999999999999999"]),
        ("NA,nan\nnan,None\n", ["NA", "None", "nan"]),
    ],
)
def test_ids_are_integers_when_all_are(write, text, nodes):
    assert read_csv(write(text)).nodes.tolist() == nodes


@pytest.mark.parametrize(
    ("text", "edges"),
    [
        ("person,friend\n1,2\n2,3\n", 2),  # words above integers
        ("1,2\n2,3\n", 2),
        ("a,b,weight\nx,y,1\ny,z,2\n", 2),  # a third column that is numeric but for the first row
        ("x,y,1\ny,z,2\n", 2),
        ("Src,DST\nx,y\n", 1),  # known words
        ("from to\nx y\n", 1),
        ("u,v\nx,y\n", 1),
        ("u,v\nv,w\n", 2),  # letters that are nodes, too
        ("a,b\nb,c\n", 2),  # the first row's ids occur again
        ("1,x\n2,y\n", 2),
    ],
)
def test_whether_there_is_a_header(write, text, edges):
    assert read_csv(write(text)).describe().edges == edges


def test_a_node_table_tells_a_header_from_an_edge(write):
    nodes = write("id\nx\ny\n", "nodes.csv")
    assert read_csv(write("foo,bar\nx,y\n"), nodes).describe().edges == 1
    assert read_csv(write("x,y\n"), nodes).describe().edges == 1


def test_when_nothing_tells_the_reader_asks(write):
    path = write("ann,bob\ncat,dan\n")
    with pytest.raises(FileFormatError) as caught:
        read_csv(path)
    assert str(caught.value) == (
        f"{path} begins with 'ann', 'bob', which may be a header or an edge: "
        "pass header=True or header=False."
    )
    assert read_csv(path, header=True).describe().edges == 1
    assert read_csv(path, header=False).describe().edges == 2


def test_columns_are_found_by_name(write):
    path = write("Id,Weight,Target,kind,Source\n7,2.5,b,x,a\n8,1,c,y,b\n")
    graph = read_csv(path)
    assert pairs_of(graph) == {("a", "b"), ("b", "c")}
    assert graph.adjacency[0, 1] == 2.5


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a,b,c,d\ne,f,g,h\n", "has 4 columns, and its first row does not call two"),
        ("a,b,c,d\n1,2,3,4\n", "has 4 columns"),
        (
            "source,target,weight\na,b,friend\n",
            r"numbers in its weight column; got 'friend' in row 1",
        ),
        ("a,b,1\nb,c,1_000\n", "numbers in its weight column; got '1_000' in row 2"),
        ("source,target,weight\na,b,١\n", "numbers in its weight column; got '١'"),
        ("source;target;weight\na;b;0,5;x\n", "must have 3 cells in every row"),
        ("a,b,1\nb,c,\n", "numbers in its weight column; got '' in row 2"),
        ("a,b\nb\n", "must have 2 cells in every row, as in its first; row 2.* has 1 .'b'"),
        ("a,b\n,a\n", "without a source or a target .first in row 2"),
        ("a,b\nb,c\nc,d,1\n", "must have 2 cells in every row, as in its first; row 3.* has 3"),
        ('a,"b\nb,c\n', "is not a table"),
        ("alone\nb\n", "its first row has one cell"),
        ("", "is empty"),
        ("\n \n", "is empty"),
        ("# only\n% comments\n", "holds only comments"),
        ("#a,#b\nb,#a\nb,c\n", "taken as comments, but has ids that do so too"),
        (b"\x00\x01\x02", "holds NUL bytes"),
        ("a,b\n".encode("utf-16-le"), "holds NUL bytes"),
        ("a,b\n".encode("utf-16")[:-1], "is not UTF-16 text"),
        ('{"source": "a", "target": "b"}\n', "is JSON; one object per line is read with suffix"),
        (b"caf\xe9,b\nb,c\n", "is not UTF-8 text .byte 3"),
        (bytes(range(1, 256)) * 9, "is not UTF-8 text"),
    ],
)
def test_bad_edge_files(write, text, words):
    with pytest.raises(FileFormatError, match=words) as caught:
        read_csv(write(text))
    assert "\n" not in str(caught.value)


def test_random_bytes_are_refused(write):
    for _ in range(20):
        with pytest.raises(FileFormatError):
            read_csv(write(os.urandom(4000)))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("source,target\n", "The graph is empty"),
        ("a,b,nan\nb,c,1\n", "Edge weights must be finite"),
        ("a,b,inf\nb,c,1\n", "Edge weights must be finite"),
        ("a,b,-1\nb,c,1\n", "Edge weights must be non-negative"),
        ("a,b,1\nb,a,2\n", "different weights .first between a and b.*duplicates='sum'"),
    ],
)
def test_edges_that_break_a_rule(write, text, words):
    with pytest.raises(GraphError, match=words):
        read_csv(write(text))


def test_duplicates_and_self_loops(write):
    path = write("a,b,1\nb,a,2\na,a,4\n")
    graph = read_csv(path, duplicates="sum", self_loops="drop", name="n")
    assert graph.adjacency.toarray().tolist() == [[0, 3], [3, 0]]
    assert graph.name == "n"
    assert read_csv(path, duplicates="max").describe().self_loops == 1


def test_a_long_delimiter(write):
    with pytest.raises(FileFormatError, match="delimiter must be one character"):
        read_csv(write("a,b\nb,c\n"), delimiter="::")


def test_missing_files_and_folders(write, tmp_path):
    with pytest.raises(MissingPathError, match="does not exist"):
        read_csv(tmp_path / "none.csv")
    with pytest.raises(MissingPathError, match="is a folder"):
        read_csv(tmp_path)
    with pytest.raises(MissingPathError, match="does not exist"):
        read_csv(write("a,b\nb,c\n"), tmp_path / "none.csv")
