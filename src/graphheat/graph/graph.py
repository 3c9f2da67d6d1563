"""The Graph: what every other part of graphheat works on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from graphheat.errors import GraphError
from graphheat.graph import adjacency as adjacency_rules
from graphheat.graph import foreign, growth
from graphheat.graph.adjacency import SelfLoops, Symmetrize
from graphheat.graph.feature_matrix import Features, check_feature_names, check_features
from graphheat.graph.graph_readers import GraphReaders
from graphheat.graph.identity import fingerprint_of
from graphheat.graph.label_sets import check_sets
from graphheat.graph.labels import encode_labels
from graphheat.graph.lookup import find_node
from graphheat.graph.nodes import check_nodes
from graphheat.graph.split import Split
from graphheat.graph.summary import Summary, summarize
from graphheat.html_table import html_table

if TYPE_CHECKING:
    from graphheat.features import FeatureSchema


@dataclass(frozen=True, eq=False, repr=False)
class Graph(GraphReaders):
    """An undirected graph with what is known of its nodes.

    Build one through a reader (:meth:`from_scipy`, :meth:`from_edges`, :meth:`from_edge_index`,
    :meth:`from_frames`, :meth:`from_pyg`, :meth:`from_networkx`, :meth:`from_igraph`,
    ``graphheat.read_csv``, ``read_npz``, ``read_mtx``): the readers validate, and the rest of the
    package trusts what they made.

    Attributes
    ----------
    adjacency
        Symmetric, non-negative, shape (n, n). Self-loops are kept as given.
    features
        Dense float32 array or ``csr_array``, shape (n, f), or None.
    labels
        Class codes, shape (n,); −1 = unlabelled.
    classes
        The class names that the codes index.
    nodes
        The user's ids, shape (n,): integers or strings.
    titles
        Words for people, one per node, or None.
    split
        Who trains, validates, calibrates and is tested: a :class:`~graphheat.graph.Split`.
    name
        What to call the graph in messages.
    account
        What a reader took for what, in at most two sentences (of a graph that was extended, what
        the tables of new nodes and edges were taken for); no part of the graph's identity.
    feature_names
        One per column of ``features``, distinct, or None where nobody gave any.
    schema
        How the features were made from the columns of a table, where they were: a
        :class:`~graphheat.features.FeatureSchema`, which encodes other tables alike.
    notes
        What a reader filled in or left out, for the user to read.
    label_sets
        Several labels per node: 1 where a node has a class, otherwise 0, rows of −1 where that is
        unknown, shape (n, c), int8; ``labels`` are then all −1. None: one label per node.
    """

    adjacency: sp.csr_array
    features: Features | None
    labels: NDArray[np.int64]
    classes: tuple[Any, ...]
    nodes: NDArray[Any]
    titles: tuple[str, ...] | None = None
    split: Split = field(default_factory=lambda: Split(0, {}))
    name: str = "graph"
    account: tuple[str, ...] = ()
    feature_names: tuple[str, ...] | None = None
    schema: FeatureSchema | None = None
    notes: tuple[str, ...] = ()
    label_sets: NDArray[np.int8] | None = None

    # ---------------------------------------------------------------- readers

    @classmethod
    def from_scipy(
        cls,
        adjacency: Any,
        features: Any = None,
        labels: ArrayLike | Sequence[object] | None = None,
        *,
        classes: Sequence[Any] | None = None,
        nodes: ArrayLike | None = None,
        titles: Sequence[str] | None = None,
        split: Mapping[str, ArrayLike] | None = None,
        symmetrize: Symmetrize | None = None,
        self_loops: SelfLoops = "keep",
        name: str = "graph",
        account: Sequence[str] = (),
        feature_names: Sequence[str] | None = None,
        schema: FeatureSchema | None = None,
        notes: Sequence[str] = (),
        label_sets: ArrayLike | None = None,
    ) -> Graph:
        """Build a graph from a SciPy sparse matrix (or a dense array); every reader ends here.

        Parameters
        ----------
        adjacency
            Shape (n, n), non-negative. Must be symmetric unless ``symmetrize="max"``.
        features
            Dense or sparse, shape (n, f), finite.
        labels
            One per node: class names with None or NaN for unlabelled, or codes into ``classes``.
        nodes
            Distinct ids, shape (n,); default 0 … n−1.
        split
            Name → node indices (or a boolean mask).
        self_loops
            ``"drop"`` removes the diagonal.
        account
            Sentences of a reader on what it took for what.
        feature_names
            One per column of ``features``, distinct; default: those of ``schema``, if there is one.
        schema
            How the features were made from the columns of a table.
        notes
            Sentences of a reader on what it filled in or left out.
        label_sets
            In place of ``labels``, several per node: 0, 1 and rows of −1 (unknown), shape
            (n, len(classes)).

        Examples
        --------
        >>> import numpy as np
        >>> path = np.diag([1.0, 1.0], 1) + np.diag([1.0, 1.0], -1)
        >>> Graph.from_scipy(path, labels=["a", None, "b"])
        Graph(nodes=3, edges=2, features=0, classes=2, labelled=2)
        """
        matrix = adjacency_rules.validate(adjacency, symmetrize=symmetrize, self_loops=self_loops)
        n = matrix.shape[0]
        sets, held = None, None
        if label_sets is not None:
            if classes is None or labels is not None:
                raise GraphError("label_sets go with classes, and in place of labels.")
            sets = check_sets(label_sets, tuple(classes), n)
            held = np.where(sets.min(axis=1, initial=0) < 0, -1, 0)
            labels = np.full(n, -1)
        known = encode_labels(
            np.full(n, None, dtype=object) if labels is None else labels,
            None if classes is None else tuple(classes),
        )
        if len(known.codes) != n:
            raise GraphError(f"labels must be one per node; got {len(known.codes)} for {n} nodes.")
        if titles is not None and (isinstance(titles, str) or not hasattr(titles, "__len__")):
            raise GraphError(f"titles must be a list of strings; got {type(titles).__name__}.")
        if titles is not None and len(titles) != n:
            raise GraphError(f"titles must be one per node; got {len(titles)} for {n} nodes.")
        values = check_features(features, n)
        if feature_names is None and schema is not None:
            feature_names = schema.feature_names
        graph = cls(
            adjacency=matrix,
            features=values,
            labels=known.codes,
            classes=known.classes,
            nodes=check_nodes(nodes, n),
            titles=None if titles is None else tuple(str(title) for title in titles),
            split=Split.checked(split or {}, known.codes if held is None else held),
            name=name,
            account=tuple(account),
            feature_names=check_feature_names(feature_names, values),
            schema=schema,
            notes=tuple(notes),
            label_sets=sets,
        )
        graph._freeze()
        return graph

    # ----------------------------------------------------------------- writers

    def to_pyg(self) -> Any:
        """Return a PyG ``Data`` (needs torch-geometric)."""
        return foreign.to_pyg(self)

    def to_networkx(self) -> Any:
        """Return a NetworkX ``Graph`` with labels and titles as node attributes."""
        return foreign.to_networkx(self)

    def to_scipy(self) -> sp.csr_array:
        """Return a writable copy of the adjacency matrix, shape (n, n)."""
        return self.adjacency.copy()

    # ------------------------------------------------------------------- questions

    @property
    def n(self) -> int:
        """Number of nodes."""
        return int(self.adjacency.shape[0])

    def describe(self) -> Summary:
        """Count nodes, edges, components, isolated nodes, labels and homophily."""
        return summarize(self)

    @property
    def training_nodes(self) -> NDArray[np.int64]:
        """Rows to learn from: the train part, or without one the labels that no other part has."""
        return self.split.training_nodes(self.labels)

    def completed_split(
        self, seed: int, *, calibration: float = 0.0, hold_out: bool = True
    ) -> Split:
        """Return the split with all four parts; see :meth:`Split.completed`."""
        if self.label_sets is not None:
            raise GraphError(
                f"{self.name} has several labels per node, which the recipes 'linear' and "
                "'spreading' and HeatLabelSpreading take; everything else has one label per node."
            )
        return self.split.completed(
            self.labels, self.classes, seed, calibration=calibration, hold_out=hold_out
        )

    def sets_split(self) -> Split:
        """Return the split of a graph with label sets: who trains, and whose labels are known."""
        if self.label_sets is None:
            raise GraphError(f"{self.name} has one label per node, not sets of them.")
        known = self.label_sets.min(axis=1, initial=0) >= 0
        train = self.split.training_nodes(np.where(known, 0, -1))
        if not len(train):
            raise GraphError("There is no labelled node to learn from. Label at least one node.")
        parts = {name: nodes[known[nodes]] for name, nodes in self.split.items()}
        return replace(self.split, n=self.n, parts={**parts, "train": train})

    @cached_property
    def _position(self) -> dict[Any, int]:
        return {node: index for index, node in enumerate(self.nodes.tolist())}

    def index_of(self, node: Any) -> int:
        """Return the row number of a node by its id ("12" finds the id 12), or by its title.

        What is not found is answered with near matches.
        """
        return find_node(node, self._position, self.titles, self.name)

    def with_split(self, **split: ArrayLike) -> Graph:
        """Return the same graph with another split (indices or masks by name)."""
        known = self.labels
        if self.label_sets is not None:
            known = np.where(self.label_sets.min(axis=1, initial=0) < 0, -1, 0)
        graph = replace(self, split=Split.checked(split, known))
        graph._freeze()
        return graph

    def with_labels(self, labels: Mapping[Any, Any], *, new_classes: bool = False) -> Graph:
        """Return the same graph with the labels of some nodes set.

        Parameters
        ----------
        labels
            Node id → class name; None takes a label off.
        new_classes
            Whether a name may be of a class that the graph does not have; it comes after the
            others. A graph without labels takes any.

        Notes
        -----
        The split is kept: where it has a train part, :meth:`with_split` adds the nodes to it.

        Examples
        --------
        >>> graph = Graph.from_edges(["ann", "bob"], ["bob", "cat"], labels=["tea", None, "milk"])
        >>> more = graph.with_labels({"bob": "tea"})
        >>> more.labels.tolist(), more.classes
        ([1, 1, 0], ('milk', 'tea'))
        """
        if self.label_sets is not None:
            raise GraphError(
                f"{self.name} has several labels per node; with_labels sets a single one."
            )
        known = growth.with_more_labels(self, labels, new_classes=new_classes)
        split = Split.checked(dict(self.split), known.codes)
        graph = replace(self, labels=known.codes, classes=known.classes, split=split)
        graph._freeze()
        return graph

    def extended(self, nodes: Any = None, edges: Any = None, **options: Any) -> Graph:
        """Return a graph with more nodes and edges; old nodes keep their row numbers.

        Parameters
        ----------
        nodes
            A table (file or frame) with the columns that the graph was read from, in any order:
            they are encoded by name, as ``schema`` says, and ``notes`` tell of categories that it
            has not seen. Or a list of ids, with ``features=`` as an array, shape (k, f). Labels and
            titles are taken where there are any; new nodes are in no part of the split.
        edges
            A table, or a list of (source, target) or (source, target, weight), between old and new
            nodes alike. An edge that the graph has already counts once.
        **options
            ``features``, ``id``, ``label``, ``title``, ``missing``, ``decimal``, ``source_column``,
            ``target_column``, ``weight_column``, ``header``, ``delimiter``, ``duplicates`` and
            ``self_loops`` as for :func:`graphheat.read_csv`, for the new tables alone;
            ``new_classes`` as for :meth:`with_labels`.

        Examples
        --------
        >>> edges = {"source": ["ann"], "target": ["bob"]}
        >>> table = {"id": ["ann", "bob"], "age": [31, 28], "drink": ["tea", "milk"]}
        >>> graph = Graph.from_frames(edges, table, kinds={"drink": "category"})
        >>> new = {"drink": ["rum"], "age": [28], "id": ["cat"]}
        >>> grown = graph.extended(new, [("cat", "ann")])
        >>> grown.nodes.tolist(), grown.features[2].tolist()
        (['ann', 'bob', 'cat'], [-1.0, 0.0, 0.0])
        >>> len(grown.notes)
        1
        """
        from graphheat.io.new_nodes import extend  # a reader: it is above the graph

        return extend(self, nodes, edges, **options)

    # ---------------------------------------------------------------- notebooks

    def explore(self, **options: Any) -> Any:
        """Show the graph in a notebook: heat from any node (needs anywidget).

        ``options`` are those of :class:`graphheat.labeling.widget.GraphWidget`.
        """
        from graphheat.labeling.widget import GraphWidget  # a view: it is below the graph

        return GraphWidget(self, **options)

    def label(self, classes: Sequence[str] = (), **options: Any) -> Any:
        """Label the graph in a notebook (needs anywidget); the widget's ``labels`` arrive here.

        ``options`` are those of :class:`graphheat.labeling.widget.GraphWidget`.
        """
        from graphheat.labeling.widget import GraphWidget  # a view: it is below the graph

        return GraphWidget(self, labelling=True, classes=classes, **options)

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of edges, features, labels, classes, ids and split: the graph's identity."""
        return fingerprint_of(self)

    def __repr__(self) -> str:
        loops = int((self.adjacency.diagonal() > 0).sum())
        features = 0 if self.features is None else self.features.shape[1]
        return (
            f"Graph(nodes={self.n}, edges={(self.adjacency.nnz - loops) // 2}, "
            f"features={features}, classes={len(self.classes)}, "
            f"labelled={self._labelled})"
        )

    def _repr_html_(self) -> str:
        loops = int((self.adjacency.diagonal() > 0).sum())
        rows: list[list[object]] = [
            ["nodes", self.n],
            ["edges", (self.adjacency.nnz - loops) // 2],
            ["features", 0 if self.features is None else int(self.features.shape[1])],
            ["classes", ", ".join(map(str, self.classes)) or None],
            ["labelled", self._labelled],
            *([part, len(nodes)] for part, nodes in self.split.items()),
        ]
        return html_table(self.name, rows, notes=self.notes)

    @property
    def _labelled(self) -> int:
        sets = self.label_sets
        known = self.labels >= 0 if sets is None else sets.min(axis=1, initial=0) >= 0
        return int(known.sum())

    def __getstate__(self) -> dict[str, Any]:
        # Caches are cheap to build again.
        return {member.name: getattr(self, member.name) for member in fields(self)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._freeze()

    def _freeze(self) -> None:
        arrays = [self.labels, self.nodes, *self.split.values()]
        arrays += [] if self.label_sets is None else [self.label_sets]
        for matrix in (self.adjacency, self.features):
            if isinstance(matrix, np.ndarray):
                arrays.append(matrix)
            elif matrix is not None:
                arrays += [matrix.data, matrix.indices, matrix.indptr]
        for array in arrays:
            array.flags.writeable = False
