"""Linear models whose features are a node's neighbours, for graphs that have no others.

A row of the adjacency matrix says whom a node knows, as a bag of words says what a text is about:
diffused and scaled alike, it tells nodes apart that label spreading cannot, and where neighbours
are unlike it may be learned from without any diffusion.

References
----------
D. Lim, F. Hohne, X. Li et al.: Large Scale Learning on Non-Homophilous Graphs, NeurIPS 2021
(LINKX: rows of the adjacency matrix as features). F. Wu, A. Souza, T. Zhang et al.: Simplifying
Graph Convolutional Networks, ICML 2019 (diffusion before a linear model).
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graphheat.errors import GraphError
from graphheat.graph import Graph, Split
from graphheat.linear.averaged import fit_averaged
from graphheat.linear.linear_run import LinearRun, LinearSettings
from graphheat.progress import Progress
from graphheat.runs.combined_run import CombinedRun
from graphheat.runs.other_graph import Answer, old_rows

MOST_NODES, MOST_WEIGHTS = 100_000, 2_000_000  # nodes, and nodes times classes, of such a model


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class NeighborRun(LinearRun, kind="neighbors"):
    """A linear model of who a node's neighbours are: its columns are the nodes of its graph."""

    explained_by: ClassVar[str | None] = "graphheat.explain.linear_explainer:NeighborExplainer"

    @property
    def uses_features(self) -> bool:
        """Not those of a graph: edges stand in for them."""
        return False

    def featured(self, graph: Graph) -> Graph:
        """Return the run's graph, or that one grown, with neighbours among the run's own nodes."""
        first: Any = self
        while first.base is not None:
            first = first.base
        rows = old_rows(first, graph)
        if rows is None:
            raise GraphError(
                f"A model of neighbours labels the graph that it was fitted on, and that one "
                f"grown; {graph.name} lacks nodes or training labels of it. Fit it there."
            )
        return with_neighbors(graph, rows)

    def answer(
        self,
        graph: Graph,
        old: NDArray[np.int64] | None,
        *,
        wanted: NDArray[np.int64] | None = None,
        threads: int | None = None,
    ) -> Answer:
        """Return what the model says of its graph grown; of any other graph, raise."""
        return super().answer(self.featured(graph), old, wanted=wanted, threads=threads)

    def probabilities_on(
        self, graph: Graph, *, threads: int | None = None
    ) -> NDArray[np.floating[Any]]:
        """Return class probabilities of every node of the run's graph grown, shape (n, c)."""
        return super().probabilities_on(self.featured(graph), threads=threads)


def with_neighbors(graph: Graph, columns: NDArray[np.int64] | None = None) -> Graph:
    """Return the graph with rows of the adjacency matrix for features, all columns or some.

    Examples
    --------
    >>> import graphheat
    >>> graph = graphheat.datasets.block_model(20, 2, features=0, labels_per_class=3, seed=0)
    >>> with_neighbors(graph, np.array([3, 4])).features.shape
    (20, 2)
    """
    rows = sp.csr_array(graph.adjacency).astype(np.float64)
    if columns is not None and not np.array_equal(columns, np.arange(graph.n)):
        rows = sp.csr_array(rows[:, columns])
    return replace(graph, features=rows, feature_names=None, schema=None)


def too_large(graph: Graph) -> bool:
    """Tell whether a weight for every node and class would be too many."""
    return graph.n > MOST_NODES or graph.n * len(graph.classes) > MOST_WEIGHTS


def fit_neighbors(
    graph: Graph,
    split: Split,
    settings: LinearSettings,
    *,
    seed: int = 0,
    threads: int | None = None,
    progress: Progress | None = None,
) -> tuple[CombinedRun, CombinedRun]:
    """Return linear models of neighbours, averaged, and the same as models of plain features.

    Parameters are those of :func:`graphheat.linear.averaged.fit_averaged`, but for features, which
    are not looked at. The second is a run on :func:`with_neighbors`' graph.

    Examples
    --------
    >>> import graphheat
    >>> graph = graphheat.datasets.block_model(300, 3, features=0, homophily=0.9, seed=0)
    >>> run, _ = fit_neighbors(graph, graph.completed_split(0), LinearSettings())
    >>> run.recipe, run.test_accuracy > 0.7
    ('neighbors', True)
    """
    plain = fit_averaged(
        with_neighbors(graph), split, settings, seed=seed, threads=threads, progress=progress
    )
    of_graph = {**NeighborRun.graph_parts(graph, split), "recipe": "neighbors"}
    parts = [
        NeighborRun(**{each.name: getattr(part, each.name) for each in fields(part)} | of_graph)
        for part in plain.parts
    ]
    run = CombinedRun.of(
        parts,
        plain.weights,
        recipe="neighbors",
        seed=seed,
        seconds=plain.seconds,
        notes=plain.notes,
        search=plain.search,
    )
    return run, plain
