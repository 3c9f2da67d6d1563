"""Data sets in the layouts of PyG, OGB and DGL, as strangers may make them."""

import gzip
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pytest
from helpers.sentences import refusal

from graphheat.datasets import fetch_dgl, fetch_ogb, fetch_pyg

META = "edge_data:\n- file_name: edges.csv\nnode_data:\n- file_name: nodes.csv\n"
MERGED = "a0: &a0 {x: 1}\n" + "".join(
    f"a{k}: &a{k}\n  <<: [{', '.join([f'*a{k - 1}'] * 9)}]\n" for k in range(1, 9)
)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


# ---------------------------------------------------------------------- PyG

torch = pytest.importorskip("torch")
PAIRS = torch.tensor([[0, 1, 2], [1, 2, 0]])
ODD_PARTS = {
    "sparse": {"x": torch.eye(3).to_sparse()},
    "on no device": {"x": torch.ones(3, 2, device="meta")},
    "repeated without end": {"x": torch.ones(1).expand(3, 10**11)},
    "edges without end": {"edge_index": torch.zeros(1, dtype=torch.long).expand(2, 10**11)},
    "text": {"x": "abc"},
    "ragged": {"y": [[1], [2, 3]]},
    "a mask of text": {"train_mask": "a"},
    "complex": {"edge_weight": torch.ones(3) * 1j},
    "no dimension": {"x": torch.tensor(1.0)},
    "edges of text": {"edge_index": "abc"},
    "edges in a row": {"edge_index": torch.arange(3), "edge_attr": torch.ones(3)},
    "a number far off": {"edge_index": PAIRS * 10**9},
    "nodes of text": {"num_nodes": "three"},
    "a billion nodes": {"num_nodes": 10**9},
    "nodes below zero": {"num_nodes": -3},
}


@pytest.mark.parametrize("name", ODD_PARTS)
def test_odd_tensors(name):
    torch.save(({"edge_index": PAIRS, **ODD_PARTS[name]}, None), "data.pt")
    refusal(fetch_pyg, "data.pt")


@pytest.mark.parametrize("slices", [{"x": 5}, {"x": torch.tensor(3)}, {"x": torch.ones(2, 2)}])
def test_odd_slices(slices):
    torch.save(({"edge_index": PAIRS}, slices), "data.pt")
    refusal(fetch_pyg, "data.pt")


def test_names_that_no_tensor_has_are_left_alone():
    torch.save(({"edge_index": PAIRS, 1: 2, "self": 3}, None), "data.pt")
    assert fetch_pyg("data.pt").n == 3


def test_half_floats_of_brains():
    torch.save(({"edge_index": PAIRS, "x": torch.ones(3, 2, dtype=torch.bfloat16)}, None), "d.pt")
    assert fetch_pyg("d.pt").features.tolist() == [[1.0, 1.0]] * 3


def test_a_packed_file_of_tensors_is_not_unpacked():
    torch.save(({"edge_index": PAIRS, "x": torch.zeros(3, 10**6)}, None), "whole.pt")
    with (
        zipfile.ZipFile("whole.pt") as whole,
        zipfile.ZipFile("packed.pt", "w", zipfile.ZIP_DEFLATED) as packed,
    ):
        for entry in whole.infolist():
            packed.writestr(entry.filename, whole.read(entry))
    refusal(fetch_pyg, "packed.pt")


# ---------------------------------------------------------------------- OGB

FILES = {
    "n": "raw/num-node-list",
    "edge": "raw/edge",
    "feat": "raw/node-feat",
    "label": "raw/node-label",
    "train": "split/time/train",
    "valid": "split/time/valid",
    "test": "split/time/test",
}
WHOLE = {"n": "3", "edge": "0,1\n1,2", "feat": "1,2\n3,4\n5,6", "label": "0\n1\n0",
         "train": "0", "valid": "1", "test": "2"}  # fmt: skip


def ogb(**changes):
    for name, text in {**WHOLE, **changes}.items():
        path = Path("ogb", FILES[name] + ".csv.gz")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gzip.compress(f"{text}\n".encode()))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return fetch_ogb("ogb")


@pytest.mark.parametrize(
    "changes",
    [
        *({"n": text} for text in ("1000000000", "-3", "", "3,4", "9223372036854775808", "2.5")),
        *({"label": text} for text in ("inf\n1\n0", "1e300\n1\n0", "257,0\n1,1\n0,0", "1", "x")),
        *({"edge": text} for text in ("1," * 10**6, "a,b", "1_0,1", "1.5,2.0", "0,1\n,2")),
        *({"train": text} for text in ("77", "-1", "0.5", "")),
        *({"feat": text} for text in ("1\n2,3\n4", "inf,2\n3,4\n5,6", "a,b\n3,4\n5,6", '"' * 999)),
    ],
    ids=lambda changes: str(changes)[:40],
)
def test_odd_tables_of_numbers(changes):
    assert len(refusal(ogb, **changes)) < 500


def test_labels_of_seventeen_digits_stay_apart():
    labels = (2**53 + 1, 2**53, 2**53 + 1)
    found = ogb(label="\n".join(map(str, labels)))
    assert [found.classes[code] for code in found.labels] == list(labels)


# ---------------------------------------------------------------------- DGL


def dgl(meta="", nodes="node_id,label\n0,a\n1,b\n", edges="src_id,dst_id\n0,1\n", rest=META):
    pytest.importorskip("yaml")
    Path("dgl").mkdir(exist_ok=True)
    for name, text in (("meta.yaml", meta + rest), ("nodes.csv", nodes), ("edges.csv", edges)):
        Path("dgl", name).write_text(text)
    return fetch_dgl("dgl")


@pytest.mark.parametrize(
    "changes",
    [
        {"meta": 'separator: "(a+)+b"\n', "nodes": "a" * 40 + "\n"},
        {"meta": "separator: [1]\n"},
        {"meta": 'separator: ""\n'},
        {"meta": "a: 1\n" * 10**5},
        {"meta": "[" * 10**5},
        {"meta": "hello\n", "rest": ""},
        {"meta": "[1, 2]", "rest": ""},
        {"meta": "#", "rest": ""},
        {"meta": "node_data: {a: 1}\nedge_data: {b: 1}\n", "rest": ""},
        {"meta": "node_data:\n- file_name: [x]\nedge_data:\n- file_name: edges.csv\n", "rest": ""},
        {"nodes": "node_id,train_mask\n0,yes\n1,no\n"},
        {"nodes": "node_id\n0\n0\n1\n"},
        {"nodes": "node_id,feat\n0,1_0\n1,2\n"},
        {"nodes": "node_id,feat\n0,inf\n1,2\n"},
        {"nodes": "node_id" + ",a" * 10**6 + "\n"},
    ],
    ids=lambda changes: str(changes)[:40],
)
def test_odd_folders_of_dgl(changes):
    refusal(dgl, **changes)


def test_what_a_meta_file_says_beside_is_not_computed():
    for meta in (MERGED, "v: " + "9" * 5000 + "\n", "v: 2001-99-99\n"):
        assert dgl(meta=meta).n == 2


def test_ids_and_labels_of_dgl_stay_as_they_are():
    found = dgl(nodes="node_id,label\n007,01\n7,1\n9,\n", edges="src_id,dst_id\n007,7\n")
    assert found.nodes.tolist() == ["007", "7", "9"]
    assert found.classes == ("01", "1")
    assert found.labels.tolist() == [0, 1, -1]
    far = (2**53 + 1, 2**53)
    found = dgl(nodes="node_id\n{}\n{}\n".format(*far), edges="src_id,dst_id\n{},{}\n".format(*far))
    assert found.nodes.tolist() == list(far)
    assert dgl(nodes="node_id,label\n0,3\n1,\n2,4\n").classes == (3, 4)


EDGES = {"row": [0, 1], "col": [1, 2], "shape": [3, 3]}
NODES = {"feature": np.eye(3), "label": [0, 1, 0], "node_types": [1, 2, 3]}


def reddit(**changes):
    Path("reddit").mkdir(exist_ok=True)
    for name, arrays in (("graph", EDGES), ("data", NODES)):
        own = {key: changes.get(key, array) for key, array in arrays.items()}
        np.savez(f"reddit/reddit_{name}.npz", **own)
    return fetch_dgl("reddit")


@pytest.mark.parametrize(
    "changes",
    [
        {"row": [0]},
        {"row": [0, 99]},
        {"row": [0, -1]},
        {"row": [0.5, 1.0]},
        {"row": np.array([2**64 - 1, 1], np.uint64)},
        {"row": ["a", "b"]},
        {"row": np.zeros((2, 2), int), "col": np.zeros((2, 2), int)},
        {"shape": np.empty(0, int)},
        {"shape": [10**10] * 2},
        {"shape": [-1] * 2},
        {"shape": [np.nan] * 2},
        {"shape": 3},
        {"node_types": [1]},
        {"node_types": np.ones((3, 3))},
        {"feature": np.ones((3, 3, 3))},
        {"feature": np.ones((2, 3))},
        {"label": [1]},
        {"label": [1j, 1, 1]},
    ],
    ids=str,
)
def test_odd_archives_of_reddits_layout(changes):
    refusal(reddit, **changes)


def test_an_edge_that_is_named_twice_weighs_one():
    found = reddit(row=[0, 0, 1], col=[1, 1, 0])
    assert found.adjacency.toarray().max() == 1.0
