"""The fit of the linear recipe: features diffused, then a ridge classifier, s and L2 chosen."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax
from threadpoolctl import threadpool_limits

from graphheat.features import ScalingKind
from graphheat.graph import Graph, Split
from graphheat.heat.engines.cluster.cluster import Cluster
from graphheat.linear.diffusion import TOL, Diffusion
from graphheat.linear.grid import (
    DEFAULT_L2,
    DEFAULT_S,
    MOST_LABELS,
    PENALTIES,
    SELF_WEIGHTS,
    TIMES,
    Candidate,
    Grid,
    GridSearch,
    search_grid,
    sharpness_of,
)
from graphheat.linear.labelling_time import alignments, choose_time, longer_times
from graphheat.linear.linear_run import REACHED, LinearRun, LinearSettings
from graphheat.linear.ridge import Spectrum, one_hot
from graphheat.linear.row_diffusion import RowDiffusion, is_large
from graphheat.linear.scaled_diffusions import diffusions_of
from graphheat.progress import Progress

Array = NDArray[np.float64]

LEAST_SPARE = 3  # labels with another of their class: two, left out in turn, choose anything
LEAST_LABELS, MOST_WORK = 100, 5e10  # that choose, and multiply-adds of their diffusion
MOST_TRAINING = 10_000  # labels of a large graph, whose rows cost milliseconds each
ORDER = 30  # of the longest time's series, about
ABSENT = 30.0  # how far below every other logit a class without labels is put


def fit_linear(
    graph: Graph,
    split: Split,
    settings: LinearSettings,
    *,
    seed: int = 0,
    threads: int | None = None,
    progress: Progress | None = None,
    diffusions: Mapping[ScalingKind, Diffusion] | None = None,
) -> LinearRun:
    """Diffuse the features, fit a ridge classifier on the labels, and label all nodes.

    Parameters
    ----------
    graph
        With features and labels.
    split
        All parts; see :meth:`graphheat.graph.Split.completed`.
    settings
        What is given, and what is to be chosen.
    seed
        Decides which labels choose where there are thousands, and nothing else.
    threads
        For the heat, default all; the regressions are small and take one.
    progress
        Called with each s along the grid.
    diffusions
        Of an earlier fit on the same edges and features (:func:`diffusions_of`); default: new ones.

    Notes
    -----
    *Choice*: by exact leave-one-out over the training labels, which also scales the scores to
    logits; s = 5 and l2 = 0.1 where fewer than three labels have another of their class.
    Validation labels play no part.
    *Cost*: one diffusion for all s together, of as many columns as there are training nodes or
    features, whichever are fewer; then milliseconds for each candidate. *Deterministic*: yes.
    *Isolated nodes*: keep their own features, and are labelled by them.

    Examples
    --------
    >>> import graphheat
    >>> graph = graphheat.datasets.block_model(300, 3, seed=0)
    >>> run = fit_linear(graph, graph.completed_split(0), LinearSettings())
    >>> run.s > 0, run.test_accuracy > 0.7
    (True, True)
    """
    how: dict[str, Any] = {"threads": threads, "progress": progress, "diffusions": diffusions}
    return fit_best(graph, split, settings, 1, seed=seed, **how)[0]


def fit_best(
    graph: Graph,
    split: Split,
    settings: LinearSettings,
    count: int,
    *,
    seed: int = 0,
    threads: int | None = None,
    progress: Progress | None = None,
    diffusions: Mapping[ScalingKind, Diffusion] | None = None,
) -> list[LinearRun]:
    """Return runs of the best candidates of one search, at most ``count``, the best first.

    Parameters are those of :func:`fit_linear`.
    """
    began = time.perf_counter()
    task = Task.of(graph, split, settings, threads, diffusions=diffusions)
    # One thread is the fastest for small matrices, and its sums are always in the same order.
    with threadpool_limits(1):
        found, notes = search(task, seed, progress)
        rows = [None] if found.chosen < 0 else [int(row) for row in found.best(count)]
        runs = []
        for row in rows:
            candidate = found if row is None else replace(found, chosen=row)
            run = _fitted(task, candidate, notes)
            runs.append(replace(run, seed=seed, seconds=time.perf_counter() - began))
            began = time.perf_counter()
    return runs


@dataclass(frozen=True, eq=False)
class Task:
    """What is to be fitted: training nodes in rising order, their classes and weights."""

    graph: Any  # in memory, or on disk
    split: Split
    settings: LinearSettings
    threads: int | None
    diffusions: Mapping[ScalingKind, Diffusion]
    train: NDArray[np.int64]
    present: NDArray[np.int64]
    targets: NDArray[np.int64]
    weights: Array

    @classmethod
    def of(
        cls,
        graph: Any,
        split: Split,
        settings: LinearSettings,
        threads: int | None,
        cluster: Cluster | None = None,
        diffusions: Mapping[ScalingKind, Diffusion] | None = None,
    ) -> Task:
        """Return the task of a split; of a large graph, 10,000 training labels at most.

        A cluster computes the rows of a graph on disk. Diffusions may be those of an earlier task.
        """
        train = np.sort(split.train)
        if is_large(graph) and len(train) > MOST_TRAINING:
            train = train[in_turns(np.asarray(graph.labels[train]), MOST_TRAINING, 0)]
        present, targets = np.unique(graph.labels[train], return_inverse=True)
        if diffusions is None:
            diffusions = diffusions_of(graph, settings, threads, cluster)
        weights = np.ones(len(train))
        if settings.class_weight == "balanced":
            weights = 1.0 / np.bincount(targets)[targets]
            weights /= weights.mean()
        return cls(graph, split, settings, threads, diffusions, train, present, targets, weights)


@dataclass(frozen=True, eq=False)
class Learned:
    """What a candidate learns from the training nodes, before any other node is labelled.

    Attributes
    ----------
    diffusion
        How features are scaled and diffused.
    s, l2
        Diffusion time and penalty.
    weights, bias, duals
        As :class:`~graphheat.linear.linear_run.LinearRun` has them; of classes without labels, 0.
    absent
        Codes of those classes.
    left_out
        Logits of the training nodes by fits without their labels, shape (m, c).
    """

    diffusion: Diffusion
    s: float
    l2: float
    weights: Array
    bias: Array
    duals: Array
    absent: NDArray[np.int64]
    left_out: Array


def learn(task: Task, search: GridSearch) -> Learned:
    """Fit the candidate that is chosen in ``search``."""
    graph, present, settings = task.graph, task.present, task.settings
    candidate = search.candidate
    diffusion = task.diffusions[candidate.scaling].keeping(candidate.self_weight)
    s, l2 = _chosen(settings, search)
    noise = diffusion.noise(TOL) if s > 0 else 0.0
    rows = diffusion.rows(task.train, s)
    spectrum = Spectrum.of_rows(rows, task.weights, noise)
    truth = one_hot(task.targets, len(present))
    center, mean = (task.weights @ each / task.weights.sum() for each in (rows, truth))
    inner = spectrum.duals(truth, l2)
    scores = spectrum.left_out(truth, l2)
    sharpness = sharpness_of(scores, task.targets)[0]
    classes = len(graph.classes)
    duals = np.zeros((len(task.train), classes))
    duals[:, present] = inner * sharpness
    weights = np.zeros((rows.shape[1], classes))
    weights[:, present] = (rows - center).T @ duals[:, present]
    bias = np.zeros(classes)
    bias[present] = mean * sharpness - center @ weights[:, present]
    left_out = np.zeros((len(task.train), classes))
    left_out[:, present] = scores * sharpness
    absent = np.setdiff1d(np.arange(classes), present)
    return Learned(diffusion, s, l2, weights, bias, duals, absent, left_out)


def _fitted(task: Task, search: GridSearch, notes: tuple[str, ...]) -> LinearRun:
    """Return the run of the candidate that is chosen in ``search``."""
    found = learn(task, search)
    diffusion, s, bias = found.diffusion, found.s, found.bias
    if isinstance(diffusion, RowDiffusion) and task.settings.s == "auto":
        return _fitted_large(task, search, found, diffusion, notes)
    logits = diffusion.spread(np.asarray(diffusion.features @ found.weights), s) + bias
    return _run(task, search, found, logits, notes)


def _fitted_large(
    task: Task, search: GridSearch, found: Learned, diffusion: RowDiffusion, notes: tuple[str, ...]
) -> LinearRun:
    """Label all nodes at the time that labels choose; see :mod:`~graphheat.linear.labelling_time`.

    Everything is computed as :class:`~graphheat.linear.linear_run.LinearRun` says it is.
    """
    times = [found.s, *longer_times(found.s)]
    projected = np.asarray(diffusion.features @ found.weights)
    spread = diffusion.spreads(projected, times)

    aligned = alignments(task.graph.n, len(times), lambda rows, e: spread[e][rows])

    def logits(rows: Any, e: int) -> Array:
        part: Array = (aligned[e](spread[e][rows]) + found.bias)[:, task.present]
        return part

    codes = np.full(task.graph.n, -1, dtype=np.int64)
    codes[task.graph.labels >= 0] = np.searchsorted(
        task.present, task.graph.labels[task.graph.labels >= 0]
    )
    best, sharpness, note = choose_time(codes, _known(task), times, logits)
    larger = sharpness * aligned[best].ratio
    chosen = replace(
        found, s=times[best], weights=found.weights * larger,
        bias=sharpness * (found.bias + aligned[best].offset), duals=found.duals * larger,
        left_out=found.left_out * sharpness,
    )  # fmt: skip
    told = diffusion.heat_note(found.s)
    every = (aligned[best](spread[best]) + found.bias) * sharpness
    return _run(task, search, chosen, every, (*notes, told, *([note] * bool(note))))


def _known(task: Task) -> Split:
    """Return the split without labels of classes that no training label has."""
    parts = {
        name: nodes[np.isin(task.graph.labels[nodes], task.present)]
        for name, nodes in task.split.parts.items()
        if name in ("train", "val")
    }
    return Split(task.split.n, parts)


def _run(
    task: Task, search: GridSearch, found: Learned, logits: Array, notes: tuple[str, ...]
) -> LinearRun:
    graph, diffusion, s = task.graph, found.diffusion, found.s
    bias, absent = found.bias, found.absent
    bias[absent] = logits[:, task.present].min() - ABSENT
    logits[:, absent] = bias[absent]
    found.left_out[:, absent] = bias[absent]
    return LinearRun(
        **LinearRun.graph_parts(
            graph, replace(task.split, parts={**task.split.parts, "train": task.train})
        ),
        recipe="linear",
        settings=task.settings,
        s=s,
        l2=found.l2,
        self_weight=diffusion.self_weight,
        threads=task.threads,
        weights=found.weights,
        bias=bias,
        duals=found.duals,
        scaling=diffusion.scaling,
        reached=diffusion.heat_from(task.train, s) >= REACHED,
        search=search,
        seed=0,
        probabilities=softmax(logits, axis=1),
        out_of_fold=softmax(found.left_out, axis=1),
        seconds=0.0,
        notes=notes,
    )


def search(task: Task, seed: int, progress: Progress | None) -> tuple[GridSearch, tuple[str, ...]]:
    """Return what was tried, and what to note about it."""
    asked, kinds = task.settings, list(task.diffusions)
    shares = SELF_WEIGHTS if asked.self_weight == "auto" else (float(asked.self_weight),)
    open_ones = [name for name in ("s", "l2") if getattr(asked, name) == "auto"]
    open_ones += ["self_weight"] * (len(shares) > 1) + ["scaling"] * (len(kinds) > 1)
    nothing = GridSearch.nothing(Candidate(kinds[0], shares[0]))
    if not open_ones:
        return nothing, ()
    counts = np.bincount(task.targets)
    spare = int(counts[counts > 1].sum())
    if spare < LEAST_SPARE:
        *most, last = open_ones
        names = f"{', '.join(most)} and {last}" if most else last
        s, l2 = _chosen(asked, nothing)
        why = "No class has two labels" if not spare else "Only two labels are of one class"
        what = "none can be spared" if not spare else "too few can be spared"
        return nothing, (f"{why}, so {what} to choose {names} by: s = {s:g}, l2 = {l2:g}.",)
    grid = Grid(
        _times(task),
        np.array(PENALTIES if asked.l2 == "auto" else [asked.l2], dtype=np.float64),
        shares,
    )
    chosen = _choosing(task, seed)
    return (
        search_grid(
            task.diffusions, grid, task.train[chosen], task.targets[chosen], task.weights[chosen],
            progress,
        ),
        (),
    )  # fmt: skip


def _times(task: Task) -> Array:
    """Return the times to choose from; of a large graph, those of which rows keep enough."""
    if task.settings.s != "auto":
        return np.array([task.settings.s], dtype=np.float64)
    times = np.array(TIMES)
    first = next(iter(task.diffusions.values()))
    return first.offered(times, task.train) if isinstance(first, RowDiffusion) else times


def _choosing(task: Task, seed: int) -> NDArray[np.int64]:
    """Return the positions of the training nodes that choose: all, or so many of each class."""
    most = MOST_LABELS
    first = next(iter(task.diffusions.values()))
    local = isinstance(first, RowDiffusion)
    if first.features.shape[1] > LEAST_LABELS and not local:
        # Else a diffusion of the features, or a row each, serves all labels.
        affordable = int(MOST_WORK / (ORDER * (task.graph.adjacency.nnz + task.graph.n)))
        most = min(most, max(LEAST_LABELS, affordable))
    if len(task.train) <= most:
        return np.arange(len(task.train))
    return in_turns(task.targets, most, seed)


def in_turns(codes: NDArray[Any], most: int, seed: int) -> NDArray[np.int64]:
    """Return positions of ``most`` labels, rising, drawn in turns through the classes."""
    order = np.random.default_rng(seed).permutation(len(codes))
    place = np.empty(len(order))
    for code in np.unique(codes):
        members = codes[order] == code
        place[members] = (np.arange(members.sum()) + 0.5) / members.sum()
    return np.sort(order[np.argsort(place, kind="stable")[:most]])


def _chosen(asked: LinearSettings, search: GridSearch) -> tuple[float, float]:
    s, l2 = DEFAULT_S, DEFAULT_L2
    if search.chosen >= 0:
        s, l2 = float(search.s[search.chosen]), float(search.l2[search.chosen])
    return (
        s if asked.s == "auto" else float(asked.s),
        l2 if asked.l2 == "auto" else float(asked.l2),
    )
