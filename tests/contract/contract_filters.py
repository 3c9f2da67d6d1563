"""The filters, Laplacians and graphs of the contract."""

from __future__ import annotations

from typing import get_args

import numpy as np

from graphheat import filters
from graphheat.heat.laplacian import LaplacianKind

KINDS = get_args(LaplacianKind)
FILTERS = {
    "heat": filters.heat(2.0),
    "pagerank": filters.pagerank(0.15),
    "tikhonov": filters.tikhonov(3.0),
    "matern": filters.matern(1.5, 2.0),
    "diffusion": filters.diffusion(1.5),
    "low pass": filters.low_pass(0.5, 0.1),
    "high pass": filters.high_pass(0.5, 0.1),
    "band pass": filters.band_pass(0.3, 0.9, 0.1),
    "custom": filters.custom(lambda x: np.cos(x) * np.exp(-x), "wave"),
    "measured": filters.custom(lambda x: np.maximum(1 - x, 0.0) ** 3, "kink"),
    "sum": 0.5 - filters.heat(1.0) + 2 * filters.tikhonov(1.0),
    "product": filters.heat(1.0) * filters.low_pass(1.0, 0.2),
}


def random_graph(seed, n=24):
    random = np.random.default_rng(seed)
    A = np.triu(random.random((n, n)) < 0.15) * 10.0 ** random.uniform(-1, 1, (n, n))
    A[0, 1:] = random.random(n - 1) < 0.7  # a hub
    A[:, -1] = 0.0
    return A + np.triu(A, 1).T  # the last node is isolated


def weighted_norm(X, roots, kind):
    return np.linalg.norm(X * (roots[:, None] if kind == "random_walk" else 1.0), axis=0)
