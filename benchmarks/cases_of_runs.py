"""Runs and stores that were tampered with."""

import functools
import json
import shutil
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

import numpy as np
from cases_of_files import GRAPH
from hostile_cases import Case
from safetensors.numpy import save_file

from graphheat.cli import main as graphheat
from graphheat.datasets import block_model
from graphheat.io import write_npz
from graphheat.paper.store import Store, read_runs, write_runs
from graphheat.runs import checkpoint

FILE = "run/checkpoint.safetensors"
RUNS = Path(__file__).parents[1] / "docs" / "results" / "runs.csv"
N = GRAPH.n
FIT = {
    "paper": ("fit", "g.npz", "--recipe", "paper", "--epochs", "3", "--out", "run"),
    "linear": ("fit", "g.npz", "--recipe", "linear", "--out", "run"),
}
COMMANDS = {
    "predict": ("predict", "run", "--out", "p.csv"),
    "explain": ("explain", "run", "1"),
    "explore": ("explore", "run", "--out", "p.html"),
    "other": ("predict", "run", "--graph", "other.npz", "--out", "p.csv"),
}
ALL = ("predict", "explain", "explore", "resume")


def cases():
    """Yield all cases of runs and stores."""
    yield from runs()
    yield from stores()


@functools.cache
def fitted(recipe):
    """Return a folder with a graph, another one, and a run."""
    folder = Path(tempfile.mkdtemp())
    write_npz(GRAPH, folder / "g.npz")
    write_npz(block_model(50, 3, features=8, labels_per_class=4, seed=1), folder / "other.npz")
    words = [str(folder / word) if word in ("g.npz", "run") else word for word in FIT[recipe]]
    graphheat(words, standalone_mode=False)
    return folder


def tampered(recipe, change):
    """Return what puts a run there whose header and arrays ``change`` has changed in place."""

    def make():
        for name in ("g.npz", "other.npz"):
            shutil.copy(fitted(recipe) / name, name)
        shutil.copytree(fitted(recipe) / "run", "run")
        header, arrays = checkpoint.read(FILE)
        header["source"] = {**header["source"], "graph": "g.npz"}
        text = change(header, arrays)
        save_file(
            {name: np.ascontiguousarray(each) for name, each in arrays.items()},
            FILE,
            {"graphheat": text if isinstance(text, str) else json.dumps(header)},
        )

    return make


def entry(**changes):
    return lambda header, arrays: header.update(changes)


def array(name, value):
    return lambda header, arrays: arrays.update({name: np.asarray(value)})


def json_bytes(name, data):
    return array(name, np.frombuffer(data, dtype=np.uint8))


def setting(name, value):
    return lambda header, arrays: header["settings"].update({name: value})


def source(**changes):
    return lambda header, arrays: header["source"].update(changes)


def without(*starts):
    def change(header, arrays):
        for name in [name for name in arrays if name.startswith(starts)]:
            del arrays[name]

    return change


def runs():
    deep = b"[" * 100_000 + b"]" * 100_000
    history = "history/train_loss"
    yield of_run("paper", "header deep JSON closed", deep_header, ("predict",))
    for name, change, commands in (
        ("meta text deep", lambda header, arrays: deep.decode(), ALL),
        ("meta NaN seconds", entry(seconds=float("nan")), ("resume",)),
        ("classes number", entry(classes=3), ALL),
        ("classes nested", entry(classes=[[0], [1], [2]]), ("predict", "resume")),
        ("classes too few", entry(classes=[0]), ALL),
        ("classes too many", entry(classes=[0, 1, 2, 3]), ("predict", "resume")),
        ("notes number", entry(notes=7), ALL),
        ("notes objects", entry(notes=[{}]), ("resume",)),
        ("source number", entry(source=5), ALL),
        ("source graph number", source(graph=7), ("explain", "explore")),
        ("source graph list", source(graph=["g.npz"]), ("explain", "explore")),
        ("source unknown option", source(evil=1), ("explain", "explore")),
        ("settings number", entry(settings=5), ALL),
        ("settings list", entry(settings=[]), ALL),
        ("settings recipe list", setting("recipe", []), ("predict", "explain", "explore")),
        ("settings hidden huge", setting("hidden", 10**9), ("other",)),
        ("settings K", setting("K", 9), ("explain", "explore", "other")),
        ("probabilities NaN", array("probabilities", np.full((N, 3), np.nan)), ("explain",)),
        ("probabilities 1-D", array("probabilities", np.ones(N)), ("explain", "resume")),
        (
            "probabilities too few rows",
            array("probabilities", np.ones((5, 3)) / 3),
            ("explain", "resume"),
        ),
        ("probabilities too few columns", array("probabilities", np.ones((N, 1))), ("explain",)),
        ("probabilities empty", array("probabilities", np.ones((0, 3))), ("explain", "resume")),
        ("labels beyond classes", array("labels", np.full(N, 9)), ("explain",)),
        ("labels float", array("labels", np.zeros(N, np.float32)), ALL),
        ("labels short", array("labels", np.zeros(3, np.int64)), ALL),
        ("roles beyond", array("roles", np.full(N, 77, np.int8)), ALL),
        ("roles float", array("roles", np.zeros(N, np.float32)), ("predict", "resume")),
        ("nodes not JSON", json_bytes("nodes", b"{"), ALL),
        ("nodes deep JSON", json_bytes("nodes", deep), ALL),
        ("nodes number", json_bytes("nodes", b"7"), ALL),
        ("nodes object", json_bytes("nodes", b'{"a": 1}'), ("predict", "explain", "resume")),
        ("nodes short", json_bytes("nodes", b"[1]"), ALL),
        ("nodes invalid utf8", json_bytes("nodes", b"\xff\xfe"), ALL),
        ("nodes float tensor", array("nodes", np.ones(N, np.float32)), ALL),
        ("reached short", array("reached", np.zeros(3, bool)), ALL),
        ("history ragged", array(history, np.zeros(1)), ("resume",)),
        ("history 2-D", array(history, np.zeros((2, 2))), ("resume",)),
        (
            "weights wrong shape",
            array("best/first.weight", np.zeros((2, 8), np.float32)),
            ("explain", "explore"),
        ),
        ("weights missing", without("best/first.weight"), ("explain", "explore", "other")),
        ("weights all missing", without("best/"), ("explain", "explore", "other")),
        ("weights extra", array("best/third.weight", np.zeros(3, np.float32)), ("other",)),
    ):
        for command in commands:
            yield of_run("paper", name, tampered("paper", change), (command,))
    for command in ALL:
        yield of_run("paper", "probabilities bfloat16", half_floats, (command,))
    linear = lambda **changes: lambda header, arrays: header["linear"].update(changes)  # noqa: E731
    for name, change, commands in (
        ("chosen beyond", linear(chosen=10**9), ("resume",)),
        ("forms empty", linear(forms=[]), ("resume",)),
        ("weights wrong", array("weights", np.zeros((9, 3))), ("explain", "explore")),
        ("path ragged", array("path/s", np.zeros(2)), ("resume",)),
        ("weights NaN", array("weights", np.full((8, 3), np.nan)), ("explain",)),
    ):
        for command in commands:
            yield of_run("linear", f"linear {name}", tampered("linear", change), (command,))


def of_run(recipe, name, make, commands):
    command = commands[0]
    words = COMMANDS.get(command) or (*FIT[recipe], "--resume")
    return Case("d_ckpt", f"ckpt {recipe} {name}: {command}", words, make)


def deep_header():
    tampered("paper", lambda header, arrays: None)()
    text = b'{"__metadata__": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"
    Path(FILE).write_bytes(len(text).to_bytes(8, "little") + text)


def half_floats():
    import torch
    from safetensors.torch import save_file as save_tensors

    tampered("paper", lambda header, arrays: None)()
    header, arrays = checkpoint.read(FILE)
    tensors = {name: torch.from_numpy(np.array(each)) for name, each in arrays.items()}
    tensors["probabilities"] = tensors["probabilities"].to(torch.bfloat16)
    save_tensors(tensors, FILE, {"graphheat": json.dumps(header)})


# ---------------------------------------------------------------------- stores


def store(column=None, value=None):
    def make():
        Store("r.sqlite").take(read_runs(RUNS).head(3))
        if column is not None:
            with closing(sqlite3.connect("r.sqlite")) as base, base:
                base.execute(f"UPDATE runs SET {column} = ? WHERE rowid = 1", (value,))

    return make


def export(change):
    def make():
        write_runs(read_runs(RUNS).head(3), "r.csv")
        Path("r.csv").write_text(change(Path("r.csv").read_text()))

    return make


def strangers():
    with closing(sqlite3.connect("r.sqlite")) as base, base:
        base.execute("CREATE TABLE mine (x)")


def untouched(outcome):
    with closing(sqlite3.connect("r.sqlite")) as base:
        names = [row[0] for row in base.execute("SELECT name FROM sqlite_master")]
    return None if names == ["mine"] else f"changed: it has the tables {names}"


def stores():
    case = functools.partial(Case, "d2_store")
    table, from_csv = (("paper", "table2", "--results", f"r.{kind}") for kind in ("sqlite", "csv"))
    for name, column, value in (
        ("metrics not JSON", "metrics", "{"),
        ("settings not JSON", "settings", "{"),
        ("metrics a list", "metrics", "[]"),
        ("metrics deep", "metrics", "[" * 100_000),
        ("accuracy text", "test_accuracy", "slow"),
        ("accuracy blob", "test_accuracy", b"\0"),
        ("accuracy infinite", "test_accuracy", 9e999),
    ):
        yield case(f"store {name}", table, store(column, value))
    yield case("store another program's database", table, strangers, check=untouched)

    def cell(column, text):
        def change(whole):
            import io

            import pandas

            frame = pandas.read_csv(io.StringIO(whole), dtype=str)
            frame.loc[0, column] = text
            return frame.to_csv(index=False)

        return change

    yield case("store csv settings deep", from_csv, export(cell("settings", "[" * 100_000)))
    words = export(cell("test_accuracy", "slow"))
    yield case("store csv accuracy words", from_csv, words)
    for column in ("seconds", "test_accuracy"):
        change = lambda whole, column=column: whole.replace(column, "other", 1)  # noqa: E731
        yield case(f"store csv lacks {column}", from_csv, export(change))
    yield case(
        "store csv accuracy words: paper runs", ("paper", "runs", "--results", "r.csv"), words
    )
