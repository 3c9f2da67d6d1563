"""Prediction sets: for each node the classes that hold the true one, as often as promised."""

from __future__ import annotations

import math
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphheat.calibration.checking import check_labelled, check_probabilities
from graphheat.errors import ParameterError
from graphheat.graph import Graph
from graphheat.graph.adjacency import choose, validate
from graphheat.heat import HeatKernel
from graphheat.heat.ranges import check_number

Score = Literal["plain", "diffused"]

# Of the diffused score: chosen for small sets on validation nodes of Cora, Citeseer and Pubmed, by
# halvings of these alone (six runs of the default recipe each), and the same for every graph.
TIME, SHARE = 3.0, 0.3


def prediction_sets(
    probabilities: ArrayLike,
    calibration_nodes: ArrayLike,
    labels: ArrayLike,
    alpha: float = 0.1,
    *,
    score: Score = "plain",
    graph: Graph | Any = None,
) -> NDArray[np.bool_]:
    """Return sets of classes that hold the true one with probability at least 1 − alpha.

    Split conformal prediction: class k is in the set of node i when its score is at most the
    ⌈(m + 1)(1 − alpha)⌉-th smallest score of the true classes of the m calibration nodes. A set
    that would be empty gets the class of the lowest score.

    Parameters
    ----------
    probabilities
        Shape (n, c).
    calibration_nodes
        Row numbers of labelled nodes that did not train the network, shape (m,).
    labels
        Class codes, shape (n,).
    alpha
        Share of sets that may miss, in (0, 1).
    score
        ``"plain"``: 1 − p. ``"diffused"``: the same, averaged over the nodes that heat reaches
        (:func:`diffused_scores`), which makes sets smaller where neighbours are alike; a set may
        then lack the most probable class.
    graph
        A :class:`~graphheat.Graph` or a symmetric matrix, shape (n, n), for diffused scores.

    Returns
    -------
    ndarray
        Shape (n, c), True where a class is in a node's set.

    Notes
    -----
    The promise is an average over nodes like the calibration nodes (exchangeable with them). Scores
    are made without any label, for all nodes alike, so diffusion leaves it as it is. Filling empty
    sets can only raise the coverage: to the accuracy, where that is above 1 − alpha. With fewer
    than 1/alpha − 1 calibration nodes every class is in every set. *Deterministic*: yes.

    Examples
    --------
    >>> p = [[0.9, 0.1], [0.6, 0.4], [0.5, 0.5]]
    >>> prediction_sets(p, [0, 1], [0, 0, -1], alpha=0.5).tolist()
    [[True, False], [True, False], [True, False]]
    """
    choose("prediction_sets", "score", score, get_args(Score))
    p = check_probabilities(probabilities)
    rows, known = check_labelled(labels, calibration_nodes, p.shape, "prediction_sets")
    alpha = check_number(alpha, "alpha", "prediction_sets", 0.0, 1.0, left="open", right="open")
    if score == "diffused" and graph is None:
        raise ParameterError("prediction_sets diffuses scores over a graph. Pass graph=.")
    scores = plain_scores(p) if score == "plain" else diffused_scores(p, graph)
    ranked = np.sort(scores[rows, known])
    # The tolerance undoes rounding: (9 + 1)(1 − 0.1) is 9, and not a hair more.
    rank = math.ceil((len(ranked) + 1) * (1.0 - alpha) - 1e-9)
    if rank > len(ranked):
        return np.ones(p.shape, dtype=bool)
    sets: NDArray[np.bool_] = scores <= ranked[rank - 1]
    empty = np.flatnonzero(~sets.any(axis=1))
    sets[empty, scores[empty].argmin(axis=1)] = True
    return sets


def plain_scores(probabilities: ArrayLike) -> NDArray[np.float64]:
    """Return 1 − p, shape (n, c): how strange each class would be as the true one."""
    return 1.0 - check_probabilities(probabilities)


def diffused_scores(
    probabilities: ArrayLike, graph: Graph | Any, *, s: float = TIME, share: float = SHARE
) -> NDArray[np.float64]:
    r"""Return plain scores, in part replaced by their average over the nodes that heat reaches.

    .. math:: (1 - w)\,S + w\,e^{-s(I - D^{-1}A)}\,S, \qquad S = 1 - p

    The random walk's form of the heat kernel, D^{-1/2} e^{-sL} D^{1/2}, has rows that sum to 1, so
    scores stay within [0, 1] and comparable between nodes.

    Parameters
    ----------
    probabilities
        Shape (n, c).
    graph
        A :class:`~graphheat.Graph`, or a symmetric non-negative matrix, shape (n, n).
    s
        Diffusion time.
    share
        w, in [0, 1].

    Notes
    -----
    *Accuracy*: 1e-9 of the scores' norm. *Cost*: as :meth:`HeatKernel.apply` on c columns.
    *Deterministic*: yes. *Isolated nodes* keep their plain scores, bit for bit.

    Examples
    --------
    >>> import numpy as np
    >>> pair = np.array([[0.0, 1.0], [1.0, 0.0]])
    >>> diffused_scores([[1.0, 0.0], [0.0, 1.0]], pair, s=50.0, share=1.0).round(3)
    array([[0.5, 0.5],
           [0.5, 0.5]])
    """
    scores = plain_scores(probabilities)
    share = check_number(share, "share", "diffused_scores", 0.0, 1.0)
    adjacency = graph.adjacency if isinstance(graph, Graph) else validate(graph)
    if adjacency.shape[0] != len(scores):
        raise ParameterError(
            f"The 'graph' of diffused_scores must have one node a row of the probabilities; "
            f"got {adjacency.shape[0]} nodes for {len(scores)} rows."
        )
    root = np.sqrt(np.asarray(adjacency.sum(axis=1), dtype=np.float64).ravel())
    joined = root > 0
    root = np.where(joined, root, 1.0)[:, None]
    heat = HeatKernel(graph, s, tol=1e-9, isolated="keep").apply(root * scores) / root
    mixed = (1.0 - share) * scores + share * heat
    return np.where(joined[:, None], mixed, scores)
