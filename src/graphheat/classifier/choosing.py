"""``s="auto"``: how long heat should flow, asked of a linear model first, in seconds."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from graphheat.baselines.system import Callback
from graphheat.errors import ParameterError
from graphheat.graph import Graph
from graphheat.linear import LinearRun, fit_linear
from graphheat.training import settings_for
from graphheat.training.recipes import CHOSEN, ConsistentSettings, Settings
from graphheat.training.scaling import ScalingKind

Time = float | Literal["auto"] | None

AUTOMATIC = ("consistent", "normalized")  # recipes whose s is chosen where none is given


def wants_choice(graph: Graph, recipe: str, s: Time) -> bool:
    """Whether ``s`` is left to :func:`choose_time`; raise where it is neither number nor auto."""
    if isinstance(s, str) and s != "auto":
        raise ParameterError(
            f"The 's' parameter of fit must be a number or 'auto'. Got {s!r} instead."
        )
    chosen_before = recipe == "consistent" and graph.name in CHOSEN
    return s == "auto" or (s is None and recipe in AUTOMATIC and not chosen_before)


class Chosen(NamedTuple):
    """The s to train with, what to tell of it, and the run whose path it was chosen on."""

    s: float | None
    notes: tuple[str, ...] = ()
    linear: LinearRun | None = None


def resolve_time(
    graph: Graph,
    recipe: str,
    s: Time,
    changes: dict[str, Any],
    *,
    threads: int | None = None,
    callback: Callback | None = None,
) -> Chosen:
    """Return ``s`` as it is, or choose it.

    ``changes`` are the other settings; mistakes in them are told before anything is tried.
    """
    if not wants_choice(graph, recipe, s):
        return Chosen(s)  # type: ignore[arg-type]  # "auto" has been answered for
    settings = settings_for(graph, recipe, **changes)
    if graph.features is None:
        return Chosen(None)  # the network says itself what it needs
    linear = choose_time(graph, settings.scaling, threads=threads, callback=callback)
    time, sentence = time_for(linear, settings)
    return Chosen(time, (sentence,), linear)


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
    0, so that a resumed run finds the same s).
    """
    return fit_linear(graph, scaling=scaling, threads=threads, callback=callback)


def time_for(linear: LinearRun, settings: Settings) -> tuple[float, str]:
    """Return the s of a network's layers, and the sentence that says where it comes from.

    Heat flows once in the linear model and twice, layer after layer, in the network: each layer
    gets half of the time, unless heat is in the first alone (``normalize=True``).
    """
    once = isinstance(settings, ConsistentSettings) and settings.normalize
    s = linear.s if once else linear.s / 2
    judged = {
        "validation": "on the validation labels",
        "cross-validation": "by cross-validation over the training labels",
    }
    if linear.path.by not in judged:
        return s, f"Too few labels to choose s by: s = {s:g}."
    how = "" if once else f", half of {linear.s:g} in each layer"
    return s, f"s = {s:g} was chosen with a linear model {judged[linear.path.by]}{how}."
