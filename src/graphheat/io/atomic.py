"""Write aside, then rename: a reader never sees half a file."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from graphheat.errors import OutputError


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary path beside ``path`` that takes its place when the block succeeds.

    The temporary file is flushed to disk before the rename, so that a crash leaves either the old
    file or the new one, whole. When the block raises, the temporary file is removed and ``path``
    stays as it was.

    Examples
    --------
    >>> import tempfile
    >>> target = Path(tempfile.mkdtemp()) / "numbers.txt"
    >>> with replacing(target) as aside:
    ...     _ = aside.write_text("1 2 3")
    >>> target.read_text()
    '1 2 3'
    """
    target = Path(path)
    # The suffix stays last: some writers choose the format by it.
    aside = target.with_name(f".{target.stem}.{os.getpid()}.part{target.suffix}")
    try:
        check_writable(target)
        yield aside
        with aside.open("rb+") as written:
            os.fsync(written.fileno())
        aside.chmod(0o666 & ~_umask())  # some writers make files that only their owner can read
        aside.replace(target)
    except OSError as error:
        if isinstance(error, OutputError):
            raise
        raise OutputError(f"{target} cannot be written: {error.strerror or error}.") from error
    finally:
        with suppress(OSError):  # the folder itself may not exist
            aside.unlink(missing_ok=True)


def check_writable(path: str | os.PathLike[str]) -> None:
    """Raise where :func:`replacing` would, before there is anything to write."""
    target = Path(path)
    if target.is_dir():
        raise OutputError(f"{target} is a folder; name a file to write.")
    if not target.parent.is_dir():
        raise OutputError(f"{target} cannot be written: there is no folder {target.parent}.")
    if not os.access(target.parent, os.W_OK | os.X_OK):
        raise OutputError(f"{target} cannot be written: its folder is not writable.")


def _umask() -> int:
    mask = os.umask(0)  # it can only be read by setting it
    os.umask(mask)
    return mask
