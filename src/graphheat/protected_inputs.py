"""The files that a command has read, which it must not replace."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_read: ContextVar[set[tuple[int, int]] | None] = ContextVar("graphheat_inputs", default=None)


@contextmanager
def inputs_protected() -> Iterator[None]:
    """Refuse, while the block runs, to replace a file that was read in it."""
    token = _read.set(set())
    try:
        yield
    finally:
        _read.reset(token)


def note_input(status: os.stat_result) -> None:
    """Remember a file that is read, by its status; outside of such a block nothing is."""
    read = _read.get()
    if read is not None:
        read.add((status.st_dev, status.st_ino))


def was_read(status: os.stat_result) -> bool:
    """Tell whether a file was read in the block around."""
    return (status.st_dev, status.st_ino) in (_read.get() or ())
