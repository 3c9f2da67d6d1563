"""Tables whose cells have types: frames in memory, Parquet, Excel, JSON lines, databases."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from graphheat.errors import FileFormatError, GraphError
from graphheat.features.cells import Cells, as_word, cells, is_missing, native_columns
from graphheat.io.written import named

INDEX = "__index_level_0__"  # what pandas calls an index without a name in Parquet


@dataclass(frozen=True)
class ValueTable:
    """Named columns of values.

    Attributes
    ----------
    path
        Where they come from: a path, or what a frame in memory is called.
    first
        Their names.
    values
        Arrays or lists, one per column, shape (n,) each.
    """

    path: Path | str
    first: tuple[str, ...]
    values: tuple[Any, ...] = field(repr=False)
    headed: bool = True
    skipped: int = 0

    @classmethod
    def of_rows(
        cls, path: Path | str, names: Sequence[Any], rows: Iterable[Sequence[Any]]
    ) -> ValueTable:
        """Build a table from rows of Python values."""
        listed = list(rows)
        columns = tuple([row[place] for row in listed] for place in range(len(names)))
        return cls._checked(path, names, columns)

    @classmethod
    def of_frame(cls, frame: Any, name: Path | str) -> ValueTable:
        """Build a table from a pandas, polars or Arrow frame, or a mapping of columns.

        An index of pandas that is not 0, 1, 2, … becomes the first column, as in its files.
        """
        if hasattr(frame, "items") and not hasattr(frame, "columns"):
            pairs = [(str(column), values) for column, values in frame.items()]
        else:
            pairs = native_columns(_with_index(frame, str(name)), str(name))
        lengths = {len(values) for _, values in pairs}
        if len(lengths) > 1:
            raise GraphError(f"{name} must have columns of one length; got {sorted(lengths)}.")
        if not pairs:
            raise GraphError(f"{name} has no columns.")
        return cls._checked(name, [n for n, _ in pairs], tuple(values for _, values in pairs))

    @classmethod
    def _checked(cls, path: Path | str, names: Sequence[Any], columns: Sequence[Any]) -> ValueTable:
        first = tuple("" if is_missing(each) else as_word(each).strip() for each in names)
        if INDEX in first:  # pandas puts its index last in Parquet, and first everywhere else
            place = first.index(INDEX)
            first = ("", *first[:place], *first[place + 1 :])
            columns = [columns[place], *columns[:place], *columns[place + 1 :]]
        for name, column in zip(first, columns, strict=True):
            for row, value in enumerate(column if _is_listed(column) else ()):
                if isinstance(value, (bytes, list, tuple, dict, set, np.ndarray)):
                    raise FileFormatError(
                        f"{path} must hold numbers, dates and strings; column {named([name])} has "
                        f"a {type(value).__name__} in row {row + 1}."
                    )
        return cls(path, first, tuple(columns))

    @property
    def name(self) -> str:
        """The name of the file, or of the frame."""
        return Path(self.path).name

    def strings(self) -> Any:
        """Return a frame of every cell as it would be written, the names as first row."""
        import pandas as pd

        return pd.DataFrame(
            {
                place: [name, *_words(column)]
                for place, (name, column) in enumerate(zip(self.first, self.values, strict=True))
            },
            dtype=object,
        )

    def words(self, name: str) -> list[str]:
        """Return a column as it would be written."""
        return _words(self.values[self.first.index(name)])

    def cells(self, names: Sequence[str]) -> dict[str, Cells]:
        """Return columns by value."""
        return {name: cells(self.values[self.first.index(name)]) for name in names}


def _words(column: Any) -> list[str]:
    if isinstance(column, np.ndarray) and column.dtype.kind in "iu":
        return [str(value) for value in column.tolist()]
    values = column.tolist() if hasattr(column, "tolist") else column
    return ["" if is_missing(value) else as_word(value).strip() for value in values]


def _is_listed(column: Any) -> bool:
    return not (isinstance(column, np.ndarray) and column.dtype.kind in "biufM")


def _with_index(frame: Any, name: str) -> Any:
    index = getattr(frame, "index", None)
    if index is None or not hasattr(frame, "reset_index"):
        return frame
    if type(index).__name__ == "RangeIndex" and index.name is None:
        return frame
    try:
        unnamed = index.nlevels == 1 and index.name is None
        return frame.reset_index(names="" if unnamed else None)
    except ValueError as error:  # a column has the name of the index
        raise GraphError(f"The index of {name} cannot be a column: {error}.") from None
