"""Code for LLVM: what is left out of it, and that the rest does what it did."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from llvmlite import ir
from numba.core.runtime import _nrt_python, rtsys

from contactlab.physics.core import jit
from contactlab.physics.core.lean_code import leave_out_unread
from contactlab.physics.core.pipelines import LeanLibrary

COUNTS = ir.IntType(64)


@jit.helper
def item(a, i):
    return a[i]


def compiled(function: Callable) -> Any:
    """A kernel of this function, which is not counted among the engine's."""
    made = jit.kernel(function)
    jit.KERNELS.pop()
    return made


@pytest.fixture(name="counted")
def counting_owners():
    was = _nrt_python.memsys_stats_enabled()
    _nrt_python.memsys_enable_stats()
    yield rtsys.get_allocation_stats
    if not was:
        _nrt_python.memsys_disable_stats()


def test_arrays_that_a_kernel_makes_are_dropped_once(counted):
    """Made before a loop, in it, and in one branch; views of them, and views as a helper's argument."""
    def sums(a, n):
        total, twos = 0.0, np.full(n, 2.0)
        for i in range(n):
            rows = np.zeros((n, 2))
            rows[i] = twos[i:].sum()
            if i % 2 == 1:
                rows = np.ones((n, 3))
            total += rows[i, 1] + item(rows[i], rows.shape[1] - 1) + a[i]
        return total

    kernel, a = compiled(sums), np.arange(5.0)
    assert kernel(a, 5) == 2 * (10 + 1 + 6 + 1 + 2) + 10
    before = counted()
    kernel(a, 5)
    after = counted()
    assert after.mi_alloc - before.mi_alloc == after.mi_free - before.mi_free == 1 + 5 + 2


def test_variables_of_one_branch_are_there_in_a_later_one():
    """One that is assigned under a condition and read where the same holds, and one that is assigned before all that
    read it."""
    def scaled(a, n):
        start = a[0] + 1.0
        for i in range(n):
            if n > 2:
                factor = start + 2.0
            a[i] += start
            if n > 2:
                a[i] *= factor

    kernel, a, expected = compiled(scaled), np.arange(4.0), np.arange(4.0)
    scaled(expected, 4)
    kernel(a, 4)
    assert a.tolist() == expected.tolist()


def test_what_nothing_reads_is_left_out():
    """A chain whose end nobody reads, and memory that is only written; not what is called, returned or passed on."""
    module = ir.Module()
    function = ir.Function(module, ir.FunctionType(COUNTS, [COUNTS]), "f")
    builder, (x,) = ir.IRBuilder(function.append_basic_block()), function.args
    written, passed = builder.alloca(COUNTS), builder.alloca(COUNTS)
    builder.store(builder.mul(x, x), written)
    builder.store(x, passed)
    builder.xor(builder.load(passed), builder.sub(x, x))
    builder.call(ir.Function(module, ir.FunctionType(ir.VoidType(), [passed.type]), "g"), [passed])
    builder.ret(builder.add(x, x))
    leave_out_unread(module)
    assert [i.opname for i in function.blocks[0].instructions] == ["alloca", "store", "call", "add", "ret"]


def test_an_item_of_an_array_is_read_without_a_copy_of_its_descriptor(monkeypatch):
    """Once as it was given, once as a row, once from the end: only one that is written so is asked for its sign."""
    def read(a, b, i):
        b[0] = a[i, 1] + a[i][0] + a[-1, 0]

    lines, add = [], LeanLibrary.add_ir_module

    def noted(library: Any, module: Any) -> None:
        add(library, module)
        lines.append([str(i) for f in module.functions for block in f.blocks for i in block.instructions])

    monkeypatch.setattr(LeanLibrary, "add_ir_module", noted)
    a, b = np.arange(6.0).reshape(3, 2), np.zeros(1)
    compiled(read)(a, b, 1)
    assert b[0] == 3.0 + 2.0 + 4.0
    body = lines[0]
    assert not any("alloca" in line and "[2 x i64]" in line for line in body)
    assert sum("select" in line for line in body) == 1 and sum("load double" in line for line in body) == 3
