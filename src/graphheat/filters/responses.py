"""The filters by name: heat, PageRank, Tikhonov, Matérn, diffusion, low and band pass, your own.

References
----------
R. Kondor, J. Lafferty: Diffusion Kernels on Graphs, ICML 2002. A. Smola, R. Kondor: Kernels and
Regularization on Graphs, COLT 2003: Tikhonov, diffusion and others as functions of a Laplacian.
V. Borovitskiy, I. Azangulov, A. Terenin et al.: Matérn Gaussian Processes on Graphs, AISTATS 2021.
L. Page, S. Brin, R. Motwani, T. Winograd: The PageRank Citation Ranking, 1999.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from graphheat.checks import check_number
from graphheat.errors import ParameterError
from graphheat.filters.filter import Expansion, Filter
from graphheat.filters.node_times import NodeHeat
from graphheat.heat.series import heat_coefficients


class Heat(Filter):
    """e^{-sλ}, which engines know in closed form; made by :func:`heat`."""

    s: float

    def __init__(self, s: float) -> None:
        super().__init__(
            lambda x: np.exp(-s * x), f"heat(s={s:g})", expand=lambda b, tol: _heat(s, b, tol)
        )
        object.__setattr__(self, "s", s)


@overload
def heat(s: float) -> Filter: ...
@overload
def heat(s: Sequence[float] | NDArray[Any]) -> NodeHeat: ...
def heat(s: float | Sequence[float] | NDArray[Any]) -> Filter | NodeHeat:
    """Return e^{-sλ}: diffusion for a time s ≥ 0.

    Parameters
    ----------
    s
        A number, or one per node, shape (n,): row i of the result is then row i of e^{-s_i L}.
    """
    if np.ndim(s) == 1:
        return NodeHeat(s, Heat)
    return Heat(check_number(s, "s", "heat", 0.0, 1e6))  # type: ignore[arg-type]


def diffusion(kappa: float) -> Filter:
    """Return e^{-κ²λ/2}, the diffusion kernel of length scale κ: heat for s = κ²/2."""
    return Heat(check_number(kappa, "kappa", "diffusion", 0.0, 1e3) ** 2 / 2)


def tikhonov(gamma: float) -> Filter:
    """Return 1 / (1 + γλ): the x that minimises ‖x − y‖² + γ xᵀLx is f(L)y."""
    gamma = check_number(gamma, "gamma", "tikhonov", 0.0, 1e8)
    return _rational(gamma, f"tikhonov(gamma={gamma:g})")


def pagerank(alpha: float = 0.15) -> Filter:
    """Return α / (α + (1 − α)λ): personalised PageRank with restart probability α.

    With ``laplacian="random_walk"``, ``H.T @ v`` is π = α Σ_k (1 − α)^k (AD^{-1})^k v, a
    distribution where v is one; with the normalised Laplacian it is the symmetric form.
    """
    alpha = check_number(alpha, "alpha", "pagerank", 0.0, 1.0, left="open")
    return _rational((1 - alpha) / alpha, f"pagerank(alpha={alpha:g})")


def matern(nu: float, kappa: float) -> Filter:
    """Return (1 + κ²λ / 2ν)^{-ν}: a Matérn kernel of smoothness ν and length scale κ, 1 at λ = 0.

    For ν → ∞ it is :func:`diffusion`. Its authors leave it as (2ν/κ² + λ)^{-ν}, a multiple.
    """
    nu = check_number(nu, "nu", "matern", 0.0, 1e4, left="open")
    kappa = check_number(kappa, "kappa", "matern", 0.0, 1e4)
    step = kappa**2 / (2 * nu)
    return Filter(lambda x: (1 + step * x) ** -nu, f"matern(nu={nu:g}, kappa={kappa:g})")


def low_pass(cutoff: float, width: float) -> Filter:
    """Return 1 / (1 + e^{(λ − cutoff) / width}): 1 below the cutoff, ½ at it, 0 above.

    A filter that falls from 1 to 0 at once has no polynomial near it; ``width`` says how fast.
    """
    cutoff = check_number(cutoff, "cutoff", "low_pass", 0.0, math.inf)
    width = check_number(width, "width", "low_pass", 0.0, math.inf, left="open")
    return Filter(_step(cutoff, width), f"low_pass({cutoff:g}, {width:g})")


def high_pass(cutoff: float, width: float) -> Filter:
    """Return what :func:`low_pass` leaves out."""
    return Filter((1 - low_pass(cutoff, width)).function, f"high_pass({cutoff:g}, {width:g})")


def band_pass(low: float, high: float, width: float) -> Filter:
    """Return 1 between two cutoffs and 0 outside: one :func:`low_pass` less another."""
    if not low <= high:
        raise ParameterError(f"band_pass needs low <= high; got {low!r} and {high!r}.")
    between = low_pass(high, width) - low_pass(low, width)
    return Filter(between.function, f"band_pass({low:g}, {high:g}, {width:g})")


def custom(
    function: Callable[[Any], Any],
    name: str | None = None,
    *,
    modulus: Callable[[float, float], float] | None = None,
) -> Filter:
    """Return a filter of your own; see :class:`Filter` for when its error is proven.

    Examples
    --------
    >>> import numpy as np
    >>> custom(lambda x: np.cos(x) * np.exp(-x), "wave")
    Filter(wave)
    """
    if not callable(function):
        raise ParameterError(f"A filter of your own is a function of λ. Got {function!r} instead.")
    return Filter(function, name or str(getattr(function, "__name__", "f")), modulus)


def _heat(s: float, lmax: float, tol: float) -> Expansion:
    if s == 0:
        return Expansion(np.ones(1), np.zeros(1))
    return Expansion(*heat_coefficients(s * lmax / 2, tol))


def _rational(gamma: float, name: str) -> Filter:
    """Return 1 / (1 + γλ) with its series, a geometric one."""

    def expand(lmax: float, tol: float) -> Expansion:
        g = gamma * lmax / 2
        if g == 0:
            return Expansion(np.ones(1), np.zeros(1))
        first = 1 / math.sqrt(1 + 2 * g)
        # log ρ of ρ = (1 + g + √(1 + 2g)) / g, exact also where ρ is near 1.
        rate = math.log1p((1 + math.sqrt(1 + 2 * g)) / g)
        size = 2 + max(0, math.ceil(math.log(2 * first / (math.expm1(rate) * tol)) / rate))
        powers = np.exp(-rate * np.arange(size))
        coefficients = 2 * first * powers
        coefficients[0] = first
        return Expansion(coefficients, 2 * first * powers / math.expm1(rate))

    return Filter(lambda x: 1 / (1 + gamma * x), name, expand=expand)


def _step(cutoff: float, width: float) -> Callable[[Any], Any]:
    return lambda x: 0.5 * (1 - np.tanh((x - cutoff) / (2 * width)))
