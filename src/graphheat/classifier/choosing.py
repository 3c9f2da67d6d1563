"""``s="auto"``: how long heat should flow, asked of a linear model first, in seconds."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np

from graphheat.baselines.system import Callback
from graphheat.checks import check_seed
from graphheat.datasets import paper_name
from graphheat.errors import ParameterError
from graphheat.graph import Graph
from graphheat.linear import LinearRun, fit_linear
from graphheat.linear.choice import DEFAULT_S
from graphheat.training import settings_for
from graphheat.training.borrowing import FEW
from graphheat.training.holdout import assign_roles
from graphheat.training.recipes import ConsistentSettings, Settings
from graphheat.training.scaling import ScalingKind

Time = float | Literal["auto"] | None

AUTOMATIC = ("consistent", "normalized")  # recipes whose s is chosen where none is given
SHORT = 1.0  # s of a layer, and the time up to which a linear model says that heat is unwanted


def wants_choice(graph: Graph, recipe: str, s: Time) -> bool:
    """Whether ``s`` is left to :func:`choose_time`; raise where it is neither number nor auto."""
    if isinstance(s, str) and s != "auto":
        raise ParameterError(
            f"The 's' parameter of fit must be a number or 'auto'. Got {s!r} instead."
        )
    chosen_before = recipe == "consistent" and bool(paper_name(graph))
    return s == "auto" or (s is None and recipe in AUTOMATIC and not chosen_before)


class Chosen(NamedTuple):
    """Settings to train with, what to tell of them, and the run whose path s was chosen on."""

    settings: dict[str, Any]
    notes: tuple[str, ...] = ()
    linear: LinearRun | None = None


def resolve_time(
    graph: Graph,
    recipe: str,
    s: Time,
    changes: dict[str, Any],
    *,
    seed: int = 0,
    threads: int | None = None,
    callback: Callback | None = None,
    before: dict[bytes, Chosen] | None = None,
) -> Chosen:
    """Return ``s`` as it is, or choose it and what hangs on it.

    ``changes`` are the other settings; mistakes in them are told before anything is tried, and
    they have the last word. ``seed`` says who will calibrate: these nodes do not choose. ``before``
    holds the choices of other seeds, by who calibrated, and gains this one.
    """
    if not wants_choice(graph, recipe, s):
        return Chosen({"s": s, **changes})
    settings = settings_for(graph, recipe, **changes)
    if graph.features is None:
        return Chosen(changes)  # the network says itself what it needs
    judged = apart_from_calibration(graph, settings, check_seed(seed))
    before = {} if before is None else before
    key = judged.split["calibration"].tobytes() if "calibration" in judged.split else b""
    if key not in before:
        linear = choose_time(judged, settings.scaling, threads=threads, callback=callback)
        found, sentence = settings_from(linear, settings)
        before[key] = Chosen({**found, **changes}, (sentence,), linear)
    return before[key]


def apart_from_calibration(graph: Graph, settings: Settings, seed: int) -> Graph:
    """Return the graph, those of its nodes that a run with this seed calibrates by set apart."""
    if settings.calibration == 0 or "calibration" in graph.split:
        return graph
    roles = assign_roles(graph, seed, calibration=settings.calibration)
    if not len(roles.calibration):
        return graph
    parts = {"test": roles.test, "calibration": roles.calibration}
    if len(graph.split.get("val", ())):
        return graph.with_split(train=roles.train, val=roles.val, **parts)
    # Nodes that were held out to stop by may choose too: in cross-validation, as all that teach do.
    return graph.with_split(train=np.union1d(roles.train, roles.val), **parts)


def choose_time(
    graph: Graph,
    scaling: ScalingKind,
    *,
    threads: int | None = None,
    callback: Callback | None = None,
) -> LinearRun:
    """Return the linear recipe's run on a graph: its path of s is what was tried.

    All values of s share one diffusion there, and each is judged in milliseconds, on the
    validation labels or by cross-validation over the training labels (always by the folds of seed
    0, so that a resumed run finds the same s). All features are diffused: the layers that s is for
    have a θ0 to learn.
    """
    return fit_linear(graph, scaling=scaling, own=0.0, threads=threads, callback=callback)


def settings_from(linear: LinearRun, settings: Settings) -> tuple[dict[str, Any], str]:
    """Return the settings of a network, and the sentence that says where its s comes from.

    Heat flows once in the linear model and twice, layer after layer, in the network: each layer
    gets half of the time, unless heat is in the first alone (``normalize=True``).

    Where the linear model wants little heat or none, neighbours cannot stand in for a node whose
    features are dropped, so none are; and layers have a short time rather than none: a network,
    unlike a linear model, may subtract what heat brings.
    """
    consistent = isinstance(settings, ConsistentSettings)
    once = consistent and settings.normalize
    s = linear.s if once else linear.s / 2
    judged = {
        "validation": "on the validation labels",
        "cross-validation": "by cross-validation over the training labels",
    }
    few = len(linear.training_nodes) < FEW * len(linear.classes)
    if linear.path.by not in judged or (few and linear.path.by == "cross-validation"):
        s = DEFAULT_S if once else DEFAULT_S / 2
        return {"s": s}, f"Too few labels to choose s by: s = {s:g}."
    how = judged[linear.path.by]
    if consistent and linear.s <= SHORT:
        return {"s": SHORT, "drop_nodes": 0.0}, (
            f"A linear model wants little heat (s = {linear.s:g}, chosen {how}): layers have "
            f"s = {SHORT:g}, and no node is dropped."
        )
    halved = "" if once else f", half of {linear.s:g} in each layer"
    return {"s": s}, f"s = {s:g} was chosen with a linear model {how}{halved}."
