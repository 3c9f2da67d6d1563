"""One line per format: how a graph gets into its files. The contract suite does the rest."""

import csv
import json
import pickle
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from graphheat.graph import Graph
from graphheat.io import write_csv, write_mtx, write_npz

# Before its third version pandas rounds floats unless asked not to; since then it warns if asked.
OLD_PANDAS = int(pd.__version__.split(".")[0]) < 3
EXACTLY: dict[str, Any] = {"float_precision": "round_trip"} if OLD_PANDAS else {}


@dataclass(frozen=True)
class ReaderCase:
    """A format as the contract suite needs it.

    Attributes
    ----------
    write
        Writes a graph to a path; returns the options that read it back.
    holds
        What its files keep beyond edges, weights, ids, dense features, labels, titles and a split
        into the four usual parts: ``"sparse"`` features, any ``"split"``, the ``"name"``;
        ``"no_words"``: it cannot hold every string (Excel knows no control characters).
    pickled
        Writes a pickled object as this format would hold one.
    """

    write: Callable[[Graph, Path], dict[str, object]]
    holds: frozenset[str] = frozenset()
    pickled: Callable[[object, Path], object] = lambda bomb, path: path.write_bytes(
        pickle.dumps(bomb)
    )


def edge_list(delimiter):
    def write(graph, path):
        nodes = path.with_name("nodes.csv")
        write_csv(graph, path, nodes)
        with path.open(newline="", encoding="utf-8") as stream:
            rows = list(csv.reader(stream))
        with path.open("w", newline="", encoding="utf-8") as stream:
            csv.writer(stream, delimiter=delimiter).writerows(rows)
        return {"nodes": nodes}

    return write


def packed(graph, path):
    nodes = path.with_name("nodes.csv.gz")
    write_csv(graph, path, nodes)
    return {"nodes": nodes}


def typed(save):
    """Write edges and nodes as tables with types; a float that is missing stays missing."""

    def write(graph, path):
        edges, nodes = path.with_name("plain.csv"), path.with_name("nodes.csv")
        write_csv(graph, edges, nodes)
        strings = graph.nodes.dtype.kind == "O"
        ends = dict.fromkeys(["source", "target"], str) if strings else {}
        frame = pd.read_csv(
            edges, dtype=ends, keep_default_na=False, na_values={"weight": [""]},
            **EXACTLY,
        )  # fmt: skip
        edges.unlink()
        save(frame, path)
        return {"nodes": nodes}

    return write


def database(frame, path):
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as base:
        frame.to_sql("friends", base, index=False)


def json_lines(frame, path):
    rows = [json.dumps(row) for row in frame.to_dict("records")]
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")


def matrix(graph, path):
    nodes = path.with_name("nodes.csv")
    write_mtx(graph, path)
    edges = path.with_name("unused.csv")
    write_csv(graph, edges, nodes)
    edges.unlink()
    # Ids 0 … n−1 say which row of the matrix is whose, so the rows go in that order.
    numbers = graph.nodes.tolist()
    if graph.nodes.dtype.kind == "i" and sorted(numbers) == list(range(graph.n)):
        order = np.argsort(graph.nodes)
        write_mtx(Graph.from_scipy(graph.adjacency[order][:, order]), path)
    return {"nodes": nodes}


def archive(graph, path):
    write_npz(graph, path)
    return {}


NEEDS = {".parquet": "pyarrow", ".xlsx": "openpyxl", ".csv.zst": "zstandard"}

# Of formats that differ in the name alone, one: .ndjson is .jsonl, .txt.gz goes as .csv.gz does.
CASES = {
    ".csv": ReaderCase(edge_list(",")),
    ".tsv": ReaderCase(edge_list("\t")),
    ".txt": ReaderCase(edge_list(",")),
    ".edges": ReaderCase(edge_list(";")),
    ".csv.gz": ReaderCase(packed),
    ".csv.zst": ReaderCase(packed),
    ".parquet": ReaderCase(typed(lambda frame, path: frame.to_parquet(path, index=False))),
    ".xlsx": ReaderCase(
        typed(lambda frame, path: frame.to_excel(path, index=False)), frozenset({"no_words"})
    ),
    ".jsonl": ReaderCase(typed(json_lines)),
    ".sqlite": ReaderCase(typed(database)),
    ".npz": ReaderCase(
        archive,
        frozenset({"sparse", "split", "name"}),
        lambda bomb, path: np.savez(path, edge_index=np.array([bomb, bomb], dtype=object)),
    ),
    ".mtx": ReaderCase(matrix),
}
