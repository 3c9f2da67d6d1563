"""Temperature scaling: one number that makes a network as sure as it is right.

References
----------
C. Guo, G. Pleiss, Y. Sun, K. Weinberger: On Calibration of Modern Neural Networks, ICML 2017.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import log_softmax, softmax

from graphheat.calibration.arguments import check_labelled, check_probabilities
from graphheat.checks import check_number

STEP = 0.01  # of log T, for a second difference
DEVIATIONS = 2.0  # from log T = 0 that count as none; 0, 1, √2 and 3 were worse in validation
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
        Row numbers of labelled nodes that did not train the network: its calibration nodes.

    Notes
    -----
    log T has the prior N(0, 1), which hundreds of nodes outvote; it keeps a handful of nodes, all
    of them labelled right, from making every probability 0 or 1. What is found is then drawn to
    log T = 0 by the factor 1 − 4v / log² T (in James and Stein's manner; at least 0), v being its
    variance: what is within two deviations of 0 is 0. A hundred nodes cannot tell T = 1.1 from 1,
    and a network that is calibrated already is left alone. *Accuracy*: T to 1e-6, within
    [1/20, 20]. *Cost*: a hundred passes over the given nodes. *Deterministic*: yes. Where the same
    nodes also decided when to stop the training, the network is a little better on them than
    elsewhere, and T a little too small.

    Examples
    --------
    >>> boastful = np.tile([0.99, 0.01], (30, 1))
    >>> temperature(boastful, [0, 0, 1] * 10, range(30)) > 3
    True
    """
    p = check_probabilities(probabilities)
    rows, known = check_labelled(labels, nodes, p.shape, "temperature")
    logits = np.log(np.maximum(p[rows], LEAST))
    bound = math.log(20.0)
    found = fit_log_scale(logits, known, bounds=(-bound, bound), accuracy=1e-7)
    curvature = sum(
        weight * found.objective(found.log_scale + step)
        for weight, step in ((1, STEP), (-2, 0.0), (1, -STEP))
    )
    variance = 1 / max(curvature / STEP**2 * len(known), LEAST)
    log_temperature = -found.log_scale
    return math.exp(
        log_temperature * max(0.0, 1 - DEVIATIONS**2 * variance / max(log_temperature**2, LEAST))
    )


class LogScale(NamedTuple):
    """The scale of logits that labels find most likely.

    Attributes
    ----------
    log_scale, loss
        Its logarithm, and the mean cross-entropy that is left.
    objective
        Mean cross-entropy plus prior, as a function of the logarithm.
    """

    log_scale: float
    loss: float
    objective: Callable[[float], float]


def fit_log_scale(
    logits: NDArray[np.float64],
    codes: NDArray[np.int64],
    *,
    unit: float = 1.0,
    prior: float = 0.0,
    bounds: tuple[float, float],
    accuracy: float,
) -> LogScale:
    """Fit v, so that softmax(logits · e^v / unit) is most likely, with the prior N(prior, 1) on v.

    Parameters
    ----------
    logits, codes
        Shape (m, c), and the true classes, shape (m,).
    unit
        What logits are divided by beforehand, such as their spread.
    bounds, accuracy
        Of v.
    """
    from scipy.optimize import minimize_scalar  # a tenth of a second to load

    rows = np.arange(len(codes))

    def loss(v: float) -> float:
        scaled = log_softmax(logits * (math.exp(v) / unit), axis=1)
        return -float(scaled[rows, codes].mean())

    def objective(v: float) -> float:
        return loss(v) + (v - prior) ** 2 / (2 * len(codes))

    best = minimize_scalar(objective, bounds=bounds, method="bounded", options={"xatol": accuracy})
    v = float(best.x)
    return LogScale(v, loss(v), objective)


def calibrated(probabilities: ArrayLike, T: float) -> NDArray[np.float64]:
    """Return softmax(log p / T), shape (n, c)."""
    T = check_number(T, "T", "calibrated", 0.0, math.inf, left="open")
    logits = np.log(np.maximum(check_probabilities(probabilities), LEAST))
    result: NDArray[np.float64] = softmax(logits / T, axis=1)
    return result
