"""The spreading recipe: heat and labels alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from graphheat.errors import ParameterError
from graphheat.graph import Graph
from graphheat.linear.label_sets_fit import fit_spreading_sets
from graphheat.linear.spreading import SpreadingSettings, fit_spreading
from graphheat.progress import Progress
from graphheat.recipes.recipe import Prepared, Recipe, State, WarmStart
from graphheat.runs import Run


class SpreadingRecipe(Recipe):
    """Labels spread by heat; no features are needed, and none are looked at.

    See :mod:`graphheat.linear.spreading`.
    """

    name = "spreading"
    title = "Heat label spreading"
    reference = (
        "Zhou, Bousquet, Lal et al., Learning with Local and Global Consistency, NeurIPS 2004 "
        "(with heat for its diffusion)"
    )
    brief: Mapping[str, Any] = MappingProxyType({"s": 10.0})

    def settings(self, graph: Graph, **changes: Any) -> SpreadingSettings:
        """Return the settings: s, a value or ``"auto"``."""
        if changes.pop("eps", "recipe") != "recipe":
            raise ParameterError("The spreading recipe diffuses without a matrix and has no eps.")
        return SpreadingSettings.checked(**changes)

    def warm_start(self, run: Run, changes: dict[str, Any]) -> WarmStart:
        """Take s, which is not chosen again."""
        taken = {"s": run.settings_dict()["s"], **changes}
        return WarmStart(taken, f"s = {taken['s']:g} is that of the run; labels are spread anew.")

    def train(
        self,
        prepared: Prepared,
        seed: int,
        *,
        state: State,
        progress: Progress | None,
        **options: Any,
    ) -> Run:
        """Spread the labels."""
        if prepared.graph.label_sets is not None:
            sets = fit_spreading_sets(
                prepared.graph,
                prepared.settings,
                seed=seed,
                threads=prepared.threads,
                progress=progress,
            )
            return replace(sets, source=dict(state.source or {}))
        run = fit_spreading(
            prepared.graph,
            prepared.graph.completed_split(seed, hold_out=False),
            prepared.settings,
            seed=seed,
            threads=prepared.threads,
            progress=progress,
        )
        return replace(run, source=dict(state.source or {}))


SPREADING = SpreadingRecipe()
