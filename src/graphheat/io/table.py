"""One delimited text file, opened with care: encoding, delimiter, comments, damage."""

from __future__ import annotations

import csv
import io
import os
import re
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphheat.errors import FileFormatError
from graphheat.io.archive import existing_file, reason_of

# What pandas and its users write for "no value".
MISSING = frozenset(
    ["", "#N/A", "#NA", "<NA>", "N/A", "NA", "NULL", "NaN", "nan", "n/a", "None", "null"]
)

_INTEGER = re.compile(r"0|-?[1-9][0-9]*")
_UNNAMED = re.compile(r"|Unnamed: [0-9]+")  # the second is what pandas makes of the first
_SPACES = r"\s+"


def is_integer(cell: str) -> bool:
    """Tell whether ``cell`` is an integer as Python writes it: "12", but not "012" or "1.0"."""
    return _INTEGER.fullmatch(cell) is not None


def is_number(cell: str) -> bool:
    """Tell whether ``cell`` is a number in plain digits: "1e-3", but not "1_000" or "١"."""
    if "_" in cell or not cell.isascii():
        return False
    try:
        float(cell)
    except ValueError:
        return False
    return True


def is_unnamed(name: str) -> bool:
    """Tell whether a column has no name, or the one that pandas gives it then."""
    return _UNNAMED.fullmatch(name) is not None


def is_row_index(name: str, cells: Iterable[str]) -> bool:
    """Tell whether a column is a table's row index: without a name, and whole numbers that differ.

    ``DataFrame.to_csv`` writes one (0, 1, 2, …, or what is left of that after a selection) unless
    it is told ``index=False``.

    Examples
    --------
    >>> is_row_index("", ["0", "1", "2"]), is_row_index("age", ["0", "1", "2"])
    (True, False)
    """
    if not is_unnamed(name):
        return False
    seen: set[str] = set()
    for cell in map(str.strip, cells):
        if cell in seen or not is_integer(cell):
            return False
        seen.add(cell)
    return bool(seen)


def row_indices(names: Sequence[str], cells: Callable[[int], Iterable[str]]) -> list[int]:
    """Return which of a table's first columns are row indices; ``cells`` gives a column's cells."""
    found: list[int] = []
    while len(found) < len(names) and is_row_index(names[len(found)], cells(len(found))):
        found.append(len(found))
    return found


def as_integers(cells: Sequence[str]) -> NDArray[np.int64] | None:
    """Return the cells as integers when every one is a canonical integer, else None.

    Examples
    --------
    >>> as_integers(["7", "-1"])
    array([ 7, -1])
    >>> as_integers(["7", "007"]) is None
    True
    """
    if not all(map(is_integer, cells)):
        return None
    try:
        return np.array([int(cell) for cell in cells], dtype=np.int64)
    except OverflowError:  # a serial number of twenty digits: a string after all
        return None


def named(names: Sequence[Any], most: int = 5) -> str:
    """Return the first few names for a message, long ones cut."""
    shown = [
        name[:60] + "…" if isinstance(name, str) and len(name) > 60 else name for name in names
    ]
    return ", ".join(map(repr, shown[:most])) + (", …" if len(names) > most else "")


@dataclass(frozen=True)
class Table:
    r"""A delimited file whose first row is known but whose cells are not parsed yet.

    Attributes
    ----------
    path
        The file, for messages.
    delimiter
        One character, or ``\s+`` for any run of spaces.
    first
        The cells of the first row, stripped.
    skipped
        How many lines stand before it: comments and blank ones.
    """

    path: Path
    delimiter: str
    first: tuple[str, ...]
    skipped: int
    text: str = field(repr=False)

    def strings(self) -> Any:
        """Return a frame of every cell as written, the first row included."""
        return self._parse(header=None, dtype=str, na_filter=False)

    def columns(self, words: Sequence[str]) -> Any:
        """Return a frame under the first row's names: ``words`` as written, the rest by value."""
        return self._parse(
            header=0,
            names=list(self.first),
            dtype=dict.fromkeys(words, str),
            keep_default_na=False,
            na_values={name: sorted(MISSING) for name in self.first if name not in words},
        )

    def _parse(self, **how: Any) -> Any:
        import pandas as pd

        def parse() -> Any:
            return pd.read_csv(
                io.StringIO(self.text),
                sep=self.delimiter,
                skiprows=self.skipped,
                skipinitialspace=True,
                index_col=False,
                low_memory=False,
                **how,
            )

        return _guarded(parse, self.path)


def open_table(path: str | os.PathLike[str], delimiter: str | None = None) -> Table:
    r"""Open a UTF-8 text file of rows and columns.

    Leading lines that are blank or start with ``#`` or ``%`` are skipped. Without ``delimiter`` it
    is the first of tab, semicolon, comma and spaces that the first row has.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "edges.tsv"
    >>> _ = path.write_text("# who knows whom\nann\tbob\n")
    >>> open_table(path).first
    ('ann', 'bob')
    """
    path = existing_file(path)
    data = path.read_bytes()
    if not data.strip():
        raise FileFormatError(f"{path} is empty; it needs at least one row.")
    if b"\0" in data:
        raise FileFormatError(f"{path} is not text: it holds NUL bytes. Save it as UTF-8.")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileFormatError(
            f"{path} is not UTF-8 text (byte {error.start}). Save it as UTF-8."
        ) from None
    if text.startswith("%%MatrixMarket"):
        raise FileFormatError(f"{path} is a Matrix Market file; give it the suffix .mtx.")
    for skipped, line in enumerate(io.StringIO(text, newline=None)):
        if line.strip() and not line.lstrip().startswith(("#", "%")):
            return _table(path, line.rstrip("\n"), delimiter, skipped, text)
    raise FileFormatError(f"{path} holds only comments (lines that start with # or %).")


def _table(path: Path, line: str, delimiter: str | None, skipped: int, text: str) -> Table:
    if delimiter is None:
        delimiter = next((mark for mark in "\t;," if mark in line), None)
        delimiter = delimiter or (_SPACES if len(line.split()) > 1 else ",")
    elif delimiter.isspace() and delimiter != "\t":
        delimiter = _SPACES
    if delimiter == _SPACES:
        cells = next(csv.reader([" ".join(line.split())], delimiter=" "))
    elif len(delimiter) == 1:
        cells = next(csv.reader([line], delimiter=delimiter, skipinitialspace=True))
    else:
        raise FileFormatError(f"delimiter must be one character; got {delimiter!r}.")
    return Table(path, delimiter, tuple(cell.strip() for cell in cells), skipped, text)


def _guarded(parse: Callable[[], Any], path: Path) -> Any:
    """Run a parse of pandas; what it raises (or only warns of) is one sentence about the file."""
    from pandas.errors import EmptyDataError, ParserError, ParserWarning

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", ParserWarning)
            return parse()
    except EmptyDataError:
        raise FileFormatError(f"{path} is empty; it needs at least one row.") from None
    except ParserWarning:
        raise FileFormatError(
            f"{path} has rows with more cells than its first row; every row needs as many."
        ) from None
    except (ParserError, ValueError, OverflowError) as error:
        reason = reason_of(error).removeprefix("Error tokenizing data. C error: ")
        raise FileFormatError(f"{path} is not a table: {reason}.") from None
