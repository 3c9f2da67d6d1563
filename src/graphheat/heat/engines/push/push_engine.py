"""The push engine: rows and matrices of heat by local push, set up once for each operand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graphheat.errors import ParameterError
from graphheat.heat.engines.engine import Cost, Engine, Request
from graphheat.heat.engines.push.push import Push
from graphheat.heat.engines.push.walk import Ranked, mapped_ranks, ranked
from graphheat.heat.operand import MappedOperand, Operand
from graphheat.heat.series import ChebyshevSeries, HeatSeries
from graphheat.progress import Progress

EDGE = 50  # multiply-adds of compiled blocks that take as long as an edge: 5–8 ns against 0.15


class PushEngine(Engine):
    """Rows and matrices by :class:`Push`, certified, at a cost that n plays no part in.

    Declines signals, and functions other than heat.
    """

    name = "push"
    requires = ("numba",)
    samples = False  # a row that is certified in every column may cost more than one by blocks

    def declines(self, operand: Operand, request: Request) -> str | None:
        """Return why not: it follows heat from single nodes of a graph."""
        if request.kind == "signals":
            return "push computes rows, not signals"
        if not all(isinstance(series, HeatSeries) for series in request.series):
            return "push computes heat alone"
        if operand.laplacian.kind not in ("normalized", "random_walk"):
            return "push follows the normalised Laplacian"
        if isinstance(operand, MappedOperand):
            return "push makes no matrix of a graph on disk" if request.kind == "matrix" else None
        return "push needs the graph's adjacency" if operand.adjacency is None else None

    def apply(
        self,
        operand: Operand,
        block: NDArray[Any],
        series: Sequence[ChebyshevSeries],
        *,
        rows: NDArray[np.int64] | None = None,
        threads: int = 1,
    ) -> list[NDArray[Any]]:
        """Raise: signals are declined."""
        raise ParameterError("Push computes rows and matrices, not signals. Use engine='auto'.")

    def rows(
        self,
        operand: Operand,
        indices: NDArray[np.int64],
        series: ChebyshevSeries,
        eps: float,
        *,
        threads: int = 1,
    ) -> sp.csr_array:
        """Return rows of e^{-sL}, every column within the series' ``tol``."""
        return self.prepared(operand, series, threads).rows(indices, eps)[0]

    def matrix(
        self,
        operand: Operand,
        series: ChebyshevSeries,
        eps: float,
        *,
        threads: int = 1,
        progress: Progress | None = None,
    ) -> sp.csr_array:
        """Return the entries of e^{-sL} that are at least ``eps``, exactly symmetric."""
        return self.prepared(operand, series, threads).matrix(eps, progress=progress)

    def entry_series(self, operand: Operand, series: ChebyshevSeries) -> ChebyshevSeries:
        """Return ``series`` with the precision and the bound of the push."""
        push = self.prepared(operand, series, 1)
        left = push.tol - push.rounding
        return replace(series, dtype=push.dtype, truncation=left, rounding=push.rounding)

    def cost(self, operand: Operand, request: Request, *, threads: int = 1) -> Cost:
        """Return the edges that a sample of half rows pushes, scaled up; a workspace per thread."""
        push = self.prepared(operand, request.series[0], threads)
        sample = operand.sample(request.order)
        edges = push.probe(sample) / max(1, len(sample)) * request.columns
        return Cost(int(EDGE * edges), operand.n * 44 * threads)

    def prepared(self, operand: Operand, series: ChebyshevSeries, threads: int) -> Push:
        """Return the push for a series, which is set up once for each operand."""
        if not isinstance(series, HeatSeries):
            raise ParameterError("Push needs a heat series.")
        s, tol, graph = series.s, series.tol, ranks_of(operand)

        def make() -> Push:
            return Push(
                graph,
                s,
                tol,
                isolated=operand.isolated,
                threads=threads,
            )

        return operand.kept(("push", s, tol, threads), make)


def ranks_of(operand: Operand) -> Ranked:
    """Return the graph of an operand as the push goes over it, made once."""
    if isinstance(operand, MappedOperand):
        graph = operand.graph
        return operand.kept("ranked", lambda: mapped_ranks(graph, operand.self_loops))
    adjacency = operand.adjacency
    if adjacency is None:
        raise ParameterError("Push needs the graph's adjacency.")
    return operand.kept("ranked", lambda: ranked(adjacency, operand.self_loops))
