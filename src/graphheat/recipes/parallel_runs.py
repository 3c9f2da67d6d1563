"""Runs of several seeds and splits, one after the other or in processes of their own."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from graphheat.errors import GraphHeatError
from graphheat.graph import Graph
from graphheat.recipes.recipe import Prepared, Recipe
from graphheat.runs import Run


@dataclass(frozen=True, eq=False)
class SeededFit:
    """One fit: a recipe with its settings on a graph with its split, and a seed.

    Attributes
    ----------
    key
        Equal for fits that share what :meth:`Recipe.prepare` computes.
    """

    key: str
    recipe: Recipe
    graph: Graph
    settings: Any
    seed: int
    threads: int | None


def planned_fits(
    recipe: Recipe,
    graphs: Sequence[tuple[Graph, Sequence[int]]],
    changes: dict[str, Any],
    threads: int | None,
) -> list[SeededFit]:
    """Return a fit per graph and seed; settings are completed and checked here."""
    fits = []
    for graph, seeds in graphs:
        key, settings = uuid.uuid4().hex, recipe.settings(graph, **changes)
        fits += [SeededFit(key, recipe, graph, settings, seed, threads) for seed in seeds]
    return fits


_last: dict[str, Prepared] = {}  # of this process: what the fit before shares with the next


def make_run(fit: SeededFit) -> Run:
    """Fit once; what the fit before has prepared is used where it is the same."""
    if fit.key not in _last:
        _last.clear()
        _last[fit.key] = fit.recipe.prepare(fit.graph, fit.settings, threads=fit.threads)
    return fit.recipe.fit(_last[fit.key], fit.seed)


def make_runs(fits: Sequence[SeededFit], jobs: int) -> Iterator[Run]:
    """Yield the runs in the order of the fits.

    Parameters
    ----------
    jobs
        Processes. Where no number of threads is given, each has its share of the processors.
    """
    try:
        if jobs == 1:
            yield from map(make_run, fits)
            return
        from joblib import Parallel, delayed
        from joblib.externals.loky.process_executor import TerminatedWorkerError

        share = max(1, (os.cpu_count() or 1) // jobs)
        pool = Parallel(
            n_jobs=jobs, backend="loky", return_as="generator", inner_max_num_threads=share
        )
        try:
            yield from pool(delayed(make_run)(_with_threads(fit, share)) for fit in fits)
        except TerminatedWorkerError as error:
            raise GraphHeatError(
                f"One of {jobs} processes ended early, perhaps for want of memory. "
                "Try again with fewer jobs."
            ) from error
    finally:
        _last.clear()


def _with_threads(fit: SeededFit, share: int) -> SeededFit:
    return fit if fit.threads is not None else replace(fit, threads=share)
