"""What the runs of several seeds begin with: settings whose s is chosen, and the kernel."""

from __future__ import annotations

from typing import Any

from graphheat.baselines.system import Callback
from graphheat.classifier.choosing import Chosen, Time, resolve_time
from graphheat.graph import Graph
from graphheat.heat.kernel import Progress
from graphheat.training import Settings, prepare, settings_for
from graphheat.training.problem import Problem


class Preparation:
    """Gets a graph ready for one seed after another, and does nothing twice.

    Seeds share the choice of s as far as the same nodes calibrate, and the kernel as far as they
    have the same settings.
    """

    def __init__(
        self,
        graph: Graph,
        recipe: str,
        s: Time,
        changes: dict[str, Any],
        *,
        threads: int | None = None,
    ) -> None:
        self.graph, self.recipe, self.s, self.changes = graph, recipe, s, changes
        self.threads = threads
        self._choices: dict[bytes, Chosen] = {}
        self._problems: dict[Settings, Problem] = {}

    def choose(self, seed: int, callback: Callback | None = None) -> Chosen:
        """Return the settings of a seed's run, and what to tell of them."""
        return resolve_time(
            self.graph,
            self.recipe,
            self.s,
            self.changes,
            seed=seed,
            threads=self.threads,
            callback=callback,
            before=self._choices,
        )

    def problem(self, chosen: Chosen, progress: Progress | None = None) -> Problem:
        """Return what to train on with these settings."""
        settings = settings_for(self.graph, self.recipe, **chosen.settings)
        if settings not in self._problems:
            self._problems[settings] = prepare(
                self.graph, settings, threads=self.threads, progress=progress
            )
        return self._problems[settings]
