"""How a matrix of entries would be computed, and what it would take, before it is."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

from graphheat.heat.assembly import threshold
from graphheat.heat.engines import ONE_OFF, Chooser, Engine, Request, strips
from graphheat.heat.operand import Operand
from graphheat.heat.plan import Plan
from graphheat.heat.series import ChebyshevSeries


class Planned(NamedTuple):
    """What ``matrix`` goes by."""

    engine: Engine
    series: Any
    plan: Plan


def plan_matrix(
    operand: Operand, chooser: Chooser, series: ChebyshevSeries, eps: float, *, threads: int
) -> Planned:
    """Choose the engine for all entries of f(S) from ``eps`` on, and say what they would take."""
    request = Request("matrix", (series,), operand.n)
    engine, why = chooser.choose(operand, request)
    computed = engine.entry_series(operand, series)
    cost = engine.cost(operand, replace(request, series=(computed,)), threads=threads)
    entries = count_entries(operand, engine, series, eps)
    # The halves in parts and joined, their mirror image, and the sum of both.
    result = entries * (computed.dtype.itemsize + (4 if entries < 2**31 else 8))
    plan = Plan(
        engine=engine.name,
        why=why,
        order=computed.order,
        dtype=str(computed.dtype),
        error_bound=computed.error_bound,
        entries=entries,
        memory=int(2.5 * result) + cost.memory,
        work=cost.work,
    )
    return Planned(engine, series, plan)


def count_entries(operand: Operand, engine: Engine, series: ChebyshevSeries, eps: float) -> int:
    """Estimate the entries of at least ``eps`` from those of a few columns."""
    if not engine.samples:
        engine = ONE_OFF.choose(operand, Request("signals", (series,), operand.n)).engine
    computed = engine.entry_series(operand, series)
    sample, kept = operand.sample(series.order), 0
    for strip in strips.of(sample):
        units = strips.unit_columns(operand.n, strip, computed.dtype)
        values = engine.apply(operand, units, [computed])[0]
        kept += int(threshold(values, eps, signed=series.signed).sum())
    return min(operand.n**2, int(kept / len(sample) * operand.n))
