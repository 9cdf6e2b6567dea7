"""Numba as we use it: `@kernel` for what Python calls, `@helper` for what kernels call, `@program` for many kernels in
one call, caches keyed by the sources.

numba's own cache looks only at the file of the cached function, so a kernel would keep running an old helper
of another file. Each module's kernels therefore live in a cache folder named by a digest of that module and of every
engine module it imports, directly or not: an edit recompiles what it can have changed, and only that. A kernel's file
in there is a `KernelFile`: it is loaded only where it holds what was written.
"""

import functools
import hashlib
import inspect
import os
import pathlib
import re
import shutil
import sys
from collections.abc import Callable
from copy import copy
from types import FunctionType
from typing import Any

import llvmlite.binding
import numba
import platformdirs
from numba.core.codegen import get_host_cpu_features
from numba.core.registry import CPUDispatcher
from numba.core.typing.templates import make_concrete_template, signature

from .kernel_file import SUFFIX, KernelFile, prefixed
from .on_demand import RETURNED, call_of, make_cell
from .pipelines import HelperPipeline, KernelPipeline
from .quick_numba import quick_numba
from .tuple_abi import Packed, lent_arrays, packs_of, type_of

ENGINE = pathlib.Path(__file__).parents[1]
CACHE_HOME = pathlib.Path(platformdirs.user_cache_dir("contactlab", appauthor=False)) / "kernels"
#: what compiled code is made by and for, besides its sources: a home may be shared by machines and versions of Python
MACHINE = " ".join((sys.implementation.cache_tag, numba.__version__, llvmlite.__version__,
                    llvmlite.binding.get_host_cpu_name(), get_host_cpu_features()))
KEPT_FOLDERS = 400  # cache folders, one a module and version: enough for several checkouts side by side

#: imports at the left margin; an indented one, for type checking or within a function, cannot change a kernel
_IMPORT = b"\nfrom ."
_FROM = re.compile(r"(\.*)([\w.]*) import (\([^)]*\)|[^\n]+)")  # the rest of it

KERNELS: list[Any] = []  #: every function that `@kernel` made
_BY_SYMBOL: dict[str, Any] = {}
_DEPENDENCIES: dict[str, frozenset[str]] = {}  # of modules that were asked for
_STANDING: set[str] = set()  # symbols of kernels that the linker knows
_AWAITED: dict[str, tuple] = {}  # symbols of kernels that programs name, with the types of their arguments
numba_types: Any = numba.types  # numba declares fewer attributes of it than used here


@functools.cache
def _files() -> dict[str, str]:
    """The files of all engine modules, by names relative to the engine ("collision.gjk")."""
    found = {}
    for folder, _, names in os.walk(ENGINE):
        room = os.path.relpath(folder, ENGINE).replace(os.sep, ".").strip(".")
        for stem, suffix in map(os.path.splitext, names):
            if suffix == ".py":
                found[room if stem == "__init__" else f"{room}.{stem}".strip(".")] = os.path.join(folder, stem + suffix)
    return found


@functools.cache
def _source(module: str) -> bytes:
    return pathlib.Path(_files()[module]).read_bytes() if module in _files() else b""


@functools.cache
def _digest(module: str) -> bytes:
    return hashlib.sha256(module.encode() + b"\n" + _source(module)).digest()


@functools.cache
def _imported(module: str) -> tuple[str, ...]:
    """What an engine module imports from the engine: modules, and names that may be modules."""
    names: list[str] = []
    own = [*module.split("."), "__init__"] if _files().get(module, "").endswith("__init__.py") else module.split(".")
    for line in (b"\n" + _source(module)).split(_IMPORT)[1:]:
        found = _FROM.match(line.decode("utf-8"))
        if found is None:  # a sentence of a docstring
            continue
        dots, base, imported = found.groups()
        name = ".".join([*own[: len(own) - len(dots) - 1], *filter(None, base.split("."))])
        names.append(name)
        for part in re.findall(r"\w+", imported):  # `from . import laws`
            names.append(f"{name}.{part}".strip("."))
    return tuple(name for name in names if name and name in _files())


def dependencies(module: str) -> frozenset[str]:
    """The module and every engine module that it imports, directly or not."""
    found, ahead = set[str](), [module]
    while ahead:
        name = ahead.pop()
        if name in _DEPENDENCIES:
            found |= _DEPENDENCIES[name]
        elif name not in found:
            found.add(name)
            ahead += _imported(name)
    return _DEPENDENCIES.setdefault(module, frozenset(found))


@functools.cache
def cache_folder(module: str) -> pathlib.Path:
    """Where the kernels of an engine module are cached: named by a digest of all sources they can depend on."""
    digest = hashlib.sha256(MACHINE.encode())
    for name in sorted(dependencies(module) | {"core.jit", "core.tuple_abi"}):
        digest.update(_digest(name))
    folder = CACHE_HOME / digest.hexdigest()[:16]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "used").touch()
    except OSError:
        pass  # a read-only home: kernels compile anew in every process
    return folder


def cached_kernels() -> int:
    """Number of kernels on disk in the folders of this process's kernels."""
    folders = {cache_folder(module_of(kernel.py_func)) for kernel in KERNELS}
    return sum(1 for folder in folders for _ in folder.glob("*" + SUFFIX))


def prune_caches() -> None:
    """Drop the cache folders that were not used for longest, beyond KEPT_FOLDERS."""
    try:
        marks = {p: p / "used" for p in CACHE_HOME.iterdir()}
        stamps = {p: (mark if mark.exists() else p).stat().st_mtime for p, mark in marks.items()}
    except OSError:
        return
    for old in sorted(stamps, key=lambda p: stamps[p], reverse=True)[KEPT_FOLDERS:]:
        shutil.rmtree(old, ignore_errors=True)


def module_of(function: Callable) -> str:
    """Name of a function's module relative to the engine."""
    return function.__module__.removeprefix("contactlab.physics").strip(".")


class ArrayKernel(CPUDispatcher):
    """A compiled function that Python calls, and other kernels, with arrays and numbers."""

    def add_overload(self, cres: Any) -> None:
        """Like numba's method, but a call from Python passes an integer address for an argument of a Packed type."""
        kinds = tuple(cres.signature.args)
        codes = [(numba_types.intp if isinstance(kind, Packed) else kind)._code for kind in kinds]
        self._insert(codes, cres.entry_point, cres.objectmode)  # pyright: ignore[reportAttributeAccessIssue]
        self.overloads[kinds] = cres

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Like numba's method. Numbers come in as from Python, also from other kernels, so that there is one signature.
        """
        kinds = {name: _as_from_python(kind) for name, kind in dict(kws).items()}
        return super().get_call_template(tuple(_as_from_python(kind) for kind in args), kinds)

    def _compile_for_args(self, *args: Any, **_: Any) -> Any:
        raise TypeError(f"{self.__name__} was compiled for other arguments than {[str(type_of(a)) for a in args]}")

    def stand(self, kinds: tuple, compiles: bool = True) -> bool:
        """Load what was compiled for arguments of these types, or compile it, and let programs find the machine code by
        its symbol. Returns whether it is there."""
        with lent_arrays(), quick_numba():
            cache: Any = self._cache  # pyright: ignore[reportAttributeAccessIssue]
            if not self.overloads and compiles:
                self.compile(kinds)
            elif not self.overloads and (found := cache.load_overload(kinds, self.targetctx)) is not None:
                self.targetctx.insert_user_function(found.entry_point, found.fndesc, [found.library])
                self.add_overload(found)
            for compiled in self.overloads.values() if self.symbol not in _STANDING else ():
                described = copy(compiled.fndesc)
                described.mangled_name = self.symbol
                llvmlite.binding.add_symbol(
                    self.symbol, compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name))
                self.targetctx.insert_user_function(self.symbol, described)  # of no library: nothing is copied
                _STANDING.add(self.symbol)
        return kinds in self.overloads

    def awaits(self, kinds: tuple) -> bool:
        """Let programs name it before it is compiled; False where others name it with arguments of other types."""
        if self.symbol not in _AWAITED:
            _AWAITED[self.symbol] = kinds
            make_cell(self.symbol, lambda: self.code(kinds))
            self.targetctx.insert_func_defn([(call_of(self.symbol, self.returned, kinds), self.symbol, kinds)])
        return _AWAITED[self.symbol] == kinds

    def code(self, kinds: tuple) -> int:
        """Address of the machine code for arguments of these types, which is compiled or loaded where it is not there.
        Raises TypeError where it was compiled for others, or returns something else than its annotation says."""
        if not self.stand(kinds):
            raise TypeError(f"{self.__name__} was compiled for other arguments than a program passes")
        compiled = self.overloads[kinds]
        if compiled.signature.return_type != self.returned:
            raise TypeError(f"{self.__name__} returns {compiled.signature.return_type}, not {self.returned}")
        return compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name)

    @property
    def returned(self) -> Any:
        """Type of what it returns as its annotation says, None where there is none."""
        return RETURNED[self.py_func.__annotations__["return"]] if "return" in self.py_func.__annotations__ else None

    @property
    def symbol(self) -> str:
        """Its name for the linker."""
        return prefixed(f"{self.py_func.__module__}:{self.__name__}:{self.py_func.__code__.co_firstlineno}")


class Kernel(ArrayKernel):
    """An ArrayKernel that also takes NamedTuples of arrays, by address (see `tuple_abi`). The first call fixes the
    types of the arguments; a later call with other types raises TypeError."""

    def __call__(self, *args: Any) -> Any:
        """Compile for the types of the first arguments, and call. This replaces the class of the kernel by one whose
        calls pack only the arguments that are tuples."""
        kinds = tuple(type_of(arg) for arg in args)
        with lent_arrays(), quick_numba():
            self.compile(kinds)
        packed = {place: packs_of(kind) for place, kind in enumerate(kinds) if isinstance(kind, Packed)}
        body = {"__call__": _packing_call(len(args), tuple(packed))(*packed.values())} if packed else {}
        self.__class__ = type(type(self).__name__, (ArrayKernel,), body)  # pyright: ignore[reportAttributeAccessIssue]
        return self(*args)


class Standing:
    """A kernel as a program calls it: its machine code stands where it is and is found by its symbol. Without this
    numba copies the code of a kernel into every kernel that calls it, and optimizes all of it anew.

    A kernel whose annotation says what it returns is compiled, or loaded, when a program first reaches it."""

    is_compiling = False  # numba asks, for functions that call themselves

    def __init__(self, called: ArrayKernel) -> None:
        self.called = called
        self._numba_type_ = numba_types.Dispatcher(self)

    def get_call_template(self, args: tuple, kws: Any) -> tuple:
        """numba asks for the signature. Numbers come in as from Python, so that there is one signature."""
        called, kinds = self.called, tuple(_as_from_python(kind) for kind in args)
        if called.returned is not None:
            if not called.awaits(kinds):
                raise TypeError(f"programs call {called.__name__} with other arguments than {_AWAITED[called.symbol]}")
            signatures = [signature(called.returned, *kinds)]
        else:
            called.stand(kinds)
            signatures = [compiled.signature for compiled in called.overloads.values()]
        name = called.py_func.__name__
        return make_concrete_template(name, name, signatures), None, args, kws

    def get_overload(self, _: Any) -> str:
        """numba asks for the key of what to call."""
        return self.called.symbol


def _as_from_python(kind: Any) -> Any:
    """The type of a number that Python passes, for any kind of number."""
    kind = numba_types.unliteral(kind)
    whole = isinstance(kind, numba_types.Integer)
    return numba_types.intp if whole else kind


def _widest(kind: Any) -> Any:
    """The type as which a helper takes a number of this type."""
    kind = numba_types.unliteral(kind)
    return numba_types.intp if isinstance(kind, numba_types.Integer) and kind.signed else kind


class Helper:
    """A function that only kernels call, and other helpers. What compiles it is made when numba asks for its type: of a
    thousand helpers a program needs none where its kernels are cached."""

    def __init__(self, function: Callable, inline: bool) -> None:
        self.py_func, self.inline = function, inline

    @functools.cached_property
    def compiled(self) -> "HelperDispatcher":
        options = {"nopython": True, "nogil": True, "error_model": "numpy", "no_cpython_wrapper": True,
                   "no_cfunc_wrapper": True, "boundscheck": None} | ({"forceinline": True} if self.inline else {})
        return HelperDispatcher(_signed(self.py_func), targetoptions=options, pipeline_class=HelperPipeline)

    @functools.cached_property
    def _numba_type_(self) -> Any:
        return numba_types.Dispatcher(self.compiled)


class HelperDispatcher(CPUDispatcher):
    """Compiles a helper."""

    def add_overload(self, cres: Any) -> None:
        """Keep what was compiled. Callers find it by a key, which with numba's functions is the one that Python calls.
        """
        key = object()
        self.targetctx.insert_user_function(key, cres.fndesc, [cres.library])
        self.overloads[tuple(cres.signature.args)] = cres._replace(entry_point=key)

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Like numba's method. numba compiles a function once more for every literal integer that it is called with,
        and for every width of integers; here all that have a sign count as the widest."""
        plain = {name: _widest(kind) for name, kind in dict(kws).items()}
        return super().get_call_template(tuple(_widest(kind) for kind in args), plain)


@functools.cache
def _packing_call(count: int, places: tuple[int, ...]) -> Callable:
    """A function that makes a `__call__` of `count` arguments from the `Packs` of the arguments in these places. The
    source of this `__call__` is generated without a loop: a loop over the places takes longer than most kernels of a
    small scene. A local variable holds each pack until the kernel has read it."""
    names = [f"a{i}" for i in range(count)]
    passed = [f"p{i}.address" if i in places else name for i, name in enumerate(names)]
    lines = [f"def make({', '.join(f'packs{i}' for i in places)}):",
             *(f"    find{i}, add{i} = packs{i}.find, packs{i}.add" for i in places),
             f"    def __call__(self, {', '.join(names)}):",
             *(f"        p{i} = find{i}(id(a{i})) or add{i}(a{i})" for i in places),
             f"        return call(self, {', '.join(passed)})",
             "    return __call__"]
    space: dict[str, Any] = {"call": CPUDispatcher.__call__}
    exec("\n".join(lines), space)
    return space["make"]


def _signed(function: Any) -> Any:
    """The function with its signature at hand, for which numba asks twice."""
    function.__signature__ = inspect.signature(function)
    return function


def kernel(function: Callable, made: type[Kernel] = Kernel) -> Kernel:
    """Compile a function that Python calls: releases the GIL, cached on disk, exactly one signature (tested)."""
    assert function.__closure__ is None  # a kernel's file is known by its place in the sources
    compiled = made(_signed(function), targetoptions={"nopython": True, "nogil": True, "error_model": "numpy",
                                             "no_cfunc_wrapper": True, "boundscheck": None},
                    pipeline_class=KernelPipeline)
    if module_of(function) in _files():  # the sources of others, say of a test, are in no digest: they are not cached
        compiled._cache = KernelFile(  # pyright: ignore[reportAttributeAccessIssue]
            function, cache_folder(module_of(function)), _called, _stands)
    KERNELS.append(compiled)
    _BY_SYMBOL[compiled.symbol] = compiled
    return compiled


def fused(function: Callable) -> Kernel:
    """A kernel in which the processor may carry out a product and the sum that it enters as one operation, which rounds
    once: for what runs a hundred thousand times a step and where no two terms have to cancel exactly. The last bits
    then depend on whether a processor has such an operation."""
    function.fuses = True  # pyright: ignore[reportFunctionMemberAccess]
    return kernel(function)


class Program(Kernel):
    """A Kernel whose kernels are called where they stand."""

    def compile(self, sig: Any) -> Any:
        """Like numba's method. What the program names is looked up only now: it may stand below it."""
        function = self.py_func
        function.__globals__.update({name: Standing(value) if isinstance(value, ArrayKernel) else value
                                     for name, value in sys.modules[function.__module__].__dict__.items()})
        return super().compile(sig)


def program(function: Callable) -> Kernel:
    """Compile a function that Python calls and that runs kernels one after the other, in one call and without Python's
    lock. The kernels it names are called where they stand: what they are compiled to is not compiled once more."""
    calling = FunctionType(function.__code__, {}, function.__name__, function.__defaults__)
    calling.__module__, calling.__doc__ = function.__module__, function.__doc__
    calling.__annotations__ = function.__annotations__
    return kernel(calling, Program)


def on_demand(function: Callable) -> Any:
    """A kernel that helpers call too, where it stands: for what few scenes reach, so that callers need not contain it,
    and it is compiled, or loaded, when one of them first reaches it. Its annotation says what it returns."""
    assert "return" in function.__annotations__
    return Standing(kernel(function))


def compile_awaited() -> None:
    """Compile, or load, the kernels that programs name and that nothing has reached so far."""
    for symbol, kinds in list(_AWAITED.items()):
        _BY_SYMBOL[symbol].code(kinds)


def _called(symbol: str, later: bool) -> tuple:
    """Types of the arguments with which programs call the kernel of this symbol."""
    if later:
        return _AWAITED[symbol]
    (kinds,) = _BY_SYMBOL[symbol].overloads
    return kinds


def _stands(symbol: str, kinds: tuple, later: bool) -> bool:
    """Whether programs find the kernel of this symbol for arguments of these types. It is loaded where it is not yet,
    or, later, when a program reaches it."""
    if symbol not in _BY_SYMBOL:
        return False
    return _BY_SYMBOL[symbol].awaits(kinds) if later else _BY_SYMBOL[symbol].stand(kinds, compiles=False)


def helper(function: Callable) -> Any:
    """A Helper: compile a function that only kernels call; it is stored inside its callers' cache entries."""
    return Helper(function, inline=False)


def inlined(function: Callable) -> Any:
    """A Helper whose code always stands in its callers: for what runs a hundred thousand times a step. Left to itself,
    LLVM calls one of some size, which is as long as to carry it out."""
    return Helper(function, inline=True)
