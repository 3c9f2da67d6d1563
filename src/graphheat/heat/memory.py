"""How much memory is left, also in a container and under a limit of the shell."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

try:
    import resource
except ImportError:  # not on Windows
    resource = None  # type: ignore[assignment]


def available_memory(root: Path = Path("/")) -> int | None:
    """Return the bytes that can be had without swapping, or None where the system does not say.

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
