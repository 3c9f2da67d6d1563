"""Label every node of a graph on disk: one diffusion of the narrow side, then strip by strip."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from graphheat.disk import DiskGraph
from graphheat.disk.array_folder import new_array
from graphheat.graph import Graph, Split
from graphheat.heat.engines.cluster.cluster import Cluster
from graphheat.heat.engines.panel.links import Links, links_of
from graphheat.heat.engines.panel.panel import Panel, kept_tiles, widest
from graphheat.heat.engines.panel.tiles import Tiles
from graphheat.heat.operand import MappedOperand
from graphheat.heat.series import DOUBLE, SINGLE, HeatSeries, heat_series
from graphheat.io.atomic import replacing
from graphheat.linear.diffusion import SELF_LOOPS
from graphheat.linear.disk_model import SpreadingModel
from graphheat.linear.label_strip import Answers, LabelStrip, joined_bits, write_labels
from graphheat.linear.labelling_time import alignments, choose_time, longer_times
from graphheat.linear.model_columns import ModelColumns
from graphheat.linear.narrow_model import NarrowModel
from graphheat.linear.row_diffusion import SPREAD_TOL, ScaledFeatures
from graphheat.memory import available_memory
from graphheat.progress import Progress

PROBABILITIES = "probabilities.npy"
ROOM = 0.6  # of the memory that is left, which panels may take


# Gives the columns of a slice in the rows first … last, shape (last − first, columns).
Fill = Callable[[int, int, slice], NDArray[Any]]
# Gives rows first … last of a result, or chosen ones, of one series.
Heat = Callable[[Any, int], NDArray[Any]]


class Labels(NamedTuple):
    """What all nodes were given.

    Attributes
    ----------
    probabilities, reached
        Shapes (n, c) and (n,).
    model
        The model at the time that was taken.
    note
        A sentence on that choice.
    """

    probabilities: NDArray[np.float32]
    reached: NDArray[np.bool_]
    model: NarrowModel | SpreadingModel
    note: str


def label_nodes(
    graph: Graph | DiskGraph,
    model: NarrowModel,
    split: Split,
    *,
    longer: bool = True,
    out: Path | None = None,
    name: str = PROBABILITIES,
    threads: int = 1,
    progress: Progress | None = None,
    diffuse: Any = None,
    cluster: Cluster | None = None,
) -> Labels:
    """Return class probabilities of every node, by one diffusion of features times weights.

    Parameters
    ----------
    split
        Training labels, and those by which a time is chosen.
    longer
        Whether longer times than that of the training rows are tried, from the same basis: rows
        must account for most of the heat, all nodes at once need not. Validation labels choose, or
        training labels where there are few.
    out
        Folder for what grows with nodes: probabilities are then mapped, and panels kept as they
        finish, so that a killed labelling goes on. None: all in memory.
    name
        The file of the probabilities there.
    diffuse
        What diffuses columns, as :func:`in_panels` does; default: that, or the cluster.
    cluster
        Who computes XΘ, diffuses it and, where there is ``out``, labels; None: this process.

    Notes
    -----
    *Accuracy*: heat to 1e-3 of a column's length, proven. *Cost*: two passes over the features (one
    where the model keeps no share of a node's own), and for each panel as many passes over the
    edges as the longest series has terms. *Deterministic*: yes, for any number of threads, and on
    a cluster.
    """
    columns = ModelColumns(graph, model, np.sort(split.train))
    strips = list(ScaledFeatures.ranges(graph))
    times = [model.s, *(t for t in longer_times(model.s) if longer)]
    how: Any = diffuse or in_panels
    if cluster is not None:
        how = partial(cluster.diffuse, strips=strips)
    heat: Heat = how(
        graph, columns, columns.width + 2, series_of(graph, times), out=out, threads=threads,
        progress=progress,
    )  # fmt: skip
    answers = Answers(columns, heat)
    aligned = alignments(graph.n, len(times), answers.diffused)

    def logits(rows: Any, e: int) -> NDArray[np.float64]:
        return model.logits(aligned[e](answers.diffused(rows, e)))

    best, sharpness, note = choose_time(graph.labels, split, times, logits)
    probabilities = new_probabilities(graph, out, name)
    chosen = best, aligned[best], sharpness
    if cluster is not None and out is not None:
        stored, file = columns.shared(cluster.folder), str((out / name).resolve())
        tasks = [
            LabelStrip(stored, heat, *chosen, first, last, file, probabilities.offset)
            for first, last in strips
        ]
        reached = joined_bits(cluster.run(write_labels, tasks), strips)
        probabilities = np.load(out / name, mmap_mode="r+", allow_pickle=False)
    else:
        reached = np.empty(graph.n, dtype=np.bool_)
        for first, last in strips:
            rows = slice(first, last)
            probabilities[rows], reached[rows] = answers.labels(rows, *chosen)
            if progress is not None:
                progress(last, graph.n, "nodes labelled")
        if out is not None:
            probabilities.flush()
    taken = model.retimed(times[best], sharpness, aligned[best])
    return Labels(probabilities, reached, taken, note)


def new_probabilities(graph: Graph | DiskGraph, out: Path | None, name: str) -> Any:
    """Return an array for the probabilities of all nodes, mapped where there is a folder."""
    shape = graph.n, len(graph.classes)
    if out is None:
        return np.empty(shape, dtype=np.float32)
    return new_array(out / name, shape, np.float32)


def series_of(graph: Graph | DiskGraph, times: list[float]) -> list[HeatSeries]:
    """Return the series of several times, in the precision that all of them can have."""
    longest = (
        graph.longest_row
        if isinstance(graph, DiskGraph)
        else int(np.diff(graph.adjacency.indptr).max(initial=0))
    )
    made = [heat_series(t, SPREAD_TOL, longest + 1) for t in times]
    single = all(each.dtype == SINGLE or each.order == 0 for each in made)
    return [replace(each, dtype=SINGLE if single else DOUBLE) for each in made]


def in_panels(
    graph: DiskGraph,
    columns: Fill,
    count: int,
    series: list[HeatSeries],
    *,
    out: Path | None = None,
    threads: int = 1,
    progress: Progress | None = None,
) -> Heat:
    """Diffuse ``count`` columns, and return what gives rows of the results.

    One panel stays where it is. Several are written to ``heat.npy`` in ``out`` as they finish.
    """
    operand = operand_of(graph)
    dtype = series[0].dtype
    links = links_of(operand, dtype)
    tiles = kept_tiles(operand, links, min(count, _fitting(graph.n, series)), threads)
    most = _fitting(graph.n, series)  # beside the tiles
    strips = list(ScaledFeatures.ranges(graph))
    if count <= most:
        panel = _filled(links, tiles, columns, slice(0, count), series, strips)
        panel.run(series, threads=threads, progress=progress)
        return panel.rows
    shape = len(series), graph.n, count
    kept: Any = np.empty(shape, dtype) if out is None else None
    done: list[int] = []
    notes = None if out is None else out / "panels.json"
    if notes is not None and out is not None:
        found = _begun(notes, out / "heat.npy", shape, dtype)
        done, kept = ([], new_array(out / "heat.npy", shape, dtype)) if found is None else found
    for a in range(0, count, most):
        part = slice(a, min(a + most, count))
        if a not in done:
            panel = _filled(links, tiles, columns, part, series, strips)
            panel.run(series, threads=threads, progress=progress)
            for first, last in strips:
                for e in range(len(series)):
                    kept[e, first:last, part] = panel.rows(slice(first, last), e)
            done.append(a)
            if notes is not None:
                kept.flush()
                with replacing(notes) as aside:
                    aside.write_text(json.dumps(done))
    return lambda rows, e: kept[e, rows]


def _fitting(n: int, series: list[HeatSeries]) -> int:
    room = available_memory()
    return widest(n, series[0].dtype, len(series), None if room is None else int(ROOM * room))


def _begun(
    notes: Path, file: Path, shape: tuple[int, ...], dtype: Any
) -> tuple[list[int], Any] | None:
    """Return the panels that an interrupted labelling has done; None where there are none."""
    try:
        done = json.loads(notes.read_text())
        kept = np.load(file, mmap_mode="r+", allow_pickle=False)
    except (OSError, ValueError, EOFError, RecursionError):
        return None
    plain = isinstance(done, list) and all(isinstance(each, int) for each in done)
    return (done, kept) if plain and kept.shape == shape and kept.dtype == dtype else None


_OPERANDS: WeakKeyDictionary[DiskGraph, MappedOperand] = WeakKeyDictionary()


def operand_of(graph: DiskGraph) -> MappedOperand:
    """Return the operand that stages of a fit share, and with it the order of its entries."""
    if graph not in _OPERANDS:
        _OPERANDS[graph] = MappedOperand(graph, self_loops=SELF_LOOPS)
    return _OPERANDS[graph]


def _filled(
    links: Links,
    tiles: Tiles | None,
    columns: Fill,
    part: slice,
    series: list[HeatSeries],
    strips: list[tuple[int, int]],
) -> Panel:
    panel = Panel(links, part.stop - part.start, series[0].dtype, len(series), tiles)
    for first, last in strips:
        panel.fill(first, last, columns(first, last, part))
    return panel
