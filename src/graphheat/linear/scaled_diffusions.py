"""The scalings of features that the linear recipe chooses from, and the diffusion of each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from graphheat.features import Scaling, ScalingKind
from graphheat.features.scaling import suitable_for
from graphheat.graph import Graph
from graphheat.heat.engines.cluster.cluster import Cluster
from graphheat.linear.diffusion import Diffusion
from graphheat.linear.grid import TIMES
from graphheat.linear.kept_diffusion import KeptDiffusion
from graphheat.linear.linear_run import LinearSettings
from graphheat.linear.row_diffusion import is_large, row_diffusions, sampled_rows


def diffusions_of(
    graph: Any,
    settings: LinearSettings,
    threads: int | None = None,
    cluster: Cluster | None = None,
    *,
    kept: bool = False,
) -> Mapping[ScalingKind, Diffusion]:
    """Return the diffusion of each scaling to choose from; ``kept``: one that keeps its rows."""
    if is_large(graph):
        return row_diffusions(graph, _kinds(sampled_rows(graph), settings), threads, cluster)
    default, *others = _kinds(graph.features, settings)
    learned = _scaling(graph, default)
    first = (
        KeptDiffusion(graph, learned, TIMES, threads=threads)
        if kept
        else Diffusion(graph, learned, threads=threads)
    )
    return {default: first} | {kind: first.rescaled(_scaling(graph, kind)) for kind in others}


def _kinds(features: Any, asked: LinearSettings) -> tuple[ScalingKind, ...]:
    """Return the scalings to choose from; the first where no label can be spared to choose by."""
    if asked.scaling != "auto":
        return (asked.scaling,)
    suitable = suitable_for(features)
    return ("l2", "tfidf") if suitable == "l1" else (suitable,)


def _scaling(graph: Graph, kind: ScalingKind) -> Scaling:
    return Scaling(kind) if graph.features is None else Scaling.learn(graph.features, kind)
