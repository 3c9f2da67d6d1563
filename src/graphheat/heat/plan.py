"""What a kernel will cost, estimated before it is computed."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Plan:
    """How ``matrix(eps)`` would be computed, and what it would take.

    Attributes
    ----------
    engine, why
        The engine chosen and the reason.
    order, dtype, error_bound
        Chebyshev order, precision, and the largest error of an entry.
    entries
        Estimated number of stored entries, from the rows of a fixed sample of nodes.
    memory
        Estimated peak, in bytes, of result and working arrays.
    work
        Counted, in multiply-adds of compiled blocks: by columns, order × entries of S × n.
    """

    engine: str
    why: str
    order: int
    dtype: str
    error_bound: float
    entries: int
    memory: int
    work: int

    @property
    def method(self) -> str:
        """The engine, by its earlier name."""
        return self.engine

    def as_dict(self) -> dict[str, Any]:
        """Return the plan as plain values, ready for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        return (
            f"{self.engine} ({self.why}), {self.dtype}, order {self.order}, "
            f"about {self.entries:,} entries and {self.memory / 1e9:.2f} GB"
        )
