"""The rows of a graph as files: sorted, then by place, in an order in which neighbours are near."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphheat.disk import locality
from graphheat.disk.array_folder import new_array
from graphheat.disk.edge_buckets import EdgeBuckets
from graphheat.progress import Progress

COPY = 1 << 24  # entries that are copied at a time


def write_rows(
    folder: Path, n: int, buckets: EdgeBuckets, progress: Progress | None = None
) -> dict[str, Any]:
    """Write the sorted rows: columns, weights, and where each row ends."""
    indptr = np.zeros(n + 1, dtype=np.int64)
    loops, ones = 0, True
    raw = folder / "columns.raw", folder / "weights.raw"
    with raw[0].open("wb") as columns, raw[1].open("wb") as weights:
        for part in buckets.sorted_rows():
            indptr[part.first + 1 : part.last + 1] = part.counts
            part.columns.tofile(columns)
            rows = np.repeat(np.arange(part.first, part.last), part.counts)
            loops += int((rows == part.columns).sum())
            if part.weights is not None and len(part.weights):
                part.weights.tofile(weights)
                ones &= bool((part.weights == 1).all())
            if progress is not None:
                progress(part.last, n, "rows sorted")
    np.cumsum(indptr, out=indptr)
    with (folder / "ends.raw").open("wb") as stream:
        np.save(stream, indptr)
    return {"entries": int(indptr[-1]), "self_loops": loops, "weighted": not ones}


def place_rows(
    folder: Path, n: int, *, weighted: bool, near: bool, progress: Progress | None = None
) -> dict[str, Any]:
    """Write ``indptr``, ``indices`` and ``weights`` by place, the places, and components.

    Parameters
    ----------
    weighted
        Whether weights are kept.
    near
        Whether nodes are put in an order in which neighbours are near.
    """
    with (folder / "ends.raw").open("rb") as stream:
        ends: NDArray[np.int64] = np.load(stream, allow_pickle=False)
    entries = int(ends[-1])
    columns = np.memmap(folder / "columns.raw", np.int32, "r", shape=(entries,))
    weights: Any = None
    if weighted:
        weights = np.memmap(folder / "weights.raw", np.float64, "r", shape=(entries,))
    numbers = locality.components(ends, columns)
    indptr = new_array(folder / "indptr.npy", (n + 1,), np.int64)
    indices = new_array(folder / "indices.npy", (entries,), np.int32)
    values = None if weights is None else new_array(folder / "weights.npy", (entries,), np.float64)
    if near:
        place = locality.breadth_first(ends, columns)
        lengths = np.diff(ends)
        np.cumsum(lengths[place.order], out=indptr[1:])
        _relabel((ends, columns, weights), place, (indptr, indices, values), progress)
        for label, array in (("order", place.order), ("rank", place.rank)):
            np.save(folder / f"{label}.npy", array)
        numbers = numbers[place.order]
    else:
        indptr[:] = ends
        for a in range(0, entries, COPY):
            indices[a : a + COPY] = columns[a : a + COPY]
            if values is not None:
                values[a : a + COPY] = weights[a : a + COPY]
    for array in (indptr, indices, *([] if values is None else [values])):
        array.flush()
    np.save(folder / "components.npy", numbers)
    sizes = np.bincount(numbers)
    return {
        "order": "near" if near else "given",
        "components": len(sizes),
        "largest_component": int(sizes.max()),
        "isolated": int((np.diff(ends) == 0).sum()),
        "longest_row": int(np.diff(ends).max(initial=0)),
    }


def _relabel(given: Any, place: locality.Order, out: Any, progress: Progress | None) -> None:
    indptr, indices, values = out
    n, first = len(indptr) - 1, 0
    while first < n:
        begin = int(indptr[first])
        last = int(np.searchsorted(indptr, begin + COPY, side="right")) - 1
        last = min(n, max(last, first + 1))
        end = int(indptr[last])
        columns = np.empty(end - begin, dtype=np.int32)
        weights = None if values is None else np.empty(end - begin)
        relative = np.asarray(indptr[first : last + 1]) - begin
        locality.relabel(given[0], given[1], given[2], place, first, (relative, columns, weights))
        indices[begin:end] = columns
        if values is not None:
            values[begin:end] = weights
        first = last
        if progress is not None:
            progress(last, n, "rows placed")
