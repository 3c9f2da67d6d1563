"""Which labels teach, which ones say when to stop, and which ones calibrate."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphheat.checks import check_number
from graphheat.errors import GraphError
from graphheat.graph import Graph

LEAST_CALIBRATION, LEAST_STOPPING = 20, 40  # validation nodes that each purpose needs

_NOBODY = np.empty(0, dtype=np.int64)
_NOBODY.flags.writeable = False


class Roles(NamedTuple):
    """Node indices by role, and what to tell the user about how they were chosen.

    ``val`` says when to stop; ``calibration``, which shares no node with it, how far the result
    may be believed.
    """

    train: NDArray[np.int64]
    val: NDArray[np.int64]
    test: NDArray[np.int64]
    note: str | None
    calibration: NDArray[np.int64] = _NOBODY


def assign_roles(graph: Graph, seed: int, calibration: float = 0.0) -> Roles:
    """Take the graph's split; without validation labels, hold a fifth of the training ones out.

    Without a ``train`` part, every labelled node outside ``val``, ``test`` and ``calibration``
    teaches. The nodes held out are drawn class by class: a class of one or two labels gives none,
    any other at least one.

    Parameters
    ----------
    graph
        A ``calibration`` part of its split is taken as it is.
    seed
        Decides who is drawn.
    calibration
        Without such a part: share of the validation nodes, in [0, 1), that calibrate and do not
        stop, drawn class by class. None are, and the note says so, where fewer than 20 would
        calibrate or fewer than 40 stop.

    Examples
    --------
    >>> import graphheat
    >>> roles = assign_roles(graphheat.datasets.load("cora"), 0, calibration=0.3)
    >>> len(roles.val), len(roles.calibration)
    (350, 150)
    """
    share = check_number(calibration, "calibration", "assign_roles", 0.0, 1.0, right="open")
    roles = _of_split(graph, seed)
    if share == 0 or "calibration" in graph.split:
        return roles
    return _with_calibration(roles, graph, seed, share)


def _with_calibration(roles: Roles, graph: Graph, seed: int, share: float) -> Roles:
    """Move a share of the validation nodes of each class, or add to the note why not."""
    # Another stream than the one that draws validation nodes, so that a share changes no other.
    random = np.random.default_rng([seed, 1])
    codes = graph.labels[roles.val]
    mixed = random.permutation(roles.val)
    # In turns through the classes: the first share of that order holds each class in proportion.
    place = np.empty(len(mixed))
    for code in np.unique(codes):
        members = graph.labels[mixed] == code
        place[members] = (np.arange(members.sum()) + 0.5) / members.sum()
    chosen = mixed[np.argsort(place, kind="stable")[: round(share * len(mixed))]]
    if len(chosen) >= LEAST_CALIBRATION and len(mixed) - len(chosen) >= LEAST_STOPPING:
        rest = roles.val[~np.isin(roles.val, chosen)]
        return roles._replace(val=rest, calibration=np.sort(chosen))
    words = (
        f"{len(mixed)} validation labels are too few to hold {share:.0%} out for calibration "
        f"(which needs {LEAST_CALIBRATION}, and stopping {LEAST_STOPPING}), so the same nodes do "
        "both."
        if len(mixed)
        else "Without validation labels confidence is not calibrated."
    )
    return roles._replace(note=words if roles.note is None else f"{roles.note} {words}")


def _of_split(graph: Graph, seed: int) -> Roles:
    """Return the roles that the graph's split gives, validation nodes drawn where it has none."""
    empty = np.empty(0, dtype=np.int64)
    val, test, apart = (graph.split.get(name, empty) for name in ("val", "test", "calibration"))
    known = graph.labels >= 0
    train = graph.training_nodes
    if not len(train):
        raise GraphError(
            "There is no labelled node to learn from. Label at least one node of each class."
        )
    if len(np.unique(graph.labels[train])) < 2:
        only = graph.classes[graph.labels[train[0]]]
        raise GraphError(
            f"The training labels name one class only ({only!r}); at least two are needed to "
            "tell nodes apart."
        )
    test, apart = test[known[test]], apart[known[apart]]
    if len(val):
        return Roles(train, val, test, None, apart)
    random = np.random.default_rng(seed)
    held: list[NDArray[np.int64]] = []
    for code in np.unique(graph.labels[train]):
        members = train[graph.labels[train] == code]
        if len(members) >= 3:
            size = max(1, round(len(members) / 5))
            held.append(random.permutation(members)[:size])
    if not held:
        return Roles(train, empty, test, "No class has three labels, so none is held out and "
                     "training runs for a fixed number of epochs.", apart)  # fmt: skip
    val = np.sort(np.concatenate(held))
    rest = np.setdiff1d(train, val)
    return Roles(
        rest,
        val,
        test,
        f"No validation labels were given: {len(val)} of {len(train)} labelled nodes are held out "
        "to decide when to stop.",
        apart,
    )
