"""The reference way: dense eigendecomposition in float64, for tests and small graphs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray


class Spectrum(NamedTuple):
    """Eigenvalues of S = I − L, shape (n,), and its eigenvectors in columns, shape (n, n)."""

    values: NDArray[np.float64]
    vectors: NDArray[np.float64]


def spectrum(S: sp.csr_array) -> Spectrum:
    """Decompose S; O(n³) time and O(n²) memory."""
    return Spectrum(*np.linalg.eigh(S.toarray()))


def apply(spectrum: Spectrum, X: NDArray[np.float64], s: float) -> NDArray[np.float64]:
    """Return e^{-sL}X = U e^{-s(1 − μ)} Uᵀ X, shape (n, c)."""
    if s == 0:
        return X.copy()
    U = spectrum.vectors
    response = np.exp(-s * (1.0 - np.minimum(spectrum.values, 1.0)))
    result: NDArray[np.float64] = U @ (response[:, None] * (U.T @ X))
    return result
