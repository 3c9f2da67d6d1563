"""The linear model, fitted as its recipe does it."""

from __future__ import annotations

from typing import Any

from graphheat.graph import Graph
from graphheat.linear import LinearRun, LinearSettings, fit_linear


def linear_run(
    graph: Graph, *, seed: int = 0, threads: int | None = None, **changes: Any
) -> LinearRun:
    """Fit the linear model on a graph; ``changes`` are its settings."""
    split = graph.completed_split(seed, hold_out=False)
    return fit_linear(graph, split, LinearSettings.checked(**changes), seed=seed, threads=threads)
