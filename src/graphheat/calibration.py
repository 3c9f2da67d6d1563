"""How far a probability may be believed: temperature, calibration error, prediction sets."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax, softmax

from graphheat.errors import ParameterError
from graphheat.heat.ranges import check_count, check_indices, check_number

LEAST = 1e-12  # a float32 softmax gives exact zeros, whose logarithm would drown the others


def temperature(probabilities: ArrayLike, labels: ArrayLike, nodes: ArrayLike) -> float:
    """Return the temperature T that makes softmax(log p / T) most likely on the given nodes.

    T > 1: the network was too sure of itself; T < 1: not sure enough. Predicted labels stay.

    Parameters
    ----------
    probabilities
        Shape (n, c), rows summing to 1.
    labels
        Class codes, shape (n,); −1 = unknown.
    nodes
        Row numbers of labelled nodes that did not train the network: its validation nodes.

    Notes
    -----
    *Accuracy*: T to 1e-6, within [1/20, 20]. *Cost*: a hundred passes over the given nodes.
    *Deterministic*: yes. Where the same nodes also decided when to stop the training, the network
    is a little better on them than elsewhere, and T a little too small.

    Examples
    --------
    >>> boastful = [[0.99, 0.01], [0.99, 0.01], [0.01, 0.99]]
    >>> temperature(boastful, [0, 1, 1], [0, 1, 2]) > 1
    True
    """
    logits, known, _ = _checked(probabilities, labels, nodes, "temperature")

    def loss(log_temperature: float) -> float:
        scaled = log_softmax(logits / math.exp(log_temperature), axis=1)
        return -float(scaled[np.arange(len(known)), known].mean())

    bound = math.log(20.0)
    best = minimize_scalar(loss, bounds=(-bound, bound), method="bounded", options={"xatol": 1e-7})
    return math.exp(float(best.x))


def calibrated(probabilities: ArrayLike, T: float) -> NDArray[np.float64]:
    """Return softmax(log p / T), shape (n, c)."""
    T = check_number(T, "T", "calibrated", 0.0, math.inf, left="open")
    result: NDArray[np.float64] = softmax(_logarithm(probabilities) / T, axis=1)
    return result


def expected_calibration_error(
    probabilities: ArrayLike, labels: ArrayLike, nodes: ArrayLike, *, bins: int = 15
) -> float:
    """Return the mean gap between confidence and accuracy, over equal-width bins of confidence.

    Σ_b (|b| / m) · |accuracy(b) − confidence(b)| over the m given nodes.

    Examples
    --------
    >>> expected_calibration_error([[0.8, 0.2], [0.8, 0.2]], [0, 0], [0, 1])
    0.2
    """
    _, known, rows = _checked(probabilities, labels, nodes, "expected_calibration_error")
    bins = check_count(bins, "bins", "expected_calibration_error")
    chosen = np.asarray(probabilities, dtype=np.float64)[rows]
    confidence, right = chosen.max(axis=1), chosen.argmax(axis=1) == known
    # A bin is open on the left: confidence 1 belongs to the last.
    place = np.clip(np.ceil(confidence * bins).astype(np.int64) - 1, 0, bins - 1)
    gaps = np.bincount(place, weights=right - confidence, minlength=bins)
    return float(round(np.abs(gaps).sum() / len(known), 12))


def prediction_sets(
    probabilities: ArrayLike,
    calibration_nodes: ArrayLike,
    labels: ArrayLike,
    alpha: float = 0.1,
) -> NDArray[np.bool_]:
    """Return sets of classes that hold the true one with probability at least 1 − alpha.

    Split conformal prediction with the score 1 − p(true class): class k is in the set of node i
    when 1 − p_ik is at most the ⌈(m + 1)(1 − alpha)⌉-th smallest score of the m calibration nodes.
    The most probable class is always in.

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

    Returns
    -------
    ndarray
        Shape (n, c), True where a class is in a node's set.

    Notes
    -----
    The promise is an average over nodes like the calibration nodes (exchangeable with them). With
    fewer than 1/alpha − 1 of them every class is in every set. *Deterministic*: yes.

    Examples
    --------
    >>> p = [[0.9, 0.1], [0.6, 0.4], [0.5, 0.5]]
    >>> prediction_sets(p, [0, 1], [0, 0, -1], alpha=0.5).tolist()
    [[True, False], [True, False], [True, False]]
    """
    _, known, rows = _checked(probabilities, labels, calibration_nodes, "prediction_sets")
    alpha = check_number(alpha, "alpha", "prediction_sets", 0.0, 1.0, left="open", right="open")
    p = np.asarray(probabilities, dtype=np.float64)
    scores = np.sort(1.0 - p[rows, known])
    # The tolerance undoes rounding: (9 + 1)(1 − 0.1) is 9, and not a hair more.
    rank = math.ceil((len(scores) + 1) * (1.0 - alpha) - 1e-9)
    if rank > len(scores):
        return np.ones(p.shape, dtype=bool)
    sets: NDArray[np.bool_] = 1.0 - p <= scores[rank - 1]
    sets[np.arange(len(p)), p.argmax(axis=1)] = True
    return sets


def _logarithm(probabilities: ArrayLike) -> NDArray[np.float64]:
    p = np.asarray(probabilities, dtype=np.float64)
    if p.ndim != 2 or not np.isfinite(p).all() or (p < 0).any():
        raise ParameterError(
            "The 'probabilities' must be finite and non-negative, shape (n, c). "
            f"Got shape {p.shape} instead."
        )
    result: NDArray[np.float64] = np.log(np.maximum(p, LEAST))
    return result


def _checked(
    probabilities: ArrayLike, labels: ArrayLike, nodes: ArrayLike, owner: str
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]:
    """Return the logits and labels of the given nodes, and their row numbers."""
    logits = _logarithm(probabilities)
    codes: NDArray[Any] = np.asarray(labels)
    if codes.shape != (len(logits),):
        raise ParameterError(
            f"The 'labels' of {owner} must be one a row; got {codes.shape} for {len(logits)} rows."
        )
    rows = check_indices(nodes, len(logits), owner)
    if not len(rows):
        raise ParameterError(f"{owner} needs at least one labelled node that did not train.")
    known = codes[rows].astype(np.int64)
    if ((known < 0) | (known >= logits.shape[1])).any():
        raise ParameterError(f"{owner} needs nodes whose labels are known.")
    return logits[rows], known, rows
