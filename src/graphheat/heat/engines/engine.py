"""What an engine is: one way to compute f(S), for signals, chosen rows or the whole matrix."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graphheat.errors import MissingDependencyError
from graphheat.heat.operand import Operand
from graphheat.heat.series import ChebyshevSeries
from graphheat.progress import Progress

Kind = Literal["signals", "rows", "matrix"]


@dataclass(frozen=True)
class Request:
    """What is asked for, as far as its work is concerned.

    Attributes
    ----------
    kind
        f(S)X for signals X, chosen rows of f(S), or all of it.
    series
        One series for each f; several share one basis T_k(S)X.
    columns
        How many: columns of X, chosen rows, or n.
    partial
        Of signals, whether only some rows of the results are wanted.
    """

    kind: Kind
    series: tuple[ChebyshevSeries, ...]
    columns: int
    partial: bool = False

    @property
    def order(self) -> int:
        """The largest order of the series."""
        return max(each.order for each in self.series)


class Cost(NamedTuple):
    """What a request takes: counted, never timed, so that a choice by it repeats.

    Attributes
    ----------
    work
        In multiply-adds of compiled blocks, or what takes as long.
    memory
        Bytes of working arrays, beside the result.
    """

    work: int
    memory: int


class Engine(Protocol):
    """Computes f(S) for a :class:`~graphheat.heat.series.ChebyshevSeries` f.

    A new engine is one class in one file and one line in ``roster.py`` (or a call of
    ``register``); the suite in ``tests/contract`` then runs on it. One that can compute columns
    inherits the rest from :class:`~graphheat.heat.engines.columns.ColumnEngine`.

    Attributes
    ----------
    name
        What ``HeatKernel(engine=…)`` takes.
    requires
        Modules that it imports when it is used.
    width
        Columns of signals that it is best given at a time.
    samples
        Whether a few rows are cheap: then the plan looks at rows by the engine itself.
    """

    name: str
    requires: tuple[str, ...] = ()
    width: int = 256
    samples: bool = True

    def declines(self, operand: Operand, request: Request) -> str | None:
        """Return why the engine cannot do what is asked, in a few words; None: it can."""

    def apply(
        self,
        operand: Operand,
        block: NDArray[Any],
        series: Sequence[ChebyshevSeries],
        *,
        rows: NDArray[np.int64] | None = None,
        threads: int = 1,
    ) -> list[NDArray[Any]] | NDArray[Any]:
        """Return f(S) ``block`` for each f, all from one basis: a list, or one array of them.

        Parameters
        ----------
        block
            Columns, shape (n, c), C-contiguous, in the precision of the recurrence; only read.
        rows
            Row numbers, shape (k,): only these rows of the results. None: all.
        threads
            The result does not depend on it.
        """

    def rows(
        self,
        operand: Operand,
        indices: NDArray[np.int64],
        series: ChebyshevSeries,
        eps: float,
        *,
        threads: int = 1,
    ) -> sp.csr_array:
        """Return rows of f(S), entries at least ``eps``, shape (len(indices), n)."""

    def matrix(
        self,
        operand: Operand,
        series: ChebyshevSeries,
        eps: float,
        *,
        threads: int = 1,
        progress: Progress | None = None,
    ) -> sp.csr_array:
        """Return the entries of f(S) that are at least ``eps``, exactly symmetric, shape (n, n)."""

    def entry_series(self, operand: Operand, series: ChebyshevSeries) -> ChebyshevSeries:
        """Return ``series`` in the precision, and with the bound, that ``matrix`` has."""

    def cost(self, operand: Operand, request: Request, *, threads: int = 1) -> Cost:
        """Return what a request takes."""


def is_installed(engine: Engine) -> bool:
    """Return whether what the engine imports is there, without importing it."""
    return _are_installed(engine.requires)


@lru_cache(maxsize=64)
def _are_installed(modules: tuple[str, ...]) -> bool:
    # Kept: looking for a module takes as long as a product on a small graph.
    return all(find_spec(module) is not None for module in modules)


def check_installed(engine: Engine) -> None:
    """Raise, with what to do about it, unless what the engine imports is there."""
    if not is_installed(engine):
        modules = " ".join(engine.requires)
        raise MissingDependencyError(
            f"engine={engine.name!r} needs {modules}: pip install {modules}, or pass "
            "engine='scipy'."
        )
