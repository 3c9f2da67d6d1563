"""NetworkExplainer: the two-layer network, taken apart at its active ReLU pattern.

At the pattern that is active for a graph, the network is linear in its input, so that a logit is a
sum over source nodes w of what w's features gave to it:

    z_vc = constant + Σ_w C_w,
    C_w  = Σ_j ⟨x_w Θ¹_j, [H_j G]_w⟩,   G_u = 1[pre_u > 0] ⊙ Σ_k [H_k]_vu Θ²_k[:, c],

with H_k = e^{-ksL} as the network has it (thresholded, where it is). The constant is what biases
give; the paper's network has none, and it is 0.

Of G only 1[pre_u > 0] ⊙ [H_k]_vu is diffused, as many columns as there are hidden units: what
multiplies it, Θ²_k[:, c], is the same for all nodes u and follows afterwards, for any number of
classes.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphheat.errors import GraphError
from graphheat.explain.explanation import Counterfactual, Explanation, code_of
from graphheat.explain.run_kernels import Identity, Kernel, Products, run_kernels
from graphheat.graph import Graph
from graphheat.heat.engines import ONE_OFF
from graphheat.training.network_run import NetworkRun

UNDERSTOOD = {"first.weight", "first.bias", "second.weight", "second.bias"}
TIE = 1e-3  # probabilities this close may change places by rounding

Array = NDArray[np.float64]


class _Term(NamedTuple):
    """H_j (1[pre > 0] ⊙ [H_k]_v), what kernel j brings every node of what kernel k gave to v.

    Attributes
    ----------
    j, k
        Which kernel of the first and of the second layer.
    felt
        Shape (n, hidden); where k is the identity, shape (n, 1): the same for all hidden units
        that are active at v.
    active
        1 for those, shape (hidden,); None where there is nothing to multiply by.
    """

    j: int
    k: int
    felt: Array
    active: Array | None

    def times(self, block: Array) -> Array:
        """Return felt ⊙ block, shape (n, hidden)."""
        product = self.felt * block
        return product if self.active is None else product * self.active


class _Taken(NamedTuple):
    """A node's logits, taken apart as far as all classes have it in common."""

    node: int
    terms: list[_Term]
    sums: list[Array]  # of 1[pre > 0] ⊙ [H_k]_v over nodes, shape (hidden,), for each k


class NetworkExplainer:
    """Explains node after node of one run, with one set of kernels.

    Parameters
    ----------
    run, graph
        As for :func:`~graphheat.explain.explain`.
    threads
        For the kernels.

    Attributes
    ----------
    logits
        Of every node, in float64, shape (n, c).
    """

    def __init__(self, run: NetworkRun, graph: Graph, *, threads: int | None = None) -> None:
        run.check_graph(graph)
        unknown = sorted(set(run.weights) - UNDERSTOOD)
        if unknown:
            raise GraphError(
                f"The network of recipe {run.recipe} has parts that explain does not know "
                f"({', '.join(unknown)}); networks of two heat layers can be explained."
            )
        self.run, self.graph = run, graph
        self._last: _Taken | None = None
        self._ahead: dict[int, list[Array]] = {}
        self._features: dict[int, list[Array]] = {}
        self._first = run.weights["first.weight"].astype(np.float64)  # (K, f, hidden)
        self._second = run.weights["second.weight"].astype(np.float64)  # (K, hidden, c)
        self._bias = _bias(run, "first", self._first.shape[2])
        self._last_bias = _bias(run, "second", self._second.shape[2])
        self._threads = threads
        self._kernels = run_kernels(run, graph, threads, ONE_OFF)
        self._inputs = _inputs(run, graph, self._first)
        before = _sum(
            kernel.spread(inputs)
            for kernel, inputs in zip(self._kernels, self._inputs, strict=True)
        )
        self._before = before + self._bias  # (n, hidden)
        self._active = self._before > 0
        hidden = np.where(self._active, self._before, 0.0)
        after = _sum(
            kernel.spread(hidden @ weight)
            for kernel, weight in zip(self._kernels, self._second, strict=True)
        )
        self.logits = after + self._last_bias
        self._check_labels()

    def _check_labels(self) -> None:
        """Raise where this is not the network of the run: its explanations would be false."""
        every, p = np.arange(self.graph.n), self.run.probabilities
        found = self.logits.argmax(axis=1)
        others = int((p[every, self.run.predicted] - p[every, found] > TIE).sum())
        if others:
            raise GraphError(
                f"What explain makes of recipe {self.run.recipe} gives {others:,} of "
                f"{self.graph.n:,} nodes another label than the run did; fit it again with this "
                "version."
            )

    def explain(self, node: Any, *, label: Any = None) -> Explanation:
        """Return what each source gave to a logit of ``node``, as ``graphheat.explain`` does."""
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
            logit=float(self.logits[index, code]),
            without=partial(self._without, index),
            by_feature=self.by_feature(index, [code])[:, 0],
            heat=self.heat(index),
        )

    def look_ahead(self, indices: NDArray[np.int64]) -> None:
        """Compute rows of kernels for several nodes together, and make many products quick."""
        self._kernels = self._many
        rows = [kernel.rows(indices) for kernel in self._kernels]
        self._ahead = {
            int(index): [of_kernel[place] for of_kernel in rows]
            for place, index in enumerate(indices)
        }
        self._features = self._brought_to([int(index) for index in indices])

    @cached_property
    def _many(self) -> list[Kernel]:
        """The same kernels, by compiled code where there are products: it pays for its loading."""
        again = run_kernels(self.run, self.graph, self._threads) if self._by_products else []
        return again or self._kernels

    @property
    def _by_products(self) -> bool:
        return any(isinstance(kernel, Products) for kernel in self._kernels)

    def by_feature(self, index: int, codes: list[int]) -> NDArray[np.float64]:
        """Return what every feature gave to logits of ``index``, shape (f, len(codes))."""
        total = np.zeros((self._first.shape[1], len(codes)))
        for term in self._taken(index).terms:
            if term.active is None:
                given = self._first[term.j] * np.asarray(self._scaled.T @ term.felt)
            else:
                given = self._first[term.j] * self._brought(index)[term.j][:, None] * term.active
            total += given @ self._second[term.k][:, codes]
        return total

    def _brought(self, index: int) -> list[Array]:
        """Return the features that each kernel brings a node, shape (f,)."""
        if index not in self._features:
            self._features = self._brought_to([index])
        return self._features[index]

    def _brought_to(self, nodes: list[int]) -> dict[int, list[Array]]:
        rows = [np.column_stack(each) for each in zip(*map(self._rows, nodes), strict=True)]
        brought = [np.asarray(self._scaled.T @ block).T for block in rows]
        return {node: [each[place] for each in brought] for place, node in enumerate(nodes)}

    @cached_property
    def _scaled(self) -> Any:
        """The features as the network takes them, shape (n, f)."""
        assert self.graph.features is not None  # the run was fitted on them
        return self.run.scaling.apply(self.graph.features)

    def heat(self, index: int) -> NDArray[np.float64]:
        """Return a row of the first layer's kernel, shape (n,)."""
        return self._rows(index)[min(1, len(self._kernels) - 1)]

    def _rows(self, index: int) -> list[Array]:
        """Return a row of each kernel, shape (n,); those of the last call are kept."""
        if index not in self._ahead:
            node = np.array([index])
            self._ahead = {index: [kernel.rows(node)[0] for kernel in self._kernels]}
        return self._ahead[index]

    def _taken(self, index: int) -> _Taken:
        """Take a node's logits apart; the last answer is kept.

        Sources and features of one node are asked for one after the other.
        """
        if self._last is None or self._last.node != index:
            rows, terms, sums = self._rows(index), [], []
            own = self._active[index].astype(np.float64)
            for k, (kernel, row) in enumerate(zip(self._kernels, rows, strict=True)):
                if isinstance(kernel, Identity):
                    # Of a unit vector, what kernel j brings is its row j.
                    terms += [_Term(j, k, rows[j][:, None], own) for j in range(len(rows))]
                    sums.append(own)
                    continue
                gain = self._active * row[:, None]
                terms += [
                    _Term(j, k, each.gather(gain), None) for j, each in enumerate(self._kernels)
                ]
                sums.append(gain.sum(axis=0))
            self._last = _Taken(index, terms, sums)
        return self._last

    def contributions(
        self, index: int, codes: list[int]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return what every node gave to logits of ``index``, and the constants.

        Returns
        -------
        tuple
            Contributions, shape (n, len(codes)), and constants, shape (len(codes),).
        """
        taken = self._taken(index)
        given = np.zeros((self.graph.n, len(codes)))
        for term in taken.terms:
            given += term.times(self._inputs[term.j]) @ self._second[term.k][:, codes]
        constants = self._last_bias[codes].copy()
        for total, weight in zip(taken.sums, self._second, strict=True):
            constants += (total * self._bias) @ weight[:, codes]
        return given, constants

    def without(self, node: Any, removed: Any) -> Counterfactual:
        """Return the label that ``node`` would get if the features of ``removed`` were all 0.

        Parameters
        ----------
        node
            The node's id.
        removed
            The id of the node whose features (after scaling) are taken away; a list of ids takes
            away those of several at once. The edges stay.

        Notes
        -----
        Exact: hidden units switch on and off as they would, so that the logit falls by the
        contribution only as long as none does. *Cost*: a few rows of the kernels; only the rows
        that the removed features reach are computed anew.
        """
        gone = removed if isinstance(removed, list) else [removed]
        indices = np.array([self.graph.index_of(each) for each in gone], dtype=np.int64)
        return self._without(self.graph.index_of(node), np.unique(indices))

    def _without(self, index: int, removed: NDArray[np.int64]) -> Counterfactual:
        lost = np.zeros_like(self._before)  # (n, hidden)
        for kernel, inputs in zip(self._kernels, self._inputs, strict=True):
            taken = np.zeros_like(inputs)
            taken[removed] = inputs[removed]
            lost = lost + kernel.gather(taken)
        reached = np.flatnonzero(lost.any(axis=1))
        before = self._before[reached]
        change = np.maximum(before - lost[reached], 0.0) - np.maximum(before, 0.0)
        logits = self.logits[index].copy()
        for row, weight in zip(self._rows(index), self._second, strict=True):
            logits += row[reached] @ change @ weight
        return Counterfactual.from_logits(self.run, index, removed, logits)


def _sum(terms: Iterable[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Return the sum of at least one array, each of the same shape."""
    first, *others = terms
    return sum(others, start=first)


def _bias(run: NetworkRun, layer: str, width: int) -> NDArray[np.float64]:
    """Return a layer's bias, shape (width,); 0 where it has none."""
    bias = run.weights.get(f"{layer}.bias")
    return np.zeros(width) if bias is None else bias.astype(np.float64).ravel()


def _inputs(run: NetworkRun, graph: Graph, first: NDArray[np.float64]) -> list[NDArray[np.float64]]:
    """Return X Θ_k of the first layer, one per term, shape (n, hidden)."""
    assert graph.features is not None  # the run was fitted on them
    x = run.scaling.apply(graph.features).astype(np.float64)
    return [np.asarray(x @ weight) for weight in first]
