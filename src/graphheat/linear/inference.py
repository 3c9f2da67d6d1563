"""A linear run on a graph that it was not fitted on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from graphheat.errors import GraphError
from graphheat.graph import Graph
from graphheat.linear.diffusion import Diffusion
from graphheat.linear.run import LinearRun
from graphheat.training.inference import table_on

if TYPE_CHECKING:
    import pandas


def linear_probabilities_on(
    run: LinearRun, graph: Graph, *, threads: int | None = None
) -> NDArray[np.float64]:
    """Return class probabilities of every node of ``graph``, shape (n, c)."""
    wanted, found = len(run.weights), 0 if graph.features is None else graph.features.shape[1]
    if wanted != found:
        raise GraphError(
            f"The run was fitted on {wanted} features a node; {graph.name} has {found}."
        )
    diffusion = Diffusion(graph, run.scaling, own=run.own, threads=threads)
    logits = diffusion.spread(np.asarray(diffusion.features @ run.weights), run.s) + run.bias
    probabilities: NDArray[np.float64] = softmax(logits, axis=1)
    return probabilities


def linear_predictions_on(
    run: LinearRun, graph: Graph, *, threads: int | None = None
) -> pandas.DataFrame:
    """Return the predictions table for a graph that the run was not fitted on."""
    return table_on(run, graph, linear_probabilities_on(run, graph, threads=threads))
