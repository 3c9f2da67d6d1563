"""The linear recipe: heat and a ridge classifier."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from graphheat.errors import ParameterError
from graphheat.features import ScalingKind
from graphheat.graph import Graph
from graphheat.linear.diffusion import Diffusion, check_features
from graphheat.linear.grid import MOST_LABELS
from graphheat.linear.label_sets_fit import fit_linear_sets
from graphheat.linear.linear_fit import fit_linear
from graphheat.linear.linear_run import LinearRun, LinearSettings
from graphheat.progress import Progress
from graphheat.recipes.memory_plan import check_fit_memory
from graphheat.recipes.recipe import Prepared, Recipe, State, WarmStart, checked_threads
from graphheat.runs import Run
from graphheat.suitability import warnings_of


class LinearRecipe(Recipe):
    """Features diffused by heat, then a ridge classifier; see :mod:`graphheat.linear`.

    Diffusion before a linear model is SGC's idea (Wu et al. 2019) and, with a continuous time,
    DGC's (Wang et al. 2021).
    """

    name = "linear"
    title = "Heat and a ridge classifier"
    reference = (
        "Wu, Souza, Zhang et al., Simplifying Graph Convolutional Networks, ICML 2019; Wang, Wang, "
        "Yang and Lin, Dissecting the Diffusion Process in Linear Graph Convolutional Networks, "
        "NeurIPS 2021"
    )
    brief = MappingProxyType({"s": 3.0, "l2": 0.01})

    def settings(self, graph: Graph, **changes: Any) -> LinearSettings:
        """Return the settings: s, l2, scaling and self_weight, each a value or ``"auto"``."""
        if changes.pop("eps", "recipe") != "recipe":
            raise ParameterError("The linear recipe diffuses without a matrix and has no eps.")
        return LinearSettings.checked(**changes)

    def warm_start(self, run: Run, changes: dict[str, Any]) -> WarmStart:
        """Take s, l2, scaling and self weight, which are not searched for again."""
        found = run.settings_dict()
        names = ("s", "l2", "scaling", "self_weight")
        taken = {**{name: found[name] for name in names if name in found}, **changes}
        return WarmStart(
            taken,
            f"s = {taken['s']:g}, l2 = {taken['l2']:g}, scaling and self weight are those of the "
            "run; the weights are solved anew, in closed form.",
        )

    def prepare(
        self,
        graph: Graph,
        settings: LinearSettings,
        *,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> PreparedLinear:
        """Check the graph, and whether heat will probably hurt on it."""
        check_features(graph)
        if graph.label_sets is None:
            graph.completed_split(0, hold_out=False)
        else:
            graph.sets_split()
        check_fit_memory(graph, self.name, settings)
        return PreparedLinear(graph, settings, checked_threads(threads), warnings_of(graph))

    def train(
        self,
        prepared: PreparedLinear,
        seed: int,
        *,
        state: State,
        progress: Progress | None,
        **options: Any,
    ) -> Run:
        """Choose what is left open and fit; below 1,500 labels no seed plays a part."""
        if prepared.graph.label_sets is not None:
            sets = fit_linear_sets(
                prepared.graph,
                prepared.settings,
                seed=seed,
                threads=prepared.threads,
                progress=progress,
            )
            return replace(sets, source=dict(state.source or {}))
        first, source = prepared.first, dict(state.source or {})
        if first is None or len(first.split.train) > MOST_LABELS:
            run = fit_linear(
                prepared.graph,
                prepared.graph.completed_split(seed, hold_out=False),
                prepared.settings,
                seed=seed,
                threads=prepared.threads,
                progress=progress,
                diffusions=prepared.diffusions,
            )
            prepared.first = first = replace(run, notes=(*run.notes, *prepared.notes))
        return replace(first, seed=seed, source=source)


@dataclass(eq=False)
class PreparedLinear(Prepared):
    """Holds the first run, which serves all seeds where none of them decides anything.

    Attributes
    ----------
    first
        That run, once it is there.
    diffusions
        Of an earlier fit on the same edges and features; None: the fit makes its own.
    """

    settings: LinearSettings
    first: LinearRun | None = None
    diffusions: Mapping[ScalingKind, Diffusion] | None = None


LINEAR = LinearRecipe()
