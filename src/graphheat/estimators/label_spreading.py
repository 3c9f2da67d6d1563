"""HeatLabelSpreading: the labels alone, carried by heat.

References
----------
D. Zhou, O. Bousquet, T. Lal, J. Weston, B. Schölkopf: Learning with Local and Global Consistency,
NIPS 2003 (label spreading; here e^{-sL} takes the place of its (I − αS)^{-1}).
R. Kondor, J. Lafferty: Diffusion Kernels on Graphs and Other Discrete Input Spaces, ICML 2002.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from graphheat.checks import check_number
from graphheat.errors import GraphError, ParameterError
from graphheat.estimators.transductive import TransductiveClassifier, class_array
from graphheat.graph import Graph
from graphheat.graph.label_sets import LabelSets, label_sets
from graphheat.heat import HeatKernel
from graphheat.heat.engines import ONE_OFF
from graphheat.io import from_arrays


class HeatLabelSpreading(TransductiveClassifier):
    r"""Label nodes by the heat that reaches them from labelled nodes; no features, no network.

    With Y the one-hot labels of the known nodes,

    .. math:: F = e^{-sL} Y, \qquad p_{ic} = F_{ic} / \sum_c F_{ic}

    so that a node's probabilities are the shares of heat that each class sends it. A node that
    less than ``eps`` of heat reaches gets the share of each class among the known labels.

    Nodes may have several labels at once (see :meth:`fit`). Then p_ic is the share of the heat from
    labelled nodes that comes from those with label c: one probability per label, which need not sum
    to 1.

    Parameters
    ----------
    s
        Diffusion time. Without features the labels must travel far: longer than in GraphHeat.
    eps
        Heat below which a node counts as unreached.
    tol
        Accuracy of e^{-sL}Y in spectral norm; at most eps / 10 is used.
    neighbors
        Neighbours in the graph that is made of X when no adjacency is given.

    Attributes
    ----------
    classes_
        Class names, shape (c,).
    graph_
        The graph that was learned on.
    reached_
        Whether heat of at least ``eps`` arrived, shape (n,).
    probabilities_
        Shape (n, c).
    multilabel_
        Whether nodes may have several labels.

    Examples
    --------
    >>> import graphheat
    >>> club = graphheat.datasets.load("karate")  # two known labels: the two leaders
    >>> HeatLabelSpreading(s=3.0).fit(club).score() > 0.9
    True

    Several labels per node, None where they are unknown:

    >>> watched = [{"tv", "news"}, {"tv"}, *[None] * 31, {"sport"}]
    >>> model = HeatLabelSpreading(s=3.0).fit(club, watched)
    >>> model.classes_.tolist(), model.predict_proba().shape, model.predict()[0].tolist()
    (['news', 'sport', 'tv'], (34, 3), [1, 0, 1])
    """

    def __init__(
        self, s: float = 10.0, *, eps: float = 1e-5, tol: float = 1e-6, neighbors: int = 10
    ) -> None:
        self.s = s
        self.eps = eps
        self.tol = tol
        self.neighbors = neighbors

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        adjacency: Any = None,
        labelled: Any = None,
        graph: Graph | None = None,
    ) -> Self:
        """Spread the known labels.

        Parameters
        ----------
        X
            A Graph; or features, shape (n, f), dense or sparse; or None when ``adjacency`` is
            given.
        y
            Labels, shape (n,), strings or numbers; None, NaN and (beside two other classes) −1 mean
            unlabelled. Several labels per node: a set, list or tuple for each (None: unknown), or a
            matrix or frame of 0 and 1, shape (n, k) (a row with NaN: unknown). A Graph has labels
            of its own, and takes only label sets beside them.
        adjacency
            Symmetric, shape (n, n); None: the nearest neighbours of X.
        labelled
            Mask of the labels that may be used, shape (n,).
        graph
            For searches over nodes: X is then row numbers of this graph, shape (m,) or (m, 1), and
            y one label for each, shape (m,). See :class:`~graphheat.NodeFolds`.
        """
        if y is None and isinstance(X, Graph) and X.label_sets is not None:
            sets: LabelSets | None = LabelSets.of_graph(X)
        else:
            sets = None if y is None else label_sets(y)
        self.multilabel_ = sets is not None
        if sets is None:
            return super().fit(X, y, adjacency=adjacency, labelled=labelled, graph=graph)
        if graph is not None:
            raise ParameterError("With graph=, y must hold one label per row; got label sets.")
        return self._fit_sets(X, sets, adjacency, labelled)

    def predict(self, X: Any = None, *, adjacency: Any = None) -> NDArray[Any]:
        """Return the most probable class of each node, shape (n,); as :meth:`predict_proba`.

        Of a model with several labels per node: 1 where a label's probability is at least 1/2,
        shape (n, k).
        """
        probabilities = self.predict_proba(X, adjacency=adjacency)
        if self.multilabel_:
            return (probabilities >= 0.5).astype(np.int64)
        return super().predict(X, adjacency=adjacency)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags

    def _fit_sets(self, X: Any, sets: LabelSets, adjacency: Any, labelled: Any) -> Self:
        if isinstance(X, Graph):
            if adjacency is not None:
                raise ParameterError("fit takes a Graph or an adjacency; got both.")
            graph = X
        else:
            X = None if X is None else self._check_features(X, reset=True)
            graph = from_arrays(X, None, adjacency=adjacency, neighbors=self.neighbors)
        if len(sets.known) != graph.n:
            raise GraphError(
                f"y must hold one label set per node; got {len(sets.known):,} for "
                f"{graph.n:,} nodes."
            )
        known = sets.known
        if labelled is not None:
            mask = np.asarray(labelled)
            if mask.dtype.kind != "b" or mask.shape != known.shape:
                raise GraphError(
                    f"labelled must be a boolean mask of shape ({graph.n},); "
                    f"got {mask.dtype} {mask.shape}."
                )
            known = known & mask
        nodes = np.flatnonzero(known)
        if not len(nodes) or not sets.classes:
            raise GraphError("There is no label to spread. Label at least one node.")
        indicator = sets.indicator[nodes]
        # The last column is the heat of all that are known, whatever their labels.
        heat = self._heat(graph, nodes, np.column_stack([indicator, np.ones(len(nodes))]))
        self._share(heat[:, :-1], heat[:, -1], indicator.mean(axis=0))
        np.minimum(self.probabilities_, 1.0, out=self.probabilities_)
        self._has_own_adjacency = isinstance(X, Graph) or adjacency is not None
        self.graph_ = graph
        self.classes_ = class_array(sets.classes)
        return self

    def _fit_graph(self, graph: Graph) -> None:
        known = graph.training_nodes
        if not len(known):
            raise GraphError("There is no label to spread. Label at least one node.")
        codes = graph.labels[known]
        onehot = np.zeros((len(known), len(graph.classes)))
        onehot[np.arange(len(known)), codes] = 1.0
        heat = self._heat(graph, known, onehot)
        shares = np.bincount(codes, minlength=len(graph.classes)) / len(codes)
        self._share(heat, heat.sum(axis=1), shares)

    def _heat(
        self, graph: Graph, known: NDArray[np.int64], columns: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return the heat that columns of the known nodes send to every node, shape (n, k)."""
        eps, tol = self._checked()
        start = np.zeros((graph.n, columns.shape[1]))
        start[known] = columns
        heat = HeatKernel(graph, self.s, tol=min(tol, eps / 10), engine=ONE_OFF).apply(start)
        return np.asarray(np.maximum(heat, 0.0))

    def _share(
        self,
        heat: NDArray[np.float64],
        total: NDArray[np.float64],
        elsewhere: NDArray[np.float64],
    ) -> None:
        """Keep the shares of the total; where it does not reach eps, those of ``elsewhere``."""
        self.reached_ = total >= self._checked()[0]
        self.probabilities_ = np.empty_like(heat)
        self.probabilities_[:] = elsewhere
        self.probabilities_[self.reached_] = heat[self.reached_] / total[self.reached_, None]

    def _checked(self) -> tuple[float, float]:
        eps, tol = (
            check_number(value, name, "HeatLabelSpreading", 0.0, 1.0, left="open", right="open")
            for name, value in (("eps", self.eps), ("tol", self.tol))
        )
        return eps, tol

    def _foreign_proba(self, graph: Graph) -> NDArray[Any]:
        raise ParameterError(
            "HeatLabelSpreading labels only the nodes it was fitted on. "
            "Fit it again on a graph that holds the new ones."
        )
