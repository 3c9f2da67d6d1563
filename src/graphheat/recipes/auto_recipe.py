"""``auto``, the default: label spreading, a linear model, networks, and what they say together."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphheat.checks import check_flag, check_number
from graphheat.graph import Graph
from graphheat.linear import grid, spreading
from graphheat.linear.averaged import fit_averaged
from graphheat.linear.linear_run import LinearRun
from graphheat.linear.neighbor_run import fit_neighbors, too_large, with_neighbors
from graphheat.linear.spreading import (
    SpreadingRun,
    SpreadingSettings,
    fit_spreading,
    spread_without_folds,
)
from graphheat.progress import Progress, tell
from graphheat.recipes import memory_plan
from graphheat.recipes.ensemble_recipe import EnsembleSettings, fit_ensemble
from graphheat.recipes.folds import FOLDS, Teaching
from graphheat.recipes.memory_plan import check_fit_memory, network_work, without_networks
from graphheat.recipes.recipe import Prepared, Recipe, State, checked_threads
from graphheat.recipes.sampled_fit import fit_sampled
from graphheat.recipes.stacking import judged
from graphheat.recipes.stage_weights import stage_weights
from graphheat.runs import Run
from graphheat.runs.combined_run import LEAST, CombinedRun, Stage
from graphheat.suitability import warnings_of

INTERRUPTED = "Interrupted: the answer is that of the stages so far; --resume goes on."


@dataclass(frozen=True)
class AutoSettings:
    """What was asked for.

    Attributes
    ----------
    ensemble
        Settings of the networks, among them s and class_weight, which the linear models have too.
    budget
        Seconds after which no stage begins and networks stop where they are; None: none.
    networks
        Whether there are networks at all; None: unless the graph is very large.
    """

    ensemble: EnsembleSettings = field(default_factory=EnsembleSettings)
    budget: float | None = None
    networks: bool | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the settings as plain values, ready for JSON."""
        own = {"recipe": "auto", "budget": self.budget, "networks": self.networks}
        return {**self.ensemble.as_dict(), **own}


class PreparedAuto(Prepared):
    """Holds the stages that seeds share: those without networks."""

    settings: AutoSettings

    def __init__(
        self, graph: Graph, settings: AutoSettings, threads: int | None, tight: str | None
    ) -> None:
        super().__init__(graph, settings, threads, warnings_of(graph))
        self.tight = tight  # why memory leaves no room for networks, if it does not
        self.shared: dict[tuple[str, bytes, int], tuple[Run, float]] = {}


class AutoRecipe(Recipe):
    """Stages, each usable at once, and judged by labels that it has not seen.

    1. *Label spreading* by heat (:mod:`graphheat.linear.spreading`), which needs no features.
    2. *Linear*: ridge classifiers on diffused features, averaged
       (:mod:`graphheat.linear.averaged`); in a graph without features, on who a node's neighbours
       are (:mod:`graphheat.linear.neighbor_run`).
    3. *Networks*: an ensemble with consistency regularisation
       (:mod:`graphheat.training.ensemble`), where there are features and torch.

    The answer is p ∝ Π_k p_k^{w_k}, with weights w fitted to the validation labels or, without
    any, to out-of-fold predictions of the training labels (:mod:`graphheat.recipes.stacking`).
    """

    name = "auto"
    title = "GraphHeat auto"
    reference = (
        "Wolpert, Stacked Generalization, Neural Networks 1992; and those of its stages, recipes "
        "'spreading', 'linear' and 'ensemble'"
    )
    brief: Mapping[str, Any] = MappingProxyType({"max_epochs": 3})

    def settings(
        self,
        graph: Graph,
        *,
        budget: float | None = None,
        networks: bool | None = None,
        **changes: Any,
    ) -> AutoSettings:
        """Return the settings: budget, networks, s, class_weight, and those of the networks."""
        if budget is not None:
            budget = check_number(budget, "budget", "fit", 0.0, float("inf"))
        if networks is not None:
            networks = check_flag(networks, "networks", "fit")
        return AutoSettings(EnsembleSettings.checked(graph, **changes), budget, networks)

    def prepare(
        self,
        graph: Graph,
        settings: AutoSettings,
        *,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> PreparedAuto:
        """Check the graph, and whether heat will probably hurt on it."""
        graph.completed_split(0, hold_out=False)
        tight = without_networks(graph, settings)
        if tight is None:
            check_fit_memory(graph, self.name, settings)
        return PreparedAuto(graph, settings, checked_threads(threads), tight)

    def train(
        self,
        prepared: PreparedAuto,
        seed: int,
        *,
        state: State,
        progress: Progress | None,
        **options: Any,
    ) -> CombinedRun:
        """Go through the stages; an interrupt or the end of the budget keeps what there is."""
        answer = _Answer(prepared, seed, state, progress)
        for stage in (answer.spread, answer.fit_linear, answer.train_networks):
            try:
                stage()
            except KeyboardInterrupt:
                if not answer.stages:
                    raise
                answer.notes.append(INTERRUPTED)
                break
        return answer.combined()


class _Answer:
    """The stages of one seed's run, as far as they have come."""

    def __init__(
        self, prepared: PreparedAuto, seed: int, state: State, progress: Progress | None
    ) -> None:
        self.prepared, self.seed, self.state, self.progress = prepared, seed, state, progress
        self.graph, self.settings = prepared.graph, prepared.settings
        self.split = self.graph.completed_split(seed, hold_out=False)
        self.began = time.monotonic()
        self.stages: list[tuple[Run, float]] = []  # and the seconds at which each was there
        self.notes: list[str] = []

    def spread(self) -> None:
        """Spread the labels."""
        self._shared("spreading", spreading.MOST_LABELS, self._spread)

    def _spread(self) -> Run:
        return fit_spreading(
            self.graph, self.split, SpreadingSettings(), seed=self.seed,
            threads=self.prepared.threads,
        )  # fmt: skip

    def fit_linear(self) -> None:
        """Fit the linear models, where there are features and time."""
        if self.graph.features is None and too_large(self.graph):
            self.notes.append("There are no features: labels are spread by heat alone.")
        elif self._late("Linear models"):
            return
        elif self.graph.features is None:
            self.notes.append(
                "There are no features: labels are spread by heat, and linear models look at who "
                "a node's neighbours are."
            )
            self._add(self._fit_neighbors())
        else:
            self._shared("linear", grid.MOST_LABELS, self._fit_linear)

    def _fit_linear(self) -> Run:
        return fit_averaged(
            self.graph, self.split, self.settings.ensemble.linear, seed=self.seed,
            threads=self.prepared.threads, progress=self.progress,
        )  # fmt: skip

    def _fit_neighbors(self) -> Run:
        """Fit linear models of neighbours, and judge them and label spreading by the same folds."""
        threads = self.prepared.threads
        run, plain = fit_neighbors(
            self.graph, self.split, self.settings.ensemble.linear, seed=self.seed, threads=threads,
            progress=self.progress,
        )  # fmt: skip
        teaching = Teaching.by(
            plain, with_neighbors(self.graph), self.split, FOLDS, self.seed, threads
        )
        if teaching.folds is None:
            return run
        (spread, at), train = self.stages[0], np.sort(self.split.train)
        assert isinstance(spread, SpreadingRun)
        by_others = spread_without_folds(self.graph, spread, teaching.folds, threads)
        self.stages[0] = replace(spread, out_of_fold=by_others), at
        return replace(run, out_of_fold=teaching.out_of_fold(train))

    def train_networks(self) -> None:
        """Train the networks, where there are features, torch and time."""
        linear = self.stages[-1][0]
        if linear.recipe != "linear" or self.settings.networks is False:
            return
        assert isinstance(linear, CombinedRun)
        if find_spec("torch") is None:
            self.notes.append(
                "torch is not installed, so there are no networks: pip install 'graphheat[nn]'."
            )
            return
        if self.prepared.tight is not None:
            self.notes.append(self.prepared.tight)
            return
        if self._late("Networks"):
            return
        network = self.settings.ensemble.chosen(linear)
        heavy = network_work(self.graph, network) > memory_plan.HEAVY
        if self.settings.networks is None and heavy:
            from graphheat.training.sampled_network import output_work

            if output_work(self.split, len(self.graph.classes)) > memory_plan.HEAVY_OUTPUT:
                self.notes.append(
                    f"{len(self.graph.classes):,} classes are too many for networks in the time "
                    "that people wait. Pass networks=True (--set networks=yes) to have them."
                )
                return
            self.notes.append(
                "The graph is too large for networks on all of it in the time that people wait: "
                "one is trained from rows of the kernel. Pass networks=True (--set networks=yes) "
                "to have the others trained all the same."
            )
            part = linear.parts[int(np.argmax(linear.weights))]
            assert isinstance(part, LinearRun)
            self._add(
                fit_sampled(
                    self.graph, self.split, part, seed=self.seed, threads=self.prepared.threads,
                    progress=self.progress,
                )
            )  # fmt: skip
            return
        budget = self.settings.budget
        teaching = Teaching.by(
            linear, self.graph, self.split, FOLDS, self.seed, self.prepared.threads
        )
        self._judge_by_folds(teaching)
        run = fit_ensemble(
            self.graph,
            self.split,
            self.settings.ensemble,
            linear,
            teaching,
            self.seed,
            threads=self.prepared.threads,
            save=self.state.save,
            saved=self.state.saved,
            deadline=None if budget is None else self.began + budget,
            progress=self.progress,
        )
        self._add(run)

    def _judge_by_folds(self, teaching: Teaching) -> None:
        """Judge the stages so far as networks will be: by labels left out a fold at a time.

        Left out one at a time, as they were chosen by, they would be overrated beside networks.
        """
        if teaching.folds is None:
            return
        train = np.sort(self.split.train)
        (spread, first), (linear, second) = self.stages
        assert isinstance(spread, SpreadingRun)
        by_others = spread_without_folds(self.graph, spread, teaching.folds, self.prepared.threads)
        self.stages = [
            (replace(spread, out_of_fold=by_others), first),
            (replace(linear, out_of_fold=teaching.out_of_fold(train)), second),
        ]

    def combined(self) -> CombinedRun:
        """Return what the stages say together."""
        runs = [run for run, _ in self.stages]
        by, shown, codes = judged(runs, self.graph, self.split)
        linear_s = next((run.diffusion_time for run in runs if run.recipe == "linear"), None)
        weights = stage_weights([run.recipe for run in runs], linear_s, shown, codes)
        stages = tuple(
            Stage(run.recipe, round(at, 3), *_score(p, codes), round(float(weight), 4))
            for (run, at), p, weight in zip(self.stages, shown, weights, strict=True)
        )
        best = max(range(len(runs)), key=lambda k: weights[k])
        own_notes = dict.fromkeys(note for run in runs for note in run.notes)
        return CombinedRun.of(
            runs,
            weights,
            recipe="auto",
            settings=self.settings,
            seed=self.seed,
            stages=stages,
            judged_by=by,
            best_epoch=runs[best].best_epoch,
            seconds=time.monotonic() - self.began,
            notes=(*self.split.notes, *own_notes, *self.notes, *self.prepared.notes),
            interrupted=INTERRUPTED in self.notes,
            source=dict(self.state.source or {}),
        )

    def _shared(self, name: str, most: int, make: Callable[[], Run]) -> None:
        """Add a stage that other seeds of the same split have, too.

        Where there are more than ``most`` labels, the seed decides which of them choose.
        """
        drawn = self.seed if len(self.split.train) > most else -1
        key = name, self.split.codes().tobytes(), drawn
        if key in self.prepared.shared:
            self.stages.append(self.prepared.shared[key])
            return
        self._add(make())
        self.prepared.shared[key] = self.stages[-1]

    def _add(self, run: Run) -> None:
        at = time.monotonic() - self.began
        self.stages.append((run, at))
        by, shown, codes = judged([run], self.graph, self.split)
        accuracy, _ = _score(shown[0], codes)
        labels = {"validation": "validation labels", "out-of-fold": "labels left out"}
        right = "" if accuracy is None else f", {100 * accuracy:.0f} % of the {labels[by]} right"
        tell(self.progress, f"{at:6.1f} s  {run.recipe}{right}")
        if self.state.stage is not None:
            self.state.stage(run)

    def _late(self, what: str) -> bool:
        budget = self.settings.budget
        late = budget is not None and time.monotonic() - self.began > budget
        if late:
            self.notes.append(f"{what} were left out: the budget of {budget:g} s was used up.")
        return late


def _score(
    p: NDArray[np.floating[Any]], codes: NDArray[np.int64]
) -> tuple[float | None, float | None]:
    """Return accuracy and mean cross-entropy of the rows that are there."""
    held = np.isfinite(p).all(axis=1)
    if not held.any():
        return None, None
    right = p[held].argmax(axis=1) == codes[held]
    losses = -np.log(np.maximum(p[held, :][np.arange(held.sum()), codes[held]], LEAST))
    return float(right.mean()), float(losses.mean())


AUTO = AutoRecipe()
