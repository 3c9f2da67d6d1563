"""The compiled loops of features that are mostly zero. Importing this module imports numba."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphheat.jit import compiled


@compiled
def places(
    first: int, last: int, width: int, x: Any, words: Any, starts: Any, columns: Any
) -> bool:
    """Note where rows first … last of x are not zero; False: ``columns`` has no room for it.

    ``x`` is flat, of rows of ``width`` numbers, and ``words`` the same memory, 8 bytes at a time;
    eight words, a line of the cache, are looked at together. The columns of the i-th of these rows
    are ``columns[starts[i] : starts[i + 1]]``.
    """
    in_word = np.uint64(8 // x.itemsize)
    in_block = np.uint64(64 // x.itemsize)
    whole = np.uint64(len(words)) * in_word
    one, found, most = np.uint64(1), np.uint64(0), np.uint64(len(columns))
    position = np.uint64(first * width)  # numba looks twice at an index that could be negative
    for i in range(first, last):
        begin, end = np.uint64(i * width), np.uint64((i + 1) * width)
        starts[i - first] = found
        while position < end:
            upto = position + one
            if position % in_word == 0 and position + in_block <= whole:
                q = position // in_word
                some = words[q] | words[q + one] | words[q + np.uint64(2)] | words[q + np.uint64(3)]
                q += np.uint64(4)
                more = words[q] | words[q + one] | words[q + np.uint64(2)] | words[q + np.uint64(3)]
                if some | more == 0:
                    position += in_block  # perhaps into the next row, which is zero there as well
                    continue
                upto = min(position + in_block, end)
            if found + in_block > most:
                return False
            while position < upto:  # without a branch: where they are cannot be foreseen
                columns[found] = position - begin
                found += np.uint64(x[position] != 0)
                position += one
    starts[last - first] = found
    return True


@compiled
def add_products(
    first: int, last: int, width: int, x: Any, starts: Any, columns: Any, transposed: bool,
    other: Any, y: Any,
) -> None:  # fmt: skip
    """Add to ``y`` what rows first … last bring to x · other or xᵀ · other, by the places noted."""
    terms = other.shape[1]
    for i in range(first, last):
        for e in range(starts[i - first], starts[i - first + 1]):
            j = columns[e]
            value = x[i * width + j]
            to, of = (j, i) if transposed else (i, j)
            for k in range(terms):
                y[to, k] += value * other[of, k]
