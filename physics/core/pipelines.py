"""How numba compiles our functions: a helper stays code of LLVM, and becomes machine code only in kernels, which count
the owners of their arrays in place.

By itself, numba makes machine code of each function that it compiles, with all functions that this one calls inside,
and optimises all of them again for each. That is what Python calls. But a helper is called by kernels alone, which
contain it. So a `HelperLibrary` holds code as it was written by numba; a kernel links those of the helpers that it
calls, and optimises once. The first step of a scene takes a third less time to compile.

An array that a kernel makes has an owner object with a count of those who hold it. numba calls a function wherever a
tuple of arrays is read or passed on, and this function counts by an atomic instruction, as if another thread held the
array too. No other thread does: a kernel never returns an array, and what is passed to it has no owner (see
`tuple_abi`). So a `KernelLibrary` counts in place. By calls, a step of three blocks that slide took a fifth longer.
"""

import re
from collections.abc import Callable
from typing import Any

import llvmlite.binding as llvm
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, Flags

from .lean_code import leave_out_unread

_DEFAULTS = {name: option.default for name, option in Flags.options.items()}


class QuickFlags(Flags):
    """numba's flags of a compilation, which are a part of many keys of its caches; numba itself compares them by an
    attribute look-up for each flag."""

    __slots__ = ()

    def values(self) -> dict[str, Any]:
        """All flags by their names."""
        return _DEFAULTS | self._values

    def __hash__(self) -> int:
        """The hash of any other flags: numba's depends on the names alone."""
        return _HASH


_HASH = hash(Flags())


#: an operation of LLVM that rounds by itself
_ROUNDED = re.compile(r"= (fmul|fadd|fsub) double")
COUNTING = "NRT_incref", "NRT_decref"
#: numba's functions of these names, to stand where they are called
OWNERS = """
declare void @NRT_MemInfo_call_dtor(ptr)

define void @NRT_incref(ptr %owner) alwaysinline {
  %none = icmp eq ptr %owner, null
  br i1 %none, label %end, label %count
count:
  %held = load i64, ptr %owner
  %now = add i64 %held, 1
  store i64 %now, ptr %owner
  br label %end
end:
  ret void
}

define void @NRT_decref(ptr %owner) alwaysinline {
  %none = icmp eq ptr %owner, null
  br i1 %none, label %end, label %count
count:
  %held = load i64, ptr %owner
  %now = sub i64 %held, 1
  store i64 %now, ptr %owner
  %last = icmp eq i64 %now, 0
  br i1 %last, label %drop, label %end
drop:
  call void @NRT_MemInfo_call_dtor(ptr %owner)
  br label %end
end:
  ret void
}
"""


class LeanLibrary(JITCodeLibrary):
    """Code for LLVM without what nothing reads."""

    def add_ir_module(self, ir_module: Any) -> None:
        """Like numba's method."""
        leave_out_unread(ir_module)
        super().add_ir_module(ir_module)

    def _optimize_functions(self, ll_module: Any) -> None:
        """Like numba's method, with fewer passes: kernels are optimised as a whole later."""
        ll_module.data_layout = self._codegen._data_layout
        for function in ll_module.functions:
            if not function.is_declaration:
                passes, builder = self._codegen._function_pass_manager(opt=1)
                passes.run(function, builder)


class KernelLibrary(LeanLibrary):
    """The machine code of a kernel, which counts the owners of its arrays in place."""

    fuses = False  #: whether a product and a sum may be one operation, see `jit.fused`

    def _optimize_final_module(self) -> None:
        """Like numba's method: a little optimisation, after which it drops counts that cancel, and then all of it. The
        functions that count come between these two."""
        if self.fuses:
            fused = _ROUNDED.sub(r"= \1 contract double", str(self._final_module))
            self._final_module = llvm.parse_assembly(fused)
        passes, builder = self._codegen._module_pass_manager(
            loop_vectorize=False, slp_vectorize=False, opt=0, cost="cheap")
        passes.run(self._final_module, builder)
        self._final_module.link_in(llvm.parse_assembly(OWNERS))  # in place of numba's own, which yield to these
        for name in COUNTING:
            self._final_module.get_function(name).linkage = llvm.Linkage.internal
        passes, builder = self._codegen._module_pass_manager()
        passes.run(self._final_module, builder)


class HelperLibrary(LeanLibrary):
    """The code of a helper with that of all that it calls, not optimised, and not made machine code."""

    def finalize(self) -> None:
        """Make the code ready to be linked, in any number of callers, which keep what they call of it."""
        for library in dict.fromkeys(self._linking_libraries):
            self._reload_init.update(library._reload_init)
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        for function in self._final_module.functions:
            if not function.is_declaration and function.linkage == llvm.Linkage.external:
                function.linkage = llvm.Linkage.linkonce_odr
        self._finalized = True

    def _get_module_for_linking(self) -> Any:
        return self._final_module


class KernelPipeline(Compiler):
    """Compiles a kernel to a KernelLibrary."""

    def compile_extra(self, func: Callable) -> Any:
        self.state.flags = QuickFlags(self.state.flags)
        if self.state.library is None:
            self.state.library = KernelLibrary(self.state.targetctx.codegen(), func.__qualname__)
            self.state.library.fuses = getattr(func, "fuses", False)
            self.state.library.enable_object_caching()  # as numba does with those that it makes itself
        return super().compile_extra(func)


class HelperPipeline(KernelPipeline):
    """Compiles a helper to a HelperLibrary, not to what Python could call."""

    def compile_extra(self, func: Callable) -> Any:
        self.state.flags.no_compile = True
        self.state.library = HelperLibrary(self.state.targetctx.codegen(), func.__qualname__)
        return super().compile_extra(func)
