"""From a filter to a Chebyshev series with a bound: in closed form, proven, or measured.

With λ = λ_max (1 − μ) / 2 and g(μ) = f(λ), g is interpolated in N + 1 Chebyshev points and the
interpolant is cut where the coefficients left out add up to half of ``tol``. What interpolation
costs is proven where f is analytic (:mod:`~graphheat.filters.ellipse`); elsewhere it is measured on
a grid eight times as fine, and the series says so.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
import scipy.fft
from numpy.polynomial.chebyshev import chebval
from numpy.typing import NDArray

from graphheat.errors import ParameterError
from graphheat.filters.ellipse import modulus
from graphheat.filters.filter import Filter
from graphheat.heat.operand import Operand
from graphheat.heat.series import (
    DOUBLE,
    SINGLE,
    ChebyshevSeries,
    recurrence_rounding,
    stored_rounding,
)

LARGEST = 1 << 16  # degree of an interpolant
START, LEAST = 0.05, 1e-4  # ρ − 1 from which a proof is tried, and the least that is
CLOSER = 1.6  # by which it is lowered: ellipses with a pole and those too flat lie close together
FINER = 8  # points per point of an interpolant where its error is measured
MARGIN = 2.0  # on what is measured
ZERO = Filter(lambda x: 0.0, "0")


@dataclass(frozen=True, eq=False)
class FilterSeries(ChebyshevSeries):
    """A filter on the spectrum of an operand.

    Attributes
    ----------
    filter
        The function.
    lmax
        λ = lmax (1 − μ) / 2.
    proven
        Whether ``truncation`` is proven, or measured with a margin of two.
    """

    filter: Filter = ZERO
    lmax: float = 2.0
    proven: bool = True

    def response(self, mu: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return f(λ), exactly and not by the series, shape (k,)."""
        return self.filter(self.lmax / 2 * (1 - np.clip(mu, -1.0, 1.0)))


def expand(filter: Filter, operand: Operand, tol: float) -> FilterSeries:
    """Return ``filter`` as a series for ``operand``, truncation and rounding each within tol / 2.

    Notes
    -----
    *Precision*: float32 where tol ≥ 1e-6 and its proven rounding keeps to its half; else float64,
    with T_k kept in float32 where that keeps to it.
    *Cost*: the order m, which grows like √(s λ_max log 1/tol) for heat, and like log(1/tol) over
    the root of the distance to the next pole for others.
    """
    lmax = operand.lmax
    coefficients, truncation, proven, sampled = _coefficients(filter, lmax, tol)

    def series(dtype: np.dtype[Any], unit: float) -> FilterSeries:
        rounding = sampled + recurrence_rounding(
            coefficients, operand.longest_row, unit, operand.absolute_norm
        )
        if len(coefficients) == 1 and truncation == 0:
            rounding = 0.0 if coefficients[0] == 1 else rounding
        return FilterSeries(
            coefficients, dtype, truncation, rounding, filter=filter, lmax=lmax, proven=proven
        )

    if tol >= 1e-6:
        single = series(SINGLE, 2.0**-24)
        if single.rounding <= tol / 2:
            return single
    double = series(DOUBLE, 2.0**-53)
    if double.rounding > tol / 2:
        raise ParameterError(
            f"The 'tol' parameter of GraphFilter must be at least {2 * double.rounding:.1e} for "
            f"{filter.name} on this graph, the limit of float64. Got {tol:g} instead."
        )
    stored = double.rounding + stored_rounding(coefficients)
    if tol >= 1e-6 and double.order and stored <= tol / 2:
        return replace(double, rounding=stored, stored=SINGLE)
    return double


@lru_cache(maxsize=256)
def _coefficients(
    filter: Filter, lmax: float, tol: float
) -> tuple[NDArray[np.float64], float, bool, float]:
    """Return coefficients, what cutting costs, whether that is proven, and what sampling costs."""
    # Kept for the filter itself, by identity: a bank's proofs are made once.
    if filter.expand is not None:
        c, tails = filter.expand(lmax, max(tol / 2, 1e-20))
        order = _first(tails <= tol / 2)
        if order is None or order > LARGEST:
            raise _too_steep(filter, tol)
        return c[: order + 1], float(tails[order]), True, 0.0

    def sample(mu: NDArray[np.float64]) -> NDArray[np.float64]:
        return filter(np.clip(lmax / 2 * (1 - mu), 0.0, lmax))

    degree, beyond = _proven_degree(filter, lmax, tol)
    proven = degree is not None
    if degree is None:
        degree, beyond = _measured_degree(sample, filter, tol)
    c = _interpolant(sample, degree)
    sizes = np.abs(c)
    tails = np.append(np.cumsum(sizes[::-1])[::-1][1:], 0.0) + beyond
    order = _first(tails <= tol / 2)
    if order is None:
        raise _too_steep(filter, tol)
    return c[: order + 1], float(tails[order]), proven, _sampling(c[: order + 1], degree)


def _first(true: NDArray[np.bool_]) -> int | None:
    return int(np.argmax(true)) if true.any() else None


def _interpolant(
    sample: Callable[[NDArray[np.float64]], NDArray[np.float64]], degree: int
) -> NDArray[np.float64]:
    """Return the coefficients of the interpolant in degree + 1 Chebyshev points."""
    values = sample(np.cos(np.pi * (np.arange(degree + 1) + 0.5) / (degree + 1)))
    c: NDArray[np.float64] = scipy.fft.dct(values, type=2) / (degree + 1)
    c[0] /= 2
    return c


def _sampling(c: NDArray[np.float64], degree: int) -> float:
    """Bound what rounding of λ and of f's values costs the interpolant.

    A unit of λ moves g by Σ k² |c_k| units at most, values are off by some units themselves, and
    interpolation enlarges both by (2/π) log(N + 1) + 1 at most.
    """
    k, sizes = np.arange(len(c)), np.abs(c)
    enlarged = 2 / math.pi * math.log(degree + 1) + 1
    return 2.0**-53 * enlarged * float(16 * sizes.sum() + 4 * (k**2 * sizes).sum())


def _proven_degree(filter: Filter, lmax: float, tol: float) -> tuple[int | None, float]:
    """Return the least degree whose interpolant is proven to be near f, and how near; or None."""

    def near(gap: float) -> tuple[int | None, float]:
        rho = 1 + gap
        bound = (
            modulus(filter.function, lmax, rho)
            if filter.modulus is None
            else float(filter.modulus(rho, lmax))
        )
        if not math.isfinite(bound):
            return None, math.inf
        scale, rate = 4 * bound / gap, math.log1p(gap)
        degree = max(1, math.ceil(math.log(max(scale, 1e-300) / (1e-3 * tol)) / rate))
        return degree, scale * math.exp(-rate * degree)

    gap, best = START, near(START)
    while best[0] is None and gap > LEAST:
        gap /= CLOSER
        best = near(gap)
    while best[0] is not None and gap < 100:
        gap *= 2
        other = near(gap)
        if other[0] is None or other[0] >= best[0]:
            break
        best = other
    return best if best[0] is not None and best[0] <= LARGEST else (None, math.inf)


def _measured_degree(
    sample: Callable[[NDArray[np.float64]], NDArray[np.float64]], filter: Filter, tol: float
) -> tuple[int, float]:
    """Return a degree whose interpolant is seen to be near f, and how near, with a margin."""
    degree = 32
    while degree <= LARGEST:
        c = _interpolant(sample, degree)
        grid = np.cos(np.linspace(0, np.pi, FINER * degree + 1))
        error = MARGIN * float(np.abs(chebval_fast(grid, c) - sample(grid)).max())
        if error <= tol / 4:
            return degree, error
        degree *= 2
    raise _too_steep(filter, tol)


def chebval_fast(grid: NDArray[np.float64], c: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return Σ c_k T_k on the grid cos(π j / J), j = 0 … J ≥ len(c), by one cosine transform."""
    if len(c) < 64:
        return np.asarray(chebval(grid, c))
    padded = np.zeros(len(grid))
    padded[: len(c)] = c / 2
    padded[0] *= 2
    return np.asarray(scipy.fft.dct(padded, type=1))


def _too_steep(filter: Filter, tol: float) -> ParameterError:
    return ParameterError(
        f"The filter {filter.name} has no polynomial of degree {LARGEST:,} or less within "
        f"{tol / 2:g} on [0, λ_max]: it is too steep, or jumps. Raise tol, or make it smoother "
        "(filters.low_pass has a width)."
    )
