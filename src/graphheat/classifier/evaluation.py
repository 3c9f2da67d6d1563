"""Accuracy over seeds: mean, deviation, and every run behind them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from graphheat.baselines import SYSTEMS
from graphheat.baselines.fitting import fit_system
from graphheat.classifier.choosing import Time
from graphheat.classifier.fitting import LINEAR, check_recipe, fit, with_notes
from graphheat.classifier.preparing import Preparation
from graphheat.errors import GraphError, ParameterError
from graphheat.graph import Graph
from graphheat.linear import fit_linear
from graphheat.training import train
from graphheat.training.run import Labelling


@dataclass(frozen=True)
class Evaluation:
    """Test accuracies of several runs that differ in the seed alone.

    ``str`` gives "0.8305 ± 0.0041 (20 runs)".
    """

    runs: tuple[Labelling, ...]

    @property
    def accuracies(self) -> np.ndarray:
        """Test accuracies, shape (runs,)."""
        return np.array([run.test_accuracy for run in self.runs], dtype=np.float64)

    @property
    def mean(self) -> float:
        """Mean test accuracy."""
        return float(self.accuracies.mean())

    @property
    def std(self) -> float:
        """Sample standard deviation (n − 1) of the test accuracy; 0 for one run."""
        return deviation(self.accuracies)

    def __str__(self) -> str:
        return f"{self.mean:.4f} ± {self.std:.4f} ({len(self.runs)} runs)"


def deviation(values: Any) -> float:
    """Return the sample standard deviation, 0 for fewer than two values."""
    values = np.asarray(values, dtype=np.float64)
    return float(values.std(ddof=1)) if len(values) > 1 else 0.0


def evaluate(
    graph: Graph,
    recipe: str = "consistent",
    *,
    seeds: Iterable[int] = range(20),
    s: Time = None,
    eps: float | Literal["recipe"] | None = "recipe",
    threads: int | None = None,
    callback: Callable[[Labelling], None] | None = None,
    **changes: Any,
) -> Evaluation:
    """Train once a seed and report the test accuracy at the lowest validation loss.

    The kernel is computed once for all seeds. ``recipe`` may also be a system that GraphHeat is
    compared with (``"gcn"``, ``"gat"``, …; see :func:`graphheat.fit`).

    Parameters
    ----------
    graph
        With features, labels and a split that holds labelled test nodes.
    seeds
        Distinct integers.
    callback
        Called with each finished run.
    recipe, s, eps, threads, **changes
        As for :func:`graphheat.fit`; ``s="auto"`` is chosen once for all seeds.

    Examples
    --------
    >>> import graphheat
    >>> graph = graphheat.datasets.block_model(300, 3, seed=1)
    >>> result = evaluate(graph, seeds=range(2), max_epochs=30)
    >>> len(result.runs), result.mean > 0.6
    (2, True)
    """
    seeds = list(seeds) if isinstance(seeds, Iterable) else []
    if not seeds or len(set(seeds)) != len(seeds):
        raise ParameterError(
            f"The 'seeds' parameter of evaluate must be distinct integers. Got {seeds!r} instead."
        )
    test = graph.split.get("test", np.empty(0, np.int64))
    if not (graph.labels[test] >= 0).any():
        raise GraphError(
            "evaluate needs labelled test nodes; the graph's split has none. "
            "Add some with graph.with_split(train=…, val=…, test=…)."
        )
    run_seed = _one_run(graph, recipe, s, eps, threads, changes)
    runs = []
    for seed in seeds:
        runs.append(run_seed(seed))
        if callback is not None:
            callback(runs[-1])
    return Evaluation(tuple(runs))


def _one_run(
    graph: Graph,
    recipe: str,
    s: Time,
    eps: float | str | None,
    threads: int | None,
    changes: dict[str, Any],
) -> Callable[[int], Labelling]:
    """Return the function from a seed to a run, with what seeds share already computed."""
    check_recipe(recipe)
    if recipe in SYSTEMS:
        if s is not None or eps != "recipe":
            raise ParameterError(f"s and eps are settings of GraphHeat; {recipe!r} has neither.")
        return lambda seed: fit_system(graph, recipe, seed=seed, threads=threads or 1, **changes)
    if recipe == LINEAR:
        if eps != "recipe":
            raise ParameterError("The linear recipe diffuses without a matrix and has no eps.")
        first = with_notes(fit_linear(graph, s=s, threads=threads, **changes), graph)
        if first.path.by != "cross-validation":  # nothing was drawn: all seeds give one run
            return lambda seed: replace(first, seed=seed)
        return lambda seed: fit(graph, LINEAR, s=s, seed=seed, threads=threads, **changes)
    preparation = Preparation(graph, recipe, s, {**changes, "eps": eps}, threads=threads)

    def run_seed(seed: int) -> Labelling:
        chosen = preparation.choose(seed)
        run = train(preparation.problem(chosen), seed, threads=threads)
        return with_notes(run, graph, chosen.notes)

    return run_seed
