"""Damaged files of every format, as edges, node table and features: a graph or one of our errors.

``python tests/io/test_io_fuzz.py 3000`` tries that many.
"""

import importlib.util
import signal
import sys
import tempfile
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np
import pandas as pd
import scipy.sparse as sp
from helpers.mutations import mutated
from helpers.reader_cases import CASES, NEEDS, database, json_lines
from helpers.sentences import checked

from graphheat.errors import GraphHeatError
from graphheat.graph import Graph
from graphheat.io import read_graph, write_csv

GRAPH = Graph.from_edges(
    ["ann", "bob", "cat", "ann"],
    ["bob", "cat", "dan", "cat"],
    [0.5, 2.0, 1.0, 3.0],
    labels=["x", None, "y", "x"],
    features=np.array([[1.5, 0], [0, 1], [-2, 0], [0, 0]]),
    titles=["A", "B b", "C, c", "Ж"],
    split={"train": [0, 2], "test": [3]},
)
NODES = pd.DataFrame(
    {
        "id": ["ann", "bob", "cat", "dan"],
        "label": ["x", None, "y", "x"],
        "price": ["1.234,50", "7", None, "12,5"],
        "born": ["2001-02-03", "1999-12-31", "2020-01-01", None],
        "member": ["yes", "no", "no", "yes"],
        "colour": ["red", "blue", "red", "green"],
        "about": ["heat on a graph of nodes"] * 4,
    }
)
SAVERS = {
    ".csv": lambda frame, path: frame.to_csv(path),
    ".tsv": lambda frame, path: frame.to_csv(path, sep="\t", encoding="utf-16"),
    ".txt.gz": lambda frame, path: frame.to_csv(path, index=False),
    ".csv.zst": lambda frame, path: frame.to_csv(path, index=False),
    ".parquet": lambda frame, path: frame.to_parquet(path),
    ".xlsx": lambda frame, path: frame.to_excel(path, index=False),
    ".ndjson": json_lines,
    ".db": database,
}
SECONDS = 10


def originals(folder):
    """Return (the file to damage, how to read a graph with it) for every format and place."""
    write_csv(GRAPH, folder / "edges.csv")
    found = []
    for suffix, case in CASES.items():
        if suffix not in NEEDS or importlib.util.find_spec(NEEDS[suffix]):
            (folder / suffix).mkdir()
            path = folder / suffix / f"graph{suffix}"
            options = case.write(GRAPH, path)
            found.append((path, path, options))
    for suffix, save in SAVERS.items():
        if suffix not in NEEDS or importlib.util.find_spec(NEEDS[suffix]):
            path = folder / f"nodes{suffix}"
            save(NODES, path)
            found.append((path, folder / "edges.csv", {"nodes": path}))
    NODES.to_csv(folder / "table.csv", index=False)
    np.save(folder / "x.npy", np.eye(4))
    sp.save_npz(folder / "x.npz", sp.csr_array(np.eye(4)))
    for name in ("x.npy", "x.npz"):
        options = {"nodes": folder / "table.csv", "features": folder / name}
        found.append((folder / name, folder / "edges.csv", options))
    return found


def fuzz(folder, count, seed, report):
    """Damage files in turn and read them; ``report`` gets whatever is wrong."""
    rng = np.random.default_rng(seed)
    places = originals(folder)
    whole = {path: path.read_bytes() for path, _, _ in places}
    for path, graph, options in places:  # all can be read as they are
        assert read_graph(graph, **options).n == 4, path
    outcomes = {"graph": 0, "refused": 0}
    for turn in range(count):
        path, graph, options = places[turn % len(places)]
        path.write_bytes(mutated(whole[path], rng))
        signal.setitimer(signal.ITIMER_REAL, SECONDS)
        try:
            assert isinstance(read_graph(graph, **options), Graph)
            outcomes["graph"] += 1
        except GraphHeatError as error:
            checked(error)
            outcomes["refused"] += 1
        except Exception as error:
            report(turn, path, error)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            path.write_bytes(whole[path])
    return outcomes


def too_slow(*_):
    raise TimeoutError(f"more than {SECONDS} s")


def test_damaged_files_are_graphs_or_are_refused(tmp_path):
    wrong = []
    before = signal.signal(signal.SIGALRM, too_slow)
    try:
        outcomes = fuzz(tmp_path, 150, 0, lambda turn, path, error: wrong.append((path, error)))
    finally:
        signal.signal(signal.SIGALRM, before)
    assert not wrong
    assert min(outcomes.values()) > 5


def main():
    signal.signal(signal.SIGALRM, too_slow)
    wrong = []

    def report(turn, path, error):
        wrong.append(turn)
        print(f"{turn} {path.name}: {type(error).__name__}: {str(error)[:200]}", flush=True)

    with tempfile.TemporaryDirectory() as folder:
        outcomes = fuzz(Path(folder), int(sys.argv[1]), 1, report)
    print({**outcomes, "wrong": len(wrong)})


if __name__ == "__main__":
    main()
