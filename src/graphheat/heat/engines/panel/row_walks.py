"""What is done with a row of a panel in registers: walks over a row's entries, or over a tile's.

The operations work on flat C-contiguous arrays and trust their offsets.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import types
from numba.extending import intrinsic

from graphheat.heat.engines.numba.vector_rows import (
    INT64,
    VECTOR_BYTES,
    VectorRows,
    cgutils,
)

AHEAD = 16  # entries ahead of which a walk asks for a row that it will read
FAR_AHEAD = 64  # and those of a tile, which are read one cache line at a time


def _walk(vectors: int, size: int = VECTOR_BYTES) -> Callable[..., None]:
    """Make ``walk(first, last, indices, weights, source, place, own, target, at, scale, …)``.

    target[at:…] ← scale · (Σ_e weights[e] · source[row indices[e]] + own · source[place:…])
    − target[at:…], then total[at:…] += factor · target there. Without weights (an empty array)
    all are 1. A row has ``vectors`` vectors of ``size`` bytes.
    """

    @intrinsic
    def walk(
        typing: Any,
        first: Any,
        last: Any,
        indices: Any,
        weights: Any,
        source: Any,
        place: Any,
        own: Any,
        target: Any,
        at: Any,
        scale: Any,
        total: Any,
        factor: Any,
    ) -> Any:
        number = target.dtype
        entries = types.int64, types.int64, indices, weights, source
        places = types.int64, number, target, types.int64, number
        signature = types.void(*entries, *places, total, number)

        def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            _emit_walk(vectors, size, context, builder, signature, arguments)
            return context.get_dummy_value()

        return signature, emit

    return walk


def _emit_walk(
    vectors: int, size: int, context: Any, builder: Any, signature: Any, arguments: Any
) -> None:
    first, last, indices, weights, source, place, own, target, at, scale, total, factor = arguments
    kinds = signature.args
    rows = VectorRows(context, builder, kinds[7], size)
    columns = rows.pointer(kinds[2], indices)
    values = cgutils.create_struct_proxy(kinds[3])(context, builder, weights)
    read, write = rows.pointer(kinds[4], source), rows.pointer(kinds[7], target)
    gather = rows.pointer(kinds[10], total)
    stride = ir.Constant(INT64, vectors * rows.lanes)
    sums = [cgutils.alloca_once(builder, rows.vector) for _ in range(vectors)]
    own = rows.splat(own)
    for v, each in enumerate(sums):
        builder.store(builder.fmul(own, rows.load(read, place, v)), each)
    one = ir.Constant(INT64, 1)

    def row_of(entry: Any) -> Any:
        column = builder.load(builder.gep(columns, [entry]))
        return builder.mul(builder.sext(column, INT64), stride)

    items = cgutils.create_struct_proxy(kinds[2])(context, builder, indices).nitems
    final = builder.sub(items, ir.Constant(items.type, 1))

    def start(entry: Any) -> Any:
        if vectors * size > VECTOR_BYTES:  # a single line comes as soon without being asked for
            later = row_of(rows.no_more_than(builder.add(entry, ir.Constant(INT64, AHEAD)), final))
            for v in range(vectors):
                rows.prefetch(read, later, v)
        return row_of(entry)

    weighted = builder.icmp_signed(">", values.nitems, ir.Constant(values.nitems.type, 0))
    with builder.if_else(weighted) as (then, otherwise):
        with then, cgutils.for_range_slice(builder, first, last, one, INT64) as (entry, _):
            weight, begin = rows.weight(kinds[3], values.data, entry), start(entry)
            for v, each in enumerate(sums):
                there = rows.load(read, begin, v)
                builder.store(rows.multiply_add(weight, there, builder.load(each)), each)
        with otherwise, cgutils.for_range_slice(builder, first, last, one, INT64) as (entry, _):
            begin = start(entry)
            for v, each in enumerate(sums):
                there = rows.load(read, begin, v)
                builder.store(builder.fadd(builder.load(each), there), each)
    scale, factor = rows.splat(scale), rows.splat(factor)
    for v, each in enumerate(sums):
        before = builder.fneg(rows.load(write, at, v))
        after = rows.multiply_add(scale, builder.load(each), before)
        rows.store(after, write, at, v)
        more = rows.multiply_add(factor, after, rows.load(gather, at, v))
        rows.store(more, gather, at, v)


def _scatter(size: int) -> Callable[..., None]:
    """Make ``scatter(first, last, sources, targets, weights, source, sums)``.

    sums[row targets[e]] += weights[e] · source[row sources[e]] for first ≤ e < last, in that order.
    Without weights (an empty array) all are 1. A row is one vector of ``size`` bytes.
    """

    @intrinsic
    def scatter(
        typing: Any,
        first: Any,
        last: Any,
        sources: Any,
        targets: Any,
        weights: Any,
        source: Any,
        sums: Any,
    ) -> Any:
        entries = types.int64, types.int64, sources, targets, weights
        signature = types.void(*entries, source, sums)

        def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            _emit_scatter(size, context, builder, signature, arguments)
            return context.get_dummy_value()

        return signature, emit

    return scatter


def _emit_scatter(size: int, context: Any, builder: Any, signature: Any, arguments: Any) -> None:
    first, last, sources, targets, weights, source, sums = arguments
    kinds = signature.args
    rows = VectorRows(context, builder, kinds[6], size)
    origins, ends = rows.pointer(kinds[2], sources), rows.pointer(kinds[3], targets)
    values = cgutils.create_struct_proxy(kinds[4])(context, builder, weights)
    read, write = rows.pointer(kinds[5], source), rows.pointer(kinds[6], sums)
    stride, one = ir.Constant(INT64, rows.lanes), ir.Constant(INT64, 1)
    final = builder.sub(last, one)

    def from_(entry: Any) -> Any:
        row = builder.load(builder.gep(origins, [entry]))
        return builder.mul(builder.sext(row, INT64), stride)

    def to(entry: Any) -> Any:
        row = builder.load(builder.gep(ends, [entry]))
        return builder.mul(builder.zext(row, INT64), stride)

    def places(entry: Any) -> tuple[Any, Any]:
        later = rows.no_more_than(builder.add(entry, ir.Constant(INT64, FAR_AHEAD)), final)
        rows.prefetch(read, from_(later))
        rows.prefetch(write, to(later))
        return from_(entry), to(entry)

    weighted = builder.icmp_signed(">", values.nitems, ir.Constant(values.nitems.type, 0))
    with builder.if_else(weighted) as (then, otherwise):
        with then, cgutils.for_range_slice(builder, first, last, one, INT64) as (entry, _):
            begin, end = places(entry)
            weight = rows.weight(kinds[4], values.data, entry)
            more = rows.multiply_add(weight, rows.load(read, begin, 0), rows.load(write, end, 0))
            rows.store(more, write, end, 0)
        with otherwise, cgutils.for_range_slice(builder, first, last, one, INT64) as (entry, _):
            begin, end = places(entry)
            more = builder.fadd(rows.load(write, end, 0), rows.load(read, begin, 0))
            rows.store(more, write, end, 0)


def _finish(size: int) -> Callable[..., None]:
    """Make ``finish(sums, a, target, at, scale, total, factor)``.

    target[at:…] ← scale · sums[a:…] − target[at:…], then total[at:…] += factor · target there: how
    ``walk`` ends, for a sum that is in memory.
    """

    @intrinsic
    def finish(
        typing: Any, sums: Any, a: Any, target: Any, at: Any, scale: Any, total: Any, factor: Any
    ) -> Any:
        number = target.dtype
        signature = types.void(sums, types.int64, target, types.int64, number, total, number)

        def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            sums, a, target, at, scale, total, factor = arguments
            kinds = signature.args
            rows = VectorRows(context, builder, kinds[2], size)
            read, write = rows.pointer(kinds[0], sums), rows.pointer(kinds[2], target)
            gather = rows.pointer(kinds[5], total)
            before = builder.fneg(rows.load(write, at, 0))
            after = rows.multiply_add(rows.splat(scale), rows.load(read, a, 0), before)
            rows.store(after, write, at, 0)
            more = rows.multiply_add(rows.splat(factor), after, rows.load(gather, at, 0))
            rows.store(more, gather, at, 0)
            return context.get_dummy_value()

        return signature, emit

    return finish


walk_half, walk_narrow = _walk(1, VECTOR_BYTES // 2), _walk(1)
walk_wide, walk_widest = _walk(2), _walk(4)
scatter_half, scatter_narrow = _scatter(VECTOR_BYTES // 2), _scatter(VECTOR_BYTES)
finish_half, finish_narrow = _finish(VECTOR_BYTES // 2), _finish(VECTOR_BYTES)
