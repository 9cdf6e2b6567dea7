"""Which lines of kernels take an item outside an array, by hand: nothing tells them so, as numba checks no bounds.

    XDG_CACHE_HOME=$(mktemp -d) PYTHONPATH=tests pytest -n 0 -p indices_outside tests/claims/test_ledger.py

Kernels are compiled anew, from an empty cache, and note every index that is computed and lies below 0, which nothing
counts from the back (see `core/lean_code.py`), or not below the size. The lines stand at the end. Here an index below 0
does count from the back, so that nothing is written outside. Bounds of slices are not looked at.
"""

import ctypes
from typing import Any

from llvmlite import ir
from numba.core import types
from numba.core.lowering import Lower
from numba.np import arrayobj

from contactlab.physics.core import quick_numba

MOST = 1_000_000  # indices in all kernels that are compiled
BELOW, ABOVE = 1, 2

_item_at, _lower = arrayobj.fix_integer_index, Lower.lower_inst  # numba's own: the first asks every index for its sign
_found = (ctypes.c_int8 * MOST)()
_lines: list[str] = []  # each index stands in
_line = ""  # that is compiled now


def _at_line(self: Any, inst: Any) -> None:
    """In place of numba's method: compile an instruction."""
    global _line
    _line = f"{self.loc.filename}:{self.loc.line} {self.func_ir.func_id.func_name}"
    _lower(self, inst)


def _noted(context: Any, builder: Any, kind: Any, index: Any, size: Any) -> Any:
    """In place of numba's function: where an item stands. Notes an index that is computed where it is outside."""
    if not isinstance(index, ir.Constant):
        number, byte = context.cast(builder, index, kind, types.intp), ir.IntType(8)
        word = ir.Constant(ir.IntType(64), ctypes.addressof(_found) + len(_lines)).inttoptr(byte.as_pointer())
        below = builder.zext(builder.icmp_signed("<", number, ir.Constant(number.type, 0)), byte)
        above = builder.zext(builder.icmp_signed(">=", number, size), byte)
        above = builder.mul(above, ir.Constant(byte, ABOVE))
        builder.store(builder.or_(builder.load(word), builder.or_(below, above)), word)
        _lines.append(_line)
    return _item_at(context, builder, kind, index, size)


Lower.lower_inst = _at_line
quick_numba.IN_PLACE = (*(put for put in quick_numba.IN_PLACE if put[1] != "fix_integer_index"),
                        (arrayobj, "fix_integer_index", _noted))


def report() -> list[str]:
    """The lines with an index outside, below and above."""
    return [f"{len(_lines)} indices"] + [
        f"{word} {line}" for kind, word in ((BELOW, "below 0:"), (ABOVE, "too large:"))
        for line in sorted({line for line, found in zip(_lines, _found, strict=False) if found & kind})]


def pytest_terminal_summary(terminalreporter: Any) -> None:
    for line in report():
        terminalreporter.write_line(line)
