"""The ranges of parameters, and the one sentence that names a value outside them."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphheat.errors import ParameterError

MAX_S = 1e6


def check_choice(value: object, name: str, owner: str, allowed: tuple[object, ...]) -> None:
    """Raise unless ``value`` is one of ``allowed``."""
    if value not in allowed:
        words = ", ".join(repr(a) for a in allowed)
        raise ParameterError(
            f"The '{name}' parameter of {owner} must be one of {words}. Got {value!r} instead."
        )


def check_s(s: float, owner: str) -> float:
    """Return ``s`` as a float in [0, 1e6], or raise."""
    return check_number(s, "s", owner, 0.0, MAX_S)


def check_eps(eps: float, owner: str) -> float:
    """Return ``eps`` as a float in [0, 1), or raise."""
    return check_number(eps, "eps", owner, 0.0, 1.0, right="open")


def check_number(
    value: float,
    name: str,
    owner: str,
    low: float,
    high: float,
    *,
    left: str = "closed",
    right: str = "closed",
) -> float:
    """Return ``value`` as a finite float between ``low`` and ``high``, or raise."""
    try:
        number = math.nan if isinstance(value, (bool, str)) else float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    above = low < number if left == "open" else low <= number
    below = number < high if right == "open" else number <= high
    if not (above and below) or math.isinf(number):
        opening = "(" if left == "open" else "["
        closing = ")" if right == "open" or math.isinf(high) else "]"
        raise ParameterError(
            f"The '{name}' parameter of {owner} must be a number in "
            f"{opening}{low:g}, {high:g}{closing}. Got {value!r} instead."
        )
    return number


def check_count(value: int, name: str, owner: str, least: int = 1) -> int:
    """Return ``value`` as an int ≥ ``least``, or raise."""
    if isinstance(value, bool) or not hasattr(value, "__index__") or value.__index__() < least:
        raise ParameterError(
            f"The '{name}' parameter of {owner} must be an int >= {least}. Got {value!r} instead."
        )
    return value.__index__()


def check_flag(value: bool, name: str, owner: str) -> bool:
    """Return ``value``, True or False, or raise."""
    if not isinstance(value, (bool, np.bool_)):
        raise ParameterError(
            f"The '{name}' parameter of {owner} must be True or False. Got {value!r} instead."
        )
    return bool(value)


def check_indices(indices: ArrayLike, n: int, owner: str) -> NDArray[np.int64]:
    """Return row numbers as an array, shape (k,), or raise unless all are in [0, n)."""
    chosen = np.atleast_1d(np.asarray(indices))
    if chosen.ndim != 1 or (chosen.size and chosen.dtype.kind not in "iu"):
        raise ParameterError(
            f"The 'indices' parameter of {owner} must be row numbers. Got {indices!r} instead."
        )
    chosen = chosen.astype(np.int64)
    outside = (chosen < 0) | (chosen >= n)
    if outside.any():
        raise ParameterError(
            f"The 'indices' parameter of {owner} must be in [0, {n}). "
            f"Got {int(chosen[np.argmax(outside)])} instead."
        )
    return chosen


def check_seed(seed: int, owner: str = "fit") -> int:
    """Return ``seed`` as an int in [0, 2⁶³), or raise."""
    if isinstance(seed, bool) or not hasattr(seed, "__index__") or not 0 <= seed < 2**63:
        raise ParameterError(
            f"The 'seed' parameter of {owner} must be an int in [0, 2^63). Got {seed!r} instead."
        )
    return seed.__index__()


def shown(value: object, most: int = 60) -> str:
    """Return a value as a message shows it, a long one cut.

    Examples
    --------
    >>> shown("a" * 1_000_000, most=3)
    'aaa…'
    """
    text = str(value)
    return text if len(text) <= most else text[:most] + "…"
