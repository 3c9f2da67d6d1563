"""A baseline as a recipe, and the run that it makes."""

from __future__ import annotations

import sys
import time
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, fields
from typing import Any

from graphheat.baselines.baseline import Baseline
from graphheat.datasets import paper_name
from graphheat.errors import ParameterError
from graphheat.graph import Graph
from graphheat.progress import Progress
from graphheat.recipes.memory_plan import check_fit_memory
from graphheat.recipes.recipe import Prepared, Recipe, State, checked_threads
from graphheat.runs import Run


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class BaselineRun(Run, kind="baseline"):
    """What a baseline returns: the labels of the graph that it was fitted on."""


class PreparedBaseline(Prepared):
    """A baseline, which is its own settings, and the graph that it is fit for."""

    settings: Baseline


class BaselineRecipe(Recipe):
    """A baseline of the paper's table, behind the interface of all recipes.

    Settings are those of its authors for the paper's data sets, and its defaults elsewhere.
    """

    def __init__(self, baseline: type[Baseline]) -> None:
        self.baseline = baseline
        self.name, self.title = baseline.name, baseline.title
        self.reference, self.stochastic = baseline.reference, baseline.stochastic
        self.brief = baseline.brief

    def settings(self, graph: Graph, **changes: Any) -> Baseline:
        """Return the baseline with its settings for a graph."""
        own = {each.name for each in fields(self.baseline)}
        for name, default in (("s", None), ("eps", "recipe")):
            if name not in own and changes.pop(name, default) != default:
                raise ParameterError(
                    f"s and eps are settings of GraphHeat; {self.name!r} has neither."
                )
        return self.baseline.preset(paper_name(graph), **changes)

    def prepare(
        self,
        graph: Graph,
        settings: Baseline,
        *,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> PreparedBaseline:
        """Check that the graph has what the baseline learns from."""
        settings.check(graph)
        graph.completed_split(0)
        check_fit_memory(graph, self.name, settings)
        return PreparedBaseline(graph, settings, checked_threads(threads))

    def train(
        self,
        prepared: PreparedBaseline,
        seed: int,
        *,
        state: State,
        progress: Progress | None,
        **options: Any,
    ) -> BaselineRun:
        """Fit the baseline on one thread, or as many as were given."""
        graph = prepared.graph
        split = graph.completed_split(seed)
        began = time.perf_counter()
        with _torch_threads(prepared.threads or 1):
            outcome = prepared.settings.fit(graph, split, seed, progress=progress)
        return BaselineRun(
            **BaselineRun.graph_parts(graph, split),
            recipe=self.name,
            settings=prepared.settings,
            seed=seed,
            history=outcome.history,
            probabilities=outcome.probabilities,
            best_epoch=outcome.best_epoch,
            seconds=time.perf_counter() - began,
            notes=(*split.notes, *outcome.notes),
            source=dict(state.source or {}),
        )


def _torch_threads(threads: int) -> AbstractContextManager[None]:
    # A baseline that uses torch has imported it by now; label propagation and a few others do
    # without, and so does whoever only reads a run.
    if "torch" not in sys.modules:
        return nullcontext()
    from graphheat.training.loop import torch_threads

    return torch_threads(threads)
