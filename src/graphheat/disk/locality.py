"""An order of the nodes in which neighbours are near, and the components, edges staying on disk.

What grows with nodes is in memory, what grows with edges is read once or twice. The order is that
of a breadth-first search from the node of most edges (Cuthill and McKee's without the sorting by
degree): a row of a product then reads rows of the panel that were read a moment before. Importing
this module does not import numba; calling it does.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class Order(NamedTuple):
    """Where nodes stand: the node at each place, and the place of each node, shape (n,)."""

    order: NDArray[np.int32]
    rank: NDArray[np.int32]


def components(indptr: NDArray[np.int64], indices: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return the number of each node's component, shape (n,); components count from 0.

    Examples
    --------
    >>> components(np.array([0, 1, 2, 2]), np.array([1, 0], dtype=np.int32))
    array([0, 0, 1], dtype=int32)
    """
    from graphheat.disk import locality_loops as loops

    parents = np.arange(len(indptr) - 1, dtype=np.int32)
    loops.unite(indptr, indices, parents)
    loops.number(parents)
    return parents


def breadth_first(indptr: NDArray[np.int64], indices: NDArray[np.int32]) -> Order:
    """Return the nodes in breadth-first order, each component from its first unseen node.

    Examples
    --------
    >>> breadth_first(np.array([0, 1, 2, 4]), np.array([2, 2, 0, 1], dtype=np.int32)).order
    array([2, 0, 1], dtype=int32)
    """
    from graphheat.disk import locality_loops as loops

    n = len(indptr) - 1
    order = np.empty(n, dtype=np.int32)
    rank = np.full(n, -1, dtype=np.int32)
    if n:
        loops.search(indptr, indices, int(np.diff(indptr).argmax()), order, rank)
    return Order(order, rank)


def relabel(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    weights: NDArray[Any] | None,
    place: Order,
    first: int,
    out: tuple[NDArray[np.int64], NDArray[np.int32], NDArray[Any] | None],
) -> None:
    """Fill in the rows that stand at the places from ``first`` on, columns by place and rising.

    ``out`` holds row ends relative to the first, columns and weights, of as many rows as there are
    ends less one.
    """
    from graphheat.disk import locality_loops as loops

    ends, columns, values = out
    none = np.empty(0)
    loops.relabel(
        indptr, indices, none if weights is None else weights, place.order, place.rank, first,
        ends, columns, none if values is None else values,
    )  # fmt: skip
