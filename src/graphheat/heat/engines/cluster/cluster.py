"""A cluster: the heavy steps of a fit as futures over block files, on whatever runs functions.

The seam is :class:`concurrent.futures.Executor`: a serial one, processes of this machine, or a Dask
client's (:mod:`~graphheat.heat.engines.cluster.executors`). Tasks name files and are a few hundred
bytes; what they compute stays on storage that all workers share. So a worker that dies costs its
task, a scheduler that dies costs nothing that is written, and to resume is to see which files there
are.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphheat.disk import DiskGraph
from graphheat.heat.engines.cluster.block_files import create, name_of, on_disk, put
from graphheat.heat.engines.cluster.block_heat import BlockHeat
from graphheat.heat.engines.cluster.block_step import Diffused, Start, Step, take_start, take_step
from graphheat.heat.engines.cluster.executors import open_pool
from graphheat.heat.engines.cluster.task_pool import TaskPool
from graphheat.heat.engines.cluster.traffic import Traffic
from graphheat.heat.engines.panel.panel import coefficients_of, row_bytes, strips_of
from graphheat.heat.laplacian import Laplacian
from graphheat.heat.series import ChebyshevSeries
from graphheat.progress import Progress

BLOCKS = 16  # of a step; more where rows are many
MOST_BLOCKS = 100
BLOCK_ENTRIES = 1 << 24  # of a block, about: some tenths of a second
PROBED = 1000  # rows by which the columns of an interrupted diffusion are known again


class ColumnStrip(NamedTuple):
    """Rows first … last of the columns that are to be diffused, and the file that they go to."""

    columns: Any
    first: int
    last: int
    part: tuple[int, int]
    file: str


def write_strip(task: ColumnStrip) -> None:
    """Compute some rows of the columns, and write them in the order of the node table."""
    values = task.columns(task.first, task.last, slice(*task.part))
    put(Path(task.file), [(task.first * values.itemsize * values.shape[1], values)])


@dataclass
class Cluster:
    """Diffuses columns by tasks, and has whatever else is asked for done by them.

    Attributes
    ----------
    pool
        Who runs them.
    folder
        Where T and the sums are kept while a diffusion is under way: on storage that all workers
        share.
    traffic
        What was read and written so far.
    """

    pool: TaskPool
    folder: Path
    traffic: Traffic = field(default_factory=Traffic)

    def run(self, function: Callable[[Any], Any], tasks: Sequence[Any]) -> list[Any]:
        """Return what ``function`` says of each task, in their order; see :class:`TaskPool`."""
        self.traffic.tasks += len(tasks)
        return self.pool.run(function, tasks)

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
        strips: Sequence[tuple[int, int]] | None = None,
    ) -> BlockHeat:
        """Diffuse ``count`` columns, and return what gives rows of the results.

        Parameters
        ----------
        columns
            Gives the columns of a slice in the rows first … last. Where it has a method
            ``shared(folder)``, workers compute them by what that returns; else this process does.
        series
            What is added up; all from one basis.
        self_loops, laplacian
            Weight of self-loops of the normalised Laplacian, or another one.
        strips
            Rows that ``columns`` is asked for at a time.

        Notes
        -----
        *Accuracy*: the bits of :class:`~graphheat.heat.engines.panel.panel.Panel`. *Cost*: order ·
        blocks tasks; every worker reads T_k once per step. *Deterministic*: yes, whoever runs the
        tasks and however often. A diffusion that was interrupted goes on with the step it was at.
        """
        dtype = series[0].dtype
        laplacian = Laplacian(self_loops=self_loops) if laplacian is None else laplacian
        widest = 256 // dtype.itemsize
        given = list(strips_of(graph.n) if strips is None else strips)
        coefficients = coefficients_of(series, dtype)
        parts = []
        for a in range(0, count, widest):
            part = slice(a, min(a + widest, count))
            probe = columns(0, min(graph.n, PROBED), part)
            place = self.folder / _name(graph, probe, part, series, laplacian)
            place.mkdir(parents=True, exist_ok=True)
            width = row_bytes(part.stop - a, dtype) // dtype.itemsize
            of = Diffused(
                str(Path(graph.path).resolve()), graph.fingerprint, laplacian, str(place),
                part.stop - a, width, dtype.str,
            )  # fmt: skip
            links = of.links()
            count_of = int(np.clip(links.arrays.indptr[-1] // BLOCK_ENTRIES, BLOCKS, MOST_BLOCKS))
            bounds = links.bounds(max(1, int(links.arrays.indptr[-1]) // count_of))
            if not (place / "begun").exists():
                self._begin(of, graph.n, columns, part, probe.dtype, given, bounds, coefficients)
            self._go(of, graph.n, bounds, coefficients, progress)
            parts.append(of)
        return BlockHeat(tuple(parts), coefficients.shape[1] - 1, len(series))

    def _begin(
        self,
        of: Diffused,
        n: int,
        columns: Any,
        part: slice,
        source: np.dtype[Any],
        strips: list[tuple[int, int]],
        bounds: list[tuple[int, int]],
        coefficients: NDArray[Any],
    ) -> None:
        """Write T_0 and the sums c_0 T_0: rows of X first, as they come, then by place."""
        folder = Path(of.folder)
        file = folder / name_of("X", 0)
        create(file, n * of.columns * source.itemsize)
        here = (part.start, part.stop)
        shared = getattr(columns, "shared", None)
        sent = columns if shared is None else shared(self.folder)
        tasks = [ColumnStrip(sent, first, last, here, str(file)) for first, last in strips]
        if shared is None:
            for task in tasks:
                write_strip(task)
        else:
            self.run(write_strip, tasks)
        _create(folder, 0, n * of.width, len(coefficients), np.dtype(of.dtype))
        first_ones = tuple(float(c) for c in coefficients[:, 0])
        self.run(take_start, [Start(of, *each, source.str, first_ones) for each in bounds])
        (folder / "begun").touch()
        file.unlink()

    def _go(
        self,
        of: Diffused,
        n: int,
        bounds: list[tuple[int, int]],
        coefficients: NDArray[Any],
        progress: Progress | None,
    ) -> None:
        """Take the steps that are not there yet.

        While workers are at one, the files of the one before are brought to the disk; a step is
        noted when they are there, and what only an earlier one needs is removed then.
        """
        folder, dtype = Path(of.folder), np.dtype(of.dtype)
        order = coefficients.shape[1] - 1
        with ThreadPoolExecutor(1) as settling:
            settled: Future[None] | None = None
            for number in range(1, order + 1):
                if (folder / f"whole-{number}").exists():
                    continue
                _create(folder, number, n * of.width, len(coefficients), dtype)
                taken = tuple(float(c) for c in coefficients[:, number])
                tasks = [Step(of, first, last, number, taken) for first, last in bounds]
                self.traffic.tasks += len(tasks)
                self.pool.run(take_step, tasks, self.traffic.add)
                if settled is not None:
                    settled.result()
                settled = settling.submit(_settle, folder, number)
                if progress is not None:
                    progress(number, order, "steps")
            if settled is not None:
                settled.result()

    def clear(self) -> None:
        """Remove what diffusions have left."""
        shutil.rmtree(self.folder, ignore_errors=True)


def _settle(folder: Path, number: int) -> None:
    """Note that a step is whole once its files are on the disk, and remove what it replaces."""
    for kind in ("T", "sum"):
        on_disk(folder / name_of(kind, number))
    (folder / f"whole-{number}").touch()
    for kind, old in (("T", number - 2), ("sum", number - 1)):
        (folder / name_of(kind, old)).unlink(missing_ok=True)


def _name(
    graph: DiskGraph,
    first_rows: NDArray[Any],
    part: slice,
    series: Sequence[ChebyshevSeries],
    laplacian: Laplacian,
) -> str:
    """Return what identifies a diffusion: the graph, the series, and its first columns."""
    digest = hashlib.sha256(f"{graph.fingerprint} {part} {laplacian}".encode())
    for each in series:
        digest.update(each.coefficients.tobytes() + each.dtype.str.encode())
    digest.update(np.ascontiguousarray(first_rows, dtype=np.float32).tobytes())
    return digest.hexdigest()[:16]


def _create(folder: Path, number: int, size: int, series: int, dtype: np.dtype[Any]) -> None:
    """Make the files of a generation at their full size, unless they are there."""
    create(folder / name_of("T", number), size * dtype.itemsize)
    create(folder / name_of("sum", number), series * size * dtype.itemsize)


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
    ...     cluster.pool.in_flight
    2
    """
    own = folder is None
    place = Path(tempfile.mkdtemp(prefix="graphheat-")) if folder is None else Path(folder)
    place = (place / "diffusion").resolve()
    with open_pool(where, in_flight) as pool:
        cluster = Cluster(pool, place)
        yield cluster
    cluster.clear()
    if own:
        shutil.rmtree(place.parent, ignore_errors=True)


cluster = open_cluster  # graphheat.cluster
