"""Sparse matrices whose arrays do not go together: refused, where SciPy would end the process."""

import io
import subprocess
import sys
import zipfile

import numpy as np
import pytest
import scipy.sparse as sp
from helpers.sentences import refusal

from graphheat.graph import Graph
from graphheat.heat import HeatKernel
from graphheat.io import read_graph, read_npz, write_npz

PATH = np.diag([1.0, 1.0], 1) + np.diag([1.0, 1.0], -1)
GRAPH = Graph.from_scipy(PATH, features=sp.csr_array(np.eye(3)), labels=["a", "b", "a"])


def rewritten(path, **members):
    """Replace members of an archive; None takes one out."""
    with np.load(path) as archive:
        arrays = {name: archive[name] for name in archive.files}
    arrays |= {name: np.asarray(array) for name, array in members.items()}
    np.savez(path, **arrays)


@pytest.mark.parametrize(
    "members",
    [
        {"adjacency_indptr": [0, 5, 2, 2]},
        {"adjacency_indptr": [0, 2**40, 1, 2]},
        {"adjacency_indptr": [0, -3, 1, 2]},
        {"adjacency_indptr": [0.0, 1.0, 2.0, 2.0]},
        {"adjacency_indptr": [0, np.nan, 2, 2]},
        {"adjacency_indptr": np.array([0, 1, 2, 2], dtype=complex)},
        {"adjacency_weights": np.array([1, 1j])},
        {"adjacency_indices": [1, 7]},
        {"adjacency_indices": [1, -(10**6)]},
        {"features_indices": [0, 1, 10**9]},
        {"features_indices": [0, 1, -1]},
        {"features_indptr": [0, 9, 2, 3]},
        {"features_shape": [3, -1]},
        {"features_shape": [3.0, 3.0]},
        {"features_shape": [3]},
        {"labels": np.array([2**64 - 1] * 3, dtype=np.uint64)},
        {"labels": [0.0, 1.0, 0.0]},
        {"words": np.frombuffer(b"[" * 100_000, dtype=np.uint8)},
        {"words": np.frombuffer(b'{"name": [], "classes": [], "split": []}', dtype=np.uint8)},
        {"words": np.frombuffer(b'{"name": "g", "classes": [[1]], "split": []}', dtype=np.uint8)},
        {"words": np.frombuffer(b'{"name": "g", "classes": 3, "split": []}', dtype=np.uint8)},
    ],
)
def test_members_of_our_own_layout(members, tmp_path):
    write_npz(GRAPH, tmp_path / "g.npz")
    rewritten(tmp_path / "g.npz", **members)
    refusal(read_npz, tmp_path / "g.npz")


@pytest.mark.parametrize(
    "members",
    [
        {"x_indices": [0, 99]},
        {"x_indices": [0.0, 1.0]},
        {"x_indptr": [0, 7, 2]},
        {"x_indptr": [0.0, 1.0, 2.0]},
        {"edge_weight": np.array([1j, 1j])},
        {"num_nodes": 10**15},
        {"num_nodes": -1},
        {"num_nodes": 2.5},
        {"edge_index": [[0, 2**63 - 1], [1, 0]]},
        {"edge_index": np.array([[0, 2**64 - 1], [1, 0]], dtype=np.uint64)},
    ],
)
def test_members_beside_an_edge_index(members, tmp_path):
    arrays = {
        "edge_index": [[0, 1], [1, 0]],
        "x_data": [1.0, 1.0],
        "x_indices": [0, 1],
        "x_indptr": [0, 1, 2],
        "x_shape": [2, 2],
    }
    if members.keys() & {"edge_index", "num_nodes"}:
        arrays = {"edge_index": arrays["edge_index"]}
    np.savez(tmp_path / "g.npz", **{**arrays, **members})
    refusal(read_npz, tmp_path / "g.npz")


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "bsr", "dia"])
def test_sparse_files_are_read_in_every_format(kind, tmp_path):
    sp.save_npz(tmp_path / "g.npz", sp.csr_array(PATH).asformat(kind))
    assert read_npz(tmp_path / "g.npz").adjacency.toarray().tolist() == PATH.tolist()


@pytest.mark.parametrize(
    ("kind", "members"),
    [
        ("csr", {"indices": [1, 0, 2, 99]}),
        ("csr", {"indices": [1, 0, 2, -(10**6)]}),
        ("csr", {"indptr": [0, 9, 3, 4]}),
        ("csc", {"indices": [1, 0, 2, 2**40]}),
        ("coo", {"row": [0, 1, 1, 99]}),
        ("bsr", {"indices": [2**31 - 1] * 4}),
        ("bsr", {"data": np.ones((4, 0, 1))}),
        ("dia", {"offsets": [0.5, 1.0]}),
        ("csr", {"format": b"dok"}),
        ("csr", {"format": 7}),
        ("csr", {"shape": [10**9, 10**9]}),
    ],
)
def test_sparse_files_of_scipy(kind, members, tmp_path):
    sp.save_npz(tmp_path / "g.npz", sp.csr_array(PATH).asformat(kind))
    rewritten(tmp_path / "g.npz", **members)
    refusal(read_npz, tmp_path / "g.npz")
    (tmp_path / "e.csv").write_text("source,target\n0,1\n1,2\n")
    refusal(read_graph, tmp_path / "e.csv", features=tmp_path / "g.npz")


def spoiled(kind, name, values):
    matrix = sp.csr_array(PATH).asformat(kind)
    getattr(matrix, name)[:] = values
    return matrix


@pytest.mark.parametrize(
    ("kind", "name", "values"),
    [
        ("csr", "indptr", [0, 9, 2, 4]),
        ("csr", "indices", [1, 0, 2, 10**6]),
        ("csc", "indices", [1, 0, 2, -7]),
        ("coo", "row", [0, 1, 1, 2**30]),
        ("bsr", "indices", 77),
    ],
)
def test_matrices_in_memory(kind, name, values):
    refusal(Graph.from_scipy, spoiled(kind, name, values))
    refusal(Graph.from_scipy, PATH, features=spoiled(kind, name, values))
    refusal(HeatKernel, spoiled(kind, name, values), 1.0)


def test_what_is_no_matrix_at_all():
    refusal(Graph.from_scipy, [[0, 1], [1]])
    refusal(Graph.from_scipy, PATH, features=[[1], [1, 2], [3]])


def test_a_member_twice_or_a_nested_archive(tmp_path):
    write_npz(GRAPH, tmp_path / "g.npz")
    inner = (tmp_path / "g.npz").read_bytes()
    with zipfile.ZipFile(tmp_path / "g.npz", "a") as archive, pytest.warns(UserWarning):
        archive.writestr("labels.npy", inner)
    refusal(read_npz, tmp_path / "g.npz")
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("edge_index.npy", inner)
    (tmp_path / "n.npz").write_bytes(stream.getvalue())
    refusal(read_npz, tmp_path / "n.npz")


def test_the_command_ends_with_a_sentence(tmp_path):
    write_npz(GRAPH, tmp_path / "g.npz")
    rewritten(tmp_path / "g.npz", features_indices=[0, 1, 10**6])
    done = subprocess.run(
        [sys.executable, "-m", "graphheat", "fit", "g.npz", "--recipe", "linear"],
        cwd=tmp_path, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.startswith("Error: The column numbers of features must be in [0, 3)")
