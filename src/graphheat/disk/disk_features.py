"""Features of a disk graph: dense or sparse, mapped, read by rows."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graphheat.disk.array_folder import ArrayFolder
from graphheat.disk.folder_schema import check_entries, check_rows, damaged

STRIP_BYTES = 1 << 26  # of rows that are held at once


class DiskFeatures:
    """The features of all nodes, none of them in memory until its row is asked for.

    Attributes
    ----------
    shape
        (n, f).
    sparse
        Whether rows are kept as their non-zero entries.
    """

    def __init__(self, folder: ArrayFolder, count: int) -> None:
        self._folder, n = folder, int(folder.header["nodes"])
        self.shape = n, count
        self.sparse = "feature_ends" in folder
        if self.sparse:
            self._ends = folder.array("feature_ends")
        else:
            self._dense = folder.array("features")

    @cached_property
    def _columns(self) -> NDArray[np.int32]:
        columns, path = self._folder.array("feature_columns"), self._folder.path
        check_rows(path / "feature_columns.npy", columns, self._ends, self.shape[1], path)
        return columns

    @cached_property
    def _values(self) -> NDArray[np.float32]:
        values, path = self._folder.array("feature_values"), self._folder.path
        check_entries(path / "feature_values.npy", values, positive=False, where=path)
        return values

    def __getitem__(self, rows: Any) -> NDArray[np.float32] | sp.csr_array:
        """Return rows by a slice or by their numbers, shape (k, f), float32, dense or CSR."""
        if not self.sparse:
            dense = np.asarray(self._dense[rows], dtype=np.float32)
            if not np.isfinite(dense).all():
                raise damaged(self._folder.path, "its features are not finite")
            return dense
        if isinstance(rows, slice):
            first, last, _ = rows.indices(self.shape[0])
            ends = np.asarray(self._ends[first : last + 1])
            part = slice(int(ends[0]), int(ends[-1]))
            parts = self._values[part], self._columns[part], ends - ends[0]
            return sp.csr_array(parts, shape=(last - first, self.shape[1]))
        chosen = np.asarray(rows, dtype=np.int64)
        begins, lengths = self._ends[chosen], self._ends[chosen + 1] - self._ends[chosen]
        ends = np.concatenate([[0], np.cumsum(lengths)])
        places = np.arange(ends[-1]) - np.repeat(ends[:-1] - begins, lengths)
        parts = self._values[places], self._columns[places], ends
        return sp.csr_array(parts, shape=(len(chosen), self.shape[1]))

    def strips(self) -> Iterator[tuple[int, int]]:
        """Yield (first, last) of ranges of rows that fit into memory easily."""
        n, f = self.shape
        rows = max(1, STRIP_BYTES // (8 * max(1, f)))
        for first in range(0, n, rows):
            yield first, min(n, first + rows)
