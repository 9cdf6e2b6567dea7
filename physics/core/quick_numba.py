"""Quicker ways for what numba does most often when it compiles: the same code comes out, in five sixths of the time.

Most of the time that a compilation takes numba spends in Python, on what it has found before or on what is not there:

- it looks for the signature of each call of a function of its own, `a + b`, anew, through all that it knows of `+`;
- where the life of a variable ends it takes a tuple of numbers apart, to count the owners of arrays in it;
- it finds the variables of each instruction ten times, by asking the type of everything that belongs to it;
- it tells those who listen, nobody, before and after each of a hundred thousand calls of LLVM.

Before it compiles the first kernel, numba also loads scipy's linear algebra, a tenth of a second, to see whether there
are matrix products; whatever uses one sees to that itself.
"""

import functools
import gc
import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from llvmlite.binding import ffi
from numba.core import ir
from numba.core.cpu import CPUContext
from numba.core.runtime.context import NRTContext
from numba.core.types.functions import BaseFunction

_find_signature, _find_owners = BaseFunction.get_call_type, NRTContext.get_meminfos
_load_registries = CPUContext.load_additional_registries

#: by function, context and types of arguments: the function, which keeps its identity taken, and the signature
_SIGNATURES: dict[tuple, tuple[BaseFunction, Any]] = {}
#: parts of instructions that no variable is in
_NO_VARIABLES = {str, int, float, bool, type(None), ir.Loc}


def _known_signature(self: BaseFunction, context: Any, args: tuple, kws: Any) -> Any:
    """In place of numba's method: the signature for these types, looked for until it is found."""
    asked = id(self), id(context), args, tuple(sorted(dict(kws).items()))
    if asked not in _SIGNATURES:
        _SIGNATURES[asked] = self, _find_signature(self, context, args, kws)
    return _SIGNATURES[asked][1]


def _owners(self: Any, builder: Any, kind: Any, value: Any) -> list:
    """In place of numba's method: the owners in a value, which are looked for only where its type can have any."""
    if not self._context.data_model_manager[kind].contains_nrt_meminfo():
        return []
    return _find_owners(self, builder, kind, value)


def _variables(_: ir.Inst, part: Any) -> list:
    """In place of numba's method: the variables in a part of an instruction."""
    found: list = []
    _collect(part, found)
    return found


def _collect(part: Any, found: list) -> None:
    if type(part) in _NO_VARIABLES:
        return
    if isinstance(part, ir.Var):
        found.append(part)
    elif isinstance(part, ir.Inst):
        found += part.list_vars()
    elif isinstance(part, (list, tuple)):
        for one in part:
            _collect(one, found)
    elif isinstance(part, dict):
        for one in part.values():
            _collect(one, found)


@functools.cache
def _load_functions_of_arrays() -> None:
    """Load what numba knows of arrays, without what it looks at as it does."""
    from numba.np import linalg

    own, linalg.ensure_blas = linalg.ensure_blas, lambda: None
    try:
        loaded: Any = importlib.import_module("numba.np.arraymath")
        loaded.ensure_blas = own
    finally:
        linalg.ensure_blas = own


def _registries(self: CPUContext) -> None:
    """In place of numba's method, which it calls before it compiles."""
    _load_functions_of_arrays()
    _load_registries(self)


#: (class of numba, name, what takes its place)
IN_PLACE = (
    (BaseFunction, "get_call_type", _known_signature),
    (NRTContext, "get_meminfos", _owners),
    (ir.Inst, "_rec_list_vars", _variables),
    (CPUContext, "load_additional_registries", _registries),
)


@contextmanager
def quick_numba() -> Iterator[None]:
    """Inside, numba compiles in the quicker ways, and Python does not search for unused cycles of objects: a
    compilation makes millions of objects that are in use until its end, and to search them again and again takes a
    seventh of its time. Whoever enters holds numba's lock of compilations."""
    own = [(owner, name, getattr(owner, name)) for owner, name, _ in IN_PLACE]
    listening, collects = list(ffi.lib._lock._cblist), gc.isenabled()
    gc.disable()
    for owner, name, quicker in IN_PLACE:
        setattr(owner, name, quicker)
    for callbacks in listening:
        ffi.unregister_lock_callback(*callbacks)
    try:
        yield
    finally:
        for callbacks in listening:
            ffi.register_lock_callback(*callbacks)
        for owner, name, theirs in own:
            setattr(owner, name, theirs)
        if collects:
            gc.enable()
