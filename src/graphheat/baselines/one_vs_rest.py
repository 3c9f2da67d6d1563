"""Logistic regression of each class against the rest, as scikit-learn long did it by default."""

from __future__ import annotations

from warnings import catch_warnings, simplefilter

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

Matrix = NDArray[np.float64] | sp.csr_array


class OneVsRest:
    """Linear log-odds by liblinear: L2 penalty, on the intercept too.

    Parameters
    ----------
    X
        Dense or sparse, shape (l, f).
    labels
        Class codes, shape (l,).
    C
        Inverse strength of the penalty.

    Attributes
    ----------
    classes
        The codes that occur, sorted, shape (c,); a class without a label cannot be predicted.
    weights, intercepts
        Shapes (f, c) and (c,).
    """

    def __init__(self, X: Matrix, labels: NDArray[np.int64], C: float) -> None:
        if sp.issparse(X):  # liblinear takes 32-bit indices only
            indices, indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
            X = sp.csr_array((X.data, indices, indptr), shape=X.shape)
        self.classes = np.unique(labels)
        # The seed is not used by this solver, but without one a global number would be drawn.
        model = LogisticRegression(C=C, solver="liblinear", random_state=0)
        with catch_warnings():  # 100 steps, as in the code followed, whether or not they suffice
            simplefilter("ignore", ConvergenceWarning)
            fits = [clone(model).fit(X, labels == code) for code in self.classes]
        self.weights = np.concatenate([each.coef_ for each in fits]).T
        self.intercepts = np.concatenate([each.intercept_ for each in fits])

    def scores(self, X: Matrix) -> NDArray[np.float64]:
        """Return the log-odds by the columns of X, the first ones fitted, shape (n, c)."""
        result: NDArray[np.float64] = X @ self.weights[: X.shape[1]] + self.intercepts
        return result

    def probabilities(self, scores: NDArray[np.float64], classes: int) -> NDArray[np.float64]:
        """Return each class's sigmoid divided by their sum, shape (n, ``classes``)."""
        # Not 0: of scores far below 0 every sigmoid would be, and there would be nothing to divide.
        shares = np.maximum(expit(scores), np.finfo(np.float64).tiny)
        result = np.zeros((len(scores), classes))
        result[:, self.classes] = shares / shares.sum(axis=1, keepdims=True)
        return result
