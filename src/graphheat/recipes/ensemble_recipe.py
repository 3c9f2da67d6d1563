"""The ensemble recipe: small heat networks side by side, aligned with a linear model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from graphheat.checks import MAX_S, check_choice, check_s
from graphheat.errors import MissingDependencyError, ParameterError
from graphheat.features import suitable_scaling
from graphheat.graph import Graph, Split
from graphheat.linear.averaged import fit_averaged
from graphheat.linear.diffusion import check_features
from graphheat.linear.linear_run import LinearSettings
from graphheat.progress import Progress
from graphheat.recipes.diffusion_time import AUTO
from graphheat.recipes.memory_plan import check_fit_memory
from graphheat.recipes.recipe import Prepared, Recipe, State, checked_threads
from graphheat.runs.checkpoint import Arrays, Header
from graphheat.runs.combined_run import CombinedRun
from graphheat.suitability import warnings_of
from graphheat.training.settings import ConsistencySettings

MEMBERS = 4
LONGEST = 4.0  # s of a layer
SHORT = 1.0  # s of the linear model up to which heat flows once, and no node is dropped
BASE = ConsistencySettings(
    recipe="ensemble",
    hidden=16,
    views=2,
    max_epochs=120,
    learning_rate=0.02,
    warmup=50,
    calibration=0.0,
)


@dataclass(frozen=True)
class EnsembleSettings:
    """What an ensemble is trained with.

    Attributes
    ----------
    network
        Of every member; its s plays no part where s is to be chosen.
    s
        Diffusion time of a layer; ``"auto"``: half of what a linear model prefers.
    class_weight
        ``"balanced"``: labels of rare classes count for more, as in scikit-learn; None: all alike.
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
        scaling = "standard" if suitable_scaling(graph) == "standard" else "l2"
        given = dict(changes) if s == AUTO else {**changes, "s": s}
        network = BASE.changed({"scaling": scaling, **given})
        return cls(network, s, class_weight, given)

    def as_dict(self) -> dict[str, Any]:
        """Return the settings as plain values, ready for JSON."""
        return {**self.network.as_dict(), "s": self.s, "class_weight": self.class_weight}

    @property
    def linear(self) -> LinearSettings:
        """The settings of the linear model that s and the classes' shares are taken from."""
        if self.s == AUTO:
            return LinearSettings(class_weight=self.class_weight)
        return LinearSettings(s=min(2 * self.s, MAX_S), class_weight=self.class_weight)

    def chosen(self, linear: CombinedRun) -> ConsistencySettings:
        """Return the members' settings, with s by a linear model where it is open.

        Heat flows once there and twice, layer after layer, here. Where little heat helps, all of it
        flows in each layer, and neighbours cannot stand in for a node whose features are dropped.
        """
        if self.s != AUTO:
            return self.network
        best: Any = linear.parts[0]
        found: dict[str, Any] = {"s": min(best.s / 2, LONGEST)}
        if best.s <= SHORT:
            found = {"s": best.s, "drop_nodes": 0.0}
        return self.network.changed({**found, **self.given})


def deal_folds(codes: NDArray[np.int64], count: int, seed: int) -> NDArray[np.int64] | None:
    """Deal training nodes to folds, class by class, so that each fold leaves every class a label.

    A class's only label always trains, fold −1. None where fewer nodes than folds can be dealt.
    """
    random = np.random.default_rng(seed)
    folds = np.full(len(codes), -1, dtype=np.int64)
    dealt = 0
    for code in np.unique(codes):
        members = random.permutation(np.flatnonzero(codes == code))
        if len(members) > 1:
            folds[members] = (dealt + np.arange(len(members))) % count
            dealt += len(members)
    return folds if dealt >= count else None


def fit_ensemble(
    graph: Graph,
    split: Split,
    settings: EnsembleSettings,
    linear: CombinedRun,
    seed: int,
    *,
    threads: int | None = None,
    save: Callable[[Header, Arrays], None] | None = None,
    saved: tuple[Header, Arrays] | None = None,
    deadline: float | None = None,
    progress: Progress | None = None,
) -> CombinedRun:
    """Train the members beside a linear model; see :func:`graphheat.training.train_ensemble`."""
    from graphheat.training.ensemble import prepare_ensemble, train_ensemble

    network = settings.chosen(linear)
    train = np.sort(split.train)
    codes = graph.labels[train]
    weights = None
    if settings.class_weight == "balanced":
        weights = 1.0 / np.bincount(codes)[codes]
    return train_ensemble(
        prepare_ensemble(graph, network, threads=threads),
        split,
        seed,
        members=MEMBERS,
        prior=np.asarray(linear.probabilities.mean(axis=0)),
        folds=None if len(split.val) else deal_folds(codes, MEMBERS, seed),
        label_weights=weights,
        threads=threads,
        save=save,
        saved=saved,
        deadline=deadline,
        progress=progress,
    )


class EnsembleRecipe(Recipe):
    """Four small heat networks with consistency regularisation that cannot collapse.

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
