"""The tasks of a diffusion, as pure functions of files: a block of T_0, and a block of one step.

T_{k+1}[i] = 2 P[i] T_k − T_{k−1}[i] reads the rows i of the graph, all of T_k and the rows i of
T_{k−1}, and writes the rows i of T_{k+1} and of the sums. Every generation has files of its own, a
row has one writer at a time and its bits depend on nothing but what is read: a task that is run
twice, or that was cut off and is run again, leaves the same bytes.
"""

from __future__ import annotations

import os
import socket
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from graphheat.disk import DiskGraph
from graphheat.errors import GraphError
from graphheat.heat.engines.cluster.block_files import name_of, opened, put
from graphheat.heat.engines.cluster.traffic import Done
from graphheat.heat.engines.panel.links import Links, links_of
from graphheat.heat.laplacian import Laplacian
from graphheat.heat.operand import MappedOperand


class Diffused(NamedTuple):
    """What is diffused, as all tasks of it know it; small, and sent to a worker.

    Attributes
    ----------
    graph, fingerprint
        The folder of the graph, and what identifies it.
    laplacian
        What the steps are taken with.
    folder
        Where T and the sums are.
    columns, width, dtype
        Columns, numbers of a row, and their type.
    """

    graph: str
    fingerprint: str
    laplacian: Laplacian
    folder: str
    columns: int
    width: int
    dtype: str

    def links(self) -> Links:
        """Return the graph as loops take it, opened once per process."""
        return _links(self.graph, self.fingerprint, self.laplacian, self.dtype)


class Start(NamedTuple):
    """A block of T_0 = D^{-1/2} X and of the sums, from rows of X in the order of the node table.

    Attributes
    ----------
    first, last
        Places of the block.
    source
        The type of X as it was written.
    coefficients
        c_0 of each series.
    """

    of: Diffused
    first: int
    last: int
    source: str
    coefficients: tuple[float, ...]


class Step(NamedTuple):
    """A block of one step.

    Attributes
    ----------
    first, last
        Places of the block.
    number
        k + 1, the generation that is written.
    coefficients
        c_{k+1} of each series.
    """

    of: Diffused
    first: int
    last: int
    number: int
    coefficients: tuple[float, ...]


def take_start(task: Start) -> None:
    """Compute one block of T_0 and of the first sums."""
    links, dtype = task.of.links(), np.dtype(task.of.dtype)
    folder, width, columns = Path(task.of.folder), task.of.width, task.of.columns
    given = opened(folder, "X", 0, (links.n, columns), np.dtype(task.source))
    rows: Any = slice(task.first, task.last)
    if links.rank is not None:
        graph = graph_at(task.of.graph, task.of.fingerprint)
        assert graph.order is not None
        rows = np.asarray(graph.order[task.first : task.last])
    values = np.asarray(given[rows])
    if links.roots is not None:
        values = values / links.roots[task.first : task.last][:, None]
    block = np.zeros((task.last - task.first, width), dtype=dtype)
    block[:, :columns] = values
    start, whole = task.first * width * dtype.itemsize, links.n * width * dtype.itemsize
    put(folder / name_of("T", 0), [(start, block)])
    sums = [(e * whole + start, block * dtype.type(c)) for e, c in enumerate(task.coefficients)]
    put(folder / name_of("sum", 0), sums)


def take_step(step: Step) -> Done:
    """Compute one block of one generation."""
    from graphheat.heat.engines.panel import panel_loops as loops

    links, dtype = step.of.links(), np.dtype(step.of.dtype)
    folder, n, width = Path(step.of.folder), links.n, step.of.width
    now = np.asarray(opened(folder, "T", step.number - 1, (n * width,), dtype))
    now = now.view(np.ndarray)
    rows = step.last - step.first
    part = slice(step.first * width, step.last * width)
    series = len(step.coefficients)
    if step.number == 1:
        after = np.zeros(rows * width, dtype=dtype)
    else:
        after = np.array(opened(folder, "T", step.number - 2, (n * width,), dtype)[part])
    before = opened(folder, "sum", step.number - 1, (series, n * width), dtype)
    totals = np.array(before[:, part]).ravel()
    scale = dtype.type(1 if step.number == 1 else 2)
    taken = np.array(step.coefficients, dtype=dtype)
    loops.step(
        step.first, step.last, step.first, width, links.arrays, scale, now, after, totals, taken
    )
    start, whole = part.start * dtype.itemsize, n * width * dtype.itemsize
    put(folder / name_of("T", step.number), [(start, after)])
    sums = [(e * whole + start, each) for e, each in enumerate(totals.reshape(series, -1))]
    put(folder / name_of("sum", step.number), sums)
    block = rows * width * dtype.itemsize
    entries = int(links.arrays.indptr[step.last] - links.arrays.indptr[step.first])
    read = (1 + series) * block + 4 * entries
    worker = f"{socket.gethostname()}:{os.getpid()}"
    return Done(worker, step.number, whole, read, (1 + series) * block)


@lru_cache(maxsize=2)
def graph_at(path: str, fingerprint: str) -> DiskGraph:
    """Return the graph of a folder, opened once per process; raise where it is another one."""
    graph = DiskGraph.open(path)
    if graph.fingerprint != fingerprint:
        raise GraphError(f"{path} is another graph on this worker than where the run was started.")
    return graph


@lru_cache(maxsize=2)
def _links(path: str, fingerprint: str, laplacian: Laplacian, dtype: str) -> Links:
    graph = graph_at(path, fingerprint)
    return links_of(MappedOperand(graph, laplacian=laplacian), np.dtype(dtype))
