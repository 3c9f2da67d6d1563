"""Write aside, then rename: a reader never sees half a file, and nothing else is replaced."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from graphheat.errors import OutputError, ParameterError, WriteError
from graphheat.io.file_lock import hold, is_held, locked
from graphheat.protected_inputs import was_read


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary path beside ``path`` that takes its place when the block succeeds.

    The temporary file is flushed to disk before the rename, so that a crash leaves either the old
    file or the new one, whole. When the block raises, the temporary file is removed and ``path``
    stays as it was; what a killed process left is removed by the next one. A link stays a link:
    the file that it names is replaced.

    Examples
    --------
    >>> import tempfile
    >>> target = Path(tempfile.mkdtemp()) / "numbers.txt"
    >>> with replacing(target) as aside:
    ...     _ = aside.write_text("1 2 3")
    >>> target.read_text()
    '1 2 3'
    """
    target = check_writable(path)
    sweep(target)
    # The suffix stays last: some writers choose the format by it.
    aside = target.with_name(f".{_short(target.stem)}.{os.getpid()}.part{target.suffix}")
    descriptor = None
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0)
        descriptor = os.open(aside, flags, 0o600)
        hold(descriptor)  # for as long as it is written: see sweep
        yield aside
        with aside.open("rb+") as written:
            os.fsync(written.fileno())
        aside.chmod(0o666 & ~_umask())  # some writers make files that only their owner can read
        aside.replace(target)
        _flush_folder(target.parent)
    except OSError as error:
        if isinstance(error, OutputError):
            raise
        raise WriteError(f"{path} cannot be written: {error.strerror or error}.") from error
    finally:
        if descriptor is not None:
            os.close(descriptor)
            with suppress(OSError):
                aside.unlink(missing_ok=True)


@contextmanager
def claimed(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Hold a file that will be written, or raise before anything is computed.

    A second process that claims the same file learns who holds it.
    """
    target = check_writable(path)
    with locked(target.with_name(f".{_short(target.name)}.lock"), path):
        sweep(target)
        yield target


def sweep(target: Path) -> None:
    """Remove what killed processes left of files that were to take the place of ``target``."""
    start, end = f".{_short(target.stem)}.", f".part{target.suffix}"
    with suppress(OSError):
        for left in target.parent.iterdir():
            number = left.name.removeprefix(start).removesuffix(end)
            if number.isdigit() and left.name == f"{start}{number}{end}" and not is_held(left):
                left.unlink(missing_ok=True)


def check_writable(path: str | os.PathLike[str]) -> Path:
    """Return the file that would be written, links followed, or raise where it may not be.

    It must be a regular file, or none, in a folder that is there and can be written to; and within
    :func:`graphheat.protected_inputs.inputs_protected` none that has been read.
    """
    if not isinstance(path, (str, os.PathLike)) or not isinstance(os.fspath(path), str):
        raise ParameterError(f"A path must be a string or a Path; got {type(path).__name__}.")
    given = Path(path)
    if not given.name or given.name == "..":
        raise OutputError(f"{given} is a folder; name a file to write.")
    try:
        target = given.resolve()
        if target.is_dir():
            raise OutputError(f"{given} is a folder; name a file to write.")
        if not target.parent.is_dir():
            raise OutputError(f"{given} cannot be written: there is no folder {target.parent}.")
        status = target.stat() if os.path.lexists(target) else None
    except OutputError:
        raise
    except (OSError, ValueError, RuntimeError) as error:  # a loop of links, a name too long, NUL
        reason = getattr(error, "strerror", None) or str(error)
        raise OutputError(f"{str(given)[:80]} cannot be written: {reason}.") from None
    if status is not None and not stat.S_ISREG(status.st_mode):
        raise OutputError(
            f"{given} cannot be written: it is a pipe, socket or device. Name a regular file."
        )
    if status is not None and was_read(status):
        raise OutputError(f"{given} is what the command reads; name another file to write.")
    if not os.access(target.parent, os.W_OK | os.X_OK):
        raise OutputError(f"{given} cannot be written: its folder is not writable.")
    return target


def _short(stem: str) -> str:
    """Return a stem that leaves room for a number and a suffix in a name of 255 bytes."""
    return os.fsdecode(os.fsencode(stem)[:180])


def _flush_folder(folder: Path) -> None:
    with suppress(OSError):  # not every operating system can
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _umask() -> int:
    mask = os.umask(0)  # it can only be read by setting it
    os.umask(mask)
    return mask
