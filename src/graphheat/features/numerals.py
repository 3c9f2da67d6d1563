"""Numbers as people write them: decimal points and commas, thousands apart, a currency."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

Decimal = Literal[".", ","]

_PLAIN = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_COMMA = re.compile(r"[+-]?(?:\d+,\d*|,\d+)(?:[eE][+-]?\d+)?")
_GROUPED = {
    ".": re.compile(r"[+-]?[1-9]\d{0,2}(?:,\d{3})+(?:\.\d*)?"),
    ",": re.compile(r"[+-]?[1-9]\d{0,2}(?:\.\d{3})+(?:,\d*)?"),
}
_SPACED = re.compile(r"[+-]?[1-9]\d{0,2}(?:[ '’\u00a0\u202f]\d{3})+(?:[.,]\d*)?")
_SPACES = re.compile(r"[ '’\u00a0\u202f]")
_LEADING_ZERO = re.compile(r"[+-]?0\d+")
_WORDS = frozenset(["inf", "+inf", "-inf", "infinity", "-infinity"])


@dataclass(frozen=True)
class Reading:
    """A cell as a number: with a decimal point, with a decimal comma; None where it is none."""

    point: float | None
    comma: float | None

    @property
    def certain(self) -> Decimal | None:
        """The decimal sign that the cell alone proves, or None."""
        if self.point is None and self.comma is not None:
            return ","
        if self.comma is None and self.point is not None:
            return "."
        return None


@lru_cache(maxsize=2**16)
def reading(word: str) -> Reading | None:
    """Return what number a cell may be; None when it is no number.

    "1,234" is 1234 with a decimal point and 1.234 with a decimal comma; "12,5" can only be the
    latter. Digits behind a needless zero ("007") are a code, no number.

    Examples
    --------
    >>> reading("1,234")
    Reading(point=1234.0, comma=1.234)
    >>> reading("1.234.567,5").certain, reading("007")
    (',', None)
    """
    if not word.isascii() and not set(word) <= _ALLOWED:
        return None
    text = word.removeprefix(unit(word)).removesuffix(unit(word)).strip()
    if _LEADING_ZERO.fullmatch(text):
        return None
    if text.lower() in _WORDS:
        return Reading(float(text), float(text))
    if _SPACED.fullmatch(text):
        # What is left of the groups can only be the decimal sign.
        text = _SPACES.sub("", text)
        if "," in text:
            return Reading(None, float(text.replace(",", ".")))
        value = float(text)
        return Reading(value, None if "." in text else value)
    point = comma = None
    if _PLAIN.fullmatch(text):
        point = float(text)
        if "." not in text:
            comma = point
    elif _GROUPED["."].fullmatch(text):
        point = float(text.replace(",", ""))
    if _COMMA.fullmatch(text):
        comma = float(text.replace(",", "."))
    elif _GROUPED[","].fullmatch(text):
        comma = float(text.replace(".", "").replace(",", "."))
    return None if point is None and comma is None else Reading(point, comma)


def unit(word: str) -> str:
    """Return the currency or percent sign at one end of a cell, or nothing.

    Examples
    --------
    >>> unit("$ 12"), unit("7 %"), unit("7")
    ('$', '%', '')
    """
    if word[:1] in _CURRENCIES and word[:1]:
        return word[0]
    return word[-1] if word[-1:] in (*_CURRENCIES, "%") and word else ""


_CURRENCIES = ("$", "€", "£", "¥")
_ALLOWED = frozenset("0123456789+-.,eE $€£¥%'’\u00a0\u202f")


def proven(words: Iterable[str | None]) -> set[Decimal]:
    """Return the decimal signs that cells prove, each on its own.

    Examples
    --------
    >>> proven(["1,5", "1,234", "7", "red"])
    {','}
    """
    found: set[Decimal] = set()
    for word in words:
        known = None if word is None else reading(word)
        sign = None if known is None else known.certain
        if sign is not None:
            found.add(sign)
        if len(found) == 2:
            break
    return found
