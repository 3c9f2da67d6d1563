"""Who runs tasks: this process, processes of this machine, or the workers of a Dask scheduler.

Dask moves pickles between machines that trust each other: whoever can reach the scheduler can run
code on its workers. graphheat itself loads no pickle from a file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from contextlib import contextmanager
from typing import Any

from graphheat.checks import check_count
from graphheat.errors import GraphError, MissingDependencyError, OutputError, ParameterError
from graphheat.heat.engines.cluster.task_pool import RETRIES, TaskPool, version


class SerialExecutor(Executor):
    """Runs what it is given, at once and here."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Return a future that is done."""
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except BaseException as error:
            future.set_exception(error)
        return future


@contextmanager
def open_pool(where: Any, in_flight: int | None = None) -> Iterator[TaskPool]:
    """Open what ``where`` names, and close what was opened for it.

    Parameters
    ----------
    where
        ``"serial"``, ``"local:N"``, an address, a ``distributed.Client`` or an
        :class:`concurrent.futures.Executor`.
    in_flight
        Tasks that are given out at a time; default: two per worker.
    """
    if isinstance(where, Executor):
        yield TaskPool(where, in_flight or 2 * int(getattr(where, "_max_workers", 1)))
    elif where == "serial":
        yield TaskPool(SerialExecutor(), in_flight or 2)
    elif isinstance(where, str) and where.startswith("local:"):
        text = where.removeprefix("local:")
        if not text.isdigit():
            raise ParameterError(f"A local cluster is local:N, such as local:2; got {where!r}.")
        workers = check_count(int(text), "N", "local:N")
        import multiprocessing

        context = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(workers, mp_context=context) as pool:
            yield TaskPool(pool, in_flight or 2 * workers)
    else:
        with _dask_pool(where, in_flight) as tasks:
            yield tasks


@contextmanager
def _dask_pool(where: Any, in_flight: int | None) -> Iterator[TaskPool]:
    try:
        import distributed
    except ImportError as error:
        raise MissingDependencyError(
            "A cluster needs Dask: pip install 'graphheat[big]'."
        ) from error
    client, opened_here = where, False
    if isinstance(where, str):
        try:
            client, opened_here = _client(where), True
        except (OSError, TimeoutError, ValueError) as error:
            raise OutputError(
                f"There is no Dask scheduler at {where} ({type(error).__name__}: {error})."
            ) from error
    elif not isinstance(where, distributed.Client):
        raise ParameterError(
            "A cluster is an address, local:N, a Dask client or an Executor. Got "
            f"{where!r} instead."
        )
    try:
        check_versions(client)
        workers = max(1, len(client.scheduler_info(n_workers=-1)["workers"]))
        executor = client.get_executor(pure=False, retries=RETRIES)
        yield TaskPool(executor, in_flight or 2 * workers, lambda: bool(client.status == "running"))
    finally:
        if opened_here:
            client.close()


def check_versions(client: Any) -> None:
    """Raise where a worker of a Dask client has another graphheat, or none.

    A worker that comes later is asked by its tasks.
    """

    def installed() -> str:  # sent as it is, so that a worker needs nothing to run it
        from importlib import import_module

        try:
            return str(import_module("graphheat").__version__)
        except ImportError:
            return "none"

    for address, found in sorted(client.run(installed).items()):
        if found != version():
            has = "no graphheat" if found == "none" else f"graphheat {found}"
            raise GraphError(
                f"The worker {address} has {has}, and this is {version()}. Install the same "
                "version everywhere."
            )


def _client(address: str) -> Any:
    import distributed

    make: Any = distributed.Client
    return make(address, timeout=20)
