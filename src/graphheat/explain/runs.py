"""Which explainer a run has."""

from __future__ import annotations

from functools import singledispatch
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from graphheat.errors import GraphError
from graphheat.explain.explanation import Explanation
from graphheat.explain.linear import LinearExplainer
from graphheat.explain.network import Explainer
from graphheat.graph import Graph
from graphheat.linear import LinearRun
from graphheat.training import Run
from graphheat.training.run import Labelling


class Explains(Protocol):
    """What explains node after node of one run."""

    def explain(self, node: Any, *, label: Any = None) -> Explanation:
        """Return what each source gave to a logit of ``node``."""

    def contributions(
        self, index: int, codes: list[int]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return what every node gave to logits of row ``index``, and the constants.

        Contributions have shape (n, len(codes)), constants (len(codes),).
        """


@singledispatch
def explainer_for(run: Labelling, graph: Graph, *, threads: int | None = None) -> Explains:
    """Return what explains the nodes of ``run``, by the kind of run.

    A new kind joins with ``explainer_for.register(ItsRun, ItsExplainer)``.

    Parameters
    ----------
    run, graph
        A finished run and the graph that it was fitted on.
    threads
        For what is computed once, such as a kernel.
    """
    raise GraphError(
        f"Runs of GraphHeat can be explained, and this is one of {run.recipe}. "
        "Fit the graph with a recipe of GraphHeat, such as 'paper'."
    )


explainer_for.register(Run, Explainer)
explainer_for.register(LinearRun, LinearExplainer)


def explain(run: Labelling, graph: Graph, node: Any, *, label: Any = None) -> Explanation:
    """Return what each source node gave to a logit of ``node``.

    Parameters
    ----------
    run, graph
        A finished run and the graph that it was fitted on.
    node
        The node's id.
    label
        The class to explain; default: the predicted one.

    Notes
    -----
    *Accuracy*: constant and contributions sum to the logit within 1e-4. *Cost*: that of the kernel
    once, then a few products; :func:`explainer_for` gives what shares the kernel between nodes.
    *Deterministic*: yes. *Isolated nodes*: are their own and only source.

    Examples
    --------
    >>> import graphheat
    >>> graph = graphheat.datasets.block_model(200, 3, seed=0)
    >>> told = explain(graphheat.fit(graph, max_epochs=30), graph, 7)
    >>> bool(abs(told.constant + told.contributions.sum() - told.logit) < 1e-4)
    True
    """
    return explainer_for(run, graph).explain(node, label=label)
