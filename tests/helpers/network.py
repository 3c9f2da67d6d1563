"""Networks trained by a recipe, with what only its own ``fit`` takes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graphheat import recipes
from graphheat.graph import Graph
from graphheat.training import NetworkRun, NetworkSettings


def network_settings(graph: Graph, recipe: str = "paper", **changes: Any) -> NetworkSettings:
    """Return a recipe's settings for a graph; s is 3 where it would be chosen."""
    request: Any = recipes.get(recipe).settings(graph, **changes)
    return request.settings


def fit_network(
    graph: Graph,
    recipe: str = "paper",
    *,
    seed: int = 0,
    threads: int | None = None,
    checkpoint: Any = None,
    resume: bool = False,
    observer: Callable[[Any], None] | None = None,
    **changes: Any,
) -> NetworkRun:
    """Train a network; ``observer`` is called after each epoch."""
    chosen = recipes.get(recipe)
    prepared = chosen.prepare(graph, chosen.settings(graph, **changes), threads=threads)
    run: Any = chosen.fit(prepared, seed, checkpoint=checkpoint, resume=resume, observer=observer)
    return run
