"""The reference engine: dense eigendecomposition in float64, for tests and small graphs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graphheat.heat.engines.columns import ColumnEngine
from graphheat.heat.engines.engine import Cost, Request
from graphheat.heat.operand import Operand
from graphheat.heat.series import DOUBLE, ChebyshevSeries
from graphheat.progress import Progress


class Spectrum(NamedTuple):
    """Eigenvalues of S = I − L, shape (n,), and its eigenvectors in columns, shape (n, n)."""

    values: NDArray[np.float64]
    vectors: NDArray[np.float64]


class ReferenceEngine(ColumnEngine):
    """f(S) = U f(μ) Uᵀ, with f itself and not its series.

    Notes
    -----
    *Accuracy*: a few units of float64. *Cost*: O(n³) time and O(n²) memory, once; then O(n²) per
    column. *Deterministic*: yes. *Isolated nodes*: as S has them.
    """

    name = "reference"
    width = 2**31
    samples = False  # a plan must not cost an eigendecomposition

    def apply(
        self,
        operand: Operand,
        block: NDArray[Any],
        series: Sequence[ChebyshevSeries],
        *,
        rows: NDArray[np.int64] | None = None,
        threads: int = 1,
    ) -> list[NDArray[Any]]:
        """Return f(S) ``block`` for each f, float64; numpy decides on the threads."""
        X = block.astype(np.float64)
        kept = slice(None) if rows is None else rows
        results = []
        for each in series:
            if each.order == 0 and each.truncation == 0:  # a constant, exactly
                results.append((each.coefficients[0] * X)[kept])
                continue
            values, U = operand.kept("spectrum", lambda: _decompose(operand.S))
            results.append((U @ (each.response(values)[:, None] * (U.T @ X)))[kept])
        return results

    def entry_series(self, operand: Operand, series: ChebyshevSeries) -> ChebyshevSeries:
        """Return ``series`` in float64."""
        return replace(series, dtype=DOUBLE)

    def rows(
        self,
        operand: Operand,
        indices: NDArray[np.int64],
        series: ChebyshevSeries,
        eps: float,
        *,
        threads: int = 1,
    ) -> sp.csr_array:
        """Return rows of f(S); its products bring their own threads."""
        return super().rows(operand, indices, series, eps)

    def matrix(
        self,
        operand: Operand,
        series: ChebyshevSeries,
        eps: float,
        *,
        threads: int = 1,
        progress: Progress | None = None,
    ) -> sp.csr_array:
        """Return the entries of f(S); its products bring their own threads."""
        return super().matrix(operand, series, eps, progress=progress)

    def cost(self, operand: Operand, request: Request, *, threads: int = 1) -> Cost:
        """Return 10 n³ multiply-adds for the eigenvectors, n² per column; three dense matrices."""
        n = operand.n
        _, memory = super().cost(operand, request)
        return Cost(10 * n**3 + 2 * n**2 * request.columns, memory + 3 * 8 * n**2)


def _decompose(S: sp.csr_array) -> Spectrum:
    return Spectrum(*np.linalg.eigh(S.toarray()))
