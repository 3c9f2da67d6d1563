"""Matrix Market files."""

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

from graphheat.errors import FileFormatError, GraphError
from graphheat.graph import Graph
from graphheat.io import read_mtx, write_mtx
from graphheat.io.matrix_market import parse_matrix

HEAD = "%%MatrixMarket matrix coordinate"


@pytest.mark.parametrize("weights", [[1.0, 1.0, 1.0], [0.1, 2.0, 1 / 3]])
def test_round_trip(tmp_path, weights):
    graph = Graph.from_edges([0, 1, 2], [1, 2, 2], weights, nodes=range(4))
    write_mtx(graph, tmp_path / "g.mtx")
    assert read_mtx(tmp_path / "g.mtx").fingerprint == graph.fingerprint
    assert [file.name for file in tmp_path.iterdir()] == ["g.mtx"]


@pytest.mark.parametrize(
    "text",
    [
        f"{HEAD} pattern symmetric\n% a comment\n3 3 2\n2 1\n3 2\n",
        f"{HEAD} PATTERN Symmetric\r\n3 3 2\r\n2 1\r\n3 2",
        "%%MatrixMarket matrix array real symmetric\n3 3\n0\n1\n0\n0\n1\n0\n",
        f"{HEAD} integer general\n3 3 4\n1 2 1\n2 1 1\n2 3 1\n3 2 1\n",
        "%%MatrixMarket matrix array real general\n3 3\n0\n1\n0\n1\n0\n1\n0\n1\n0\n",
    ],
)
def test_kinds_of_matrices(tmp_path, text):
    (tmp_path / "g.mtx").write_text(text)
    graph = read_mtx(tmp_path / "g.mtx")
    assert graph.adjacency.toarray().tolist() == [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    assert graph.name == "g"


def test_an_asymmetric_matrix(tmp_path):
    (tmp_path / "g.mtx").write_text(f"{HEAD} pattern general\n2 2 1\n1 2\n")
    with pytest.raises(GraphError, match="symmetrize='max'"):
        read_mtx(tmp_path / "g.mtx")
    assert read_mtx(tmp_path / "g.mtx", symmetrize="max").describe().edges == 1


def test_a_node_table_goes_along_in_order(tmp_path):
    write_mtx(Graph.from_edges([0, 1], [1, 2]), tmp_path / "g.mtx")
    (tmp_path / "n.csv").write_text("id,label,x\nann,a,1\nbob,b,2\ncat,,3\n")
    graph = read_mtx(tmp_path / "g.mtx", tmp_path / "n.csv", name="g")
    assert graph.nodes.tolist() == ["ann", "bob", "cat"]
    assert graph.labels.tolist() == [0, 1, -1]
    assert graph.adjacency[0, 1] == 1


def test_row_numbers_in_the_table_say_which_row_is_whose(tmp_path):
    write_mtx(Graph.from_edges([0, 1], [1, 2]), tmp_path / "g.mtx")
    (tmp_path / "n.csv").write_text("id,x\n1,10\n2,20\n0,0\n")
    graph = read_mtx(tmp_path / "g.mtx", tmp_path / "n.csv")
    assert graph.nodes.tolist() == [1, 2, 0]
    assert graph.adjacency.toarray().tolist() == [[0, 1, 1], [1, 0, 0], [1, 0, 0]]
    assert graph.features.ravel().tolist() == [10, 20, 0]


def test_features_beside_a_matrix(tmp_path):
    write_mtx(Graph.from_edges([0], [1]), tmp_path / "g.mtx")
    np.save(tmp_path / "x.npy", np.eye(2))
    assert read_mtx(tmp_path / "g.mtx", features=tmp_path / "x.npy").features.shape == (2, 2)
    (tmp_path / "x.csv").write_text("id,x\n1,5\n0,4\n")
    graph = read_mtx(tmp_path / "g.mtx", features=tmp_path / "x.csv")
    assert graph.features.tolist() == [[4], [5]]


def test_a_table_of_another_length(tmp_path):
    write_mtx(Graph.from_edges([0], [1]), tmp_path / "g.mtx")
    (tmp_path / "n.csv").write_text("id\na\nb\nc\n")
    with pytest.raises(GraphError, match="must have one row per node; got 3 rows for 2 nodes"):
        read_mtx(tmp_path / "g.mtx", tmp_path / "n.csv")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"hello",
        b"\x00" * 9,
        f"{HEAD} real general\n".encode(),
        f"{HEAD} real general\n2 2\n".encode(),
        f"{HEAD} real general\n-2 2 0\n".encode(),
        f"{HEAD} real general\n9999999999 9999999999 0\n".encode(),
        f"{HEAD} real symmetric\n2 3 0\n".encode(),
        f"{HEAD} real general\n2 2 1\n1 2\n".encode(),
        f"{HEAD} real general\n2 2 1\n1 1.5 1\n".encode(),
        f"{HEAD} complex general\n2 2 1\n1 2 1 1\n".encode(),
        f"{HEAD} real general\n3 3 1\n1 2 1.5n".encode(),  # SciPy's reader crashes on it
        b"%%MatrixMarket matrix array real general\n2 2\n1\n",
        bytes(range(256)),
        f"{HEAD} real general\n3 3 2\n1 2 1.0\n".encode(),
        f"{HEAD} real general\n3 3 1\n1 9 1.0\n".encode(),
        f"{HEAD} real general\n3 3 1\n1 2 x\n".encode(),
    ],
)
def test_damaged_files(tmp_path, content):
    (tmp_path / "g.mtx").write_bytes(content)
    with pytest.raises(FileFormatError, match="is not a whole Matrix Market file") as caught:
        read_mtx(tmp_path / "g.mtx")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (f"{HEAD} pattern general\n2 3 1\n1 2\n", "must be square"),
        (f"{HEAD} real symmetric\n2 2 1\n2 1 -1\n", "non-negative"),
    ],
)
def test_matrices_that_are_no_graphs(tmp_path, text, words):
    (tmp_path / "g.mtx").write_text(text)
    with pytest.raises(GraphError, match=words):
        read_mtx(tmp_path / "g.mtx")


@pytest.mark.parametrize("size", ["0 0 0", "3 3 0"])
def test_matrices_without_entries(tmp_path, size):
    (tmp_path / "g.mtx").write_text(f"{HEAD} real general\n{size}\n")
    if size == "3 3 0":
        assert read_mtx(tmp_path / "g.mtx").describe().isolated == 3
    else:
        with pytest.raises(GraphError, match="The graph is empty"):
            read_mtx(tmp_path / "g.mtx")


def test_agrees_with_scipy(tmp_path):
    matrix = np.random.default_rng(0).random((7, 7)).round(1)
    for sample, symmetry in ((matrix, "general"), (matrix + matrix.T, "symmetric")):
        for form in (sp.coo_array, np.asarray):
            scipy.io.mmwrite(tmp_path / "m.mtx", form(sample), symmetry=symmetry, precision=17)
            assert np.array_equal(parse_matrix(tmp_path / "m.mtx").toarray(), sample)
