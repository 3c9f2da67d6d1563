"""``ingest``: from edge lists of any size to a disk graph, within a limit of memory.

1. *Nodes*: one pass over the node table writes ids, labels, split and features. Without a table the
   ids are those of the edges.
2. *Edges*: DuckDB joins ids with row numbers; entries are dealt to files by ranges of rows.
3. *Rows*: each file is sorted and freed of repeats.
4. *Order*: components, and an order of the nodes in which neighbours are near.
5. *Index*: where each id stands.

Each is a stage that is not made twice (:mod:`graphheat.disk.stages`).
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from graphheat.checks import check_choice, check_count
from graphheat.disk import edge_stream, id_index, node_stream, row_files
from graphheat.disk.array_folder import HEADER, write_header
from graphheat.disk.disk_graph import DiskGraph
from graphheat.disk.duck_tables import DuckTables, memory_bytes, paths_of
from graphheat.disk.edge_buckets import DifferentWeightsError, EdgeBuckets
from graphheat.disk.sparse_features import read_sparse_features
from graphheat.disk.stages import InputFile, Stages, check_place
from graphheat.errors import FileFormatError, GraphError
from graphheat.graph.adjacency import Duplicates, SelfLoops
from graphheat.io.file_lock import locked
from graphheat.progress import Progress

FeatureType = Literal["float32", "float16"]
NodeOrder = Literal["auto", "near", "given"]

GROUP_BYTES = 2 << 30  # of edge files that are joined at once: a kill loses at most one group
SHARE = 0.5  # of the memory that DuckDB may use; the rest is for arrays
MOST_NODES = 2**31 - 1


def ingest(
    edges: Any,
    out: str | os.PathLike[str],
    *,
    nodes: Any = None,
    features: Any = None,
    memory: str | int = "4GB",
    source_column: str | None = None,
    target_column: str | None = None,
    weight_column: str | None = None,
    id: str | None = None,
    label: str | None = None,
    split: str | None = None,
    columns: Sequence[str] | None = None,
    header: bool | None = None,
    delimiter: str | None = None,
    duplicates: Duplicates = "error",
    self_loops: SelfLoops = "keep",
    dtype: FeatureType = "float32",
    order: NodeOrder = "auto",
    threads: int | None = None,
    name: str | None = None,
    restart: bool = False,
    progress: Progress | None = None,
) -> DiskGraph:
    r"""Turn edge lists, which may be larger than memory, into a graph on disk.

    Parameters
    ----------
    edges
        A file, a pattern such as ``"edges-*.parquet"``, or several files: CSV, TSV, each also
        gzipped, or Parquet. (a, b) and (b, a) are one edge; repeats of equal weight count once.
    out
        Folder to make. It appears when everything is in it.
    nodes
        Node table, likewise: ids, labels, split, and numbers (or lists of numbers) as features.
        None: the nodes of the edges.
    features
        Sparse features as a table of (node, feature) or (node, feature, value), one row per entry.
    memory
        What the ingestion may use, such as ``"4GB"``.
    source_column, target_column, weight_column, id, label, split, columns
        Names of columns; default: by their usual names.
    header, delimiter
        Of text files; default: DuckDB looks.
    duplicates
        What to do with an edge of different weights.
    self_loops
        ``"drop"`` leaves them out.
    dtype
        Of dense features on disk.
    order
        ``"near"``: nodes are kept in an order in which neighbours are near, which makes products
        faster; ``"given"``: as they come; ``"auto"``: near where all edges fit into ``memory``.
        Row numbers are those of the node table either way.
    threads
        Threads to use; default: all cores.
    name
        What to call the graph; default: the name of ``out``.
    restart
        Throw away what an interrupted ingestion left, instead of going on with it.
    progress
        Called along the way.

    Notes
    -----
    *Cost*: the files are read once (edges twice without a node table); disk for three times the
    entries, of which one third stays. *Deterministic*: the graph is the same for any ``memory`` and
    number of threads. A killed ingestion goes on when it is called again.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "edges.csv").write_text("source,target\nann,bob\nbob,cat\nbob,ann\n")
    >>> graph = ingest(folder / "edges.csv", folder / "small.graph")
    >>> graph
    DiskGraph(nodes=3, edges=2, features=0, classes=0, labelled=0)
    >>> graph.nodes[1]
    'bob'
    """
    check_choice(duplicates, "duplicates", "ingest", get_args(Duplicates))
    check_choice(self_loops, "self_loops", "ingest", get_args(SelfLoops))
    check_choice(dtype, "dtype", "ingest", get_args(FeatureType))
    check_choice(order, "order", "ingest", get_args(NodeOrder))
    out = Path(out)
    task = _Task(
        edges=paths_of(edges, "edges"),
        nodes=[] if nodes is None else paths_of(nodes, "nodes"),
        features=[] if features is None else paths_of(features, "features"),
        memory=memory_bytes(memory),
        threads=check_count(threads or os.cpu_count() or 1, "threads", "ingest"),
        edge_options={
            "source_column": source_column,
            "target_column": target_column,
            "weight_column": weight_column,
            "header": header,
            "delimiter": delimiter,
        },
        node_options={"id": id, "label": label, "split": split, "columns": columns},
        duplicates=duplicates,
        self_loops=self_loops,
        dtype=dtype,
        order=order,
        name=name or out.name.removesuffix(".graph"),
        progress=progress,
    )
    inputs = [InputFile.of(path) for path in (*task.edges, *task.nodes, *task.features)]
    check_place(out)
    with locked(out.with_name(f".{out.name}.lock"), out):
        stages = Stages(out, inputs, task.identity(), restart=restart)
        stages.check_room(int(1.5 * sum(each.size for each in inputs)))
        tables = DuckTables(stages.file("spill"), int(SHARE * task.memory), task.threads)
        try:
            _Ingestion(task, stages, tables).run()
        finally:
            tables.close()
    return DiskGraph.open(out)


@dataclass(frozen=True)
class _Task:
    """What is asked for."""

    edges: list[Path]
    nodes: list[Path]
    features: list[Path]
    memory: int
    threads: int
    edge_options: dict[str, Any]
    node_options: dict[str, Any]
    duplicates: Duplicates
    self_loops: SelfLoops
    dtype: FeatureType
    order: NodeOrder
    name: str
    progress: Progress | None = field(repr=False)

    def identity(self) -> dict[str, Any]:
        """Return what decides the result; memory and threads do not."""
        return {
            "edges": self.edge_options,
            "nodes": self.node_options,
            "how": [self.duplicates, self.self_loops, self.dtype, self.order, self.name],
        }


class _Ingestion:
    """The stages, one after the other."""

    def __init__(self, task: _Task, stages: Stages, tables: DuckTables) -> None:
        self.task, self.stages, self.tables = task, stages, tables
        self.folder = stages.folder

    def run(self) -> None:
        """Make whatever is not there yet, and give the folder its name."""
        self.edges = edge_stream.find_edges(self.tables, self.task.edges, **self.task.edge_options)
        self.found = self.stages.run("nodes", self._nodes)
        self.n = int(self.found["n"])
        self._deal_edges()
        rows = self.stages.run("rows", self._rows)
        shutil.rmtree(self.folder / "buckets")  # once their rows are noted, and not before
        placed = self.stages.run("order", lambda: self._order(rows))
        self.stages.run("index", self._index)
        sparse: dict[str, Any] = {}
        if self.task.features:
            sparse = self.stages.run("features", self._sparse)
        arrays = {file.stem: file for file in sorted(self.folder.glob("*.npy"))}
        with self.stages.writing():
            write_header(self.folder, self._facts(rows, placed, sparse), arrays)
            self.stages.finish([HEADER, *(file.name for file in arrays.values())])

    def _nodes(self) -> dict[str, Any]:
        ids = self.folder / "ids.parquet"
        if not self.task.nodes:
            found = edge_stream.ids_of_edges(self.tables, self.edges, ids)
        else:
            scan = self.tables.scan(self.task.nodes)
            columns = node_stream.find_columns(self.tables, scan, **self.task.node_options)
            found = node_stream.read_nodes(
                self.tables, scan, columns, self.folder,
                dtype=self.task.dtype, progress=self.task.progress,
            )  # fmt: skip
            twice = self.tables.execute(
                f"SELECT id FROM read_parquet('{ids}') GROUP BY id HAVING count(*) > 1 LIMIT 1"
            )
            if twice:
                raise GraphError(f"node ids must be distinct; {twice[0][0]!r} appears twice.")
        if found["n"] > MOST_NODES:
            raise GraphError(f"A disk graph has at most {MOST_NODES:,} nodes; got {found['n']:,}.")
        return found

    def _groups(self) -> list[list[Path]]:
        """Return the edge files in groups that are joined at once."""
        groups: list[list[Path]] = []
        size = GROUP_BYTES
        for file in self.task.edges:
            if size >= GROUP_BYTES:
                groups.append([])
                size = 0
            groups[-1].append(file)
            size += file.stat().st_size
        return groups

    def _deal_edges(self) -> None:
        weighted = self.edges.weight is not None
        self.buckets = EdgeBuckets(
            self.folder / "buckets",
            (0, self.n),
            weighted=weighted,
            most=max(1 << 24, self.task.memory // 16),
            duplicates=self.task.duplicates,
        )
        noted: list[int] | None = None
        groups = self._groups()
        total = sum(file.stat().st_size for file in self.task.edges)
        read = 0
        for number, files in enumerate(groups):

            def deal(files: Sequence[Path] = files, noted: list[int] | None = noted) -> Any:
                self.buckets.cut(noted or [0] * (len(self.buckets.bounds) - 1))
                for u, v, w in edge_stream.pairs(
                    self.tables, self.edges, files, self.folder / "ids.parquet",
                    numbers=self.found["numbers"],
                    ordered=weighted and self.task.duplicates in ("first", "sum"),
                ):  # fmt: skip
                    self._add(u, v, w)
                return {"lengths": self.buckets.lengths()}

            noted = self.stages.run(f"edges {number}", deal)["lengths"]
            read += sum(file.stat().st_size for file in files)
            if self.task.progress is not None:
                self.task.progress(read, total, "bytes of edges")

    def _add(
        self, u: NDArray[np.int64], v: NDArray[np.int64], w: NDArray[np.float64] | None
    ) -> None:
        """Take note of edges in both directions."""
        loops = u == v
        if w is not None:
            kept = w > 0  # an edge of weight 0 is none
            u, v, w, loops = u[kept], v[kept], w[kept], loops[kept]
        if self.task.self_loops == "drop" and loops.any():
            u, v = u[~loops], v[~loops]
            w = None if w is None else w[~loops]
            loops = u == v
        # Both directions of an edge side by side, so that both rows meet repeats in one order.
        kept = np.ones((len(u), 2), dtype=np.bool_)
        kept[:, 1] = ~loops
        rows, columns = (np.stack(pair, axis=1)[kept] for pair in ((u, v), (v, u)))
        self.buckets.add(rows, columns, None if w is None else np.stack([w, w], axis=1)[kept])

    def _rows(self) -> dict[str, Any]:
        """Write the sorted rows: columns, weights, and where each row ends."""
        try:
            found = row_files.write_rows(self.folder, self.n, self.buckets, self.task.progress)
        except DifferentWeightsError as error:
            ids = self._ids_at([error.row, error.column])
            raise GraphError(
                f"{error.count:,} edges of a part of the graph are named with different "
                f"weights (first between {ids[0]} and {ids[1]}). Pass duplicates='sum', 'max' "
                "or 'first'."
            ) from None
        if not found["entries"] and self.edges.files:
            raise FileFormatError("The edge list has no edge that counts.")
        return {**found, "weighted": self.edges.weight is not None and found["weighted"]}

    def _ids_at(self, places: list[int]) -> list[Any]:
        listed = ", ".join(map(str, places))
        rows = self.tables.execute(
            f"SELECT i, id FROM read_parquet('{self.folder / 'ids.parquet'}') WHERE i IN ({listed})"
        )
        ids = dict(rows)
        return [ids[place] for place in places]

    def _order(self, rows: dict[str, Any]) -> dict[str, Any]:
        """Write ``indptr``, ``indices`` and ``weights`` by place, the places, and components."""
        near = self.task.order == "near" or (
            self.task.order == "auto" and 4 * rows["entries"] + 16 * self.n <= self.task.memory
        )
        return row_files.place_rows(
            self.folder, self.n, weighted=rows["weighted"], near=near, progress=self.task.progress
        )

    def _index(self) -> dict[str, Any]:
        """Write the ids, and their order; without a node table also that nothing is labelled."""
        if not self.task.nodes:
            np.save(self.folder / "labels.npy", np.full(self.n, -1, dtype=np.int32))
            np.save(self.folder / "split.npy", np.zeros(self.n, dtype=np.int8))
        id_index.write_ids(self.tables, self.folder, self.n, numbers=self.found["numbers"])
        return {}

    def _sparse(self) -> dict[str, Any]:
        return read_sparse_features(
            self.tables, self.task.features, self.folder, self.n,
            most=max(1 << 24, self.task.memory // 16),
        )  # fmt: skip

    def _facts(
        self, rows: dict[str, Any], placed: dict[str, Any], sparse: dict[str, Any]
    ) -> dict[str, Any]:
        """Return what the header says."""
        labels = np.load(self.folder / "labels.npy", mmap_mode="r", allow_pickle=False)
        classes = self.found.get("classes", [])
        known = labels[labels >= 0]
        counts = np.bincount(known, minlength=len(classes)).tolist()
        names = sparse.get("names", self.found.get("feature_names", []))
        return {
            "name": self.task.name,
            "nodes": self.n,
            "edges": (rows["entries"] + rows["self_loops"]) // 2 - rows["self_loops"],
            **rows,
            **placed,
            "classes": classes,
            "label_counts": counts,
            "features": sparse.get("count", len(names)),
            "feature_names": names if len(names) <= 100_000 else [],
            "notes": [*self.found.get("notes", []), *sparse.get("notes", [])],
        }
