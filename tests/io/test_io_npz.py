"""Archives: ours round-trip exactly, others' are understood, damaged ones are refused."""

import json
import os
import zipfile
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from helpers.graph_strategies import graphs
from hypothesis import HealthCheck, given, settings

from graphheat.errors import FileFormatError, GraphError, OutputError
from graphheat.graph import Graph
from graphheat.io import read_npz, write_npz

DATA = Path(os.environ.get("GRAPHHEAT_DATA") or Path(__file__).parents[3] / "shared" / "data")


@pytest.fixture
def graph():
    return Graph.from_edges(
        ["ann", "bob", "cat"],
        ["bob", "cat", "cat"],
        [0.1, 2.0, 1.0],
        nodes=["cat", "ann", "bob", "dän"],
        features=sp.csr_array(np.eye(4)),
        labels=["x", None, "y", "x"],
        titles=["C", "A", "B", "Ж"],
        split={"train": [0, 2], "odd one": [3]},
        name="friends",
    )


# ------------------------------------------------------------------------- round trip


def test_ids_that_numpy_cannot_tell_apart_are_refused():
    with pytest.raises(GraphError, match="must be distinct"):
        Graph.from_scipy(np.zeros((2, 2)), nodes=["a", "a\0"])


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(graph=graphs())
def test_round_trip_is_exact(tmp_path, graph):
    path = tmp_path / "graph.npz"
    write_npz(graph, path)
    back = read_npz(path)
    assert back.fingerprint == graph.fingerprint
    assert back.classes == graph.classes
    assert [type(name) for name in back.classes] == [type(name) for name in graph.classes]
    assert (back.titles, back.name, list(back.split)) == (
        graph.titles,
        graph.name,
        list(graph.split),
    )
    assert back.nodes.dtype == graph.nodes.dtype


def test_the_same_graph_gives_the_same_bytes(graph, tmp_path):
    write_npz(graph, tmp_path / "a.npz")
    write_npz(read_npz(tmp_path / "a.npz"), tmp_path / "b.npz")
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
    assert [file.name for file in sorted(tmp_path.iterdir())] == ["a.npz", "b.npz"]


def test_the_layout_is_compact_and_plain(tmp_path):
    plain = Graph.from_scipy(
        np.ones((3, 3)), sp.csr_array(np.eye(3)), [0, 1, -1], classes=("a", "b")
    )
    write_npz(plain, tmp_path / "plain.npz")
    with np.load(tmp_path / "plain.npz", allow_pickle=False) as archive:
        assert set(archive.files) == {
            "schema",
            "adjacency_indptr",
            "adjacency_indices",
            "features_shape",
            "features_indptr",
            "features_indices",
            "labels",
            "words",
        }
        assert archive["adjacency_indices"].tolist() == [0, 1, 2, 1, 2, 2]
        assert archive["adjacency_indices"].dtype == np.uint8
        assert archive["labels"].dtype == np.int8
        assert json.loads(archive["words"].tobytes())["classes"] == ["a", "b"]


def test_labels_take_the_smallest_type_that_holds_them(tmp_path):
    many = Graph.from_scipy(sp.csr_array((200, 200)), labels=list(range(200)))
    write_npz(many, tmp_path / "many.npz")
    with np.load(tmp_path / "many.npz") as archive:
        assert archive["labels"].dtype == np.int16
    assert read_npz(tmp_path / "many.npz").fingerprint == many.fingerprint


def test_class_names_that_json_cannot_keep_are_refused(tmp_path):
    odd = Graph.from_scipy([[0.0]], labels=[0], classes=[(1, 2)])
    with pytest.raises(GraphError, match="Class names in an archive must be strings"):
        write_npz(odd, tmp_path / "odd.npz")
    assert not list(tmp_path.iterdir())


def test_keywords_replace_what_the_file_says(graph, tmp_path):
    write_npz(graph, tmp_path / "g.npz")
    other = read_npz(tmp_path / "g.npz", name="new", self_loops="drop", labels=[1, 2, 1, 1])
    assert (other.name, other.classes, other.describe().self_loops) == ("new", (1, 2), 0)


def test_an_unwritable_target(graph, tmp_path):
    with pytest.raises(OutputError, match="is a folder"):
        write_npz(graph, tmp_path)
    with pytest.raises(OutputError, match="cannot be written"):
        write_npz(graph, tmp_path / "missing" / "g.npz")


# -------------------------------------------------------------------- others' layouts


@pytest.mark.parametrize("form", [sp.csr_array, sp.coo_matrix, sp.csc_array])
def test_scipy_files(form, tmp_path):
    matrix = form(np.ones((3, 3)) - np.eye(3))
    sp.save_npz(tmp_path / "m.npz", matrix)
    graph = read_npz(tmp_path / "m.npz")
    assert (graph.name, graph.describe().edges) == ("m", 3)
    sp.save_npz(tmp_path / "skew.npz", form(np.triu(np.ones((3, 3)))))
    with pytest.raises(GraphError, match="symmetrize='max'"):
        read_npz(tmp_path / "skew.npz")
    assert read_npz(tmp_path / "skew.npz", symmetrize="max").describe().edges == 3


@pytest.mark.parametrize("more", [{}, {"directed": False}, {"directed": True}])
@pytest.mark.parametrize(
    "pairs",
    [
        [[0, 1, 2], [1, 2, 2]],
        [[1, 1, 2], [0, 2, 2]],
        [[0, 1, 1, 2, 2], [1, 0, 2, 1, 2]],
    ],
)
def test_edge_index_in_one_direction_or_both(pairs, more, tmp_path):
    np.savez(tmp_path / "e.npz", edge_index=np.array(pairs, dtype=np.int32), **more)
    expected = Graph.from_edges([0, 1, 2], [1, 2, 2])
    assert read_npz(tmp_path / "e.npz").fingerprint == expected.fingerprint


def test_edge_index_half_in_both_directions_is_asymmetric(tmp_path):
    np.savez(tmp_path / "e.npz", edge_index=[[0, 1, 1], [1, 0, 2]])
    with pytest.raises(GraphError, match="symmetrize='max'"):
        read_npz(tmp_path / "e.npz")
    assert read_npz(tmp_path / "e.npz", symmetrize="max").describe().edges == 2


def test_edge_index_with_everything(tmp_path):
    X = sp.csr_array(np.eye(4, dtype=np.float32))
    common = {
        "edge_index": [[0, 1], [1, 2]],
        "edge_weight": [2.0, 3.0],
        "y": [[0], [1], [1], [0]],
        "train_mask": [True, True, False, False],
        "test_idx": [3],
    }
    np.savez(tmp_path / "dense.npz", x=np.eye(4), **common)
    np.savez(
        tmp_path / "sparse.npz",
        x_data=X.data,
        x_indices=X.indices,
        x_indptr=X.indptr,
        x_shape=X.shape,
        **common,
    )
    for name in ("dense", "sparse"):
        graph = read_npz(tmp_path / f"{name}.npz")
        assert (graph.n, graph.adjacency[1, 2], graph.classes) == (4, 3.0, (0, 1))
        assert graph.split["train"].tolist() == [0, 1]
        assert graph.split["test"].tolist() == [3]
    assert sp.issparse(graph.features)


def test_num_nodes_counts_isolated_nodes(tmp_path):
    np.savez(tmp_path / "e.npz", edge_index=[[0], [1]], num_nodes=5)
    assert read_npz(tmp_path / "e.npz").describe().isolated == 3


def test_edge_weights_that_differ(tmp_path):
    np.savez(tmp_path / "e.npz", edge_index=[[0, 0], [1, 1]], edge_weight=[1.0, 2.0])
    with pytest.raises(GraphError, match="different weights"):
        read_npz(tmp_path / "e.npz")
    assert read_npz(tmp_path / "e.npz", duplicates="max").adjacency[0, 1] == 2


@pytest.mark.skipif(not (DATA / "amazon_photo.npz").exists(), reason="needs amazon_photo.npz")
def test_amazon_photo():
    summary = read_npz(DATA / "amazon_photo.npz").describe()
    assert (summary.nodes, summary.edges, summary.features) == (7650, 119_081, 745)
    assert (summary.isolated, len(summary.label_counts)) == (115, 8)


@pytest.mark.skipif(not (DATA / "com-youtube.npz").exists(), reason="needs com-youtube.npz")
def test_com_youtube():
    graph = read_npz(DATA / "com-youtube.npz")
    assert graph.adjacency.nnz == 2 * 2_987_624
    assert int((np.diff(graph.adjacency.indptr) > 0).sum()) == 1_134_890


# ----------------------------------------------------------------------------- damage


def test_every_flipped_byte_is_noticed_or_harmless(graph, tmp_path):
    write_npz(graph, tmp_path / "g.npz")
    whole = bytearray((tmp_path / "g.npz").read_bytes())
    for position in range(0, len(whole), 13):
        damaged = whole.copy()
        damaged[position] ^= 0xFF
        (tmp_path / "bad.npz").write_bytes(damaged)
        try:
            back = read_npz(tmp_path / "bad.npz")
        except FileFormatError as error:
            assert "\n" not in str(error)
        else:  # a date or a flag of the container: the checksum covers the rest
            assert back.fingerprint == graph.fingerprint


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty"),
        (b"\x93NUMPY garbage", "is not a whole npz archive"),
        (os.urandom(500), "is not a whole npz archive"),
    ],
)
def test_files_that_are_not_archives(content, words, tmp_path):
    (tmp_path / "x.npz").write_bytes(content)
    with pytest.raises(FileFormatError, match=words):
        read_npz(tmp_path / "x.npz")


def test_pickles_are_never_loaded(tmp_path):
    np.savez(tmp_path / "p.npz", edge_index=np.array([{}, {}], dtype=object))
    with pytest.raises(FileFormatError, match="pickled Python objects, which are never loaded"):
        read_npz(tmp_path / "p.npz")


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        ({"a": [1]}, "it holds 'a'"),
        ({"schema": "graphheat.graph/2"}, "is of schema 'graphheat.graph/2'; .* Update graphheat"),
        ({"schema": "graphheat.graph/1"}, "it lacks 'words'"),
        ({"format": "csr", "shape": [1, 1]}, "is not a whole graph archive"),
        ({"edge_index": [[0], [1]], "x_shape": [2, 2]}, "it lacks 'x_data'"),
        ({"edge_index": [[0], [1]], "num_nodes": [1, 2]}, "is not a whole graph archive"),
    ],
)
def test_archives_of_something_else(arrays, words, tmp_path):
    np.savez(tmp_path / "x.npz", **arrays)
    with pytest.raises(FileFormatError, match=words):
        read_npz(tmp_path / "x.npz")


def test_an_archive_without_arrays(tmp_path):
    with zipfile.ZipFile(tmp_path / "x.npz", "w") as archive:
        archive.writestr("readme.txt", "hello")
    with pytest.raises(FileFormatError):
        read_npz(tmp_path / "x.npz")


@pytest.mark.parametrize("kind", [bool, np.uint8, np.int64, np.float64])
def test_masks_of_zeros_and_ones(tmp_path, kind):
    mask = np.array([1, 0, 1]).astype(kind)
    np.savez(tmp_path / "g.npz", edge_index=[[0, 1], [1, 2]], y=[0, 1, 1], train_mask=mask)
    assert read_npz(tmp_path / "g.npz").split.train.tolist() == [0, 2]
    np.savez(tmp_path / "g.npz", edge_index=[[0, 1], [1, 2]], y=[0, 1, 1], train_mask=[0, 2, 1])
    with pytest.raises(GraphError, match="A mask must hold true and false"):
        read_npz(tmp_path / "g.npz")
