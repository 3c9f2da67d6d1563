"""How far one is: the accuracy of a run where there is no label, estimated from where there is one.

Each labelled node is predicted without its own label (leave-one-out, or out-of-fold), which tells
whether the model would have been right there. But labelled nodes were chosen, the doubtful ones
above all, and their mean would understate the model. So what is learned from them is how often a
prediction of a given confidence is right,

    P(right | confidence q) = σ(a + b · logit q),

and the mean of that is taken over the confidences of the nodes without a label. This is right
whatever the choice went by, as long as it did not see who would be right: nodes of equal confidence
stand for each other. (The choice is greedy, without chance; weights by the chance of being chosen,
after Horvitz and Thompson, do not exist.) a and b have the priors N(0, 1) and N(1, 1/4), so that a
handful of labels believe the model at first; the interval is that of their posterior, with twice
its variance.

References
----------
J. Platt: Probabilistic Outputs for Support Vector Machines, 1999 (the form of P). D. Horvitz,
D. Thompson: A Generalization of Sampling Without Replacement from a Finite Universe, JASA 1952.
R. Little: Post-Stratification, A Modeler's Perspective, JASA 1993 (means by model over those not
asked).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from graphheat.runs import Run

Array = NDArray[np.float64]

PRIOR = np.array([0.0, 1.0])
PRECISION = np.array([1.0, 4.0])  # of the prior: 1 / variance
EDGE = 1e-3  # confidences are kept so far from 0 and 1
DRAWS = 1000
SPREAD = 2.0  # of the variance: neighbours are right or wrong together, so labels count for fewer
LEVEL = 0.9
LEAST = 4  # labels that must have been predicted without themselves
MORE = 10


@dataclass(frozen=True)
class AccuracyEstimate:
    """The accuracy on unlabelled nodes, by labels that a model did not see.

    Attributes
    ----------
    labels
        How many labels it rests on.
    accuracy, low, high
        The mean of its posterior, and an interval that holds nine tenths of it.
    plain
        The share of labels that were predicted rightly without themselves: what one would say who
        forgot that nodes were chosen.
    """

    labels: int
    accuracy: float
    low: float
    high: float
    plain: float


def estimate_accuracy(run: Run, *, seed: int = 0) -> AccuracyEstimate | None:
    """Estimate the accuracy of a run on nodes without a label; None where labels are too few.

    Parameters
    ----------
    run
        With ``out_of_fold``, as the recipes spreading, linear and auto have it.
    seed
        Of the posterior's draws.

    Notes
    -----
    *Accuracy*: of the posterior's normal approximation; labels that are the only ones of their
    class do not count. *Cost*: none. *Deterministic*: yes, for a seed.

    Examples
    --------
    >>> import graphheat
    >>> graph = graphheat.datasets.block_model(300, 3, homophily=0.9, seed=0)
    >>> found = estimate_accuracy(graphheat.fit(graph, "linear"))
    >>> found.low < found.accuracy < found.high
    True
    """
    if run.out_of_fold is None:
        return None
    train = np.sort(run.split.train)
    unseen = np.asarray(run.out_of_fold, dtype=np.float64)
    codes = run.labels[train]
    several = np.bincount(codes, minlength=len(run.classes))[codes] > 1
    held = several & np.isfinite(unseen).all(axis=1)
    if held.sum() < LEAST:
        return None
    right = unseen[held].argmax(axis=1) == codes[held]
    others = np.ones(len(run.nodes), dtype=np.bool_)
    others[train] = False
    if not others.any():
        return None
    x = _logits(unseen[held].max(axis=1))
    there = _logits(np.asarray(run.probabilities, dtype=np.float64)[others].max(axis=1))
    mean, covariance = posterior(x, right.astype(np.float64))
    drawn = np.random.default_rng(seed).multivariate_normal(mean, SPREAD * covariance, DRAWS)
    # Fewer distinct confidences than nodes: 200 quantiles are as good as all of them.
    points = np.quantile(there, (np.arange(200) + 0.5) / 200)
    means = expit(drawn[:, :1] + drawn[:, 1:] * points).mean(axis=1)
    low, high = np.quantile(means, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return AccuracyEstimate(
        int(held.sum()), float(means.mean()), float(low), float(high), float(right.mean())
    )


def posterior(x: Array, right: Array) -> tuple[Array, Array]:
    """Return mean (2,) and covariance (2, 2) of a and b, by Newton's method and Laplace."""
    design = np.column_stack([np.ones(len(x)), x])
    at = PRIOR.copy()
    for _ in range(50):
        p = expit(design @ at)
        gradient = design.T @ (right - p) - PRECISION * (at - PRIOR)
        curvature = (design.T * (p * (1 - p))) @ design + np.diag(PRECISION)
        step = np.linalg.solve(curvature, gradient)
        at = at + step
        if np.abs(step).max() < 1e-10:
            break
    p = expit(design @ at)
    return at, np.linalg.inv((design.T * (p * (1 - p))) @ design + np.diag(PRECISION))


def expected_gain(curve: Sequence[tuple[int, float, float, float]]) -> float | None:
    """Return what ten more labels are expected to bring, from estimates so far.

    A learning curve, accuracy = a − b / √labels, b ≥ 0, is laid through them, each weighed by how
    narrow its interval is; None with fewer than three.

    Examples
    --------
    >>> curve = [(m, 0.9 - 0.8 / m**0.5, 0.0, 1.0) for m in (10, 20, 30)]
    >>> round(expected_gain(curve), 3)
    0.02
    """
    points = np.array(curve, dtype=np.float64).reshape(-1, 4)
    points = points[points[:, 0] > 0]
    if len(np.unique(points[:, 0])) < 3:
        return None
    labels, accuracy = points[:, 0], points[:, 1]
    weights = 1.0 / np.maximum(points[:, 3] - points[:, 2], 0.01)
    slope, _ = np.polyfit(1.0 / np.sqrt(labels), accuracy, 1, w=weights)
    now = float(labels[-1])
    gain = max(-float(slope), 0.0) * (1 / np.sqrt(now) - 1 / np.sqrt(now + MORE))
    return float(np.clip(gain, 0.0, max(0.0, 1.0 - accuracy[-1])))


def _logits(confidence: Array) -> Array:
    found: Array = logit(np.clip(confidence, EDGE, 1.0 - EDGE))
    return found
