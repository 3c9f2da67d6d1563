"""The cells of one column of a table: numbers, booleans, dates or words, and which are missing."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from graphheat.errors import GraphError

# What pandas and its users write for "no value".
MISSING = frozenset(
    ["", "#N/A", "#NA", "<NA>", "N/A", "NA", "NULL", "NaN", "nan", "n/a", "None", "null"]
)

CellType = Literal["numbers", "booleans", "dates", "words"]
Columns = Mapping[str, "Cells"]


@dataclass(frozen=True, eq=False)
class Cells:
    """One column, its type settled.

    Attributes
    ----------
    type
        What ``values`` are.
    values
        Shape (n,). Numbers and booleans (0 and 1) are float64 with NaN where a value is missing,
        dates are datetime64[us] with NaT, words are an object array of strings with None.

    Examples
    --------
    >>> cells([1, None, 2.5]).type, cells(["red", "NA"]).values.tolist()
    ('numbers', ['red', None])
    """

    type: CellType
    values: NDArray[Any]

    def __len__(self) -> int:
        return len(self.values)

    @property
    def missing(self) -> NDArray[np.bool_]:
        """Which cells hold no value, shape (n,)."""
        if self.type == "words":
            return np.array([value is None for value in self.values], dtype=bool)
        unknown = np.isnat(self.values) if self.type == "dates" else np.isnan(self.values)
        return np.asarray(unknown)

    def words(self) -> NDArray[np.object_]:
        """Return every cell as it would be written, None where it is missing, shape (n,)."""
        if self.type == "words":
            return self.values
        result = np.full(len(self), None, dtype=object)
        known = ~self.missing
        result[known] = [as_word(value, self.type) for value in self.values[known].tolist()]
        return result

    def taken(self, rows: NDArray[np.int64]) -> Cells:
        """Return the cells of some rows, in that order."""
        return Cells(self.type, self.values[rows])


def as_word(value: Any, type: CellType = "words") -> str:
    """Return a value as a text file would have it: 1.0 is "1", a date is 2024-01-31.

    Examples
    --------
    >>> as_word(3.0), as_word(0.1), as_word(True)
    ('3', '0.1', 'True')
    """
    if type == "booleans":
        value = bool(value)
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        value = int(value)
    if isinstance(value, datetime):
        midnight = (value.hour, value.minute, value.second, value.microsecond) == (0, 0, 0, 0)
        return value.date().isoformat() if midnight else value.isoformat(sep=" ")
    return str(value)


def cells(values: Any) -> Cells:
    """Return a column of Python values, an array or a series, its type settled by its values.

    Parameters
    ----------
    values
        Shape (n,). All numbers, all booleans or all dates, missing ones aside, are that; a column
        of anything else is one of words, as they would be written.
    """
    plain = _plain_array(values)
    if plain is not None:
        return plain
    listed = list(values)
    known = [value for value in listed if not is_missing(value)]
    if known and all(isinstance(value, (bool, np.bool_)) for value in known):
        return Cells("booleans", _floats(listed))
    if known and all(_is_number(value) for value in known):
        return Cells("numbers", _floats(listed))
    if known and all(isinstance(value, (date, np.datetime64)) for value in known):
        return Cells("dates", _dates(listed))
    strange = next((value for value in known if isinstance(value, _NO_CELLS)), None)
    if strange is not None:
        row = next(row for row, value in enumerate(listed) if value is strange)
        raise GraphError(
            f"A cell must be a number, a date or a string; got a {type(strange).__name__} in row "
            f"{row + 1}."
        )
    words = np.empty(len(listed), dtype=object)
    words[:] = [None if is_missing(value) else as_word(value).strip() for value in listed]
    words[[value in MISSING for value in words]] = None
    return Cells("words", words)


def from_frame(frame: Any, where: str = "The table") -> dict[str, Cells]:
    """Return the columns of a pandas, polars or Arrow frame, or of a mapping, by name.

    Examples
    --------
    >>> {name: column.type for name, column in from_frame({"age": [31], "tea": ["yes"]}).items()}
    {'age': 'numbers', 'tea': 'words'}
    """
    if isinstance(frame, Mapping):
        named: Iterable[tuple[Any, Any]] = frame.items()
    else:
        named = native_columns(frame, where)
    columns: dict[str, Cells] = {}
    for name, values in named:
        try:
            column = values if isinstance(values, Cells) else cells(values)
        except GraphError as error:
            raise GraphError(f"Column {str(name)!r} of {where}: {error}") from None
        columns[str(name)] = column
    lengths = {len(column) for column in columns.values()}
    if len(lengths) > 1:
        raise GraphError(f"{where} must have columns of one length; got {sorted(lengths)}.")
    return columns


def native_columns(frame: Any, where: str) -> list[tuple[str, Any]]:
    """Return names and values of the columns of a frame of any library that narwhals knows."""
    import narwhals.stable.v1 as nw

    try:
        table = nw.from_native(frame)
        if isinstance(table, nw.LazyFrame):
            table = table.collect()
    except TypeError:
        raise GraphError(
            f"{where} must be a path or a pandas, polars or Arrow frame; "
            f"got {type(frame).__name__}."
        ) from None
    columns: list[tuple[str, Any]] = []
    for place, name in enumerate(table.columns):
        series = table[:, place]
        if series.dtype.is_integer() and not series.is_null().any():
            columns.append((str(name), series.to_numpy().astype(np.int64, copy=False)))
        elif series.dtype.is_float() and not series.is_null().any():
            columns.append((str(name), series.to_numpy().astype(np.float64, copy=False)))
        else:
            columns.append((str(name), series.to_list()))
    return columns


def is_missing(value: Any) -> bool:
    """Tell whether a value stands for none: None, NaN, NaT, pandas' NA."""
    if value is None:
        return True
    try:
        return bool(value != value)
    except (TypeError, ValueError):  # pandas.NA refuses to say, an array has many answers
        return not isinstance(value, (np.ndarray, list, tuple))


_NO_CELLS = (list, tuple, dict, set, bytes, bytearray, np.ndarray, complex)


def _is_number(value: Any) -> bool:
    kinds = (int, float, np.integer, np.floating, Decimal)
    return isinstance(value, kinds) and not isinstance(value, (bool, np.bool_))


def _floats(values: Sequence[Any]) -> NDArray[np.float64]:
    return np.array([math.nan if is_missing(value) else _as_float(value) for value in values])


def _as_float(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:  # an integer of 400 digits
        return math.inf


def _dates(values: Sequence[Any]) -> NDArray[np.datetime64]:
    return np.array(
        [np.datetime64("NaT") if is_missing(value) else _as_moment(value) for value in values],
        dtype="datetime64[us]",
    )


def _as_moment(value: Any) -> np.datetime64:
    if isinstance(value, datetime) and value.tzinfo is not None:
        value = value.astimezone(UTC).replace(tzinfo=None)
    try:
        return np.datetime64(value, "us")
    except (ValueError, OverflowError):
        return np.datetime64("NaT")


def _plain_array(values: Any) -> Cells | None:
    """Return an array of numbers as it is; None for anything that must be looked at."""
    array = values
    if not isinstance(array, np.ndarray):
        dtype = getattr(values, "dtype", None)
        if not isinstance(dtype, np.dtype) or not hasattr(values, "to_numpy"):
            return None
        array = values.to_numpy()
    if array.ndim != 1:
        raise GraphError(f"A column must have one value per row; got shape {array.shape}.")
    if array.dtype.kind in "iuf":
        return Cells("numbers", array.astype(np.float64))
    if array.dtype.kind == "b":
        return Cells("booleans", array.astype(np.float64))
    if array.dtype.kind == "M":
        return Cells("dates", array.astype("datetime64[us]"))
    return None
