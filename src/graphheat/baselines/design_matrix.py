"""A graph's features as the linear classifiers among the baselines take them."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from graphheat.errors import GraphError
from graphheat.features import Scaling, suitable_scaling
from graphheat.graph import Graph


def design_matrix(graph: Graph) -> sp.csr_array:
    """Return bag-of-words features as they are, dense ones standardised; shape (n, f), float64.

    The original authors had bags of words, which each baseline scales as its authors did. A penalty
    that treats columns alike would ruin dense features such as an age beside an income.
    """
    features = graph.features
    if features is None:
        raise GraphError(f"{graph.name} has no features, which a linear classifier sees alone.")
    kind = suitable_scaling(graph)
    if kind != "standard":
        return sp.csr_array(features.astype(np.float64))
    scaling = Scaling.learn(features, kind)
    assert scaling.mean is not None and scaling.deviation is not None  # as learned
    centred = np.asarray(features, dtype=np.float64) - scaling.mean
    return sp.csr_array(centred / scaling.deviation)
