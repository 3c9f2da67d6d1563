"""A recipe's network and its operator, built from the settings."""

from __future__ import annotations

from graphheat.graph import Graph
from graphheat.heat.kernel import Progress
from graphheat.nn import GraphHeat, HeatOperator, heat_operator
from graphheat.nn.operator import powers_operator
from graphheat.training.recipes import ConsistentSettings, Settings

# A training applies its operator thousands of times: compiled loops pay from small products on.
OFTEN = 1e6


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
        bias=isinstance(settings, ConsistentSettings),
    )


def build_operator(
    graph: Graph,
    settings: Settings,
    *,
    threads: int | None = None,
    progress: Progress | None = None,
) -> HeatOperator:
    """Return the heat products of a graph, which both layers share."""
    if isinstance(settings, ConsistentSettings):
        loops = settings.self_loops
        if settings.propagation == "powers":
            return powers_operator(graph, settings.order, self_loops=loops, compiled_work=OFTEN)
        return heat_operator(
            graph, settings.s, K=settings.K, self_loops=loops, tol=1e-5, compiled_work=OFTEN
        )
    return heat_operator(
        graph,
        settings.s,
        K=settings.K,
        eps=settings.eps,
        zero_diagonal=settings.zero_diagonal,
        threads=threads,
        progress=progress,
    )
