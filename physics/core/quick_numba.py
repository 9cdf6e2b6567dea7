"""Quicker ways for what numba does most often when it compiles: the same code comes out, in three quarters of the time.

Most of the time that a compilation takes numba spends in Python, on what it has found before or on what is not there:

- it looks for the signature of each call of a function of its own, `a + b`, anew, through all that it knows of `+`;
- where the life of a variable ends it takes a tuple of numbers apart, to count the owners of arrays in it, and it asks
  each time which types belong to that of the tuple;
- it finds the variables of each instruction ten times, by asking the type of everything that belongs to it, as it
  finds out after each pass over a function which variables live where, which it needs to know once;
- it looks for what LLVM makes of a type by weak references, and compares types in full as it does;
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
from numba.core.datamodel.manager import DataModelManager
from numba.core.postproc import PostProcessor, VariableLifetime
from numba.core.runtime.context import NRTContext
from numba.core.transforms import canonicalize_cfg
from numba.core.types.functions import BaseFunction

from . import lean_code
from .lean_code import can_be_owned

_find_signature, _count = BaseFunction.get_call_type, NRTContext._call_incref_decref
_find_model, _process = DataModelManager.lookup, PostProcessor.run
_load_registries = CPUContext.load_additional_registries

#: by function, context and types of arguments: the function, which keeps its identity taken, and the signature
_SIGNATURES: dict[tuple, tuple[BaseFunction, Any]] = {}
#: by manager and type, which keep their identities taken: what LLVM makes of the type
_MODELS: dict[tuple[int, int], tuple[DataModelManager, Any, Any]] = {}
#: types of parts of instructions that no variable is in, as they are met
_NO_VARIABLES: set[type] = set()


def _known_signature(self: BaseFunction, context: Any, args: tuple, kws: Any) -> Any:
    """In place of numba's method: the signature for these types, looked for until it is found."""
    asked = id(self), id(context), args, tuple(sorted(dict(kws).items()))
    if asked not in _SIGNATURES:
        _SIGNATURES[asked] = self, _find_signature(self, context, args, kws)
    return _SIGNATURES[asked][1]


def _model(self: DataModelManager, kind: Any) -> Any:
    """In place of numba's method: what LLVM makes of a type."""
    asked = id(self), id(kind)
    if asked not in _MODELS:
        _MODELS[asked] = self, kind, _find_model(self, kind)
    return _MODELS[asked][2]


def _counted(self: Any, builder: Any, kind: Any, value: Any, name: str) -> None:
    """In place of numba's method: count the owners in a value, where its type can have any."""
    if can_be_owned(self._context, kind):
        _count(self, builder, kind, value, name)


def _processed(self: Any, emit_dels: bool = False, extend_lifetimes: bool = False) -> None:
    """In place of numba's method, which also finds the variables that live at the beginning of each block: this only
    generators need, and code for Python's own objects."""
    code = self.func_ir
    if code.is_generator:
        _process(self, emit_dels, extend_lifetimes)
        return
    code.blocks = canonicalize_cfg(code.blocks)
    code.variable_lifetime, code.generator_info = VariableLifetime(code.blocks), None
    if emit_dels:
        self._insert_var_dels(extend_lifetimes=extend_lifetimes)


def _variables(_: ir.Inst, part: Any) -> list:
    """In place of numba's method: the variables in a part of an instruction."""
    found: list = []
    _collect((part,), found)
    return found


def _collect(parts: Any, found: list) -> None:
    for part in parts:
        kind = type(part)
        if kind is ir.Var:
            found.append(part)
        elif kind in _NO_VARIABLES:
            continue
        elif isinstance(part, dict):
            _collect(part.values(), found)
        elif isinstance(part, (list, tuple)):
            _collect(part, found)
        elif isinstance(part, ir.Inst):
            found += part.list_vars()
        else:
            _NO_VARIABLES.add(kind)


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
    (NRTContext, "_call_incref_decref", _counted),
    (DataModelManager, "lookup", _model),
    (DataModelManager, "__getitem__", _model),
    (PostProcessor, "run", _processed),
    (ir.Inst, "_rec_list_vars", _variables),
    (CPUContext, "load_additional_registries", _registries),
    *lean_code.IN_PLACE,
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
