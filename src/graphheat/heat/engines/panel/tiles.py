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

from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphheat.heat.engines.panel.links import Links
from graphheat.memory import available_memory

LEAST_NODES = 1 << 17  # below, the rows of a panel fit into caches anyway
MANY_NODES = 1 << 22  # above, rows are narrower and tiles have more of them
SHARE = 0.3  # of the memory that is left, which tiles may take


class Tiles(NamedTuple):
    """Entries of each tile by source.

    Attributes
    ----------
    rows
        Of a tile.
    sources, targets, weights
        Shape (nnz,), of tile after tile: the row that is read, the row of the tile that it is added
        to, and the weight; shape (0,) where all weights are 1.
    row_bytes
        That a row of a panel may have.
    """

    rows: int
    sources: NDArray[np.int32]
    targets: NDArray[Any]
    weights: NDArray[Any]
    row_bytes: int

    def bounds(self, n: int) -> list[tuple[int, int]]:
        """Return (first, last) of the rows of each tile."""
        return [(first, min(n, first + self.rows)) for first in range(0, n, self.rows)]


def tiles_of(links: Links, threads: int = 1, room: int | None = None) -> Tiles | None:
    """Return the tiles of a graph; None where it is small, or where memory is short.

    Notes
    -----
    *Cost*: a few passes over the entries, once; 6 to 8 bytes per entry, beside the weights.
    """
    n, arrays = links.n, links.arrays
    if n < LEAST_NODES:
        return None
    rows, narrow = tile_shape(n)
    held = len(arrays.indices) * tile_bytes(n, arrays.weights.itemsize * bool(len(arrays.weights)))
    room = available_memory() if room is None else room
    if room is not None and held > SHARE * room:
        return None
    from graphheat.heat.engines.panel import panel_loops as loops

    sources = np.empty(len(arrays.indices), dtype=np.int32)
    targets = np.empty(len(sources), dtype=np.uint16 if rows <= 1 << 16 else np.uint32)
    weights = np.empty(len(arrays.weights), dtype=arrays.weights.dtype)
    tiles = Tiles(rows, sources, targets, weights, narrow)

    def sort(tile: tuple[int, int]) -> None:
        loops.sort_tile(
            *tile, arrays.indptr, arrays.indices, arrays.weights, int(n).bit_length(), sources,
            targets, weights,
        )  # fmt: skip

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(sort, tiles.bounds(n)))
    return tiles


def tile_shape(n: int) -> tuple[int, int]:
    """Return the rows of a tile, and the bytes of a panel's row."""
    return (1 << 16, 64) if n <= MANY_NODES else (1 << 18, 32)


def tile_bytes(n: int, weight: int = 0) -> int:
    """Return what tiles take per entry."""
    return 4 + (2 if tile_shape(n)[0] <= 1 << 16 else 4) + weight
