"""From one triangle, kept in blocks of columns, to the rows of the whole matrix.

Importing this module imports numba.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphheat.heat.engines.numba.intrinsic import lowest
from graphheat.heat.engines.numba.loops import Kept
from graphheat.heat.engines.numba.vector_rows import compiled


class Columns(NamedTuple):
    """What the blocks of one triangle have kept, all of it, and what classes keep of themselves.

    Attributes
    ----------
    kept
        The blocks' entries, one block after the other.
    ends
        The pairs and entries of block b end before ``ends[:, b + 1]``, shape (2, blocks + 1).
    cursors
        Where the next row is found in each block, shape (2, blocks); they move on.
    starts, members
        The nodes of class C are ``members[starts[C]:starts[C + 1]]``.
    own, own_kept
        Heat from a node of class C to itself and to its twins, and whether it is kept; shape
        (2, classes).
    """

    kept: Kept
    ends: NDArray[np.int64]
    cursors: NDArray[np.int64]
    starts: NDArray[np.int64]
    members: NDArray[np.int32]
    own: NDArray[Any]
    own_kept: NDArray[np.bool_]


class Page(NamedTuple):
    """The rows of a block laid out by node: a bit for what is there (zero between blocks), heat."""

    marks: NDArray[np.uint64]
    heat: NDArray[Any]


class Rows(NamedTuple):
    """The result by rows, to be written: CSR with ``columns`` ascending."""

    indptr: NDArray[np.int64]
    columns: NDArray[np.int32]
    values: NDArray[Any]


@compiled
def join(first: int, last: int, width: int, given: Columns, page: Page, result: Rows) -> None:
    """Write the rows of the result that belong to the blocks first … last, which come in order.

    The entries of a row come in the order of the classes. They are laid out by node on the page,
    and picked up in ascending order.
    """
    kept_rows, kept_lanes, kept_heat = given.kept.rows, given.kept.lanes, given.kept.heat
    ends, cursors, starts, members = given.ends, given.cursors, given.starts, given.members
    own, own_kept, marks, heat = given.own, given.own_kept, page.marks, page.heat
    indptr, columns, values = result.indptr, result.columns, result.values
    n = len(members)
    words = (n + 63) // 64
    one = np.uint64(1)
    for block in range(first, last):
        start = block * width
        stop = min(start + width, len(starts) - 1)
        place = ends[1, block]
        for pair in range(ends[0, block], ends[0, block + 1]):
            u = kept_rows[pair]
            bits = kept_lanes[pair]
            while bits != 0:
                lane = lowest(bits)
                bits &= bits - np.uint32(1)
                for i in range(starts[u], starts[u + 1]):
                    node = np.int64(members[i])
                    heat[lane * n + node] = kept_heat[place]
                    marks[lane * words + (node >> 6)] |= one << np.uint64(node & 63)
                place += 1
        for other in range(block, ends.shape[1] - 1):
            pair, place = cursors[0, other], cursors[1, other]
            while pair < ends[0, other + 1] and kept_rows[pair] < stop:
                row = np.int64(kept_rows[pair]) - start
                bits = kept_lanes[pair]
                while bits != 0:
                    j = other * width + lowest(bits)
                    bits &= bits - np.uint32(1)
                    for i in range(starts[j], starts[j + 1]):
                        node = np.int64(members[i])
                        heat[row * n + node] = kept_heat[place]
                        marks[row * words + (node >> 6)] |= one << np.uint64(node & 63)
                    place += 1
                pair += 1
            cursors[0, other], cursors[1, other] = pair, place
        for c in range(start, stop):
            line = (c - start) * n
            row_marks = marks[(c - start) * words : (c - start + 1) * words]
            if own_kept[1, c]:
                for i in range(starts[c], starts[c + 1]):
                    node = np.int64(members[i])
                    heat[line + node] = own[1, c]
                    row_marks[node >> 6] |= one << np.uint64(node & 63)
            for i in range(starts[c], starts[c + 1]):
                node = np.int64(members[i])
                mark = one << np.uint64(node & 63)
                if own_kept[0, c]:
                    heat[line + node] = own[0, c]
                    row_marks[node >> 6] |= mark
                else:
                    row_marks[node >> 6] &= ~mark
                place = indptr[node]
                for word in range(words):
                    bits = row_marks[word]
                    while bits != 0:
                        column = word * 64 + lowest(bits)
                        bits &= bits - one
                        columns[place] = column
                        values[place] = heat[line + column]
                        place += 1
                if own_kept[1, c]:
                    heat[line + node] = own[1, c]
                    row_marks[node >> 6] |= mark
                else:
                    row_marks[node >> 6] &= ~mark
            row_marks[:] = 0
