"""Several labels per node: ridge regressions on diffused features, or labels spread by heat.

Each label is a target of its own (binary relevance, Tsoumakas and Katakis 2007); s, L2, scaling and
self weight are chosen for all of them together, by exact leave-one-out over the training nodes
(PRESS, Allen 1974), whose scores also tell how sure to be: one slope and one offset for all labels
(Platt 1999).

References
----------
G. Tsoumakas, I. Katakis: Multi-Label Classification: An Overview, IJDWM 2007. J. Platt:
Probabilistic Outputs for Support Vector Machines, 1999. D. M. Allen, Technometrics 1974.
"""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from threadpoolctl import threadpool_limits

from graphheat.features import Scaling, ScalingKind, suitable_scaling
from graphheat.graph import Graph, Split
from graphheat.linear.diffusion import TOL, Diffusion, beside, check_features, dense_rows
from graphheat.linear.grid import DEFAULT_L2, DEFAULT_S, MOST_LABELS, PENALTIES, SELF_WEIGHTS, TIMES
from graphheat.linear.label_sets_run import LabelSetsRun, shares
from graphheat.linear.linear_run import REACHED, LinearSettings
from graphheat.linear.ridge import Spectrum
from graphheat.linear.spreading import (
    TIMES as SPREADING_TIMES,
)
from graphheat.linear.spreading import (
    TRACE,
    SpreadingSettings,
    left_out_heat,
    spreading_kernel,
)
from graphheat.progress import Progress

Array = NDArray[np.float64]

MOST_CHOOSING = 256  # labelled nodes that choose the time of label spreading


class Calibrated(NamedTuple):
    """logit = slope · score + offset, and the mean cross-entropy of a label that is then left."""

    slope: float
    offset: float
    loss: float


def fit_linear_sets(
    graph: Graph,
    settings: LinearSettings,
    *,
    seed: int = 0,
    threads: int | None = None,
    progress: Progress | None = None,
) -> LabelSetsRun:
    """Diffuse the features and fit a ridge regression for each label.

    Notes
    -----
    *Choice*: by leave-one-out over at most 1,500 training nodes, drawn by the seed; with a single
    one, s = 5 and l2 = 0.1. *Cost*: that of the linear recipe. *Deterministic*: for a seed.
    *Isolated nodes*: are labelled by their own features.

    Examples
    --------
    >>> import graphheat
    >>> blocks = graphheat.datasets.block_model(200, 3, seed=0)
    >>> sets = np.eye(3, dtype=np.int8)[blocks.labels]
    >>> sets[60:] = -1
    >>> graph = Graph.from_scipy(blocks.adjacency, blocks.features, label_sets=sets, classes="abc")
    >>> run = fit_linear_sets(graph, LinearSettings())
    >>> bool((run.predicted_sets[60:].argmax(axis=1) == blocks.labels[60:]).mean() > 0.8)
    True
    """
    began = time.perf_counter()
    check_features(graph)
    split = graph.sets_split()
    train = np.sort(split.train)
    truth = _truth(graph, train)
    with threadpool_limits(1):  # small matrices, and sums in one order
        kind, own, s, l2 = _choose(graph, settings, train, truth, seed, threads, progress)
        diffusion = _diffusion(graph, kind, threads).keeping(own)
        rows = diffusion.rows(train, s)
        ones = np.ones(len(train))
        spectrum = Spectrum.of_rows(rows, ones, diffusion.noise(TOL) if s > 0 else 0.0)
        found = _calibrated(spectrum.left_out(truth, l2), truth)
        center, mean = rows.mean(axis=0), truth.mean(axis=0)
        weights = (rows - center).T @ spectrum.duals(truth, l2) * found.slope
        bias = mean * found.slope + found.offset - center @ weights
        logits = diffusion.spread(np.asarray(diffusion.features @ weights), s) + bias
        left_out = expit(spectrum.left_out(truth, l2) * found.slope + found.offset)
    return LabelSetsRun(
        **_shared(graph, split, settings, seed),
        recipe="linear",
        s=s,
        l2=l2,
        self_weight=own,
        weights=weights,
        bias=bias,
        scaling=diffusion.scaling,
        probabilities=expit(logits),
        reached=diffusion.heat_from(train, s) >= REACHED,
        out_of_fold=left_out,
        seconds=time.perf_counter() - began,
    )


def fit_spreading_sets(
    graph: Graph,
    settings: SpreadingSettings,
    *,
    seed: int = 0,
    threads: int | None = None,
    progress: Progress | None = None,
) -> LabelSetsRun:
    """Spread each label by heat: its share of the heat of all labelled nodes, whatever theirs.

    Notes
    -----
    *Accuracy*: of heat, 1e-7. *Cost*: one diffusion of as many columns as there are labels, and
    where s is chosen one of up to 256. *Deterministic*: for a seed. *Isolated nodes*: get the
    labels' shares among the labelled nodes.
    """
    began = time.perf_counter()
    split = graph.sets_split()
    train = np.sort(split.train)
    truth = np.column_stack([_truth(graph, train), np.ones(len(train))])
    times = np.array(SPREADING_TIMES if settings.s == "auto" else [settings.s], dtype=np.float64)
    tried = np.sort(np.random.default_rng(seed).permutation(len(train))[:MOST_CHOOSING])
    own, heat = left_out_heat(graph, train, tried, truth, times, threads, progress)
    prior = truth.mean(axis=0)
    floors = TRACE * own[:, None] * prior
    losses = [
        _loss(shares(each, floor), truth[tried, :-1])
        for each, floor in zip(heat, floors, strict=True)
    ]
    chosen = int(np.argmin(losses)) if len(train) > 1 else len(times) // 2
    s, floor = float(times[chosen]), floors[chosen]
    columns = np.zeros((graph.n, truth.shape[1]))
    columns[train] = truth
    spread = np.asarray(spreading_kernel(graph, s, threads).apply(columns), dtype=np.float64)
    return LabelSetsRun(
        **_shared(graph, split, settings, seed),
        recipe="spreading",
        s=s,
        floor=floor,
        probabilities=shares(spread, floor),
        reached=spread[:, -1] >= floor[-1],
        seconds=time.perf_counter() - began,
    )


def _shared(graph: Graph, split: Split, settings: Any, seed: int) -> dict[str, Any]:
    note = (
        f"Nodes have several of {len(graph.classes):,} labels: each has a probability of its own, "
        "and accuracy counts the nodes whose whole set is right."
    )
    return {
        **LabelSetsRun.graph_parts(graph, split),
        "label_sets": graph.label_sets,
        "settings": settings,
        "seed": seed,
        "notes": (*split.notes, note),
    }


def _truth(graph: Graph, train: NDArray[np.int64]) -> Array:
    assert graph.label_sets is not None  # a graph without has no such split
    return graph.label_sets[train].astype(np.float64)


def _diffusion(graph: Graph, kind: ScalingKind, threads: int | None) -> Diffusion:
    return Diffusion(graph, Scaling.learn(check_features(graph), kind), threads=threads)


def _choose(
    graph: Graph,
    asked: LinearSettings,
    train: NDArray[np.int64],
    truth: Array,
    seed: int,
    threads: int | None,
    progress: Progress | None,
) -> tuple[ScalingKind, float, float, float]:
    """Return scaling, self weight, s and L2 of the least leave-one-out loss."""
    suitable = suitable_scaling(graph)
    kinds: tuple[ScalingKind, ...] = ("l2", "tfidf") if suitable == "l1" else (suitable,)
    if asked.scaling != "auto":
        kinds = (asked.scaling,)
    shares_kept = SELF_WEIGHTS if asked.self_weight == "auto" else (float(asked.self_weight),)
    times = np.array(TIMES if asked.s == "auto" else [asked.s], dtype=np.float64)
    penalties = PENALTIES if asked.l2 == "auto" else (float(asked.l2),)
    if len(train) < 2:
        s = DEFAULT_S if asked.s == "auto" else float(asked.s)
        return kinds[0], shares_kept[0], s, DEFAULT_L2 if asked.l2 == "auto" else float(asked.l2)
    some = np.sort(np.random.default_rng(seed).permutation(len(train))[:MOST_LABELS])
    nodes, targets, ones = train[some], truth[some], np.ones(len(some))
    best: tuple[float, tuple[ScalingKind, float, float, float]] | None = None
    steps = len(kinds) * len(times)
    for place, kind in enumerate(kinds):
        diffusion = _diffusion(graph, kind, threads)
        plain = dense_rows(diffusion.features, nodes)
        for step, (s, heat) in enumerate(zip(times, diffusion.path(nodes, times), strict=True)):
            for own in shares_kept if s > 0 else shares_kept[:1]:
                rows = beside(plain, heat.astype(np.float64), own)
                noise = diffusion.noise(1e-4) if s > 0 else 0.0
                spectrum = Spectrum.of_rows(rows, ones, noise)
                for l2 in penalties:
                    loss = _calibrated(spectrum.left_out(targets, l2), targets).loss
                    if best is None or loss < best[0]:
                        best = loss, (kind, own, float(s), l2)
            if progress is not None:
                progress(place * len(times) + step + 1, steps, "s")
    assert best is not None  # there is always a candidate
    return best[1]


def _calibrated(scores: Array, truth: Array) -> Calibrated:
    """Return slope and offset that make scores logits; a weak prior keeps the slope finite."""
    spread = max(float(scores.std()), 1e-12)
    x, y = (scores / spread).ravel(), truth.ravel()

    def loss(parameters: Array) -> tuple[float, Array]:
        slope, offset = np.exp(parameters[0]), parameters[1]
        logits = slope * x + offset
        p = expit(logits)
        total = np.logaddexp(0.0, logits).sum() - (y * logits).sum()
        prior = 0.5 * ((parameters[0] - np.log(2.0)) ** 2 + (offset / 3.0) ** 2)
        gradient = np.array(
            [
                slope * ((p - y) @ x) + parameters[0] - np.log(2.0),
                (p - y).sum() + offset / 9.0,
            ]
        )
        return float(total + prior), gradient

    from scipy.optimize import minimize  # a tenth of a second to load

    bounds = [(-5.0, 5.0), (-30.0, 30.0)]
    found = minimize(loss, np.array([np.log(2.0), 0.0]), jac=True, method="L-BFGS-B", bounds=bounds)
    slope = float(np.exp(found.x[0])) / spread
    return Calibrated(slope, float(found.x[1]), float(found.fun) / len(y))


def _loss(p: Array, truth: Array) -> float:
    p = np.clip(p, 1e-6, 1 - 1e-6)
    return float(-(truth * np.log(p) + (1 - truth) * np.log(1 - p)).mean())
