"""What a run has to do with: settings that decided it, and explainers of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray


class Settings(Protocol):
    """What, with the graph and the seed, decides a run."""

    def as_dict(self) -> dict[str, Any]:
        """Return the settings as plain values, ready for JSON."""


class Explainer(Protocol):
    """What explains node after node of one run."""

    def explain(self, node: Any, *, label: Any = None) -> Any:
        """Return an :class:`~graphheat.explain.Explanation` of a logit of ``node``."""

    def contributions(
        self, index: int, codes: list[int]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return what every node gave to logits of row ``index``, and the constants.

        Contributions have shape (n, len(codes)), constants (len(codes),).
        """

    def by_feature(self, index: int, codes: list[int]) -> NDArray[np.float64] | None:
        """Return what every feature gave to logits of row ``index``, shape (f, len(codes)).

        None where features play no part.
        """

    def heat(self, index: int) -> NDArray[np.float64]:
        """Return the heat that arrives at row ``index`` from every node, shape (n,)."""

    def look_ahead(self, indices: NDArray[np.int64]) -> None:
        """Compute for several rows together what contributions of each will ask for."""


@dataclass(frozen=True)
class PlainSettings:
    """Settings as plain values by name."""

    values: Mapping[str, Any]

    def as_dict(self) -> dict[str, Any]:
        """Return the values."""
        return dict(self.values)
