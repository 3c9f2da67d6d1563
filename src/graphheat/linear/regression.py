"""Multinomial logistic regression in the space that its training rows span.

The weights of a regression with an L2 penalty are sums of training rows (the representer theorem),
so that m rows of f features can be rotated to at most min(m, f) coordinates without any loss, and a
fit on 100 rows of 4,000 words costs what one on 100 columns does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.optimize import minimize

Array = NDArray[np.float64]

# Directions whose variance is this share of the largest are rounding, not data.
NEGLIGIBLE = 1e-12


@dataclass(frozen=True, eq=False)
class Rotation:
    """The training rows, centred, as Z − 1μᵀ = U diag(d) Vᵀ.

    Attributes
    ----------
    center
        μ, shape (f,).
    left, lengths, right
        U, shape (m, r); d, shape (r,); V, shape (f, r).
    variance
        Mean squared distance of a row from the centre: the unit that L2 is measured in.
    """

    center: Array
    left: Array
    lengths: Array
    right: Array
    variance: float

    @classmethod
    def of(cls, rows: NDArray[Any], noise: float = 0.0) -> Rotation:
        """Rotate training rows, shape (m, f), each known but for an error of length ``noise``.

        Directions in which they differ by no more than that are left out: a penalty in units of
        the rows' variance would make much of them where rows are next to equal.
        """
        rows = np.asarray(rows, dtype=np.float64)
        center = rows.mean(axis=0)
        centred = rows - center
        wide = rows.shape[1] > rows.shape[0]
        squares, vectors = eigh(centred @ centred.T if wide else centred.T @ centred)
        least = NEGLIGIBLE * max(squares.max(initial=0.0), np.finfo(float).tiny)
        kept = squares > max(least, len(rows) * noise**2)
        lengths, vectors = np.sqrt(squares[kept]), vectors[:, kept]
        left = vectors if wide else centred @ (vectors / lengths)
        right = centred.T @ (vectors / lengths) if wide else vectors
        return cls(center, left, lengths, right, float((centred**2).sum() / len(rows)))

    @property
    def coordinates(self) -> Array:
        """The training rows, shape (m, r)."""
        return self.left * self.lengths

    def rotate(self, rows: NDArray[Any]) -> Array:
        """Return the coordinates of other rows, shape (k, r); what lies outside plays no part."""
        return np.asarray((rows - self.center.astype(rows.dtype)) @ self.right.astype(rows.dtype))

    def duals(self, weights: Array) -> Array:
        """Return A with (Z − 1μᵀ)ᵀA = V weights, shape (m, c); its columns sum to 0."""
        duals = self.left @ (weights / self.lengths[:, None])
        centred: Array = duals - duals.mean(axis=0)
        return centred


def fit_logistic(
    rows: Array,
    codes: NDArray[np.int64],
    classes: int,
    penalty: float,
    *,
    start: tuple[Array, Array] | None = None,
    accuracy: float = 1e-5,
) -> tuple[Array, Array]:
    """Minimise mean cross-entropy + penalty · ½‖W‖²; intercepts are free.

    Parameters
    ----------
    rows, codes
        Shape (m, r), uncorrelated columns, as :attr:`Rotation.coordinates` has them (others do,
        and take longer); and class codes, shape (m,), each class at least once.
    start
        Weights and intercepts to begin with: those of a neighbour on the path.
    accuracy
        Stop when no entry of the gradient is above it, in units in which the curvature is about 1.

    Returns
    -------
    tuple
        Weights, shape (r, classes), and intercepts, shape (classes,).

    Notes
    -----
    L-BFGS, after columns have been scaled by Böhning's bound on the curvature, which is diagonal
    where columns are uncorrelated. *Deterministic*: yes.
    """
    m, r = rows.shape
    unit = 1.0 / np.sqrt((rows**2).sum(axis=0) / (2 * m) + penalty)
    scaled = rows * unit
    decay = penalty * (unit**2)[:, None]
    truth = np.zeros((m, classes))
    truth[np.arange(m), codes] = 1.0

    def value_and_gradient(flat: Array) -> tuple[float, Array]:
        given = flat.reshape(r + 1, classes)
        weights, logits = given[:r], scaled @ given[:r] + given[r]
        # scipy's log_softmax, without its checks, which take longer than it does on small graphs.
        logits -= logits.max(axis=1, keepdims=True)
        logs = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
        loss = -float((logs * truth).sum()) / m + 0.5 * float((decay * weights**2).sum())
        error = (np.exp(logs) - truth) / m
        gradient = np.vstack([scaled.T @ error + decay * weights, error.sum(axis=0)])
        return loss, gradient.ravel()

    first = np.zeros((r + 1, classes))
    if start is not None:
        first = np.vstack([start[0] / unit[:, None], start[1]])
    found = minimize(
        value_and_gradient,
        first.ravel(),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": 1000, "maxfun": 2000, "gtol": accuracy, "ftol": 0.0},
    ).x.reshape(r + 1, classes)
    return found[:r] * unit[:, None], found[r]
