"""Dates as people write them, and which of day and month comes first."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import lru_cache

import numpy as np

_SHAPE = re.compile(
    r"\d{4}([-/.])\d{1,2}\1\d{1,2}([ T]\d{1,2}:\d{2}.*)?"
    r"|\d{1,2}([-/.])\d{1,2}\3\d{4}( \d{1,2}:\d{2}.*)?"
)
ISO = "iso"
_DAYS = ("%Y/%m/%d", "%Y.%m.%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y")
FORMATS = (ISO, *(day + hour for day in _DAYS for hour in ("", " %H:%M", " %H:%M:%S")))


def looks_like_a_date(word: str) -> bool:
    """Tell whether a cell has the shape of a date, such as 2024-01-31 or 31.1.2024."""
    return _SHAPE.fullmatch(word) is not None


@lru_cache(maxsize=2**16)
def moment(word: str, form: str) -> np.datetime64 | None:
    """Return a cell as a moment (UTC) by one format, or None.

    Examples
    --------
    >>> str(moment("31.1.2024", "%d.%m.%Y"))[:10], moment("31.1.2024", "%m.%d.%Y")
    ('2024-01-31', None)
    """
    try:
        if form == ISO:
            found = datetime.fromisoformat(word) if word[4:5] == "-" else None
        else:
            found = datetime.strptime(word, form)
        if found is not None and found.tzinfo is not None:
            found = found.astimezone(UTC).replace(tzinfo=None)
    except (ValueError, OverflowError, re.error):
        return None
    return None if found is None else np.datetime64(found, "us")


def formats_of(words: Sequence[str]) -> list[str]:
    """Return the formats by which every one of the cells is a date.

    Examples
    --------
    >>> formats_of(["31/01/2024", "02/03/2024"]), formats_of(["02/03/2024"])
    (['%d/%m/%Y'], ['%d/%m/%Y', '%m/%d/%Y'])
    """
    if not words or not all(map(looks_like_a_date, words)):
        return []
    left = list(FORMATS)
    for word in dict.fromkeys(words):
        left = [form for form in left if moment(word, form) is not None]
    return left
