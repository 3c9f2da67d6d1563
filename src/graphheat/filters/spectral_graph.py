"""SpectralGraph: a graph with the Laplacian that filters are functions of, and an engine."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graphheat.checks import check_choice, check_count, check_number
from graphheat.disk import DiskGraph
from graphheat.errors import ParameterError
from graphheat.filters.direction import Symmetrization, magnetic_operand, symmetrized
from graphheat.graph import Graph
from graphheat.graph.adjacency import validate
from graphheat.heat.engines import Auto, Chooser, Engine, chooser_of
from graphheat.heat.laplacian import Isolated, Laplacian, LaplacianKind
from graphheat.heat.operand import MappedOperand, Operand
from graphheat.heat.products import products, workers
from graphheat.heat.series import ChebyshevSeries

ADVICE = "Pass symmetrize='sum', 'max', 'coupling', 'cocitation' or 'magnetic'."

# Filters are applied more than once, or are several: compiled code pays from less work on.
AUTO = Auto(signals=1e6, narrow=1e5)


class SpectralGraph:
    """What filters on one graph share: its operand, roots of degrees, the engine, threads.

    The parameters are those of :class:`~graphheat.filters.GraphFilter`.

    Attributes
    ----------
    operand
        What engines compute with; of twice the size where ``complex_``.
    n
        Number of nodes.
    roots
        Square roots of the degrees where L is the random walk's, shape (n,); else None.
    complex_
        Whether the Laplacian is Hermitian, and results complex.
    """

    def __init__(
        self,
        graph: Graph | DiskGraph | Any,
        *,
        laplacian: LaplacianKind = "normalized",
        self_loops: float = 0.0,
        isolated: Isolated = "paper",
        symmetrize: Symmetrization | None = None,
        q: float = 0.25,
        engine: str | Engine | Chooser = "auto",
        threads: int | None = None,
    ) -> None:
        owner = "GraphFilter"
        check_choice(isolated, "isolated", owner, ("paper", "keep"))
        loops = check_number(self_loops, "self_loops", owner, 0.0, math.inf)
        self.laplacian = Laplacian(laplacian, loops, isolated)
        self.chooser = AUTO if engine == "auto" else chooser_of(engine, owner)
        self.threads = None if threads is None else check_count(threads, "threads", owner)
        self.complex_ = symmetrize == "magnetic"
        degrees: Any = None
        if isinstance(graph, DiskGraph):
            if symmetrize is not None:
                raise ParameterError(
                    "A graph on disk is undirected already; the 'symmetrize' parameter of "
                    f"GraphFilter must be None for it. Got {symmetrize!r} instead."
                )
            self.operand: Operand = MappedOperand(graph, laplacian=self.laplacian)
            roots = self.operand.smoothest
        else:
            given = graph.adjacency if isinstance(graph, Graph) else graph
            if symmetrize is None:
                matrix = given if isinstance(graph, Graph) else validate(given, advice=ADVICE)
            else:
                matrix = symmetrized(given, symmetrize)
            self.operand = (
                magnetic_operand(given, self.laplacian, q)
                if self.complex_
                else Operand.of_laplacian(matrix, self.laplacian)
            )
            degrees = np.asarray(matrix.sum(axis=1), dtype=np.float64).ravel() + loops
            roots = np.where(degrees > 0, np.sqrt(degrees), 1.0)
        self.n = self.operand.n // (2 if self.complex_ else 1)
        self.roots: NDArray[np.float64] | None = roots if laplacian == "random_walk" else None

    @property
    def workers(self) -> int:
        """How many threads."""
        return workers(self.threads)

    def products(
        self,
        X: Any,
        series: Sequence[ChebyshevSeries],
        *,
        transposed: bool = False,
        weights: NDArray[np.float64] | None = None,
    ) -> list[NDArray[Any]] | NDArray[Any]:
        """Return f(L)X for each f, or f(L)ᵀX; with ``weights``, shape (series, n), see below.

        Where weights w_r are given, X is multiplied by w_r before f_r if ``transposed``, and the
        caller multiplies after it otherwise: then all series share one basis.
        """
        if transposed and weights is not None:
            return [
                self.products(_scaled(X, w), [each], transposed=True)[0]
                for w, each in zip(weights, series, strict=True)
            ]
        into, out = self.roots, self.roots
        columns = self._stacked(X if into is None else self._by_roots(X, into, not transposed))
        found = products(self.operand, self.chooser, columns, series, threads=self.workers)
        if out is None and columns is X:
            return found
        results = [self._joined(each, X) for each in found]
        if out is not None:
            results = [self._by_roots(each, out, transposed) for each in results]
        return results

    def _by_roots(self, X: Any, roots: NDArray[np.float64], multiplied: bool) -> Any:
        factor = roots if multiplied else 1 / roots
        if not sp.issparse(X):
            X = np.asarray(X)
            if X.ndim not in (1, 2) or X.shape[0] != self.n or X.dtype.kind not in "biufc":
                return X  # refused, with the reason, where it is used
        return _scaled(X, factor)

    def _stacked(self, X: Any) -> Any:
        """Return real columns: real and imaginary parts below each other, or beside each other."""
        if not sp.issparse(X):
            X = np.asarray(X)
        is_complex = X.dtype.kind == "c"
        if not (is_complex or self.complex_) or X.ndim not in (1, 2) or X.shape[0] != self.n:
            return X
        parts = (X.real, X.imag) if is_complex else (X, 0 * X)
        if self.complex_:
            return sp.vstack(parts).tocsc() if sp.issparse(X) else np.concatenate(parts)
        if sp.issparse(X):
            return sp.hstack(parts).tocsc()
        return np.column_stack(parts)

    def _joined(self, Y: NDArray[Any], X: Any) -> NDArray[Any]:
        if self.complex_:
            return np.asarray(Y[: self.n] + 1j * Y[self.n :])
        X = X if sp.issparse(X) else np.asarray(X)
        if X.dtype.kind != "c":
            return Y
        half = Y.shape[1] // 2
        joined = Y[:, :half] + 1j * Y[:, half:]
        return np.asarray(joined.reshape(X.shape))


def _scaled(X: Any, factor: NDArray[Any]) -> Any:
    if sp.issparse(X):
        diagonal: Any = sp.diags_array(factor)
        return sp.csc_array(diagonal @ X)
    X = np.asarray(X)
    return X * (factor if X.ndim == 1 else factor[:, None])
