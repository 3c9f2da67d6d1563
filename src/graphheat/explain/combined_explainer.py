"""Why a combination of runs gave a node its label: what each source gave to all of them."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax

from graphheat.explain.explanation import Counterfactual, Explanation, code_of
from graphheat.graph import Graph
from graphheat.runs.combined_run import LEAST, CombinedRun


class CombinedExplainer:
    """Explains node after node of one combination.

    Its logit is Σ_k w_k log p_k. A part's log p is its logit less a number that all classes share,
    so that contributions add up with the parts' weights, and that number goes to the constant.
    """

    def __init__(self, run: CombinedRun, graph: Graph, *, threads: int | None = None) -> None:
        run.check_graph(graph)
        self.run, self.graph = run, graph
        self._parts: list[Any] = [part.explainer(graph, threads=threads) for part in run.parts]

    def explain(self, node: Any, *, label: Any = None) -> Explanation:
        """Return what each source gave to a logit of ``node``."""
        index = self.graph.index_of(node)
        code = code_of(self.run, index, label)
        given, constants = self.contributions(index, [code])
        features = self.by_feature(index, [code])
        return Explanation.of(
            self.run,
            self.graph,
            index,
            code,
            given[:, 0],
            float(constants[0]),
            without=None if features is None else partial(self._without, index),
            by_feature=None if features is None else features[:, 0],
            heat=self.heat(index),
        )

    def by_feature(self, index: int, codes: list[int]) -> NDArray[np.float64] | None:
        """Return what every feature gave in all parts, shape (f, len(codes)); None without any."""
        total: NDArray[np.float64] | None = None
        for explainer, weight in zip(self._parts, self.run.weights, strict=True):
            theirs = explainer.by_feature(index, codes)
            if theirs is not None:
                total = weight * theirs if total is None else total + weight * theirs
        return total

    def heat(self, index: int) -> NDArray[np.float64]:
        """Return the heat that every node sends in the part that counts for most, shape (n,)."""
        heat: NDArray[np.float64] = self._parts[int(np.argmax(self.run.weights))].heat(index)
        return heat

    def look_ahead(self, indices: NDArray[np.int64]) -> None:
        """Compute for several rows together what parts will ask for."""
        for explainer in self._parts:
            explainer.look_ahead(indices)

    def contributions(
        self, index: int, codes: list[int]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return what every node gave to logits of ``index``, and the constants."""
        given, constants = np.zeros((self.graph.n, len(codes))), np.zeros(len(codes))
        for part, explainer, weight in zip(
            self.run.parts, self._parts, self.run.weights, strict=True
        ):
            theirs, _ = explainer.contributions(index, codes)
            logs = np.log(np.maximum(part.probabilities[index, codes], LEAST))
            given += weight * theirs
            # log p less what sources gave: the part's constant, and what its classes share.
            constants += weight * (logs - theirs.sum(axis=0))
        return given, constants

    def without(self, node: Any, removed: Any) -> Counterfactual:
        """Return the label that ``node`` would get if the features of ``removed`` were all 0."""
        gone = removed if isinstance(removed, list) else [removed]
        indices = np.unique([self.graph.index_of(each) for each in gone])
        return self._without(self.graph.index_of(node), indices)

    def _without(self, index: int, removed: NDArray[np.int64]) -> Counterfactual:
        node, gone = self.run.nodes[index], [self.run.nodes[each] for each in removed]
        logits = sum(
            weight * log_softmax(explainer.without(node, gone).logits)
            for explainer, weight in zip(self._parts, self.run.weights, strict=True)
        )
        return Counterfactual.from_logits(self.run, index, removed, np.asarray(logits))
