"""Ridge classification with exact leave-one-out predictions, all penalties from one decomposition.

A least-squares fit of one-hot labels knows in closed form what it would say of each training node
had that node not been there (Allen's PRESS): the residual divided by one minus the leverage. So a
hundred settings can be judged on the training labels, none of which a setting has seen, at the cost
of one fit each.

References
----------
D. M. Allen: The Relationship between Variable Selection and Data Augmentation and a Method for
Prediction, Technometrics 1974. R. Rifkin, R. Lippert: Notes on Regularized Least Squares, 2007.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

Array = NDArray[np.float64]

# Directions whose variance is this share of the largest are rounding, not data.
NEGLIGIBLE = 1e-12
FULL = 1e-9  # of one minus the leverage: a node that alone decides its own fit


@dataclass(frozen=True, eq=False)
class Spectrum:
    """The training rows as a ridge regression sees them: weighted, centred, decomposed.

    With Z the rows, ω the nodes' weights and μ their weighted mean, diag(√ω)(Z − 1μᵀ) = U d Vᵀ.

    Attributes
    ----------
    left, squares
        U, shape (m, r), and d², shape (r,).
    weights
        ω, shape (m,), 1 in the mean.
    variance
        Weighted mean squared distance of a row from the centre: the unit that L2 is measured in.
    """

    left: Array
    squares: Array
    weights: Array
    variance: float

    @classmethod
    def of_gram(cls, gram: NDArray[Any], weights: Array, noise: float = 0.0) -> Spectrum:
        """Decompose rows by their inner products, shape (m, m), not centred.

        Directions in which rows differ by no more than ``noise``, as a length, are left out.
        """
        gram = np.asarray(gram, dtype=np.float64)
        share = weights / weights.sum()
        mean = gram @ share
        centred = gram - mean - mean[:, None] + share @ mean
        root = np.sqrt(weights)
        squares, vectors = eigh(centred * root * root[:, None])
        kept = cls._kept(squares, len(gram), noise)
        return cls(vectors[:, kept], squares[kept], weights, _variance(squares, weights))

    @classmethod
    def of_rows(cls, rows: NDArray[Any], weights: Array, noise: float = 0.0) -> Spectrum:
        """Decompose rows, shape (m, f), by whichever side is the shorter."""
        rows = np.asarray(rows, dtype=np.float64)
        if rows.shape[1] > rows.shape[0]:
            return cls.of_gram(rows @ rows.T, weights, noise)
        centred = (rows - weights @ rows / weights.sum()) * np.sqrt(weights)[:, None]
        squares, vectors = eigh(centred.T @ centred)
        kept = cls._kept(squares, len(rows), noise)
        left = centred @ (vectors[:, kept] / np.sqrt(squares[kept]))
        return cls(left, squares[kept], weights, _variance(squares, weights))

    @staticmethod
    def _kept(squares: Array, m: int, noise: float) -> NDArray[np.bool_]:
        least = NEGLIGIBLE * max(squares.max(initial=0.0), np.finfo(float).tiny)
        kept: NDArray[np.bool_] = squares > max(least, m * noise**2)
        return kept

    def fitted(self, targets: Array, penalty: float) -> tuple[Array, Array]:
        """Return the fit of ``targets``, shape (m, c), and each node's leverage, shape (m,)."""
        root = np.sqrt(self.weights)[:, None]
        mean = self.weights @ targets / self.weights.sum()
        shrunk = self.squares / (self.squares + penalty * self.variance)
        inner = self.left * shrunk
        fit = mean + inner @ (self.left.T @ ((targets - mean) * root)) / root
        leverage = (inner * self.left).sum(axis=1) + self.weights / self.weights.sum()
        return fit, leverage

    def left_out(self, targets: Array, penalty: float) -> Array:
        """Return the prediction for each node by the fit on all others, shape (m, c)."""
        fit, leverage = self.fitted(targets, penalty)
        free = np.maximum(1.0 - leverage, FULL)[:, None]
        return targets - (targets - fit) / free

    def duals(self, targets: Array, penalty: float) -> Array:
        """Return A, shape (m, c), with weights (Z − 1μᵀ)ᵀA; its columns sum to 0.

        A lies in the directions that were kept: what rows have beside them, which is rounding,
        would otherwise be multiplied by residuals over the penalty.
        """
        root = np.sqrt(self.weights)[:, None]
        mean = self.weights @ targets / self.weights.sum()
        scale = np.maximum(self.squares + penalty * self.variance, np.finfo(float).tiny)
        duals: Array = root * (
            self.left @ (self.left.T @ ((targets - mean) * root) / scale[:, None])
        )
        return duals


def _variance(squares: Array, weights: Array) -> float:
    return float(np.maximum(squares, 0.0).sum() / weights.sum())


def one_hot(codes: NDArray[np.int64], classes: int) -> Array:
    """Return the codes as rows of zeros and a one, shape (m, classes)."""
    rows = np.zeros((len(codes), classes))
    rows[np.arange(len(codes)), codes] = 1.0
    return rows
