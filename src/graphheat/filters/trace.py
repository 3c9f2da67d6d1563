"""The trace of f(L) from random signals, with an interval.

For z of independent signs ±1, zᵀf(L)z has the trace as its mean (Hutchinson). What a Chebyshev
series contributes by T_0, T_1 and T_2 is known exactly, as tr I, tr S and ‖S‖² are; only the rest
is estimated.

References
----------
M. Hutchinson: A stochastic estimator of the trace of the influence matrix, Communications in
Statistics 1990.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import stdtrit

from graphheat.checks import check_count, check_number, check_seed
from graphheat.heat.engines import Request

if TYPE_CHECKING:
    from graphheat.filters.graph_filter import GraphFilter


@dataclass(frozen=True)
class Trace:
    """An estimate of a trace.

    Attributes
    ----------
    value
        The estimate.
    low, high
        Student's interval for the mean of the samples, widened by n times the filter's own bound;
        of ``confidence`` where samples are about normal, as they are on all but tiny graphs.
    samples
        Random signals that were used; 0: computed entry by entry, the interval then being certain.
    confidence
        As asked for.
    """

    value: float
    low: float
    high: float
    samples: int
    confidence: float

    def __float__(self) -> float:
        return self.value


def estimate_trace(filter: GraphFilter, samples: int, confidence: float, seed: int) -> Trace:
    """Return the trace of a filter; see :meth:`~graphheat.filters.GraphFilter.trace`."""
    samples = check_count(samples, "samples", "GraphFilter.trace", least=2)
    confidence = check_number(
        confidence, "confidence", "GraphFilter.trace", 0.0, 1.0, left="open", right="open"
    )
    seed = check_seed(seed, "GraphFilter.trace")
    sure = filter.n * filter.error_bound
    if filter.n <= samples:
        total = float(filter.diagonal().sum())
        return Trace(total, total - sure, total + sure, 0, confidence)
    place, operand = filter._place, filter._place.operand
    weights: Any = filter._weights
    random = np.random.default_rng(seed)
    known, series = 0.0, []
    for each in filter._series:
        rest = each.coefficients.copy()
        if weights is None and not operand.mapped:
            S = operand.S
            moments = (operand.n, float(S.trace()), 2 * float((S.data**2).sum()) - operand.n)
            for k, moment in enumerate(moments[: len(rest)]):
                known += float(rest[k]) * moment
                rest[k] = 0.0
        series.append(replace(each, coefficients=rest))
    if not any(each.coefficients.any() for each in series):
        share = known * filter.n / operand.n
        return Trace(share, share - sure, share + sure, 0, confidence)
    engine = place.chooser.choose(operand, Request("signals", tuple(series), samples)).engine
    if engine.name == "reference":  # it goes by f itself, whatever the coefficients
        known, series = 0.0, list(filter._series)
    values = []
    for start in range(0, samples, 32):
        signs = random.integers(0, 2, (operand.n, min(32, samples - start))) * 2.0 - 1.0
        parts = engine.apply(operand, signs, series, threads=place.workers)
        if weights is not None:
            parts = [w[:, None] * part for w, part in zip(weights, parts, strict=True)]
        values.append(np.sum([(signs * part).sum(axis=0) for part in parts], axis=0))
    # A Hermitian matrix is counted twice, by its real and its imaginary rows.
    found = (known + np.concatenate(values)) * (filter.n / operand.n)
    mean = float(found.mean())
    width = float(stdtrit(samples - 1, (1 + confidence) / 2) * found.std(ddof=1))
    width = width / samples**0.5 + sure
    return Trace(mean, mean - width, mean + width, samples, confidence)
