"""A random filter on a random graph against dense eigenvectors; the number of a case is its seed.

``benchmarks/filter_cases.py`` runs ten thousand of them and says what is drawn.
"""

from __future__ import annotations

from typing import Any, get_args

import numpy as np
from dense_filter import SLACK, dense_filter, dense_laplacian

from graphheat import FilterBank, GraphFilter, filters
from graphheat.errors import ParameterError
from graphheat.filters.filter import Filter
from graphheat.heat.laplacian import LaplacianKind

ENGINES = ("scipy", "numba", "panel", "sliced", "auto")


def weighted_graph(random: np.random.Generator) -> Any:
    n = int(random.integers(1, 31))
    present = random.random((n, n)) < random.uniform(0.02, 0.5)
    A: Any = np.triu(present) * 10.0 ** random.uniform(-2, 2, (n, n))
    if random.random() < 0.3:
        A = np.triu(present) * 1.0  # all weights 1, which some engines store no weights for
    if random.random() < 0.3:
        A[0, 1:] = 1.0  # a hub
    if random.random() < 0.5:
        np.fill_diagonal(A, 0.0)
    return A + np.triu(A, 1).T


def single_filter(random: np.random.Generator) -> Filter:
    a, b = 10.0 ** random.uniform(-2, 1.3, 2)
    width = 10.0 ** random.uniform(-1.3, 0.3)
    cutoff = random.uniform(0, 3)
    kinds = (
        lambda: filters.heat(float(a)),
        lambda: filters.pagerank(float(random.uniform(0.02, 1))),
        lambda: filters.tikhonov(float(a)),
        lambda: filters.matern(float(random.uniform(0.3, 4)), float(b)),
        lambda: filters.diffusion(float(random.uniform(0.1, 4))),
        lambda: filters.low_pass(float(cutoff), float(width)),
        lambda: filters.high_pass(float(cutoff), float(width)),
        lambda: filters.band_pass(float(cutoff), float(cutoff + b), float(width)),
        lambda: filters.custom(lambda x: np.cos(a * x) * np.exp(-x), f"cos({a:.3g}x)e^-x"),
        lambda: filters.custom(lambda x: np.log1p(a * x), f"log1p({a:.3g}x)"),
    )
    return kinds[int(random.integers(len(kinds)))]()


def random_filter(random: np.random.Generator) -> Filter:
    f = single_filter(random)
    how = random.random()
    if how < 0.15:
        return f + float(random.normal()) * single_filter(random)
    if how < 0.3:
        return f * single_filter(random)
    return f


def outcome(number: int) -> dict[str, Any]:
    """Return what became of one case."""
    random = np.random.default_rng([21, number])
    A, f = weighted_graph(random), random_filter(random)
    kind = str(random.choice(get_args(LaplacianKind)))
    engine = str(random.choice(ENGINES))
    how: dict[str, Any] = {
        "self_loops": float(random.choice([0.0, 0.0, 0.5, 2.0])),
        "isolated": str(random.choice(["paper", "keep"])),
    }
    tol = float(10.0 ** random.uniform(-9, -1))
    about = {"case": number, "filter": f.name, "laplacian": kind, "tol": tol, "engine": engine}
    bank = random.random() < 0.2
    choice: Any = {"laplacian": kind, "tol": tol, "engine": engine, "threads": 1, **how}
    try:
        H: Any = (
            FilterBank(A, [f, filters.heat(1.0), filters.tikhonov(1.0)], **choice)
            if bank
            else GraphFilter(A, f, **choice)
        )
    except ParameterError as error:
        limit = "float64" in str(error)
        return {**about, "is": "beyond float64" if limit else "too steep", "share": 0.0}
    columns = int(random.choice([1, 1, 2, 5, 9]))
    X = random.standard_normal((len(A), columns)) * 10.0 ** random.uniform(-100, 100)
    if random.random() < 0.3:
        X = (X / np.abs(X).max()).astype(np.float32)
    _, roots = dense_laplacian(A, kind, **how)
    scale = roots[:, None] if kind == "random_walk" else 1.0
    exact = dense_filter(A, f, kind, **how) @ X.astype(np.float64)
    found = (H @ X)[0] if bank else H @ X
    lengths = np.linalg.norm(X.astype(np.float64) * scale, axis=0)
    wrong = np.linalg.norm((found - exact) * scale, axis=0)
    slack = SLACK * max(1.0, float(np.abs(f(np.linspace(0, H.lmax, 199))).max()))
    if found.dtype == np.float32:
        slack += 2e-7 * max(1.0, float(np.abs(f(np.linspace(0, H.lmax, 199))).max()))
    share = float((wrong / (lengths * (H.error_bound + slack))).max())
    ended = "above its bound" if share > 1 or H.error_bound > tol * (1 + 1e-12) else H.bound
    return {**about, "is": ended, "share": share, "order": H.order}
