"""A network and its operator, built from the settings."""

from __future__ import annotations

from graphheat.graph import Graph
from graphheat.nn import GraphHeat, HeatOperator, heat_operator
from graphheat.nn.operator import powers_operator
from graphheat.progress import Progress
from graphheat.training.settings import NetworkSettings


def build_network(features: int, classes: int, settings: NetworkSettings) -> GraphHeat:
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
        bias=settings.bias,
    )


def build_operator(
    graph: Graph,
    settings: NetworkSettings,
    *,
    threads: int | None = None,
    progress: Progress | None = None,
) -> HeatOperator:
    """Return the heat products of a graph, which both layers share."""
    if settings.propagation == "powers":
        return powers_operator(
            graph,
            getattr(settings, "order"),  # noqa: B009 - of settings that have this propagation
            self_loops=settings.self_loops,
            compiled_work=settings.compiled_work,
        )
    return heat_operator(
        graph,
        settings.s,
        K=settings.K,
        eps=settings.eps,
        zero_diagonal=settings.zero_diagonal,
        self_loops=settings.self_loops,
        tol=settings.tol,
        threads=threads,
        compiled_work=settings.compiled_work,
        progress=progress,
    )
