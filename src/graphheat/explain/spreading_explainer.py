"""Why label spreading gave a node its label: which labels' heat arrived."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphheat.explain.explanation import Counterfactual, Explanation, code_of
from graphheat.graph import Graph
from graphheat.graph.hops import component_of
from graphheat.heat.engines import AUTO, ONE_OFF, Auto
from graphheat.linear.ridge import one_hot
from graphheat.linear.spreading import SpreadingRun, spreading_kernel


class SpreadingExplainer:
    """Explains node after node of one run of label spreading.

    A logit is γ·log(heat + ε π): what a class has beyond γ·log(ε π), which it has without any heat,
    is shared by the training nodes of that class in proportion to the heat that each sends.
    """

    def __init__(self, run: SpreadingRun, graph: Graph, *, threads: int | None = None) -> None:
        run.check_graph(graph)
        self.run, self.graph = run, graph
        self._threads = threads
        self._ahead: dict[int, NDArray[np.float64]] = {}

    def explain(self, node: Any, *, label: Any = None) -> Explanation:
        """Return which labels' heat gave a logit of ``node`` its value."""
        index = self.graph.index_of(node)
        code = code_of(self.run, index, label)
        given, constants = self.contributions(index, [code])
        return Explanation.of(
            self.run,
            self.graph,
            index,
            code,
            given[:, 0],
            float(constants[0]),
            heat=self.heat(index),
        )

    def by_feature(self, index: int, codes: list[int]) -> None:
        """Return None: label spreading looks at no features."""

    def contributions(
        self, index: int, codes: list[int]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return what every node gave to logits of ``index``, and the constants."""
        run, train = self.run, np.sort(self.run.split.train)
        heat = self.heat(index)
        truth = one_hot(run.labels[train], len(run.classes))[:, codes]
        by_label = heat[train][:, None] * truth
        total = by_label.sum(axis=0)
        constants = run.sharpness * np.log(run.floor[codes])
        gain = run.sharpness * np.log1p(total / run.floor[codes])
        given = np.zeros((self.graph.n, len(codes)))
        given[train] = by_label * np.divide(gain, total, out=np.zeros_like(gain), where=total > 0)
        return given, constants

    def without(self, node: Any, removed: Any) -> Counterfactual:
        """Return the label as it is: label spreading looks at no features."""
        index = self.graph.index_of(node)
        gone = removed if isinstance(removed, list) else [removed]
        indices = np.unique([self.graph.index_of(each) for each in gone])
        return Counterfactual.from_logits(self.run, index, indices, self._logits(index))

    def _logits(self, index: int) -> NDArray[np.float64]:
        given, constants = self.contributions(index, list(range(len(self.run.classes))))
        logits: NDArray[np.float64] = given.sum(axis=0) + constants
        return logits

    def heat(self, index: int) -> NDArray[np.float64]:
        """Return the heat that every node sends, shape (n,); the last answer is kept."""
        if index not in self._ahead:
            self._ahead = self._heat(np.array([index]), ONE_OFF)
        return self._ahead[index]

    def look_ahead(self, indices: NDArray[np.int64]) -> None:
        """Compute the heat at several rows in one diffusion."""
        self._ahead = self._heat(indices, AUTO)

    def _heat(self, indices: NDArray[np.int64], engine: Auto) -> dict[int, NDArray[np.float64]]:
        kernel = spreading_kernel(self.graph, self.run.s, self._threads, engine)
        units = np.zeros((self.graph.n, len(indices)))
        units[indices, np.arange(len(indices))] = 1.0
        heat = np.maximum(np.asarray(kernel.apply(units), dtype=np.float64), 0.0).T
        return {
            int(index): np.where(self._components == self._components[index], row, 0.0)
            for index, row in zip(indices, heat, strict=True)
        }

    @cached_property
    def _components(self) -> NDArray[np.int32]:
        return component_of(self.graph.adjacency)
