"""How much memory is left, also in a container and under a limit; what a file may take of it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from graphheat.errors import FileSizeError, ParameterError

try:
    import resource
except ImportError:  # not on Windows
    resource = None  # type: ignore[assignment]


def available_memory(root: Path = Path("/")) -> int | None:
    """Return the bytes that can be had without swapping, or None where that is not known.

    The least of what the machine has left, what control groups (version 1 and 2, this process's
    and all above it) leave, and what ``ulimit -v`` and ``ulimit -d`` leave. ``root`` is where
    ``proc`` and ``sys`` are.
    """
    left = [*_machine(root), *_control_groups(root), *_process_limits(root)]
    return max(0, min(left)) if left else None


def _machine(root: Path) -> Iterator[int]:
    for line in _read(root / "proc/meminfo").splitlines():
        if line.startswith("MemAvailable:"):
            yield int(line.split()[1]) * 1024
            return
    try:
        yield os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return


def _control_groups(root: Path) -> Iterator[int]:
    """Yield what is left in each group of this process that has a limit.

    What is used includes the cache of files, which gives way: the inactive part does not count.
    """
    for line in _read(root / "proc/self/cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers == "":
            base, limit, used = "sys/fs/cgroup", "memory.max", "memory.current"
        elif "memory" in controllers.split(","):
            base = "sys/fs/cgroup/memory"
            limit, used = "memory.limit_in_bytes", "memory.usage_in_bytes"
        else:
            continue
        group = root / base / path.strip("/")
        for folder in (group, *group.parents):
            most, now = _read(folder / limit).strip(), _read(folder / used).strip()
            if most.isdigit() and now.isdigit():
                yield int(most) - int(now) + _inactive_cache(folder)
            if folder == root / base:
                break


def _inactive_cache(folder: Path) -> int:
    fields = dict(line.split(maxsplit=1) for line in _read(folder / "memory.stat").splitlines())
    return int(fields.get("total_inactive_file", fields.get("inactive_file", 0)))


def _process_limits(root: Path) -> Iterator[int]:
    if resource is None:
        return
    lines = _read(root / "proc/self/status").splitlines()
    used = {line.split(":")[0]: line.split()[1] for line in lines if line.endswith(" kB")}
    for limit, field in ((resource.RLIMIT_AS, "VmSize"), (resource.RLIMIT_DATA, "VmData")):
        most, _ = resource.getrlimit(limit)
        if most != resource.RLIM_INFINITY and field in used:
            yield most - int(used[field]) * 1024


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:  # not there, or not for us
        return ""


# ---------------------------------------------------------------------- what reading may take

LEAST_ROOM = 512 * 2**20  # of any file, however small
NODE_BYTES = 64  # of a node without edges, at least
MOST_TIMES = 20  # the size of a file that its contents may take
_UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12,
          "KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}  # fmt: skip
_SIZE = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([KMGT]?I?B?)", re.IGNORECASE)
_budget: ContextVar[int | None] = ContextVar("graphheat_memory_budget", default=None)


def as_bytes(size: int | str) -> int:
    """Return a size as a number of bytes.

    Examples
    --------
    >>> as_bytes("4GB"), as_bytes("1.5 GiB"), as_bytes(100)
    (4000000000, 1610612736, 100)
    """
    found = _SIZE.fullmatch(size.strip()) if isinstance(size, str) else None
    if found is not None and found[2].upper() in _UNITS:
        size = int(float(found[1]) * _UNITS[found[2].upper()])
    if isinstance(size, bool) or not isinstance(size, int) or size <= 0:
        raise ParameterError(f"A size must be a number of bytes or such as '4GB'; got {size!r}.")
    return size


@contextmanager
def memory_budget(size: int | str) -> Iterator[None]:
    """Let files take up to ``size`` when they are read, in place of the usual budget.

    The usual budget keeps small files from taking all memory: the contents of a file may take
    512 MiB or 20 times its size, whichever is more, and never more than half of the memory that is
    left.

    Examples
    --------
    >>> with memory_budget("8GB"):
    ...     reading_room(1_000)
    8000000000
    """
    token = _budget.set(as_bytes(size))
    try:
        yield
    finally:
        _budget.reset(token)


def reading_room(size: int) -> int:
    """Return how many bytes the contents of a file of ``size`` bytes may take."""
    given = _budget.get()
    if given is not None:
        return given
    left = available_memory()
    usual = max(LEAST_ROOM, MOST_TIMES * size)
    return usual if left is None else min(usual, left // 2)


def check_room(needed: int, size: int, what: object) -> None:
    """Raise where reading a file of ``size`` bytes would take more than it may.

    Examples
    --------
    >>> check_room(10**15, 100, "bomb.npz")
    Traceback (most recent call last):
        ...
    graphheat.errors.FileSizeError: bomb.npz would take 1000000.0 GB to read, and may take 0.5 GB. \
If you trust it, pass --max-memory (in Python: with graphheat.memory_budget).
    """
    room = reading_room(size)
    if needed > room:
        raise FileSizeError(
            f"{what} would take {needed / 1e9:.1f} GB to read, and may take {room / 1e9:.1f} GB. "
            "If you trust it, pass --max-memory (in Python: with graphheat.memory_budget)."
        )


def check_nodes_fit(nodes: int, size: int, path: object) -> None:
    """Raise where a file of ``size`` bytes names more nodes than it may."""
    check_room(nodes * NODE_BYTES, size, f"{path} (with {nodes:,} nodes)")
