"""The model that follows each label: what a label does not change is computed once and kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphheat.errors import GraphHeatError
from graphheat.features import ScalingKind
from graphheat.graph import Graph
from graphheat.labeling.accuracy_estimate import AccuracyEstimate, estimate_accuracy
from graphheat.labeling.label_heat import spread
from graphheat.labeling.label_reach import Reach
from graphheat.labeling.suggestion import Suggestion, chosen
from graphheat.linear.diffusion import Diffusion
from graphheat.linear.leave_one_out import Kept
from graphheat.linear.row_diffusion import is_large
from graphheat.linear.scaled_diffusions import diffusions_of
from graphheat.linear.suspects import quick_suspects
from graphheat.runs import Run

SUGGESTED = 10  # nodes at a time
SPREADING = "Heat carries labels along the edges."
NO_FEATURES = " The graph has no features that another model could learn from."
LINEAR = "Heat and a linear model of the features."


@dataclass(frozen=True, eq=False)
class Model:
    """What a model says, of the labels of a revision.

    Attributes
    ----------
    name, why
        ``"spreading"``, ``"linear"`` or ``"auto"``, and why it is the one that is shown.
    revision, labels
        The last entry that it knows of, and how many labels.
    probabilities
        Shape (n, c), float32.
    estimate
        Of its accuracy on nodes without a label, or None.
    run, graph
        What can be explained: the fit, and the graph with its labels.
    """

    name: str
    why: str
    revision: int
    labels: int
    probabilities: NDArray[np.float32]
    estimate: AccuracyEstimate | None = None
    run: Run | None = None
    graph: Graph | None = None


class Ahead(NamedTuple):
    """What to label next, and row numbers of labels that look wrong."""

    suggestions: list[Suggestion]
    suspects: list[int]


class QuickModel:
    """Fits heat and the linear recipe to the labels so far.

    Parameters
    ----------
    graph
        Whose edges and features all labels share.
    threads
        Default: by the size of the job.

    Notes
    -----
    *Accuracy*: that of a fit of its own; probabilities are those of ``fit(labelled, "linear")`` but
    for rounding. *Cost*: of a label, a column of the kernel for all times of the grid, and a fit
    on rows that are at hand. *Deterministic*: yes, for an order of labels. *Isolated nodes*: as the
    recipes have them.
    """

    def __init__(self, graph: Graph, *, threads: int | None = None) -> None:
        self.has_features = graph.features is not None and bool(graph.features.shape[1])
        self._graph, self._threads = graph, threads
        self._reach = Reach(graph, threads=threads)
        self._kept = Kept.of(graph, threads=threads)
        self._diffusions: Mapping[ScalingKind, Diffusion] | None = None

    def fit(self, labelled: Graph, revision: int, count: int) -> Model | None:
        """Return the model of the labels; None where none could be fitted."""
        several = len(np.unique(labelled.labels[labelled.labels >= 0])) > 1
        run, why = None, SPREADING + ("" if self.has_features else NO_FEATURES)
        if not several:
            alone = spread(labelled, labelled.labels, classes=len(labelled.classes))
            return Model("spreading", why, revision, count, alone.astype(np.float32))
        if self.has_features:
            try:
                run, why = self._linear(labelled), LINEAR
            except (GraphHeatError, MemoryError) as error:
                why = f"Labels spread by heat alone: {error}"
        try:
            if run is None:
                from graphheat.recipes.fit import fit

                run = fit(labelled, "spreading", threads=self._threads)
        except (GraphHeatError, MemoryError):
            return None
        return Model(
            run.recipe, why, revision, count, np.asarray(run.probabilities, dtype=np.float32),
            estimate_accuracy(run), run, labelled,
        )  # fmt: skip

    def _linear(self, labelled: Graph) -> Run:
        from graphheat.recipes.linear_recipe import LinearRecipe

        recipe = LinearRecipe()
        settings = recipe.settings(labelled)
        prepared = recipe.prepare(labelled, settings, threads=self._threads)
        if self._diffusions is None and not is_large(labelled):
            self._diffusions = diffusions_of(self._graph, settings, self._threads, kept=True)
        prepared.diffusions = self._diffusions
        return recipe.fit(prepared)

    def look_ahead(self, labelled: Graph, passed: NDArray[np.bool_], model: Model | None) -> Ahead:
        """Return suggestions and suspects by what a model says."""
        probabilities: Any = None
        if model is not None:
            probabilities = np.asarray(model.probabilities, dtype=np.float64)
        known = np.flatnonzero(labelled.labels >= 0)
        found = chosen(labelled, SUGGESTED, known, passed, probabilities, self._reach)
        doubted = quick_suspects(labelled, self._kept) if model is not None else None
        suspects = [] if doubted is None else doubted.nodes[: doubted.count]
        return Ahead(found, [labelled.index_of(node) for node in suspects])
