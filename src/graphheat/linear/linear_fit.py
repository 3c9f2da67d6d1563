"""The fit of the linear recipe: features diffused, then logistic regression, s and L2 chosen."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax
from threadpoolctl import threadpool_limits

from graphheat.features import Scaling, ScalingKind, suitable_scaling
from graphheat.graph import Graph, Split
from graphheat.linear.diffusion import PATH_TOL, TOL, Diffusion
from graphheat.linear.grid import (
    DEFAULT_L2,
    DEFAULT_S,
    PENALTIES,
    SELF_WEIGHTS,
    TIMES,
    Candidate,
    GridSearch,
    HeldOut,
    deal_folds,
    search_grid,
)
from graphheat.linear.linear_run import LinearRun, LinearSettings
from graphheat.linear.regression import Rotation, fit_logistic
from graphheat.progress import Progress

Array = NDArray[np.float64]

REACHED = 1e-4  # heat from the training nodes that counts as arrived
ABSENT = 30.0  # how far below every other logit a class without labels is put


def fit_linear(
    graph: Graph,
    split: Split,
    settings: LinearSettings,
    *,
    seed: int = 0,
    threads: int | None = None,
    progress: Progress | None = None,
) -> LinearRun:
    """Diffuse the features, fit a logistic regression on the labels, and label all nodes.

    Parameters
    ----------
    graph
        With features and labels.
    split
        All parts; see :meth:`graphheat.graph.Split.completed`.
    settings
        What is given, and what is to be chosen.
    seed
        Decides the folds of cross-validation, and nothing else.
    threads
        For the heat, default all; the regressions are small and take one.
    progress
        Called for each s along the grid.

    Notes
    -----
    *Choice*: on the validation labels; without any, by stratified cross-validation over the
    training labels; s = 5 and l2 = 1e-3 where no class has two. The run's notes say which. The
    labels that choose also scale the logits, which a strong penalty leaves next to 0.
    *Cost*: one diffusion of the features for all s together, milliseconds for each pair.
    *Deterministic*: yes. *Isolated nodes*: keep their own features, and are labelled by them.

    Examples
    --------
    >>> import graphheat
    >>> graph = graphheat.datasets.block_model(300, 3, seed=0)
    >>> run = fit_linear(graph, graph.completed_split(0), LinearSettings())
    >>> run.s > 0, run.test_accuracy > 0.7
    (True, True)
    """
    asked = settings
    began = time.perf_counter()
    diffusions = {
        kind: Diffusion(graph, _scaling(graph, kind), threads=threads)
        for kind in _kinds(graph, asked)
    }
    train, val = np.sort(split.train), split.val
    present, targets = np.unique(graph.labels[train], return_inverse=True)
    # One thread is the fastest for small matrices, and its sums are always in the same order.
    with threadpool_limits(1):
        codes = _codes_among(present, graph.labels[val])
        search, notes = _choose(diffusions, asked, train, val, targets, codes, seed, progress)
        diffusion = diffusions[search.candidate.scaling].keeping(search.candidate.self_weight)
        chosen_s, chosen_l2 = _chosen(asked, search)
        noise = diffusion.noise(TOL) if chosen_s > 0 else 0.0
        rotation = Rotation.of(diffusion.rows(train, chosen_s), noise)
        inner, intercepts = fit_logistic(
            rotation.coordinates,
            targets,
            len(present),
            chosen_l2 * rotation.variance,
            accuracy=1e-9,
        )
        if search.chosen >= 0:
            sharpness = search.sharpness[search.chosen]
            inner, intercepts = inner * sharpness, intercepts * sharpness
        weights = np.zeros((diffusion.features.shape[1], len(graph.classes)))
        weights[:, present] = rotation.right @ inner
        duals = np.zeros((len(train), len(graph.classes)))
        duals[:, present] = rotation.duals(inner)
        bias = np.zeros(len(graph.classes))
        bias[present] = intercepts - rotation.center @ weights[:, present]
        logits = diffusion.spread(np.asarray(diffusion.features @ weights), chosen_s) + bias
        absent = np.setdiff1d(np.arange(len(graph.classes)), present)
        bias[absent] = logits[:, present].min() - ABSENT
        logits[:, absent] = bias[absent]
    heat = diffusion.heat_from(train, chosen_s)
    return LinearRun(
        **LinearRun.graph_parts(graph, replace(split, parts={**split.parts, "train": train})),
        recipe="linear",
        settings=settings,
        s=chosen_s,
        l2=chosen_l2,
        self_weight=diffusion.self_weight,
        threads=threads,
        weights=weights,
        bias=bias,
        duals=duals,
        scaling=diffusion.scaling,
        reached=heat >= REACHED,
        search=search,
        seed=seed,
        probabilities=softmax(logits, axis=1),
        seconds=time.perf_counter() - began,
        notes=notes,
    )


def _kinds(graph: Graph, asked: LinearSettings) -> tuple[ScalingKind, ...]:
    """Return the scalings to choose from; the first where no label can be spared to choose by."""
    if asked.scaling != "auto":
        return (asked.scaling,)
    suitable = suitable_scaling(graph)
    return ("l1", "tfidf") if suitable == "l1" else (suitable,)


def _scaling(graph: Graph, kind: ScalingKind) -> Scaling:
    return Scaling(kind) if graph.features is None else Scaling.learn(graph.features, kind)


def _choose(
    diffusions: Mapping[ScalingKind, Diffusion],
    asked: LinearSettings,
    train: NDArray[np.int64],
    val: NDArray[np.int64],
    targets: NDArray[np.int64],
    codes: NDArray[np.int64],
    seed: int,
    progress: Progress | None,
) -> tuple[GridSearch, tuple[str, ...]]:
    """Return what was tried, and notes on it; ``codes`` are the validation nodes'."""
    # Folds are fitted often enough.
    shares: tuple[float, ...] = SELF_WEIGHTS if len(val) else SELF_WEIGHTS[:1]
    if asked.self_weight != "auto":
        shares = (float(asked.self_weight),)
    nothing = GridSearch.nothing(Candidate(next(iter(diffusions)), shares[0]))
    open_ones = [name for name in ("s", "l2") if getattr(asked, name) == "auto"]
    if len(shares) > 1:
        open_ones.append("self_weight")
    if len(diffusions) > 1:
        open_ones.append("scaling")
    if not open_ones:
        return nothing, ()
    *most, last = open_ones
    names = f"{', '.join(most)} and {last}" if most else last
    notes: tuple[str, ...] = ()
    held_out = HeldOut(codes, None)
    if not len(val):
        folds = deal_folds(targets, seed)
        if folds is None:
            s, l2 = _chosen(asked, nothing)
            return nothing, (
                f"No class has two labels, so none can be spared to choose {names} by: s = {s:g}, "
                f"l2 = {l2:g}.",
            )
        held_out = HeldOut(codes, folds)
        notes = (
            f"No validation labels were given: {names} chosen by {folds.max() + 1}-fold "
            f"cross-validation over the {len(train)} training labels.",
        )
    # Every fold is fitted at every time: with folds, every second one has to do.
    tried = TIMES if held_out.folds is None else TIMES[::2]
    times = np.array(tried if asked.s == "auto" else [asked.s], dtype=np.float64)
    penalties = np.array(PENALTIES if asked.l2 == "auto" else [asked.l2], dtype=np.float64)
    looked_at = np.concatenate([train, val])
    diffused = {
        kind: diffusion.path(looked_at, times, shares) for kind, diffusion in diffusions.items()
    }
    noises = {kind: diffusion.noise(PATH_TOL) for kind, diffusion in diffusions.items()}
    search = search_grid(diffused, noises, shares, times, penalties, targets, held_out, progress)
    return search, notes


def _chosen(asked: LinearSettings, search: GridSearch) -> tuple[float, float]:
    s, l2 = DEFAULT_S, DEFAULT_L2
    if search.chosen >= 0:
        s, l2 = float(search.s[search.chosen]), float(search.l2[search.chosen])
    return (
        s if asked.s == "auto" else float(asked.s),
        l2 if asked.l2 == "auto" else float(asked.l2),
    )


def _codes_among(present: NDArray[np.int64], labels: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return positions of labels in ``present``, −1 for those that are not in it."""
    places = np.minimum(np.searchsorted(present, labels), len(present) - 1)
    return np.where(present[places] == labels, places, -1)
