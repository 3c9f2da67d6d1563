"""What is done with a row of a block in registers: steps of the recurrence, sums, thresholds.

The operations work on flat C-contiguous arrays and trust their offsets.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import types
from numba.extending import intrinsic

from graphheat.heat.engines.numba.vector_rows import (
    INT32,
    INT64,
    VECTOR_BYTES,
    VectorRows,
    cgutils,
)


def _step(vectors: int) -> Callable[..., None]:
    """Make ``step(first, last, indices, weights, source, target, offset, scale)``.

    target[offset:…] ← scale · Σ_e weights[e] · source[row indices[e]] − target[offset:…], over the
    entries first ≤ e < last of one row of S.
    """

    @intrinsic
    def step(
        typing: Any,
        first: Any,
        last: Any,
        indices: Any,
        weights: Any,
        source: Any,
        target: Any,
        offset: Any,
        scale: Any,
    ) -> Any:
        entries = types.int64, types.int64, indices, weights
        signature = types.void(*entries, source, target, types.int64, target.dtype)

        def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            _emit_step(vectors, context, builder, signature, arguments)
            return context.get_dummy_value()

        return signature, emit

    return step


def _step_add(vectors: int) -> Callable[..., None]:
    """Make ``step_add(…, scale, total, factor)``: a step, then total += factor · target there."""

    @intrinsic
    def step_add(
        typing: Any,
        first: Any,
        last: Any,
        indices: Any,
        weights: Any,
        source: Any,
        target: Any,
        offset: Any,
        scale: Any,
        total: Any,
        factor: Any,
    ) -> Any:
        entries = types.int64, types.int64, indices, weights
        places = source, target, types.int64, target.dtype
        signature = types.void(*entries, *places, total, target.dtype)

        def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            _emit_step(vectors, context, builder, signature, arguments)
            return context.get_dummy_value()

        return signature, emit

    return step_add


def _emit_step(vectors: int, context: Any, builder: Any, signature: Any, arguments: Any) -> None:
    first, last, indices, weights, source, target, offset, scale, *adding = arguments
    kinds = signature.args
    rows = VectorRows(context, builder, kinds[5])
    columns = rows.pointer(kinds[2], indices)
    factors = rows.pointer(kinds[3], weights)
    read = rows.pointer(kinds[4], source)
    write = rows.pointer(kinds[5], target)
    stride = ir.Constant(INT64, vectors * rows.lanes)
    sums = [cgutils.alloca_once(builder, rows.vector) for _ in range(vectors)]
    for total in sums:
        builder.store(ir.Constant(rows.vector, [0.0] * rows.lanes), total)
    one = ir.Constant(INT64, 1)
    # LLVM keeps the sums in registers.
    with cgutils.for_range_slice(builder, first, last, one, INT64) as (entry, _):
        factor = rows.splat(builder.load(builder.gep(factors, [entry])))
        column = builder.sext(builder.load(builder.gep(columns, [entry])), INT64)
        start = builder.mul(column, stride)
        for v, total in enumerate(sums):
            there = rows.load(read, start, v)
            builder.store(rows.multiply_add(factor, there, builder.load(total)), total)
    scale = rows.splat(scale)
    for v, total in enumerate(sums):
        before = builder.fneg(rows.load(write, offset, v))
        after = rows.multiply_add(scale, builder.load(total), before)
        rows.store(after, write, offset, v)
        if adding:
            gather = rows.pointer(kinds[8], adding[0])
            more = rows.multiply_add(rows.splat(adding[1]), after, rows.load(gather, offset, v))
            rows.store(more, gather, offset, v)


def _add(vectors: int, size: int = VECTOR_BYTES) -> Callable[..., None]:
    """Make ``add(source, source_offset, scale, target, target_offset)``.

    target[target_offset:…] ← target[target_offset:…] + scale · source[source_offset:…]
    """

    @intrinsic
    def add(
        typing: Any, source: Any, source_offset: Any, scale: Any, target: Any, target_offset: Any
    ) -> Any:
        signature = types.void(source, types.int64, target.dtype, target, types.int64)

        def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            source, source_offset, scale, target, target_offset = arguments
            rows = VectorRows(context, builder, signature.args[3], size)
            read = rows.pointer(signature.args[0], source)
            write = rows.pointer(signature.args[3], target)
            factor = rows.splat(scale)
            for v in range(vectors):
                more = rows.load(read, source_offset, v)
                total = rows.multiply_add(factor, more, rows.load(write, target_offset, v))
                rows.store(total, write, target_offset, v)
            return context.get_dummy_value()

        return signature, emit

    return add


def _kept(vectors: int) -> Callable[..., int]:
    """Make ``kept(source, offset, least, most)``: a bit for each entry ≥ least or ≤ most."""

    @intrinsic
    def kept(typing: Any, source: Any, offset: Any, least: Any, most: Any) -> Any:
        signature = types.uint32(source, types.int64, source.dtype, source.dtype)

        def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            source, offset, least, most = arguments
            rows = VectorRows(context, builder, signature.args[0])
            read = rows.pointer(signature.args[0], source)
            least, most = rows.splat(least), rows.splat(most)
            bits = ir.Constant(INT32, 0)
            for v in range(vectors):
                heat = rows.load(read, offset, v)
                above = builder.fcmp_ordered(">=", heat, least)
                below = builder.fcmp_ordered("<=", heat, most)
                lanes = builder.bitcast(builder.or_(above, below), ir.IntType(rows.lanes))
                shift = ir.Constant(INT32, v * rows.lanes)
                bits = builder.or_(bits, builder.shl(builder.zext(lanes, INT32), shift))
            return bits

        return signature, emit

    return kept


def _lowest() -> Callable[..., int]:
    """Make ``lowest(bits)``: the position of the lowest bit set in an unsigned number, not 0."""

    @intrinsic
    def lowest(typing: Any, bits: Any) -> Any:
        def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            position = builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))
            return position if position.type == INT64 else builder.zext(position, INT64)

        return types.int64(bits), emit

    return lowest


step_narrow, step_wide = _step(1), _step(2)
step_add_narrow, step_add_wide = _step_add(1), _step_add(2)
add_narrow, add_wide = _add(1), _add(2)
add_half, add_widest = _add(1, VECTOR_BYTES // 2), _add(4)
kept_narrow, kept_wide = _kept(1), _kept(2)
lowest = _lowest()
