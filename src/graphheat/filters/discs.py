"""Discs in the complex plane that NumPy's functions can be applied to, and what they then contain.

A function written with NumPy's arithmetic takes a :class:`Discs` as it takes an array. For every z
in a disc that goes in, f(z) lies in the disc that comes out, and where that is finite f is analytic
on the disc: nothing was divided by a disc around 0, and no logarithm met its cut. That is the proof
behind the error bounds of analytic filters.

References
----------
J. Rokne, P. Lancaster: Complex Interval Arithmetic, Communications of the ACM 1971.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin
from numpy.typing import NDArray

ROUNDING = 16 * 2.0**-53  # of a centre, relative, that an operation is charged with


class Discs(NDArrayOperatorsMixin):
    """Discs |z − center| ≤ radius, shape (k,); a radius of infinity: not known to be analytic.

    Examples
    --------
    >>> unit = Discs(np.zeros(1, complex), np.ones(1))
    >>> round(float((1 / (2 + unit)).largest[0]), 6)  # 1 / (2 + z) is at most 1 for |z| ≤ 1
    1.0
    >>> bool(np.isinf((1 / unit).radius[0]))
    True
    """

    def __init__(self, center: NDArray[Any], radius: NDArray[Any]) -> None:
        unknown = ~(np.isfinite(center) & np.isfinite(radius))
        self.center = np.where(unknown, 0.0, center).astype(np.complex128)
        self.radius = np.where(unknown, np.inf, radius + ROUNDING * np.abs(center))

    @property
    def largest(self) -> NDArray[np.float64]:
        """What no modulus exceeds, shape (k,)."""
        return np.asarray(np.abs(self.center) + self.radius)

    def __array__(self, *arguments: Any, **options: Any) -> NDArray[Any]:
        raise TypeError("Discs are not numbers.")

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        rule = _RULES.get(ufunc.__name__)
        if rule is None or method != "__call__" or options:
            return NotImplemented
        with np.errstate(all="ignore"):
            if ufunc.__name__ == "power":
                return _power(*inputs)
            return rule(*(_discs(each) for each in inputs))


def _discs(value: Any) -> Discs:
    if isinstance(value, Discs):
        return value
    number = np.asarray(value)
    if number.ndim or number.dtype.kind not in "biufc":
        raise TypeError("Discs go together with single numbers alone.")
    return Discs(number.reshape(1).astype(np.complex128), np.zeros(1))


def _add(a: Discs, b: Discs) -> Discs:
    return Discs(a.center + b.center, a.radius + b.radius)


def _subtract(a: Discs, b: Discs) -> Discs:
    return Discs(a.center - b.center, a.radius + b.radius)


def _negative(a: Discs) -> Discs:
    return Discs(-a.center, a.radius)


def _multiply(a: Discs, b: Discs) -> Discs:
    radius = np.abs(a.center) * b.radius + np.abs(b.center) * a.radius + a.radius * b.radius
    return Discs(a.center * b.center, radius)


def _reciprocal(a: Discs) -> Discs:
    room = np.abs(a.center) ** 2 - a.radius**2
    away = np.abs(a.center) * (1 - 1e-12) > a.radius
    return Discs(
        np.where(away, np.conj(a.center) / room, np.nan), np.where(away, a.radius / room, np.inf)
    )


def _divide(a: Discs, b: Discs) -> Discs:
    return _multiply(a, _reciprocal(b))


def _exp(a: Discs) -> Discs:
    center = np.exp(a.center)
    # A large radius goes into the exponent: e^{-1000} may be 0 where e^{1000} is none.
    radius = np.where(
        a.radius < 1, np.abs(center) * np.expm1(a.radius), np.exp(a.center.real + a.radius)
    )
    # The centre's own rounding is that of its exponent.
    return Discs(center, radius * (1 + 1e-12) + np.abs(center) * ROUNDING * np.abs(a.center))


def _log(a: Discs) -> Discs:
    # How far the cut along the negative numbers is.
    room = np.where(a.center.real >= 0, np.abs(a.center), np.abs(a.center.imag))
    ratio = a.radius / np.abs(a.center)
    away = room * (1 - 1e-12) > a.radius
    return Discs(
        np.where(away, np.log(a.center), np.nan), np.where(away, -np.log1p(-ratio), np.inf)
    )


def _whole_power(a: Discs, exponent: int) -> Discs:
    if exponent < 0:
        return _whole_power(_reciprocal(a), -exponent)
    size = np.abs(a.center)
    radius = (size + a.radius) ** exponent - size**exponent
    return Discs(a.center**exponent, radius * (1 + 1e-12) + exponent * ROUNDING * size**exponent)


def _power(base: Any, exponent: Any) -> Discs:
    if isinstance(exponent, Discs):
        return _exp(_multiply(exponent, _log(_discs(base))))
    number = float(exponent)
    a = _discs(base)
    return _whole_power(a, int(number)) if number.is_integer() else _real_power(a, number)


def _real_power(a: Discs, exponent: float) -> Discs:
    return _exp(_multiply(_discs(exponent), _log(a)))


def _tanh(a: Discs) -> Discs:
    # By e^{-2z} on the right and e^{2z} on the left: neither overflows.
    sign = np.where(a.center.real >= 0, 1.0, -1.0)
    q = _exp(Discs(-2 * sign * a.center, 2 * a.radius))
    one = _discs(1.0)
    right = _divide(_subtract(one, q), _add(one, q))
    return Discs(sign * right.center, right.radius)


def _cosh(a: Discs) -> Discs:
    total = _add(_exp(a), _exp(_negative(a)))
    return Discs(total.center / 2, total.radius / 2)


def _sinh(a: Discs) -> Discs:
    total = _subtract(_exp(a), _exp(_negative(a)))
    return Discs(total.center / 2, total.radius / 2)


def _turned(a: Discs) -> Discs:
    return Discs(1j * a.center, a.radius)


_RULES: dict[str, Callable[..., Discs]] = {
    "add": _add,
    "subtract": _subtract,
    "negative": _negative,
    "positive": lambda a: a,
    "multiply": _multiply,
    "divide": _divide,
    "reciprocal": _reciprocal,
    "square": lambda a: _whole_power(a, 2),
    "power": _power,
    "sqrt": lambda a: _real_power(a, 0.5),
    "exp": _exp,
    "exp2": lambda a: _exp(_multiply(a, _discs(np.log(2.0)))),
    "expm1": lambda a: _subtract(_exp(a), _discs(1.0)),
    "log": _log,
    "log1p": lambda a: _log(_add(a, _discs(1.0))),
    "tanh": _tanh,
    "cosh": _cosh,
    "sinh": _sinh,
    "cos": lambda a: _cosh(_turned(a)),
    "sin": lambda a: _multiply(_discs(-1j), _sinh(_turned(a))),
}
