"""A recipe's network and its operator, built from the settings."""

from __future__ import annotations

from graphheat.graph import Graph
from graphheat.heat.kernel import Progress
from graphheat.nn import GraphHeat, HeatOperator, heat_operator
from graphheat.training.recipes import Settings


def build_network(features: int, classes: int, settings: Settings) -> GraphHeat:
    """Return the network, its weights drawn from torch's random state."""
    return GraphHeat(
        features,
        classes,
        s=settings.s,
        K=settings.K,
        eps=settings.eps,
        hidden=settings.hidden,
        dropout=settings.dropout,
        zero_diagonal=settings.zero_diagonal,
    )


def build_operator(
    graph: Graph,
    settings: Settings,
    *,
    threads: int | None = None,
    progress: Progress | None = None,
) -> HeatOperator:
    """Return the heat products of a graph, which both layers share."""
    return heat_operator(
        graph,
        settings.s,
        K=settings.K,
        eps=settings.eps,
        zero_diagonal=settings.zero_diagonal,
        threads=threads,
        progress=progress,
    )
