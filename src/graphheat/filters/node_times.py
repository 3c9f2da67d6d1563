"""Heat with a time of its own at every node: row i of the operator is row i of e^{-s_i L}.

e^{-sλ} is an entire function of s. Interpolated in R Chebyshev points s_r between the least and the
largest time it is Σ_r ℓ_r(s) e^{-s_r λ}, so that

    y_i = [e^{-s_i L} x]_i ≈ Σ_r ℓ_r(s_i) [e^{-s_r L} x]_i:

R heats from one basis, whatever the number of nodes, and a weight for each node. On the Bernstein
ellipse ρ around the times, |e^{-zλ}| ≤ M = e^{λ_max max(0, h(a − 1) − least)}, with h half their
range and a = (ρ + 1/ρ) / 2; interpolation costs at most 4 M ρ^{1-R} / (ρ − 1) in spectral norm.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphheat.errors import ParameterError
from graphheat.filters.filter import Filter

MOST = 400  # points of interpolation


class NodeTerms(NamedTuple):
    """Σ_r diag(w_r) f_r(L): filters, weights of shape (terms, n), and the error of the sum."""

    filters: list[Filter]
    weights: NDArray[np.float64]
    error: float


class NodeHeat:
    """e^{-s_i λ} at node i; made by ``filters.heat(times)``.

    Parameters
    ----------
    times
        s_i ≥ 0, shape (n,).
    heat
        Makes the filter of a single time.
    """

    def __init__(self, times: Any, heat: Callable[[float], Filter]) -> None:
        try:
            self.times = np.array(times, dtype=np.float64)
        except (TypeError, ValueError):
            self.times = np.array([math.nan])
        if not self.times.size or not ((self.times >= 0) & (self.times <= 1e6)).all():
            raise ParameterError("The times of heat must be numbers in [0, 1e6], one per node.")
        self._heat = heat
        self.name = f"heat(s={self.times.min():g} … {self.times.max():g})"

    def __repr__(self) -> str:
        return f"Filter({self.name})"

    def terms(self, n: int, lmax: float, tol: float) -> NodeTerms:
        """Return the terms for a spectrum in [0, lmax], their sum within ``tol`` of the rows."""
        if len(self.times) != n:
            raise ParameterError(
                f"heat needs one time per node; got {len(self.times)} for {n} nodes."
            )
        distinct, which = np.unique(self.times, return_inverse=True)
        points, error = _points(float(distinct[0]), float(distinct[-1]), lmax, tol)
        if len(distinct) <= len(points):
            weights = np.zeros((len(distinct), n))
            weights[which, np.arange(n)] = 1.0
            return NodeTerms([self._heat(float(s)) for s in distinct], weights, 0.0)
        weights = _lagrange(points, self.times)
        return NodeTerms([self._heat(float(s)) for s in points], weights, error)


def _points(least: float, most: float, lmax: float, tol: float) -> tuple[NDArray[Any], float]:
    half = (most - least) / 2
    best, error = MOST + 1, math.inf
    for rho in 1 + np.geomspace(1e-2, 30, 60):
        a = (rho + 1 / rho) / 2
        growth = lmax * max(0.0, half * (a - 1) - least)
        log_scale = math.log(4) + growth - math.log(rho - 1)
        needed = math.ceil((log_scale - math.log(tol)) / math.log(rho)) + 1
        if 1 <= needed < best:
            best, error = needed, math.exp(log_scale - (needed - 1) * math.log(rho))
    if best > MOST:
        raise ParameterError(
            f"Times from {least:g} to {most:g} with λ_max = {lmax:g} need more than {MOST} "
            "diffusions. Narrow their range, or raise tol."
        )
    angles = np.pi * (np.arange(best) + 0.5) / best
    return np.sort((least + most) / 2 - half * np.cos(angles)), error


def _lagrange(points: NDArray[np.float64], at: ArrayLike) -> NDArray[np.float64]:
    """Return ℓ_r(s) by the barycentric formula, shape (points, len(at))."""
    at = np.asarray(at, dtype=np.float64)
    k = np.arange(len(points))
    # Of Chebyshev points in rising order, up to a factor.
    barycentric = (-1.0) ** k * np.sin(np.pi * (k + 0.5) / len(points))
    gaps = at - points[:, None]
    exact = gaps == 0
    gaps[exact] = 1.0
    parts = barycentric[:, None] / gaps
    weights = parts / parts.sum(axis=0)
    met = exact.any(axis=0)
    weights[:, met] = exact[:, met]
    return np.asarray(weights)
