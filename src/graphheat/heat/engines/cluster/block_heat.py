"""BlockHeat: results of a diffusion in files, whose rows any process can look up."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphheat.heat.engines.cluster.block_files import opened
from graphheat.heat.engines.cluster.block_step import Diffused


@dataclass(frozen=True)
class BlockHeat:
    """Rows of diffused columns by their numbers; small, and sent to workers.

    Attributes
    ----------
    parts
        The columns, some at a time.
    number, series
        The last generation, and how many series were added up.
    """

    parts: tuple[Diffused, ...]
    number: int
    series: int

    def __call__(self, rows: Any, e: int = 0) -> NDArray[Any]:
        """Return rows of the result of series ``e``, shape (k, columns)."""
        found = [self._rows(part, rows, e) for part in self.parts]
        return found[0] if len(found) == 1 else np.concatenate(found, axis=1)

    def _rows(self, part: Diffused, rows: Any, e: int) -> NDArray[Any]:
        links = part.links()
        shape = self.series, links.n, part.width
        sums = opened(Path(part.folder), "sum", self.number, shape, np.dtype(part.dtype))
        places = rows if links.rank is None else links.rank[rows]
        values: NDArray[Any] = np.asarray(sums[e][places, : part.columns])
        return values if links.roots is None else values * links.roots[places][:, None]
