"""Readers of a Graph: from edges, frames in memory, and objects of other libraries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from graphheat.graph import adjacency as adjacency_rules
from graphheat.graph import foreign
from graphheat.graph.adjacency import Duplicates
from graphheat.graph.nodes import as_ids, check_nodes, positions_of

if TYPE_CHECKING:
    from graphheat.graph.graph import Graph


class GraphReaders:
    """Constructors of a graph; all of them end in ``from_scipy``, which validates."""

    @classmethod
    def from_scipy(cls, *args: Any, **more: Any) -> Self:
        """Build a graph from a SciPy sparse matrix; :class:`~graphheat.Graph` says how."""
        raise NotImplementedError

    @classmethod
    def from_edges(
        cls,
        source: ArrayLike,
        target: ArrayLike,
        weight: ArrayLike | None = None,
        *,
        nodes: ArrayLike | None = None,
        duplicates: Duplicates = "error",
        **more: Any,
    ) -> Self:
        """Build a graph from a list of undirected edges between ids.

        (a, b) and (b, a) are one edge; repeats of equal weight count once.

        Parameters
        ----------
        source, target
            Node ids, shape (e,).
        weight
            Shape (e,), default 1.
        nodes
            All ids, in the order wanted; default: those of the edges, sorted. Ids without an edge
            become isolated nodes.
        duplicates
            How to settle an edge that is named with different weights.
        **more
            As for :meth:`from_scipy`.

        Examples
        --------
        >>> from graphheat import Graph
        >>> Graph.from_edges(["ann", "bob"], ["bob", "cat"]).nodes.tolist()
        ['ann', 'bob', 'cat']
        """
        sources, targets = np.asarray(source).ravel(), np.asarray(target).ravel()
        ends = as_ids(np.concatenate([sources, targets]))
        ids = np.unique(ends) if nodes is None else as_ids(nodes)
        ids = check_nodes(ids, len(ids))
        positions = positions_of(ends, ids, "edges", "the list of nodes")
        matrix = adjacency_rules.from_pairs(
            positions[: len(sources)],
            positions[len(sources) :],
            weight,
            len(ids),
            duplicates=duplicates,
            ids=ids,
        )
        return cls.from_scipy(matrix, nodes=ids, **more)

    @classmethod
    def from_edge_index(
        cls,
        edge_index: Any,
        edge_weight: Any = None,
        *,
        num_nodes: int | None = None,
        duplicates: Duplicates = "error",
        **more: Any,
    ) -> Self:
        """Build a graph from PyG's ``edge_index``, shape (2, e), which names both directions.

        Accepts tensors and arrays. One-way edges are an error unless ``symmetrize="max"``;
        the other keywords are those of :meth:`from_scipy`.
        """
        return cls.from_scipy(
            foreign.edge_index_to_scipy(edge_index, edge_weight, num_nodes, duplicates), **more
        )

    @classmethod
    def from_frames(cls, edges: Any, nodes: Any = None, **options: Any) -> Graph:
        """Build a graph from frames in memory: pandas, polars, Arrow, whatever narwhals knows.

        Parameters
        ----------
        edges
            Two columns of ids, and perhaps one of weights, found by name as those of a file are.
        nodes
            One row per node: ids, labels, features; None: the nodes of the edges.
        **options
            As for :func:`graphheat.read_csv`: ``label="page_type"``, ``kinds={"zip": "category"}``,
            ``schema=…``, ….

        Examples
        --------
        >>> from graphheat import Graph
        >>> edges = {"source": ["ann", "bob"], "target": ["bob", "cat"]}
        >>> nodes = {"id": ["ann", "bob", "cat"], "age": [31, 28, 3], "tea": ["yes", "no", "no"]}
        >>> graph = Graph.from_frames(edges, nodes)
        >>> graph.feature_names, graph.schema
        (('age', 'tea'), FeatureSchema(number=1, boolean=1; features=2))
        """
        from graphheat.io.csv import read_csv  # a reader: it is above the graph

        return read_csv(edges, nodes, **options)

    @classmethod
    def from_pyg(cls, data: Any, **more: Any) -> Self:
        """Build a graph from a PyG ``Data``-like object: ``edge_index``, ``x``, ``y``, masks.

        Nothing of PyG is imported: any object with these attributes will do.
        """
        return cls.from_scipy(**{**foreign.pyg_parts(data), **more})

    @classmethod
    def from_networkx(
        cls,
        graph: Any,
        *,
        weight: str | None = "weight",
        label: str | None = "label",
        features: Sequence[str] | None = None,
        duplicates: Duplicates = "error",
        **more: Any,
    ) -> Self:
        """Build a graph from an undirected NetworkX graph.

        Parameters
        ----------
        weight, label
            Names of the edge and node attributes to take; a missing weight is 1, a missing label
            unlabelled.
        features
            Names of numeric node attributes that become columns.
        duplicates
            How to settle the edges of a multigraph that differ in weight.
        """
        return cls.from_scipy(
            **{**foreign.networkx_parts(graph, weight, label, features, duplicates), **more}
        )

    @classmethod
    def from_igraph(
        cls,
        graph: Any,
        *,
        weight: str | None = "weight",
        label: str | None = "label",
        features: Sequence[str] | None = None,
        duplicates: Duplicates = "error",
        **more: Any,
    ) -> Self:
        """Build a graph from an undirected igraph graph; arguments as for :meth:`from_networkx`.

        Vertices are called by their attribute ``name``, where they have one; otherwise 0 … n−1.
        """
        return cls.from_scipy(
            **{**foreign.igraph_parts(graph, weight, label, features, duplicates), **more}
        )
