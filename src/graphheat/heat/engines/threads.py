"""Tasks of one call spread over threads, which compiled loops and NumPy let run side by side."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Task = TypeVar("Task")
Result = TypeVar("Result")


def in_threads(
    work: Callable[[Task], Result],
    tasks: Sequence[Task],
    threads: int,
    report: Callable[[int], None] = lambda done: None,
) -> list[Result]:
    """Return the results of all tasks, in their order; an exception drops those that wait."""
    results = []
    if threads == 1 or len(tasks) == 1:
        for task in tasks:
            results.append(work(task))
            report(len(results))
        return results
    with ThreadPoolExecutor(max(1, min(threads, len(tasks)))) as pool:
        try:
            for future in [pool.submit(work, task) for task in tasks]:
                results.append(future.result())
                report(len(results))
        except BaseException:  # Ctrl-C: only the tasks under way finish
            pool.shutdown(cancel_futures=True)
            raise
    return results
