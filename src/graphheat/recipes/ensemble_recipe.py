"""The ensemble recipe: small heat networks side by side, aligned with a linear model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Literal

import numpy as np

from graphheat.checks import MAX_S, check_choice, check_s
from graphheat.errors import MissingDependencyError, ParameterError
from graphheat.features import suitable_scaling
from graphheat.graph import Graph, Split
from graphheat.linear.averaged import COLD, fit_averaged
from graphheat.linear.diffusion import check_features
from graphheat.linear.linear_run import LinearSettings
from graphheat.progress import Progress
from graphheat.recipes.diffusion_time import AUTO
from graphheat.recipes.folds import FOLDS, MEMBERS, Teaching
from graphheat.recipes.memory_plan import check_fit_memory
from graphheat.recipes.recipe import Prepared, Recipe, State, checked_threads
from graphheat.recipes.stacking import judged, stacked_weights
from graphheat.runs.checkpoint import Arrays, Header
from graphheat.runs.combined_run import CombinedRun
from graphheat.suitability import warnings_of
from graphheat.training.settings import ConsistencySettings

# L2 per label of a class, up to MANY, where a linear model prefers times from LONG on; of shorter
# times it falls with their cube: where heat tells little, features must be learned from in detail.
# From MANY labels per class on, it and the shares that are dropped fall with their number.
L2, LEAST_L2, LONG, MANY = 7.5e-4, 5e-4, 5.0, 20.0
CONSISTENT, SCALE = 0.8, 0.5  # what consistent networks are expected to count for
LONGEST = 4.0  # s of a layer
BASE = ConsistencySettings(
    recipe="ensemble",
    hidden=16,
    views=2,
    max_epochs=80,
    learning_rate=0.02,
    warmup=30,
    calibration=0.0,
)


@dataclass(frozen=True)
class EnsembleSettings:
    """What an ensemble is trained with.

    Attributes
    ----------
    network
        Of every member; its s and l2 play no part where they are to be chosen.
    s
        Diffusion time of a layer; ``"auto"``: half of what a linear model prefers.
    class_weight
        ``"balanced"``: labels of rare classes count for more in the linear model, as in
        scikit-learn, and so in what networks are aligned to; None: all alike.
    given
        The settings that a user named, which have the last word.
    """

    network: ConsistencySettings = BASE
    s: float | Literal["auto"] = "auto"
    class_weight: Literal["balanced"] | None = None
    given: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def checked(cls, graph: Graph, **changes: Any) -> EnsembleSettings:
        """Return checked settings for a graph."""
        asked = changes.pop("s", None)
        s: float | Literal["auto"] = AUTO if asked in (None, AUTO) else check_s(asked, "fit")
        class_weight = changes.pop("class_weight", None)
        check_choice(class_weight, "class_weight", "fit", ("balanced", None))
        if changes.get("normalize"):
            raise ParameterError("An ensemble has no batch normalisation: leave normalize alone.")
        if changes.get("eps") == "recipe":
            del changes["eps"]
        if changes.get("l2", 0.0) is None:
            del changes["l2"]
        scaling = "standard" if suitable_scaling(graph) == "standard" else "l2"
        given = dict(changes) if s == AUTO else {**changes, "s": s}
        network = BASE.changed({"scaling": scaling, **given})
        return cls(network, s, class_weight, given)

    def as_dict(self) -> dict[str, Any]:
        """Return the settings as plain values, ready for JSON; l2 is None where it is chosen."""
        chosen = {"s": self.s, "l2": self.given.get("l2"), "class_weight": self.class_weight}
        return {**self.network.as_dict(), **chosen}

    @property
    def linear(self) -> LinearSettings:
        """The settings of the linear model that s and the classes' shares are taken from."""
        if self.s == AUTO:
            return LinearSettings(class_weight=self.class_weight)
        return LinearSettings(s=min(2 * self.s, MAX_S), class_weight=self.class_weight)

    def chosen(self, linear: CombinedRun) -> ConsistencySettings:
        """Return the members' settings, with s and L2 by a linear model where they are open.

        Heat flows once there and twice, layer after layer, here. Where little heat helps, all of it
        flows in each layer, and neighbours cannot stand in for a node whose features are dropped.
        """
        best: Any = linear.parts[0]
        train = linear.split.train
        per_class = len(train) / max(len(np.unique(linear.labels[train])), 1)
        few = min(1.0, MANY / per_class)
        l2 = L2 * min(per_class, MANY) * few * min(1.0, best.s / LONG) ** 3
        found: dict[str, Any] = {
            "l2": max(l2, LEAST_L2),
            "drop_nodes": few * self.network.drop_nodes,
            "input_dropout": few * self.network.input_dropout,
        }
        if self.s == AUTO and best.s <= COLD:
            found |= {"s": best.s, "drop_nodes": 0.0}
        elif self.s == AUTO:
            found |= {"s": min(best.s / 2, LONGEST)}
        return self.network.changed({**found, **self.given})


def fit_ensemble(
    graph: Graph,
    split: Split,
    settings: EnsembleSettings,
    linear: CombinedRun,
    teaching: Teaching,
    seed: int,
    *,
    threads: int | None = None,
    save: Callable[[Header, Arrays], None] | None = None,
    saved: tuple[Header, Arrays] | None = None,
    deadline: float | None = None,
    progress: Progress | None = None,
) -> CombinedRun:
    """Train the members beside a linear model, and weigh the two kinds by labels not seen.

    See :func:`graphheat.training.train_ensemble` and :mod:`graphheat.recipes.stacking`.
    """
    from graphheat.training.ensemble import prepare_ensemble, train_ensemble

    network = settings.chosen(linear)
    kinds = train_ensemble(
        prepare_ensemble(graph, network, threads=threads),
        split,
        seed,
        members=MEMBERS,
        teachers=teaching.probabilities,
        folds=teaching.folds,
        threads=threads,
        save=save,
        saved=saved,
        deadline=deadline,
        progress=progress,
    )
    by, shown, codes = judged(kinds, graph, split)
    weights = stacked_weights(shown, codes, np.array([CONSISTENT, 1.0 - CONSISTENT]), scale=SCALE)
    return CombinedRun.of(
        kinds,
        weights,
        recipe=network.recipe,
        settings=network,
        judged_by=by,
        best_epoch=kinds[0].best_epoch,
        notes=kinds[0].notes,
    )


class EnsembleRecipe(Recipe):
    """Small heat networks side by side, with consistency regularisation that cannot collapse.

    See :mod:`graphheat.training.ensemble`.
    """

    name = "ensemble"
    title = "Ensemble of heat networks"
    reference = (
        "Feng, Zhang, Dong et al., Graph Random Neural Networks for Semi-Supervised Learning on "
        "Graphs, NeurIPS 2020 (GRAND's training scheme); Berthelot, Carlini, Cubuk et al., "
        "ReMixMatch, ICLR 2020 (distribution alignment)"
    )
    brief: Mapping[str, Any] = MappingProxyType({"max_epochs": 3})

    def settings(self, graph: Graph, **changes: Any) -> EnsembleSettings:
        """Return the settings: s, class_weight, and those of the networks."""
        return EnsembleSettings.checked(graph, **changes)

    def prepare(
        self,
        graph: Graph,
        settings: EnsembleSettings,
        *,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> Prepared:
        """Check the graph, and that torch is there."""
        try:
            import torch  # noqa: F401
        except ImportError as error:
            raise MissingDependencyError(
                f"The {self.name!r} recipe trains networks and needs torch: "
                "pip install 'graphheat[nn]'. Without it there is recipe 'linear'."
            ) from error
        check_features(graph)
        graph.completed_split(0, hold_out=False)
        check_fit_memory(graph, self.name, settings)
        return Prepared(graph, settings, checked_threads(threads), warnings_of(graph))

    def train(
        self,
        prepared: Prepared,
        seed: int,
        *,
        state: State,
        progress: Progress | None,
        **options: Any,
    ) -> CombinedRun:
        """Fit the linear model, then the networks."""
        graph, settings = prepared.graph, prepared.settings
        split = graph.completed_split(seed, hold_out=False)
        linear = fit_averaged(
            graph, split, settings.linear, seed=seed, threads=prepared.threads, progress=progress
        )
        run = fit_ensemble(
            graph,
            split,
            settings,
            linear,
            Teaching.by(linear, graph, split, FOLDS, seed, prepared.threads),
            seed,
            threads=prepared.threads,
            save=state.save,
            saved=state.saved,
            progress=progress,
        )
        return replace(
            run,
            settings=settings,
            search=linear.search,
            notes=(*run.notes, *prepared.notes),
            source=dict(state.source or {}),
        )


ENSEMBLE = EnsembleRecipe()
