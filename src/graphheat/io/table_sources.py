"""Where tables come from: by suffix, each with what opens it; and frames in memory."""

from __future__ import annotations

import gzip
import importlib
import json
import os
import sqlite3
import zlib
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from graphheat.errors import FileFormatError, GraphHeatError, MissingDependencyError
from graphheat.io.archive import existing_file, reason_of
from graphheat.io.text_table import TextTable, parse_text
from graphheat.io.value_table import ValueTable
from graphheat.io.written import named

TEXTS = (".csv", ".tsv", ".txt", ".edges")
PACKED = (".gz", ".zst")
PART = "::"  # db.sqlite::table, book.xlsx::sheet

# Both have path and name, for messages; first, the cells of the first row; headed, whether those
# are names; strings(), words(name) and cells(names).
Table = TextTable | ValueTable

Opener = Callable[[Path, str | None], Table]


def open_table(source: Any, delimiter: str | None = None, name: str = "table") -> Table:
    r"""Open a table: a path, or a pandas, polars or Arrow frame.

    Parameters
    ----------
    source
        The suffix of a path says how (:data:`TABLES`); any other is delimited text.
    delimiter
        Of text; None: by its first rows.
    name
        What to call a frame in messages.

    Examples
    --------
    >>> open_table({"id": [1, 2]}).words("id")
    ['1', '2']
    """
    if not isinstance(source, (str, os.PathLike)):
        return ValueTable.of_frame(source, name)
    path, part = split_part(source)
    path = existing_file(path)
    opener = TABLES.get(table_suffix(path), _text)
    return opener(path, delimiter if opener is _text else part)


def split_part(source: str | os.PathLike[str]) -> tuple[Path, str | None]:
    """Return a path and, behind ``::``, the name of the table or sheet in it.

    Examples
    --------
    >>> split_part("shop.sqlite::orders")
    (PosixPath('shop.sqlite'), 'orders')
    """
    text = os.fspath(source)
    if PART not in text or Path(text).exists():
        return Path(text), None
    path, _, part = text.rpartition(PART)
    return Path(path), part


def table_suffix(path: Path) -> str:
    """Return the suffix that says how a file is read: ``.csv``, ``.csv.gz``, ``.parquet``, ….

    Examples
    --------
    >>> table_suffix(Path("Edges.TXT.GZ")), table_suffix(Path("v1.2.parquet"))
    ('.txt.gz', '.parquet')
    """
    suffixes = [suffix.lower() for suffix in path.suffixes]
    return "".join(suffixes[-2:] if suffixes[-1:] and suffixes[-1] in PACKED else suffixes[-1:])


def stem(source: Any, name: str) -> str:
    """Return what a graph from ``source`` is called: its file without suffix, or ``name``."""
    if not isinstance(source, (str, os.PathLike)):
        return name
    path, _ = split_part(source)
    return path.name[: len(path.name) - len(table_suffix(path))] or path.name


def _text(path: Path, delimiter: str | None) -> Table:
    return parse_text(_unpacked(path), path, delimiter)


def _unpacked(path: Path) -> bytes:
    data = path.read_bytes()
    suffix = path.suffix.lower()
    if suffix not in PACKED:
        return data
    if not data:
        raise FileFormatError(f"{path} is empty; it needs at least one row.")
    if suffix == ".gz":
        try:
            return gzip.decompress(data)
        except (OSError, EOFError, zlib.error) as error:
            raise _damaged(path, "gzip file", error) from None
    zstandard = _needed("zstandard", path)
    unpacked = b""
    try:
        while data:  # frame by frame; a stream would not say that the last one ends early
            frame = zstandard.ZstdDecompressor().decompressobj()
            unpacked += frame.decompress(data)
            if not frame.eof:
                raise FileFormatError(f"{path} is not a whole zstd file: it ends early.")
            data = frame.unused_data
    except zstandard.ZstdError as error:
        raise _damaged(path, "zstd file", error) from None
    return unpacked


def _parquet(path: Path, part: str | None) -> Table:
    parquet = _needed("pyarrow.parquet", path)
    try:
        with path.open("rb") as stream:
            table = parquet.ParquetFile(stream).read()
        table.validate(full=True)
        return ValueTable.of_frame(table, path)
    except GraphHeatError:
        raise
    except Exception as error:  # of many kinds, as the damage is
        raise _damaged(path, "Parquet file", error) from None


def _excel(path: Path, part: str | None) -> Table:
    openpyxl = _needed("openpyxl", path)
    try:
        with path.open("rb") as stream:
            book = openpyxl.load_workbook(stream, read_only=True, data_only=True)
            sheets = book.sheetnames
            if part is not None and part not in sheets:
                raise FileFormatError(f"{path} has no sheet {part!r}; it has {named(sheets, 10)}.")
            rows = [list(row) for row in book[part or sheets[0]].iter_rows(values_only=True)]
            book.close()
    except GraphHeatError:
        raise
    except Exception as error:  # of many kinds, as the damage is
        raise _damaged(path, "Excel file", error) from None
    rows = [row for row in rows if any(value not in (None, "") for value in row)]
    if not rows:
        raise FileFormatError(f"{path} is empty; it needs at least one row.")
    width = max(
        place + 1 for row in rows for place, value in enumerate(row) if value not in (None, "")
    )
    even = [[*row, *[None] * width][:width] for row in rows]
    return ValueTable.of_rows(path, even[0], even[1:])


def _json_lines(path: Path, part: str | None) -> Table:
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileFormatError(
            f"{path} is not UTF-8 text (byte {error.start}). Save it as UTF-8."
        ) from None
    names: dict[str, None] = {}
    rows: list[dict[str, Any]] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line, object_pairs_hook=_object)
        except (ValueError, RecursionError) as error:
            raise FileFormatError(
                f"{path} must hold one JSON object per line; line {number}: {reason_of(error)}."
            ) from None
        if not isinstance(row, dict):
            raise FileFormatError(
                f"{path} must hold one JSON object per line; line {number} is none."
            )
        names |= dict.fromkeys(row)
        rows.append(row)
    if not rows:
        raise FileFormatError(f"{path} is empty; it needs at least one row.")
    return ValueTable.of_rows(path, list(names), ([row.get(n) for n in names] for row in rows))


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("it has a key twice")
    return found


def _sqlite(path: Path, part: str | None) -> Table:
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as base:
            listed = base.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')")
            tables = sorted(str(name) for (name,) in listed if not str(name).startswith("sqlite_"))
            if part is None and len(tables) == 1:
                part = tables[0]
            if part not in tables:
                lacks = f"has {len(tables)} tables" if part is None else f"has no table {part!r}"
                raise FileFormatError(
                    f"{path} {lacks}: {named(tables, 10) or 'none'}. Name one, such as "
                    f"{path.name}{PART}{tables[0] if tables else 'edges'}."
                )
            quoted = part.replace('"', '""')
            found = base.execute(f'SELECT * FROM "{quoted}"')
            names = [column[0] for column in found.description]
            rows = found.fetchall()
    except (sqlite3.Error, ValueError, OverflowError) as error:
        if isinstance(error, GraphHeatError):
            raise
        raise _damaged(path, "SQLite database", error) from None
    return ValueTable.of_rows(f"{path}{PART}{part}", names, rows)


TABLES: Mapping[str, Opener] = {
    **{f"{text}{packed}": _text for text in TEXTS for packed in ("", *PACKED)},
    ".parquet": _parquet,
    ".xlsx": _excel,
    ".jsonl": _json_lines,
    ".ndjson": _json_lines,
    ".sqlite": _sqlite,
    ".db": _sqlite,
}


def _needed(module: str, path: Path) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingDependencyError(
            f"{path} needs {module.partition('.')[0]}: pip install 'graphheat[tables]'."
        ) from error


def _damaged(path: Path, what: str, error: BaseException) -> FileFormatError:
    return FileFormatError(f"{path} is not a whole {what}: {reason_of(error)}.")
