"""DiskGraph: a graph whose edges and features stay on disk."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any, cast

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graphheat.checks import check_indices
from graphheat.disk.array_folder import ArrayFolder
from graphheat.disk.disk_features import DiskFeatures
from graphheat.disk.folder_schema import check_entries, check_rows
from graphheat.disk.node_ids import NodeIds
from graphheat.errors import GraphError
from graphheat.graph import Graph, Split
from graphheat.graph.summary import Summary


class DiskGraph:
    r"""An undirected graph on disk, with what is known of its nodes.

    What grows with edges or features is memory-mapped; what grows with nodes is in memory once it
    is asked for. Row numbers (``index``) are those of the node table. Inside, nodes have *places*,
    an order in which neighbours are near: ``indptr``, ``indices``, ``weights`` and ``components``
    are by place, ``rank`` holds the place of each row and ``order`` the row at each place (both
    None where they are the same).

    Attributes
    ----------
    path, name
        The folder, and what to call the graph in messages.
    n, nnz
        Number of nodes, and of stored entries: two for an edge, one for a self-loop.
    indptr, indices, weights
        The adjacency by place: row ends, shape (n + 1,), columns, and weights or None (all 1).
    labels
        Class codes by row, shape (n,), int32; −1 = unlabelled.
    classes
        The class names that the codes index.
    nodes
        The user's ids by row: :class:`~graphheat.disk.node_ids.NodeIds`.
    features
        :class:`~graphheat.disk.disk_features.DiskFeatures` or None.
    feature_names
        One per column, or None where there are too many to hold.

    Examples
    --------
    >>> import tempfile, pathlib, graphheat
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "e.csv").write_text("source,target,weight\nann,bob,2\nbob,cat,1\n")
    >>> graph = graphheat.disk.ingest(folder / "e.csv", folder / "e.graph")
    >>> graph.index_of("cat"), graph.describe().components
    (2, 1)
    >>> graph.subgraph([0, 1]).adjacency.toarray().tolist()
    [[0.0, 2.0], [2.0, 0.0]]
    """

    def __init__(self, folder: ArrayFolder) -> None:
        self._folder, header = folder, folder.header
        self.path = folder.path
        self.name = str(header["name"])
        self.n, self.nnz = int(header["nodes"]), int(header["entries"])
        self.longest_row = int(header["longest_row"])
        self.classes: tuple[Any, ...] = tuple(header["classes"])
        self.notes: tuple[str, ...] = tuple(header["notes"])
        self.titles: tuple[str, ...] | None = None
        self.indptr = folder.array("indptr")
        self.labels = folder.array("labels")
        self.rank = folder.array("rank") if "rank" in folder else None
        self.order = folder.array("order") if "order" in folder else None
        count = int(header["features"])
        self.features = DiskFeatures(folder, count) if count else None
        names = tuple(header["feature_names"])
        self.feature_names = names if len(names) == count and count else None
        self.nodes = NodeIds.of_folder(folder, self.name)

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> DiskGraph:
        """Open a folder that ``ingest`` made; its arrays are checked, checksums by :meth:`verify`.

        Arrays that grow with edges are checked when they are first asked for, once per process.
        """
        return cls(ArrayFolder.open(path))

    def __repr__(self) -> str:
        labelled = sum(self._folder.header["label_counts"])
        return (
            f"DiskGraph(nodes={self.n}, edges={self._folder.header['edges']}, "
            f"features={0 if self.features is None else self.features.shape[1]}, "
            f"classes={len(self.classes)}, labelled={labelled})"
        )

    def verify(self) -> None:
        """Read every file and compare it with its checksum; raise where one differs."""
        self._folder.verify()

    # ------------------------------------------------------------------ questions

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of the header, which holds a checksum of every array: the graph's identity."""
        header = {key: self._folder.header[key] for key in ("arrays", "classes", "nodes")}
        return hashlib.sha256(json.dumps(header, sort_keys=True).encode()).hexdigest()

    def describe(self) -> Summary:
        """Return the counts that ingestion made; nothing is read."""
        header = self._folder.header
        counts = dict(zip(self.classes, header["label_counts"], strict=True))
        return Summary(
            nodes=self.n,
            edges=int(header["edges"]),
            self_loops=int(header["self_loops"]),
            weighted="weights" in self._folder,
            components=int(header["components"]),
            largest_component=int(header["largest_component"]),
            isolated=int(header["isolated"]),
            features=0 if self.features is None else self.features.shape[1],
            labelled=sum(counts.values()),
            label_counts=counts,
            homophily=None,
            split={name: len(rows) for name, rows in self.split.items()},
        )

    def bytes_on_disk(self) -> int:
        """Return what the folder takes."""
        return sum(int(each["bytes"]) for each in self._folder.header["arrays"].values())

    @cached_property
    def split(self) -> Split:
        """Who trains, validates, calibrates and is tested."""
        return Split.from_codes(np.asarray(self._folder.array("split")))

    @property
    def training_nodes(self) -> NDArray[np.int64]:
        """Rows to learn from; see :attr:`graphheat.Graph.training_nodes`."""
        return self.split.training_nodes(cast(Any, np.asarray(self.labels)))

    def completed_split(
        self, seed: int, *, calibration: float = 0.0, hold_out: bool = True
    ) -> Split:
        """Return the split with all four parts; see :meth:`graphheat.graph.Split.completed`."""
        return self.split.completed(
            cast(Any, np.asarray(self.labels)), self.classes, seed,
            calibration=calibration, hold_out=hold_out,
        )  # fmt: skip

    def index_of(self, node: Any) -> int:
        """Return the row number of a node id; "12" finds the id 12."""
        return self.nodes.index_of(node)

    # ------------------------------------------------------------------ edges

    @cached_property
    def indices(self) -> NDArray[np.int32]:
        """The columns of each row's entries, in rising order, shape (nnz,)."""
        columns = self._folder.array("indices")
        check_rows(self.path / "indices.npy", columns, self.indptr, self.n, self.path)
        return columns

    @cached_property
    def weights(self) -> NDArray[np.float64] | None:
        """The weights of the entries, shape (nnz,), or None where all are 1."""
        if "weights" not in self._folder:
            return None
        weights = self._folder.array("weights")
        check_entries(self.path / "weights.npy", weights, positive=True, where=self.path)
        return weights

    @cached_property
    def degrees(self) -> NDArray[np.float64]:
        """Sums of weights by place, shape (n,)."""
        if self.weights is None:
            return np.diff(self.indptr).astype(np.float64)
        sums = np.empty(self.n)
        for first, last in self.row_strips():
            begin, end = int(self.indptr[first]), int(self.indptr[last])
            starts = np.asarray(self.indptr[first:last]) - begin
            part = np.append(np.asarray(self.weights[begin:end]), 0.0)
            sums[first:last] = np.add.reduceat(part, starts)
            sums[first:last][np.diff(self.indptr[first : last + 1]) == 0] = 0.0
        return sums

    @property
    def components(self) -> NDArray[np.int32]:
        """The component of each place, shape (n,)."""
        return self._folder.array("components")

    def row_strips(self, entries: int = 1 << 24) -> Iterator[tuple[int, int]]:
        """Yield (first, last) of ranges of places with about so many entries each."""
        first = 0
        while first < self.n:
            goal = int(self.indptr[first]) + entries
            last = int(np.searchsorted(self.indptr, goal, side="right")) - 1
            last = min(self.n, max(last, first + 1))
            yield first, last
            first = last

    def places_of(self, rows: Any) -> NDArray[np.int64]:
        """Return the places of rows, shape (k,)."""
        rows = np.asarray(rows, dtype=np.int64)
        return rows if self.rank is None else np.asarray(self.rank[rows], dtype=np.int64)

    def rows_at(self, places: Any) -> NDArray[np.int64]:
        """Return the rows at places, shape (k,)."""
        places = np.asarray(places, dtype=np.int64)
        return places if self.order is None else np.asarray(self.order[places], dtype=np.int64)

    def neighbors_of(self, place: int) -> NDArray[np.int32]:
        """Return the neighbours of a place, as places."""
        return np.asarray(self.indices[int(self.indptr[place]) : int(self.indptr[place + 1])])

    @property
    def adjacency(self) -> sp.csr_array:
        """Raise: all edges at once are what a disk graph is not for."""
        raise GraphError(
            f"{self.name} is on disk, and its adjacency would take {self._in_memory() / 1e9:.1f} "
            "GB of memory. Use HeatKernel(graph, s).apply and rows, fit, or graph.to_memory()."
        )

    def _in_memory(self) -> int:
        dense = 0 if self.features is None or self.features.sparse else 4 * self.features.shape[1]
        return 12 * self.nnz + self.n * (16 + dense + 60)

    def subgraph(self, rows: Any) -> Graph:
        """Return the part of the graph on ``rows``, in memory, in their order; edges among them."""
        chosen = check_indices(rows, self.n, "DiskGraph.subgraph")
        if len(np.unique(chosen)) != len(chosen):
            raise GraphError("DiskGraph.subgraph takes each row once.")
        places = self.places_of(chosen)
        by_place = np.argsort(places)
        ordered = places[by_place]
        u, v, w = [], [], []
        for k, place in enumerate(ordered.tolist()):
            begin, end = int(self.indptr[place]), int(self.indptr[place + 1])
            columns = np.asarray(self.indices[begin:end])
            at = np.minimum(np.searchsorted(ordered, columns), len(ordered) - 1)
            inside = ordered[at] == columns
            u.append(np.full(int(inside.sum()), by_place[k]))
            v.append(by_place[at[inside]])
            held = None if self.weights is None else np.asarray(self.weights[begin:end])[inside]
            w.append(np.ones(int(inside.sum())) if held is None else held)
        pairs = np.concatenate(u), np.concatenate(v)
        matrix = sp.coo_array((np.concatenate(w), pairs), shape=(len(chosen), len(chosen)))
        return self._graph(matrix, chosen)

    def _graph(self, matrix: Any, rows: NDArray[np.int64]) -> Graph:
        codes = np.asarray(self._folder.array("split"))[rows]
        split = Split.from_codes(codes)
        return Graph.from_scipy(
            matrix,
            None if self.features is None else self.features[rows],
            np.asarray(self.labels[rows], dtype=np.int64),
            classes=self.classes,
            nodes=np.array([self.nodes[int(row)] for row in rows], dtype=object),
            split=dict(split),
            name=self.name,
            feature_names=self.feature_names,
        )

    def to_memory(self, *, room: int | None = None) -> Graph:
        """Return the whole graph as a :class:`~graphheat.Graph`.

        Parameters
        ----------
        room
            Bytes that it may take; more is refused. None: no limit.
        """
        if room is not None and self._in_memory() > room:
            raise GraphError(
                f"{self.name} would take {self._in_memory() / 1e9:.1f} GB of memory where "
                f"{room / 1e9:.1f} GB are free. Leave it on disk."
            )
        data = np.ones(self.nnz) if self.weights is None else np.asarray(self.weights)
        parts = data, np.asarray(self.indices), np.asarray(self.indptr)
        matrix = sp.csr_array(parts, shape=(self.n, self.n))
        if self.rank is not None:
            rank = np.asarray(self.rank)
            matrix = sp.csr_array(matrix[rank][:, rank])
        return self._graph(matrix, np.arange(self.n))

    def __getstate__(self) -> dict[str, Any]:
        return {"path": Path(self.path).resolve()}  # what is mapped is opened again

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(ArrayFolder.open(state["path"]))  # type: ignore[misc]
