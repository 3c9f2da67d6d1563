"""HeatKernel: e^{-sL} of a graph, to a stated accuracy."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from functools import cached_property
from typing import Any, Literal, get_args

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
from graphheat.errors import KernelMemoryError, MissingDependencyError, ParameterError
from graphheat.graph import Graph
from graphheat.graph.adjacency import validate
from graphheat.heat import blocks, choice, compiled, probes, reference, strips
from graphheat.heat.assembly import threshold
from graphheat.heat.chebyshev import Expansion, expand
from graphheat.heat.laplacian import Isolated, normalized_adjacency
from graphheat.heat.plan import Plan, available_memory
from graphheat.heat.push import Push
from graphheat.heat.signals import as_columns, dense
from graphheat.heat.strips import Progress

Method = Literal["auto", "scipy", "numba", "push", "reference"]

COMPILED_WIDTH = 256  # columns that the numba way gets at once
SAMPLE = 64  # rows that the plan looks at
SAMPLE_WORK = 4e9  # multiply-adds that it may spend on them, and that probes may


class HeatKernel:
    """The heat kernel e^{-sL} of a graph, L = I − D^{-1/2} A D^{-1/2} (the paper's Eq. 12–14).

    e^{-sL}x is the solution at time s of dx/dt = −Lx: heat that starts as x and flows along the
    edges. In the graph's frequencies λ it multiplies by e^{-sλ}, so low ones pass and high ones
    fade. Only the normalised Laplacian is offered; ``docs/explanation.md`` converts from other
    libraries' units.

    Parameters
    ----------
    graph
        A :class:`~graphheat.Graph`, or a symmetric non-negative matrix, shape (n, n).
    s
        Diffusion time, in [0, 1e6].
    tol
        Accuracy: of ``apply`` in spectral norm, of ``matrix``, ``row`` and ``rows`` in every entry.
    self_loops
        Weight added to the diagonal of A before normalising. The paper adds none.
    isolated
        ``"paper"``: an isolated node keeps e^{-s} of its heat; ``"keep"``: all of it.
    method
        ``"scipy"``: float32 or float64 blocks of 32 columns. ``"numba"``: the same, vectorised and
        compiled. ``"push"``: local, for rows, and for matrices of short times on large graphs
        (signals go by ``auto``). ``"reference"``: dense eigendecomposition in float64, for tests
        and small graphs. ``"auto"``: by counted work; below about a second always scipy.
    threads
        Threads to use; default: all cores. The result does not depend on their number.

    Notes
    -----
    *Accuracy*: half of ``tol`` is for cutting the series (proven), half for rounding: proven for
    signals and in float64; for entries in float32 measured on probe columns of this graph, with a
    margin of two. float32 is used where it holds its half (never for tol < 1e-6 or s > 100),
    float64 elsewhere.
    *Cost*: ``order`` sparse products a column, so O(m·|E|) for a signal and O(m·|E|·n) for the
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
        graph: Graph | Any,
        s: float,
        *,
        tol: float = 1e-6,
        self_loops: float = 0.0,
        isolated: Isolated = "paper",
        method: Method = "auto",
        threads: int | None = None,
    ) -> None:
        self.s = check_s(s, "HeatKernel")
        self.tol = check_number(tol, "tol", "HeatKernel", 0.0, 1.0, left="open", right="open")
        self.self_loops = check_number(self_loops, "self_loops", "HeatKernel", 0.0, math.inf)
        check_choice(isolated, "isolated", "HeatKernel", ("paper", "keep"))
        check_choice(method, "method", "HeatKernel", get_args(Method))
        if method in ("numba", "push") and not choice.numba_is_there():
            raise MissingDependencyError(
                f"method={method!r} needs numba: pip install numba, or pass method='scipy'."
            )
        self.isolated = isolated
        self.method = method
        self.threads = None if threads is None else check_count(threads, "threads", "HeatKernel")
        adjacency = graph.adjacency if isinstance(graph, Graph) else validate(graph)
        self._adjacency = adjacency
        self._S = normalized_adjacency(adjacency, self_loops=self.self_loops, isolated=isolated)
        self._longest_row = int(np.diff(self._S.indptr).max(initial=0))
        degrees = np.asarray(adjacency.sum(axis=1)).ravel() + self.self_loops
        self._root_degrees = np.sqrt(degrees)
        self._entry_expansions: dict[float, Expansion] = {}
        self._pushes: dict[float, Push] = {}
        self._plans: dict[float, Plan] = {}

    @property
    def n(self) -> int:
        """Number of nodes."""
        return int(self._S.shape[0])

    @property
    def shape(self) -> tuple[int, int]:
        """(n, n)."""
        return self.n, self.n

    @property
    def order(self) -> int:
        """The Chebyshev order m that ``apply`` uses, known before it runs."""
        return self._expansion.order

    @property
    def error_bound(self) -> float:
        """‖computed − exact‖₂ ≤ error_bound · ‖x‖₂ for ``apply``; truncation plus rounding."""
        return self._expansion.error_bound

    def __repr__(self) -> str:
        return (
            f"HeatKernel(n={self.n}, s={self.s:g}, tol={self.tol:g}, order={self.order}, "
            f"method={self.method!r})"
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
        result: NDArray[Any] = self._diffuse(X, [self._expansion])[0]
        return result

    def sweep(
        self, X: Any, s_values: Sequence[float], *, rows: ArrayLike | None = None
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
        times = [check_s(s, "HeatKernel.sweep") for s in s_values]
        if not times:
            raise ParameterError("The 's_values' parameter of HeatKernel.sweep must not be empty.")
        chosen = None if rows is None else check_indices(rows, self.n, "HeatKernel.sweep")
        return self._diffuse(X, [self._signal_expansion(s) for s in times], chosen)

    def _diffuse(
        self, X: Any, expansions: Sequence[Expansion], rows: NDArray[np.int64] | None = None
    ) -> NDArray[Any]:
        columns, shape = as_columns(X, self.n)
        # A float64 signal stays one: in float32 its large values would be infinite, its small 0.
        single = all(part == np.float32 for part in (columns.dtype, *(e.dtype for e in expansions)))
        dtype = np.dtype(np.float32 if single else np.float64)
        kept = slice(None) if rows is None else rows
        height = self.n if rows is None else len(rows)
        out = np.empty((len(expansions), height, columns.shape[1]), dtype=dtype)
        if self.method == "reference":
            for k, e in enumerate(expansions):
                out[k] = reference.apply(self._spectrum, dense(columns, np.float64), e.s)[kept]
        else:
            S, order = self._matrix_in(dtype), max(e.order for e in expansions)
            work = order * S.nnz * columns.shape[1]
            way = choice.for_signals(self.method, work, columns.shape[1]).way
            if rows is not None and self.method != "numba":
                way = "scipy"  # it alone adds up chosen rows, and the adding is most of the work
            width = blocks.WIDTH if way == "scipy" else COMPILED_WIDTH
            for a in range(0, columns.shape[1], width):
                strip = slice(a, min(a + width, columns.shape[1]))
                block = dense(columns[:, strip], dtype)
                if way == "scipy":
                    parts = blocks.diffuse(S, block, expansions, rows)
                else:
                    whole = compiled.diffuse(S, block, expansions, threads=self._workers)
                    parts = [part[kept] for part in whole]
                for k, part in enumerate(parts):
                    out[k, :, strip] = part
        return out.reshape(len(expansions), height, *shape[1:])

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

    def matrix(self, eps: float = 0.0, *, progress: Progress | None = None) -> sp.csr_array:
        """Return the entries of e^{-sL} that are at least ``eps``, shape (n, n).

        Exactly symmetric; every kept entry within ``tol`` (at most eps/10) of exact; no entry of
        eps + tol or more is missed. ``eps=0`` keeps every entry. Raises
        :class:`~graphheat.errors.KernelMemoryError` with the plan when the result would not fit.

        Parameters
        ----------
        eps
            Threshold in [0, 1).
        progress
            Called as ``progress(rows_done, n)`` along the way.
        """
        eps = check_eps(eps, "HeatKernel.matrix")
        plan = self.plan(eps)
        room = available_memory()
        if room is not None and plan.memory > room:
            raise KernelMemoryError(
                f"The matrix of e^{{-sL}} would not fit in memory ({room / 1e9:.2f} GB free): "
                f"{plan}. Raise eps, lower s, or use products without a matrix "
                "(HeatKernel.apply, or eps=None in HeatConv, GraphHeatClassifier and fit)."
            )
        expansion = self._entry_expansion(self._matrix_tol(eps))
        if plan.method == "numba":
            return compiled.matrix(
                self._matrix_in(expansion.dtype),
                expansion,
                eps,
                threads=self._workers,
                progress=progress,
            )
        if plan.method == "push":
            return self._push(self._matrix_tol(eps)).matrix(eps, progress=progress)

        return strips.matrix(
            lambda strip: self._heat_of(strip, expansion), self.n, eps, self._workers, progress
        )

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
        work = self.order * self._S.nnz * len(chosen)
        if choice.for_rows(self.method, work).way == "push":
            return self._push(self.tol).rows(chosen, eps)[0]
        expansion = self._entry_expansion(self.tol)
        return strips.rows(
            lambda strip: self._heat_of(strip, expansion), chosen, eps, self.n, self._workers
        )

    def plan(self, eps: float = 0.0) -> Plan:
        """Say how ``matrix(eps)`` would be computed and what it would take, without computing it.

        The number of entries is estimated from the rows of up to 64 fixed nodes.
        """
        eps = check_eps(eps, "HeatKernel.plan")
        if eps not in self._plans:
            self._plans[eps] = self._make_plan(eps)
        return self._plans[eps]

    def _make_plan(self, eps: float) -> Plan:
        expansion = self._entry_expansion(self._matrix_tol(eps))
        column = max(1, expansion.order) * max(1, self._S.nnz)
        size = int(min(self.n, SAMPLE, max(8, SAMPLE_WORK // column)))
        sample = np.unique(np.linspace(0, self.n - 1, size).astype(np.int64))
        # By blocks whatever the method: a plan must not cost an eigendecomposition.
        kept = 0
        for strip in strips.of(sample):
            kept += int(threshold(self._blocks_of(strip, expansion), eps).sum())
        entries = min(self.n**2, int(kept / len(sample) * self.n))
        way, why = choice.for_matrix(
            self.method,
            column * self.n,
            lambda: self._push(self._matrix_tol(eps)).probe(sample) / (column * len(sample)),
        )
        number = expansion.dtype.itemsize
        # The halves in parts and joined, their mirror image, and the sum of both.
        result = entries * (number + (4 if entries < 2**31 else 8))
        working = 4 * self.n * blocks.WIDTH * number * self._workers
        if way == "reference":
            working += 3 * 8 * self.n**2
        return Plan(
            method=way,
            why=why,
            order=expansion.order,
            dtype=str(expansion.dtype),
            error_bound=self._matrix_tol(eps) if way == "push" else expansion.error_bound,
            entries=entries,
            memory=int(2.5 * result) + working,
            work=column * self.n,
        )

    # ------------------------------------------------------------------ inside

    @cached_property
    def _expansion(self) -> Expansion:
        return self._signal_expansion(self.s)

    def _signal_expansion(self, s: float) -> Expansion:
        return expand(s, self.tol, self._longest_row)

    def _matrix_tol(self, eps: float) -> float:
        return self.tol if eps == 0 else min(self.tol, eps / 10)

    def _entry_expansion(self, tol: float) -> Expansion:
        if tol not in self._entry_expansions:
            affordable = probes.COLUMNS * self.order * self._S.nnz <= SAMPLE_WORK
            try:
                self._entry_expansions[tol] = expand(
                    self.s,
                    tol,
                    self._longest_row,
                    self._float32_error if affordable else None,
                )
            except ParameterError:
                if tol == self.tol:
                    raise
                raise ParameterError(
                    f"An eps of {10 * tol:g} asks for entries to {tol:g}, beyond float64 at "
                    f"s = {self.s:g} on this graph. Raise eps, or pass eps=0."
                ) from None
        return self._entry_expansions[tol]

    def _float32_error(self, expansion: Expansion) -> float:
        return probes.entry_error(
            self._S, self._single, self._root_degrees, expansion, self._diffuse_blocks
        )

    @property
    def _diffuse_blocks(self) -> probes.Diffuse:
        """The arithmetic of ``matrix``: its samples are taken, and its errors measured, with it."""
        way = choice.for_signals(self.method, self.order * self._S.nnz * self.n, self.n).way
        return compiled.diffuse if way == "numba" else blocks.diffuse

    def _push(self, tol: float) -> Push:
        if tol not in self._pushes:
            self._pushes[tol] = Push(
                self._adjacency,
                self.s,
                tol,
                self_loops=self.self_loops,
                isolated=self.isolated,
                threads=self._workers,
            )
        return self._pushes[tol]

    def _heat_of(self, indices: NDArray[np.int64], expansion: Expansion) -> NDArray[Any]:
        """Columns ``indices`` of e^{-sL}, shape (n, len(indices))."""
        if self.method == "reference":
            block = blocks.unit_columns(self.n, indices, np.dtype(np.float64))
            return reference.apply(self._spectrum, block, self.s)
        return self._blocks_of(indices, expansion)

    def _blocks_of(self, indices: NDArray[np.int64], expansion: Expansion) -> NDArray[Any]:
        block = blocks.unit_columns(self.n, indices, expansion.dtype)
        return self._diffuse_blocks(self._matrix_in(expansion.dtype), block, [expansion])[0]

    @cached_property
    def _spectrum(self) -> reference.Spectrum:
        return reference.spectrum(self._S)

    def _matrix_in(self, dtype: np.dtype[Any]) -> sp.csr_array:
        return self._S if dtype == np.float64 else self._single

    @cached_property
    def _single(self) -> sp.csr_array:
        return self._S.astype(np.float32)

    @property
    def _workers(self) -> int:
        if self.method == "reference":
            return 1  # its products bring their own threads
        return self.threads or os.cpu_count() or 1
