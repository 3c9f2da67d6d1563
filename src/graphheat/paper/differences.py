"""What differs from the paper, system by system, in plain words; for the page of results."""

from __future__ import annotations

DIFFERENCES: dict[str, str] = {}
