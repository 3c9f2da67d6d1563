"""What float32 costs on this very graph, measured on a few columns."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from graphheat.heat.engines import strips
from graphheat.heat.operand import Operand
from graphheat.heat.series import DOUBLE, SINGLE, ChebyshevSeries, HeatSeries, heat_series

if TYPE_CHECKING:
    from graphheat.heat.engines.engine import Engine

MARGIN = 2.0
COLUMNS = 130  # that probing takes in all, in both precisions
UNIT = 2.0**-24  # what rounding a number to float32 costs


def entry_error(engine: Engine, operand: Operand, series: HeatSeries) -> float:
    """Return MARGIN × the largest error of an entry (a UNIT at least) in the columns of 48 nodes.

    It is that of the engine's own arithmetic. A third of the nodes lie evenly over the graph. The
    others are where entries lose most. For small s these are long rows to which heat comes straight
    back, (S²)_jj: the hub of a star before the nodes of a larger clique. For large s they are where
    smooth signals lose most, weighted with the heat that stays.
    """
    n, S = operand.n, operand.S
    hubs = np.diff(S.indptr) * np.asarray(S.multiply(S).sum(axis=1)).ravel()
    lossy = _smooth_error(engine, operand, series)
    lossy *= _staying(engine, operand, series.s)
    worst = [np.argsort(-loss, kind="stable")[:16] for loss in (hubs, lossy)]
    even = np.linspace(0, n - 1, min(n, 16)).astype(np.int64)
    chosen = np.unique(np.concatenate([*worst, even])).astype(np.int64)
    block = strips.unit_columns(n, chosen, SINGLE)
    error = float(np.abs(_float32_error(engine, operand, block, series)).max())
    return MARGIN * max(error, UNIT)


def _staying(engine: Engine, operand: Operand, s: float) -> NDArray[Any]:
    """Return a rough [e^{-sL}]_jj, shape (n,): the mean of (e^{-sL/2}z)_j² for white noise z."""
    noise = np.random.default_rng(0).standard_normal((operand.n, 16), dtype=np.float32)
    heat = engine.apply(operand, noise, [heat_series(s / 2, 1e-2, 1)])[0]
    return np.asarray((heat**2).mean(axis=1))


def _smooth_error(engine: Engine, operand: Operand, series: ChebyshevSeries) -> NDArray[Any]:
    """Return the largest error at each node, relative to the signal there, shape (n,).

    Smooth, positive signals are the worst: every sum over a row is rounded the same way. The
    square roots of the degrees are the smoothest of all (L maps them to 0).
    """
    smooth = operand.smoothest[:, None]
    smooth = np.maximum(smooth / smooth.max(), 1e-30)
    # Which way a row is rounded depends on the leading digits, hence several multiples.
    level = np.broadcast_to(np.linspace(0.5, 1.0, 6), (len(smooth), 6))
    uneven = np.random.default_rng(0).uniform(0.5, 1.0, (len(smooth), 4))
    block = (smooth * np.hstack([level, uneven])).astype(np.float32)
    error = np.abs(_float32_error(engine, operand, block, series)) / block
    return np.asarray(error.max(axis=1))


def _float32_error(
    engine: Engine, operand: Operand, block: NDArray[np.float32], series: ChebyshevSeries
) -> NDArray[Any]:
    double = replace(series, dtype=DOUBLE)
    exact = engine.apply(operand, block.astype(np.float64), [double])[0]
    return np.asarray(engine.apply(operand, block, [series])[0] - exact)
