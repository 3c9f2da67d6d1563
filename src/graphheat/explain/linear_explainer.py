"""Why the linear recipe gave a node its label: what each source's features, or each label, gave.

A logit is linear in the features: z_vc = b_c + Σ_w P_vw ⟨x_w, W_c⟩, P being the diffusion, which
splits it over source nodes w. And the weights are sums over training nodes l, whose diffused
features less their mean are t_l: W_c = Σ_l A_lc t_l. So it splits over labels as well:
z_vc = (b_c + ⟨μ, W_c⟩) + Σ_l A_lc ⟨t_v, t_l⟩.
"""

from __future__ import annotations

from functools import cached_property, partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from graphheat.checks import check_choice
from graphheat.explain.explanation import Counterfactual, Explanation, code_of
from graphheat.graph import Graph
from graphheat.graph.hops import component_of
from graphheat.heat.engines import AUTO, ONE_OFF, Auto
from graphheat.linear.diffusion import Diffusion
from graphheat.linear.linear_run import LinearRun
from graphheat.linear.neighbor_run import NeighborRun

View = Literal["sources", "labels"]


def explain_linear(
    run: LinearRun, graph: Graph, node: Any, *, label: Any = None, view: View = "sources"
) -> Explanation:
    """Return what gave a logit of ``node`` its value.

    Parameters
    ----------
    run, graph
        A run of the linear recipe and the graph that it was fitted on.
    node
        The node's id.
    label
        The class to explain; default: the predicted one.
    view
        ``"sources"``: what each node's features gave. ``"labels"``: what each training node's
        label gave; the constant is then the mean logit of the training nodes (on a graph that grew
        since, together with what the training nodes' own heat has changed).

    Notes
    -----
    *Accuracy*: constant and contributions sum to the logit within 1e-4. *Deterministic*: yes.
    *Isolated nodes*: are their own and only source. :class:`LinearExplainer` shares the work
    between nodes.
    """
    return LinearExplainer(run, graph).explain(node, label=label, view=view)


class LinearExplainer:
    """Explains node after node of one run of the linear recipe."""

    def __init__(self, run: LinearRun, graph: Graph, *, threads: int | None = None) -> None:
        run.check_graph(graph)
        self.run, self.graph = run, graph
        self._diffusion = Diffusion(
            self._featured(), run.scaling, self_weight=run.self_weight, threads=threads
        )
        self._ahead: dict[int, NDArray[np.float64]] = {}
        self._features: dict[int, NDArray[np.float64]] = {}
        self._own = np.asarray(self._diffusion.features @ run.weights)  # ⟨x_w, W_c⟩, shape (n, c)

    def _featured(self) -> Graph:
        """Return the graph with the features that the run looks at."""
        return self.graph

    def explain(self, node: Any, *, label: Any = None, view: View = "sources") -> Explanation:
        """Return what gave a logit of ``node`` its value, as :func:`explain_linear` does."""
        check_choice(view, "view", "explain_linear", ("sources", "labels"))
        run, index = self.run, self.graph.index_of(node)
        code = code_of(run, index, label)
        reach = self._reach(index)
        by_source = reach * self._own[:, code]
        logit = float(by_source.sum() + run.bias[code])
        if view == "labels":
            given, constant = self._by_label(reach, code)
            if run.base is not None:  # weights of before the graph grew, and so with it the rows
                constant = logit - float(given.sum())
            return Explanation.of(
                run, self.graph, index, code, given, constant, logit=logit, heat=reach
            )
        features = self.by_feature(index, [code])
        return Explanation.of(
            run,
            self.graph,
            index,
            code,
            by_source,
            float(run.bias[code]),
            logit=logit,
            without=partial(self._without, index, reach),
            by_feature=None if features is None else features[:, 0],
            heat=reach,
        )

    def contributions(
        self, index: int, codes: list[int]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return what every node's features gave to logits of ``index``, and the constants."""
        return self._reach(index)[:, None] * self._own[:, codes], self.run.bias[codes]

    def by_feature(self, index: int, codes: list[int]) -> NDArray[np.float64] | None:
        """Return what every feature gave to logits of ``index``, shape (f, len(codes))."""
        return self._arrived(index)[:, None] * self.run.weights[:, codes]

    def heat(self, index: int) -> NDArray[np.float64]:
        """Return what every node's features count for, shape (n,)."""
        return self._reach(index)

    def look_ahead(self, indices: NDArray[np.int64]) -> None:
        """Compute what counts for several rows in one diffusion."""
        self._ahead = self._reaches(indices, AUTO)
        reaches = np.column_stack([self._ahead[int(index)] for index in indices])
        arrived = np.asarray(self._diffusion.features.T @ reaches).T
        self._features = {int(index): row for index, row in zip(indices, arrived, strict=True)}

    def without(self, node: Any, removed: Any) -> Counterfactual:
        """Return the label that ``node`` would get if the features of ``removed`` were all 0.

        Parameters
        ----------
        node
            The node's id.
        removed
            The id of the node whose features (after scaling) are taken away; a list of ids takes
            away those of several at once. The edges stay, and so does what the run has learned.
        """
        gone = removed if isinstance(removed, list) else [removed]
        indices = np.unique([self.graph.index_of(each) for each in gone])
        index = self.graph.index_of(node)
        return self._without(index, self._reach(index), indices)

    def _arrived(self, index: int) -> NDArray[np.float64]:
        """Return the features that heat brings a node, shape (f,); the last answer is kept."""
        if index not in self._features:
            arrived = np.asarray(self._diffusion.features.T @ self._reach(index))
            self._features = {index: arrived}
        return self._features[index]

    def _reach(self, index: int) -> NDArray[np.float64]:
        """Return what every node's features count for, shape (n,); the last answer is kept."""
        if index not in self._ahead:
            self._ahead = self._reaches(np.array([index]), ONE_OFF)
        return self._ahead[index]

    def _reaches(self, indices: NDArray[np.int64], engine: Auto) -> dict[int, NDArray[np.float64]]:
        reaches = self._diffusion.weights(indices, self.run.s, engine)
        # Where heat does not arrive, rounding would leave sources of 1e-20.
        return {
            int(index): np.where(self._components == self._components[index], reach, 0.0)
            for index, reach in zip(indices, reaches, strict=True)
        }

    @cached_property
    def _components(self) -> NDArray[np.int32]:
        return component_of(self.graph.adjacency)

    def _without(
        self, index: int, reach: NDArray[np.float64], removed: NDArray[np.int64]
    ) -> Counterfactual:
        rest = reach.copy()
        rest[removed] = 0.0
        logits = self.run.bias + rest @ self._own
        return Counterfactual.from_logits(self.run, index, removed, logits)

    def _by_label(self, reach: NDArray[np.float64], code: int) -> tuple[NDArray[np.float64], float]:
        """Return what each node's label gave, shape (n,), 0 for all but training nodes."""
        run, (center, centred) = self.run, self._training
        own = np.asarray(self._diffusion.features.T @ reach) - center
        given = np.zeros(self.graph.n)
        given[run.training_nodes] = run.duals[:, code] * (centred @ own)
        return given, float(run.bias[code] + center @ run.weights[:, code])

    @cached_property
    def _training(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The training nodes' mean diffused features, shape (f,), and theirs less it, (m, f)."""
        rows = self._diffusion.rows(self.run.training_nodes, self.run.s)
        center = rows.mean(axis=0)
        return center, rows - center


class NeighborExplainer(LinearExplainer):
    """Explains node after node of a linear model of neighbours: what each source's edges gave."""

    run: NeighborRun

    def _featured(self) -> Graph:
        return self.run.featured(self.graph)

    def by_feature(self, index: int, codes: list[int]) -> None:
        """Return None: the columns are nodes, which :meth:`contributions` tell of."""
