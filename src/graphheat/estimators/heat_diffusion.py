"""HeatDiffusion: a scikit-learn transformer that makes any classifier graph-aware."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from graphheat.errors import GraphError
from graphheat.graph import Graph
from graphheat.heat import HeatKernel
from graphheat.io import from_arrays


class HeatDiffusion(TransformerMixin, BaseEstimator):  # type: ignore[misc]  # no types
    """Replace each node's features by those that heat mixes in: X → e^{-sL}X.

    Diffuse the whole graph's features first, then let any classifier learn on the labelled rows.

    Parameters
    ----------
    s
        Diffusion time.
    adjacency
        Symmetric matrix, shape (n, n), or Graph; None: the edges of X where it is a Graph, else its
        nearest neighbours.
    tol
        Accuracy of e^{-sL}X in spectral norm.
    neighbors
        Neighbours in the graph that is made of X.

    Examples
    --------
    >>> import graphheat
    >>> from sklearn.linear_model import LogisticRegression
    >>> cora = graphheat.datasets.load("cora")
    >>> Z = HeatDiffusion(s=5.0, adjacency=cora).fit_transform(cora.features)
    >>> train, test = cora.split["train"], cora.split["test"]
    >>> model = LogisticRegression(C=100).fit(Z[train], cora.labels[train])
    >>> model.score(Z[test], cora.labels[test]) > 0.79
    True
    """

    def __init__(
        self,
        s: float = 3.0,
        *,
        adjacency: Any = None,
        tol: float = 1e-6,
        neighbors: int = 10,
    ) -> None:
        self.s = s
        self.adjacency = adjacency
        self.tol = tol
        self.neighbors = neighbors

    def fit(self, X: Any, y: Any = None) -> Self:
        """Check X, shape (n, f) or a Graph, and build the kernel; y plays no part."""
        self.kernel_ = self._kernel(self._check(X, reset=True), self._edges(X))
        return self

    def transform(self, X: Any) -> NDArray[np.floating[Any]]:
        """Return e^{-sL}X, dense, shape (n, f).

        With a given adjacency X must have one row per node. Without one, another X than the fitted
        is diffused on its own nearest-neighbour graph.
        """
        check_is_fitted(self)
        features, edges = self._check(X, reset=False), self._edges(X)
        kernel = self.kernel_ if self.adjacency is not None else self._kernel(features, edges)
        return kernel.apply(features)

    def _check(self, X: Any, *, reset: bool) -> Any:
        if isinstance(X, Graph):
            if X.features is None:
                raise GraphError(f"{X.name} has no features to diffuse.")
            X = X.features
        return validate_data(
            self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=reset
        )

    def _edges(self, X: Any) -> Any:
        return X if self.adjacency is None and isinstance(X, Graph) else self.adjacency

    def _kernel(self, X: Any, edges: Any) -> HeatKernel:
        graph = from_arrays(X, None, adjacency=edges, neighbors=self.neighbors)
        return HeatKernel(graph, self.s, tol=self.tol)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
