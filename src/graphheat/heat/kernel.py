"""HeatKernel: e^{-sL} of a graph, to a stated accuracy."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from scipy.sparse.linalg import LinearOperator

from graphheat.checks import (
    check_choice,
    check_count,
    check_eps,
    check_indices,
    check_number,
    check_s,
)
from graphheat.disk import DiskGraph
from graphheat.errors import KernelMemoryError, ParameterError
from graphheat.graph import Graph
from graphheat.graph.adjacency import validate
from graphheat.heat.engines import Chooser, Engine, Request, chooser_of
from graphheat.heat.entry_plan import Planned, plan_matrix
from graphheat.heat.laplacian import Isolated
from graphheat.heat.operand import MappedOperand, Operand
from graphheat.heat.plan import Plan
from graphheat.heat.products import products, workers
from graphheat.heat.series import HeatSeries, heat_series
from graphheat.memory import available_memory
from graphheat.progress import Progress
from graphheat.progress_bar import showing


class HeatKernel:
    """The heat kernel e^{-sL} of a graph, L = I − D^{-1/2} A D^{-1/2} (the paper's Eq. 12–14).

    e^{-sL}x is the solution at time s of dx/dt = −Lx: heat that starts as x and flows along the
    edges. In the graph's frequencies λ it multiplies by e^{-sλ}, so low ones pass and high ones
    fade. Only the normalised Laplacian is offered; ``docs/explanation.md`` converts from other
    libraries' units.

    Parameters
    ----------
    graph
        A :class:`~graphheat.Graph`, a :class:`~graphheat.disk.DiskGraph`, whose edges stay on disk,
        or a symmetric non-negative matrix, shape (n, n).
    s
        Diffusion time, in [0, 1e6].
    tol
        Accuracy: of ``apply`` in spectral norm, of ``matrix``, ``row`` and ``rows`` in every entry.
    self_loops
        Weight added to the diagonal of A before normalising. The paper adds none.
    isolated
        ``"paper"``: an isolated node keeps e^{-s} of its heat; ``"keep"``: all of it.
    engine
        ``"scipy"``: float32 or float64 blocks of 32 columns. ``"numba"``: the same, vectorised and
        compiled. ``"push"``: local, for rows, and for matrices of short times on large graphs
        (signals go by ``auto``). ``"panel"``: wide rows, threads over rows, for graphs far larger
        than a cache or on disk. ``"sliced"``: eight rows of one column at a time, for a signal or
        two. ``"reference"``: dense eigendecomposition in float64, for tests and small graphs.
        ``"auto"``: by counted work, as the table of :class:`~graphheat.heat.engines.Auto` says. An
        engine or a chooser of your own.
    threads
        Threads to use; default: all cores. The result does not depend on their number.

    Notes
    -----
    *Accuracy*: half of ``tol`` is for cutting the series (proven), half for rounding: proven for
    signals and in float64; for entries in float32 measured on probe columns of this graph, with a
    margin of two. float32 is used where it holds its half (never for tol < 1e-6 or s > 100),
    float64 elsewhere, between whose steps a few signals may be kept in float32, as far as its
    proven rounding holds.
    *Cost*: ``order`` sparse products per column: ``O(m·|E|)`` per signal, ``O(m·|E|·n)`` for the
    matrix; the order grows like √(s·log(1/tol)). *Deterministic*: yes, for any number of threads.
    *Isolated nodes*: see ``isolated``.

    Examples
    --------
    >>> import numpy as np
    >>> ring = np.roll(np.eye(6), 1, axis=0) + np.roll(np.eye(6), -1, axis=0)
    >>> heat = HeatKernel(ring, s=1.0, tol=1e-8)
    >>> heat.order
    8
    >>> heat.apply(np.ones(6)).round(6)
    array([1., 1., 1., 1., 1., 1.])
    >>> heat.row(0, eps=0.1).toarray().round(3)
    array([[0.466, 0.208, 0.   , 0.   , 0.   , 0.208]])
    """

    def __init__(
        self,
        graph: Graph | DiskGraph | Any,
        s: float,
        *,
        tol: float = 1e-6,
        self_loops: float = 0.0,
        isolated: Isolated = "paper",
        engine: str | Engine | Chooser = "auto",
        threads: int | None = None,
        method: str | None = None,
    ) -> None:
        if method is not None:
            warnings.warn("method= is engine= now", DeprecationWarning, stacklevel=2)
            engine = method
        self.s = check_s(s, "HeatKernel")
        self.tol = check_number(tol, "tol", "HeatKernel", 0.0, 1.0, left="open", right="open")
        self.self_loops = check_number(self_loops, "self_loops", "HeatKernel", 0.0, math.inf)
        check_choice(isolated, "isolated", "HeatKernel", ("paper", "keep"))
        self._chooser = chooser_of(engine, "HeatKernel")
        self.engine = self._chooser.name
        self.isolated = isolated
        self.threads = None if threads is None else check_count(threads, "threads", "HeatKernel")
        how: dict[str, Any] = {"self_loops": self.self_loops, "isolated": self.isolated}
        self._operand = (
            MappedOperand(graph, **how)
            if isinstance(graph, DiskGraph)
            else Operand.of_graph(
                graph.adjacency if isinstance(graph, Graph) else validate(graph), **how
            )
        )
        self._entry_series: dict[float, HeatSeries] = {}
        self._planned: dict[float, Planned] = {}

    @property
    def n(self) -> int:
        """Number of nodes."""
        return self._operand.n

    @property
    def shape(self) -> tuple[int, int]:
        """(n, n)."""
        return self.n, self.n

    @property
    def order(self) -> int:
        """The Chebyshev order m that ``apply`` uses, known before it runs."""
        return self._series.order

    @property
    def error_bound(self) -> float:
        """‖computed − exact‖₂ ≤ error_bound · ‖x‖₂ for ``apply``; truncation plus rounding."""
        return self._series.error_bound

    def __repr__(self) -> str:
        return (
            f"HeatKernel(n={self.n}, s={self.s:g}, tol={self.tol:g}, order={self.order}, "
            f"engine={self.engine!r})"
        )

    # ------------------------------------------------------------------ signals

    def apply(self, X: Any) -> NDArray[Any]:
        """Return e^{-sL}X.

        Parameters
        ----------
        X
            Shape (n,) or (n, c), dense or sparse, finite.

        Returns
        -------
        ndarray
            Dense, of the shape of X; float32 when X is and ``tol`` allows, otherwise float64.
        """
        result: NDArray[Any] = self._diffuse(X, [self._series])[0]
        return result

    def sweep(
        self, X: Any, s_values: Iterable[float], *, rows: ArrayLike | None = None
    ) -> NDArray[Any]:
        """Return e^{-sL}X for several s from one basis, at the cost of the largest s.

        Parameters
        ----------
        X
            Shape (n,) or (n, c).
        s_values
            Diffusion times; the kernel's own ``s`` plays no part.
        rows
            Row numbers, shape (k,): only these rows of the results are added up and kept.

        Returns
        -------
        ndarray
            Shape (len(s_values), n) or (len(s_values), n, c); with ``rows``, k in place of n.
        """
        if not isinstance(s_values, Iterable):
            raise ParameterError(
                "The 's_values' parameter of HeatKernel.sweep must be several numbers. "
                f"Got {s_values!r} instead."
            )
        times = [check_s(s, "HeatKernel.sweep") for s in s_values]
        if not times:
            raise ParameterError("The 's_values' parameter of HeatKernel.sweep must not be empty.")
        chosen = None if rows is None else check_indices(rows, self.n, "HeatKernel.sweep")
        return self._diffuse(X, [self._signal_series(s) for s in times], chosen)

    def _diffuse(
        self, X: Any, series: Sequence[HeatSeries], rows: NDArray[np.int64] | None = None
    ) -> NDArray[Any]:
        return products(self._operand, self._chooser, X, series, rows, threads=self._workers)

    def as_linear_operator(self) -> LinearOperator:
        """Return a view for ``scipy.sparse.linalg``; products are :meth:`apply`'s, in float64.

        Examples
        --------
        >>> import numpy as np
        >>> pair = HeatKernel(np.array([[0.0, 1.0], [1.0, 0.0]]), s=1.0, tol=1e-10)
        >>> (pair.as_linear_operator() @ np.ones(2)).round(6)
        array([1., 1.])
        """

        def product(X: NDArray[Any]) -> NDArray[Any]:
            return self.apply(np.asarray(X, dtype=np.float64))

        return LinearOperator(
            self.shape,
            matvec=product,
            rmatvec=product,
            matmat=product,
            rmatmat=product,
            dtype=np.dtype(np.float64),
        )

    # ------------------------------------------------------------------ entries

    def matrix(self, eps: float = 0.0, *, progress: Progress | bool | None = None) -> sp.csr_array:
        """Return the entries of e^{-sL} that are at least ``eps``, shape (n, n).

        Exactly symmetric; every kept entry within ``tol`` (at most eps/10) of exact; no entry of
        eps + tol or more is missed. ``eps=0`` keeps every entry. Raises
        :class:`~graphheat.errors.KernelMemoryError` with the plan when the result would not fit.

        Parameters
        ----------
        eps
            Threshold in [0, 1).
        progress
            Called as ``progress(rows_done, n, "rows")`` along the way; True: a bar.
        """
        eps = check_eps(eps, "HeatKernel.matrix")
        engine, series, plan = self._plan(eps)
        room = available_memory()
        if room is not None and plan.memory > room:
            raise KernelMemoryError(
                f"The matrix of e^{{-sL}} would not fit in memory ({room / 1e9:.2f} GB free): "
                f"{plan}. Raise eps, lower s, or use products without a matrix "
                "(HeatKernel.apply, or eps=None in HeatConv, GraphHeatClassifier and fit)."
            )
        with showing(progress) as bar:
            return engine.matrix(self._operand, series, eps, threads=self._workers, progress=bar)

    def row(self, index: int, eps: float = 0.0) -> sp.csr_array:
        """Return row ``index`` of e^{-sL}, entries at least ``eps``, shape (1, n)."""
        return self.rows([index], eps)

    def rows(self, indices: ArrayLike, eps: float = 0.0) -> sp.csr_array:
        """Return rows of e^{-sL}, entries at least ``eps``, shape (len(indices), n).

        Every column is within ``tol`` of exact, and none of eps + tol or more is missed. Nothing of
        size n × n is built; by push the cost does not depend on n where degrees are bounded.
        """
        eps = check_eps(eps, "HeatKernel.rows")
        chosen = check_indices(indices, self.n, "HeatKernel.rows")
        series = self._series_to(self.tol)
        request = Request("rows", (series,), len(chosen))
        engine = self._chooser.choose(self._operand, request).engine
        return engine.rows(self._operand, chosen, series, eps, threads=self._workers)

    def plan(self, eps: float = 0.0) -> Plan:
        """Say how ``matrix(eps)`` would be computed and what it would take, without computing it.

        The number of entries is estimated from the rows of up to 64 fixed nodes.
        """
        return self._plan(check_eps(eps, "HeatKernel.plan")).plan

    # ------------------------------------------------------------------ inside

    def _plan(self, eps: float) -> Planned:
        if self._operand.mapped:
            raise KernelMemoryError(
                "The matrix of e^{-sL} of a graph on disk is not made: it has far more entries "
                f"than the graph's {self._operand.nnz:,}. Use HeatKernel.rows for chosen nodes, or "
                "HeatKernel.apply."
            )
        if eps not in self._planned:
            self._planned[eps] = self._make_plan(eps)
        return self._planned[eps]

    def _make_plan(self, eps: float) -> Planned:
        series = self._series_to(self.tol if eps == 0 else min(self.tol, eps / 10))
        return plan_matrix(self._operand, self._chooser, series, eps, threads=self._workers)

    @cached_property
    def _series(self) -> HeatSeries:
        return self._signal_series(self.s)

    def _signal_series(self, s: float) -> HeatSeries:
        return heat_series(s, self.tol, self._operand.longest_row)

    def _series_to(self, tol: float) -> HeatSeries:
        """Return the series for entries to ``tol``, the same object every time."""
        if tol not in self._entry_series:
            try:
                series = heat_series(self.s, tol, self._operand.longest_row)
            except ParameterError:
                if tol == self.tol:
                    raise
                raise ParameterError(
                    f"An eps of {10 * tol:g} asks for entries to {tol:g}, beyond float64 at "
                    f"s = {self.s:g} on this graph. Raise eps, or pass eps=0."
                ) from None
            self._entry_series[tol] = series
        return self._entry_series[tol]

    @property
    def _workers(self) -> int:
        return workers(self.threads)
