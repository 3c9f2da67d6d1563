"""``explain``: one node of any run that can be explained."""

from __future__ import annotations

from typing import Any

from graphheat.explain.explanation import Explanation
from graphheat.graph import Graph
from graphheat.runs import Run


def explain(run: Run, graph: Graph, node: Any, *, label: Any = None) -> Explanation:
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
    once, then a few products; :meth:`graphheat.runs.Run.explainer` shares the kernel between nodes.
    *Deterministic*: yes. *Isolated nodes*: are their own and only source.

    Examples
    --------
    >>> import graphheat
    >>> graph = graphheat.datasets.block_model(200, 3, seed=0)
    >>> found = explain(graphheat.fit(graph, max_epochs=30), graph, 7)
    >>> bool(abs(found.constant + found.contributions.sum() - found.logit) < 1e-4)
    True
    """
    explanation: Explanation = run.explainer(graph).explain(node, label=label)
    return explanation
