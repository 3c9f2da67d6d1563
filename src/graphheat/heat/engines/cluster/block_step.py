"""One block of one step, as a pure function of files: the task that workers run.

T_{k+1}[i] = 2 P[i] T_k − T_{k−1}[i] reads the rows i of the graph, all of T_k and the rows i of
T_{k−1}, and writes the rows i of T_{k+1} and of the sums. Every generation has files of its own, a
row has one writer at a time and its bits depend on nothing but what is read: a task that is run
twice, or that was cut off and is run again, leaves the same bytes.
"""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from graphheat.disk import DiskGraph
from graphheat.errors import GraphError, OutputError
from graphheat.heat.engines.panel.links import links_of
from graphheat.heat.laplacian import Laplacian
from graphheat.heat.operand import MappedOperand


class Step(NamedTuple):
    """What a task needs to know; small, and sent to a worker.

    Attributes
    ----------
    version
        Of graphheat: workers of another one refuse.
    graph, fingerprint
        The folder of the graph, and what identifies it.
    folder
        Where T and the sums are.
    first, last
        Places of the block.
    number
        k + 1, the generation that is written.
    width, dtype
        Numbers of a row, and their type.
    coefficients
        c_{k+1} of each series.
    laplacian
        What the steps are taken with.
    """

    version: str
    graph: str
    fingerprint: str
    folder: str
    first: int
    last: int
    number: int
    width: int
    dtype: str
    coefficients: tuple[float, ...]
    laplacian: Laplacian


class Done(NamedTuple):
    """What a task reports.

    Attributes
    ----------
    worker, number
        Who ran it, and the generation it belongs to.
    shared
        Bytes of T_k, which a worker reads once for all tasks of a generation.
    read, written
        Other bytes.
    """

    worker: str
    number: int
    shared: int
    read: int
    written: int


def take_step(step: Step) -> Done:
    """Compute one block of one generation."""
    from graphheat.heat.engines.panel import panel_loops as loops

    if step.version != version():
        raise GraphError(
            f"This worker has graphheat {version()}, and the task comes from "
            f"{step.version}. Install the same version everywhere."
        )
    links = _links(step.graph, step.fingerprint, step.laplacian, step.dtype)
    dtype = np.dtype(step.dtype)
    folder, n, width = Path(step.folder), links.n, step.width
    now = np.asarray(opened(folder, "T", step.number - 1, (n * width,), dtype, "r"))
    now = now.view(np.ndarray)
    rows = step.last - step.first
    part = slice(step.first * width, step.last * width)
    series = len(step.coefficients)
    if step.number == 1:
        after = np.zeros(rows * width, dtype=dtype)
    else:
        after = np.array(opened(folder, "T", step.number - 2, (n * width,), dtype, "r")[part])
    before = opened(folder, "sum", step.number - 1, (series, n * width), dtype, "r")
    totals = np.array(before[:, part]).ravel()
    scale = dtype.type(1 if step.number == 1 else 2)
    taken = np.array(step.coefficients, dtype=dtype)
    loops.step(
        step.first, step.last, step.first, width, links.arrays, scale, now, after, totals, taken
    )
    start = part.start * dtype.itemsize
    put(folder, "T", step.number, [(start, after)])
    whole = n * width * dtype.itemsize
    put(
        folder,
        "sum",
        step.number,
        [(e * whole + start, each) for e, each in enumerate(totals.reshape(series, -1))],
    )
    block = rows * width * dtype.itemsize
    entries = int(links.arrays.indptr[step.last] - links.arrays.indptr[step.first])
    read = (1 + series) * block + 4 * entries
    worker = f"{socket.gethostname()}:{os.getpid()}"
    return Done(worker, step.number, whole, read, (1 + series) * block)


def version() -> str:
    """Return that of the package, which is imported by whoever imports this."""
    return str(sys.modules["graphheat"].__version__)


def name_of(kind: str, number: int) -> str:
    """Return the file of a generation."""
    return f"{kind}-{number}.raw"


def opened(
    folder: Path, kind: str, number: int, shape: tuple[int, ...], dtype: Any, mode: Any
) -> Any:
    """Map the file of a generation."""
    try:
        return np.memmap(folder / name_of(kind, number), dtype, mode, shape=shape)
    except (OSError, ValueError) as error:
        file = folder / name_of(kind, number)
        raise OutputError(
            f"{file} cannot be read or written ({error}). The folder must be on storage that all "
            "workers share."
        ) from error


def put(folder: Path, kind: str, number: int, parts: Sequence[tuple[int, Any]]) -> None:
    """Write arrays at places of a generation's file; shared storage has them when it is closed."""
    file = folder / name_of(kind, number)
    try:
        with file.open("r+b") as stream:
            for place, array in parts:
                stream.seek(place)
                stream.write(np.ascontiguousarray(array).data)
    except OSError as error:
        raise OutputError(
            f"{file} cannot be written ({error.strerror}). The folder must be on storage that all "
            "workers share."
        ) from error


@lru_cache(maxsize=2)
def _links(path: str, fingerprint: str, laplacian: Laplacian, dtype: str) -> Any:
    graph = DiskGraph.open(path)
    if graph.fingerprint != fingerprint:
        raise GraphError(f"{path} is another graph on this worker than where the run was started.")
    return links_of(MappedOperand(graph, laplacian=laplacian), np.dtype(dtype))
