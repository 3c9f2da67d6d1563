"""Rows of the heat kernel on com-Youtube: ours beside hk-relax, TEA and TEA+.

    python benchmarks/pushed_rows.py [--nodes 20] [--s 5] [--relative 0.5]

A row of e^{-s(I − P)}, P = D^{-1} A the random walk, is ρ; with ours, H = e^{-sL} of the symmetric
L, it is ρ_j = H_ij √(d_j / d_i), so that ρ_j / d_j = H_ij / √(d_i d_j). All errors are of that:
|ρ̂_j − ρ_j| / d_j, the largest over all columns j.

What each guarantees. hk-relax: eps. TEA and TEA+: with probability 1 − p_f, relative · ρ_j / d_j
where ρ_j / d_j > delta, and relative · delta elsewhere. Ours: tol / √(d_i · the component's largest
degree), for sure and in every column; ``HeatKernel(graph, s, tol=…).row(node)``, for the nodes of
degrees within a factor of four with the tol of the smallest, so that the guarantee is no worse.

*Equal guarantee*: eps = relative · delta for hk-relax and ours, which is TEA's or better. *Equal
error*: each of them with the largest setting (by factors of two) whose largest measured error over
all nodes is not above ours. hk-relax, TEA and TEA+ are compiled references after the papers
(row_references.py), with arrays in place of their hash tables, on levels in order; what does not
depend on the node is set up before for all. Seconds are the mean over nodes, one thread.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import row_references as references
from interleave import report
from numpy.typing import NDArray
from scale import load

from graphheat import HeatKernel

P_F = 1e-6
FINEST = 1e-5  # delta below which TEA takes minutes
STEPS = 24  # factors of two that are tried
SLOW = 20.0  # seconds for all nodes, beyond which no finer setting is tried

Row = Callable[[int, int], NDArray[np.float64]]  # ρ̂ / d of the node that is i-th


class Measured:
    """A way to compute rows, on all nodes: seconds and errors."""

    def __init__(self, call: Callable[[int, int], Any], dense: Callable[..., Any]) -> None:
        self.call, self.dense = call, dense
        self.seconds = self.error = self.relative = 0.0

    def over(self, nodes: NDArray[np.int64], exact: list[Any], delta: float) -> Measured:
        """Measure on all nodes."""
        seconds, errors, relative = [], [], []
        for i, node in enumerate(nodes):
            started = time.process_time()
            found = self.call(i, int(node))
            seconds.append(time.process_time() - started)
            wrong = np.abs(self.dense(int(node), found) - exact[i])
            errors.append(wrong.max())
            large = exact[i] > delta
            relative.append((wrong[large] / exact[i][large]).max(initial=0.0))
        self.seconds, self.error = float(np.mean(seconds)), float(max(errors))
        self.relative = float(max(relative))
        return self


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=20)
    parser.add_argument("--s", type=float, default=5.0)
    parser.add_argument("--relative", type=float, default=0.5)
    options = parser.parse_args()
    s, relative = options.s, options.relative
    graph = load("youtube")
    A, n = graph.adjacency, graph.n
    degrees = np.diff(A.indptr).astype(float)
    nodes = np.random.default_rng(0).choice(n, options.nodes, replace=False)
    exactly = HeatKernel(graph, s, tol=1e-10, threads=1)  # about the limit of float64's proof
    exact = []
    for node in nodes:
        unit = np.zeros(n)
        unit[node] = 1.0
        exact.append(exactly.apply(unit) / np.sqrt(degrees[node] * degrees))
    space = references.Workspace.of(n)
    p = references.failure_share(degrees, P_F)
    largest = float(degrees.max())  # of the one component there is

    def taken(node: int, found: Any) -> NDArray[np.float64]:
        offset, places, values = found
        row = np.full(n, offset)
        row[places] += values / degrees[places]
        return row

    def result(found: Any) -> Any:
        touched, offset = found if isinstance(found, tuple) else (found, 0.0)
        return offset, space.nodes[:touched].copy(), space.values[:touched].copy()

    def relax(eps: float) -> Measured:
        return Measured(lambda i, node: result(references.hk_relax(A, node, s, eps, space)), taken)

    def by_tea(routine: Any, delta: float) -> Measured:
        return Measured(
            lambda i, node: result(routine(A, node, s, relative, delta, p, space, i)), taken
        )

    def ours(eps: float) -> Measured:
        kernels: dict[int, HeatKernel] = {}
        classes = (np.log2(degrees[nodes]) // 2).astype(int).tolist()
        for each in set(classes):
            # One bit less for √(d_i d_max) and eps itself, which round.
            tol = min(0.5, eps * np.sqrt(4.0**each * largest) * (1 - 1e-12))
            kernels[each] = HeatKernel(graph, s, tol=tol, threads=1)
            kernels[each].row(int(nodes[classes.index(each)]))

        def dense(node: int, row: Any) -> NDArray[np.float64]:
            return np.asarray(row.toarray()[0] / np.sqrt(degrees[node] * degrees))

        return Measured(lambda i, node: kernels[classes[i]].row(node), dense)

    rows: list[dict[str, Any]] = []

    def add(
        name: str, target: str, setting: str, bound: str, found: Measured, of: Measured
    ) -> None:
        rows.append(
            {
                "at equal": target,
                "by": name,
                "setting": setting,
                "guaranteed error": bound,
                "largest error": found.error,
                "largest relative error above delta": found.relative,
                "ms per row": 1e3 * found.seconds,
                "its time / ours": found.seconds / of.seconds,
            }
        )
        print(rows[-1], flush=True)

    relax(1e-3).over(nodes[:1], exact, 1.0)  # compiled
    for routine in (references.tea, references.tea_plus):
        by_tea(routine, 1e-3).over(nodes[:1], exact, 1.0)
    for delta in (1e-4, 1e-5, 1 / n):
        goal = relative * delta
        us = ours(goal).over(nodes, exact, delta)
        add("ours", f"guarantee, delta {delta:.2g}", f"tol {goal:.2g}·√(d_i d_max)",
            f"{goal:.2g}", us, us)  # fmt: skip
        found = relax(goal).over(nodes, exact, delta)
        add("hk-relax", "", f"eps {goal:.2g}", f"{goal:.2g}", found, us)
        both: list[tuple[str, Any]] = [("TEA+", references.tea_plus), ("TEA", references.tea)]
        for name, routine in both[: 1 if delta < FINEST else 2]:
            found = by_tea(routine, delta).over(nodes, exact, delta)
            bound = f"{relative:g}·max(ρ/d, {delta:.2g}), probably"
            add(name, "", f"relative {relative:g}, delta {delta:.2g}", bound, found, us)
        ways: list[tuple[str, Any]] = [
            ("hk-relax", relax),
            ("TEA+", partial(by_tea, references.tea_plus)),
        ]
        for name, way in ways:
            setting = 64 * (goal if name == "hk-relax" else delta)
            for _ in range(STEPS):
                found = way(setting).over(nodes, exact, delta)
                if found.error <= us.error or found.seconds * len(nodes) > SLOW:
                    break
                setting /= 2
            word = "eps" if name == "hk-relax" else f"relative {relative:g}, delta"
            reached = "error" if found.error <= us.error else "error (not reached)"
            add(name, reached, f"{word} {setting:.2g}", "", found, us)
    report("pushed_rows", rows, s=s, nodes=len(nodes), p_f=P_F, clock="processor seconds, 1 thread")


if __name__ == "__main__":
    main()
