"""The Chebyshev expansion of e^{-sL}: coefficients, order and error, known before it runs.

With S = I − L, whose spectrum is in [−1, 1],

    e^{-sL} = e^{-s} e^{sS} = Σ_k c_k T_k(S),   c_0 = e^{-s} I_0(s),   c_k = 2 e^{-s} I_k(s),

where I_k are the modified Bessel functions (``scipy.special.ive`` holds e^{-s} I_k(s)). The
coefficients are positive and sum to 1, and |T_k| ≤ 1 on the spectrum, so cutting the series after
order m costs at most Σ_{k>m} c_k in spectral norm, and so in every entry.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import ive

from graphheat.errors import ParameterError


@dataclass(frozen=True)
class Expansion:
    """One e^{-sL} as a polynomial in S: what to add up, in which precision, and how exact it is.

    Attributes
    ----------
    coefficients
        c_0 … c_m, shape (m + 1,), float64.
    dtype
        float32 or float64, the precision of the recurrence.
    truncation
        Proven bound on what the cut costs, in spectral norm.
    rounding
        What the arithmetic costs: proven, or measured with a margin (entries in float32).
    """

    s: float
    coefficients: NDArray[np.float64]
    dtype: np.dtype[np.float32] | np.dtype[np.float64]
    truncation: float
    rounding: float

    @property
    def order(self) -> int:
        """The degree m of the polynomial."""
        return len(self.coefficients) - 1

    @property
    def error_bound(self) -> float:
        """Truncation and rounding together."""
        return self.truncation + self.rounding


def proven_rounding(s: float, order: int, longest_row: int, unit: float) -> float:
    """Bound the rounding error of the recurrence in spectral norm, to first order in ``unit``.

    A step T_{k+1} = 2 S T_k − T_{k-1} commits at most (2d + 7) units, d being the longest row of S;
    what step j commits reaches T_k through U_{k-j}(S), of norm at most k − j + 1; and
    Σ c_k k² = s, Σ c_k k ≤ √s. S itself is off by d + 5 units, from adding up the degrees, which
    moves e^{-sL} by s times that. Adding up the order + 1 terms costs a unit each.
    """
    recurrence = (s + math.sqrt(s)) * (longest_row + 4)
    return unit * (recurrence + s * (longest_row + 5) + order + 2)


def expand(
    s: float, tol: float, longest_row: int, measure: Callable[[Expansion], float] | None = None
) -> Expansion:
    """Choose order and precision so that truncation and rounding each stay within half of ``tol``.

    float32 serves where it keeps its half, and never below tol = 1e-6 or beyond s = 100; float64
    elsewhere. The proven bound is right for signals, where smooth ones on stars and cliques come
    near it, and far too large for the entries of real graphs: for these ``measure`` gives the
    error of float32 on probes of this very graph, with a margin.
    """
    if s == 0:
        return Expansion(0.0, np.ones(1), np.dtype(np.float64), 0.0, 0.0)
    # Below 1e-20 no precision serves, as is said at the end.
    coefficients, tails = _series(s, max(tol / 2, 1e-20))
    order = int(np.argmax(tails <= tol / 2))
    coefficients, truncation = coefficients[: order + 1], float(tails[order])
    if tol >= 1e-6 and s <= 100:
        single = Expansion(s, coefficients, np.dtype(np.float32), truncation, math.nan)
        rounding = measure(single) if measure else proven_rounding(s, order, longest_row, 2.0**-24)
        if rounding <= tol / 2:
            return replace(single, rounding=rounding)
    rounding = proven_rounding(s, order, longest_row, 2.0**-53)
    if rounding > tol / 2:
        raise ParameterError(
            f"The 'tol' parameter of HeatKernel must be at least {2 * rounding:.1e} for "
            f"s = {s:g} on this graph, the limit of float64. Got {tol:g} instead."
        )
    return Expansion(s, coefficients, np.dtype(np.float64), truncation, rounding)


def _series(s: float, tol: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
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
