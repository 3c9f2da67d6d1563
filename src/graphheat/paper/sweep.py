"""Making many runs: resumable, by one process or several, each run once."""

from __future__ import annotations

import hashlib
import multiprocessing
import multiprocessing.connection
import os
import signal
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from graphheat.errors import GraphHeatError, WriteError
from graphheat.paper.store import Store
from graphheat.paper.task import Task, run_task
from graphheat.progress import Progress

try:
    import fcntl
except ImportError:  # not on Windows
    fcntl = None  # type: ignore[assignment]

POLL_SECONDS = 0.5


def sweep(
    store: Store, tasks: Sequence[Task], *, jobs: int = 1, progress: Progress | None = None
) -> None:
    """Make every run that the store lacks.

    Parameters
    ----------
    jobs
        Processes, of one thread each. Runs that another process is making are left to it, also
        when that process belongs to another sweep on the same store.
    progress
        Called after each run (one job), or about twice a second; the text estimates the time left.

    Notes
    -----
    A run that raises is noted in the store and the sweep goes on; ``store.failures()`` has them.
    Killed at any moment, a sweep that is started again makes the missing runs and no other.
    """
    tasks = list(tasks)
    try:
        if jobs == 1 or len(store.missing(tasks)) <= 1:
            for _ in _work(store, tasks):
                _tell(store, tasks, 1, progress)
        else:
            _share_out(store, tasks, jobs, progress)
    finally:
        _remove_lock(store.path)


def _share_out(store: Store, tasks: Sequence[Task], jobs: int, progress: Progress | None) -> None:
    """Let several processes make the runs."""
    context = multiprocessing.get_context("spawn")
    workers = [
        context.Process(target=_worker, args=(store.path, tasks), daemon=True) for _ in range(jobs)
    ]
    for worker in workers:
        worker.start()
    try:
        while any(worker.is_alive() for worker in workers):
            _tell(store, tasks, jobs, progress)
            time.sleep(POLL_SECONDS)
    finally:
        for worker in workers:
            worker.terminate()
            worker.join()
    _tell(store, tasks, jobs, progress)
    ended = [worker.exitcode for worker in workers if worker.exitcode]
    if ended:
        raise GraphHeatError(
            f"A worker process ended early (exit code {ended[0]}). Every finished run is kept; "
            "start the same command again to go on."
        )


def seconds_left(store: Store, tasks: Sequence[Task], jobs: int) -> float | None:
    """Estimate from the runs there are, by row and graph; None without any."""
    missing = store.missing(tasks)
    if not missing:
        return 0.0
    runs = store.runs()
    if runs.empty:
        return None
    known = runs.groupby(["row", "graph"])["seconds"].mean().to_dict()
    by_graph = runs.groupby("graph")["seconds"].mean().to_dict()
    overall = float(runs["seconds"].mean())
    total = sum(
        known.get((task.row, task.graph), by_graph.get(task.graph, overall)) for task in missing
    )
    return float(total) / jobs


def duration(seconds: float) -> str:
    """Return "about 3 h 20 min left" and the like."""
    minutes = round(seconds / 60)
    if minutes < 1:
        return "less than a minute left"
    hours, minutes = divmod(minutes, 60)
    return f"about {hours} h {minutes} min left" if hours else f"about {minutes} min left"


def _tell(store: Store, tasks: Sequence[Task], jobs: int, progress: Progress | None) -> None:
    if progress is not None:
        done, left = len(tasks) - len(store.missing(tasks)), seconds_left(store, tasks, jobs)
        progress(done, len(tasks), "" if left is None else duration(left))


def _end_with_parent() -> None:
    """End this process when the one that started it is gone, however that ended."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        multiprocessing.connection.wait([parent.sentinel])
        os._exit(1)


def _worker(path: Path, tasks: Sequence[Task]) -> None:
    threading.Thread(target=_end_with_parent, daemon=True).start()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal sends it to all; the parent decides
    for _ in _work(Store(path), tasks):
        pass


def _work(store: Store, tasks: Sequence[Task]) -> Iterator[Task]:
    """Make the missing runs that no other process is making; yield after each."""
    for task in store.missing(tasks):
        with _alone(store.path, task) as mine:
            # Another process may have made it since the list was drawn up.
            if not mine or task in store:
                continue
            try:
                record = run_task(task)
            except Exception as error:
                store.fail(task, f"{type(error).__name__}: {error}")
            else:
                store.add(record)
        yield task


@contextmanager
def _alone(path: Path, task: Task) -> Iterator[bool]:
    """Yield whether this process alone works on the task.

    A lock on one byte of a file beside the store, at a place that the task's key decides. The
    operating system releases it when the process ends, however it ends.
    """
    if fcntl is None:  # no such locks here: a run made twice is kept once
        yield True
        return
    digest = hashlib.sha256(repr(task.key).encode()).digest()
    place = int.from_bytes(digest[:7], "big")
    descriptor = _locked_byte(_lock_of(path), place)
    try:
        yield descriptor is not None
    finally:
        if descriptor is not None:
            os.close(descriptor)


def _lock_of(path: Path) -> Path:
    return path.with_name(path.name + ".lock")


def _locked_byte(lock: Path, place: int) -> int | None:
    """Lock a byte of a file and return the open file, or None where another process has it."""
    while True:
        try:
            descriptor = os.open(lock, os.O_RDWR | os.O_CREAT, 0o666)
        except OSError as error:
            raise WriteError(f"{lock} cannot be written: {error.strerror}.") from error
        try:
            fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, place)
        except OSError:
            os.close(descriptor)
            return None
        # Another sweep may have ended, and removed it, between our opening and locking.
        with suppress(FileNotFoundError):
            if os.fstat(descriptor).st_ino == lock.stat().st_ino:
                return descriptor
        os.close(descriptor)


def _remove_lock(path: Path) -> None:
    """Remove the lock file of a sweep that is over, unless another one is under way."""
    lock = _lock_of(path)
    if fcntl is None or not lock.exists():
        return
    descriptor = os.open(lock, os.O_RDWR)
    try:
        with suppress(OSError):
            fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            lock.unlink(missing_ok=True)
    finally:
        os.close(descriptor)
