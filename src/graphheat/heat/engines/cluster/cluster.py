"""A cluster: steps of a diffusion as futures over block files, on whatever runs functions.

The seam is :class:`concurrent.futures.Executor`: a serial one, processes of this machine, or a Dask
client's. Tasks name files and are a few hundred bytes; what they compute stays on storage that all
workers share. So a worker that dies costs its task, a scheduler that dies costs nothing that is
written, and to resume is to see which files there are.

Dask moves pickles between machines that trust each other: whoever can reach the scheduler can run
code on its workers. graphheat itself loads no pickle from a file.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphheat.checks import check_count
from graphheat.disk import DiskGraph
from graphheat.errors import (
    GraphHeatError,
    MissingDependencyError,
    OutputError,
    ParameterError,
)
from graphheat.heat.engines.cluster.block_step import (
    Done,
    Step,
    name_of,
    opened,
    take_step,
    version,
)
from graphheat.heat.engines.panel.links import Links, links_of
from graphheat.heat.engines.panel.panel import coefficients_of, row_bytes
from graphheat.heat.laplacian import Laplacian
from graphheat.heat.operand import MappedOperand
from graphheat.heat.series import ChebyshevSeries
from graphheat.progress import Progress

BLOCKS = 16  # of a step; more where rows are many
MOST_BLOCKS = 100
BLOCK_ENTRIES = 1 << 24  # of a block, about: some tenths of a second
RETRIES = 5
SECONDS, PATIENCE = 2.0, 15.0  # between looks at a silent cluster, and until it is given up
GONE = (
    "The cluster went away ({}). What was finished is kept; run the same command again with "
    "--resume."
)
PROBED = 1000  # rows by which the columns of an interrupted diffusion are known again


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


@dataclass
class Traffic:
    """Bytes that tasks read and wrote."""

    read: int = 0
    written: int = 0
    tasks: int = 0
    readers: set[tuple[str, int]] = field(default_factory=set, repr=False)

    def add(self, done: Done) -> None:
        """Count a task; a worker reads T_k once in a step."""
        if (done.worker, done.number) not in self.readers:
            self.readers.add((done.worker, done.number))
            self.read += done.shared
        self.read += done.read
        self.written += done.written
        self.tasks += 1


@dataclass
class Cluster:
    """Diffuses columns by tasks.

    Attributes
    ----------
    executor
        Who runs them.
    folder
        Where T and the sums are kept while a diffusion is under way: on storage that all workers
        share.
    in_flight
        How many tasks are given out at a time.
    alive
        Whether whoever runs them can be reached.
    traffic
        What was read and written so far.
    """

    executor: Executor
    folder: Path
    in_flight: int = 4
    alive: Callable[[], bool] = lambda: True
    traffic: Traffic = field(default_factory=Traffic)

    def diffuse(
        self,
        graph: DiskGraph,
        columns: Callable[[int, int, slice], NDArray[Any]],
        count: int,
        series: Sequence[ChebyshevSeries],
        *,
        out: Path | None = None,
        threads: int = 1,
        progress: Progress | None = None,
        self_loops: float = 1.0,
        laplacian: Laplacian | None = None,
        strip: int = 1 << 17,
    ) -> Callable[[Any, int], NDArray[Any]]:
        """Diffuse ``count`` columns, and return what gives rows of the results.

        Parameters
        ----------
        columns
            Gives the columns of a slice in the rows first … last.
        series
            What is added up; all from one basis.
        self_loops, laplacian
            Weight of self-loops of the normalised Laplacian, or another one.

        Notes
        -----
        *Accuracy*: the bits of :class:`~graphheat.heat.engines.panel.panel.Panel`. *Cost*: order ·
        blocks tasks; every worker reads T_k once per step. *Deterministic*: yes, whoever runs the
        tasks and however often. A diffusion that was interrupted goes on with the step it was at.
        """
        dtype = series[0].dtype
        laplacian = Laplacian(self_loops=self_loops) if laplacian is None else laplacian
        links = links_of(MappedOperand(graph, laplacian=laplacian), dtype)
        widest = 256 // dtype.itemsize
        parts = [slice(a, min(a + widest, count)) for a in range(0, count, widest)]
        results = []
        for part in parts:
            width = row_bytes(part.stop - part.start, dtype) // dtype.itemsize
            place = self.folder / _name(graph, columns, part, series, laplacian)
            place.mkdir(parents=True, exist_ok=True)
            results.append(
                self._part(
                    graph, links, columns, part, width, series, place, progress, laplacian, strip
                )
            )

        def rows_of(rows: Any, e: int = 0) -> NDArray[Any]:
            return np.concatenate([found(rows, e) for found in results], axis=1)

        return rows_of

    def _part(
        self,
        graph: DiskGraph,
        links: Links,
        columns: Callable[[int, int, slice], NDArray[Any]],
        part: slice,
        width: int,
        series: Sequence[ChebyshevSeries],
        place: Path,
        progress: Progress | None,
        laplacian: Laplacian,
        strip: int,
    ) -> Callable[[Any, int], NDArray[Any]]:
        n, dtype = graph.n, series[0].dtype
        coefficients = coefficients_of(series, dtype)
        order = coefficients.shape[1] - 1
        count = int(np.clip(links.arrays.indptr[-1] // BLOCK_ENTRIES, BLOCKS, MOST_BLOCKS))
        bounds = links.bounds(max(1, int(links.arrays.indptr[-1]) // count))
        view = PlacedPanel(links, part.stop - part.start, width, dtype, len(series))
        if not (place / "begun").exists():
            self._begin(place, view, columns, part, coefficients[:, 0], strip)
        for number in range(1, order + 1):
            if (place / f"whole-{number}").exists():
                continue
            _create(place, number, n * width, len(series), dtype)
            tasks = [
                Step(
                    version(), str(Path(graph.path).resolve()), graph.fingerprint,
                    str(place), first, last, number, width, dtype.str,
                    tuple(float(c) for c in coefficients[:, number]), laplacian,
                )
                for first, last in bounds
            ]  # fmt: skip
            self._run(tasks)
            for kind in ("T", "sum"):
                _on_disk(place / name_of(kind, number))
            (place / f"whole-{number}").touch()
            for kind, old in (("T", number - 2), ("sum", number - 1)):
                (place / name_of(kind, old)).unlink(missing_ok=True)
            if progress is not None:
                progress(number, order, "steps")
        sums = opened(place, "sum", order, (len(series), n * width), dtype, "r")
        return lambda rows, e: view.rows_of(sums[e].reshape(n, width), rows)

    def _begin(
        self,
        place: Path,
        view: PlacedPanel,
        columns: Callable[[int, int, slice], NDArray[Any]],
        part: slice,
        first_coefficients: NDArray[Any],
        strip: int,
    ) -> None:
        """Write T_0 = X and the sums c_0 X."""
        n, width, series = view.links.n, view.width, len(first_coefficients)
        _create(place, 0, n * width, series, view.dtype)
        start = opened(place, "T", 0, (n * width,), view.dtype, "r+")
        for first in range(0, n, strip):
            last = min(n, first + strip)
            view.place(start.reshape(n, width), first, last, columns(first, last, part))
        start.flush()
        sums = opened(place, "sum", 0, (series, n * width), view.dtype, "r+")
        for e, c in enumerate(first_coefficients):
            sums[e] = start * c
        sums.flush()
        (place / "begun").touch()

    def _run(self, tasks: list[Step]) -> None:
        """Run all tasks, a few at a time; one that fails because its worker died is run again."""
        waiting, running = list(tasks), dict[Future[Any], Step]()
        failures, silent = 0, 0.0
        while waiting or running:
            while waiting and len(running) < self.in_flight:
                task = waiting.pop(0)
                running[self._submit(task)] = task
            done, _ = wait(list(running), SECONDS, return_when=FIRST_COMPLETED)
            silent = 0.0 if done or self.alive() else silent + SECONDS
            if silent > PATIENCE:
                raise OutputError(GONE.format("its scheduler does not answer"))
            for future in done:
                task = running.pop(future)
                try:
                    self.traffic.add(future.result())
                except GraphHeatError:
                    raise
                except Exception as error:
                    failures += 1
                    if failures > RETRIES * max(1, len(tasks)):
                        told = f"{type(error).__name__}: {error}"
                        raise OutputError(GONE.format(told)) from error
                    waiting.append(task)

    def _submit(self, task: Step) -> Future[Any]:
        try:
            future: Future[Any] = self.executor.submit(take_step, task)
        except Exception as error:
            raise OutputError(
                f"The cluster takes no more tasks ({type(error).__name__}: {error}). What was "
                "finished is kept; run the same command again with --resume."
            ) from error
        return future

    def clear(self) -> None:
        """Remove what diffusions have left."""
        shutil.rmtree(self.folder, ignore_errors=True)


class PlacedPanel:
    """Rows of a panel by their numbers, in an array that is not this object's."""

    def __init__(
        self, links: Links, columns: int, width: int, dtype: np.dtype[Any], series: int
    ) -> None:
        self.links, self.columns, self.width = links, columns, width
        self.dtype, self.series = dtype, series

    def place(self, block: Any, first: int, last: int, values: NDArray[Any]) -> None:
        """Put columns into the rows first … last."""
        places = slice(first, last) if self.links.rank is None else self.links.rank[first:last]
        roots = self.links.roots
        block[places, : self.columns] = values if roots is None else values / roots[places][:, None]

    def rows_of(self, block: Any, rows: Any) -> NDArray[Any]:
        """Return rows by their numbers, shape (k, columns)."""
        places = rows if self.links.rank is None else self.links.rank[rows]
        values: NDArray[Any] = np.asarray(block[places, : self.columns])
        roots = self.links.roots
        return values if roots is None else values * roots[places][:, None]


def _name(
    graph: DiskGraph,
    columns: Callable[[int, int, slice], NDArray[Any]],
    part: slice,
    series: Sequence[ChebyshevSeries],
    laplacian: Laplacian,
) -> str:
    """Return what identifies a diffusion: the graph, the series, and its first columns."""
    digest = hashlib.sha256(f"{graph.fingerprint} {part} {laplacian}".encode())
    for each in series:
        digest.update(each.coefficients.tobytes() + each.dtype.str.encode())
    first = columns(0, min(graph.n, PROBED), part)
    digest.update(np.ascontiguousarray(first, dtype=np.float32).tobytes())
    return digest.hexdigest()[:16]


def _on_disk(file: Path) -> None:
    """Wait until a file would outlive a loss of power."""
    with file.open("rb") as stream:
        os.fsync(stream.fileno())


def _create(place: Path, number: int, size: int, series: int, dtype: np.dtype[Any]) -> None:
    """Make the files of a generation at their full size, unless they are there."""
    for kind, count in (("T", size), ("sum", series * size)):
        file = place / name_of(kind, number)
        if not file.exists() or file.stat().st_size != count * dtype.itemsize:
            try:
                with file.open("wb") as stream:
                    stream.truncate(count * dtype.itemsize)
                    if number == 0 and hasattr(os, "posix_fallocate"):
                        # The first is written to where it is mapped: a disk that fills up then
                        # would end the process by a signal.
                        os.posix_fallocate(stream.fileno(), 0, count * dtype.itemsize)
            except OSError as error:
                raise OutputError(f"{file} cannot be made: {error.strerror}.") from error


@contextmanager
def open_cluster(
    where: Any, folder: str | os.PathLike[str] | None = None, *, in_flight: int | None = None
) -> Iterator[Cluster]:
    """Open a cluster, and close what was opened for it.

    Parameters
    ----------
    where
        ``"local:N"``: N processes here; ``"serial"``; the address of a Dask scheduler, such as
        ``"tcp://10.0.0.1:8786"``; a ``distributed.Client``; or any
        :class:`concurrent.futures.Executor`.
    folder
        On storage that all workers share; default: a temporary one on this machine.
    in_flight
        Tasks that are given out at a time; default: two per worker.

    Examples
    --------
    >>> with open_cluster("serial") as cluster:
    ...     cluster.in_flight
    2
    """
    own = folder is None
    place = Path(tempfile.mkdtemp(prefix="graphheat-")) if folder is None else Path(folder)
    place = (place / "diffusion").resolve()
    with _executor(where) as (executor, workers, alive):
        cluster = Cluster(executor, place, in_flight or 2 * workers, alive)
        yield cluster
    cluster.clear()
    if own:
        shutil.rmtree(place.parent, ignore_errors=True)


@contextmanager
def _executor(where: Any) -> Iterator[tuple[Executor, int, Callable[[], bool]]]:
    if isinstance(where, Executor):
        yield where, int(getattr(where, "_max_workers", 1)), _always
        return
    if where == "serial":
        yield SerialExecutor(), 1, _always
        return
    if isinstance(where, str) and where.startswith("local:"):
        text = where.removeprefix("local:")
        if not text.isdigit():
            raise ParameterError(f"A local cluster is local:N, such as local:2; got {where!r}.")
        workers = check_count(int(text), "N", "local:N")
        import multiprocessing

        context = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(workers, mp_context=context) as pool:
            yield pool, workers, _always
        return
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
        workers = max(1, len(client.scheduler_info(n_workers=-1)["workers"]))
        executor = client.get_executor(pure=False, retries=RETRIES)
        yield executor, workers, lambda: bool(client.status == "running")
    finally:
        if opened_here:
            client.close()


def _always() -> bool:
    return True


def _client(address: str) -> Any:
    import distributed

    make: Any = distributed.Client
    return make(address, timeout=20)


cluster = open_cluster  # graphheat.cluster
