"""Graph filters beside PyGSP, SciPy and scikit-network: the public calls, errors beside times.

    python benchmarks/filters.py [--rounds 5] [--graphs cora,pubmed,youtube] [--columns 1,16]
        [--filters heat,pagerank,wavelets]

Heat, personalised PageRank and a bank of five Mexican hat wavelets with their low pass, all on the
normalised Laplacian (λ_max = 2, isolated nodes as PyGSP has them). Ours is ``GraphFilter(graph,
filter)`` and ``FilterBank(graph, bank)`` with their defaults, set up before, as are the matrices of
the others. A peer with a setting for its accuracy gets the cheapest one that is not worse than
needed: the finest whose measured error is not below ours (so that ours is equal or better), or its
coarsest where even that is. PyGSP: the order; funm_multiply_krylov: the size of its one basis;
conjugate gradients: rtol.
Two have none: PyGSP's default order 30 and expm_multiply stand beside ours with ``tol`` lowered
until our error is theirs, or to float64's proven limit. scikit-network: PageRank by its default
solver from a node with edges, one node at a time, ten steps, errors as sums over a distribution
(each call of it divides by the degrees anew; it has no way to do so before). Errors are
‖computed − exact‖₂ / ‖x‖₂, the largest over columns and filters; exact is PyGSP's series at twice
the order. Times are processor seconds of all threads together and seconds on the wall, the least of
the rounds: ours uses as many threads as there are processors. BLAS has one, unless
OPENBLAS_NUM_THREADS is set: the peers' small products lose by two. Rows of a graph, a filter and a
number of columns replace those of an earlier run. expm_multiply is left out where it would take
minutes. Needs pip install pygsp scikit-network, and com-youtube.npz in GRAPHHEAT_DATA.
"""

from __future__ import annotations

import argparse
import json
import os
import time
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # read when NumPy is imported

import numpy as np
import pygsp
import scipy.sparse as sp
from interleave import RESULTS, best_of, report
from numpy.typing import NDArray
from scale import DATA
from scipy.linalg import expm
from scipy.sparse.linalg import cg, expm_multiply, funm_multiply_krylov
from sknetwork.ranking import PageRank

from graphheat import FilterBank, GraphFilter, datasets, filters, read_npz
from graphheat.errors import ParameterError

S, ALPHA = 3.5, 0.15
RTOLS = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8)
COARSE = (0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 1e-3, 1e-4, 1e-5, 1e-6)
FILE = RESULTS / "filters.json"


def adjacency_of(name: str) -> sp.csr_array:
    if name == "youtube":
        return read_npz(DATA / "com-youtube.npz").adjacency
    return datasets.load(name).adjacency


class Case:
    """One filter on one graph with its signals, the exact result, and what is timed."""

    def __init__(self, exact: NDArray[Any], X: NDArray[Any]) -> None:
        self.exact, self.X = exact, X
        self.ways: dict[str, Callable[[], Any]] = {}
        self.errors: dict[str, float] = {}
        self.beside: dict[str, str] = {}

    def error(self, Y: Any) -> float:
        """Return the largest ‖Y − exact‖₂ / ‖x‖₂."""
        Y = np.asarray(Y).reshape(self.exact.shape)
        return float(
            (np.linalg.norm(Y - self.exact, axis=-2) / np.linalg.norm(self.X, axis=0)).max()
        )

    def add(self, name: str, way: Callable[[], Any], beside: str | None = None) -> float:
        """Add a way, beside one of ours, and return its error."""
        self.ways[name], self.errors[name] = way, self.error(way())
        if beside is not None:
            self.beside[name] = beside
        return self.errors[name]

    def tuned(
        self, name: str, way: Callable[[Any], Any], finer: Sequence[Any], beside: str
    ) -> None:
        """Add a way with the finest setting whose error is not below ours, or the coarsest."""
        low, high = 0, len(finer)  # by halves: errors fall with finer settings
        while high - low > 1:
            middle = (low + high) // 2
            if self.error(way(finer[middle])) < self.errors[beside]:
                high = middle
            else:
                low = middle
        self.add(f"{name} {finer[low]}", partial(way, finer[low]), beside)

    def as_near(self, name: str, peer: str, make: Callable[[float], Any]) -> None:
        """Add ours with ``tol`` lowered until its error is the peer's, or as far as is proven."""
        tol = min(0.5, 4 * max(self.errors[peer], 1e-15))
        ours = None
        while ours is None or self.error(ours @ self.X) > self.errors[peer]:
            try:
                ours, tol = make(tol), tol / 4
            except ParameterError:  # beyond float64's proven limit
                if ours is not None:
                    break
                tol *= 4
        self.add(name, partial(ours.apply, self.X))
        self.beside[peer] = name


def by_columns(solve: Callable[[NDArray[Any]], NDArray[Any]], X: NDArray[Any]) -> NDArray[Any]:
    return np.column_stack([solve(x) for x in X.T])


def on_the_wall(call: Callable[[], Any], name: str, least: dict[str, float]) -> None:
    """Call, and keep the least seconds that passed."""
    started = time.perf_counter()
    call()
    least[name] = min(least.get(name, np.inf), time.perf_counter() - started)


def rows_for(name: str, columns: int, rounds: int, wanted: list[str]) -> list[dict[str, Any]]:
    A = adjacency_of(name)
    n, large = A.shape[0], A.shape[0] > 10**5
    X = np.random.default_rng(0).standard_normal((n, columns))
    theirs = pygsp.graphs.Graph(sp.csr_matrix(A.copy()), lap_type="normalized")
    theirs._lmax = 2.0  # an estimate would differ from the normalised Laplacian's 2
    L = sp.csr_array(theirs.L)
    cases: dict[str, tuple[Any, list[Any]]] = {
        "heat": (filters.heat(S), [lambda x: np.exp(-S * x)]),
        "pagerank": (filters.pagerank(ALPHA), [lambda x: ALPHA / (ALPHA + (1 - ALPHA) * x)]),
        "wavelets": (filters.mexican_hat(5), []),
    }
    rows = []
    for filter_name in wanted:
        f, kernels = cases[filter_name]
        make: Any = FilterBank if filter_name == "wavelets" else GraphFilter
        ours = make(A, f, isolated="keep")
        kernels = kernels or [each.function for each in ours.filters]
        peer = pygsp.filters.Filter(theirs, kernels)

        def by_pygsp(order: int, peer: Any = peer) -> Any:
            found = peer.filter(X, order=order).reshape(n, columns, -1)
            return np.moveaxis(found, 2, 0) if found.shape[2] > 1 else found[:, :, 0]

        def to(tol: float, make: Any = make, f: Any = f) -> Any:
            return make(A, f, isolated="keep", tol=tol)

        # float64, and far beyond what any of them needs
        case = Case(by_pygsp(round((1.3 if large else 2) * ours.order) + 20), X)
        case.add("graphheat", partial(ours.apply, X))
        orders: Sequence[int] = range(2 * ours.order // 3, ours.order + 3)
        if large and filter_name == "wavelets":  # minutes each
            orders = [round(share * ours.order) for share in (0.85, 0.9, 0.95, 1.0)]
        case.tuned("PyGSP, order", by_pygsp, orders, "graphheat")
        if not large:
            case.add("PyGSP, default order 30", partial(by_pygsp, 30))
            case.as_near("graphheat as near", "PyGSP, default order 30", to)
        if filter_name == "heat":
            M = sp.csr_matrix(-S * L)
            if not large or columns == 1:
                case.add("expm_multiply", partial(expm_multiply, M, X))
                case.as_near("graphheat as near as expm_multiply", "expm_multiply", to)

            def krylov(size: int, M: Any = M) -> Any:
                return by_columns(
                    lambda x: funm_multiply_krylov(
                        expm, M, x, assume_a="her", restart_every_m=size, max_restarts=1
                    ),
                    X,
                )

            sizes = range(ours.order - 4, ours.order + 6)
            case.tuned("funm_multiply_krylov, size", krylov, sizes, "graphheat")
        if filter_name == "pagerank":
            system = sp.csr_array(sp.eye_array(n) + (1 - ALPHA) / ALPHA * L)

            def solved(rtol: float, system: Any = system) -> Any:
                return by_columns(lambda x: cg(system, x, rtol=rtol)[0], X)

            case.tuned("conjugate gradients, rtol", solved, RTOLS, "graphheat")
            walk = GraphFilter(A, f, laplacian="random_walk", isolated="keep")
            linked = np.flatnonzero(np.diff(A.indptr))
            chosen = np.random.default_rng(1).choice(linked, columns, replace=False).tolist()
            units = np.zeros((n, columns))
            units[chosen, np.arange(columns)] = 1.0
            plain = sp.csr_matrix(A.astype(float))

            def by_network(plain: Any = plain, chosen: Any = chosen) -> Any:
                model = PageRank(damping_factor=1 - ALPHA)
                return np.column_stack(
                    [model.fit_predict(plain, weights={node: 1}) for node in chosen]
                )

            def walked(tol: float, f: Any = f) -> GraphFilter:
                return GraphFilter(A, f, laplacian="random_walk", isolated="keep", tol=tol).T

            sure = walked(1e-8) @ units

            def apart(Y: Any, sure: Any = sure) -> float:
                return float(np.abs(Y - sure).sum(axis=0).max())

            theirs_error = apart(by_network())
            near = next(tol for tol in COARSE if apart(walked(tol) @ units) <= theirs_error)
            for way, call in (
                ("graphheat, distributions", partial(walk.T.apply, units)),
                ("graphheat, distributions as near", partial(walked(near).apply, units)),
                ("scikit-network", by_network),
                ("scikit-network, the same", by_network),
            ):
                case.ways[way], case.errors[way] = call, apart(call())
            case.beside["scikit-network, the same"] = "graphheat, distributions as near"
            case.beside["scikit-network"] = "graphheat, distributions"
        wall: dict[str, float] = {}
        ways = {way: partial(on_the_wall, call, way, wall) for way, call in case.ways.items()}
        best = best_of(ways, rounds, 15 if large else 3, time.process_time)
        rows += [
            {
                "graph": name,
                "signals": columns,
                "filter": filter_name,
                "peer": way,
                "peer / ours, processor": best[way] / best[us],
                "peer / ours, wall": wall[way] / wall[us],
                "ours ms, processor": 1e3 * best[us],
                "ours ms, wall": 1e3 * wall[us],
                "our error": case.errors[us],
                "its error": case.errors[way],
                "ours": us.removeprefix("graphheat").strip(", ") or "default",
            }
            for way, us in case.beside.items()
        ]
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--graphs", default="cora,pubmed,youtube")
    parser.add_argument("--columns", default="1,16")
    parser.add_argument("--filters", default="heat,pagerank,wavelets")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    for name in arguments.graphs.split(","):
        for columns in arguments.columns.split(","):
            wanted = arguments.filters.split(",")
            rows = rows_for(name, int(columns), arguments.rounds, wanted)
            stored = json.loads(FILE.read_text())["rows"] if FILE.exists() else []
            stored = [
                row for row in stored
                if (row["graph"], row["signals"]) != (name, int(columns))
                or row["filter"] not in wanted
            ]  # fmt: skip
            stored = sorted([*stored, *rows], key=lambda r: (r["graph"], r["signals"], r["filter"]))
            report("filters", stored, s=S, clock="processor seconds of all threads, and wall")


if __name__ == "__main__":
    main()
