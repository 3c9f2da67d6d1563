"""Stages of an ingestion: what is finished stays, and a killed one goes on from there.

Everything is made in a folder beside the result, which takes its name at the very end. A stage is
done when the list of stages says so; a stage that was interrupted is made again.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graphheat.errors import FileFormatError, MissingPathError, OutputError, WriteError
from graphheat.io.atomic import replacing

LIST = "stages.json"


@dataclass(frozen=True)
class InputFile:
    """A file that is read, and what it was like when the ingestion began."""

    path: Path
    size: int
    modified: int

    @classmethod
    def of(cls, path: Path) -> InputFile:
        """Look at a file."""
        try:
            facts = path.stat()
        except OSError as error:
            raise MissingPathError(f"{path} cannot be read: {error.strerror}.") from error
        return cls(path, facts.st_size, facts.st_mtime_ns)

    def check(self) -> None:
        """Raise where the file is no longer what it was."""
        if InputFile.of(self.path) != self:
            raise FileFormatError(
                f"{self.path} has changed since the ingestion was begun. Start anew with "
                "restart=True (--restart)."
            )


def check_place(out: Path) -> None:
    """Raise where no folder can be made at ``out``."""
    if out.exists():
        raise OutputError(f"{out} exists already. Remove it, or name another folder.")
    if not out.parent.is_dir():
        raise OutputError(f"{out} cannot be made: there is no folder {out.parent}.")


class Stages:
    """The folder in which an ingestion is under way.

    Parameters
    ----------
    out
        The folder that the result will have.
    inputs
        All files that are read.
    options
        What else decides the result, as plain values.
    restart
        Throw away what an earlier ingestion left.
    """

    def __init__(
        self,
        out: Path,
        inputs: Sequence[InputFile],
        options: Mapping[str, Any],
        *,
        restart: bool = False,
    ) -> None:
        self.out, self.inputs = out, tuple(inputs)
        self.folder = out.with_name(f".{out.name}.part")
        check_place(out)
        # A folder without its list was about to take its name, or to begin: nothing in it counts.
        if (restart or not (self.folder / LIST).exists()) and self.folder.exists():
            shutil.rmtree(self.folder)
        self._facts: dict[str, Any] = {
            "inputs": [[str(each.path), each.size, each.modified] for each in inputs],
            "options": json.loads(json.dumps(options)),
            "done": {},
        }
        kept = self.folder / LIST
        if kept.exists():
            self._go_on(json.loads(kept.read_text(encoding="utf-8")))
        else:
            with self.writing():
                self.folder.mkdir(exist_ok=True)
            self._save()

    def _go_on(self, left: dict[str, Any]) -> None:
        if left["inputs"] != self._facts["inputs"]:
            for before, now in zip(left["inputs"], self._facts["inputs"], strict=False):
                if before != now:
                    raise FileFormatError(
                        f"{now[0]} has changed since the ingestion was begun. Start anew with "
                        "restart=True (--restart)."
                    )
            raise FileFormatError(
                f"{self.folder} was begun with other files. Start anew with restart=True "
                "(--restart)."
            )
        if left["options"] != self._facts["options"]:
            raise OutputError(
                f"{self.folder} was begun with other options. Start anew with restart=True "
                "(--restart)."
            )
        self._facts = left

    def run(self, name: str, make: Callable[[], Mapping[str, Any]]) -> dict[str, Any]:
        """Return what stage ``name`` found: by ``make``, or as it was noted when it was made."""
        if name not in self._facts["done"]:
            for each in self.inputs:
                each.check()
            with self.writing():
                found = dict(make())
            for each in self.inputs:
                each.check()
            self._facts["done"][name] = found
            self._save()
        noted: dict[str, Any] = self._facts["done"][name]
        return noted

    def file(self, name: str) -> Path:
        """Return the path of a file of the folder."""
        return self.folder / name

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Say in a sentence that the disk is full, or that the folder cannot be written to."""
        try:
            yield
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise WriteError(self._full()) from error
            if isinstance(error, (OutputError, MissingPathError)) or error.errno is None:
                raise
            raise WriteError(
                f"{self.folder} cannot be written: {error.strerror or error}."
            ) from error

    def _full(self) -> str:
        return (
            f"The disk of {self.folder.parent} is full. What was finished is kept in "
            f"{self.folder}; free some room and run the same command again."
        )

    def check_room(self, wanted: int) -> None:
        """Raise where less than ``wanted`` bytes are free."""
        free = shutil.disk_usage(self.folder).free
        if free < wanted:
            raise WriteError(
                f"The ingestion takes about {wanted / 1e6:,.0f} MB of disk, and "
                f"{self.folder.parent} has {free / 1e6:,.0f} MB left. Free some room, or name "
                "another folder."
            )

    def finish(self, keep: Sequence[str]) -> None:
        """Remove what is no part of the result, and give the folder its name."""
        for each in self.folder.iterdir():
            if each.name not in keep:
                shutil.rmtree(each) if each.is_dir() else each.unlink()
        descriptor = os.open(self.folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        self.folder.rename(self.out)

    def _save(self) -> None:
        with self.writing(), replacing(self.folder / LIST) as aside:
            aside.write_text(json.dumps(self._facts, indent=1), encoding="utf-8")
