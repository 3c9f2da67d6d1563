"""``s="auto"``: how long heat should flow, selected with a linear model first, in seconds."""

from __future__ import annotations

from typing import Literal

from graphheat.features import ScalingKind
from graphheat.graph import Graph, Split
from graphheat.linear.grid import DEFAULT_S
from graphheat.linear.linear_fit import fit_linear
from graphheat.linear.linear_run import LinearRun, LinearSettings
from graphheat.progress import Progress
from graphheat.training.settings import NetworkSettings

Time = float | Literal["auto"] | None

AUTO: Literal["auto"] = "auto"
FEW = 5  # labels per class in the mean, below which leave-one-out cannot tell times apart
SHORT = 1.0  # s of a layer; a linear model that selects no more finds little use in smoothing


def choose_time(
    graph: Graph,
    split: Split,
    scaling: ScalingKind,
    *,
    threads: int | None = None,
    progress: Progress | None = None,
) -> LinearRun:
    """Return the linear recipe's run on a graph: its grid of s is what was tried.

    All values of s share one diffusion there, and each is scored in milliseconds, by leave-one-out
    over the training labels; neither validation nor calibration labels choose. All features are
    diffused: the layers that s is for have a self term to learn.
    """
    settings = LinearSettings(scaling=scaling, self_weight=0.0)
    return fit_linear(graph, split, settings, threads=threads, progress=progress)


def settings_from(linear: LinearRun, settings: NetworkSettings) -> tuple[dict[str, float], str]:
    """Return the settings of a network, and the sentence that says where its s comes from.

    Heat flows once in the linear model and twice, layer after layer, in the network: each layer
    gets half of the time, unless heat is in the first alone (batch normalisation).

    Where that selects little heat or none, neighbours cannot stand in for a node whose
    features are dropped, so none are; and layers have a short time rather than none: a network,
    unlike a linear model, may subtract what heat brings.
    """
    once = settings.objective == "batchnorm"
    drops = settings.objective != "supervised"
    s = linear.s if once else linear.s / 2
    few = len(linear.split.train) < FEW * len(linear.classes)
    if few or not linear.search.by:
        s = DEFAULT_S if once else DEFAULT_S / 2
        return {"s": s}, f"Too few labels to choose s by: s = {s:g}."
    how = "by leave-one-out over the training labels"
    if drops and linear.s <= SHORT:
        return {"s": SHORT, "drop_nodes": 0.0}, (
            f"A linear model selects s = {linear.s:g} {how}: little smoothing helps here. Layers "
            f"have s = {SHORT:g}, and no node is dropped."
        )
    halved = "" if once else f", half of {linear.s:g} in each layer"
    return {"s": s}, f"s = {s:g} was chosen with a linear model {how}{halved}."
