"""The memory that a fit will take, estimated before it starts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from graphheat.errors import KernelMemoryError
from graphheat.graph import Graph
from graphheat.graph.feature_matrix import Features
from graphheat.linear.neighbor_run import too_large
from graphheat.memory import available_memory
from graphheat.recipes.folds import FOLDS, KINDS, MEMBERS

# Bytes, measured on graphs of 50,000 and 200,000 nodes and rounded up.
ALWAYS = 150_000_000  # compiled loops, libraries, small arrays
PER_NODE, PER_ENTRY = 700, 130  # of any fit: labels, S and what engines derive from it
PER_MESSAGE = 300  # of a baseline, per stored entry: what edges carry in each layer
STRIP = 64  # columns of float64 that are diffused at a time
LAYERS = 3  # activations, gradients and what Adam holds, beside one array per kernel term
SIDE_BY_SIDE = 14  # the same of an ensemble, whose views and members have arrays of their own
HEAVY = 3e11  # multiply-adds of all epochs beyond which "auto" leaves networks to those who ask
HEAVY_OUTPUT = 3e11  # the same of the last layer of a network trained from rows: many classes

LIGHT = ("spreading", "linear", "auto")
OURS = (*LIGHT, "ensemble", "consistent", "normalized", "paper", "authors")


def fit_memory(graph: Graph, recipe: str, settings: Any) -> int:
    """Estimate the peak of a fit, in bytes, beyond what the graph itself takes.

    Parameters
    ----------
    recipe
        Its name.
    settings
        As the recipe's ``settings`` returned them. Widths (``hidden``, ``views``, ``K``, ``order``)
        are taken from them; a recipe without any is counted as linear algebra on the features.

    Notes
    -----
    The matrix of a kernel (``eps``) is not counted: it has a plan of its own, which is checked
    when the kernel is made (:meth:`graphheat.HeatKernel.plan`).

    Examples
    --------
    >>> import graphheat
    >>> graph = graphheat.datasets.block_model(300, 3, seed=0)
    >>> fit_memory(graph, "spreading", None) < fit_memory(graph, "ensemble", None)
    True
    """
    n, classes = graph.n, max(2, len(graph.classes))
    entries = int(graph.adjacency.nnz)
    total = ALWAYS + PER_NODE * n + PER_ENTRY * entries + 8 * n * 4 * min(STRIP, max(classes, 16))
    if recipe == "spreading":
        return total
    columns, stored = _size(graph.features)
    if recipe == "auto" and graph.features is None and not too_large(graph):
        columns, stored = n, entries  # neighbours stand in for features
    total += 24 * (stored + columns)
    total += 8 * n * (2 * columns if columns <= 2 * STRIP else 2 * STRIP)
    if recipe in ("linear", "auto", "ensemble"):
        # Diffused features of the rows that choose, for nine times and three forms.
        chosen = min(1500, int((graph.labels >= 0).sum()))
        total += 8 * chosen * min(columns, 20_000) * 27 + 8 * n * classes * 12
    if recipe == "linear" or (recipe == "auto" and not _networks(graph, settings)):
        return total
    if recipe not in OURS:
        total += PER_MESSAGE * entries
    values = _values(settings)
    hidden, views = _number(values, "hidden", 32), _number(values, "views", 1)
    terms = _number(values, "K", 2)
    together = recipe in ("auto", "ensemble")
    members, layers = (members_of(graph), SIDE_BY_SIDE) if together else (1, LAYERS)
    width = members * views * (hidden + classes)
    weights = members * terms * hidden * (columns + classes)
    return total + 4 * n * width * (layers + terms) + 4 * 4 * weights


def check_fit_memory(graph: Graph, recipe: str, settings: Any) -> None:
    """Raise where a fit would not fit into the memory that is left, before it starts."""
    room, needed = available_memory(), fit_memory(graph, recipe, settings)
    if room is not None and needed > room:
        lighter = "" if recipe == "spreading" else " Recipe 'spreading' takes the least."
        raise KernelMemoryError(
            f"Recipe {recipe!r} on {graph.n:,} nodes and {graph.adjacency.nnz // 2:,} edges would "
            f"take about {needed / 1e9:.1f} GB, and {room / 1e9:.1f} GB are free.{lighter}"
        )


def without_networks(graph: Graph, settings: Any) -> str | None:
    """Return a sentence where "auto" has room for all but its networks, and None elsewhere.

    Networks that were asked for (``networks=True``) are not left out: their fit is refused.
    """
    if settings.networks is not None or not _networks(graph, settings):
        return None
    room, needed = available_memory(), fit_memory(graph, "auto", settings)
    least = fit_memory(graph, "auto", replace(settings, networks=False))
    if room is None or needed <= room or least > room:
        return None
    return (
        f"Networks were left out: with them the fit would take about {needed / 1e9:.1f} GB, and "
        f"{room / 1e9:.1f} GB are free."
    )


def _size(features: Features | None) -> tuple[int, int]:
    """Return the columns of features, and how many of their entries are stored."""
    if features is None:
        return 0, 0
    return int(features.shape[1]), int(
        features.size if isinstance(features, np.ndarray) else features.nnz
    )


def _networks(graph: Graph, settings: Any) -> bool:
    """Tell whether "auto" may train networks."""
    wanted = getattr(settings, "networks", None)
    if graph.features is None or wanted is False:
        return False
    return wanted is True or network_work(graph, settings.ensemble.network) <= HEAVY


def members_of(graph: Graph) -> int:
    """Return how many networks are trained side by side: more, where folds must judge them."""
    return KINDS * (MEMBERS + (0 if len(graph.split.val) else FOLDS))


def network_work(graph: Graph, network: Any) -> float:
    """Return the multiply-adds of all epochs of an ensemble, roughly: heat both ways, features."""
    members = members_of(graph)
    columns = members * network.views * (network.hidden + len(graph.classes))
    heat = 4.0 * (graph.adjacency.nnz + graph.n) * columns * 2
    _, stored = _size(graph.features)
    width = members * 2 * network.hidden
    return float(network.max_epochs * (heat + 3.0 * stored * width))


def _values(settings: Any) -> dict[str, Any]:
    return {} if settings is None else dict(settings.as_dict())


def _number(values: dict[str, Any], name: str, default: int) -> int:
    found = values.get(name, default)
    return found if isinstance(found, int) else default
