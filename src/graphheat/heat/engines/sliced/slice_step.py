"""A step of eight rows at once: their sums, an entry of each at a time, and the recurrence.

The operation works on flat C-contiguous arrays and trusts its offsets.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import types
from numba.extending import intrinsic

from graphheat.heat.engines.numba.vector_rows import INT32, INT64, VectorRows, cgutils
from graphheat.heat.engines.sliced.slices import LANES

AHEAD = 512  # entries that are asked for ahead of their use


def _slice_step() -> Callable[..., None]:
    """Make ``slice_step(first, last, columns, weights, factor, own, now, before, after, …)``.

    With ``scale`` and ``at``, the last two,

    after[at + r] ← scale · factor[at + r] · (Σ_e weights[e] · now[columns[e]] + own[at + r] ·
    now[at + r]) − before[at + r] over the entries e = first + r, first + r + 8, … < last of each
    row r = 0 … 7, in that order. Without weights (an empty array) all are 1, and without ``own``
    (likewise) rows have none. ``now``, ``before`` and ``after`` may be of less precision than
    ``factor``, in which all is computed.
    """

    @intrinsic
    def slice_step(
        typing: Any,
        first: Any,
        last: Any,
        columns: Any,
        weights: Any,
        factor: Any,
        own: Any,
        now: Any,
        before: Any,
        after: Any,
        scale: Any,
        at: Any,
    ) -> Any:
        signature = types.void(
            types.int64, types.int64, columns, weights, factor, own, now, before, after,
            types.float64, types.int64,
        )  # fmt: skip

        def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            _emit(context, builder, signature.args, arguments)
            return context.get_dummy_value()

        return signature, emit

    return slice_step


def _emit(context: Any, builder: Any, kinds: Any, arguments: Any) -> None:
    first, last, columns, weights, factor, own, now, before, after, scale, at = arguments
    wide = VectorRows(context, builder, kinds[4], LANES * kinds[4].dtype.bitwidth // 8)
    kept = VectorRows(context, builder, kinds[6], LANES * kinds[6].dtype.bitwidth // 8)
    entries, source = wide.pointer(kinds[2], columns), kept.pointer(kinds[6], now)
    values = cgutils.create_struct_proxy(kinds[3])(context, builder, weights)
    loops = cgutils.create_struct_proxy(kinds[5])(context, builder, own)
    total = cgutils.alloca_once(builder, wide.vector)  # LLVM keeps it in a register
    builder.store(ir.Constant(wide.vector, [0.0] * LANES), total)

    def widened(vector: Any) -> Any:
        same = kept.element == wide.element
        return vector if same else builder.fpext(vector, wide.vector)

    def there(entry: Any) -> Any:
        # What is read once a step passes by the caches, which then keep more of ``now``.
        wide.prefetch(entries, builder.add(entry, ir.Constant(INT64, AHEAD)), nearness=0)
        found = ir.Constant(kept.vector, ir.Undefined)
        # Eight loads: faster than the processor's own gather where that is microcode.
        for row in range(LANES):
            at_entry = builder.add(entry, ir.Constant(INT64, row))
            place = builder.load(builder.gep(entries, [at_entry]))
            number = builder.load(builder.gep(source, [builder.sext(place, INT64)]))
            found = builder.insert_element(found, number, ir.Constant(INT32, row))
        return widened(found)

    step = ir.Constant(INT64, LANES)
    with builder.if_else(_any(builder, values)) as (then, otherwise):
        with then, cgutils.for_range_slice(builder, first, last, step, INT64) as (entry, _):
            wide.prefetch(values.data, builder.add(entry, ir.Constant(INT64, AHEAD)), nearness=0)
            weight = wide.load(values.data, entry, 0)
            builder.store(wide.multiply_add(weight, there(entry), builder.load(total)), total)
        with otherwise, cgutils.for_range_slice(builder, first, last, step, INT64) as (entry, _):
            builder.store(builder.fadd(builder.load(total), there(entry)), total)
    with builder.if_then(_any(builder, loops)):
        share = builder.fmul(wide.load(loops.data, at, 0), widened(kept.load(source, at, 0)))
        builder.store(builder.fadd(builder.load(total), share), total)
    by = builder.fmul(wide.splat(scale), wide.load(wide.pointer(kinds[4], factor), at, 0))
    old = widened(kept.load(kept.pointer(kinds[7], before), at, 0))
    new = builder.fsub(builder.fmul(by, builder.load(total)), old)
    if kept.element != wide.element:
        new = builder.fptrunc(new, kept.vector)
    kept.store(new, kept.pointer(kinds[8], after), at, 0)


def _any(builder: Any, array: Any) -> Any:
    """Return whether an array has elements."""
    return builder.icmp_signed(">", array.nitems, ir.Constant(array.nitems.type, 0))


slice_step = _slice_step()
