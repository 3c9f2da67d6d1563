"""A folder of arrays, memory-mapped, with a JSON header that says what belongs in it.

Every array is one ``.npy`` file. The header holds the schema, the counts, and for each file its
size and its CRC-32, so that a folder that was cut short, moved in part or written by a newer
version is recognised at once, before a number of it is used.
"""

from __future__ import annotations

import json
import math
import os
import zlib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tokenize import TokenError
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphheat.disk.folder_schema import check_arrays, check_header
from graphheat.errors import FileFormatError, MissingPathError, WriteError
from graphheat.io.archive import reason_of
from graphheat.io.atomic import replacing

SCHEMA = 1
KIND = "disk graph"
HEADER = "graph.json"
CHUNK = 1 << 24  # bytes that are read at a time
MOST_HEADER = 200_000_000  # bytes


@dataclass(frozen=True)
class ArrayFolder:
    """An opened folder: its header, and its arrays by name.

    Attributes
    ----------
    path
        The folder.
    header
        What ``graph.json`` holds, as plain values.
    """

    path: Path
    header: Mapping[str, Any]

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> ArrayFolder:
        """Read the header, and look at every file; or raise with what is wrong.

        What is checked, and when: :mod:`graphheat.disk.folder_schema`.

        Examples
        --------
        >>> ArrayFolder.open("nowhere.graph")
        Traceback (most recent call last):
            ...
        graphheat.errors.MissingPathError: There is no disk graph at nowhere.graph.
        """
        folder = Path(path)
        if not (folder / HEADER).is_file():
            raise MissingPathError(
                f"{folder} holds no {HEADER}, so it is not a disk graph. Make one with graphheat "
                "ingest."
                if folder.is_dir()
                else f"There is no disk graph at {folder}."
            )
        try:
            if (folder / HEADER).stat().st_size > MOST_HEADER:
                raise ValueError(f"it has more than {MOST_HEADER:,} bytes")
            header = json.loads((folder / HEADER).read_text(encoding="utf-8"))
        except (ValueError, OSError, RecursionError) as error:
            raise FileFormatError(
                f"{folder / HEADER} cannot be read ({reason_of(error)}). Ingest the graph again."
            ) from error
        if not isinstance(header, dict) or header.get("kind") != KIND:
            raise FileFormatError(f"{folder / HEADER} is not the header of a disk graph.")
        schema = header.get("schema")
        if not isinstance(schema, int) or schema > SCHEMA:
            raise FileFormatError(
                f"{folder} has schema {schema!r}; this version reads up to {SCHEMA}. Upgrade "
                "graphheat."
            )
        arrays = header.get("arrays")
        if not isinstance(arrays, dict):
            raise FileFormatError(f"{folder / HEADER} lists no arrays; it is damaged.")
        check_header(header, folder)
        for name, facts in arrays.items():
            file = folder / f"{name}.npy"
            if not file.is_file():
                raise MissingPathError(
                    f"{folder} lacks {file.name}: the folder was moved in part. Copy it again, or "
                    "ingest the graph again."
                )
            size = file.stat().st_size
            if size != facts["bytes"]:
                raise FileFormatError(
                    f"{file} has {size:,} bytes where {facts['bytes']:,} were written: it was cut "
                    "short. Copy it again, or ingest the graph again."
                )
        opened = cls(folder, header)
        check_arrays(header, opened.array, folder)
        return opened

    def __contains__(self, name: str) -> bool:
        return name in self.header["arrays"]

    def array(self, name: str) -> NDArray[Any]:
        """Return an array, mapped and read only."""
        file = self.path / f"{name}.npy"
        if name not in self:
            raise FileFormatError(f"{self.path} has no array {name!r}; it is damaged.")
        try:
            array: NDArray[Any] = np.lib.format.open_memmap(file, mode="r")
        except (
            *(OSError, ValueError, TypeError, KeyError, EOFError, OverflowError, MemoryError),
            *(SyntaxError, RecursionError, TokenError),
        ) as error:
            raise FileFormatError(f"{file} cannot be read ({reason_of(error)}).") from error
        return array

    def verify(self) -> None:
        """Read every file and compare checksums; raise with the first that differs."""
        for name, facts in self.header["arrays"].items():
            file = self.path / f"{name}.npy"
            if checksum(file) != facts["crc32"]:
                raise FileFormatError(
                    f"{file} is not what was written: its checksum differs. Copy it again, or "
                    "ingest the graph again."
                )


def write_header(folder: Path, facts: Mapping[str, Any], arrays: Mapping[str, Path]) -> None:
    """Write the header of a folder whose arrays are all there."""
    listed = {}
    for name, file in arrays.items():
        array = np.load(file, mmap_mode="r", allow_pickle=False)
        listed[name] = {
            "dtype": array.dtype.str,
            "shape": list(array.shape),
            "bytes": file.stat().st_size,
            "crc32": checksum(file),
        }
    header = {"kind": KIND, "schema": SCHEMA, **facts, "arrays": listed}
    with replacing(folder / HEADER) as aside:
        aside.write_text(json.dumps(header, indent=1, sort_keys=True), encoding="utf-8")


def checksum(file: Path) -> int:
    """Return the CRC-32 of a file, reading a little at a time."""
    value = 0
    with file.open("rb") as stream:
        while chunk := stream.read(CHUNK):
            value = zlib.crc32(chunk, value)
    return value


def new_array(file: Path, shape: tuple[int, ...], dtype: Any) -> Any:
    """Return a new mapped array to be written to; its file has its full size at once.

    The disk's room is taken at once, too: a disk that fills up while a mapped file is written to
    ends the process by a signal.
    """
    try:
        array = np.lib.format.open_memmap(file, mode="w+", dtype=np.dtype(dtype), shape=shape)
        if hasattr(os, "posix_fallocate"):
            with file.open("r+b") as stream:
                os.posix_fallocate(stream.fileno(), 0, file.stat().st_size)
    except OSError as error:
        with suppress(OSError):
            file.unlink()
        size = math.prod(shape) * np.dtype(dtype).itemsize
        raise WriteError(
            f"{file} cannot be written: {error.strerror or error}. It takes {size / 1e9:.2f} GB; "
            "the same command goes on from what was finished (a fit with --resume)."
        ) from error
    return array
