"""GraphFilter: f(L) of a graph for any function f of its frequencies, to a stated accuracy."""

from __future__ import annotations

from copy import copy
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from scipy.sparse.linalg import LinearOperator

from graphheat.checks import check_eps, check_indices, check_number
from graphheat.errors import KernelMemoryError, ParameterError
from graphheat.filters.direction import Symmetrization
from graphheat.filters.expansion import FilterSeries, expand
from graphheat.filters.filter import Filter
from graphheat.filters.filter_bank import FilterBank
from graphheat.filters.node_times import NodeHeat
from graphheat.filters.responses import Heat, custom
from graphheat.filters.spectral_graph import SpectralGraph
from graphheat.filters.trace import Trace, estimate_trace
from graphheat.heat.assembly import threshold
from graphheat.heat.engines import Chooser, Engine, Request, strips
from graphheat.heat.entry_plan import Planned, plan_matrix
from graphheat.heat.laplacian import Isolated, LaplacianKind
from graphheat.heat.operand import Operand
from graphheat.heat.plan import Plan
from graphheat.heat.series import ChebyshevSeries, HeatSeries, heat_series
from graphheat.memory import available_memory


class GraphFilter:
    """f(L): multiplies the graph's frequency λ by f(λ), without eigenvectors.

    Parameters
    ----------
    graph
        A :class:`~graphheat.Graph`, a :class:`~graphheat.disk.DiskGraph`, a non-negative matrix,
        shape (n, n), or a graph of NetworkX, igraph or PyGSP.
    filter
        Of ``graphheat.filters``: ``heat``, ``pagerank``, ``tikhonov``, ``matern``, ``diffusion``,
        ``low_pass``, ``high_pass``, ``band_pass``, ``custom``, sums and products of them; or a
        function of λ.
    laplacian
        ``"normalized"`` (the paper's), ``"random_walk"``, ``"combinatorial"``, ``"signless"`` or
        ``"normalized_signless"``; :class:`~graphheat.heat.laplacian.Laplacian` is the table.
    tol
        Accuracy, in the units of f.
    self_loops, isolated
        As in :class:`~graphheat.HeatKernel`.
    symmetrize
        How a directed graph becomes undirected: ``"sum"``, ``"max"``, ``"coupling"``,
        ``"cocitation"`` or ``"magnetic"`` (:mod:`~graphheat.filters.direction`). None: the matrix
        must be symmetric.
    q
        Charge of the magnetic Laplacian.
    engine, threads
        As in :class:`~graphheat.HeatKernel`.

    Notes
    -----
    *Accuracy*: ‖computed − exact‖₂ ≤ ``error_bound`` ‖x‖₂, for the random walk in the norm
    ‖D^{1/2}x‖₂ (of the transposed, ‖D^{-1/2}x‖₂). Half of ``tol`` is for the cut of the series,
    ``bound`` says whether that is proven or measured; half for rounding, proven. *Cost*: ``order``
    sparse products per column. *Deterministic*: yes, for any number of threads. *Isolated nodes*:
    see ``isolated``; L_ii = 0 for ``combinatorial`` and ``signless``.

    Examples
    --------
    >>> import numpy as np
    >>> from graphheat import GraphFilter, filters
    >>> ring = np.roll(np.eye(6), 1, axis=0) + np.roll(np.eye(6), -1, axis=0)
    >>> H = GraphFilter(ring, filters.tikhonov(2.0), laplacian="combinatorial", tol=1e-8)
    >>> (H @ np.ones(6)).round(6)
    array([1., 1., 1., 1., 1., 1.])
    >>> H.bound, H.lmax >= 4
    ('proven', True)
    """

    def __init__(
        self,
        graph: Any,
        filter: Filter | NodeHeat | Any,
        *,
        laplacian: LaplacianKind = "normalized",
        tol: float = 1e-6,
        self_loops: float = 0.0,
        isolated: Isolated = "paper",
        symmetrize: Symmetrization | None = None,
        q: float = 0.25,
        engine: str | Engine | Chooser = "auto",
        threads: int | None = None,
    ) -> None:
        tol = check_number(tol, "tol", "GraphFilter", 0.0, 1.0, left="open", right="open")
        place = SpectralGraph(
            graph, laplacian=laplacian, self_loops=self_loops, isolated=isolated,
            symmetrize=symmetrize, q=q, engine=engine, threads=threads,
        )  # fmt: skip
        self._set(place, filter, tol)

    def _set(self, place: SpectralGraph, filter: Any, tol: float) -> None:
        self._place, self.tol, self._transposed = place, tol, False
        if not isinstance(filter, (Filter, NodeHeat)):
            filter = custom(filter)
        self.filter = filter
        self._weights: NDArray[np.float64] | None = None
        self._extra = 0.0
        if isinstance(filter, NodeHeat):
            terms = filter.terms(place.n, place.operand.lmax, tol / 4)
            self._weights, self._extra = terms.weights, terms.error
            self._largest = np.abs(terms.weights).max(axis=1)
            each = (tol - terms.error) / float(self._largest.sum())
            self._series = [series_of(one, place.operand, each) for one in terms.filters]
        else:
            self._largest = np.ones(1)
            self._series = [series_of(filter, place.operand, tol)]
        if place.roots is not None or self._weights is not None:
            # Multiplying by roots of degrees or weights rounds too, in float64.
            sizes = (float(np.abs(each.coefficients).sum()) for each in self._series)
            pairs = zip(self._largest, sizes, strict=True)
            self._extra += 2.0**-50 * sum(float(w) * size for w, size in pairs)

    # ------------------------------------------------------------------ what is known beforehand

    @property
    def n(self) -> int:
        """Number of nodes."""
        return self._place.n

    @property
    def shape(self) -> tuple[int, int]:
        """(n, n)."""
        return self.n, self.n

    @property
    def lmax(self) -> float:
        """A bound of the largest eigenvalue of L, which f is expanded up to."""
        return self._place.operand.lmax

    @property
    def order(self) -> int:
        """The Chebyshev order: sparse products per column."""
        return max(each.order for each in self._series)

    @property
    def error_bound(self) -> float:
        """‖computed − exact‖₂ ≤ error_bound · ‖x‖₂; see the notes."""
        parts = (w * each.error_bound for w, each in zip(self._largest, self._series, strict=True))
        return float(sum(parts)) + self._extra

    @property
    def bound(self) -> Literal["proven", "measured"]:
        """Whether ``error_bound`` is proven, or measured on a fine grid with a margin of two."""
        return "proven" if all(is_proven(each) for each in self._series) else "measured"

    @property
    def engine(self) -> str:
        """The engine that was asked for."""
        return self._place.chooser.name

    def __repr__(self) -> str:
        return (
            f"GraphFilter(n={self.n}, {self.filter.name}, "
            f"laplacian={self._place.laplacian.kind!r}, tol={self.tol:g}, order={self.order}, "
            f"bound={self.bound!r}, engine={self.engine!r})"
        )

    # ------------------------------------------------------------------ signals

    def apply(self, X: Any) -> NDArray[Any]:
        """Return f(L)X, dense, of the shape of X.

        Parameters
        ----------
        X
            Shape (n,) or (n, c), dense or sparse, real or complex, finite. float32 stays float32
            where ``tol`` allows; for the random walk and times by node it does not.
        """
        results = self._place.products(
            X, self._series, transposed=self._transposed, weights=self._weights
        )
        if self._weights is None:
            return results[0]
        if self._transposed:
            return np.asarray(sum(results))
        shape = (-1,) + (1,) * (results[0].ndim - 1)
        return np.asarray(
            sum(w.reshape(shape) * part for w, part in zip(self._weights, results, strict=True))
        )

    def __call__(self, X: Any) -> NDArray[Any]:
        """Return :meth:`apply`'s result."""
        return self.apply(X)

    def __matmul__(self, X: Any) -> NDArray[Any]:
        return self.apply(X)

    __array_ufunc__ = None  # NumPy leaves x @ H to what follows

    def __rmatmul__(self, X: Any) -> NDArray[Any]:
        """Return X f(L), rows of X being signals: (f(L)ᵀ Xᵀ)ᵀ."""
        return np.asarray(np.conj(self.T.apply(np.conj(np.asarray(X)).T)).T)

    @property
    def T(self) -> GraphFilter:  # noqa: N802
        """The transposed operator: itself, but for the random walk and for times by node.

        Of the magnetic Laplacian it is the conjugate transposed.
        """
        if self._place.roots is None and self._weights is None:
            return self
        other = copy(self)
        other._transposed = not self._transposed
        return other

    def filter_bank(self, filters: Any) -> FilterBank:
        """Return several filters on the same graph and Laplacian, applied from one basis."""
        return FilterBank.on(self._place, filters, self.tol)

    def as_linear_operator(self) -> LinearOperator:
        """Return a view for ``scipy.sparse.linalg``."""
        other = self.T
        dtype = np.dtype(np.complex128 if self._place.complex_ else np.float64)

        def forth(X: NDArray[Any]) -> NDArray[Any]:
            return self.apply(np.asarray(X, dtype=dtype))

        def back(X: NDArray[Any]) -> NDArray[Any]:
            return other.apply(np.asarray(X, dtype=dtype))

        return LinearOperator(
            self.shape, matvec=forth, rmatvec=back, matmat=forth, rmatmat=back, dtype=dtype
        )

    # ------------------------------------------------------------------ entries

    def rows(self, indices: ArrayLike, eps: float = 0.0) -> sp.csr_array:
        """Return rows of f(L), entries of absolute value ``eps`` or more, shape (k, n).

        Every entry is within ``tol`` of exact; for the random walk times √(d_j / d_i), for its
        transposed times √(d_i / d_j).
        """
        eps = check_eps(eps, "GraphFilter.rows")
        chosen = check_indices(indices, self.n, "GraphFilter.rows")
        if self._weights is not None and self._transposed:
            raise ParameterError("Rows of times by node are those of H, not of H.T.")
        place, operand = self._place, self._place.operand
        plain = self._weights is None and place.roots is None and not place.complex_
        total: Any = 0
        for r, series in enumerate(self._series):
            engine = place.chooser.choose(operand, Request("rows", (series,), len(chosen))).engine
            part = engine.rows(operand, chosen, series, eps if plain else 0.0,
                               threads=place.workers)  # fmt: skip
            if plain:
                return part
            if place.complex_:
                # A row of [[B, −C], [C, B]] has B and −C.
                part = sp.csr_array(part[:, : self.n] - 1j * part[:, self.n :])
            if self._weights is not None:
                part = sp.csr_array(sp.diags_array(self._weights[r][chosen]) @ part)
            total = part + total if r else part
        if place.roots is not None:
            left, right = 1 / place.roots[chosen], place.roots
            if self._transposed:
                left, right = 1 / left, 1 / right
            total = sp.csr_array(sp.diags_array(left) @ total @ sp.diags_array(right))
        total.data[~threshold(np.abs(total.data), eps)] = 0
        total.eliminate_zeros()
        total.sort_indices()
        return sp.csr_array(total)

    def matrix(self, eps: float = 0.0) -> sp.csr_array:
        """Return the entries of f(L) of absolute value ``eps`` or more, shape (n, n).

        Within ``tol`` and eps/10 of exact, and exactly symmetric, where L is symmetric;
        else as :meth:`rows` has them.
        """
        eps = check_eps(eps, "GraphFilter.matrix")
        place = self._place
        if place.operand.mapped:
            raise KernelMemoryError(
                "The matrix f(L) of a graph on disk is not made. Use GraphFilter.rows for chosen "
                "nodes, or GraphFilter.apply."
            )
        if self._weights is not None or place.roots is not None or place.complex_:
            return self.rows(np.arange(self.n), eps)
        planned = self._planned(eps)
        room = available_memory()
        if room is not None and planned.plan.memory > room:
            raise KernelMemoryError(
                f"The matrix f(L) would not fit in memory ({room / 1e9:.2f} GB free): "
                f"{planned.plan}. Raise eps, or use products (GraphFilter.apply)."
            )
        return planned.engine.matrix(place.operand, planned.series, eps, threads=place.workers)

    def plan(self, eps: float = 0.0) -> Plan:
        """Say how ``matrix(eps)`` would be computed and what it would take."""
        return self._planned(check_eps(eps, "GraphFilter.plan")).plan

    def _planned(self, eps: float) -> Planned:
        place = self._place
        series: ChebyshevSeries = self._series[0]
        if eps and eps / 10 < self.tol and isinstance(self.filter, Filter):
            series = series_of(self.filter, place.operand, eps / 10)
        return plan_matrix(place.operand, place.chooser, series, eps, threads=place.workers)

    def diagonal(self, indices: ArrayLike | None = None) -> NDArray[np.float64]:
        """Return the diagonal of f(L), or its entries at ``indices``, each within ``error_bound``.

        Costs a column per entry; nothing of size n × n is held.
        """
        chosen = np.arange(self.n)
        if indices is not None:
            chosen = check_indices(indices, self.n, "GraphFilter.diagonal")
        place, operand = self._place, self._place.operand
        request = Request("signals", tuple(self._series), len(chosen))
        engine = place.chooser.choose(operand, request).engine
        found = np.empty(len(chosen))
        for start in range(0, len(chosen), strips.WIDTH):
            strip = chosen[start : start + strips.WIDTH]
            units = strips.unit_columns(operand.n, strip, np.dtype(np.float64))
            parts = engine.apply(operand, units, self._series, threads=place.workers)
            values = [part[strip, np.arange(len(strip))] for part in parts]
            if self._weights is not None:
                values = [w[strip] * v for w, v in zip(self._weights, values, strict=True)]
            found[start : start + len(strip)] = np.sum(values, axis=0)
        return found

    def trace(self, samples: int = 64, *, confidence: float = 0.95, seed: int = 0) -> Trace:
        """Estimate the trace of f(L) from random signals, with an interval; see :class:`Trace`.

        Parameters
        ----------
        samples
            Random signals; where the graph has no more nodes, the trace is the diagonal's sum.
        confidence
            How often the interval is to hold the trace.
        """
        return estimate_trace(self, samples, confidence, seed)


def series_of(filter: Filter, operand: Operand, tol: float) -> ChebyshevSeries:
    """Return a filter's series: the paper's own for heat on the normalised Laplacian."""
    # On a magnetic operand entries may be negative, which a heat series rules out.
    normalized = operand.laplacian.kind in ("normalized", "random_walk")
    if isinstance(filter, Heat) and normalized and operand.absolute_norm == 1.0:
        return heat_series(filter.s, tol, operand.longest_row, owner="GraphFilter")
    return expand(filter, operand, tol)


def is_proven(series: ChebyshevSeries) -> bool:
    """Return whether the bound of a series is proven."""
    return isinstance(series, HeatSeries) or (isinstance(series, FilterSeries) and series.proven)
