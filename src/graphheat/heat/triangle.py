"""From one triangle, kept in blocks of columns, to the rows of the whole matrix.

Importing this module imports numba.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphheat.heat.intrinsic import compiled, lowest


@compiled
def join(
    first: int,
    last: int,
    width: int,
    starts: Any,
    members: Any,
    kept_rows: Any,
    kept_lanes: Any,
    kept_heat: Any,
    ends: Any,
    cursors: Any,
    own: Any,
    own_kept: Any,
    marks: Any,
    heat: Any,
    indptr: Any,
    columns: Any,
    values: Any,
) -> None:
    """Write the rows of the result that belong to the blocks first … last.

    ``kept_…`` are what ``loops.keep`` has collected, all of it; the pairs and entries of block b
    end before ``ends[:, b + 1]``. What other blocks hold of a row is found at ``cursors``, which
    move on: blocks must come in their order. ``own[:, C]`` are the heat from a node of class C to
    itself and to its twins, ``own_kept`` whether they are kept.

    The entries of a row come in the order of the classes. They are laid out by node in ``heat``,
    with a bit in ``marks`` (zero before and after), and picked up in ascending order.
    """
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
