"""The best linear models of one search, averaged: few labels cannot tell which is the best."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphheat.graph import Graph, Split
from graphheat.linear.linear_fit import fit_best
from graphheat.linear.linear_run import LinearRun, LinearSettings
from graphheat.progress import Progress
from graphheat.runs.combined_run import CombinedRun

COUNT = 8
DECAY = 4.0  # labels that a doubling of the loss counts for, one e-fold each
COLD = 1.0  # s of the best model up to which hardly any heat helps
LEAST = 0.03  # of the weight: below it a model is left out


def fit_averaged(
    graph: Graph,
    split: Split,
    settings: LinearSettings,
    *,
    seed: int = 0,
    threads: int | None = None,
    progress: Progress | None = None,
) -> CombinedRun:
    """Return the average of up to eight linear models, weighted by their leave-one-out losses.

    A model whose loss is a share x above the best has the weight e^{−x·m/4}, m being the number of
    training labels: with few labels neighbours of the best count for nearly as much, with many it
    stands alone (as Akaike weights do; Burnham and Anderson 2002). Where the best model's s is at
    most 1, it stands alone too: hardly any heat helps there, models with more of it have close
    losses only because few labels cannot tell, and an average costs the smaller classes.

    Examples
    --------
    >>> import graphheat
    >>> graph = graphheat.datasets.block_model(300, 3, seed=0)
    >>> run = fit_averaged(graph, graph.completed_split(0), LinearSettings())
    >>> len(run.parts) > 1, run.test_accuracy > 0.7
    (True, True)
    """
    runs = fit_best(graph, split, settings, COUNT, seed=seed, threads=threads, progress=progress)
    if runs[0].s <= COLD:
        runs = runs[:1]
    losses = np.array([_loss(run) for run in runs])
    excess = (losses - losses[0]) / max(losses[0], np.finfo(float).tiny)
    weights = np.exp(-np.minimum(excess, 1.0) * len(split.train) / DECAY)
    weights /= weights.sum()
    weights = np.where(weights < LEAST, 0.0, weights)
    fields: dict[str, Any] = {
        "recipe": "linear",
        "seed": seed,
        "seconds": sum(run.seconds for run in runs),
        "notes": runs[0].notes,
        "search": runs[0].search,
    }
    return CombinedRun.of(runs, weights / weights.sum(), **fields)


def _loss(run: LinearRun) -> float:
    return 1.0 if run.search.chosen < 0 else float(run.search.loss[run.search.chosen])
