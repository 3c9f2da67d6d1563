"""Run files and stores that were tampered with are refused in one sentence."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from helpers.command import invoke
from helpers.sentences import refusal
from safetensors.numpy import save_file

import graphheat
from graphheat.datasets import block_model
from graphheat.io import write_npz
from graphheat.paper.store import Store, read_runs, write_runs
from graphheat.runs import checkpoint, load_run

GRAPH = block_model(60, 3, features=8, labels_per_class=4, seed=0)
RUNS = Path(__file__).parents[2] / "docs" / "results" / "runs.csv"


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    found = {}
    for recipe, changes in (("linear", {}), ("spreading", {}), ("paper", {"max_epochs": 3})):
        if recipe == "paper":
            pytest.importorskip("torch")
        path = folder / f"{recipe}.safetensors"
        graphheat.fit(GRAPH, recipe, checkpoint=path, **changes)
        found[recipe] = checkpoint.read(path)
    return found


def tampered(path, fitted, recipe, header=(), **arrays):
    """Write a run's file with entries and arrays changed; None takes an array out."""
    old, held = fitted[recipe]
    words = {**old, **dict(header)}
    tensors = {**held, **arrays}
    save_file(
        {name: np.ascontiguousarray(each) for name, each in tensors.items() if each is not None},
        path,
        {"graphheat": json.dumps(words)},
    )
    return path


HEADERS = [
    {"classes": 3}, {"classes": [[0], [1], [2]]}, {"classes": [0]}, {"classes": [0, 1, 2, 3]},
    {"classes": [0, 1, 1]}, {"notes": 7}, {"notes": [{}]}, {"source": 5}, {"settings": []},
    {"settings": {"s": "x"}}, {"seed": -1}, {"seed": "0"}, {"seconds": None}, {"best_epoch": 1.5},
    {"fingerprint": 5}, {"fingerprint": "zz"}, {"name": []}, {"held_out": "no"}, {"kind": ["x"]},
    {"kind": "nothing"}, {"schema": "2"}, {"schema": 99}, {"state": 5}, {"feature_names": 3},
    {"feature_schema": {"schema": "x"}}, {"interrupted": "yes"},
]  # fmt: skip
N = GRAPH.n
ARRAYS = [
    {"labels": np.full(N, -5)}, {"labels": np.full(N, 9)}, {"labels": np.zeros(N, np.float32)},
    {"labels": np.zeros(3, np.int64)}, {"roles": np.full(N, -1, np.int8)},
    {"roles": np.full(N, 77, np.int8)}, {"roles": np.zeros(N, np.float32)},
    {"nodes": np.frombuffer(b"{", np.uint8)}, {"nodes": np.frombuffer(b"7", np.uint8)},
    {"nodes": np.frombuffer(b"[" * 100_000, np.uint8)}, {"nodes": np.frombuffer(b"[1]", np.uint8)},
    {"nodes": np.frombuffer(b"\xff\xfe", np.uint8)}, {"nodes": np.zeros(N, np.float32)},
    {"nodes": np.frombuffer(json.dumps([0] * N).encode(), np.uint8)},
    {"probabilities": np.full((N, 3), 2.0)}, {"probabilities": np.full((N, 3), np.nan)},
    {"probabilities": np.zeros((N, 3))}, {"probabilities": np.ones((N, 1))},
    {"probabilities": np.ones(N)}, {"probabilities": None}, {"reached": np.zeros(3, bool)},
    {"reached": np.zeros(N)}, {"out_of_fold": np.zeros((1, 3))},
    {"history/train_loss": np.zeros((2, 2))}, {"history/train_loss": np.zeros(2)},
]  # fmt: skip


@pytest.mark.parametrize("recipe", ["linear", "paper"])
@pytest.mark.parametrize("change", HEADERS, ids=str)
def test_headers(recipe, change, fitted, tmp_path):
    path = tampered(tmp_path / "run.safetensors", fitted, recipe, change)
    refusal(load_run, path)


@pytest.mark.parametrize("recipe", ["linear", "paper"])
@pytest.mark.parametrize("change", ARRAYS, ids=lambda change: next(iter(change)))
def test_arrays(recipe, change, fitted, tmp_path):
    refusal(load_run, tampered(tmp_path / "run.safetensors", fitted, recipe, **change))


@pytest.mark.parametrize(
    ("recipe", "change"),
    [
        ("paper", {"best/first.weight": None}),
        ("paper", {"best/first.weight": np.zeros((2, 8), np.float32)}),
        ("paper", {"best/second.weight": np.zeros((2, 5, 3), np.float32)}),
        ("paper", {"best/second.weight": np.full((2, 16, 3), np.nan, np.float32)}),
        ("paper", {"best/third.weight": np.zeros(3, np.float32)}),
        ("paper", {"best/first.bias": np.zeros(16, np.float32)}),
        ("paper", {"best/second.weight": np.zeros((9, 16, 3), np.float32)}),
        ("linear", {"weights": np.zeros((9, 3))}),
        ("linear", {"weights": np.full((8, 3), np.nan)}),
        ("linear", {"duals": np.zeros((2, 3))}),
        ("linear", {"path/s": np.zeros(2)}),
        ("spreading", {"floor": np.zeros(7)}),
    ],
)
def test_what_a_kind_of_run_has_of_its_own(recipe, change, fitted, tmp_path):
    refusal(load_run, tampered(tmp_path / "run.safetensors", fitted, recipe, **change))


@pytest.mark.parametrize("change", [{"hidden": 10**9}, {"K": 9}, {"recipe": []}])
def test_settings_that_the_weights_of_a_network_contradict(change, fitted, tmp_path):
    header = {"settings": {**fitted["paper"][0]["settings"], **change}}
    refusal(load_run, tampered(tmp_path / "run.safetensors", fitted, "paper", header))


@pytest.mark.parametrize(
    "change", [{"chosen": 10**9}, {"forms": []}, {"s": "a"}, {"scaling": 7}, {"l2": -1}]
)
def test_the_search_of_a_linear_run(change, fitted, tmp_path):
    header = {"linear": {**fitted["linear"][0]["linear"], **change}}
    refusal(load_run, tampered(tmp_path / "run.safetensors", fitted, "linear", header))


def test_the_graph_that_a_run_names(fitted, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_npz(GRAPH, "g.npz")
    for source in ({"graph": 7}, {"graph": ["g.npz"]}, {"graph": "g.npz", "evil": 1}):
        tampered(tmp_path / "run.safetensors", fitted, "linear", {"source": source})
        for words in (("explain", "run.safetensors", "1"), ("explore", "run.safetensors")):
            out = ("--out", "p.html") if words[0] == "explore" else ()
            result = invoke(*words, *out)
            assert result.exit_code == 2, result.output
            assert "--debug" not in result.stderr


def test_depth_and_length(fitted, tmp_path):
    path = tmp_path / "run.safetensors"
    old, held = fitted["linear"]
    save_file(held, path, {"graphheat": "[" * 100_000})
    refusal(load_run, path)
    save_file(held, path, {"graphheat": json.dumps({**old, "name": None})})
    refusal(load_run, path)
    path.write_bytes((2**60).to_bytes(8, "little") + b"{}")
    refusal(load_run, path)


# ---------------------------------------------------------------------- stores


@pytest.fixture
def store(tmp_path):
    made = Store(tmp_path / "runs.sqlite")
    made.take(read_runs(RUNS).head(3))
    return made.path


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("metrics", "{"), ("metrics", "[]"), ("metrics", "[" * 100_000), ("settings", "x"),
        ("versions", "7"), ("test_accuracy", "slow"), ("test_accuracy", b"\0"),
        ("test_accuracy", 9e999), ("test_accuracy", 1.5), ("seconds", -1.0), ("seed", "one"),
    ],
)  # fmt: skip
def test_cells_of_a_store(column, value, store):
    with closing(sqlite3.connect(store)) as base, base:
        base.execute(f"UPDATE runs SET {column} = ? WHERE rowid = 1", (value,))
    refusal(read_runs, store)


def test_a_reading_command_leaves_other_databases_alone(tmp_path):
    path = tmp_path / "other.sqlite"
    with closing(sqlite3.connect(path)) as base, base:
        base.execute("CREATE TABLE mine (x)")
    before = path.read_bytes()
    result = invoke("paper", "table2", "--results", path)
    assert result.exit_code == 2
    assert "is a database of another program" in result.stderr
    assert "is a database of another program" in refusal(Store, path)
    assert path.read_bytes() == before


def test_a_store_can_be_read_where_nothing_may_be_written(store, tmp_path):
    before = store.read_bytes()
    store.chmod(0o444)
    assert len(read_runs(store)) == 3
    assert store.read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["runs.sqlite"]


@pytest.mark.parametrize("column", ["seconds", "test_accuracy", "settings"])
def test_exports_that_lack_a_column(column, store, tmp_path):
    write_runs(read_runs(store), tmp_path / "runs.csv")
    text = (tmp_path / "runs.csv").read_text()
    (tmp_path / "runs.csv").write_text(text.replace(column, "other", 1))
    refusal(read_runs, tmp_path / "runs.csv")
