"""Prediction sets: for each node the classes that hold the true one, as often as promised.

References
----------
M. Sadinle, J. Lei, L. Wasserman: Least Ambiguous Set-Valued Classifiers with Bounded Error Levels,
Journal of the American Statistical Association 2019 (the plain score 1 − p).
S. Zargarbashi, S. Antonelli, A. Bojchevski: Conformal Prediction Sets for Graph Neural Networks,
ICML 2023 (DAPS: scores diffused over neighbours; here over the nodes that heat reaches).
"""

from __future__ import annotations

import math
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaincinv

from graphheat.calibration.arguments import check_labelled, check_probabilities
from graphheat.checks import check_choice, check_count, check_number
from graphheat.errors import ParameterError
from graphheat.graph import Graph
from graphheat.graph.adjacency import validate
from graphheat.heat import HeatKernel
from graphheat.heat.engines import ONE_OFF

Score = Literal["plain", "diffused"]

# Of the diffused score: a time that served Cora, Citeseer and Pubmed well (halvings of nodes that
# are not tested there), and the shares of it to choose from.
TIME, SHARES = 5.0, (0.0, 0.1, 0.2, 0.4)


def prediction_sets(
    probabilities: ArrayLike,
    calibration_nodes: ArrayLike,
    labels: ArrayLike,
    alpha: float = 0.1,
    *,
    score: Score = "plain",
    graph: Graph | Any = None,
    choosing_nodes: ArrayLike | None = None,
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
        ``"plain"``: 1 − p. ``"diffused"``: the same, in part averaged over the nodes that heat
        reaches (:func:`diffused_scores`), which makes sets smaller where neighbours know more than
        the network has learned from them; a set may then lack the most probable class.
    graph
        A :class:`~graphheat.Graph` or a symmetric matrix, shape (n, n), for diffused scores.
    choosing_nodes
        Labelled nodes that choose how large that part is: 0, 0.1, 0.2 or 0.4, whichever would give
        the smallest sets if they calibrated. Default: the calibration nodes.

    Returns
    -------
    ndarray
        Shape (n, c), True where a class is in a node's set.

    Notes
    -----
    The promise is an average over nodes like the calibration nodes (exchangeable with them). Scores
    are made without any label, for all nodes alike, so diffusion leaves it as it is. A choice by
    other nodes costs nothing of it, a choice by the calibration nodes themselves a little: 0.1 to
    0.3 points on Cora, Citeseer and Pubmed with 750 of them. Filling empty sets can only raise the
    coverage: to the accuracy, where that is above 1 − alpha. With fewer than 1/alpha − 1
    calibration nodes every class is in every set. *Deterministic*: yes.

    Examples
    --------
    >>> p = [[0.9, 0.1], [0.6, 0.4], [0.5, 0.5]]
    >>> prediction_sets(p, [0, 1], [0, 0, -1], alpha=0.5).tolist()
    [[True, False], [True, False], [True, False]]
    """
    check_choice(score, "score", "prediction_sets", get_args(Score))
    p = check_probabilities(probabilities)
    rows, known = check_labelled(labels, calibration_nodes, p.shape, "prediction_sets")
    alpha = check_number(alpha, "alpha", "prediction_sets", 0.0, 1.0, left="open", right="open")
    if score == "diffused" and graph is None:
        raise ParameterError("prediction_sets diffuses scores over a graph. Pass graph=.")
    scores = plain_scores(p)
    if score == "plain":
        return _sets(scores, rows, known, alpha)
    by = rows, known
    if choosing_nodes is not None:
        by = check_labelled(labels, choosing_nodes, p.shape, "prediction_sets")
    heat = diffused_scores(p, graph, share=1.0)
    mixes = [_mixed(scores, heat, share) for share in SHARES]
    best = min(mixes, key=lambda mixed: int(_sets(mixed, *by, alpha).sum()))
    return _sets(best, rows, known, alpha)


def _sets(
    scores: NDArray[np.float64], rows: NDArray[np.int64], known: NDArray[np.int64], alpha: float
) -> NDArray[np.bool_]:
    """Return the classes whose scores are as low as those of most of the known ones."""
    ranked = np.sort(scores[rows, known])
    # The tolerance undoes rounding: (9 + 1)(1 − 0.1) is 9, and not a hair more.
    rank = math.ceil((len(ranked) + 1) * (1.0 - alpha) - 1e-9)
    if rank > len(ranked):
        return np.ones(scores.shape, dtype=bool)
    sets: NDArray[np.bool_] = scores <= ranked[rank - 1]
    empty = np.flatnonzero(~sets.any(axis=1))
    sets[empty, scores[empty].argmin(axis=1)] = True
    return sets


def _mixed(
    scores: NDArray[np.float64], heat: NDArray[np.float64], share: float
) -> NDArray[np.float64]:
    return (1.0 - share) * scores + share * heat if share else scores


def plain_scores(probabilities: ArrayLike) -> NDArray[np.float64]:
    """Return 1 − p, shape (n, c): how strange each class would be as the true one."""
    return 1.0 - check_probabilities(probabilities)


def diffused_scores(
    probabilities: ArrayLike, graph: Graph | Any, *, s: float = TIME, share: float = SHARES[-1]
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
            f"The 'graph' of diffused_scores must have one node per row of the probabilities; "
            f"got {adjacency.shape[0]} nodes for {len(scores)} rows."
        )
    root = np.sqrt(np.asarray(adjacency.sum(axis=1), dtype=np.float64).ravel())
    joined = root > 0
    root = np.where(joined, root, 1.0)[:, None]
    kernel = HeatKernel(graph, s, tol=1e-9, isolated="keep", engine=ONE_OFF)
    heat = kernel.apply(root * scores) / root
    return np.where(joined[:, None], _mixed(scores, heat, share), scores)


def coverage_interval(nodes: int, alpha: float = 0.1, level: float = 0.9) -> tuple[float, float]:
    """Return between what the true coverage of prediction sets lies, for so many nodes.

    The promise of 1 − alpha holds on average over calibration sets; that of one set of m nodes is
    distributed as Beta(k, m + 1 − k), k = ⌈(m + 1)(1 − alpha)⌉ (Vovk 2012). With 20 nodes it may
    well be 0.8 where 0.9 was asked for.

    Parameters
    ----------
    nodes
        Number of calibration nodes, m.
    alpha, level
        As for :func:`prediction_sets`; and the probability that the interval holds the coverage.

    Examples
    --------
    >>> low, high = coverage_interval(20)
    >>> round(low, 2), round(high, 2)
    (0.78, 0.98)
    """
    m = check_count(nodes, "nodes", "coverage_interval")
    alpha, level = (
        check_number(value, name, "coverage_interval", 0.0, 1.0, left="open", right="open")
        for name, value in (("alpha", alpha), ("level", level))
    )
    rank = math.ceil((m + 1) * (1.0 - alpha) - 1e-9)
    if rank > m:  # too few nodes for a threshold: every class is in every set
        return 1.0, 1.0
    tails = (1 - level) / 2, (1 + level) / 2
    low, high = (float(betaincinv(rank, m + 1 - rank, tail)) for tail in tails)
    return low, high
