"""read_graph: the suffix says how, and what does not fit is refused."""

import pytest

from graphheat.errors import OutputError, ParameterError
from graphheat.graph import Graph
from graphheat.io import FORMATS, read_graph, replacing, write_csv, write_mtx, write_npz
from graphheat.io.table_options import GraphOptions, option_names

GRAPH = Graph.from_edges([0, 1], [1, 2], [1.0, 2.0], labels=["a", None, "b"])


@pytest.fixture
def files(tmp_path):
    write_csv(GRAPH, tmp_path / "edges.csv", tmp_path / "nodes.csv")
    write_npz(GRAPH, tmp_path / "graph.npz")
    write_mtx(GRAPH, tmp_path / "matrix.mtx")
    return tmp_path


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".txt", ".edges", ".CSV"])
def test_edge_lists(files, suffix):
    path = (files / "edges.csv").rename(files / f"g{suffix}")
    graph = read_graph(path, nodes=files / "nodes.csv", id="id", label="label", header=True)
    assert graph.fingerprint == GRAPH.fingerprint
    assert graph.name == "g"


def test_archives_and_matrices(files):
    assert read_graph(files / "graph.npz").fingerprint == GRAPH.fingerprint
    assert read_graph(files / "graph.npz", self_loops="drop", name="x").name == "x"
    matrix = read_graph(files / "matrix.mtx", nodes=files / "nodes.csv", symmetrize="max")
    assert matrix.fingerprint == GRAPH.fingerprint
    assert read_graph(str(files / "matrix.mtx")).n == 3


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("graph.npz", {"nodes": "nodes.csv"}, "nodes does not go with graph.npz: an archive holds"),
        ("graph.npz", {"label": "y"}, "label does not go with graph.npz"),
        ("graph.npz", {"header": True}, "header does not go with graph.npz"),
        ("graph.npz", {"categorical": ["a"]}, "categorical does not go with graph.npz"),
        ("edges.csv", {"symmetrize": "max"}, "symmetrize does not go with edges.csv: an edge list"),
        ("matrix.mtx", {"duplicates": "sum"}, "duplicates does not go with matrix.mtx"),
    ],
)
def test_options_out_of_place(files, name, options, words):
    with pytest.raises(ParameterError, match=words):
        read_graph(files / name, **options)


def test_writing_aside_leaves_the_old_file_when_it_fails(tmp_path):
    target = tmp_path / "a.txt"
    target.write_text("old")

    def fail():
        with replacing(target) as aside:
            aside.write_text("half")
            raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        fail()
    assert target.read_text() == "old"
    assert [file.name for file in tmp_path.iterdir()] == ["a.txt"]


@pytest.mark.parametrize("writer", [write_npz, write_csv, write_mtx])
def test_writers_refuse_folders(writer, tmp_path):
    with pytest.raises(OutputError, match="is a folder; name a file to write"):
        writer(GRAPH, tmp_path)
    with pytest.raises(OutputError, match="cannot be written"):
        writer(GRAPH, tmp_path / "none" / "file")


def test_importing_the_readers_loads_nothing_heavy():
    import subprocess
    import sys

    code = "import sys, graphheat.io; print({'torch', 'pandas', 'sklearn'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_the_command_line_names_every_option_of_a_reader():
    from graphheat.cli.options import _GRAPH_OPTIONS

    # A graph's name is its file's, a file says its delimiter, and a schema is an object.
    left_out = {"delimiter", "name", "schema"}
    assert set(_GRAPH_OPTIONS) == set(option_names(GraphOptions)) - left_out


def test_every_option_goes_with_some_format():
    taken = set().union(*(kind.options for kind in FORMATS.values()))
    assert taken == set(option_names(GraphOptions))
