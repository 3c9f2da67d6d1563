"""What an engine computes with: S = I − L, the graph it came from, and what is derived of them."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graphheat.disk import DiskGraph
from graphheat.errors import GraphError
from graphheat.graph.adjacency import without_diagonal
from graphheat.heat.eigenvalue_bound import largest_eigenvalue
from graphheat.heat.laplacian import Isolated, Laplacian, normalized_adjacency

Kept = TypeVar("Kept")

SAMPLE = 64  # rows that stand for all others where work or entries are estimated
SAMPLE_WORK = 4e9  # multiply-adds that may be spent on them
PASSES = 4  # over the edges on disk, to bound an eigenvalue


class Operand:
    """A symmetric S, shape (n, n), spectrum in [−1, 1], with what engines derive from it once.

    S = I − (2 / b) L for a Laplacian L with spectrum in [0, b]; for the normalised one b = 2, and
    S = I − L.

    Parameters
    ----------
    S
        float64 CSR; ``Operand.of_graph`` and ``of_laplacian`` make it.
    adjacency
        The graph that S came from; None: known by S alone, which some engines decline.
    self_loops, isolated
        As :func:`~graphheat.heat.normalized_adjacency` takes them.

    Attributes
    ----------
    laplacian
        Which L.
    lmax
        b, which no eigenvalue of L exceeds.
    absolute_norm
        A bound of the spectral norm of S with every entry's absolute value; rounding grows with it.
    """

    mapped = False  # whether edges are on disk
    laplacian = Laplacian()
    lmax = 2.0
    absolute_norm = 1.0

    def __init__(
        self,
        S: sp.csr_array,
        *,
        adjacency: sp.csr_array | None = None,
        self_loops: float = 0.0,
        isolated: Isolated = "paper",
    ) -> None:
        self.S, self.adjacency = S, adjacency
        self.self_loops, self.isolated = self_loops, isolated
        self.n, self.nnz = int(S.shape[0]), int(S.nnz)
        self.longest_row = int(np.diff(S.indptr).max(initial=0))
        self._kept: dict[Hashable, Any] = {}

    @classmethod
    def of_graph(
        cls, adjacency: sp.csr_array, *, self_loops: float = 0.0, isolated: Isolated = "paper"
    ) -> Operand:
        """Return the operand of a symmetric, non-negative adjacency, shape (n, n)."""
        S = normalized_adjacency(adjacency, self_loops=self_loops, isolated=isolated)
        return cls(S, adjacency=adjacency, self_loops=self_loops, isolated=isolated)

    @classmethod
    def of_laplacian(cls, adjacency: sp.csr_array, laplacian: Laplacian) -> Operand:
        """Return the operand of a Laplacian of a symmetric, non-negative adjacency."""
        how: dict[str, Any] = {"self_loops": laplacian.self_loops, "isolated": laplacian.isolated}
        if laplacian.divided:
            operand = cls.of_graph(adjacency, **how)
            if laplacian.sign < 0:
                operand.S = -operand.S
            operand.laplacian = laplacian
            return operand
        n = adjacency.shape[0]
        degrees = np.asarray(adjacency.sum(axis=1), dtype=np.float64).ravel()
        loops = adjacency.diagonal()
        # D − A has no loop; D + A counts each twice.
        own = degrees - loops if laplacian.sign > 0 else degrees + loops + 2 * laplacian.self_loops
        longest = int(np.diff(adjacency.indptr).max(initial=0)) + 1

        def product(x: NDArray[np.float64]) -> NDArray[np.float64]:
            return np.asarray(own * x + (adjacency @ x - loops * x))

        lmax = largest_eigenvalue(product, n, longest)
        links = without_diagonal(adjacency) * (laplacian.sign * 2 / lmax)
        S = sp.csr_array(links + sp.diags_array(1 - 2 * own / lmax, format="csr"))
        S.sort_indices()
        operand = cls(S, adjacency=adjacency, **how)
        operand._set(laplacian, lmax)
        return operand

    def _set(self, laplacian: Laplacian, lmax: float) -> None:
        """Set what belongs to a Laplacian whose degrees are not divided by.

        Its diagonal q is at most its largest eigenvalue, and the other entries of a row sum to q at
        most in absolute value: those of S to |1 − 2q/b| + 2q/b ≤ 3.
        """
        self.laplacian, self.lmax, self.absolute_norm = laplacian, lmax, 3.0

    def matrix_in(self, dtype: np.dtype[Any]) -> sp.csr_array:
        """Return S in float32 or float64."""
        if dtype == self.S.dtype:
            return self.S
        return self.kept(("matrix", np.dtype(dtype).str), lambda: self.S.astype(dtype))

    @property
    def smoothest(self) -> NDArray[np.float64]:
        """A positive signal, shape (n,), that S hardly changes: the roots of the degrees."""
        if self.adjacency is None:
            return np.ones(self.n)
        degrees = np.asarray(self.adjacency.sum(axis=1), dtype=np.float64).ravel()
        roots = np.sqrt(degrees + self.self_loops)
        return np.where(roots > 0, roots, 1.0)

    def sample(self, order: int) -> NDArray[np.int64]:
        """Return row numbers, evenly spaced, whose columns by a series of ``order`` are cheap."""
        column = max(1, order) * max(1, self.nnz)
        size = int(min(self.n, SAMPLE, max(8, SAMPLE_WORK // column)))
        return np.unique(np.linspace(0, self.n - 1, size).astype(np.int64))

    def kept(self, key: Hashable, make: Callable[[], Kept]) -> Kept:
        """Return what ``make`` made when ``key`` was asked for first."""
        if key not in self._kept:
            self._kept[key] = make()
        found: Kept = self._kept[key]
        return found


class MappedOperand(Operand):
    """The operand of a graph on disk: known by its rows, never as a matrix."""

    mapped = True

    def __init__(
        self,
        graph: DiskGraph,
        *,
        self_loops: float = 0.0,
        isolated: Isolated = "paper",
        laplacian: Laplacian | None = None,
    ) -> None:
        if laplacian is None:
            laplacian = Laplacian("normalized", self_loops, isolated)
        self_loops, isolated = laplacian.self_loops, laplacian.isolated
        self.laplacian = laplacian
        self.graph, self.adjacency = graph, None
        self.self_loops, self.isolated = self_loops, isolated
        self.n, self.nnz = graph.n, graph.nnz + (graph.n if self_loops else 0)
        self.longest_row = graph.longest_row + (1 if self_loops else 0)
        self._kept = {}
        if not laplacian.divided:
            # Loops are counted, and then once more, where D − A has none: no less of a bound.
            own = graph.degrees + (self_loops if laplacian.sign < 0 else 0.0)
            bound = largest_eigenvalue(
                lambda x: own * x + self._product(x), self.n, self.longest_row + 1, products=PASSES
            )
            self._set(laplacian, bound)

    def _product(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return (A + loops) x by place, shape (n,)."""
        graph, loops = self.graph, self.self_loops if self.laplacian.sign < 0 else 0.0
        result = np.empty(self.n)
        for first, last in graph.row_strips():
            begin, end = int(graph.indptr[first]), int(graph.indptr[last])
            values = x[np.asarray(graph.indices[begin:end])]
            if graph.weights is not None:
                values = values * np.asarray(graph.weights[begin:end])
            ends = np.asarray(graph.indptr[first : last + 1]) - begin
            sums = np.add.reduceat(np.append(values, 0.0), ends[:-1])
            result[first:last] = np.where(np.diff(ends) > 0, sums, 0.0)
        return result + loops * x

    @property
    def S(self) -> sp.csr_array:  # type: ignore[override]  # noqa: N802
        """Raise: it would take memory for all edges."""
        raise GraphError(
            f"{self.graph.name} is on disk, and the matrix S of it would take "
            f"{12 * self.nnz / 1e9:.1f} GB of memory. Use apply, sweep or rows with engine='auto'."
        )

    @property
    def smoothest(self) -> NDArray[np.float64]:
        """The roots of the degrees, by row, shape (n,)."""
        roots = np.sqrt(self.graph.degrees + self.self_loops)
        roots = np.where(roots > 0, roots, 1.0)
        return roots if self.graph.rank is None else roots[self.graph.rank]
