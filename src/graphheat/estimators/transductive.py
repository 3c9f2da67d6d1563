"""What the graph classifiers share: graph in, labels of the same nodes out."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from graphheat.errors import GraphError, ParameterError
from graphheat.graph import Graph
from graphheat.io import from_arrays


class TransductiveClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # no types
    """Base of the classifiers that are fitted on a whole graph and label its nodes.

    A subclass sets ``graph_``, ``classes_`` and ``probabilities_`` in ``_fit_graph`` and says in
    ``_foreign_proba`` what to do with nodes that it was not fitted on.
    """

    neighbors: int
    graph_: Graph | None  # a loaded model has none
    classes_: NDArray[Any]
    probabilities_: NDArray[np.float64]

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        adjacency: Any = None,
        labelled: Any = None,
        graph: Graph | None = None,
    ) -> Self:
        """Learn from a graph.

        Parameters
        ----------
        X
            A Graph, which needs nothing else; or features, shape (n, f), dense or sparse; or None
            when ``adjacency`` is given.
        y
            Labels, shape (n,), strings or numbers. None, NaN and (beside two other classes) −1
            mean unlabelled.
        adjacency
            Symmetric, shape (n, n); None: the nearest neighbours of X.
        labelled
            Mask of the labels that may be used, shape (n,).
        graph
            For searches over nodes: X is then row numbers of this graph, shape (m,) or (m, 1), and
            y the labels of these nodes, shape (m,). No other label of the graph is used;
            ``predict`` and ``score`` take row numbers, too. See :class:`~graphheat.NodeFolds`.
        """
        by_row = graph is not None and not isinstance(X, Graph)
        if isinstance(X, Graph):
            if any(given is not None for given in (y, adjacency, labelled, graph)):
                raise ParameterError(
                    "fit takes a Graph alone, or X, y and adjacency; got a Graph and more."
                )
            fitted = X
        elif graph is not None:
            if adjacency is not None or labelled is not None:
                raise ParameterError("fit takes either graph= or adjacency= and labelled=.")
            fitted = graph_of_rows(graph, X, y)
        else:
            fitted = self._graph_from(X, y, adjacency, labelled)
        self._has_own_adjacency = isinstance(X, Graph) or by_row or adjacency is not None
        self._takes_rows = by_row
        self._fit_graph(fitted)
        self.graph_ = fitted
        self.classes_ = class_array(fitted.classes)
        return self

    def predict_proba(self, X: Any = None, *, adjacency: Any = None) -> NDArray[Any]:
        """Return class probabilities, shape (n, c), columns as in ``classes_``.

        Parameters
        ----------
        X
            None, the fitted graph or the fitted X: the probabilities found in ``fit``. Another X,
            or another Graph: nodes that were not there. After ``fit(X, y, graph=…)``: row numbers.
        adjacency
            The edges among the rows of another X.
        """
        check_is_fitted(self)
        if X is None and adjacency is None:
            return self.probabilities_
        if isinstance(X, Graph):
            if X is self.graph_ or X.fingerprint == self._fitted_fingerprint():
                return self.probabilities_
            return self._foreign_proba(X)
        if getattr(self, "_takes_rows", False) and adjacency is None:
            return self.probabilities_[row_numbers(X, len(self.probabilities_))]
        X = self._check_features(X, reset=False)
        if adjacency is None:
            if self._is_fitted_input(X):
                return self.probabilities_
            if self._has_own_adjacency:
                raise ParameterError(
                    "This X is not known to be the fitted one, and its edges are not known. "
                    "Pass adjacency=, or call predict() for the fitted nodes."
                )
        graph = from_arrays(X, None, adjacency=adjacency, neighbors=self.neighbors)
        if self._is_fitted_input(X) and same_edges(graph, self.graph_):
            return self.probabilities_
        return self._foreign_proba(graph)

    def predict(self, X: Any = None, *, adjacency: Any = None) -> NDArray[Any]:
        """Return the most probable class of each node, shape (n,); as :meth:`predict_proba`."""
        probabilities = self.predict_proba(X, adjacency=adjacency)
        labels: NDArray[Any] = self.classes_[probabilities.argmax(axis=1)]
        return labels

    def score(self, X: Any = None, y: Any = None, sample_weight: Any = None) -> float:
        """Return the accuracy: of ``y``, or on the graph's labelled test nodes."""
        if y is not None:
            return float(super().score(X, y, sample_weight))
        check_is_fitted(self)
        graph = self.graph_ if X is None else X
        if not isinstance(graph, Graph):
            raise ParameterError(
                "score needs y beside X, or a Graph with test nodes; a loaded model holds neither."
                if X is None
                else "score needs y beside X, or a Graph with test nodes."
            )
        test = graph.split.test
        test = test[graph.labels[test] >= 0]
        if not len(test):
            raise GraphError("The graph has no labelled test nodes to score. Pass X and y.")
        truth = class_array(graph.classes)[graph.labels[test]]
        return float((self.predict(graph)[test] == truth).mean())

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    # ------------------------------------------------------------------ for subclasses

    def _fit_graph(self, graph: Graph) -> None:
        raise NotImplementedError

    def _foreign_proba(self, graph: Graph) -> NDArray[Any]:
        raise NotImplementedError

    def _fitted_fingerprint(self) -> str:
        assert self.graph_ is not None  # a model that can be loaded asks its run
        return self.graph_.fingerprint

    def _check_features(self, X: Any, *, reset: bool) -> Any:
        return validate_data(
            self, X, accept_sparse="csr", dtype=[np.float32, np.float64], reset=reset
        )

    def _graph_from(self, X: Any, y: Any, adjacency: Any, labelled: Any) -> Graph:
        if y is None:
            raise ParameterError(
                f"{type(self).__name__} requires y to be passed, but the target y is None."
            )
        if X is not None:
            X = self._check_features(X, reset=True)
        return from_arrays(
            X,
            column_or_1d(_as_labels(y), warn=True),
            adjacency=adjacency,
            labelled=labelled,
            neighbors=self.neighbors,
        )

    def _is_fitted_input(self, X: Any) -> bool:
        return same_features(X, None if self.graph_ is None else self.graph_.features)


def row_numbers(X: Any, n: int) -> NDArray[np.int64]:
    """Return X as row numbers of a graph of n nodes, or raise.

    Examples
    --------
    >>> row_numbers([[3], [0]], 5)
    array([3, 0])
    """
    rows = np.asarray(X)
    if rows.ndim == 2 and rows.shape[1] == 1:
        rows = rows[:, 0]
    if rows.ndim != 1 or rows.dtype.kind not in "iu":
        raise ParameterError(
            "With graph=, X must be row numbers: integers of shape (m,) or (m, 1); "
            f"got {rows.dtype} of shape {rows.shape}. See graphheat.labelled_nodes(graph)."
        )
    outside = rows[(rows < 0) | (rows >= n)]
    if len(outside):
        raise ParameterError(
            f"With graph=, X must be row numbers from 0 to {n - 1}; got {outside[0]}."
        )
    return rows.astype(np.int64)


def graph_of_rows(graph: Graph, X: Any, y: Any) -> Graph:
    """Return a graph in which the labels y of the rows X are known, and no others."""
    if not isinstance(graph, Graph):
        raise ParameterError(
            f"The 'graph' parameter of fit must be a Graph; got {type(graph).__name__}."
        )
    if y is None:
        raise ParameterError("With graph=, fit needs y: the labels of the rows X.")
    rows, known = row_numbers(X, graph.n), column_or_1d(_as_labels(y), warn=True)
    if len(rows) != len(known):
        raise ParameterError(
            f"X and y must have one entry per node each; got {len(rows):,} and {len(known):,}."
        )
    if len(np.unique(rows)) != len(rows):
        raise ParameterError("With graph=, X must name each row once; some are there twice.")
    labels = np.full(graph.n, None, dtype=object)
    labels[rows] = known.tolist()
    return from_arrays(None, labels, adjacency=graph)


def same_features(X: Any, fitted: Any) -> bool:
    """Say whether X holds the features that a graph has, which are float32's."""
    if fitted is None or X.shape != fitted.shape:
        return False
    if sp.issparse(X) or sp.issparse(fitted):
        difference = sp.csr_array(X, dtype=np.float32) - sp.csr_array(fitted)
        return not difference.count_nonzero()
    return bool(np.array_equal(np.asarray(X, dtype=np.float32), fitted))


def same_edges(graph: Graph, fitted: Graph | None) -> bool:
    """Say whether a graph has the edges of the fitted one, with their weights."""
    if fitted is None or graph.n != fitted.n:
        return False
    return not sp.csr_array(graph.adjacency - fitted.adjacency).count_nonzero()


def class_array(classes: tuple[Any, ...]) -> NDArray[Any]:
    """Return class names as an array that can be indexed by codes."""
    return np.array(classes)


def _as_labels(y: Any) -> NDArray[Any]:
    array = np.asarray(y)
    if array.dtype.kind == "U" and not isinstance(y, np.ndarray):
        array = np.asarray(y, dtype=object)  # ["a", nan] must not become the string "nan"
    return array
