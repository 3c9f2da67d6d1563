"""Tables larger than memory, by DuckDB: CSV, gzip and Parquet files as streams of columns.

References
----------
M. Raasveldt, H. Mühleisen: DuckDB: an Embeddable Analytical Database, SIGMOD 2019.
"""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from graphheat.errors import (
    FileFormatError,
    MissingDependencyError,
    MissingPathError,
    OutputError,
    ParameterError,
)

TEXT = (".csv", ".tsv", ".txt", ".edges")
PACKED = (".gz", ".zst")
BATCH = 1 << 20  # rows of a stream at a time
INTEGERS = ("BIGINT", "INTEGER", "SMALLINT", "TINYINT", "UINTEGER", "USMALLINT", "UTINYINT")
NUMBERS = (*INTEGERS, "UBIGINT", "HUGEINT", "FLOAT", "DOUBLE", "BOOLEAN")


def paths_of(given: Any, what: str) -> list[Path]:
    """Return the files that a path, a pattern such as ``edges-*.parquet`` or a list names."""
    single = isinstance(given, (str, os.PathLike))
    names: list[str] = [os.fspath(each) for each in ([given] if single else given)]
    found: list[Path] = []
    for name in names:
        pattern = re.search(r"[*?\[]", name)
        matches = sorted(glob.glob(name)) if pattern else [name]  # noqa: PTH207 - any folder
        if not matches:
            raise MissingPathError(f"No file is called {name}; name the {what} to read.")
        found += [Path(match) for match in matches]
    if not found:
        raise ParameterError(f"The '{what}' parameter of ingest must name a file. Got none.")
    for path in found:
        if not path.is_file():
            raise MissingPathError(f"{path} does not exist; name a file to read.")
        kind_of(path)
    return [path.resolve() for path in found]


def kind_of(path: Path) -> str:
    """Return ``"parquet"`` or ``"text"``, or raise."""
    suffixes = [each.lower() for each in path.suffixes]
    if suffixes and suffixes[-1] in PACKED:
        suffixes.pop()
    last = suffixes[-1] if suffixes else ""
    if last == ".parquet":
        return "parquet"
    if last in TEXT:
        return "text"
    raise FileFormatError(
        f"{path} must end in .parquet, {', '.join(TEXT)} (these also .gz or .zst); got "
        f"{path.suffix!r}."
    )


def memory_bytes(memory: str | int) -> int:
    """Return a size such as ``"4GB"`` in bytes, or raise.

    Examples
    --------
    >>> memory_bytes("4GB"), memory_bytes("512 MiB")
    (4000000000, 536870912)
    """
    units = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
    match = re.fullmatch(r"\s*([0-9.]+)\s*([kmgt]?)(i?)b?\s*", str(memory), re.IGNORECASE)
    try:
        if match is None:
            raise ValueError(memory)
        unit = match[2].lower()
        scale = units[unit] if not match[3] else 1024 ** " kmgt".index(unit)
        size = int(float(match[1]) * scale)
    except ValueError:
        size = 0
    if size < 100_000_000:
        raise ParameterError(
            "The 'memory' parameter must be a size of 100MB or more, such as '4GB'. Got "
            f"{memory!r} instead."
        )
    return size


class DuckTables:
    """A DuckDB that keeps within a limit, and spills into a folder.

    Parameters
    ----------
    spill
        Folder for what does not fit.
    memory
        Bytes that it may use.
    threads
        Threads that it may use.
    """

    def __init__(self, spill: Path, memory: int, threads: int) -> None:
        try:
            import duckdb
        except ImportError as error:
            raise MissingDependencyError(
                "Ingestion needs DuckDB and Arrow: pip install 'graphheat[big]'."
            ) from error
        self._errors = duckdb
        self._connection = duckdb.connect()
        spill.mkdir(exist_ok=True)
        for name, value in (
            ("memory_limit", f"{max(memory, 100_000_000) // 1_000_000}MB"),
            ("temp_directory", str(spill)),
            ("threads", threads),
            ("enable_progress_bar", "false"),
        ):
            self._connection.execute(f"SET {name} = '{value}'")

    def close(self) -> None:
        """End the connection."""
        self._connection.close()

    @contextmanager
    def speaking(self) -> Iterator[None]:
        """Turn DuckDB's errors into a sentence."""
        try:
            yield
        except self._errors.OutOfMemoryException as error:
            full = "space left on device" in str(error).lower() or "max_temp" in str(error)
            raise OutputError(
                "The disk is full while tables are sorted. Free some room and run the same "
                "command again."
                if full
                else "Ingestion needs more memory than it was given. Raise memory= (--memory)."
            ) from error
        except self._errors.IOException as error:
            full = "space left on device" in str(error).lower()
            raise (OutputError if full else FileFormatError)(_first_line(error)) from error
        except self._errors.Error as error:
            raise FileFormatError(f"A table cannot be read: {_first_line(error)}") from error

    def execute(self, query: str) -> list[tuple[Any, ...]]:
        """Run a query and return its rows."""
        with self.speaking():
            rows: list[tuple[Any, ...]] = self._connection.execute(query).fetchall()
        return rows

    def stream(self, query: str, *, ordered: bool = False, rows: int = BATCH) -> Iterator[Any]:
        """Yield the result as Arrow record batches; ``ordered``: in the order of the files."""
        with self.speaking():
            cursor = self._connection.cursor()  # other queries may be asked meanwhile
            cursor.execute(f"SET preserve_insertion_order = {str(ordered).lower()}")
            yield from cursor.sql(query).to_arrow_reader(rows)

    def scan(
        self, files: Sequence[Path], *, header: bool | None = None, delimiter: str | None = None
    ) -> str:
        """Return what stands after FROM for the files; cells of text files stay text."""
        kinds = {kind_of(file) for file in files}
        if len(kinds) > 1:
            raise FileFormatError("Files of one table must be all Parquet or all text.")
        listed = ", ".join(_quoted(str(file)) for file in files)
        if kinds == {"parquet"}:
            return f"read_parquet([{listed}])"
        options = ["all_varchar = true"]
        if header is not None:
            options.append(f"header = {str(header).lower()}")
        if delimiter is not None:
            options.append(f"delim = {_quoted(delimiter)}")
        return f"read_csv([{listed}], {', '.join(options)})"

    def columns(self, scan: str) -> Mapping[str, str]:
        """Return the columns of a table and their types."""
        return {row[0]: row[1] for row in self.execute(f"DESCRIBE SELECT * FROM {scan}")}


def identifier(name: str) -> str:
    """Return a column's name as SQL wants it."""
    return '"' + name.replace('"', '""') + '"'


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _first_line(error: Exception) -> str:
    """Return what DuckDB says before it gives advice, on one line."""
    message = str(error).strip().split("\n\n")[0].splitlines()
    return "; ".join(line.strip() for line in message[:3])
