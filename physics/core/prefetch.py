"""Asking for memory before it is needed."""

from typing import Any

import numba
from llvmlite import ir
from numba import extending
from numba.core import cgutils

intrinsic: Any = extending.intrinsic  # what it makes is called without the context
_READ, _KEEP, _DATA = 0, 3, 1  # arguments of llvm.prefetch: to read, in all caches, data
CACHE_LINE = 64  # bytes


@intrinsic
def prefetch_row(context, rows, i):
    """Ask for the first two cache lines of row i of rows (n, m), which are read later. Nothing waits for them, and a
    row that is not there is no error."""

    def lower(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = signature.args[0]
        array = context.make_array(kind)(context, builder, args[0])
        zero = context.get_constant(numba.types.intp, 0)
        place = cgutils.get_item_pointer(context, builder, kind, array, [args[1], zero])
        byte = builder.bitcast(place, ir.IntType(8).as_pointer())
        called = builder.module.declare_intrinsic("llvm.prefetch", [byte.type], ir.FunctionType(
            ir.VoidType(), [byte.type, *[ir.IntType(32)] * 3]))
        how = [ir.Constant(ir.IntType(32), k) for k in (_READ, _KEEP, _DATA)]
        for line in range(2):
            builder.call(called, [builder.gep(byte, [ir.Constant(ir.IntType(32), line * CACHE_LINE)]), *how])
        return context.get_dummy_value()

    return numba.types.none(rows, numba.types.intp), lower
