"""Weights of stages that answer together, fitted to labels that none of them has learned from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax, xlogy

from graphheat.calibration.temperature import fit_log_scale
from graphheat.graph import Graph, Split
from graphheat.runs import Run
from graphheat.runs.combined_run import LEAST

Array = NDArray[np.float64]

SCALE = 0.03  # of a weight's departure from what is expected of it, among stages
LEAST_SKILL = 0.1  # of some stage, for labels to choose among stages …
LEAST_JUDGES = 30  # … where there are so many of them: fewer cannot tell that either
LEAST_WEIGHT = 0.02  # below this a stage is left out: it would cost time and explain nothing


class Judged(NamedTuple):
    """What runs say of nodes whose labels none of them has learned from.

    Attributes
    ----------
    by
        ``"validation"``, ``"out-of-fold"``, or ``""`` where there are no such labels.
    shown
        Each run's probabilities of the nodes, shape (N, c); rows of NaN where it says nothing.
    codes
        The labels, shape (N,).
    """

    by: str
    shown: list[NDArray[np.floating[Any]]]
    codes: NDArray[np.int64]


def judged(runs: Sequence[Run], graph: Graph, split: Split) -> Judged:
    """Return what runs say of the validation nodes or, without any, of the training nodes."""
    val, train = split.val, np.sort(split.train)
    if len(val):
        return Judged("validation", [run.probabilities[val] for run in runs], graph.labels[val])
    shown = [
        np.full((len(train), len(run.classes)), np.nan)
        if run.out_of_fold is None
        else run.out_of_fold
        for run in runs
    ]
    seen = any(np.isfinite(p).all(axis=1).any() for p in shown)
    return Judged("out-of-fold" if seen else "", shown, graph.labels[train])


def stacked_weights(
    probabilities: Sequence[NDArray[np.floating[Any]]],
    codes: NDArray[np.int64],
    prior: Array,
    scale: float = SCALE,
) -> Array:
    """Return w ≥ 0 for p ∝ Π_k p_k^{w_k}, shape (k,).

    Stacking (Wolpert 1992) in the log-linear form: the mean cross-entropy of the labels, and a
    Cauchy prior around ``prior`` that decides where there are few of them. Its tails are heavy: a
    slight departure from what is expected has to be worth about as much as a large one, so that few
    labels change nothing, and labels that plainly speak for another stage change everything. Each
    stage is first made as sure as it is right, so that the prior means the same for all. The sum of
    w is the sharpness of the whole, so that what is found is calibrated on the same labels.

    Parameters
    ----------
    probabilities
        Of each stage for the same nodes, shape (N, c); rows with NaN are passed over.
    codes
        Their classes, shape (N,).
    prior
        The weights that are expected, shape (k,).
    scale
        Of the prior: half of it is within this distance of what is expected.

    Notes
    -----
    The prior makes more than one minimum possible: the best is taken of those found from what is
    expected and from each stage alone. *Deterministic*: yes. *Cost*: milliseconds.

    Examples
    --------
    >>> sure, lost = np.array([[0.9, 0.1], [0.1, 0.9]] * 20), np.full((40, 2), 0.5)
    >>> w = stacked_weights([sure, lost], np.array([0, 1] * 20), np.array([0.5, 0.5]))
    >>> bool(w[0] > 1)
    True
    """
    from scipy.optimize import minimize  # a tenth of a second to load

    held, known = _held(probabilities, codes)
    logs, rows = np.log(np.maximum(held, LEAST)), np.arange(len(known))
    if not len(known):
        return prior
    sharpness = np.exp(
        [fit_log_scale(p, known, bounds=(-3.0, 3.0), accuracy=1e-3).log_scale for p in logs]
    )
    logs *= sharpness[:, None, None]

    def value_and_gradient(w: Array) -> tuple[float, Array]:
        combined = log_softmax(np.tensordot(w, logs, 1), axis=1)
        expected = (np.exp(combined) * logs).sum(axis=2)  # (k, N)
        apart = (w - prior) / scale
        penalty, slope = np.log1p(apart**2).sum(), 2 * apart / (1 + apart**2) / scale
        gradient = (expected - logs[:, rows, known]).mean(axis=1) + slope / len(known)
        return -float(combined[rows, known].mean()) + float(penalty) / len(known), gradient

    ends = [
        minimize(
            value_and_gradient,
            np.maximum(start, 1e-3),
            jac=True,
            method="L-BFGS-B",
            bounds=[(0.0, None)] * len(prior),
        )
        for start in (prior, *np.eye(len(prior)))
    ]
    found = min(ends, key=lambda end: float(end.fun)).x
    slight = found * np.minimum(sharpness, 1.0) < LEAST_WEIGHT * found.sum()
    kept = np.where(slight, 0.0, found * sharpness)
    return kept if kept.any() else prior


def skill(probabilities: Sequence[NDArray[np.floating[Any]]], codes: NDArray[np.int64]) -> float:
    """Return how much of the entropy of the classes' shares the best stage takes away.

    1: it is sure and right; 0: no better than knowing how frequent each class is. 1 as well where
    there are too few labels, or of one class alone, to judge by.

    Examples
    --------
    >>> skill([np.full((40, 2), 0.5)], np.array([0, 1] * 20))
    0.0
    """
    held, known = _held(probabilities, codes)
    shares = np.bincount(known) / max(len(known), 1)
    entropy = -float(xlogy(shares, shares).sum())
    if len(known) < LEAST_JUDGES or entropy <= 0:
        return 1.0
    losses = [-np.log(np.maximum(p[np.arange(len(known)), known], LEAST)).mean() for p in held]
    return 1.0 - float(min(losses)) / entropy


def shared_weights(
    probabilities: Sequence[NDArray[np.floating[Any]]], codes: NDArray[np.int64], shares: Array
) -> Array:
    """Return ``shares`` times one number: as sure as makes the labels most likely, shape (k,)."""
    held, known = _held(probabilities, codes)
    if not len(known):
        return shares
    logs = np.tensordot(shares, np.log(np.maximum(held, LEAST)), 1)
    whole = fit_log_scale(logs, known, bounds=(-3.0, 3.0), accuracy=1e-3)
    return shares * float(np.exp(whole.log_scale))


def _held(
    probabilities: Sequence[NDArray[np.floating[Any]]], codes: NDArray[np.int64]
) -> tuple[Array, NDArray[np.int64]]:
    """Return what all stages say of the same nodes, shape (k, N, c), and the classes of these."""
    stacked = np.stack([np.asarray(p, dtype=np.float64) for p in probabilities])
    held = np.isfinite(stacked).all(axis=(0, 2))
    return stacked[:, held], codes[held]
