"""``s="auto"``: how long heat should flow, asked of a linear model first, in seconds."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from graphheat.baselines.system import Callback
from graphheat.errors import ParameterError
from graphheat.graph import Graph
from graphheat.linear import LinearRun, fit_linear
from graphheat.training import settings_for

Time = float | Literal["auto"] | None

AUTOMATIC = ("consistent",)  # recipes whose s is chosen where none is given


def wants_choice(recipe: str, s: Time) -> bool:
    """Whether ``s`` is left to :func:`choose_time`; raise where it is neither number nor auto."""
    if isinstance(s, str) and s != "auto":
        raise ParameterError(
            f"The 's' parameter of fit must be a number or 'auto'. Got {s!r} instead."
        )
    return s == "auto" or (s is None and recipe in AUTOMATIC)


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
    if not wants_choice(recipe, s):
        return Chosen(s)  # type: ignore[arg-type]  # "auto" has been answered for
    settings_for(graph, recipe, **changes)
    if graph.features is None:
        return Chosen(None)  # the network says itself what it needs
    linear = choose_time(graph, threads=threads, callback=callback)
    time, sentence = time_for(linear, changes)
    return Chosen(time, (sentence,), linear)


def choose_time(
    graph: Graph, *, threads: int | None = None, callback: Callback | None = None
) -> LinearRun:
    """Return the linear recipe's run on a graph: its path of s is what was tried.

    All values of s share one diffusion there, and each is judged in milliseconds, on the
    validation labels or by cross-validation over the training labels (always by the folds of seed
    0, so that a resumed run finds the same s).
    """
    return fit_linear(graph, threads=threads, callback=callback)


def time_for(linear: LinearRun, changes: dict[str, Any]) -> tuple[float, str]:
    """Return the s of a network's layers, and the sentence that says where it comes from.

    Heat flows once in the linear model and twice, layer after layer, in the network: each layer
    gets half of the time, unless heat is in the first alone (``normalize=True``).
    """
    once = bool(changes.get("normalize", False))
    s = linear.s if once else linear.s / 2
    judged = {
        "validation": "on the validation labels",
        "cross-validation": "by cross-validation over the training labels",
    }
    if linear.path.by not in judged:
        return s, f"Too few labels to choose s by: s = {s:g}."
    how = "" if once else f", half of {linear.s:g} in each layer"
    return s, f"s = {s:g} was chosen with a linear model {judged[linear.path.by]}{how}."
