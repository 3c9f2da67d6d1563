"""The default's network on a graph in memory that is too large for networks on all of it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from graphheat.graph import Graph, Split
from graphheat.heat.engines.panel.panel import PanelEngine
from graphheat.heat.operand import Operand
from graphheat.heat.series import ChebyshevSeries
from graphheat.linear.diffusion import SELF_LOOPS
from graphheat.linear.grid import TIMES
from graphheat.linear.heat_rows import HeatRows
from graphheat.linear.labelling import Fill, Heat, label_nodes
from graphheat.linear.linear_run import LinearRun
from graphheat.linear.narrow_model import LinearModel
from graphheat.linear.sampled_run import SampledRun
from graphheat.progress import Progress
from graphheat.runs.protocols import PlainSettings


def fit_sampled(
    graph: Graph,
    split: Split,
    linear: LinearRun,
    *,
    seed: int = 0,
    threads: int | None = None,
    progress: Progress | None = None,
) -> SampledRun:
    """Train a network from rows, with the scaling of a linear run, and label all nodes.

    Notes
    -----
    *Cost*: training by how many labels there are; labelling one diffusion of 64 columns.
    *Deterministic*: for a seed.
    """
    from graphheat.training.sampled_network import train_sampled

    began = time.perf_counter()
    train = np.sort(split.train)
    # Rows must account for the heat; labelling may take longer than they do.
    offered = HeatRows(graph, threads=threads or 1).offered(np.array(TIMES), train)
    start = LinearModel(
        min(linear.s, float(offered[-1])), linear.self_weight, linear.scaling, linear.weights,
        linear.bias,
    )  # fmt: skip
    found = train_sampled(graph, split, start, seed=seed, threads=threads)
    labels = label_nodes(
        graph, found.model, split, threads=threads or 1, progress=progress, diffuse=in_memory
    )
    out_of_fold = None
    if len(found.left_out):
        out_of_fold = np.full((len(train), len(graph.classes)), np.nan)
        out_of_fold[np.searchsorted(train, found.train)] = softmax(found.left_out, axis=1)
    model: Any = labels.model
    return SampledRun(
        **SampledRun.graph_parts(graph, split),
        recipe="sampled",
        settings=PlainSettings({"s": start.s}),
        seed=seed,
        probabilities=labels.probabilities,
        reached=labels.reached,
        out_of_fold=out_of_fold,
        seconds=time.perf_counter() - began,
        notes=(labels.note,) if labels.note else (),
        model=model,
    )


def in_memory(
    graph: Graph,
    columns: Fill,
    count: int,
    series: Sequence[ChebyshevSeries],
    *,
    out: Path | None = None,
    threads: int = 1,
    progress: Progress | None = None,
) -> Heat:
    """Diffuse ``count`` columns on a graph in memory, and return what gives rows of the results."""
    operand = Operand.of_graph(graph.adjacency, self_loops=SELF_LOOPS)
    block = columns(0, graph.n, slice(0, count)).astype(series[0].dtype)
    results: list[NDArray[Any]] = PanelEngine().apply(operand, block, series, threads=threads)
    return lambda rows, e: results[e][rows]
