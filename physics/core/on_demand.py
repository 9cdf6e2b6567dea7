"""Kernels that a program names but that are compiled, or loaded, only when it first reaches them.

A program finds the machine code of such a kernel in a *cell*, a word that is 0 at first. Where it finds 0 it asks
Python for the code, once. The type of what the kernel returns has to be known before that: its annotation says it.
"""

import ctypes
from collections.abc import Callable
from typing import Any

import llvmlite.binding as llvm
import numba
from llvmlite import ir
from numba.core import cgutils

FETCH = "contactlab-fetch"  # symbol of what a program calls where a cell is 0
CELL = "contactlab-cell:"   # how the symbols of cells begin; the kernel's symbol follows

numba_types: Any = numba.types  # numba declares fewer attributes of it than used here
#: types of what kernels return, by their annotation
RETURNED = {None: numba_types.none, int: numba_types.intp, float: numba_types.float64, bool: numba_types.boolean}

#: by the symbol of a kernel: its cell, and what gives the address of its machine code
_CELLS: dict[str, tuple[ctypes.c_void_p, Callable[[], int]]] = {}


def make_cell(symbol: str, code: Callable[[], int]) -> None:
    """A cell for the kernel of this symbol, which the linker finds from now on. code gives the address of its machine
    code when a program first reaches it; an exception is printed then, and the program raises RuntimeError."""
    cell = ctypes.c_void_p()
    _CELLS[symbol] = cell, code
    llvm.add_symbol(CELL + symbol, ctypes.addressof(cell))


@ctypes.CFUNCTYPE(None, ctypes.c_char_p)
def _fetch(symbol: bytes) -> None:
    cell, code = _CELLS[symbol.decode()]
    cell.value = code()


llvm.add_symbol(FETCH, ctypes.cast(_fetch, ctypes.c_void_p).value)


def call_of(symbol: str, returned: Any, kinds: tuple) -> Callable:
    """How numba writes a call of a kernel of this symbol with arguments of these types."""
    def write(context: Any, builder: Any, _: Any, args: Any) -> Any:
        convention, through = context.call_conv, _through_cell(context, builder.module, symbol, returned, kinds)
        status, value = convention.call_function(builder, through, returned, kinds, args)
        with cgutils.if_unlikely(builder, status.is_error):
            convention.return_status_propagate(builder, status)
        return value

    return write


def _through_cell(context: Any, module: Any, symbol: str, returned: Any, kinds: tuple) -> Any:
    """A function of the module that passes its arguments on to the kernel whose code the cell holds."""
    name = "through " + symbol
    if name in module.globals:
        return module.globals[name]
    kind = context.call_conv.get_function_type(returned, kinds)
    function, cell = ir.Function(module, kind, name), ir.GlobalVariable(module, kind.as_pointer(), CELL + symbol)
    function.linkage = "internal"
    builder = ir.IRBuilder(function.append_basic_block())
    with cgutils.if_unlikely(builder, cgutils.is_null(builder, builder.load(cell))):
        fetch = cgutils.get_or_insert_function(module, ir.FunctionType(ir.VoidType(), [cgutils.voidptr_t]), FETCH)
        builder.call(fetch, [context.insert_const_string(module, symbol)])
    found = builder.load(cell)
    with cgutils.if_unlikely(builder, cgutils.is_null(builder, found)):
        context.call_conv.return_user_exc(builder, RuntimeError, (f"there is no code of {symbol}",))
    builder.ret(builder.call(found, function.args))
    return function
