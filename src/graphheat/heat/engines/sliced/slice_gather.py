"""The sums of eight rows at once, an entry of each at a time, from anywhere in a vector.

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


def _gather() -> Callable[..., None]:
    """Make ``gather(first, last, columns, weights, source, sums, at)``.

    sums[at + r] ← Σ_e weights[e] · source[columns[e]] over the entries e = first + r,
    first + r + 8, … < last of each row r = 0 … 7, in that order. Without weights (an empty
    array) all are 1. ``source`` may be of less precision than ``sums``, in which all is added up.
    """

    @intrinsic
    def gather(
        typing: Any,
        first: Any,
        last: Any,
        columns: Any,
        weights: Any,
        source: Any,
        sums: Any,
        at: Any,
    ) -> Any:
        signature = types.void(
            types.int64, types.int64, columns, weights, source, sums, types.int64
        )

        def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            _emit(context, builder, signature.args, arguments)
            return context.get_dummy_value()

        return signature, emit

    return gather


def _emit(context: Any, builder: Any, kinds: Any, arguments: Any) -> None:
    first, last, columns, weights, source, sums, at = arguments
    wide = VectorRows(context, builder, kinds[5], LANES * kinds[5].dtype.bitwidth // 8)
    bytes_ = kinds[4].dtype.bitwidth // 8
    read = VectorRows(context, builder, kinds[4], LANES * bytes_)
    places = ir.VectorType(INT32, LANES)
    addresses = ir.VectorType(INT64, LANES)
    pointers = ir.VectorType(ir.PointerType(read.element), LANES)
    mask = ir.VectorType(ir.IntType(1), LANES)
    entries = wide.pointer(kinds[2], columns)
    values = cgutils.create_struct_proxy(kinds[3])(context, builder, weights)
    kind = ir.FunctionType(read.vector, [pointers, INT32, mask, read.vector])
    load = cgutils.get_or_insert_function(
        builder.module, kind, f"llvm.masked.gather.{read.suffix}.v{LANES}p0"
    )
    start = builder.ptrtoint(wide.pointer(kinds[4], source), INT64)
    lane = ir.Constant(ir.VectorType(INT32, LANES), [0] * LANES)
    empty = ir.Constant(addresses, ir.Undefined)
    base = builder.shuffle_vector(
        builder.insert_element(empty, start, ir.Constant(INT32, 0)), empty, lane
    )
    total = cgutils.alloca_once(builder, wide.vector)  # LLVM keeps it in a register
    builder.store(ir.Constant(wide.vector, [0.0] * LANES), total)

    def there(entry: Any) -> Any:
        place = builder.bitcast(builder.gep(entries, [entry]), places.as_pointer())
        rows = builder.load(place)
        rows.align = 4
        size = ir.Constant(addresses, [bytes_] * LANES)
        address = builder.add(base, builder.mul(builder.sext(rows, addresses), size))
        found = builder.call(
            load,
            [
                builder.inttoptr(address, pointers),
                ir.Constant(INT32, bytes_),
                ir.Constant(mask, [1] * LANES),
                ir.Constant(read.vector, ir.Undefined),
            ],
        )
        return found if read.element == wide.element else builder.fpext(found, wide.vector)

    step = ir.Constant(INT64, LANES)
    weighted = builder.icmp_signed(">", values.nitems, ir.Constant(values.nitems.type, 0))
    with builder.if_else(weighted) as (then, otherwise):
        with then, cgutils.for_range_slice(builder, first, last, step, INT64) as (entry, _):
            weight = wide.load(values.data, entry, 0)
            builder.store(wide.multiply_add(weight, there(entry), builder.load(total)), total)
        with otherwise, cgutils.for_range_slice(builder, first, last, step, INT64) as (entry, _):
            builder.store(builder.fadd(builder.load(total), there(entry)), total)
    wide.store(builder.load(total), wide.pointer(kinds[5], sums), at, 0)


gather = _gather()
