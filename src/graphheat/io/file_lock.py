"""Locks: who writes to a place, so that a second writer is refused and nobody's work is mixed."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from graphheat.errors import BusyError, OutputError

try:
    import fcntl
except ImportError:  # not on Windows: there a second writer is not seen
    fcntl = None  # type: ignore[assignment]

MOST_TEXT = 200  # of who holds a lock, as a message shows it


@contextmanager
def locked(path: Path, what: object) -> Iterator[None]:
    """Hold a lock file while the block runs, or raise with who holds it.

    Parameters
    ----------
    path
        The lock file; it is there while the lock is held, and says by whom.
    what
        What is locked, for the message.

    Notes
    -----
    The lock is released when the process ends, however it ends; the file that a killed
    process leaves holds nobody up, and goes with the next lock.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> with locked(folder / ".lock", folder):
    ...     (folder / ".lock").read_text().split()[0] == "process"
    True
    >>> (folder / ".lock").exists()
    False
    """
    if fcntl is None:
        yield
        return
    descriptor = _acquired(path, what)
    try:
        os.ftruncate(descriptor, 0)
        since = datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
        with suppress(OSError):  # a full disk: the lock holds all the same
            who = f"process {os.getpid()} on {socket.gethostname()} since {since}"
            os.pwrite(descriptor, who.encode(), 0)
        yield
    finally:
        with suppress(OSError):
            path.unlink()
        os.close(descriptor)


def _acquired(path: Path, what: object) -> int:
    while True:
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)
        except OSError as error:
            raise OutputError(f"{what} cannot be written: {error.strerror}.") from error
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            who = os.pread(descriptor, MOST_TEXT, 0).decode(errors="replace")
            os.close(descriptor)
            raise BusyError(
                f"{what} is being written by {who or 'another process'}. "
                "Wait for it, or name another place."
            ) from None
        # Its holder may have removed it between our opening and locking: then it locks nothing.
        with suppress(FileNotFoundError):
            if os.fstat(descriptor).st_ino == path.stat(follow_symlinks=False).st_ino:
                return descriptor
        os.close(descriptor)


def is_held(path: Path) -> bool:
    """Tell whether a process holds a lock on ``path``; False where there are no locks."""
    if fcntl is None:
        return True
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    except OSError:
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    else:
        return False
    finally:
        os.close(descriptor)


def hold(descriptor: int) -> None:
    """Lock a file that is open for as long as it is."""
    if fcntl is not None:
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
