"""Which engine: by counted work, never by a clock or a cache, so that results repeat."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol, runtime_checkable

from graphheat.heat.engines import probes
from graphheat.heat.engines.engine import Engine, Request, is_installed
from graphheat.heat.engines.numba.compiled import NumbaEngine
from graphheat.heat.engines.panel.panel import PanelEngine
from graphheat.heat.engines.push.push_engine import EDGE, PushEngine
from graphheat.heat.engines.scipy import ScipyEngine
from graphheat.heat.engines.sliced.sliced import SlicedEngine
from graphheat.heat.operand import Operand

SCIPY, NUMBA, PUSH, PANEL = ScipyEngine(), NumbaEngine(), PushEngine(), PanelEngine()
SLICED = SlicedEngine()

LARGE = 200_000  # nodes from which on a strip of columns leaves every cache
LANES = 8  # columns that cost what one does: a cache line is read whole


class Choice(NamedTuple):
    """An engine, and why it was chosen."""

    engine: Engine
    why: str


@runtime_checkable
class Chooser(Protocol):
    """Says which engine does what is asked."""

    @property
    def name(self) -> str:
        """What the user asked for."""

    def choose(self, operand: Operand, request: Request) -> Choice:
        """Return the engine for a request, which depends on nothing else."""


@dataclass(frozen=True)
class Asked:
    """The engine that was asked for; what it declines goes by ``Auto``."""

    engine: Engine

    @property
    def name(self) -> str:
        """The engine's."""
        return self.engine.name

    def choose(self, operand: Operand, request: Request) -> Choice:
        """Return the engine, or what ``Auto`` chooses in its place."""
        reason = self.engine.declines(operand, request)
        if reason is None:
            return Choice(self.engine, "asked for")
        other, why = AUTO.choose(operand, request)
        return Choice(other, f"{reason}; {why}")


@dataclass(frozen=True)
class Auto:
    """The choice by counted work; the first line that is true decides.

    =========  ====================================================  ======
    asked for  when                                                  engine
    =========  ====================================================  ======
    signals    the graph is on disk                                  panel
    rows       the graph is on disk                                  push
    anything   numba is not installed                                scipy
    signals    only some rows of the results are wanted              scipy
    signals    fewer than 4 columns, m · nnz · columns ≥ ``narrow``  sliced
    signals    fewer than 4 columns, else                            scipy
    signals    m · nnz · columns ≥ ``signals``, 200,000 nodes        panel
    signals    m · nnz · columns ≥ ``signals``                       numba
    signals    else                                                  scipy
    rows       m · nnz · max(rows, 8) ≥ ``rows``                     push
    rows       m · nnz · (rows + 130) ≥ ``rows``, or, for 4 rows
               and more, m · nnz · rows ≥ ``signals``                numba
    rows       else                                                  scipy
    matrix     m · nnz · n < ``matrix``                              scipy
    matrix     a sample of rows pushes less than 1 / 50 of the
               m · nnz edges that a column takes                     push
    matrix     else                                                  numba
    =========  ====================================================  ======

    Here m is the order of the series and nnz counts the entries of S: m · nnz are the multiply-adds
    of a column. Rows by columns cost 130 more of them, once, which measure what float32 loses; a
    single one costs what 8 do, since a cache line is read whole. What is declined (push: signals,
    functions other than heat, an S without its graph) is never chosen.

    Parameters
    ----------
    signals, narrow, rows, matrix
        Multiply-adds from which compiled code is used. Scipy does about a billion a second. Numba
        does three to five times as many, once it is loaded (some tenths of a second in every
        process, seconds when it compiles for the first time): ``signals`` is meant for whoever
        calls ``apply`` more than once, as is ``narrow``, for fewer than 4 columns.
    """

    signals: float = 5e6
    narrow: float = 5e6
    rows: float = 1e8
    matrix: float = 1e9

    @property
    def name(self) -> str:
        """``"auto"``."""
        return "auto"

    def choose(self, operand: Operand, request: Request) -> Choice:
        """Return the engine by the table, and the line that decided."""
        if operand.mapped:
            return self._for_disk(operand, request)
        if not is_installed(NUMBA):
            return Choice(SCIPY, "numba is not installed")
        column = max(1, request.order) * max(1, operand.nnz)
        if request.kind == "matrix":
            return self._for_matrix(operand, request, column)
        if request.kind == "rows":
            return self._for_rows(operand, request, column)
        if request.partial:
            return Choice(SCIPY, "it adds up chosen rows alone")
        return self._for_signals(operand.n, request.columns, column)

    def _for_disk(self, operand: Operand, request: Request) -> Choice:
        if request.kind != "signals" and PUSH.declines(operand, request) is None:
            return Choice(PUSH, "chosen rows of a graph on disk")
        return Choice(PANEL, "the graph is on disk")

    def _for_signals(self, n: int, columns: int, column: int) -> Choice:
        if columns < 4:
            if column * columns >= self.narrow:
                return Choice(SLICED, "too few columns to fill a vector: rows do")
            return Choice(SCIPY, "little work")
        if column * columns < self.signals:
            return Choice(SCIPY, "little work")
        if n >= LARGE:
            return Choice(PANEL, "no strip of columns stays in cache")
        return Choice(NUMBA, "enough work for compiled code")

    def _for_rows(self, operand: Operand, request: Request, column: int) -> Choice:
        local = column * max(request.columns, LANES) >= self.rows
        if local and PUSH.declines(operand, request) is None:
            return Choice(PUSH, "chosen rows of a large graph")
        if column * (request.columns + probes.COLUMNS) >= self.rows:
            return Choice(NUMBA, "enough work for compiled code")
        return self._for_signals(operand.n, request.columns, column)

    def _for_matrix(self, operand: Operand, request: Request, column: int) -> Choice:
        work = column * request.columns
        if work < self.matrix:
            return Choice(SCIPY, "about a second of work at most")
        if PUSH.declines(operand, request) is not None:
            return Choice(NUMBA, "more than a second of work")
        share = PUSH.cost(operand, request).work / EDGE / work
        if EDGE * share < 1:
            return Choice(PUSH, f"push visits {share:.2%} of the edges that blocks do")
        return Choice(NUMBA, f"push would visit {share:.0%} of the edges that blocks do")


AUTO = Auto()

# For what is computed once in a process: there compiled code must pay for its loading at once. The
# recipes use it, so that the last bit of their results stays what it is.
ONE_OFF = Auto(signals=1e9, narrow=1e9)
