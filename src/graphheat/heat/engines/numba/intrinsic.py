"""Rows of a block as vectors in registers: the few operations that numba cannot spell.

Why LLVM by hand: a loop over the 16 or 32 columns of a row has a constant length, so LLVM unrolls
it into scalars before it looks for vectors, and 4–5 times the speed is lost. Here each row is one
or two vectors of 64 bytes from the start (16 float32 or 8 float64 each); LLVM splits them into
what the processor has. ``llvm.fmuladd`` fuses multiply and add only where the processor does; its
strict relative ``llvm.fma`` would be a library call elsewhere, ten times slower.

The operations work on flat C-contiguous arrays and trust their offsets.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba.core.cgutils
from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import types
from numba.extending import intrinsic

from graphheat.jit import compiled as compiled_loop

cgutils: Any = numba.core.cgutils  # it has no types

VECTOR_BYTES = 64
AHEAD = 16  # entries ahead of which a source row is asked for
INT32 = ir.IntType(32)
INT64 = ir.IntType(64)

_STAMP = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()[:12]


def compiled(function: Callable[..., Any]) -> Any:
    """Return a loop that uses these operations, compiled when it is first called.

    numba renews what it has cached when the loop's own file changes; the stamp in the name has it
    do so when this one does.
    """
    function.__qualname__ += f"-{_STAMP}"
    return compiled_loop(function)


class _Rows:
    """Emits vector code for arrays of one element type at the builder's current position."""

    def __init__(self, context: Any, builder: Any, array: Any, size: int = VECTOR_BYTES) -> None:
        self.context, self.builder = context, builder
        self.element = context.get_value_type(array.dtype)
        self.bytes_per_element = array.dtype.bitwidth // 8
        self.lanes = size // self.bytes_per_element
        self.vector = ir.VectorType(self.element, self.lanes)
        self.suffix = f"v{self.lanes}f{array.dtype.bitwidth}"

    def pointer(self, array_type: Any, array: Any) -> Any:
        return cgutils.create_struct_proxy(array_type)(self.context, self.builder, array).data

    def _at(self, pointer: Any, offset: Any, vector: int) -> Any:
        shifted = self.builder.add(offset, ir.Constant(INT64, vector * self.lanes))
        return self.builder.bitcast(self.builder.gep(pointer, [shifted]), self.vector.as_pointer())

    def load(self, pointer: Any, offset: Any, vector: int) -> Any:
        value = self.builder.load(self._at(pointer, offset, vector))
        value.align = self.bytes_per_element  # arrays promise no more than their elements
        return value

    def store(self, value: Any, pointer: Any, offset: Any, vector: int) -> None:
        stored = self.builder.store(value, self._at(pointer, offset, vector))
        stored.align = self.bytes_per_element

    def prefetch(self, pointer: Any, offset: Any) -> None:
        place = self.builder.gep(pointer, [offset])
        byte = self.builder.bitcast(place, ir.IntType(8).as_pointer())
        kind = ir.FunctionType(ir.VoidType(), [byte.type, INT32, INT32, INT32])
        function = cgutils.get_or_insert_function(self.builder.module, kind, "llvm.prefetch.p0i8")
        # For reading, kept in all caches, data.
        how = [ir.Constant(INT32, value) for value in (0, 3, 1)]
        self.builder.call(function, [byte, *how])

    def splat(self, scalar: Any) -> Any:
        undefined = ir.Constant(self.vector, ir.Undefined)
        first = self.builder.insert_element(undefined, scalar, ir.Constant(INT32, 0))
        everywhere = ir.Constant(ir.VectorType(INT32, self.lanes), [0] * self.lanes)
        return self.builder.shuffle_vector(first, undefined, everywhere)

    def weight(self, array_type: Any, pointer: Any, entry: Any) -> Any:
        """Return a weight, of whatever precision, in all lanes."""
        value = self.builder.load(self.builder.gep(pointer, [entry]))
        width = array_type.dtype.bitwidth // 8
        if width > self.bytes_per_element:
            value = self.builder.fptrunc(value, self.element)
        elif width < self.bytes_per_element:
            value = self.builder.fpext(value, self.element)
        return self.splat(value)

    def multiply_add(self, a: Any, b: Any, c: Any) -> Any:
        kind = ir.FunctionType(self.vector, [self.vector] * 3)
        name = f"llvm.fmuladd.{self.suffix}"
        function = cgutils.get_or_insert_function(self.builder.module, kind, name)
        return self.builder.call(function, [a, b, c])


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
    rows = _Rows(context, builder, kinds[5])
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
    rows = _Rows(context, builder, kinds[7], size)
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

    def start(entry: Any) -> Any:
        column = builder.load(builder.gep(columns, [entry]))
        return builder.mul(builder.sext(column, INT64), stride)

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
    rows = _Rows(context, builder, kinds[6], size)
    origins, ends = rows.pointer(kinds[2], sources), rows.pointer(kinds[3], targets)
    values = cgutils.create_struct_proxy(kinds[4])(context, builder, weights)
    read, write = rows.pointer(kinds[5], source), rows.pointer(kinds[6], sums)
    stride, one = ir.Constant(INT64, rows.lanes), ir.Constant(INT64, 1)
    final = builder.sub(last, one)

    def from_(entry: Any) -> Any:
        row = builder.load(builder.gep(origins, [entry]))
        return builder.mul(builder.sext(row, INT64), stride)

    def places(entry: Any) -> tuple[Any, Any]:
        later = builder.add(entry, ir.Constant(INT64, AHEAD))
        later = builder.select(builder.icmp_signed("<", later, final), later, final)
        rows.prefetch(read, from_(later))
        row = builder.load(builder.gep(ends, [entry]))
        return from_(entry), builder.mul(builder.zext(row, INT64), stride)

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
            rows = _Rows(context, builder, kinds[2], size)
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
            rows = _Rows(context, builder, signature.args[3], size)
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
            rows = _Rows(context, builder, signature.args[0])
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
walk_half, walk_narrow = _walk(1, VECTOR_BYTES // 2), _walk(1)
walk_wide, walk_widest = _walk(2), _walk(4)
scatter_half, scatter_narrow = _scatter(VECTOR_BYTES // 2), _scatter(VECTOR_BYTES)
finish_half, finish_narrow = _finish(VECTOR_BYTES // 2), _finish(VECTOR_BYTES)
kept_narrow, kept_wide = _kept(1), _kept(2)
lowest = _lowest()
