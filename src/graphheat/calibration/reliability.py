"""Calibration error: how far confidence is from accuracy, and how far chance alone would put it.

References
----------
M. Naeini, G. Cooper, M. Hauskrecht: Obtaining Well Calibrated Probabilities Using Bayesian Binning,
AAAI 2015 (expected calibration error).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphheat.calibration.arguments import check_labelled, check_probabilities
from graphheat.checks import check_count, check_indices

DIRECT = 64  # nodes whose counts are convolved one by one


class Reliability(NamedTuple):
    """Nodes by confidence, in bins of equal width.

    Attributes
    ----------
    edges
        Of the bins, shape (bins + 1,); a bin is open on the left.
    counts
        Nodes in each, shape (bins,).
    confidence, accuracy
        Means over the nodes of each bin, shape (bins,); NaN where there is none.
    """

    edges: NDArray[np.float64]
    counts: NDArray[np.int64]
    confidence: NDArray[np.float64]
    accuracy: NDArray[np.float64]

    @property
    def error(self) -> float:
        """``Σ_b (|b| / m) · |accuracy(b) − confidence(b)|`` over the m nodes."""
        held = self.counts > 0
        gaps = self.counts[held] * np.abs(self.accuracy - self.confidence)[held]
        return float(round(gaps.sum() / self.counts.sum(), 12))


def reliability(
    probabilities: ArrayLike, labels: ArrayLike, nodes: ArrayLike, *, bins: int = 15
) -> Reliability:
    """Return confidence beside accuracy on the given nodes, in bins of equal width.

    Parameters
    ----------
    probabilities
        Shape (n, c); the confidence of a node is the largest of its row.
    labels
        Class codes, shape (n,).
    nodes
        Row numbers of labelled nodes, shape (m,).
    """
    p = check_probabilities(probabilities)
    rows, known = check_labelled(labels, nodes, p.shape, "reliability")
    bins = check_count(bins, "bins", "reliability")
    confidence, right = p[rows].max(axis=1), p[rows].argmax(axis=1) == known
    place = _bin_of(confidence, bins)
    counts = np.bincount(place, minlength=bins)
    sums = (np.bincount(place, weights=w, minlength=bins) for w in (confidence, right))
    shown = np.where(counts > 0, counts, np.nan)
    return Reliability(np.linspace(0, 1, bins + 1), counts, *(total / shown for total in sums))


def expected_calibration_error(
    probabilities: ArrayLike, labels: ArrayLike, nodes: ArrayLike, *, bins: int = 15
) -> float:
    """Return the mean gap between confidence and accuracy, over equal-width bins of confidence.

    ``Σ_b (|b| / m) · |accuracy(b) − confidence(b)|`` over the m given nodes.

    Examples
    --------
    >>> expected_calibration_error([[0.8, 0.2], [0.8, 0.2]], [0, 0], [0, 1])
    0.2
    """
    return reliability(probabilities, labels, nodes, bins=bins).error


def expected_by_chance(probabilities: ArrayLike, nodes: ArrayLike, *, bins: int = 15) -> float:
    """Return the calibration error that a perfectly calibrated predictor shows on average.

    Nodes with confidence q are then right with probability q, independently, yet a bin of few nodes
    is seldom right in just that share of them. An error is to be compared with this, not with 0.

    Parameters
    ----------
    probabilities
        Shape (n, c).
    nodes
        Row numbers of the nodes that the error is measured on, shape (m,).

    Notes
    -----
    *Accuracy*: exact (the counts of right nodes are Poisson binomial), to 1e-12. *Cost*:
    O(m log² m). *Deterministic*: yes.

    Examples
    --------
    >>> expected_by_chance([[0.5, 0.5], [0.5, 0.5]], [0, 1])  # one of two right half the time
    0.25
    """
    p = check_probabilities(probabilities)
    rows = check_indices(nodes, len(p), "expected_by_chance")
    bins = check_count(bins, "bins", "expected_by_chance")
    confidence = np.minimum(p[rows].max(axis=1), 1.0)
    place = _bin_of(confidence, bins)
    total = 0.0
    for held in np.unique(place):
        chances = confidence[place == held]
        gaps = np.abs(np.arange(len(chances) + 1) - chances.sum())
        total += float(gaps @ _successes(chances))
    return float(round(total / max(1, len(rows)), 12))


def _bin_of(confidence: NDArray[np.float64], bins: int) -> NDArray[np.int64]:
    # A bin is open on the left: confidence 1 belongs to the last.
    return np.clip(np.ceil(confidence * bins).astype(np.int64) - 1, 0, bins - 1)


def _successes(chances: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how probable 0 … m successes of m independent draws are, shape (m + 1,)."""
    m = len(chances)
    if m > DIRECT:
        from scipy.signal import fftconvolve  # half a second to load

        halves = _successes(chances[: m // 2]), _successes(chances[m // 2 :])
        return np.maximum(fftconvolve(*halves), 0.0)
    result = np.ones(1)
    for chance in chances:
        result = np.convolve(result, (1.0 - chance, chance))
    return result
