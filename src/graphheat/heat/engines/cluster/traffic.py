"""Traffic: the bytes that the tasks of a diffusion read and write."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple


class Done(NamedTuple):
    """What a task reports.

    Attributes
    ----------
    worker, number
        Who ran it, and the generation it belongs to.
    shared
        Bytes of T_k, which a worker reads once for all tasks of a generation.
    read, written
        Other bytes.
    """

    worker: str
    number: int
    shared: int
    read: int
    written: int


@dataclass
class Traffic:
    """Bytes that the steps of diffusions read and wrote, and how many tasks there were in all."""

    read: int = 0
    written: int = 0
    tasks: int = 0
    readers: set[tuple[str, int]] = field(default_factory=set, repr=False)

    def add(self, done: Done) -> None:
        """Count a step; a worker reads T_k once for all of a generation."""
        if (done.worker, done.number) not in self.readers:
            self.readers.add((done.worker, done.number))
            self.read += done.shared
        self.read += done.read
        self.written += done.written
