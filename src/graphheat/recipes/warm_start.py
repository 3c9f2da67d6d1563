"""A fit that starts from a run: its features by name, its settings and, where it can, weights."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from graphheat.errors import ParameterError
from graphheat.graph import Graph
from graphheat.recipes import registry
from graphheat.recipes.recipe import DEFAULT, WarmStart
from graphheat.runs import Run, load_run
from graphheat.runs.feature_match import matched


@dataclass(frozen=True)
class Start:
    """What a fit begins with.

    Attributes
    ----------
    graph
        The graph, its features in the order and coding of the run's.
    recipe, changes, options
        What to fit, with which settings, and what its training is given beside.
    notes
        What was taken from the run, for the user to read.
    """

    graph: Graph
    recipe: str
    changes: Mapping[str, Any]
    options: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def start_of(
    graph: Graph,
    recipe: str,
    changes: Mapping[str, Any],
    run: Run | str | os.PathLike[str] | None,
) -> Start:
    """Return how a fit of ``recipe`` begins, from a run (or its file) or from nothing.

    Examples
    --------
    >>> import graphheat
    >>> graph = graphheat.datasets.block_model(200, 3, seed=0)
    >>> run = graphheat.fit(graph, "linear")
    >>> begun = start_of(graph, "auto", {}, run)
    >>> begun.recipe, begun.changes["s"] == run.s
    ('linear', True)
    """
    if run is None:
        return Start(graph, recipe, changes)
    held = run if isinstance(run, Run) else load_run(run)
    name = held.recipe if recipe == DEFAULT else recipe
    if name != held.recipe:
        raise ParameterError(
            f"A fit that starts from a run has its recipe, {held.recipe!r}; got {name!r}. Leave "
            "the recipe out, or fit without the run."
        )
    notes: tuple[str, ...] = ()
    if held.uses_features:
        graph, notes = matched(graph, held.schema, held.feature_names)
    warm: WarmStart = registry.get(name).warm_start(held, dict(changes))
    return Start(graph, name, warm.changes, warm.options, (*notes, warm.note))
