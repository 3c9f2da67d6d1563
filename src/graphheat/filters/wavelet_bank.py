"""Wavelets on graphs, several scales at once: the Mexican hat, and Hammond's with its spline.

A wavelet bank is a low pass h(λ) and wavelets g(tλ) at scales t, spread evenly in log t between
1 / λ_max and 2 · lpfactor / λ_max, as in PyGSP (``MexicanHat``, ``Abspline``).

References
----------
D. Hammond, P. Vandergheynst, R. Gribonval: Wavelets on Graphs via Spectral Graph Theory, Applied
and Computational Harmonic Analysis 2011.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphheat.checks import check_count, check_number
from graphheat.errors import ParameterError
from graphheat.filters.filter import Filter


class WaveletBank:
    """A low pass and wavelets at several scales, to be put on the spectrum of a graph.

    Parameters
    ----------
    name
        What ``repr`` shows.
    wavelet
        g(x).
    low_pass
        h(λ) for the least frequency λ_min = λ_max / lpfactor.
    scales
        How many, or which.
    lpfactor
        λ_max / λ_min.
    """

    def __init__(
        self,
        name: str,
        wavelet: Callable[[Any], Any],
        low_pass: Callable[[float], Callable[[Any], Any]],
        scales: int | ArrayLike,
        lpfactor: float,
    ) -> None:
        self.name = name
        self._wavelet, self._low_pass = wavelet, low_pass
        self._lpfactor = check_number(lpfactor, "lpfactor", name, 1.0, math.inf, left="open")
        if np.ndim(scales) == 0:
            self._count: int | None = check_count(scales, "scales", name)  # type: ignore[arg-type]
        else:
            self._count, self._scales = None, np.array(scales, dtype=np.float64)
            good = np.isfinite(self._scales) & (self._scales > 0)
            if self._scales.ndim != 1 or not len(good) or not good.all():
                raise ParameterError(f"The scales of {name} must be positive numbers.")

    def __repr__(self) -> str:
        return f"WaveletBank({self.name})"

    def scales(self, lmax: float) -> NDArray[np.float64]:
        """Return the scales for a spectrum in [0, lmax], the coarsest first, shape (k,)."""
        if self._count is None:
            return self._scales
        first, last = 1 / lmax, 2 * self._lpfactor / lmax
        return np.exp(np.linspace(math.log(last), math.log(first), self._count))

    def filters(self, lmax: float) -> list[Filter]:
        """Return the low pass and the wavelets for a spectrum in [0, lmax]."""
        found = [Filter(self._low_pass(lmax / self._lpfactor), f"{self.name} low pass")]
        for t in self.scales(lmax):
            found.append(Filter(_scaled(self._wavelet, float(t)), f"{self.name}(t={t:.3g})"))
        return found


def mexican_hat(scales: int | ArrayLike = 5, *, lpfactor: float = 20.0) -> WaveletBank:
    """Return wavelets g(x) = x e^{-x}, and the low pass 1.2 e^{-1} exp(−(λ / 0.4 λ_min)⁴).

    Analytic, hence with a proven error.

    Examples
    --------
    >>> [each.name for each in mexican_hat(2).filters(2.0)]
    ['mexican_hat low pass', 'mexican_hat(t=20)', 'mexican_hat(t=0.5)']
    """

    def low_pass(least: float) -> Callable[[Any], Any]:
        return lambda x: 1.2 / math.e * np.exp(-((x / (0.4 * least)) ** 4))

    return WaveletBank("mexican_hat", lambda x: x * np.exp(-x), low_pass, scales, lpfactor)


def hammond(scales: int | ArrayLike = 5, *, lpfactor: float = 20.0) -> WaveletBank:
    """Return Hammond's wavelets: x² up to 1, a cubic spline to 2, then 4/x²; with their low pass.

    g has a kink in its second derivative, so that its error is measured, and its order grows like
    1/√tol: 1e-3 is what it is made for.
    """
    top = float(_spline(np.array(2 - 1 / math.sqrt(3))))  # its maximum

    def low_pass(least: float) -> Callable[[Any], Any]:
        return lambda x: top * np.exp(-((x / (0.6 * least)) ** 4))

    return WaveletBank("hammond", _spline, low_pass, scales, lpfactor)


def _spline(x: Any) -> Any:
    # The cubic is 1 at 1 and 2, where its slopes are 2 and −1.
    middle = -5 + 11 * x - 6 * x**2 + x**3
    return np.where(x < 1, x**2, np.where(x <= 2, middle, 4 / np.maximum(x, 1.0) ** 2))


def _scaled(wavelet: Callable[[Any], Any], t: float) -> Callable[[Any], Any]:
    return lambda x: wavelet(t * x)
