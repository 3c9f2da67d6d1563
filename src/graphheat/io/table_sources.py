"""Where tables come from: by suffix, each with what opens it; and frames in memory."""

from __future__ import annotations

import gzip
import importlib
import io
import json
import os
import sqlite3
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

from graphheat.errors import FileFormatError, GraphHeatError, MissingDependencyError
from graphheat.io.archive import as_path, existing_file, exists, read_bytes, reason_of
from graphheat.io.sqlite_file import CELL_BYTES, all_rows, bounded
from graphheat.io.text_table import TextTable, parse_text
from graphheat.io.value_table import ValueTable
from graphheat.io.written import named
from graphheat.memory import check_room, reading_room

TEXTS = (".csv", ".tsv", ".txt", ".edges")
PACKED = (".gz", ".zst")
PART = "::"  # db.sqlite::table, book.xlsx::sheet

# Both have path and name, for messages; first, the cells of the first row; headed, whether those
# are names; strings(), words(name) and cells(names).
Table = TextTable | ValueTable

_XML_TIMES = 4  # what a book takes, by the length of its XML
_BATCH_ROWS = 1024
_ZSTD_BYTES = 4096

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
    text = os.fspath(as_path(source))
    if PART not in text or exists(text):
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
    return parse_text(unpacked_bytes(path), path, delimiter)


def unpacked_bytes(path: Path) -> bytes:
    """Return what is in a file, unpacked where it is a .gz or .zst, within the budget."""
    data = read_bytes(path)
    suffix = path.suffix.lower()
    if suffix not in PACKED:
        return data
    if not data:
        raise FileFormatError(f"{path} is empty; it needs at least one row.")
    parts, length, room = [], 0, reading_room(len(data))
    for part in _gunzipped(data, path) if suffix == ".gz" else _unzstd(data, path):
        parts.append(part)
        length += len(part)
        if length > room:
            check_room(length, len(data), path)
    return b"".join(parts)


def _gunzipped(data: bytes, path: Path) -> Iterator[bytes]:
    try:
        with gzip.open(io.BytesIO(data)) as stream:
            while part := stream.read(2**20):
                yield part
    except (OSError, EOFError, zlib.error) as error:
        raise _damaged(path, "gzip file", error) from None


def _unzstd(data: bytes, path: Path) -> Iterator[bytes]:
    """Yield what is packed, frame by frame; a stream would not say that the last ends early."""
    zstandard = _needed("zstandard", path)
    frame = None
    try:
        # Little goes in at a time: a few bytes may stand for a great deal.
        for start in range(0, len(data), _ZSTD_BYTES):
            rest = data[start : start + _ZSTD_BYTES]
            while rest:
                if frame is None:
                    window = max(2**23, reading_room(len(data)))
                    made = zstandard.ZstdDecompressor(max_window_size=min(window, 2**27))
                    frame = made.decompressobj()
                yield frame.decompress(rest)
                rest = frame.unused_data if frame.eof else b""
                frame = None if frame.eof else frame
    except zstandard.ZstdError as error:
        raise _damaged(path, "zstd file", error) from None
    if frame is not None:
        raise FileFormatError(f"{path} is not a whole zstd file: it ends early.")


def _parquet(path: Path, part: str | None) -> Table:
    parquet = _needed("pyarrow.parquet", path)
    try:
        with path.open("rb") as stream:
            table = _row_groups(parquet.ParquetFile(stream), path)
        table.validate(full=True)
        return ValueTable.of_frame(table, path)
    except GraphHeatError:
        raise
    except Exception as error:  # of many kinds, as the damage is
        raise _damaged(path, "Parquet file", error) from None


def _row_groups(file: Any, path: Path) -> Any:
    """Return the table of a Parquet file, read batch by batch: its cells may repeat long words."""
    size = path.stat().st_size
    names, rows = file.schema_arrow.names, file.metadata.num_rows
    check_room(rows * max(1, len(names)) * CELL_BYTES, size, path)
    batches, length, room = [], 0, reading_room(size)
    for batch in file.iter_batches(batch_size=_BATCH_ROWS):
        length += batch.nbytes
        if length > room:
            check_room(length, size, path)
        batches.append(batch)
    return importlib.import_module("pyarrow").Table.from_batches(batches, file.schema_arrow)


def _excel(path: Path, part: str | None) -> Table:
    openpyxl = _needed("openpyxl", path)
    size = path.stat().st_size
    try:
        with path.open("rb") as stream:
            with zipfile.ZipFile(stream) as archive:
                packed = sum(entry.file_size for entry in archive.infolist())
            check_room(packed * _XML_TIMES, size, path)
            book = openpyxl.load_workbook(stream, read_only=True, data_only=True)
            sheets = book.sheetnames
            if part is not None and part not in sheets:
                raise FileFormatError(f"{path} has no sheet {part!r}; it has {named(sheets, 10)}.")
            sheet = book[part or sheets[0]]
            sheet.reset_dimensions()  # what it says of its size may be anything
            rows, cells, room = [], 0, reading_room(size)
            for row in sheet.iter_rows(values_only=True):
                cells += len(row) + 1
                if cells * CELL_BYTES > room:
                    check_room(cells * CELL_BYTES, size, path)
                if any(value not in (None, "") for value in row):
                    rows.append(list(row))
            book.close()
    except GraphHeatError:
        raise
    except Exception as error:  # of many kinds, as the damage is
        raise _damaged(path, "Excel file", error) from None
    if not rows:
        raise FileFormatError(f"{path} is empty; it needs at least one row.")
    width = max(
        place + 1 for row in rows for place, value in enumerate(row) if value not in (None, "")
    )
    check_room(len(rows) * width * CELL_BYTES, size, path)
    even = [[*row, *[None] * width][:width] for row in rows]
    return ValueTable.of_rows(path, even[0], even[1:])


def _json_lines(path: Path, part: str | None) -> Table:
    data = read_bytes(path)
    try:
        text = data.decode("utf-8-sig")
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
    check_room(len(rows) * len(names) * CELL_BYTES, len(data), path)
    return ValueTable.of_rows(path, list(names), ([row.get(n) for n in names] for row in rows))


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("it has a key twice")
    return found


def _sqlite(path: Path, part: str | None) -> Table:
    size = path.stat().st_size
    try:
        with ExitStack() as stack:
            base = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
            stack.enter_context(closing(base))
            stack.enter_context(bounded(base, size))
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
            rows = all_rows(found, size, path)
    except (sqlite3.Error, ValueError, OverflowError) as error:
        if isinstance(error, GraphHeatError):
            raise
        raise _damaged(path, "SQLite database", error) from None
    return ValueTable.of_rows(f"{path}{PART}{part}", names, rows)


def _length(value: Any) -> int:
    return len(value) if isinstance(value, (str, bytes)) else 0


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
