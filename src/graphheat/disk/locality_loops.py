"""The compiled loops of :mod:`graphheat.disk.locality`. Importing this module imports numba."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphheat.jit import compiled


@compiled
def unite(indptr: Any, indices: Any, parents: Any) -> None:
    """Unite the ends of every entry: ``parents`` becomes a forest, a tree per component."""
    for u in range(len(indptr) - 1):
        for e in range(indptr[u], indptr[u + 1]):
            a, b = np.int64(u), np.int64(indices[e])
            while parents[a] != a:
                parents[a] = parents[parents[a]]
                a = np.int64(parents[a])
            while parents[b] != b:
                parents[b] = parents[parents[b]]
                b = np.int64(parents[b])
            if a < b:
                parents[b] = a
            elif b < a:
                parents[a] = b


@compiled
def number(parents: Any) -> None:
    """Replace each tree by its number; a root is the lowest of its tree, so it comes first."""
    count = 0
    for u in range(len(parents)):
        if parents[u] == u:
            parents[u] = -1 - count
            count += 1
        else:
            # Its parent is lower and has its number already.
            parents[u] = parents[parents[u]]
    for u in range(len(parents)):
        parents[u] = -1 - parents[u]


@compiled
def search(indptr: Any, indices: Any, start: int, order: Any, rank: Any) -> None:
    """Fill in ``order`` and ``rank``, which is −1 everywhere."""
    order[0], rank[start] = start, 0
    found, done, fresh = 1, 0, 0
    n = len(rank)
    while found < n or done < found:
        if done == found:
            while rank[fresh] >= 0:
                fresh += 1
            order[found], rank[fresh] = fresh, found
            found += 1
        u = order[done]
        done += 1
        for e in range(indptr[u], indptr[u + 1]):
            v = indices[e]
            if rank[v] < 0:
                order[found], rank[v] = v, found
                found += 1


@compiled
def relabel(
    indptr: Any, indices: Any, weights: Any, order: Any, rank: Any, first: int,
    ends: Any, columns: Any, values: Any,
) -> None:  # fmt: skip
    """Copy rows by their new places, columns rising: an insertion for short rows, else a sort."""
    weighted = len(values) > 0
    for row in range(len(ends) - 1):
        u = order[first + row]
        begin, size = indptr[u], indptr[u + 1] - indptr[u]
        at = ends[row]
        for e in range(size):
            columns[at + e] = rank[indices[begin + e]]
        if size > 64 or weighted:
            by = np.argsort(columns[at : at + size], kind="mergesort")
            copy = columns[at : at + size].copy()
            for e in range(size):
                columns[at + e] = copy[by[e]]
                if weighted:
                    values[at + e] = weights[begin + by[e]]
        else:
            for e in range(1, size):
                value = columns[at + e]
                k = e
                while k > 0 and columns[at + k - 1] > value:
                    columns[at + k] = columns[at + k - 1]
                    k -= 1
                columns[at + k] = value
