"""What float32 costs on this very graph, measured on a few columns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graphheat.heat import blocks
from graphheat.heat.chebyshev import Expansion, expand

Diffuse = Callable[..., list[NDArray[Any]]]  # blocks.diffuse, or one of its shape

MARGIN = 2.0
COLUMNS = 130  # that probing takes in all, in both precisions
UNIT = 2.0**-24  # what rounding a number to float32 costs


def entry_error(
    S: sp.csr_array,
    single: sp.csr_array,
    root_degrees: NDArray[np.float64],
    expansion: Expansion,
    diffuse: Diffuse = blocks.diffuse,
) -> float:
    """Return MARGIN × the largest error of an entry (a UNIT at least) in the columns of 48 nodes.

    A third of them lie evenly over the graph. The others are where entries lose most. For small s
    these are long rows to which heat comes straight back, (S²)_jj: the hub of a star before the
    nodes of a larger clique. For large s they are where smooth signals lose most, weighted with
    the heat that stays.
    """
    n = S.shape[0]
    hubs = np.diff(S.indptr) * np.asarray(S.multiply(S).sum(axis=1)).ravel()
    lossy = _smooth_error(S, single, root_degrees, expansion, diffuse)
    lossy *= _staying(single, expansion.s, diffuse)
    worst = [np.argsort(-loss, kind="stable")[:16] for loss in (hubs, lossy)]
    even = np.linspace(0, n - 1, min(n, 16)).astype(np.int64)
    chosen = np.unique(np.concatenate([*worst, even])).astype(np.int64)
    block = blocks.unit_columns(n, chosen, np.dtype(np.float32))
    error = float(np.abs(_float32_error(S, single, block, expansion, diffuse)).max())
    return MARGIN * max(error, UNIT)


def _staying(single: sp.csr_array, s: float, diffuse: Diffuse) -> NDArray[Any]:
    """Return a rough [e^{-sL}]_jj, shape (n,): the mean of (e^{-sL/2}z)_j² for white noise z."""
    noise = np.random.default_rng(0).standard_normal((single.shape[0], 16), dtype=np.float32)
    heat = diffuse(single, noise, [expand(s / 2, 1e-2, 1)])[0]
    return np.asarray((heat**2).mean(axis=1))


def _smooth_error(
    S: sp.csr_array,
    single: sp.csr_array,
    root_degrees: NDArray[np.float64],
    expansion: Expansion,
    diffuse: Diffuse,
) -> NDArray[Any]:
    """Return the largest error at each node, relative to the signal there, shape (n,).

    Smooth, positive signals are the worst: every sum over a row is rounded the same way. The
    square roots of the degrees are the smoothest of all (L maps them to 0).
    """
    smooth = np.where(root_degrees > 0, root_degrees, 1.0)[:, None]
    smooth = np.maximum(smooth / smooth.max(), 1e-30)
    # Which way a row is rounded depends on the leading digits, hence several multiples.
    level = np.broadcast_to(np.linspace(0.5, 1.0, 6), (len(smooth), 6))
    uneven = np.random.default_rng(0).uniform(0.5, 1.0, (len(smooth), 4))
    block = (smooth * np.hstack([level, uneven])).astype(np.float32)
    error = np.abs(_float32_error(S, single, block, expansion, diffuse)) / block
    return np.asarray(error.max(axis=1))


def _float32_error(
    S: sp.csr_array,
    single: sp.csr_array,
    block: NDArray[np.float32],
    expansion: Expansion,
    diffuse: Diffuse,
) -> NDArray[Any]:
    double = replace(expansion, dtype=np.dtype(np.float64))
    exact = diffuse(S, block.astype(np.float64), [double])[0]
    return diffuse(single, block, [expansion])[0] - exact
