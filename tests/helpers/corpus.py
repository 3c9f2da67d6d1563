"""One small file of every format that is read, in every place, and how to read it."""

import gzip
import importlib.util
import json
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from safetensors.numpy import load_file, save_file

import graphheat
from graphheat.datasets import block_model, fetch_dgl, fetch_ogb, fetch_pyg
from graphheat.graph import Graph
from graphheat.io import read_graph, write_csv, write_npz
from graphheat.labeling.answers import Answers
from graphheat.labeling.journal import Entry, Journal
from graphheat.paper.store import Store, read_runs, write_runs
from graphheat.runs import load_run
from helpers.reader_cases import CASES, NEEDS, database, json_lines

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
FITTED = block_model(40, 2, features=6, labels_per_class=4, seed=0)
RECIPES = ("spreading", "linear", "paper", "lp", "auto")


@dataclass(frozen=True)
class Place:
    """A file to damage, and what reads it.

    Attributes
    ----------
    parts
        Returns the arrays of the file, and takes changed ones, where it is made of arrays.
    """

    path: Path
    read: Callable[[], object]
    parts: tuple[Callable[..., object], Callable[..., object]] | None = None


def places(folder):
    """Write the corpus and return its places."""
    write_csv(GRAPH, folder / "edges.csv")
    found = []
    for suffix, case in CASES.items():
        if suffix not in NEEDS or importlib.util.find_spec(NEEDS[suffix]):
            (folder / suffix).mkdir()
            path = folder / suffix / f"graph{suffix}"
            found.append(_graph(path, path, case.write(GRAPH, path)))
    for suffix, save in SAVERS.items():
        if suffix not in NEEDS or importlib.util.find_spec(NEEDS[suffix]):
            path = folder / f"nodes{suffix}"
            save(NODES, path)
            found.append(_graph(path, folder / "edges.csv", {"nodes": path}))
    NODES.to_csv(folder / "table.csv", index=False)
    np.save(folder / "x.npy", np.eye(4))
    sp.save_npz(folder / "x.npz", sp.csr_array(np.eye(4)))
    for name in ("x.npy", "x.npz"):
        options = {"nodes": folder / "table.csv", "features": folder / name}
        found.append(_graph(folder / name, folder / "edges.csv", options))
    found += _archives(folder)
    found += _runs(folder) + _stores(folder) + _journals(folder)
    return found + _disk_graphs(folder) + _copies(folder)


def _graph(path, graph, options):
    parts = (_arrays, _save_arrays) if path.suffix == ".npz" else None
    return Place(path, lambda: _used(read_graph(graph, **options)), parts)


def _used(graph):
    """Do with a graph what any command does."""
    graph.describe()
    graphheat.HeatKernel(graph, 1.0).apply(np.ones(graph.n))
    return graph if graph.features is None else graph.features.sum()


def _archives(folder):
    """Return archives of other layouts, and every sparse format."""
    sparse = Graph.from_scipy(GRAPH.adjacency, sp.csr_array(np.eye(4)), GRAPH.labels.tolist())
    write_npz(sparse, folder / "sparse.npz")
    matrix = sp.csr_array(np.eye(4))
    x = {"x_data": matrix.data, "x_indices": matrix.indices, "x_indptr": matrix.indptr}
    pairs = np.array([[0, 1, 2], [1, 2, 3]])
    np.savez(folder / "pairs.npz", edge_index=pairs, y=[0, 1, 0, 1], x_shape=(4, 4), **x)
    names = ["sparse.npz", "pairs.npz"]
    for kind in ("csr", "csc", "coo", "bsr", "dia"):
        sp.save_npz(folder / f"{kind}.npz", GRAPH.adjacency.asformat(kind))
        names.append(f"{kind}.npz")
    return [_graph(folder / name, folder / name, {}) for name in names]


def _runs(folder):
    found = []
    for recipe in RECIPES:
        if recipe in ("paper", "auto") and not importlib.util.find_spec("torch"):
            continue
        path = folder / f"{recipe}.safetensors"
        brief = {} if recipe in ("spreading", "linear", "lp") else {"max_epochs": 2}
        graphheat.fit(FITTED, recipe, checkpoint=path, **brief)
        found.append(Place(path, partial(_labels, path), (_tensors, _save_tensors)))
    return found


def _labels(path):
    run = load_run(path)
    run.predictions_frame()
    run.calibration_report()
    return run


def _stores(folder):
    store = Store(folder / "runs.sqlite")
    runs = read_runs(Path(__file__).parents[2] / "docs" / "results" / "runs.csv").head(5)
    store.take(runs)
    write_runs(store.runs(), folder / "runs.csv")
    paths = folder / "runs.sqlite", folder / "runs.csv"
    return [Place(path, partial(read_runs, path)) for path in paths]


def _journals(folder):
    path = folder / "labels.sqlite"
    with _journal(path) as journal:
        journal.add(Entry("a", "class", text="tea"), who="ann")
        journal.add(Entry("b", "label", node=1, code=0), who="ann")
        journal.add(Entry("c", "rename", code=0, text="milk"), who="bob")
        journal.note(2, 1, 0.5, 0.2, 0.8)
    return [Place(path, partial(_answers, path))]


def _journal(path):
    return Journal(path, FITTED.fingerprint, FITTED.n, FITTED.name, resume=True)


def _answers(path):
    """Do with a journal what labelling does; what SQLite keeps beside it goes with it."""
    try:
        with _journal(path) as journal:
            answers = Answers(FITTED, ())
            answers.replay(journal.entries())
            journal.estimates()
            return answers.labelled()
    finally:
        for left in path.parent.glob(f"{path.name}-*"):
            left.unlink()


def _copies(folder):
    """Return data sets in the layouts of other libraries, each file to be damaged by itself."""
    found = []
    if importlib.util.find_spec("torch"):
        import torch

        pairs = torch.tensor([[0, 1, 2], [1, 2, 3]])
        parts = {"edge_index": pairs, "x": torch.eye(4), "y": torch.tensor([0, 1, 0, 1])}
        torch.save((parts, {"x": torch.tensor([0, 4])}), folder / "data.pt")
        found.append(Place(folder / "data.pt", lambda: _used(fetch_pyg(folder / "data.pt"))))
    raw, split = folder / "ogb" / "raw", folder / "ogb" / "split" / "time"
    texts = {
        raw / "num-node-list": "5", raw / "edge": "0,1\n1,2\n2,3\n3,4",
        raw / "node-feat": "1.5,2\n0,1\n3,4\n5,6\n7,8", raw / "node-label": "0\n1\n\n1\n0",
        split / "train": "0\n1", split / "valid": "3", split / "test": "4",
    }  # fmt: skip
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.with_name(f"{path.name}.csv.gz")
        file.write_bytes(gzip.compress(f"{text}\n".encode()))
        found.append(Place(file, lambda: _used(fetch_ogb(folder / "ogb"))))
    if importlib.util.find_spec("yaml"):
        texts = {
            "meta.yaml": "node_data:\n- file_name: nodes.csv\nedge_data:\n- file_name: edges.csv\n",
            "nodes.csv": 'node_id,label,train_mask,feat\n0,a,1,"1,2"\n1,b,1,"3,4"\n7,,0,"5,6"\n',
            "edges.csv": "src_id,dst_id\n0,1\n1,7\n",
        }
        (folder / "dgl").mkdir()
        for name, text in texts.items():
            (folder / "dgl" / name).write_text(text)
            found.append(Place(folder / "dgl" / name, lambda: _used(fetch_dgl(folder / "dgl"))))
    (folder / "reddit").mkdir()
    archives = {
        "graph": {"row": [0, 1, 2], "col": [1, 2, 3], "shape": [4, 4]},
        "data": {"feature": np.eye(4), "label": [0, 1, 0, 1], "node_types": [1, 1, 2, 3]},
    }
    for name, arrays in archives.items():
        path = folder / "reddit" / f"reddit_{name}.npz"
        np.savez(path, **arrays)
        read = lambda: _used(fetch_dgl(folder / "reddit"))  # noqa: E731
        found.append(Place(path, read, (_arrays, _save_arrays)))
    return found


def _disk_graphs(folder):
    """Return the files of a graph on disk, each to be damaged by itself.

    Whoever damages an array can also write the header that goes with it, so sizes are restated.
    """
    if not importlib.util.find_spec("duckdb"):
        return []
    from graphheat.disk import ingest

    write_csv(FITTED, folder / "disk-edges.csv", folder / "disk-nodes.csv")
    files = folder / "disk-edges.csv", folder / "disk.graph"
    graph = ingest(*files, nodes=folder / "disk-nodes.csv", order="near", threads=1)
    read = partial(_used_disk, graph.path)
    one, save = partial(_one_array, graph.path), partial(_save_array, graph.path)
    run = folder / "disk.safetensors"
    graphheat.fit(graph, "linear", threads=1, checkpoint=run)
    written = partial(_written, run, folder / "disk-labels.csv")
    return [
        Place(graph.path / "graph.json", read),
        *(Place(path, read, (one, save)) for path in sorted(graph.path.glob("*.npy"))),
        Place(run, written, (_tensors, _save_tensors)),
        Place(folder / "probabilities.npy", written, (one, save)),
    ]


def _written(path, out):
    """Write the labels of a run on a graph on disk."""
    run: Any = load_run(path)
    run.write_predictions(out)


def _used_disk(path):
    """Do with a graph on disk what any command does."""
    header = path / "graph.json"
    kept = header.read_bytes()
    try:
        facts = json.loads(kept)["arrays"]
        for name, each in facts.items():
            each["bytes"] = (path / f"{name}.npy").stat().st_size
        header.write_text(json.dumps({**json.loads(kept), "arrays": facts}))
    except (ValueError, OSError, TypeError, KeyError, AttributeError):
        pass  # the header is what was damaged
    try:
        graph = graphheat.disk.DiskGraph.open(path)
        graph.describe()
        graphheat.HeatKernel(graph, 1.0, engine="panel").apply(np.ones(graph.n))
        graph.subgraph(range(min(graph.n, 5)))
        return graph.index_of(graph.nodes[0])
    finally:
        header.write_bytes(kept)


def _one_array(folder, path):
    return {path.stem: np.load(path)}


def _save_array(folder, path, arrays):
    np.save(path, arrays.get(path.stem, np.empty(0)))


def _arrays(path):
    with closing(np.load(path)) as archive:
        return {name: archive[name] for name in archive.files}


def _save_arrays(path, arrays):
    np.savez(path, **arrays)


def _tensors(path):
    arrays = load_file(path)
    data = path.read_bytes()
    words = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])["__metadata__"]
    return {**arrays, "words": np.frombuffer(words["graphheat"].encode(), dtype=np.uint8)}


def _save_tensors(path, arrays):
    words = arrays.pop("words", np.empty(0, np.uint8)).tobytes().decode(errors="replace")
    save_file({name: np.ascontiguousarray(each) for name, each in arrays.items()}, path,
              {"graphheat": words})  # fmt: skip
