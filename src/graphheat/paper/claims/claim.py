"""A claim of the paper, the number that bears on it, and what the number says."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Verdict = Literal["holds", "holds in part", "does not hold", "not measured"]

HEADER = ("section", "claim", "verdict", "numbers", "detail")


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

    def row(self) -> tuple[str, str, str, str, str]:
        """Return the cells of a table, in the order of ``HEADER``."""
        return self.section, self.text, self.verdict, self.numbers, self.detail


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


def markdown(claims: Iterable[Claim]) -> str:
    """Return a table in Markdown, one row a claim.

    Examples
    --------
    >>> print(markdown([Claim("3.1", "Water is wet", "3 of 3", "holds", "Touched it.")]))
    | section | claim | verdict | numbers | detail |
    |---|---|---|---|---|
    | 3.1 | Water is wet | holds | 3 of 3 | Touched it. |
    """
    rows = [HEADER, ("---",) * len(HEADER), *(claim.row() for claim in claims)]
    lines = []
    for number, row in enumerate(rows):
        cells = [cell.replace("|", "\\|").replace("\n", " ") for cell in row]
        lines.append("|" + "|".join(cells) + "|" if number == 1 else f"| {' | '.join(cells)} |")
    return "\n".join(lines)
