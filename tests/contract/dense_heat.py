"""e^{-sL} from its definition, dense and in float64: what every engine must match."""

from __future__ import annotations

import numpy as np
import scipy.linalg

SLACK = 1e-12  # what expm itself may be off by


def dense_heat(A, s, *, self_loops=0.0, isolated="paper"):
    A = np.asarray(A, dtype=np.float64) + self_loops * np.eye(len(A))
    degree = A.sum(axis=1)
    L = np.eye(len(A))
    for i in range(len(A)):
        if degree[i] == 0:
            L[i, i] = 1.0 if isolated == "paper" else 0.0
        else:
            linked = A[i] > 0
            L[i, linked] -= A[i, linked] / np.sqrt(degree[i]) / np.sqrt(degree[linked])
    return scipy.linalg.expm(-s * L)
