"""Which labels teach, and which ones say when to stop."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphheat.errors import GraphError
from graphheat.graph import Graph


class Roles(NamedTuple):
    """Node indices by role, and what to tell the user about how they were chosen."""

    train: NDArray[np.int64]
    val: NDArray[np.int64]
    test: NDArray[np.int64]
    note: str | None


def assign_roles(graph: Graph, seed: int) -> Roles:
    """Take the graph's split; without validation labels, hold a fifth of the training ones out.

    Without a ``train`` part, every labelled node outside ``val`` and ``test`` teaches. The nodes
    held out are drawn class by class: a class of one or two labels gives none, any other at least
    one.
    """
    empty = np.empty(0, dtype=np.int64)
    val, test = graph.split.get("val", empty), graph.split.get("test", empty)
    known = graph.labels >= 0
    if "train" in graph.split:
        train = graph.split["train"]
    else:
        free = known.copy()
        free[val] = free[test] = False
        train = np.flatnonzero(free)
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
    test = test[known[test]]
    if len(val):
        return Roles(train, val, test, None)
    random = np.random.default_rng(seed)
    held: list[NDArray[np.int64]] = []
    for code in np.unique(graph.labels[train]):
        members = train[graph.labels[train] == code]
        if len(members) >= 3:
            size = max(1, round(len(members) / 5))
            held.append(random.permutation(members)[:size])
    if not held:
        return Roles(train, empty, test, "No class has three labels, so none is held out and "
                     "training runs for a fixed number of epochs.")  # fmt: skip
    val = np.sort(np.concatenate(held))
    rest = np.setdiff1d(train, val)
    return Roles(
        rest,
        val,
        test,
        f"No validation labels were given: {len(val)} of {len(train)} labelled nodes are held out "
        "to decide when to stop.",
    )
