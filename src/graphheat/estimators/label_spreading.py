"""HeatLabelSpreading: the labels alone, carried by heat.

References
----------
D. Zhou, O. Bousquet, T. Lal, J. Weston, B. Schölkopf: Learning with Local and Global Consistency,
NIPS 2003 (label spreading; here e^{-sL} takes the place of its (I − αS)^{-1}).
R. Kondor, J. Lafferty: Diffusion Kernels on Graphs and Other Discrete Input Spaces, ICML 2002.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphheat.checks import check_number
from graphheat.errors import GraphError, ParameterError
from graphheat.estimators.transductive import TransductiveClassifier
from graphheat.graph import Graph
from graphheat.heat import HeatKernel
from graphheat.heat.engines import ONE_OFF


class HeatLabelSpreading(TransductiveClassifier):
    r"""Label nodes by the heat that reaches them from labelled nodes; no features, no network.

    With Y the one-hot labels of the known nodes,

    .. math:: F = e^{-sL} Y, \qquad p_{ic} = F_{ic} / \sum_c F_{ic}

    so that a node's probabilities are the shares of heat that each class sends it. A node that
    less than ``eps`` of heat reaches gets the share of each class among the known labels.

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

    Examples
    --------
    >>> import graphheat
    >>> club = graphheat.datasets.load("karate")  # two known labels: the two leaders
    >>> HeatLabelSpreading(s=3.0).fit(club).score() > 0.9
    True
    """

    def __init__(
        self, s: float = 10.0, *, eps: float = 1e-5, tol: float = 1e-6, neighbors: int = 10
    ) -> None:
        self.s = s
        self.eps = eps
        self.tol = tol
        self.neighbors = neighbors

    def _fit_graph(self, graph: Graph) -> None:
        eps, tol = (
            check_number(value, name, "HeatLabelSpreading", 0.0, 1.0, left="open", right="open")
            for name, value in (("eps", self.eps), ("tol", self.tol))
        )
        known = graph.training_nodes
        if not len(known):
            raise GraphError("There is no label to spread. Label at least one node.")
        codes = graph.labels[known]
        onehot = np.zeros((graph.n, len(graph.classes)))
        onehot[known, codes] = 1.0
        heat = HeatKernel(graph, self.s, tol=min(tol, eps / 10), engine=ONE_OFF).apply(onehot)
        heat = np.maximum(heat, 0.0)
        total = heat.sum(axis=1)
        self.reached_ = total >= eps
        self.probabilities_ = np.empty_like(heat)
        self.probabilities_[:] = np.bincount(codes, minlength=len(graph.classes)) / len(codes)
        self.probabilities_[self.reached_] = heat[self.reached_] / total[self.reached_, None]

    def _foreign_proba(self, graph: Graph) -> NDArray[Any]:
        raise ParameterError(
            "HeatLabelSpreading labels only the nodes it was fitted on. "
            "Fit it again on a graph that holds the new ones."
        )
