"""The compiled loops of the push: heat that spreads from one frontier to the next.

Importing this module imports numba. What is computed, and why it may be trusted, is explained in
:mod:`graphheat.heat.engines.push.push`; here nodes are numbered by falling degree, so that the
busiest share cache lines and "of no larger degree" is "of no smaller number".
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphheat.heat.engines.push.walk import Edges, Levels
from graphheat.jit import compiled

# What is known of a node stands in one row of ``state``, half a cache line.
ARRIVING, RESIDUAL, HEAT, INVERSE = 0, 1, 2, 3  # INVERSE: 1 / degree

# Zero means "not there yet" in ARRIVING and HEAT; this keeps what underflows away from it.
TINY = 1e-300

# Counters are unsigned: a signed one would be tested for being negative at every use.
NONE, ONE = np.uint64(0), np.uint64(1)


class Workspace(NamedTuple):
    """What a thread writes to, clean between rows.

    Attributes
    ----------
    state
        A row for each node, shape (n, 4).
    lists
        Touched nodes, frontier, and nodes where something arrived, shape (3, n + 1): appending
        writes before it knows whether the entry stays.
    """

    state: NDArray[np.float64]
    lists: NDArray[np.uint32]

    @classmethod
    def of(cls, degrees: NDArray[np.float64]) -> Workspace:
        """Return a workspace for nodes of these degrees, shape (n,)."""
        state = np.zeros((len(degrees), 4))
        state[:, INVERSE] = 1 / degrees
        return cls(state, np.empty((3, len(degrees) + 1), dtype=np.uint32))


class Limits(NamedTuple):
    """What ends a row, or the rows.

    Attributes
    ----------
    half
        Whether columns before the seed are left out.
    eps
        The least value that is kept.
    alone
        What a node without edges keeps of its heat.
    patience
        Edges after which no further row is begun.
    """

    half: bool
    eps: float
    alone: float
    patience: int


@compiled
def push(state: Any, frontier: Any, size: Any, arrived: Any, graph: Edges) -> Any:
    """Send the residuals of the frontier over their edges.

    Returns how many nodes they reach, and how many edges that took.
    """
    indptr, indices, chances = graph.indptr, graph.indices, graph.chances
    own = graph.own
    count = NONE
    edges = 0
    for a in range(size):
        v = frontier[a]
        residual = state[v, RESIDUAL]
        state[v, RESIDUAL] = 0.0
        begin, end = indptr[v], indptr[v + 1]
        edges += end - begin
        # Every neighbour is appended; the list grows only by those where nothing had arrived.
        if len(chances) == 0:
            share = residual * state[v, INVERSE]
            for e in range(begin, end):
                u = indices[e]
                before = state[u, ARRIVING]
                arrived[count] = u
                count += np.uint64(before == 0.0)
                state[u, ARRIVING] = before + share
        else:
            share = residual if graph.divided else residual * state[v, INVERSE]
            for e in range(begin, end):
                u = indices[e]
                before = state[u, ARRIVING]
                arrived[count] = u
                count += np.uint64(before == 0.0)
                state[u, ARRIVING] = before + share * chances[e] + TINY
        if own > 0.0:
            edges += 1
            before = state[v, ARRIVING]
            arrived[count] = v
            count += np.uint64(before == 0.0)
            state[v, ARRIVING] = before + residual * state[v, INVERSE] * own + TINY
    return count, edges


@compiled
def heat_from(seed: int, budget: float, walk: Levels, workspace: Workspace, graph: Edges) -> Any:
    """Leave in HEAT what comes from ``seed``; return the nodes touched, the cost and the edges.

    ``lists[0]`` holds the touched nodes. The cost is at most ``budget``; both are in units of
    residual per degree.
    """
    start, levels = walk.start, walk.table
    state, lists = workspace.state, workspace.lists
    touched, frontier, arrived = lists[0], lists[1], lists[2]
    last = levels.shape[1] - 1
    touched[0] = frontier[0] = seed
    total = size = ONE
    state[seed, HEAT], state[seed, RESIDUAL] = start[0] + TINY, start[1]
    cost, highest, edges, level = 0.0, 0.0, 0, 0
    ratio = start[1] * state[seed, INVERSE]
    if ratio * levels[2, 0] <= budget:
        cost = ratio * levels[2, 0]
        size = NONE
    while size > NONE:
        count, pushed = push(state, frontier, size, arrived, graph)
        edges += pushed
        level += 1
        known = min(level, last)
        gain = levels[0, level] if level <= last else walk.s / (level + 1)
        deposit, charge, share = levels[1, known], levels[2, known], levels[3, known]
        limit = highest + (share * budget - cost) / charge
        risen = highest
        size = NONE
        for a in range(count):
            u = arrived[a]
            arriving, heat = state[u, ARRIVING], state[u, HEAT]
            state[u, ARRIVING] = 0.0
            touched[total] = u
            total += np.uint64(heat == 0.0)
            state[u, HEAT] = heat + deposit * arriving + TINY
            residual = state[u, RESIDUAL] + gain * arriving
            state[u, RESIDUAL] = residual
            ratio = residual * state[u, INVERSE]
            frontier[size] = u
            if ratio > limit:
                size += ONE
            else:
                risen = max(risen, ratio)
        cost += (risen - highest) * charge
        highest = risen
    return total, cost, edges


@compiled
def spread(
    seeds: Any, budgets: Any, limits: Limits, walk: Levels, workspace: Workspace, graph: Edges
) -> Any:
    """Return columns, values and counts of the rows of ``seeds``, then their costs and edges.

    Stops after the row with which the patience is at its end: the length of the counts says how
    many rows there are.
    """
    half, eps = limits.half, limits.eps
    state, lists, indptr = workspace.state, workspace.lists, graph.indptr
    columns, values = np.empty(256, np.uint32), np.empty(256)
    counts, costs = np.empty(len(seeds), np.int64), np.zeros(len(seeds))
    kept, edges, done = 0, 0, 0
    while done < len(seeds) and edges <= limits.patience:
        seed = seeds[done]
        if indptr[seed] == indptr[seed + 1] and graph.own == 0.0:
            lists[0, 0], state[seed, HEAT], total = seed, limits.alone, ONE
        else:
            total, costs[done], pushed = heat_from(seed, budgets[done], walk, workspace, graph)
            edges += pushed
        if kept + total > len(columns):
            room = 2 * len(columns) + np.int64(total)
            more_columns, more_values = np.empty(room, np.uint32), np.empty(room)
            for a in range(kept):
                more_columns[a], more_values[a] = columns[a], values[a]
            columns, values = more_columns, more_values
        before, inverse = kept, state[seed, INVERSE]
        for a in range(total):
            u = lists[0, a]
            value = state[u, HEAT] * np.sqrt(state[u, INVERSE] / inverse)
            state[u, HEAT] = state[u, RESIDUAL] = 0.0
            if value >= eps and not (half and u < seed):
                columns[kept], values[kept] = u, value
                kept += 1
        counts[done] = kept - before
        done += 1
    return columns[:kept], values[:kept], counts[:done], costs[:done], edges
