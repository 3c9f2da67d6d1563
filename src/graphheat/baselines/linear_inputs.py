"""What the linear classifiers among the systems see of a graph's features."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from graphheat.graph import Graph
from graphheat.training.scaling import Scaling, suitable_scaling


def linear_inputs(graph: Graph) -> sp.csr_array:
    """Return words as they are and measurements standardised by column, shape (n, f), float64.

    The original authors had words (features that are mostly zeros) and scaled them in ways of their
    own. A penalty that treats columns alike would ruin a table of an age beside an income.
    """
    features = graph.features
    kind = suitable_scaling(graph)
    if kind == "columns":
        scaling = Scaling.learn(features, kind)
        features = (np.asarray(features, dtype=np.float64) - scaling.mean) / scaling.deviation
    return sp.csr_array(features, dtype=np.float64)
