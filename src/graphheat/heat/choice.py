"""Which way to compute e^{-sL}: by counted work, never by a clock, so that results repeat."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import NamedTuple

# Multiply-adds that the scipy way does in about a second. A smaller job never meets a compiler.
SECOND = 1e9

# Push costs 5–8 ns an edge, blocks 0.15 ns an edge and column: push wins below this share.
PUSH_SHARE = 0.02


class Choice(NamedTuple):
    """A way, and why it was chosen."""

    way: str
    why: str


def numba_is_there() -> bool:
    """Return whether numba is installed, without importing it."""
    return find_spec("numba") is not None


def for_signals(method: str, work: float, columns: int) -> Choice:
    """Choose for ``apply`` and ``sweep``; ``work`` in multiply-adds.

    Push computes rows, not signals; asked for it, signals go by ``auto``.
    """
    if method not in ("auto", "push"):
        return Choice(method, "asked for")
    if columns < 4:
        return Choice("scipy", "too few columns to fill a vector")
    return _blocks(work)


def for_rows(method: str, work: float) -> Choice:
    """Choose for ``row`` and ``rows``; ``work`` is that of blocks, in multiply-adds."""
    if method != "auto":
        return Choice(method, "asked for")
    if work >= SECOND / 10 and numba_is_there():
        return Choice("push", "chosen rows of a large graph")
    return _blocks(work)


def for_matrix(method: str, work: float, push_share: Callable[[], float]) -> Choice:
    """Choose for ``matrix``.

    Parameters
    ----------
    work
        Multiply-adds that blocks take.
    push_share
        Called when it matters: edges that push visits from a few fixed nodes, as a share of those
        that blocks do.
    """
    if method != "auto":
        return Choice(method, "asked for")
    choice = _blocks(work)
    if choice.way == "numba":
        share = push_share()
        if share < PUSH_SHARE:
            return Choice("push", f"push visits {share:.2%} of the edges that blocks do")
        return Choice("numba", f"push would visit {share:.0%} of the edges that blocks do")
    return choice


def _blocks(work: float) -> Choice:
    if work < SECOND:
        return Choice("scipy", "about a second of work at most")
    if not numba_is_there():
        return Choice("scipy", "numba is not installed")
    return Choice("numba", "more than a second of work")
