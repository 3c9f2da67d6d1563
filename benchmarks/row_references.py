"""Rows of e^{-t(I − P)} as hk-relax, TEA and TEA+ compute them: references for a benchmark.

P = D^{-1} A is the random walk; a row ρ says where a walk of Poisson(t) steps ends. All three send
residuals along edges level by level (the level is the number of steps so far). Each routine is
given a :class:`Workspace`, which is left as it was found, and returns how many nodes it touched;
their numbers and values are in the workspace's ``nodes`` and ``values``.

References
----------
K. Kloster, D. Gleich: Heat Kernel Based Community Detection, KDD 2014. R. Yang, X. Xiao, Z. Wei,
S. Bhowmick, J. Zhao, R.-H. Li: Efficient Estimation of Heat Kernel PageRank for Local Clustering,
SIGMOD 2019.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

LEVELS = 128  # no walk is longer
C = 2.5  # of TEA+'s largest level, as its authors set it


class Workspace(NamedTuple):
    """Arrays of n numbers, zero where they must be, and lists of nodes."""

    total: NDArray[np.float64]
    now: NDArray[np.float64]
    after: NDArray[np.float64]
    here: NDArray[np.int32]
    there: NDArray[np.int32]
    nodes: NDArray[np.int32]
    values: NDArray[np.float64]

    @classmethod
    def of(cls, n: int) -> Workspace:
        """Return a clean one."""
        total, now, after, values = np.zeros((4, n))
        here, there, nodes = np.zeros((3, n), dtype=np.int32)
        return cls(total, now, after, here, there, nodes, values)


class Left(NamedTuple):
    """Residuals that were not pushed: level, node and amount of each."""

    levels: NDArray[np.int32]
    nodes: NDArray[np.int32]
    amounts: NDArray[np.float64]


def taylor_degree(t: float, eps: float) -> int:
    """Return the least N with Σ_{k>N} e^{-t} t^k / k! ≤ eps / 2."""
    term = rest = 1.0 - math.exp(-t)
    term, k = math.exp(-t), 0
    while rest > eps / 2:
        k += 1
        term *= t / k
        rest -= term
    return k


def hk_relax(graph: Any, node: int, t: float, eps: float, w: Workspace) -> int:
    """Compute a row with |ρ̂ − ρ| ≤ eps · degree in every column (Kloster and Gleich)."""
    N = taylor_degree(t, eps)
    psi = np.ones(N + 1)
    for k in range(N - 1, -1, -1):
        psi[k] = 1 + psi[k + 1] * t / (k + 1)
    limits = math.exp(t) * eps / (2 * N * psi)
    return int(_hk_relax(graph.indptr, graph.indices, node, t, limits, w))


@njit(cache=True)
def _hk_relax(indptr: Any, indices: Any, node: int, t: float, limits: Any, w: Any) -> int:
    N = len(limits) - 1
    total, now, after, here, there = w.total, w.now, w.after, w.here, w.there
    touched = 0
    now[node] = 1.0
    here[0] = node
    size = 1
    for level in range(N + 1):
        new = 0
        for i in range(size):
            v = here[i]
            amount = now[v]
            now[v] = 0.0
            degree = indptr[v + 1] - indptr[v]
            # The last level is added as it arrives; before it only what is worth its edges.
            if level < N and amount < limits[level] * degree:
                continue
            if total[v] == 0.0:
                w.nodes[touched] = v
                touched += 1
            total[v] += amount
            if level < N:
                share = amount * t / ((level + 1) * degree)
                for e in range(indptr[v], indptr[v + 1]):
                    u = indices[e]
                    if after[u] == 0.0:
                        there[new] = u
                        new += 1
                    after[u] += share
        now, after, here, there, size = after, now, there, here, new
    scale = math.exp(-t)
    for i in range(touched):
        v = w.nodes[i]
        w.values[i] = total[v] * scale
        total[v] = 0.0
    return touched


class Poisson(NamedTuple):
    """η(k) = e^{-t} t^k / k!, the sums ψ(k) = η(k) + η(k + 1) + …, and η / ψ."""

    eta: NDArray[np.float64]
    psi: NDArray[np.float64]
    stop: NDArray[np.float64]

    @classmethod
    def of(cls, t: float) -> Poisson:
        """Return them up to the longest walk, which stops for sure."""
        k = np.arange(LEVELS)
        eta = np.exp(k * math.log(t) - t - np.array([math.lgamma(i + 1) for i in k]))
        psi = np.cumsum(eta[::-1])[::-1]
        return cls(eta, psi, np.where(psi > 0, eta / np.where(psi > 0, psi, 1), 1.0))


def failure_share(degrees: NDArray[Any], p_f: float) -> float:
    """Return the probability per node, so that with p_f none of them fails."""
    summed = float((p_f ** (degrees[degrees > 0] - 1.0)).sum())
    return p_f / max(1.0, summed)


def tea(
    graph: Any,
    node: int,
    t: float,
    relative: float,
    delta: float,
    p: float,
    w: Workspace,
    seed: int,
) -> int:
    """Compute a row by TEA: pushes down to r_max = 1/(ωt), then ω walks per residual."""
    omega = 2 * (1 + relative / 3) * math.log(1 / p) / (relative**2 * delta)
    poisson, random = Poisson.of(t), np.random.default_rng(seed)
    touched, left, _ = _push(
        graph.indptr,
        graph.indices,
        node,
        poisson.stop,
        1 / (omega * t),
        LEVELS - 1,
        np.inf,
        -1.0,
        w,
    )
    touched = _walk(graph.indptr, graph.indices, left, poisson.stop, omega, touched, w, random)
    return int(_collect(touched, w))


def tea_plus(
    graph: Any,
    node: int,
    t: float,
    relative: float,
    delta: float,
    p: float,
    w: Workspace,
    seed: int,
) -> tuple[int, float]:
    """Compute a row by TEA+, and what is to be added per degree to every column of it.

    Pushes stop at level K, at a budget of ωt/2 edges, or where what is left cannot cost more than
    relative · delta in any column. Otherwise residuals are reduced by as much as costs that at
    most, half of it is added back, and walks take care of the rest.
    """
    omega = 8 * (1 + relative / 6) * math.log(1 / p) / (relative**2 * delta)
    poisson, goal = Poisson.of(t), relative * delta
    random = np.random.default_rng(seed)
    average = len(graph.indices) / max(1, int((np.diff(graph.indptr) > 0).sum()))
    K = max(1, round(C * math.log(1 / goal) / math.log(average)))
    touched, left, done = _push(
        graph.indptr, graph.indices, node, poisson.stop, goal / K, K, omega * t / 2, goal, w
    )
    offset = 0.0
    if not done:
        sums = np.bincount(left.levels, weights=left.amounts)
        share = sums / sums.sum()
        degrees = graph.indptr[left.nodes + 1] - graph.indptr[left.nodes]
        reduced = left.amounts - share[left.levels] * goal * degrees
        kept = reduced > 0
        left = Left(left.levels[kept], left.nodes[kept], reduced[kept])
        offset = goal / 2
        touched = _walk(graph.indptr, graph.indices, left, poisson.stop, omega, touched, w, random)
    return int(_collect(touched, w)), offset


@njit(cache=True)
def _push(
    indptr: Any, indices: Any, node: int, stop: Any, limit: float, K: int, budget: float,
    goal: float, w: Any,
) -> Any:  # fmt: skip
    """Push what is above limit · degree on levels below K; return what is left, and if it may be.

    It may where the sum over levels of the largest residual per degree is ``goal`` at most.
    """
    total, now, after, here, there = w.total, w.now, w.after, w.here, w.there
    levels, nodes = np.empty(1024, np.int32), np.empty(1024, np.int32)
    amounts = np.empty(1024)
    count, touched, edges = 0, 0, 0.0
    lost = 0.0  # Σ over levels that are done with of the largest residual per degree
    now[node] = 1.0
    here[0] = node
    size, level = 1, 0
    while size > 0:
        new = 0
        largest, upcoming = 0.0, 0.0
        for i in range(size):
            v = here[i]
            amount = now[v]
            now[v] = 0.0
            degree = indptr[v + 1] - indptr[v]
            if level >= K or edges >= budget or amount <= limit * degree:
                if count == len(levels):
                    levels = np.concatenate((levels, np.empty(count, np.int32)))
                    nodes = np.concatenate((nodes, np.empty(count, np.int32)))
                    amounts = np.concatenate((amounts, np.empty(count)))
                levels[count], nodes[count], amounts[count] = level, v, amount
                count += 1
                largest = max(largest, amount / degree)
                continue
            if total[v] == 0.0:
                w.nodes[touched] = v
                touched += 1
            total[v] += stop[level] * amount
            edges += degree
            share = (1 - stop[level]) * amount / degree
            for e in range(indptr[v], indptr[v + 1]):
                u = indices[e]
                if after[u] == 0.0:
                    there[new] = u
                    new += 1
                after[u] += share
        lost += largest
        if goal >= 0:
            for i in range(new):
                u = there[i]
                upcoming = max(upcoming, after[u] / (indptr[u + 1] - indptr[u]))
            if lost + upcoming <= goal:
                for i in range(new):
                    after[there[i]] = 0.0
                return touched, Left(levels[:0], nodes[:0], amounts[:0]), True
        now, after, here, there, size = after, now, there, here, new
        level += 1
    return touched, Left(levels[:count], nodes[:count], amounts[:count]), False


@njit(cache=True)
def _alias(amounts: Any, weight: float) -> Any:
    """Return Walker's tables: draw a cell, and stay in it with its probability."""
    m = len(amounts)
    odds, other = np.empty(m), np.arange(m)
    small, large = np.empty(m, np.int64), np.empty(m, np.int64)
    s = b = 0
    for i in range(m):
        odds[i] = amounts[i] * m / weight
        if odds[i] < 1:
            small[s] = i
            s += 1
        else:
            large[b] = i
            b += 1
    while s and b:
        s -= 1
        i, j = small[s], large[b - 1]
        other[i] = j
        odds[j] -= 1 - odds[i]
        if odds[j] < 1:
            b -= 1
            small[s] = j
            s += 1
    return odds, other


@njit(cache=True)
def _walk(
    indptr: Any, indices: Any, left: Any, stop: Any, omega: float, touched: int, w: Any, random: Any
) -> int:
    """Add ω walks per residual, each begun on its level, to the totals."""
    weight = left.amounts.sum()
    if weight == 0.0:
        return touched
    walks = math.ceil(weight * omega)
    odds, other = _alias(left.amounts, weight)
    gain = weight / walks
    for _ in range(walks):
        i = int(random.random() * len(odds))
        if random.random() >= odds[i]:
            i = other[i]
        v, level = left.nodes[i], left.levels[i]
        while random.random() >= stop[level]:
            first = indptr[v]
            v = indices[first + int(random.random() * (indptr[v + 1] - first))]
            level += 1
        if w.total[v] == 0.0:
            w.nodes[touched] = v
            touched += 1
        w.total[v] += gain
    return touched


@njit(cache=True)
def _collect(touched: int, w: Any) -> int:
    for i in range(touched):
        v = w.nodes[i]
        w.values[i] = w.total[v]
        w.total[v] = 0.0
    return touched
