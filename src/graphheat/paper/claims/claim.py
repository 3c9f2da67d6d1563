"""A claim of the paper, the number that bears on it, and what the number says."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Verdict = Literal["holds", "holds in part", "does not hold", "not measured"]


@dataclass(frozen=True)
class Claim:
    """One claim.

    Attributes
    ----------
    section
        Of the paper.
    text
        What is claimed, in our words.
    numbers
        What was measured.
    verdict
        What the numbers say of the claim.
    detail
        How it was measured, and what to make of it.
    """

    section: str
    text: str
    numbers: str
    verdict: Verdict
    detail: str


def not_measured(section: str, text: str, needed: str) -> Claim:
    """Return a claim for which the results are not there; ``needed`` says which."""
    return Claim(section, text, "—", "not measured", f"Needs {needed}.")


def judge(parts: Iterable[bool]) -> Verdict:
    """Return the verdict on a claim of several parts: all, some or none of them borne out."""
    found = list(parts)
    if not found:
        return "not measured"
    if all(found):
        return "holds"
    return "holds in part" if any(found) else "does not hold"
