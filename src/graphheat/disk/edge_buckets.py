"""Entries of a matrix that does not fit in memory, sorted by row: partition, then sort each part.

An entry is one number, its row times 2³² plus its column, so that sorting numbers sorts entries. A
batch of entries is sorted, freed of repeats and dealt to one file per range of rows; a file is then
small enough to be sorted as a whole. Where it is not (a few rows with most of the edges, an edge
that is named a billion times), it is dealt once more.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphheat.errors import GraphError
from graphheat.graph.adjacency import Duplicates

BUCKETS = 64
SHIFT = np.uint64(32)
WEIGHTED = np.dtype([("key", np.uint64), ("weight", np.float64)])
PLAIN = np.dtype([("key", np.uint64)])


class SortedRows(NamedTuple):
    """Entries of the rows first … last, sorted, each once.

    Attributes
    ----------
    counts
        Entries of each row, shape (last − first,).
    columns, weights
        Shape (entries,); weights is None where all are 1.
    """

    first: int
    last: int
    counts: NDArray[np.int64]
    columns: NDArray[np.int32]
    weights: NDArray[np.float64] | None


class EdgeBuckets:
    """Entries on their way to sorted rows.

    Parameters
    ----------
    folder
        Where files are kept; made when it is not there.
    rows
        Entries lie in the rows first … last.
    weighted
        Whether entries have weights.
    most
        Bytes of a file that may be sorted as a whole.
    duplicates
        What to do with an entry of different weights; equal repeats always count once.

    Examples
    --------
    >>> import tempfile
    >>> buckets = EdgeBuckets(Path(tempfile.mkdtemp()) / "pairs", (0, 3))
    >>> buckets.add(np.array([2, 0, 2]), np.array([0, 2, 0]))
    >>> [(part.counts.tolist(), part.columns.tolist()) for part in buckets.sorted_rows()]
    [([1], [2]), ([0], []), ([1], [0])]
    """

    def __init__(
        self,
        folder: Path,
        rows: tuple[int, int],
        *,
        weighted: bool = False,
        most: int = 1 << 28,
        duplicates: Duplicates = "error",
    ) -> None:
        self.folder, self.rows, self.most = folder, rows, most
        self.dtype = WEIGHTED if weighted else PLAIN
        self.duplicates = duplicates
        folder.mkdir(exist_ok=True)
        first, last = rows
        count = max(1, min(BUCKETS, last - first))
        self.bounds = first + (last - first) * np.arange(count + 1, dtype=np.int64) // count
        # Entries of a bucket are those from this one on.
        self._starts = self.bounds.astype(np.uint64) << SHIFT

    def add(
        self,
        rows: NDArray[np.integer[Any]],
        columns: NDArray[np.integer[Any]],
        weights: NDArray[np.float64] | None = None,
    ) -> None:
        """Take note of entries, shape (e,) each."""
        entries = np.empty(len(rows), dtype=self.dtype)
        entries["key"] = rows.astype(np.uint64) << SHIFT
        entries["key"] |= columns.astype(np.uint64)
        if weights is not None:
            entries["weight"] = weights
        self._deal(entries)

    def _deal(self, entries: NDArray[Any]) -> None:
        entries = self._sorted(entries)
        ends = np.searchsorted(entries["key"], self._starts)
        ends[-1] = len(entries)
        for bucket, (a, b) in enumerate(pairwise(ends)):
            if a < b:
                with self._file(bucket).open("ab") as stream:
                    stream.write(entries[a:b].data)

    def _file(self, bucket: int) -> Path:
        return self.folder / f"bucket-{bucket}"

    def lengths(self) -> list[int]:
        """Return the bytes of each bucket, to be noted."""
        files = [self._file(bucket) for bucket in range(len(self.bounds) - 1)]
        return [file.stat().st_size if file.exists() else 0 for file in files]

    def cut(self, lengths: list[int]) -> None:
        """Go back to the lengths that were noted: what came later was not finished."""
        for bucket, length in enumerate(lengths):
            file = self._file(bucket)
            if file.exists() and file.stat().st_size > length:
                with file.open("r+b") as stream:
                    stream.truncate(length)

    def _sorted(self, entries: NDArray[Any]) -> NDArray[Any]:
        """Return entries by rising key; without weights, each once."""
        if self.dtype == PLAIN:
            keys = np.sort(entries["key"])
            fresh = np.ones(len(keys), dtype=np.bool_)
            np.not_equal(keys[1:], keys[:-1], out=fresh[1:])
            return keys[fresh].view(PLAIN)
        entries = entries[np.argsort(entries["key"], kind="stable")]
        same = np.zeros(len(entries), dtype=np.bool_)
        same[1:] = (entries["key"][1:] == entries["key"][:-1]) & (
            entries["weight"][1:] == entries["weight"][:-1]
        )
        return entries if self.duplicates == "sum" else entries[~same]

    def sorted_rows(self) -> Iterator[SortedRows]:
        """Yield all rows, a range at a time and in order; the files are removed along the way."""
        for bucket, (first, last) in enumerate(pairwise(self.bounds.tolist())):
            file = self._file(bucket)
            size = file.stat().st_size if file.exists() else 0
            if size > self.most and last - first > 1:
                yield from self._dealt_again(file, first, last)
            else:
                yield self._rows(self._read(file, size), first, last)

    def _read(self, file: Path, size: int) -> NDArray[Any]:
        """Return all entries of a file, sorted; a large one is freed of repeats piece by piece."""
        kept = np.empty(0, dtype=self.dtype)
        if not size:
            return kept
        with file.open("rb") as stream:
            count = max(1, self.most // self.dtype.itemsize)
            while len(more := np.fromfile(stream, dtype=self.dtype, count=count)):
                kept = self._sorted(np.concatenate([kept, more]) if len(kept) else more)
        return kept

    def _dealt_again(self, file: Path, first: int, last: int) -> Iterator[SortedRows]:
        inner = EdgeBuckets(
            self.folder / f"{file.name}-parts",
            (first, last),
            weighted=self.dtype == WEIGHTED,
            most=self.most,
            duplicates=self.duplicates,
        )
        for left in inner.folder.iterdir():  # of an interrupted attempt
            shutil.rmtree(left) if left.is_dir() else left.unlink()
        count = max(1, self.most // (2 * self.dtype.itemsize))
        with file.open("rb") as stream:
            while len(more := np.fromfile(stream, dtype=self.dtype, count=count)):
                inner._deal(more)
        yield from inner.sorted_rows()
        shutil.rmtree(inner.folder)

    def _rows(self, entries: NDArray[Any], first: int, last: int) -> SortedRows:
        weights = None
        if self.dtype == WEIGHTED:
            entries, weights = self._settled(entries)
        keys = entries["key"]
        rows = (keys >> SHIFT).astype(np.int64) - first
        columns = (keys & np.uint64(0xFFFFFFFF)).astype(np.int32)
        return SortedRows(first, last, np.bincount(rows, minlength=last - first), columns, weights)

    def _settled(self, entries: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.float64]]:
        """Return each entry once, with the weight that ``duplicates`` asks for."""
        keys, weights = entries["key"], np.ascontiguousarray(entries["weight"])
        if not len(keys):
            return entries, weights
        starts = np.flatnonzero(np.r_[True, keys[1:] != keys[:-1]])
        least, most = (each.reduceat(weights, starts) for each in (np.minimum, np.maximum))
        differ = least != most
        if differ.any() and self.duplicates == "error":
            at = int(starts[np.argmax(differ)])
            pair = int(keys[at] >> SHIFT), int(keys[at] & np.uint64(0xFFFFFFFF))
            raise DifferentWeightsError(*pair, int(differ.sum()))
        if self.duplicates == "sum":
            settled = np.where(differ, np.add.reduceat(weights, starts), least)
        else:
            settled = most if self.duplicates == "max" else weights[starts]
        return entries[starts], settled


class DifferentWeightsError(GraphError):
    """An edge is named with different weights; rows are numbers here, and the caller knows ids."""

    def __init__(self, row: int, column: int, count: int) -> None:
        self.row, self.column, self.count = row, column, count
        super().__init__(f"{count:,} edges are named with different weights.")
