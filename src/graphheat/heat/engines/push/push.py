"""Push: rows of e^{-sL} from what flows out of a node, certified in every column.

With P = D^{-1}A and the Poisson weights w_k = e^{-s} s^k / k!,

    [e^{-sL}]_ij = √(d_i / d_j) Σ_k w_k (P^k)_ij.

Follow the walk from node i level by level. At level k a node v holds the residual
q(v) = w_{k+1} · (what is at v after k steps). To *push* v is to send q(v) P_vu to each neighbour u,
where it is heat at once, and, times w_{k+2} / w_{k+1} = s / (k + 2), residual of the next level.
A residual too small to be worth its edges is *carried*: it stays where it is, and is from then on
taken for one of level k + 1. At the end, what is still there is dropped.

**The result never exceeds the exact row.** A residual q at level k would bring q Φ_k, with
Φ_k = Σ_{l≥1} (w_{k+l} / w_{k+1}) P^l. The factors are s^{l-1} (k+1)! / (k+l)!: 1 for l = 1, and
falling in k for all others. To carry, or to drop, can only lose heat.

**What it loses.** Carrying the residuals q_k over level k costs column j

    √(d_i / d_j) Σ_v q_k(v) [Φ_k − Φ_{k+1}]_vj  =  √(d_i d_j) Σ_v [Φ_k − Φ_{k+1}]_jv q_k(v) / d_v,

since d_v (P^l)_vj = d_j (P^l)_jv. Rows of P^l sum to 1, so rows of Φ_k to
Ψ_k = 1 + s/(k+2) + s²/((k+2)(k+3)) + …, and with M_k the largest q(v) / d_v carried so far, the
cost is at most √(d_i d_j) M_k (Ψ_k − Ψ_{k+1}). Summed over all levels, the last drop included,

    0 ≤ [e^{-sL}]_ij − out_ij ≤ √(d_i d_j) Σ_k Ψ_k (M_k − M_{k-1}):

a rise of M is charged once, with the Ψ of its level. So level k may carry whatever keeps
Ψ_k (M_k − M_{k-1}) within what is left of the budget. That limit never falls, hence a node that is
carried need not be looked at again until something arrives. Columns outside the component of i
are exactly 0, and of those inside none has a degree above the component's largest: with the
budget tol / √(d_i · largest degree) the row is certified in every column, touched or not. Half a
row, the columns with d_j ≤ d_i, is certified by the budget tol / d_i; ``matrix`` computes half
rows and mirrors them.

References
----------
K. Kloster, D. Gleich: Heat Kernel Based Community Detection, KDD 2014 (hk-relax): push for the
heat kernel, level by level. They bound the error divided by the degree; here small residuals are
carried on to the next level, and every entry is certified.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from types import ModuleType
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from graphheat.errors import MissingDependencyError, ParameterError
from graphheat.heat.assembly import Entries, assemble, mirror, threshold
from graphheat.heat.engines.push.walk import Ranked, levels, ranked, rounding
from graphheat.heat.laplacian import Isolated
from graphheat.progress import Progress

TASK = 64  # rows that a thread takes at a time
PATIENCE = 1_000_000  # edges after which compiled code returns, so that Ctrl-C is heard


class Push:
    """Rows of e^{-sL} by local push, and the workspaces that make the next row cost no setup.

    Parameters
    ----------
    adjacency
        Symmetric and non-negative, shape (n, n); trusted to be so. Or the same with its self-loops
        as :func:`~graphheat.heat.engines.push.push_engine.ranks_of` has it.
    s
        Diffusion time.
    tol
        Accuracy of every entry.
    self_loops
        Weight added to the diagonal of A first.
    isolated
        ``"paper"``: a node without edges keeps e^{-s} of its heat; ``"keep"``: all of it.
    threads
        Threads for many rows. The result does not depend on it.
    longest_row
        The largest number of edges of a node, where it is known.

    Attributes
    ----------
    edges_pushed
        Edges that heat was sent over since the object exists: the work done.
    rounding
        What arithmetic can cost an entry, either way.

    Notes
    -----
    *Accuracy*: −rounding ≤ exact − returned ≤ certificate ≤ tol in every column, ``rounding``
    included. The arithmetic is float64; values are returned in float32 when tol ≥ 1e-6, which
    costs 2^-25 of ``rounding``. *Cost*: setup O(|E|) and memory O(n) per thread, once; then a row
    pushes at most c(s) √(d_i d_max) / tol edges of equal weight, whatever n, over a number of
    levels that grows like s. *Deterministic*: yes, for any number of threads. *Isolated nodes*: see
    ``isolated``.

    Examples
    --------
    >>> import numpy as np
    >>> ring = sp.csr_array(np.roll(np.eye(6), 1, axis=0) + np.roll(np.eye(6), -1, axis=0))
    >>> row, certificate = Push(ring, s=1.0, tol=1e-8).row(0, eps=0.1)
    >>> row.toarray().round(3)
    array([[0.466, 0.208, 0.   , 0.   , 0.   , 0.208]])
    >>> bool(certificate[0] <= 1e-8)
    True
    """

    def __init__(
        self,
        adjacency: sp.csr_array | Ranked,
        s: float,
        tol: float,
        *,
        self_loops: float = 0.0,
        isolated: Isolated = "paper",
        threads: int = 1,
        longest_row: int | None = None,
    ) -> None:
        self.s, self.tol, self.threads = float(s), float(tol), threads
        self.dtype = np.dtype(np.float32 if tol >= 1e-6 else np.float64)
        self.edges_pushed = 0
        self._graph = adjacency if isinstance(adjacency, Ranked) else ranked(adjacency, self_loops)
        self.n = len(self._graph.rank)
        self._levels = levels(self.s)
        self._isolated = isolated
        self._alone = math.exp(-self.s) if isolated == "paper" else 1.0
        self._longest_row = self._graph.longest_row if longest_row is None else longest_row
        self.rounding = rounding(self.s, self._longest_row)
        if self.rounding > tol / 2:
            raise ParameterError(
                f"The 'tol' parameter of Push must be at least {2 * self.rounding:.1e} for "
                f"s = {s:g} on this graph, the limit of float64. Got {tol:g} instead."
            )
        if self.dtype == np.float32:
            self.rounding += 2.0**-25
        self._frontier = _frontier()
        self._idle: list[Any] = []
        self._lock = threading.Lock()

    def retimed(self, s: float, tol: float) -> Push:
        """Return the same for another time and accuracy; workspaces are shared."""
        other = Push(
            self._graph, s, tol, isolated=self._isolated, threads=self.threads,
            longest_row=self._longest_row,
        )  # fmt: skip
        other._idle, other._lock = self._idle, self._lock
        return other

    def row(self, index: int, eps: float = 0.0) -> tuple[sp.csr_array, NDArray[np.float64]]:
        """Return row ``index``, entries at least ``eps``, shape (1, n), and its certificate."""
        return self.rows([index], eps)

    def rows(
        self, indices: ArrayLike, eps: float = 0.0
    ) -> tuple[sp.csr_array, NDArray[np.float64]]:
        """Return rows of e^{-sL}, entries at least ``eps``, and what their error cannot exceed.

        Parameters
        ----------
        indices
            Row numbers, shape (k,).
        eps
            Threshold in [0, 1); 0 keeps every node that heat has touched.

        Returns
        -------
        csr_array
            Shape (k, n), columns ascending.
        ndarray
            The certificate of each row, shape (k,), at most ``tol``.
        """
        seeds = self._seeds(indices)
        scale = np.sqrt(self._graph.degrees[seeds]) * np.sqrt(self._graph.ceilings[seeds])
        parts, costs = [], [np.empty(0)]
        for entries, cost in self._map(seeds, self._goal / scale, eps, half=False):
            parts.append(entries)
            costs.append(cost)
        result = assemble(parts, self.n).astype(self.dtype, copy=False)
        result.sort_indices()
        return result, np.concatenate(costs) * scale + self.rounding

    def matrix(self, eps: float = 0.0, *, progress: Progress | None = None) -> sp.csr_array:
        """Return the entries of e^{-sL} that are at least ``eps``, shape (n, n).

        Exactly symmetric: each entry is computed once, in the row of the end with more degree.

        Parameters
        ----------
        eps
            Threshold in [0, 1).
        progress
            Called as ``progress(rows_done, n, "rows")`` along the way.
        """
        seeds = np.arange(self.n)
        parts: list[Entries] = []
        done = 0
        for entries, _ in self._map(seeds, self._goal / self._graph.degrees, eps, half=True):
            parts.append(entries)
            done += len(entries[2])
            if progress is not None:
                progress(done, self.n, "rows")
        half = assemble(parts, self.n).tocoo()
        row, column = self._graph.order[half.row], half.col
        ends = np.maximum(row, column), np.minimum(row, column)
        return mirror(sp.coo_array((half.data, ends), shape=(self.n, self.n)).tocsr())

    def probe(self, indices: ArrayLike) -> int:
        """Return the edges that the half rows ``indices`` push: the work of ``matrix``, sampled."""
        before = self.edges_pushed
        seeds = self._seeds(indices)
        for _ in self._map(seeds, self._goal / self._graph.degrees[seeds], 1.0, half=True):
            pass
        return self.edges_pushed - before

    # ------------------------------------------------------------------ inside

    @property
    def _goal(self) -> float:
        # A hair less than all of it, for the rounding of the certificate itself.
        return (self.tol - self.rounding) * (1 - 1e-9)

    def _seeds(self, indices: ArrayLike) -> NDArray[np.int64]:
        return self._graph.rank[np.asarray(indices, dtype=np.int64)].astype(np.int64)

    def _map(
        self, seeds: NDArray[np.int64], budgets: NDArray[np.float64], eps: float, *, half: bool
    ) -> Iterator[tuple[Entries, NDArray[np.float64]]]:
        """Yield the rows of ``seeds``, some at a time and in order, with their costs."""
        tasks = [slice(a, a + TASK) for a in range(0, len(seeds), TASK)]
        stop = threading.Event()

        def work(task: slice) -> list[tuple[Entries, NDArray[np.float64]]]:
            return list(self._spread_over(seeds[task], budgets[task], eps, half, stop))

        if self.threads == 1 or len(tasks) < 2:
            for task in tasks:
                yield from self._spread_over(seeds[task], budgets[task], eps, half, stop)
            return
        with ThreadPoolExecutor(self.threads) as pool:
            try:
                for parts in pool.map(work, tasks):
                    yield from parts
            except BaseException:
                stop.set()  # Ctrl-C: only the rows under way finish
                pool.shutdown(cancel_futures=True)
                raise

    def _spread_over(
        self,
        seeds: NDArray[np.int64],
        budgets: NDArray[np.float64],
        eps: float,
        half: bool,
        stop: threading.Event,
    ) -> Iterator[tuple[Entries, NDArray[np.float64]]]:
        limits = self._frontier.Limits(half, float(eps), self._alone, PATIENCE)
        with self._workspace() as workspace:
            while len(seeds) and not stop.is_set():
                columns, values, counts, costs, edges = self._frontier.spread(
                    seeds, budgets, limits, self._levels, workspace, self._graph.edges
                )
                seeds, budgets = seeds[len(counts) :], budgets[len(counts) :]
                with self._lock:
                    self.edges_pushed += edges
                yield self._entries(columns, values, counts, eps), costs

    def _entries(
        self,
        columns: NDArray[np.uint32],
        values: NDArray[np.float64],
        counts: NDArray[np.int64],
        eps: float,
    ) -> Entries:
        """Return the entries in the precision and under the numbers that the caller knows."""
        rounded = values.astype(self.dtype)
        keep = threshold(rounded, eps)
        if not keep.all():
            rows = np.repeat(np.arange(len(counts)), counts)
            counts = np.bincount(rows[keep], minlength=len(counts))
            columns, rounded = columns[keep], rounded[keep]
        return self._graph.order[columns], rounded, counts

    @contextmanager
    def _workspace(self) -> Iterator[Any]:
        """Lend a workspace, which is returned as clean as it was."""
        with self._lock:
            workspace = self._idle.pop() if self._idle else None
        if workspace is None:
            workspace = self._frontier.Workspace.of(self._graph.degrees)
        try:
            yield workspace
        finally:
            with self._lock:
                self._idle.append(workspace)


def _frontier() -> ModuleType:
    try:
        from graphheat.heat.engines.push import frontier
    except ImportError as error:
        raise MissingDependencyError(
            "The push needs numba, which cannot be imported. Run pip install numba, or choose "
            "engine='scipy'."
        ) from error
    return frontier
