"""Delimited text, opened with care: encoding, delimiter, comments, rows of another length."""

from __future__ import annotations

import csv
import io
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from graphheat.errors import FileFormatError
from graphheat.features.cells import MISSING, Cells, cells
from graphheat.features.kinds import Style
from graphheat.io.archive import reason_of
from graphheat.io.written import named
from graphheat.memory import check_room

_SPACES = r"\s+"
_NEEDLESS_ZERO = re.compile(r"0[0-9](?<![0-9.eE]0[0-9])")
_USUALLY_WORDS = frozenset(["id", "node", "node_id", "name", "label", "class", "split", "title"])
_COLUMN_BYTES = 8192  # of a column, however short
_LOOKED_AT = 50  # records that must agree on the delimiter


@dataclass(frozen=True)
class TextTable:
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
        How many lines stood before it: comments and blank ones.
    text
        The file from its first row on.
    parsed
        Columns that were asked for as words.
    """

    path: Path
    delimiter: str
    first: tuple[str, ...]
    skipped: int
    text: str = field(repr=False)
    headed: None = None  # not stated by a caller
    parsed: dict[str, list[str]] = field(default_factory=dict, repr=False, compare=False)

    @property
    def name(self) -> str:
        """The name of the file."""
        return self.path.name

    def strings(self) -> Any:
        """Return a frame of every cell as written, the first row included."""
        return self._parse(header=None, dtype=str, na_filter=False)

    def words(self, name: str) -> list[str]:
        """Return a column as written, below its name, stripped."""
        if name not in self.parsed:
            places = {each: self.first.index(each) for each in self._asked_for(name)}
            frame = self._parse(
                header=0,
                names=range(len(self.first)),
                usecols=sorted(places.values()),
                dtype=str,
                na_filter=False,
            )
            for each, place in places.items():
                self.parsed[each] = frame[place].str.strip().tolist()
        return self.parsed[name]

    def _asked_for(self, name: str) -> set[str]:
        """Return columns to parse in one go: one that is asked for, and those that will be."""
        return {name, *(each for each in self.first if each.lower() in _USUALLY_WORDS)}

    def cells(self, names: Sequence[str]) -> dict[str, Cells]:
        """Return columns by value, numbers as pandas parses them.

        Codes such as 007 stay words; so do numbers such as 1.234 in a file that has decimal commas.
        """
        if not names:
            return {}
        places = {name: self.first.index(name) for name in names}
        frame = self._parse(
            header=0,
            names=range(len(self.first)),
            usecols=list(places.values()),
            keep_default_na=False,
            na_values=sorted(MISSING),
        )
        found = {name: cells(frame[place]) for name, place in places.items()}
        again: list[str] = []
        if _NEEDLESS_ZERO.search(self.text):
            again += [name for name in found if found[name].type == "numbers"]
        elif "," in Style.of(found).elsewhere:
            again += [name for name in found if frame[places[name]].dtype.kind == "f"]
        for name in again:
            written = cells(np.array(self.words(name), dtype=object))
            if written.type == "words" and _differs(written):
                found[name] = written
        return found

    def _parse(self, **how: Any) -> Any:
        import pandas as pd

        def parse() -> Any:
            return pd.read_csv(
                io.StringIO(self.text),
                sep=self.delimiter,
                skipinitialspace=True,
                index_col=False,
                low_memory=False,
                **how,
            )

        return _guarded(parse, self.path)


def parse_text(data: bytes, path: Path, delimiter: str | None = None) -> TextTable:
    r"""Return the table in a text of rows and columns: UTF-8, or UTF-16 with a byte-order mark.

    Leading lines that are blank or start with ``#`` or ``%`` are skipped. Without ``delimiter`` it
    is the first of tab, semicolon and comma by which all rows have as many cells, more than one;
    or else spaces.

    Examples
    --------
    >>> parse_text(b"# who knows whom\nann\tbob\n", Path("edges.tsv")).first
    ('ann', 'bob')
    """
    text = _decoded(data, path)
    if text.startswith("%%MatrixMarket"):
        raise FileFormatError(f"{path} is a Matrix Market file; give it the suffix .mtx.")
    if re.match(r'\s*(\{\s*"|\[\s*\{)', text):
        raise FileFormatError(f"{path} is JSON; one object per line is read with suffix .jsonl.")
    start = 0
    for skipped, line in enumerate(io.StringIO(text, newline="")):
        if line.strip() and not line.lstrip().startswith(("#", "%")):
            return _table(path, text[start:], delimiter, skipped)
        start += len(line)
    raise FileFormatError(f"{path} holds only comments (lines that start with # or %).")


def _decoded(data: bytes, path: Path) -> str:
    if not data.strip():
        raise FileFormatError(f"{path} is empty; it needs at least one row.")
    wide = data.startswith((b"\xff\xfe", b"\xfe\xff"))
    encoding = "utf-16" if wide else "utf-8-sig"
    if not wide and b"\0" in data:
        raise FileFormatError(f"{path} is not text: it holds NUL bytes. Save it as UTF-8.")
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        known = "UTF-16" if wide else "UTF-8"
        raise FileFormatError(
            f"{path} is not {known} text (byte {error.start}). Save it as UTF-8."
        ) from None
    if "\0" in text:
        raise FileFormatError(f"{path} is not text: it holds NUL characters. Save it as UTF-8.")
    if not text.strip():
        raise FileFormatError(f"{path} is empty; it needs at least one row.")
    return text


def _table(path: Path, text: str, delimiter: str | None, skipped: int) -> TextTable:
    check_width(path, text.partition("\n")[0].encode(), len(text))
    if delimiter is None:
        delimiter = _delimiter(text)
    elif delimiter.isspace() and delimiter != "\t":
        delimiter = _SPACES
    elif len(delimiter) != 1:
        raise FileFormatError(f"delimiter must be one character; got {delimiter!r}.")
    try:
        first = next(_records(text, delimiter))
        text = _even(path, text, delimiter, len(first))
        named_ones = max((at + 1 for at, cell in enumerate(first) if cell.strip()), default=1)
        if named_ones < len(first) and not any(
            cell.strip() for record in _records(text, delimiter) for cell in record[named_ones:]
        ):  # a delimiter at the end of every row makes no column
            text, first = _cut(text, delimiter, named_ones), first[:named_ones]
    except csv.Error as error:
        raise FileFormatError(f"{path} is not a table: {reason_of(error)}.") from None
    return TextTable(path, delimiter, tuple(cell.strip() for cell in first), skipped, text)


def check_width(path: Path, line: bytes, size: int) -> None:
    """Raise where the first row of ``size`` bytes has more cells than columns can be made of."""
    cells = 1 + max(line.count(mark) for mark in (b"\t", b";", b",", b" "))
    check_room(cells * _COLUMN_BYTES, size, f"{path} (a row of {cells:,} cells)")


def _delimiter(text: str) -> str:
    """Return the delimiter by which the first records agree; else the first in the first line."""
    line = next(io.StringIO(text, newline=None)).rstrip("\n")
    bare = re.sub(r'"[^"]*"', "", line)
    marks = [mark for mark in "\t;," if mark in bare]
    for mark in marks:
        try:
            widths = {len(record) for record in islice(_records(text, mark), _LOOKED_AT)}
        except csv.Error:
            continue
        if len(widths) == 1:
            return mark
    if marks:
        return marks[0]
    return _SPACES if len(bare.split()) > 1 else ","


def _records(text: str, delimiter: str) -> Iterator[list[str]]:
    """Yield the cells of every row that is not blank."""
    if delimiter == _SPACES:
        lines = (" ".join(line.split()) for line in io.StringIO(text, newline=None))
        yield from (cells for cells in csv.reader(lines, delimiter=" ") if cells)
        return
    stream = io.StringIO(text, newline="")
    for record in csv.reader(stream, delimiter=delimiter, skipinitialspace=True):
        if record and (len(record) > 1 or record[0].strip()):
            yield record


def _even(path: Path, text: str, delimiter: str, width: int) -> str:
    """Return the text when every row has as many cells as the first, or raise naming one.

    Rows that only have empty cells too many, as a comma at the end of each gives, are cut.
    """
    if delimiter != _SPACES and '"' not in text and "\r" not in text and delimiter.isascii():
        data = np.frombuffer(text.encode(), dtype=np.uint8)
        ends = np.flatnonzero(data == ord("\n"))
        marks = np.searchsorted(np.flatnonzero(data == ord(delimiter)), ends)
        counts = np.diff(marks, prepend=0)
        rest = data[ends[-1] + 1 :] if len(ends) else data
        if np.all(counts == width - 1) and (
            not len(rest) or np.count_nonzero(rest == ord(delimiter)) == width - 1
        ):
            return text
    longer = False
    for row, record in enumerate(_records(text, delimiter)):
        if len(record) < width or any(cell.strip() for cell in record[width:]):
            blank = delimiter != _SPACES and not any(cell.strip() for cell in record)
            if blank and len(record) < width:
                continue
            raise FileFormatError(
                f"{path} must have {width} cells in every row, as in its first; row {row + 1}, the "
                f"first included, has {len(record)} ({named([record[0]])}, …)."
            )
        longer |= len(record) > width
    return _cut(text, delimiter, width) if longer else text


def _cut(text: str, delimiter: str, width: int) -> str:
    """Return the text with the first cells of every row alone."""
    cut = io.StringIO()
    mark = " " if delimiter == _SPACES else delimiter
    csv.writer(cut, delimiter=mark, lineterminator="\n").writerows(
        record[:width] for record in _records(text, delimiter)
    )
    return cut.getvalue()


def _differs(written: Cells) -> bool:
    """Tell whether words would be read otherwise than plain numbers are."""
    known = [word for word in written.values if word is not None]
    zeros = any(re.fullmatch(r"[+-]?0[0-9]+", word) for word in known)
    grouped = all(re.fullmatch(r"[+-]?([0-9]+|[1-9][0-9]{0,2}\.[0-9]{3})", word) for word in known)
    return zeros or grouped


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
