"""Compiling a loop: with a cache on disk where one can be kept, without one elsewhere.

Importing this module imports numba.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from numba import njit


def compiled(function: Callable[..., Any]) -> Any:
    """Return ``function``, compiled when it is first called; it runs without the GIL.

    No ``fastmath``: results are the same to the bit, from a cold and from a warm cache.
    """
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
    try:
        loop = njit(cache=True, **options)(function)
    except RuntimeError:  # no folder that a cache could be written to
        return njit(**options)(function)
    save = loop._cache.save_overload

    def save_if_possible(*arguments: Any) -> None:
        with suppress(OSError):  # a full disk costs only the cache
            save(*arguments)

    loop._cache.save_overload = save_if_possible
    return loop
