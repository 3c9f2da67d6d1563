"""Rows of a block as vectors in registers: how LLVM is instructed, and how its loops are kept.

Why LLVM by hand: a loop over the 16 or 32 columns of a row has a constant length, so LLVM unrolls
it into scalars before it looks for vectors, and 4–5 times the speed is lost. Here each row is one
or two vectors of 64 bytes from the start (16 float32 or 8 float64 each); LLVM splits them into
what the processor has. ``llvm.fmuladd`` fuses multiply and add only where the processor does; its
strict relative ``llvm.fma`` would be a library call elsewhere, ten times slower.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba.core.cgutils
from llvmlite import ir  # type: ignore[import-untyped]

from graphheat.jit import compiled as compiled_loop

cgutils: Any = numba.core.cgutils  # it has no types

VECTOR_BYTES = 64
INT32 = ir.IntType(32)
INT64 = ir.IntType(64)

# The modules that write LLVM, this one first.
WRITERS = (
    "numba/vector_rows.py",
    "numba/intrinsic.py",
    "panel/row_walks.py",
    "sliced/slice_step.py",
)
_TEXTS = (Path(__file__).parents[1].joinpath(name).read_bytes() for name in WRITERS)
_STAMP = hashlib.sha256(b"".join(_TEXTS)).hexdigest()[:12]


def compiled(function: Callable[..., Any]) -> Any:
    """Return a loop that uses such operations, compiled when it is first called.

    numba renews what it has cached when the loop's own file changes; the stamp in the name has it
    do so when the operations do.
    """
    function.__qualname__ += f"-{_STAMP}"
    return compiled_loop(function)


class VectorRows:
    """Emits vector code for arrays of one element type at the builder's current position."""

    def __init__(self, context: Any, builder: Any, array: Any, size: int = VECTOR_BYTES) -> None:
        self.context, self.builder = context, builder
        self.element = context.get_value_type(array.dtype)
        self.bytes_per_element = array.dtype.bitwidth // 8
        self.lanes = size // self.bytes_per_element
        self.vector = ir.VectorType(self.element, self.lanes)
        self.suffix = f"v{self.lanes}f{array.dtype.bitwidth}"

    def pointer(self, array_type: Any, array: Any) -> Any:
        """Return where the numbers of an array begin."""
        return cgutils.create_struct_proxy(array_type)(self.context, self.builder, array).data

    def _at(self, pointer: Any, offset: Any, vector: int) -> Any:
        shifted = self.builder.add(offset, ir.Constant(INT64, vector * self.lanes))
        return self.builder.bitcast(self.builder.gep(pointer, [shifted]), self.vector.as_pointer())

    def load(self, pointer: Any, offset: Any, vector: int) -> Any:
        """Return the vector of a row that begins at ``offset``."""
        value = self.builder.load(self._at(pointer, offset, vector))
        value.align = self.bytes_per_element  # arrays promise no more than their elements
        return value

    def store(self, value: Any, pointer: Any, offset: Any, vector: int) -> None:
        """Put a vector into a row that begins at ``offset``."""
        stored = self.builder.store(value, self._at(pointer, offset, vector))
        stored.align = self.bytes_per_element

    def no_more_than(self, number: Any, most: Any) -> Any:
        """Return the smaller one of two integers."""
        return self.builder.select(self.builder.icmp_signed("<", number, most), number, most)

    def prefetch(self, pointer: Any, offset: Any, vector: int = 0, *, nearness: int = 3) -> None:
        """Ask for the line of a vector ahead of its use: for all caches, or (0) passing through."""
        shifted = self.builder.add(offset, ir.Constant(INT64, vector * self.lanes))
        place = self.builder.gep(pointer, [shifted])
        byte = self.builder.bitcast(place, ir.IntType(8).as_pointer())
        kind = ir.FunctionType(ir.VoidType(), [byte.type, INT32, INT32, INT32])
        function = cgutils.get_or_insert_function(self.builder.module, kind, "llvm.prefetch.p0i8")
        # For reading, how near it is kept, data.
        how = [ir.Constant(INT32, value) for value in (0, nearness, 1)]
        self.builder.call(function, [byte, *how])

    def splat(self, scalar: Any) -> Any:
        """Return a number in all lanes."""
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
        """Return a · b + c, fused where the processor does so."""
        kind = ir.FunctionType(self.vector, [self.vector] * 3)
        name = f"llvm.fmuladd.{self.suffix}"
        function = cgutils.get_or_insert_function(self.builder.module, kind, name)
        return self.builder.call(function, [a, b, c])
