"""TaskPool: pure functions of files and small arguments, run by whatever runs functions.

A task may be run twice, or elsewhere; so a worker that dies costs its task. Only a few are given
out at a time, so that a scheduler never holds more than it can.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from dataclasses import dataclass
from typing import Any

from graphheat.errors import GraphError, GraphHeatError, OutputError

RETRIES = 5
SECONDS, PATIENCE = 2.0, 15.0  # between looks at a silent cluster, and until it is given up
GONE = (
    "The cluster went away ({}). What was finished is kept; run the same command again with "
    "--resume."
)


def version() -> str:
    """Return that of the package, which is imported by whoever imports this."""
    return str(sys.modules["graphheat"].__version__)


def perform(asked: str, function: Callable[[Any], Any], task: Any) -> Any:
    """Run a task, where this worker has the version that it comes from."""
    if asked != version():
        raise GraphError(
            f"A worker has graphheat {version()}, and the task comes from {asked}. Install the "
            "same version everywhere."
        )
    return function(task)


@dataclass
class TaskPool:
    """Runs tasks, a few at a time.

    Attributes
    ----------
    executor
        Who runs them.
    in_flight
        How many are given out at a time.
    alive
        Whether whoever runs them can be reached.
    """

    executor: Executor
    in_flight: int = 4
    alive: Callable[[], bool] = lambda: True

    def run(
        self,
        function: Callable[[Any], Any],
        tasks: Sequence[Any],
        finished: Callable[[Any], None] | None = None,
    ) -> list[Any]:
        """Return what ``function`` says of each task, in their order.

        Parameters
        ----------
        function
            Of a module, so that workers find it by its name; the same answer whoever computes it.
        finished
            Called with each answer when it comes.

        Notes
        -----
        A task that fails because its worker died is run again, five times per task in all; what
        graphheat itself raises is raised at once.
        """
        answers: list[Any] = [None] * len(tasks)
        waiting, running = list(range(len(tasks)))[::-1], dict[Future[Any], int]()
        failures, silent = 0, 0.0
        while waiting or running:
            while waiting and len(running) < self.in_flight:
                number = waiting.pop()
                running[self._submit(function, tasks[number])] = number
            done, _ = wait(list(running), SECONDS, return_when=FIRST_COMPLETED)
            silent = 0.0 if done or self.alive() else silent + SECONDS
            if silent > PATIENCE:
                raise OutputError(GONE.format("its scheduler does not answer"))
            for future in done:
                number = running.pop(future)
                try:
                    answers[number] = future.result()
                except GraphHeatError:
                    self._give_up(running)
                    raise
                except Exception as error:
                    failures += 1
                    if failures > RETRIES * max(1, len(tasks)):
                        reason = f"{type(error).__name__}: {error}"
                        raise OutputError(GONE.format(reason)) from error
                    waiting.append(number)
                else:
                    if finished is not None:
                        finished(answers[number])
        return answers

    def _submit(self, function: Callable[[Any], Any], task: Any) -> Future[Any]:
        try:
            future: Future[Any] = self.executor.submit(perform, version(), function, task)
        except Exception as error:
            reason = f"it takes no more tasks: {type(error).__name__}: {error}"
            raise OutputError(GONE.format(reason)) from error
        return future

    @staticmethod
    def _give_up(running: dict[Future[Any], int]) -> None:
        for future in running:
            future.cancel()
