"""What a graph is, in a few numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

if TYPE_CHECKING:
    from graphheat.graph.graph import Graph


@dataclass(frozen=True)
class Summary:
    """The counts that tell whether a graph is what one thinks it is.

    ``edges`` are undirected and leave self-loops out; ``homophily`` is the share of edges between
    labelled nodes that join equal labels (None without such edges).
    """

    nodes: int
    edges: int
    self_loops: int
    weighted: bool
    components: int
    largest_component: int
    isolated: int
    features: int
    labelled: int
    label_counts: Mapping[Any, int]
    homophily: float | None
    split: Mapping[str, int]

    def as_dict(self) -> dict[str, Any]:
        """Return the summary as plain values, ready for JSON."""
        plain = asdict(self)
        plain["label_counts"] = {str(name): count for name, count in self.label_counts.items()}
        return plain


def summarize(graph: Graph) -> Summary:
    """Count ``graph``; the work behind :meth:`Graph.describe`."""
    adjacency = graph.adjacency
    upper = sp.coo_array(sp.triu(adjacency, k=1))
    loops = adjacency.diagonal() > 0
    components, membership = connected_components(adjacency, directed=False)
    ends = graph.labels[upper.row], graph.labels[upper.col]
    both = (ends[0] >= 0) & (ends[1] >= 0)
    sets = graph.label_sets
    counts = np.bincount(graph.labels[graph.labels >= 0], minlength=len(graph.classes))
    labelled = int((graph.labels >= 0).sum())
    if sets is not None:
        counts = (sets == 1).sum(axis=0)
        labelled = int((sets.min(axis=1, initial=0) >= 0).sum())
    return Summary(
        nodes=graph.n,
        edges=int(upper.nnz),
        self_loops=int(loops.sum()),
        weighted=bool(np.any(adjacency.data != 1)),
        components=int(components),
        largest_component=int(np.bincount(membership).max()),
        isolated=int((np.diff(adjacency.indptr) == 0).sum()),
        features=0 if graph.features is None else int(graph.features.shape[1]),
        labelled=labelled,
        label_counts=dict(zip(graph.classes, counts.tolist(), strict=True)),
        homophily=float((ends[0] == ends[1])[both].mean()) if both.any() else None,
        split={name: len(indices) for name, indices in graph.split.items()},
    )
