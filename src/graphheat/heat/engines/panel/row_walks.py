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
    """Make ``scatter(count, codes, weights, bits, source, sums)``.

    For each of the first ``count`` codes, in order: a source row so many rows after the one before
    as the code says above its lowest ``bits``, times the weight, is added to the row of ``sums``
    that these name. Without weights (an empty array) all are 1. A row is one vector of ``size``
    bytes. FAR_AHEAD more codes can be read.
    """

    @intrinsic
    def scatter(
        typing: Any, count: Any, codes: Any, weights: Any, bits: Any, source: Any, sums: Any
    ) -> Any:
        signature = types.void(types.int64, codes, weights, types.int64, source, sums)

        def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            _emit_scatter(size, context, builder, signature, arguments)
            return context.get_dummy_value()

        return signature, emit

    return scatter


def _emit_scatter(size: int, context: Any, builder: Any, signature: Any, arguments: Any) -> None:
    count, codes, weights, bits, source, sums = arguments
    kinds = signature.args
    rows = VectorRows(context, builder, kinds[5], size)
    items = rows.pointer(kinds[1], codes)
    values = cgutils.create_struct_proxy(kinds[2])(context, builder, weights)
    read, write = rows.pointer(kinds[4], source), rows.pointer(kinds[5], sums)
    stride = ir.Constant(INT64, rows.lanes)
    zero, one, ahead = (ir.Constant(INT64, number) for number in (0, 1, FAR_AHEAD))
    lowest = builder.sub(builder.shl(one, bits), one)
    here, later = (cgutils.alloca_once_value(builder, zero) for _ in range(2))

    def move(cursor: Any, entry: Any) -> tuple[Any, Any]:
        """Move a cursor on to an entry's source; return where that is, and its target."""
        code = builder.zext(builder.load(builder.gep(items, [entry])), INT64)
        step = builder.mul(builder.lshr(code, bits), stride)
        place = builder.add(builder.load(cursor), step)
        builder.store(place, cursor)
        return place, builder.mul(builder.and_(code, lowest), stride)

    with cgutils.for_range_slice(builder, zero, ahead, one, INT64) as (entry, _):
        move(later, entry)

    def places(entry: Any) -> tuple[Any, Any]:
        begin, end = move(later, builder.add(entry, ahead))
        rows.prefetch(read, begin)
        rows.prefetch(write, end)
        return move(here, entry)

    weighted = builder.icmp_signed(">", values.nitems, ir.Constant(values.nitems.type, 0))
    with builder.if_else(weighted) as (then, otherwise):
        with then, cgutils.for_range_slice(builder, zero, count, one, INT64) as (entry, _):
            begin, end = places(entry)
            weight = rows.weight(kinds[2], values.data, entry)
            more = rows.multiply_add(weight, rows.load(read, begin, 0), rows.load(write, end, 0))
            rows.store(more, write, end, 0)
        with otherwise, cgutils.for_range_slice(builder, zero, count, one, INT64) as (entry, _):
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
