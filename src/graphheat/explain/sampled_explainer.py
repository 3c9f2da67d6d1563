"""Why a network trained from rows gave a node its label: what each source's features gave.

A logit is Σ_j [h_j > 0] (Σ_w P_vw ⟨x_w, Θ_j⟩ + b_j) V_jc + a_c with h_j the unit before its ReLU:
at this node the units that pass are known, and what is left is linear in the features.
"""

from __future__ import annotations

from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphheat.explain.explanation import Counterfactual, Explanation, code_of
from graphheat.graph import Graph
from graphheat.graph.hops import component_of
from graphheat.linear.diffusion import Diffusion
from graphheat.linear.sampled_run import SampledRun


class SampledExplainer:
    """Explains node after node of one run."""

    def __init__(self, run: SampledRun, graph: Graph, *, threads: int | None = None) -> None:
        run.check_graph(graph)
        self.run, self.graph, self.model = run, graph, run.model
        self._diffusion = Diffusion(
            graph, run.model.scaling, self_weight=run.model.self_weight, threads=threads
        )
        self._last: tuple[int, NDArray[np.float64]] = -1, np.empty(0)

    def explain(self, node: Any, *, label: Any = None) -> Explanation:
        """Return what each source gave to a logit of ``node``."""
        index = self.graph.index_of(node)
        code = code_of(self.run, index, label)
        given, constants = self.contributions(index, [code])
        return Explanation.of(
            self.run, self.graph, index, code, given[:, 0], float(constants[0]),
            without=partial(self._without, index), by_feature=self.by_feature(index, [code])[:, 0],
            heat=self.heat(index),
        )  # fmt: skip

    def contributions(
        self, index: int, codes: list[int]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return what every node's features gave to logits of ``index``, and the constants."""
        passing = self._passing(index)
        output = self.model.output[passing][:, codes]
        given = self.heat(index)[:, None] * (self._own[:, passing] @ output)
        return given, self.model.bias[passing] @ output + self.model.output_bias[codes]

    def by_feature(self, index: int, codes: list[int]) -> NDArray[np.float64]:
        """Return what every feature gave to logits of ``index``, shape (f, len(codes))."""
        passing = self._passing(index)
        own = np.asarray(self._diffusion.features.T @ self.heat(index))
        slope = self.model.weights[:, passing] @ self.model.output[passing][:, codes]
        return np.asarray(own[:, None] * slope)

    def heat(self, index: int) -> NDArray[np.float64]:
        """Return what every node's features count for, shape (n,); the last answer is kept."""
        if self._last[0] != index:
            reach = self._diffusion.weights(np.array([index]), self.model.s)[0]
            same = self._components == self._components[index]
            self._last = index, np.where(same, reach, 0.0)
        return self._last[1]

    def without(self, node: Any, removed: Any) -> Counterfactual:
        """Return the label that ``node`` would get if the features of ``removed`` were all 0."""
        gone = removed if isinstance(removed, list) else [removed]
        indices = np.unique([self.graph.index_of(each) for each in gone])
        return self._without(self.graph.index_of(node), indices)

    def _without(self, index: int, removed: NDArray[np.int64]) -> Counterfactual:
        rest = self.heat(index).copy()
        rest[removed] = 0.0
        logits = self.model.logits((rest @ self._own)[None])[0]
        return Counterfactual.from_logits(self.run, index, removed, logits)

    def _passing(self, index: int) -> NDArray[np.bool_]:
        """Return which units are above 0, shape (h,)."""
        return np.asarray(self.heat(index) @ self._own + self.model.bias > 0)

    @cached_property
    def _own(self) -> NDArray[np.float64]:
        return np.asarray(self._diffusion.features @ self.model.weights)

    @cached_property
    def _components(self) -> NDArray[np.int32]:
        return component_of(self.graph.adjacency)
