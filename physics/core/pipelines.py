"""How numba compiles our functions: a helper stays code of LLVM, and becomes machine code only in kernels.

By itself, numba makes machine code of each function that it compiles, with all functions that this one calls inside,
and optimises all of them again for each. That is what Python calls. But a helper is called by kernels alone, which
contain it. So a `HelperLibrary` holds code as it was written by numba; a kernel links those of the helpers that it
calls, and optimises once. The first step of a scene takes a third less time to compile.
"""

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import llvmlite.binding as llvm
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, Flags

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


class HelperLibrary(JITCodeLibrary):
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
    """Compiles a kernel."""

    def compile_extra(self, func: Callable) -> Any:
        self.state.flags = QuickFlags(self.state.flags)
        return super().compile_extra(func)


class HelperPipeline(KernelPipeline):
    """Compiles a helper to a HelperLibrary, not to what Python could call."""

    def compile_extra(self, func: Callable) -> Any:
        self.state.flags.no_compile = True
        self.state.library = HelperLibrary(self.state.targetctx.codegen(), func.__qualname__)
        return super().compile_extra(func)


@contextmanager
def no_garbage_collection() -> Iterator[None]:
    """Inside, Python does not search for unused cycles of objects. A compilation makes millions of objects that are in
    use until its end; to search them again and again takes a seventh of its time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
