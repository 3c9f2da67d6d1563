"""Files that the workers of a diffusion share: a generation's T and sums, and rows of columns.

A file has its full size from the beginning, and every row one writer at a time. What is written is
written by calls, not by mapping: two writers of one page would be in each other's way on storage
over a network.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from graphheat.errors import OutputError


def name_of(kind: str, number: int) -> str:
    """Return the file of a generation."""
    return f"{kind}-{number}.raw"


def opened(
    folder: Path, kind: str, number: int, shape: tuple[int, ...], dtype: Any, mode: Any = "r"
) -> Any:
    """Map the file of a generation."""
    file = folder / name_of(kind, number)
    try:
        return np.memmap(file, dtype, mode, shape=shape)
    except (OSError, ValueError) as error:
        raise OutputError(
            f"{file} cannot be read or written ({error}). The folder must be on storage that all "
            "workers share."
        ) from error


def put(file: Path, parts: Sequence[tuple[int, Any]]) -> None:
    """Write arrays at places of a file; shared storage has them when it is closed."""
    try:
        with file.open("r+b", buffering=0) as stream:
            for place, array in parts:
                stream.seek(place)
                left = np.ascontiguousarray(array).data.cast("B")
                while len(left):
                    left = left[stream.write(left) :]
    except OSError as error:
        raise OutputError(
            f"{file} cannot be written ({error.strerror}). The folder must be on storage that all "
            "workers share, with room for what is computed."
        ) from error


def create(file: Path, size: int) -> None:
    """Make a file of so many bytes, all 0, unless it is there."""
    if file.exists() and file.stat().st_size == size:
        return
    try:
        with file.open("wb") as stream:
            stream.truncate(size)
    except OSError as error:
        raise OutputError(f"{file} cannot be made: {error.strerror}.") from error


def on_disk(file: Path) -> None:
    """Wait until a file would outlive a loss of power."""
    with file.open("rb") as stream:
        os.fsync(stream.fileno())
