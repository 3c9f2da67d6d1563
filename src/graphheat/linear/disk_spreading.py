"""Label spreading on a graph on disk: labels alone, a diffusion of as many columns as classes.

As :mod:`graphheat.linear.spreading`, but for the choice of s. In memory every label is judged by
all others, which takes a column per label. Here heat goes from one time to the next, e^{-(s+t)L} =
e^{-tL} e^{-sL}, and validation labels judge; without any the labels are dealt into two halves, of
which each judges the other.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from graphheat.disk import DiskGraph
from graphheat.graph import Split
from graphheat.heat.engines.cluster.cluster import Cluster
from graphheat.heat.series import heat_series
from graphheat.linear.disk_model import SpreadingModel
from graphheat.linear.grid import sharpness_of
from graphheat.linear.label_strip import joined_bits, put_rows
from graphheat.linear.labelling import PROBABILITIES, Labels, in_panels, new_probabilities
from graphheat.linear.labelling_time import LEAST_JUDGES, MOST_JUDGES
from graphheat.linear.ridge import one_hot
from graphheat.linear.row_diffusion import ScaledFeatures
from graphheat.linear.spreading import DEFAULT_S, TRACE
from graphheat.progress import Progress
from graphheat.runs import checkpoint as files

TIMES = (1.0, 3.0, 10.0, 30.0)
TOL = 1e-6  # of each piece of time
HALVES = 2


class Spread(NamedTuple):
    """Labels of all nodes, and what training labels were told by the other half.

    Attributes
    ----------
    labels
        Probabilities, model and note.
    train, left_out
        Training nodes in rising order, and logits by labels of the other half, shape (m, c); empty
        where validation labels judge.
    """

    labels: Labels
    train: NDArray[np.int64]
    left_out: NDArray[np.float64]


class _Judges(NamedTuple):
    """Nodes whose labels choose, what those are, and which columns of heat count for each."""

    nodes: NDArray[np.int64]
    codes: NDArray[np.int64]
    halves: NDArray[np.int64] | None  # None: all columns count

    def heat(self, rows: NDArray[Any], classes: int) -> NDArray[np.float64]:
        """Return the heat by class that may judge, shape (k, c)."""
        parts = np.maximum(rows.astype(np.float64), 0.0).reshape(len(rows), -1, classes)
        if self.halves is None:
            return np.asarray(parts.sum(axis=1))
        return np.asarray(parts[np.arange(len(rows)), 1 - self.halves])


def spread_nodes(
    graph: DiskGraph,
    split: Split,
    s: float | Literal["auto"] = "auto",
    *,
    seed: int = 0,
    out: Path | None = None,
    name: str = PROBABILITIES,
    threads: int = 1,
    progress: Progress | None = None,
    cluster: Cluster | None = None,
) -> Spread:
    """Spread the training labels over a graph on disk.

    Parameters are those of :func:`graphheat.linear.labelling.label_nodes`.

    Notes
    -----
    *Accuracy*: of heat, 1e-6 per time that was tried. *Cost*: a diffusion of as many columns as
    there are classes (twice that without validation labels), over 1, 3, 10, 30 until labels become
    less likely. *Deterministic*: for a seed. *Isolated nodes*: get the classes' shares among the
    labels.
    """
    train, classes = np.sort(split.train), len(graph.classes)
    codes = np.asarray(graph.labels[train], dtype=np.int64)
    truth = one_hot(codes, classes)
    prior = (truth.sum(axis=0) + 1e-3) / (len(train) + 1e-3 * classes)
    by_val = len(split.val) >= LEAST_JUDGES
    halves = np.zeros(len(train), dtype=np.int64) if by_val else _halves(codes, seed)
    judges = _judges(graph, split, train, codes, halves if not by_val else None)
    columns = np.zeros((len(train), 1 if by_val else HALVES, classes), dtype=np.float32)
    columns[np.arange(len(train)), halves] = truth
    start = _Start(train, columns.reshape(len(train), -1))
    times = TIMES if s == "auto" else (float(s),)
    state: Any = start
    strips = list(ScaledFeatures.ranges(graph))
    how: Any = in_panels if cluster is None else partial(cluster.diffuse, strips=strips)
    tried: list[tuple[float, float, NDArray[np.float64], Any]] = []  # loss, γ, floor, heat
    reached_time, losses = 0.0, []
    for time in times:
        series = heat_series(time - reached_time, TOL, graph.longest_row + 1)
        heat = how(
            graph, state, start.width, [series], out=None, threads=threads, progress=progress
        )
        here = np.asarray(heat(train, 0)).reshape(len(train), -1, classes)
        own = float(here[np.arange(len(train)), halves, codes].mean())
        floor = TRACE * max(own, 1e-30) * prior
        rows = np.log(judges.heat(np.asarray(heat(judges.nodes, 0)), classes) + floor)
        sharpness, loss = (1.0, 0.0) if not len(rows) else sharpness_of(rows, judges.codes)
        losses.append(loss)
        if tried and loss >= tried[-1][0]:
            break  # longer ones are worse still, and cost the more
        tried = [(loss, sharpness, floor, heat)]
        found, reached_time, state = time, time, _Going(heat)
        if not len(rows) and time >= DEFAULT_S:
            break
    _, sharpness, floor, heat = tried[-1]
    model = SpreadingModel(found, sharpness, floor)
    probabilities = new_probabilities(graph, out, name)
    if cluster is not None and out is not None:
        file = str((out / name).resolve())
        tasks = [_Strip(model, heat, a, b, file, probabilities.offset) for a, b in strips]
        reached = joined_bits(cluster.run(_write_strip, tasks), strips)
        probabilities = np.load(out / name, mmap_mode="r+", allow_pickle=False)
    else:
        reached = np.empty(graph.n, dtype=np.bool_)
        for a, b in strips:
            probabilities[a:b], reached[a:b] = _said(model, heat, a, b)
        if out is not None:
            probabilities.flush()
    left_out = np.empty((0, classes))
    if judges.halves is not None and len(judges.nodes):
        left_out = model.logits(judges.heat(np.asarray(heat(judges.nodes, 0)), classes))
    note = ""
    if s == "auto":
        which = "validation labels" if by_val else "labels of the other half"
        note = f"Labels are spread for s = {found:g}, by which {which} are most likely."
        if not len(judges.nodes):
            note = f"No class has two labels, so none can be spared to choose by: s = {found:g}."
    return Spread(Labels(probabilities, reached, model, note), judges.nodes, left_out)


class _Strip(NamedTuple):
    """Rows to label, as :class:`~graphheat.linear.label_strip.LabelStrip` has them."""

    model: SpreadingModel
    heat: Any
    first: int
    last: int
    file: str
    offset: int


def _write_strip(task: _Strip) -> NDArray[np.uint8]:
    probabilities, reached = _said(task.model, task.heat, task.first, task.last)
    put_rows(Path(task.file), task.offset, task.first, probabilities)
    return np.packbits(reached)


def _said(
    model: SpreadingModel, heat: Any, first: int, last: int
) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    """Return probabilities of the rows first … last, and which of them are reached."""
    part = np.asarray(heat(slice(first, last), 0), dtype=np.float64)
    total = np.maximum(part, 0.0).reshape(last - first, -1, len(model.floor)).sum(axis=1)
    probabilities = softmax(model.logits(total), axis=1).astype(np.float32)
    return probabilities, total.sum(axis=1) >= model.floor.sum()


class _Start(NamedTuple):
    """One at each training node, in the column of its class and half."""

    train: NDArray[np.int64]
    columns: NDArray[np.float32]

    @property
    def width(self) -> int:
        return int(self.columns.shape[1])

    def __call__(self, first: int, last: int, part: slice) -> NDArray[np.float32]:
        block = np.zeros((last - first, self.width), dtype=np.float32)
        a, b = np.searchsorted(self.train, [first, last])
        block[self.train[a:b] - first] = self.columns[a:b]
        return block[:, part]

    def shared(self, folder: Path) -> _StoredStart:
        """Write the labels where workers find them."""
        folder.mkdir(parents=True, exist_ok=True)
        digest = hashlib.sha256(self.train.tobytes() + self.columns.tobytes()).hexdigest()[:16]
        file = folder / f"labels-{digest}.safetensors"
        files.write(file, {}, {"train": self.train, "columns": self.columns})
        return _StoredStart(str(file))


class _StoredStart(NamedTuple):
    """The same by its file; small, and sent to workers."""

    file: str

    def __call__(self, first: int, last: int, part: slice) -> NDArray[np.float32]:
        return _start_at(self.file)(first, last, part)


@lru_cache(maxsize=2)
def _start_at(file: str) -> _Start:
    return _Start(**files.read(file)[1])


class _Going(NamedTuple):
    """Heat of the time before."""

    heat: Any

    def __call__(self, first: int, last: int, part: slice) -> NDArray[Any]:
        return np.asarray(self.heat(slice(first, last), 0))[:, part]

    def shared(self, folder: Path) -> _Going:
        """Return itself: that heat is in files already."""
        return self


def _halves(codes: NDArray[np.int64], seed: int) -> NDArray[np.int64]:
    """Deal the labels of each class into two halves, shape (m,)."""
    halves = np.zeros(len(codes), dtype=np.int64)
    random = np.random.default_rng(seed)
    for code in np.unique(codes):
        members = random.permutation(np.flatnonzero(codes == code))
        halves[members] = np.arange(len(members)) % HALVES
    return halves


def _judges(
    graph: DiskGraph,
    split: Split,
    train: NDArray[np.int64],
    codes: NDArray[np.int64],
    halves: NDArray[np.int64] | None,
) -> _Judges:
    if halves is None:
        nodes = np.sort(split.val)
        if len(nodes) > MOST_JUDGES:
            nodes = np.sort(np.random.default_rng(0).choice(nodes, MOST_JUDGES, replace=False))
        return _Judges(nodes, np.asarray(graph.labels[nodes], dtype=np.int64), None)
    spared = np.bincount(codes)[codes] > 1
    return _Judges(train[spared], codes[spared], halves[spared])
