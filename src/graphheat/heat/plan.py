"""What a kernel will cost, said before it is computed."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Plan:
    """How ``matrix(eps)`` would be computed, and what it would take.

    Attributes
    ----------
    method, why
        The way chosen and the reason.
    order, dtype, error_bound
        Chebyshev order, precision, and the largest error of an entry.
    entries
        Estimated number of stored entries, from the rows of a fixed sample of nodes.
    memory
        Estimated peak, in bytes, of result and working arrays.
    work
        Multiply-adds: order × stored entries of S × n columns.
    """

    method: str
    why: str
    order: int
    dtype: str
    error_bound: float
    entries: int
    memory: int
    work: int

    def as_dict(self) -> dict[str, Any]:
        """Return the plan as plain values, ready for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        return (
            f"{self.method} ({self.why}), {self.dtype}, order {self.order}, "
            f"about {self.entries:,} entries and {self.memory / 1e9:.2f} GB"
        )


def available_memory() -> int | None:
    """Return the bytes that can be had without swapping, or None where the system does not say."""
    meminfo = Path("/proc/meminfo")
    if meminfo.exists():
        for line in meminfo.read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None
