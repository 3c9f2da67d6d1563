"""f(L) from its definition, by dense eigenvectors in float64: what every engine must match."""

from __future__ import annotations

import numpy as np

SLACK = 1e-11  # what eigenvectors themselves may be off by, relative to the largest |f|


def dense_laplacian(A, kind, *, self_loops=0.0, isolated="paper"):
    """Return the symmetric matrix that L is similar to, and the roots of the degrees."""
    A = np.asarray(A, dtype=np.float64) + self_loops * np.eye(len(A))
    degrees = A.sum(axis=1)
    roots = np.sqrt(np.where(degrees > 0, degrees, 1.0))
    if kind == "combinatorial":
        return np.diag(degrees) - A, roots
    if kind == "signless":
        return np.diag(degrees) + A, roots
    S = A / roots / roots[:, None]
    alone = degrees == 0
    if isolated == "keep":
        S[alone, alone] = 1.0
    return np.eye(len(A)) + (S if kind == "normalized_signless" else -S), roots


def dense_filter(A, f, kind="normalized", **how):
    L, roots = dense_laplacian(A, kind, **how)
    values, U = np.linalg.eigh(L)
    F = U @ (f(np.maximum(values, 0.0))[:, None] * U.T)
    return F * roots / roots[:, None] if kind == "random_walk" else F
