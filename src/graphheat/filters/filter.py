"""Filter: a function f of the frequency λ, which a graph's Laplacian is put into."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphheat.errors import ParameterError


class Expansion(NamedTuple):
    """A Chebyshev series in μ = 1 − 2λ/λ_max that is known in closed form.

    Attributes
    ----------
    coefficients
        c_0, c_1, …, shape (m + 1,).
    tails
        ``Σ_{j>k} |c_j|``, or more, for each k, shape (m + 1,); the last is negligible.
    """

    coefficients: NDArray[np.float64]
    tails: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Filter:
    """A function f(λ), real on [0, λ_max]; sums, products and multiples of filters are filters.

    Parameters
    ----------
    function
        Takes and returns arrays. Written with NumPy's arithmetic, ``exp``, ``log``, ``sqrt``,
        ``tanh`` and the like, and analytic, its error is proven; with ``where``, ``abs`` or
        interpolation it is measured.
    name
        What ``repr`` shows.
    modulus
        ``modulus(rho, lmax)``: a bound of ``|f|`` on the Bernstein ellipse ρ around [0, lmax] that
        you vouch for, infinity where f is not analytic in it. For functions that are analytic but
        not written with NumPy's arithmetic.
    expand
        ``expand(lmax, tol)``: the series in closed form, until its tail is below ``tol``.

    Examples
    --------
    >>> from graphheat import filters
    >>> smooth = filters.heat(2.0)
    >>> rough = 1 - smooth
    >>> (rough + smooth)([0.0, 1.0, 2.0]).tolist()
    [1.0, 1.0, 1.0]
    >>> filters.heat(1.0) * filters.heat(2.0)
    Filter(heat(s=1) · heat(s=2))
    """

    function: Callable[[Any], Any]
    name: str = "f"
    modulus: Callable[[float, float], float] | None = None
    expand: Callable[[float, float], Expansion] | None = None

    def __call__(self, frequencies: ArrayLike) -> NDArray[np.float64]:
        """Return f at ``frequencies``, of the same shape."""
        given = np.asarray(frequencies, dtype=np.float64)
        try:
            with np.errstate(all="ignore"):  # what is not finite is reported below
                values = np.asarray(self.function(given))
            if values.shape != given.shape:
                values = np.broadcast_to(values, given.shape)
        except Exception as error:
            raise ParameterError(
                f"The filter {self.name} must take an array of frequencies and return as many "
                f"numbers: {type(error).__name__}: {error}."
            ) from error
        if values.dtype.kind not in "biuf" or not np.isfinite(values).all():
            raise ParameterError(
                f"The filter {self.name} must return finite real numbers on [0, λ_max]; got "
                f"{'numbers that are not finite' if values.dtype.kind in 'biuf' else values.dtype}."
            )
        return values.astype(np.float64)

    def __repr__(self) -> str:
        return f"Filter({self.name})"

    def __add__(self, other: Any) -> Filter:
        f, g = self.function, _operand(other)
        if g is None:
            return NotImplemented
        return Filter(lambda x: f(x) + g.function(x), f"{self.name} + {g.name}")

    def __mul__(self, other: Any) -> Filter:
        f, g = self.function, _operand(other)
        if g is None:
            return NotImplemented
        return Filter(lambda x: f(x) * g.function(x), f"{_part(self.name)} · {_part(g.name)}")

    __radd__ = __add__
    __rmul__ = __mul__

    def __neg__(self) -> Filter:
        return -1 * self

    def __sub__(self, other: Any) -> Filter:
        g = _operand(other)
        return NotImplemented if g is None else self + -g

    def __rsub__(self, other: Any) -> Filter:
        g = _operand(other)
        return NotImplemented if g is None else g + -self


def _operand(value: Any) -> Filter | None:
    if isinstance(value, Filter):
        return value
    if isinstance(value, (int, float, np.integer, np.floating)) and np.isfinite(value):
        number = float(value)
        return Filter(lambda x: number, f"{number:g}")
    return None


def _part(name: str) -> str:
    return f"({name})" if " + " in name else name
