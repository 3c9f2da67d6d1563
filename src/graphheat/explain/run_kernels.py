"""The kernels of a run's network, as explanations need them: in float64."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graphheat.graph import Graph
from graphheat.graph.adjacency import without_diagonal
from graphheat.heat import HeatKernel, normalized_adjacency
from graphheat.heat.engines import AUTO, Auto
from graphheat.training.network_run import NetworkRun

Block = NDArray[np.float64]


class Kernel(Protocol):
    """A symmetric H, shape (n, n)."""

    def spread(self, block: Block) -> Block:
        """Return H block, shape (n, c)."""

    def gather(self, block: Block) -> Block:
        """Return H block for a block most of whose rows are 0."""

    def rows(self, indices: NDArray[np.int64]) -> Block:
        """Return rows of H, shape (k, n)."""


@dataclass(frozen=True)
class Identity:
    """H = I: the self term θ_0, and heat that had no time to flow."""

    n: int

    def spread(self, block: Block) -> Block:
        """Return the block."""
        return block

    gather = spread

    def rows(self, indices: NDArray[np.int64]) -> Block:
        """Return unit vectors, shape (k, n)."""
        units = np.zeros((len(indices), self.n))
        units[np.arange(len(indices)), indices] = 1.0
        return units


@dataclass(frozen=True, eq=False)
class Matrix:
    """H whose entries are known, such as a thresholded e^{-sL}."""

    entries: sp.csr_array

    def spread(self, block: Block) -> Block:
        """Return H block, shape (n, c)."""
        product: Block = self.entries @ block
        return product

    def gather(self, block: Block) -> Block:
        """Return H block; rows of 0 are not multiplied."""
        held = np.flatnonzero(block.any(axis=1))
        product: Block = self.entries[held].T @ block[held]
        return product

    def rows(self, indices: NDArray[np.int64]) -> Block:
        """Return rows of H, shape (k, n)."""
        return np.asarray(self.entries[indices].toarray(), dtype=np.float64)


@dataclass(frozen=True, eq=False)
class Products:
    """H that is known by its products alone, such as an e^{-sL} without a threshold."""

    n: int
    multiply: Callable[[Block], Block]

    def spread(self, block: Block) -> Block:
        """Return H block, shape (n, c)."""
        return np.asarray(self.multiply(block), dtype=np.float64)

    gather = spread

    def rows(self, indices: NDArray[np.int64]) -> Block:
        """Return rows of H, which are its columns, shape (k, n)."""
        return self.spread(np.ascontiguousarray(Identity(self.n).rows(indices).T)).T


def run_kernels(
    run: NetworkRun, graph: Graph, threads: int | None = None, engine: Auto = AUTO
) -> list[Kernel]:
    """Return H_0 = I, H_1, … H_{K-1}, which both layers of a run's network share.

    As :mod:`graphheat.training.build` makes them for training, but in float64: the diffusion time
    ``s``, ``K`` terms, the threshold ``eps``, ``self_loops`` added to the graph, a diagonal set to
    0, or the mean of the powers 0 … ``order`` of D^{-1/2} A D^{-1/2} where ``propagation`` is
    ``"powers"``.
    """
    settings = run.settings
    self_loops = settings.self_loops
    found: list[Kernel] = [Identity(graph.n)]
    for k in range(1, settings.K):
        if settings.propagation == "powers":
            S = normalized_adjacency(graph.adjacency, self_loops=self_loops)
            order = getattr(settings, "order")  # noqa: B009 - of settings that have this propagation
            found.append(Products(graph.n, _mean_of_powers(S, order, k)))
            continue
        if settings.s == 0 and not settings.zero_diagonal:
            found.append(Identity(graph.n))
            continue
        if settings.eps is None:
            heat = HeatKernel(
                graph, k * settings.s, self_loops=self_loops, engine=engine, threads=threads
            )
            found.append(Products(graph.n, heat.apply))
            continue
        heat = HeatKernel(graph, k * settings.s, self_loops=self_loops, threads=threads)
        matrix = sp.csr_array(heat.matrix(settings.eps).astype(np.float64))
        if settings.zero_diagonal:
            matrix = without_diagonal(matrix)
        found.append(Matrix(matrix))
    return found


def _mean_of_powers(S: sp.csr_array, order: int, times: int) -> Callable[[Block], Block]:
    """Return z ↦ M^times z with M = (I + S + … + S^order) / (order + 1)."""

    def multiply(block: Block) -> Block:
        for _ in range(times):
            total = power = block
            for _ in range(order):
                power = S @ power
                total = total + power
            block = total / (order + 1)
        return block

    return multiply
