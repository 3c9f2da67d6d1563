"""How large an analytic function is on a Bernstein ellipse: a proof, not a sample.

Where f is analytic inside the ellipse E_ρ with foci −1 and 1 and semi-axes that sum to ρ, and
|f| ≤ M there, its Chebyshev coefficients fall like |c_k| ≤ 2 M ρ^{-k}, and the interpolant of
degree N in Chebyshev points is within 4 M ρ^{-N} / (ρ − 1) of f on [−1, 1].

References
----------
L. N. Trefethen: Approximation Theory and Approximation Practice, SIAM 2013, theorems 8.1 and 8.2.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphheat.filters.discs import Discs

CELLS, DEPTH = 8_000, 12  # discs that a proof may take, and how often they are divided
WIDE = 2048  # cells of the first cover, at most
TIGHT = 4.0  # how far above the largest value seen the bound may be


def modulus(function: Callable[[Any], Any], lmax: float, rho: float) -> float:
    """Return M with |f| ≤ M on E_ρ, brought to [0, lmax]; infinity where that is not proven.

    Squares that cover the upper half of E_ρ (f is real on the real line, so the lower half mirrors
    it) are enclosed in discs, and divided where what comes of them is too large.

    Parameters
    ----------
    function
        f(λ), written with NumPy's arithmetic.
    lmax
        The interval's end; λ = lmax (1 − μ) / 2.
    rho
        Above 1.

    Examples
    --------
    >>> M = modulus(lambda x: 1 / (1 + x), 2.0, 2.0)  # 1 / (2 − μ), at most 1 / 0.75 on E_2
    >>> 1 / 0.75 <= M <= 4 / 0.75
    True
    >>> modulus(lambda x: 1 / (1 + x), 2.0, 4.0)  # it has the pole in it
    inf
    """
    a, b = (rho + 1 / rho) / 2, (rho - 1 / rho) / 2
    wide = min(WIDE, max(4, math.ceil(2 * a / b)))
    width, height = a / wide, b / 2  # half of a cell's
    x = np.linspace(-a + width, a - width, wide)
    cells, spent, bound = np.stack([x, np.full(wide, height)], axis=1), 0, 0.0
    seen = 0.0
    depth = 0
    while len(cells):
        spent, depth = spent + len(cells), depth + 1
        if spent > CELLS or depth > DEPTH:
            return math.inf
        x, y = cells[:, 0], cells[:, 1]
        found = _image(function, lmax, x + 1j * y, math.hypot(width, height))
        if found is None:
            return math.inf
        center, largest = found
        inside = (x / a) ** 2 + (y / b) ** 2 <= 1
        seen = max(seen, float(np.abs(center[inside & np.isfinite(largest)]).max(initial=0.0)))
        large = ~(largest <= TIGHT * seen)
        bound = max(bound, float(largest[~large].max(initial=0.0)))
        cells, width, height = _divided(cells[large], width, height)
        near = np.maximum(np.abs(cells[:, 0]) - width, 0) / a, (cells[:, 1] - height) / b
        cells = cells[near[0] ** 2 + near[1] ** 2 <= 1]  # the others lie outside the ellipse
    return max(bound, seen)


def _image(
    function: Callable[[Any], Any], lmax: float, center: NDArray[Any], radius: float
) -> tuple[NDArray[Any], NDArray[Any]] | None:
    half = lmax / 2
    try:
        with np.errstate(all="ignore"):
            image = function(Discs(half * (1 - center), np.full(len(center), half * radius)))
    except Exception:  # whatever a user's function does with what is no array
        return None
    if isinstance(image, Discs):
        if image.center.shape != center.shape:
            image = Discs(image.center + 0 * center, image.radius + 0 * center.real)
        return image.center, image.largest
    if isinstance(image, (int, float)):
        constant = np.full(len(center), complex(image))
        return constant, np.abs(constant)
    return None


def _divided(
    cells: NDArray[np.float64], width: float, height: float
) -> tuple[NDArray[np.float64], float, float]:
    """Return the parts of cells, halved along their longer side, or both where they are square."""
    if width > 1.5 * height:
        steps, width = [(-0.5, 0.0), (0.5, 0.0)], width / 2
        moved = [cells + 2 * np.array(step) * (width, 0) for step in steps]
    elif height > 1.5 * width:
        steps, height = [(0.0, -0.5), (0.0, 0.5)], height / 2
        moved = [cells + 2 * np.array(step) * (0, height) for step in steps]
    else:
        steps = [(-0.5, -0.5), (0.5, -0.5), (-0.5, 0.5), (0.5, 0.5)]
        width, height = width / 2, height / 2
        moved = [cells + 2 * np.array(step) * (width, height) for step in steps]
    return np.concatenate(moved), width, height
