"""Chebyshev series in S = I − L: what is added up, in which precision, and how exact it is.

The spectrum of S is in [−1, 1], so a function f of S is a series in Chebyshev polynomials,

    f(S) = Σ_k c_k T_k(S),   T_{k+1}(S) = 2 S T_k(S) − T_{k−1}(S),

and |T_k| ≤ 1 there: cutting after order m costs at most Σ_{k>m} |c_k| in spectral norm, and so in
every entry. For heat,

    e^{-sL} = e^{-s} e^{sS},   c_0 = e^{-s} I_0(s),   c_k = 2 e^{-s} I_k(s),

where I_k are the modified Bessel functions (``scipy.special.ive`` holds e^{-s} I_k(s)). Its
coefficients are positive and sum to 1.

References
----------
D. Hammond, P. Vandergheynst, R. Gribonval: Wavelets on Graphs via Spectral Graph Theory, Applied
and Computational Harmonic Analysis 2011: Chebyshev polynomials in place of eigenvectors.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.polynomial.chebyshev import chebval
from numpy.typing import NDArray
from scipy.special import ive

from graphheat.errors import ParameterError

SINGLE, DOUBLE = np.dtype(np.float32), np.dtype(np.float64)


@dataclass(frozen=True, eq=False)
class ChebyshevSeries:
    """A function f of S as a polynomial, known before anything runs.

    Attributes
    ----------
    coefficients
        c_0 … c_m, shape (m + 1,), float64.
    dtype
        float32 or float64, the precision of the recurrence.
    truncation
        Bound on what the cut costs, in spectral norm.
    rounding
        What the arithmetic costs: proven, or measured with a margin (entries in float32).
    stored
        float32 where T_k may be kept in it between steps of float64 arithmetic, which ``rounding``
        then covers; None: ``dtype``.

    Examples
    --------
    >>> square = ChebyshevSeries(np.array([0.5, 0.0, 0.5]), DOUBLE)  # S² = (T_0 + T_2) / 2
    >>> square.order, square.response(np.array([0.5])).tolist()
    (2, [0.25])
    """

    signed: ClassVar[bool] = True  # entries are kept by absolute value, as they may be negative

    coefficients: NDArray[np.float64]
    dtype: np.dtype[Any]
    truncation: float = 0.0
    rounding: float = 0.0
    stored: np.dtype[Any] | None = None

    @property
    def order(self) -> int:
        """The degree m of the polynomial."""
        return len(self.coefficients) - 1

    @property
    def error_bound(self) -> float:
        """Truncation and rounding together."""
        return self.truncation + self.rounding

    def response(self, mu: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return what the eigenvalues ``mu`` of S, shape (k,), are multiplied by."""
        return np.asarray(chebval(mu, self.coefficients), dtype=np.float64)

    def for_entries(
        self, longest_row: int, measure: Callable[[Any], float] | None
    ) -> ChebyshevSeries:
        """Return the series in the precision in which entries are computed: here, its own.

        ``measure`` says what float32 costs an entry of a given series on the graph at hand; None
        where that is too much work.
        """
        return self


@dataclass(frozen=True, eq=False)
class HeatSeries(ChebyshevSeries):
    """e^{-sL}, and the accuracy ``tol`` that the series was made for."""

    signed: ClassVar[bool] = False

    s: float = 0.0
    tol: float = 0.0

    def response(self, mu: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return e^{-s(1 − μ)}, exactly and not by the series; shape (k,)."""
        return np.exp(-self.s * (1.0 - np.minimum(mu, 1.0)))

    def for_entries(self, longest_row: int, measure: Callable[[Any], float] | None) -> HeatSeries:
        """Choose the precision by what ``measure`` finds."""
        return heat_series(self.s, self.tol, longest_row, measure)


def proven_rounding(s: float, order: int, longest_row: int, unit: float) -> float:
    """Bound the rounding error of the recurrence in spectral norm, to first order in ``unit``.

    A step T_{k+1} = 2 S T_k − T_{k-1} commits at most (2d + 7) units, d being the longest row of S;
    what step j commits reaches T_k through U_{k-j}(S), of norm at most k − j + 1; and
    Σ c_k k² = s, Σ c_k k ≤ √s. S itself is off by d + 5 units, from adding up the degrees, which
    moves e^{-sL} by s times that. Adding up the order + 1 terms costs a unit each.
    """
    recurrence = (s + math.sqrt(s)) * (longest_row + 4)
    return unit * (recurrence + s * (longest_row + 5) + order + 2)


def recurrence_rounding(
    coefficients: NDArray[np.float64], longest_row: int, unit: float, absolute_norm: float = 1.0
) -> float:
    """Bound the rounding error of any series as :func:`proven_rounding` does that of heat.

    With a = Σ|c_k|, b = Σ k|c_k| and c = Σ k²|c_k| in place of 1, √s and s; ``absolute_norm`` is
    that of S entry by entry, to which the rounding of a product is relative.
    """
    k, sizes = np.arange(len(coefficients)), np.abs(coefficients)
    a, b, c = float(sizes.sum()), float((k * sizes).sum()), float((k**2 * sizes).sum())
    products = (c + b) * (longest_row + 4) + c * (longest_row + 5)
    return unit * (absolute_norm * products + a * (len(coefficients) + 1))


def stored_rounding(coefficients: NDArray[np.float64]) -> float:
    """Bound what keeping each T_k in float32 costs where the arithmetic is in float64.

    A step rounds T_k once, to a unit, whatever the degrees; that reaches T_{k+i} through U_i(S), of
    norm at most i + 1, so that Σ_j (k − j + 1) = k (k + 1) / 2 units are in T_k, and one of X.
    """
    k, sizes = np.arange(len(coefficients)), np.abs(coefficients)
    return 2.0**-24 * float(((1 + k * (k + 1) / 2) * sizes).sum())


def heat_series(
    s: float,
    tol: float,
    longest_row: int,
    measure: Callable[[HeatSeries], float] | None = None,
    *,
    owner: str = "HeatKernel",
) -> HeatSeries:
    """Choose order and precision so that truncation and rounding each stay within half of ``tol``.

    float32 serves where it keeps its half, and never below tol = 1e-6 or beyond s = 100; float64
    elsewhere. The proven bound is right for signals, where smooth ones on stars and cliques come
    near it, and far too large for the entries of real graphs: for these ``measure`` gives the
    error of float32 on probes of this very graph, with a margin. ``owner`` is the class that
    the error names when ``tol`` is beyond float64.
    """
    if s == 0:
        return HeatSeries(np.ones(1), DOUBLE, s=0.0, tol=tol)
    # Below 1e-20 no precision serves; the error is raised at the end.
    coefficients, tails = heat_coefficients(s, max(tol / 2, 1e-20))
    order = int(np.argmax(tails <= tol / 2))
    coefficients, truncation = coefficients[: order + 1], float(tails[order])
    if tol >= 1e-6 and s <= 100:
        single = HeatSeries(coefficients, SINGLE, truncation, math.nan, s=s, tol=tol)
        rounding = measure(single) if measure else proven_rounding(s, order, longest_row, 2.0**-24)
        if rounding <= tol / 2:
            return replace(single, rounding=rounding)
    rounding = proven_rounding(s, order, longest_row, 2.0**-53)
    if rounding > tol / 2:
        raise ParameterError(
            f"The 'tol' parameter of {owner} must be at least {2 * rounding:.1e} for "
            f"s = {s:g} on this graph, the limit of float64. Got {tol:g} instead."
        )
    stored = rounding + stored_rounding(coefficients)
    if tol >= 1e-6 and stored <= tol / 2:
        return HeatSeries(coefficients, DOUBLE, truncation, stored, SINGLE, s, tol)
    return HeatSeries(coefficients, DOUBLE, truncation, rounding, s=s, tol=tol)


def heat_coefficients(s: float, tol: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return c_k and the tails Σ_{j>k} c_j, far enough that the last tail is negligible."""
    size = 32 + int(2 * math.sqrt(2 * s * math.log(4 / tol)) + 2 * math.log(4 / tol))
    while True:
        c = np.asarray(2.0 * ive(np.arange(size), s), dtype=np.float64)
        c[0] /= 2.0
        # Beyond k > s the terms fall at least geometrically, long before that super-exponentially.
        if c[-1] <= tol * 1e-6:
            break
        size *= 2
    tails: NDArray[np.float64] = np.append(np.cumsum(c[:0:-1])[::-1], 0.0)
    tails[:-1] += c[-1]  # what lies beyond the last computed term
    return c, tails
