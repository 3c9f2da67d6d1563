"""What an engine computes with: S = I − L, the graph it came from, and what is derived of them."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graphheat.disk import DiskGraph
from graphheat.errors import GraphError
from graphheat.heat.laplacian import Isolated, normalized_adjacency

Kept = TypeVar("Kept")

SAMPLE = 64  # rows that stand for all others where work or entries are estimated
SAMPLE_WORK = 4e9  # multiply-adds that may be spent on them


class Operand:
    """A symmetric S, shape (n, n), spectrum in [−1, 1], with what engines derive from it once.

    Parameters
    ----------
    S
        float64 CSR; ``Operand.of_graph`` makes it.
    adjacency
        The graph that S came from; None: known by S alone, which some engines decline.
    self_loops, isolated
        As :func:`~graphheat.heat.normalized_adjacency` takes them.
    """

    mapped = False  # whether edges are on disk

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
        self, graph: DiskGraph, *, self_loops: float = 0.0, isolated: Isolated = "paper"
    ) -> None:
        self.graph, self.adjacency = graph, None
        self.self_loops, self.isolated = self_loops, isolated
        self.n, self.nnz = graph.n, graph.nnz + (graph.n if self_loops else 0)
        self.longest_row = graph.longest_row + (1 if self_loops else 0)
        self._kept = {}

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
