"""Tiles: the same entries in an order in which neither rows nor sums leave the caches.

Taken row by row, a product reads a row of the panel for every entry, anywhere in memory: each is a
miss, of the caches and of the table of pages. Here the rows are cut into tiles whose sums stay in
cache, and a tile's entries are sorted by source: the panel is then read from its beginning to its
end once per tile. Every row adds up its entries in the same order as before, so that results have
the same bits. That order is kept in memory, beside the graph or its mapped file.

References
----------
S. Beamer, K. Asanovic, D. Patterson: Reducing Pagerank Communication via Propagation Blocking,
IPDPS 2017. Y. Zhang, V. Kiriansky, C. Mendis et al.: Making Caches Work for Graph Analytics, IEEE
Big Data 2017 (segmenting by cache).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphheat.heat.engines.panel.links import Links
from graphheat.heat.engines.threads import in_threads
from graphheat.memory import available_memory

LEAST_NODES = 1 << 17  # below, the rows of a panel fit into caches anyway
MANY_NODES = 1 << 22  # above, rows are narrower and tiles have more of them
SHARE = 0.3  # of the memory that is left, which tiles may take


class Tiles(NamedTuple):
    """Entries of each tile by source, an entry in four bytes.

    A code has the row of the tile that an entry is added to in its lowest bits, and above how many
    rows further its source is than that of the entry before. Where that is more than there is room
    for, entries of a row that nobody reads come between.

    Attributes
    ----------
    rows
        Of a tile.
    codes
        Of each tile, each followed by as many zeros as a loop looks ahead.
    weights
        Of each tile's entries; shape (0,) where all weights are 1.
    row_bytes
        That a row of a panel may have.
    """

    rows: int
    codes: list[NDArray[np.uint32]]
    weights: list[NDArray[Any]]
    row_bytes: int

    @property
    def bits(self) -> int:
        """How many of a code say which row; the sums have room for what these can say."""
        return self.rows.bit_length()

    def bounds(self, n: int) -> list[tuple[int, int]]:
        """Return (first, last) of the rows of each tile."""
        return [(first, min(n, first + self.rows)) for first in range(0, n, self.rows)]


def tiles_of(links: Links, threads: int = 1, room: int | None = None) -> Tiles | None:
    """Return the tiles of a graph; None where it is small, or where memory is short.

    Notes
    -----
    *Cost*: a few passes over the entries, once; 4 bytes per entry, beside the weights.
    """
    n, arrays = links.n, links.arrays
    if n < LEAST_NODES:
        return None
    rows, narrow = tile_shape(n)
    weight = arrays.weights.itemsize if len(arrays.weights) else 0
    held = len(arrays.indices) * (4 + weight)
    room = available_memory() if room is None else room
    if room is not None and held > SHARE * room:
        return None
    from graphheat.heat.engines.panel import panel_loops as loops
    from graphheat.heat.engines.panel.row_walks import FAR_AHEAD

    def sort(tile: tuple[int, int]) -> tuple[NDArray[np.uint32], NDArray[Any]]:
        codes, weights = loops.sort_tile(
            *tile, arrays.indptr, arrays.indices, arrays.weights, int(n).bit_length(),
            rows.bit_length(), FAR_AHEAD,
        )  # fmt: skip
        return codes, weights

    bounds = [(first, min(n, first + rows)) for first in range(0, n, rows)]
    codes, weights = zip(*in_threads(sort, bounds, threads), strict=True)
    return Tiles(rows, list(codes), list(weights), narrow)


def tile_shape(n: int) -> tuple[int, int]:
    """Return the rows of a tile, and the bytes of a panel's row."""
    return ((1 << 16) - 1, 64) if n <= MANY_NODES else ((1 << 18) - 1, 32)
