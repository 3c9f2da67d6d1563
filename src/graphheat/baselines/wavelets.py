"""Functions of the Laplacian as sparse matrices: graph wavelets and their inverse."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.polynomial.chebyshev import chebinterpolate
from numpy.typing import NDArray

from graphheat.errors import KernelMemoryError
from graphheat.heat.assembly import Entries, assemble, entries_of, mirror
from graphheat.heat.engines import ONE_OFF, Engine, Request, strips
from graphheat.heat.entry_plan import count_entries
from graphheat.heat.operand import Operand
from graphheat.heat.series import DOUBLE, ChebyshevSeries
from graphheat.memory import available_memory

Response = Callable[[NDArray[np.float64]], NDArray[np.float64]]

HIGHEST_DEGREE = 1024
TOL = 1e-8  # far below what float32, in which the matrices are used, can tell apart


def matrix_of(
    S: sp.csr_array, response: Response, eps: float, *, threads: int | None = None
) -> sp.csr_array:
    """Return f(L) without the entries of absolute value below ``eps``, shape (n, n).

    Parameters
    ----------
    S
        I − L, shape (n, n), float64.
    response
        f, smooth on [0, 2]: what each frequency λ of L is multiplied by; takes and returns arrays.
    eps
        0 keeps every entry that is not exactly 0.

    Notes
    -----
    *Accuracy*: every entry within ``TOL``, and eps / 10, of exact; exactly symmetric; float64.
    *Cost*: the degree of f's Chebyshev series × entries of S × n.
    *Deterministic*: yes, for any number of threads. *Isolated nodes*: as S has them, λ = 1.
    """
    n = S.shape[0]
    operand, series, engine = _expanded(S, response, eps)
    workers = threads or os.cpu_count() or 1
    parts: list[Entries] = []
    for first in range(0, n, engine.width):
        strip = np.arange(first, min(first + engine.width, n))
        columns = strips.unit_columns(n, strip, DOUBLE)
        values = engine.apply(operand, columns, [series], threads=workers)[0]
        parts.append(_lower_rows(values, strip, eps))
    return mirror(assemble(parts, n))


def check_matrix_memory(S: sp.csr_array, response: Response, eps: float) -> None:
    """Raise where :func:`matrix_of` would not fit into memory, by the entries of a few columns."""
    operand, series, engine = _expanded(S, response, eps)
    entries = count_entries(operand, engine, series, eps)
    needed = int(2.5 * entries * (8 + (4 if entries < 2**31 else 8)))  # parts, a half, its mirror
    room = available_memory()
    if room is not None and needed > room:
        raise KernelMemoryError(
            f"The matrix of the inverse wavelets would take about {needed / 1e9:.1f} GB "
            f"({entries:,} entries), and {room / 1e9:.1f} GB are free. Raise eps, or pass "
            "eps=None: products without a matrix."
        )


def _expanded(
    S: sp.csr_array, response: Response, eps: float
) -> tuple[Operand, ChebyshevSeries, Engine]:
    """Return what products with f(L) need: the graph, f's series and an engine."""
    operand, series = Operand(S), expand_response(response, min(TOL, eps / 10) if eps else TOL)
    return (
        operand,
        series,
        ONE_OFF.choose(operand, Request("signals", (series,), S.shape[0])).engine,
    )


def _lower_rows(values: NDArray[Any], strip: NDArray[np.int64], eps: float) -> Entries:
    """Keep rows of the lower triangle, whose mirror image makes the result symmetric to the bit."""
    last = int(strip[-1]) + 1
    rows = values[:last].T
    keep = np.abs(rows) >= eps if eps else rows != 0
    keep &= np.arange(last) <= strip[:, None]
    return entries_of(rows, keep)


def expand_response(response: Response, tol: float = TOL) -> ChebyshevSeries:
    """Return f as a Chebyshev series in μ = 1 − λ, cut where the rest adds up to less than tol."""

    def sampled(mu: NDArray[np.float64]) -> Any:  # NumPy's types have it return a single number
        return response(1.0 - mu)

    degree = 16
    while True:
        coefficients: NDArray[np.float64] = chebinterpolate(sampled, degree)
        sizes = np.abs(coefficients)
        if sizes[-8:].max() <= 1e-14 * sizes.max() or degree >= HIGHEST_DEGREE:
            break
        degree *= 2
    rest = np.append(np.cumsum(sizes[::-1])[::-1][1:], 0.0)  # what each cut would leave out
    order = int(np.argmax(rest <= max(tol / 2, 1e-15 * sizes.sum())))
    return ChebyshevSeries(
        coefficients[: order + 1], DOUBLE, truncation=float(rest[order]), rounding=float("nan")
    )
