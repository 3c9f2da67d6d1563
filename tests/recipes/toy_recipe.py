"""A recipe in one file: a node gets the label of the training nodes that are nearest in edges."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphheat.checks import check_count
from graphheat.errors import ParameterError
from graphheat.graph import Graph, Split
from graphheat.progress import Progress
from graphheat.recipes import Prepared, Recipe
from graphheat.recipes.recipe import State
from graphheat.runs import Run


@dataclass(frozen=True)
class ToySettings:
    """How many edges away a training node may be."""

    max_hops: int = 20

    def as_dict(self) -> dict[str, Any]:
        """Return the settings as plain values."""
        return asdict(self)


class ToyRun(Run, kind="toy"):
    """The labels of the graph that it was fitted on."""


class ToyRecipe(Recipe):
    """Nearest training labels by hops; no features, no chance."""

    name = "toy"
    title = "Nearest label"
    reference = "Cover and Hart, Nearest Neighbor Pattern Classification, 1967"
    stochastic = False
    brief: Mapping[str, Any] = {"max_hops": 5}

    def settings(self, graph: Graph, **changes: Any) -> ToySettings:
        """Return the settings, or raise with what is wrong with them."""
        known = [field.name for field in fields(ToySettings)]
        for name in changes:
            if name not in known:
                raise ParameterError(f"{self.title} has no setting {name!r}; it has {known[0]}.")
        settings = ToySettings(**changes)
        return ToySettings(check_count(settings.max_hops, "max_hops", "fit"))

    def train(
        self,
        prepared: Prepared,
        seed: int,
        *,
        state: State,
        progress: Progress | None,
        **options: Any,
    ) -> ToyRun:
        """Spread the labels edge by edge; a node that is reached keeps what reached it first."""
        graph, began = prepared.graph, time.perf_counter()
        split = graph.completed_split(seed, hold_out=False)
        votes, far = _votes(graph, split, prepared.settings.max_hops, progress)
        notes = (f"{far} nodes are too far from any label and get the classes' shares.",)
        return ToyRun(
            **ToyRun.graph_parts(graph, split),
            recipe=self.name,
            settings=prepared.settings,
            seed=seed,
            probabilities=votes / votes.sum(axis=1, keepdims=True),
            seconds=time.perf_counter() - began,
            notes=(*split.notes, *(notes if far else ())),
            source=dict(state.source or {}),
        )


def _votes(
    graph: Graph, split: Split, max_hops: int, progress: Progress | None
) -> tuple[NDArray[np.float64], int]:
    known = np.zeros((graph.n, len(graph.classes)))
    known[split.train, graph.labels[split.train]] = 1.0
    edges = graph.adjacency.astype(np.bool_).astype(np.float64)
    votes = known.copy()
    for hop in range(max_hops):
        unknown = votes.sum(axis=1) == 0
        votes[unknown] = (edges @ votes)[unknown]
        if progress is not None:
            progress(hop + 1, max_hops, "hops")
    unknown = votes.sum(axis=1) == 0
    votes[unknown] = known.sum(axis=0)
    return votes, int(unknown.sum())


TOY = ToyRecipe()
