"""Cross-validation over the nodes of a graph, as scikit-learn's searches do it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import BaseCrossValidator, StratifiedKFold
from sklearn.utils import check_random_state

from graphheat.checks import check_count
from graphheat.errors import GraphError, ParameterError
from graphheat.graph import Graph

Indices = NDArray[np.int64]


def labelled_nodes(graph: Graph) -> tuple[Indices, NDArray[Any]]:
    """Return X and y of a search over nodes: row numbers of labelled nodes, and their classes.

    Returns
    -------
    tuple
        Row numbers, shape (m,), and class names, shape (m,).

    Examples
    --------
    >>> import graphheat
    >>> X, y = labelled_nodes(graphheat.datasets.load("karate"))
    >>> X.shape, y[:2].tolist()
    ((34,), ['Mr. Hi', 'Mr. Hi'])
    """
    if graph.label_sets is not None:
        raise GraphError(
            f"{graph.name} has several labels per node, and cross-validation over nodes needs one."
        )
    nodes = np.flatnonzero(graph.labels >= 0)
    return nodes, np.array(graph.classes)[graph.labels[nodes]]


class NodeFolds(BaseCrossValidator):  # type: ignore[misc]  # no types
    """Splits of labelled nodes, class by class, for ``cv=`` of scikit-learn.

    The whole graph, with the features of all nodes, is seen in every fit; what a split hides is
    labels. So X is row numbers, and the graph goes to ``fit`` beside them.

    Parameters
    ----------
    n_splits
        How many.
    per_class
        None: stratified folds, each the test part once. A number: each split trains on so many
        labels per class (at most half of a class), drawn anew, and tests on the others, as is usual
        where labels are few.
    random_state
        Seed, RandomState or None.

    Examples
    --------
    >>> import graphheat
    >>> from sklearn.model_selection import GridSearchCV, cross_val_score
    >>> graph = graphheat.datasets.block_model(200, 3, homophily=0.9, seed=0)
    >>> X, y = labelled_nodes(graph)
    >>> model = graphheat.GraphHeatClassifier(recipe="linear", random_state=0)
    >>> scores = cross_val_score(model, X, y, cv=NodeFolds(3), params={"graph": graph})
    >>> scores.shape
    (3,)
    >>> few = NodeFolds(3, per_class=5)
    >>> search = GridSearchCV(model, {"s": [1.0, 4.0], "l2": [0.1, 1.0]}, cv=few)
    >>> sorted(search.fit(X, y, graph=graph).best_params_)
    ['l2', 's']
    """

    def __init__(
        self, n_splits: int = 5, *, per_class: int | None = None, random_state: Any = 0
    ) -> None:
        self.n_splits = n_splits
        self.per_class = per_class
        self.random_state = random_state

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of splits."""
        return check_count(self.n_splits, "n_splits", "NodeFolds")

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[Indices, Indices]]:
        """Yield positions in X to train on and to test on.

        Parameters
        ----------
        X
            One entry per node.
        y
            Classes, shape (m,).
        groups
            Not used.
        """
        count = self.get_n_splits()
        if y is None:
            raise ParameterError("NodeFolds.split needs y: the class of each node in X.")
        y = np.asarray(y)
        if self.per_class is None:
            folds = StratifiedKFold(count, shuffle=True, random_state=self.random_state)
            yield from folds.split(np.zeros(len(y)), y)
            return
        most = check_count(self.per_class, "per_class", "NodeFolds")
        random = check_random_state(self.random_state)
        for _ in range(count):
            train = np.zeros(len(y), dtype=bool)
            for name in np.unique(y):
                members = random.permutation(np.flatnonzero(y == name))
                train[members[: min(most, len(members) // 2)]] = True
            yield np.flatnonzero(train), np.flatnonzero(~train)
