"""What threads that share work need below numba: words of memory that all of them see at once, a call by address, and
sleep."""

import ctypes
import hashlib
import platform
from collections.abc import Callable
from typing import Any

import llvmlite.binding as llvm
import numba
from llvmlite import ir
from numba import extending
from numba.core import cgutils

from .tuple_abi import Packed, borrowed

WORDS = "contactlab-words"  # symbol of the words, which are never moved and never freed
LOCK, UNLOCK = "contactlab-lock", "contactlab-unlock"
COUNT = 512      # words
CACHE_LINE = 8   # words
INT, BYTES = ir.IntType(64), 8

numba_types: Any = numba.types  # numba declares fewer attributes of it than used here
intrinsic: Any = extending.intrinsic  # what it makes is called without the context
_INTP, _NONE = numba_types.intp, numba_types.none
_SHARE = (_INTP, _INTP)  # what a share is called with: where its arguments stand, and its number

_memory = (ctypes.c_int64 * (COUNT + CACHE_LINE))()
_begin = -(-ctypes.addressof(_memory) // (BYTES * CACHE_LINE)) * BYTES * CACHE_LINE
WORD = (ctypes.c_int64 * COUNT).from_address(_begin)  #: the words as Python sees them
llvm.add_symbol(WORDS, _begin)

# Locks of Python, which work without the interpreter's own: they let a thread sleep, and another one wake it
_python: Any = ctypes.pythonapi
_python.PyThread_allocate_lock.restype = ctypes.c_void_p
llvm.add_symbol(LOCK, ctypes.cast(_python.PyThread_acquire_lock_timed, ctypes.c_void_p).value)
llvm.add_symbol(UNLOCK, ctypes.cast(_python.PyThread_release_lock, ctypes.c_void_p).value)

#: LLVM's name for what tells the processor that a loop waits, and its arguments
_WAIT = {"x86_64": ("llvm.x86.sse2.pause",), "aarch64": ("llvm.aarch64.hint", ir.Constant(ir.IntType(32), 1))}
_WAIT |= {"amd64": _WAIT["x86_64"], "arm64": _WAIT["aarch64"]}


def held_lock() -> int:
    """A lock that is held, for as long as the process lives."""
    lock = _python.PyThread_allocate_lock()
    _python.PyThread_acquire_lock(ctypes.c_void_p(lock), 1)
    return lock


def _place(builder: Any, k: Any) -> Any:
    """Pointer to word k."""
    words = builder.module.globals.get(WORDS) or ir.GlobalVariable(builder.module, INT, WORDS)
    return builder.gep(words, [k])


def _in_order(write: Callable) -> Callable:
    """An intrinsic of integers, written by write(builder, *arguments). All threads see what these do in one order."""
    count = write.__code__.co_argcount - 1

    def lower(_: Any, builder: Any, __: Any, args: Any) -> Any:
        return write(builder, *args)

    names = ", ".join(f"a{i}" for i in range(count))
    space: dict[str, Any] = {"kind": _INTP(*[_INTP] * count), "lower": lower}
    exec(f"def {write.__name__}(context{', ' if names else ''}{names}):\n    return kind, lower", space)
    space[write.__name__].__doc__ = write.__doc__
    return intrinsic(space[write.__name__])


@_in_order
def load(builder, k):
    """Word k."""
    return builder.load_atomic(_place(builder, k), "seq_cst", BYTES)


@_in_order
def store(builder, k, value):
    """Word k becomes the value."""
    builder.store_atomic(value, _place(builder, k), "seq_cst", BYTES)
    return value


@_in_order
def increase(builder, k, by):
    """Word k grows; returns what it was."""
    return builder.atomic_rmw("add", _place(builder, k), by, "seq_cst")


@_in_order
def swap(builder, k, old, new):
    """Word k becomes new where it is old; returns 1 where it was."""
    both = builder.cmpxchg(_place(builder, k), old, new, "seq_cst", "seq_cst")
    return builder.zext(builder.extract_value(both, 1), INT)


@intrinsic
def reserve(_, array, k, many):
    """Entry k of an array (n,) of 64-bit integers grows by so many, whatever other threads do; returns what it was."""
    def write(context, builder, sig, args):
        data = context.make_array(sig.args[0])(context, builder, args[0]).data
        return builder.atomic_rmw("add", builder.gep(data, [args[1]]), args[2], "seq_cst")

    return _INTP(array, _INTP, _INTP), write


@_in_order
def pause(builder, k):
    """A moment, for a loop that waits; returns k."""
    name, *args = _WAIT.get(platform.machine().lower(), ("",))
    if name:
        kind = ir.FunctionType(ir.VoidType(), [value.type for value in args])
        builder.call(cgutils.get_or_insert_function(builder.module, kind, name), args)
    return k


@_in_order
def ticks(builder, k):
    """What a clock of the processor shows, in its own unit; 0 where we know none. k: anything."""
    machine = platform.machine().lower()
    if machine in ("x86_64", "amd64"):
        kind = ir.FunctionType(INT, [])
        return builder.call(cgutils.get_or_insert_function(builder.module, kind, "llvm.readcyclecounter"), [])
    if machine in ("aarch64", "arm64"):
        return builder.asm(ir.FunctionType(INT, []), "mrs $0, cntvct_el0", "=r", [], True)
    return INT(0)


@_in_order
def lock(builder, which, microseconds):
    """Sleep until the lock is free, at most so long; -1 = for ever."""
    kind = ir.FunctionType(ir.IntType(32), [cgutils.voidptr_t, INT, ir.IntType(32)])
    function = cgutils.get_or_insert_function(builder.module, kind, LOCK)
    address = builder.inttoptr(which, cgutils.voidptr_t)
    return builder.zext(builder.call(function, [address, microseconds, ir.IntType(32)(0)]), INT)


@_in_order
def unlock(builder, which):
    """Free the lock, so that who sleeps on it wakes."""
    function = cgutils.get_or_insert_function(
        builder.module, ir.FunctionType(ir.VoidType(), [cgutils.voidptr_t]), UNLOCK)
    builder.call(function, [builder.inttoptr(which, cgutils.voidptr_t)])
    return which


@intrinsic
def call_share(_, code, args, i):
    """Call share i of a job, see `job`; returns whether that failed."""
    def write(context, builder, __, values):
        kind = context.call_conv.get_function_type(_NONE, _SHARE).as_pointer()
        status, _ = context.call_conv.call_function(
            builder, builder.inttoptr(values[0], kind), _NONE, _SHARE, values[1:])
        return builder.zext(status.is_error, INT)

    return _INTP(_INTP, *_SHARE), write


@intrinsic
def job(typing, share, args):
    """A job as two integers: how to call share(i, *args), share a kernel that returns nothing, and where these
    arguments stand until the caller returns. They are tuples of arrays, arrays, whole numbers and floats."""
    kinds = tuple(args)
    called = share.get_call_type(typing, (_INTP, *kinds), {})

    def write(context, builder, _, values):
        words: list[Any] = []
        for kind, value in zip(kinds, cgutils.unpack_tuple(builder, values[1]), strict=True):
            words += _words_of(context, builder, kind, value)
        place = cgutils.alloca_once(builder, INT, size=max(len(words), 1))
        for k, word in enumerate(words):
            builder.store(word, builder.gep(place, [INT(k)]))
        code = _entry(context, builder.module, share, called, kinds)
        return cgutils.pack_array(builder, [builder.ptrtoint(code, INT), builder.ptrtoint(place, INT)])

    return numba_types.UniTuple(_INTP, 2)(share, args), write


def _words_of(context: Any, builder: Any, kind: Any, value: Any) -> list:
    """An argument as words. Of an array its address and shape: it is lent, as several threads do not count owners."""
    if isinstance(kind, Packed):
        return [builder.ptrtoint(value, INT)]
    if isinstance(kind, numba_types.Array):
        array = context.make_array(kind)(context, builder, value)
        return [builder.ptrtoint(array.data, INT), *cgutils.unpack_tuple(builder, array.shape, kind.ndim)]
    if kind == numba_types.float64:
        return [builder.bitcast(value, INT)]
    return [context.cast(builder, value, kind, _INTP)]


def _entry(context: Any, module: Any, share: Any, called: Any, kinds: tuple) -> Any:
    """The function that reads the words and calls the share."""
    digest = hashlib.sha256(str((share.dispatcher.called.symbol, kinds)).encode()).hexdigest()[:16]
    name = f"share {digest}"
    if name in module.globals:
        return module.globals[name]
    function = ir.Function(module, context.call_conv.get_function_type(_NONE, _SHARE), name)
    function.linkage = "internal"
    builder = ir.IRBuilder(function.append_basic_block())
    _, _, where, number = function.args
    place, at, values = builder.inttoptr(where, INT.as_pointer()), 0, []
    for kind, wanted in zip(kinds, called.args[1:], strict=True):
        many = 1 + kind.ndim if isinstance(kind, numba_types.Array) else 1
        words = [builder.load(builder.gep(place, [INT(at + k)])) for k in range(many)]
        values.append(_value_of(context, builder, wanted, words))
        at += many
    context.get_function(share, called)(builder, [number, *values])
    context.call_conv.return_value(builder, context.get_dummy_value())
    return function


def _value_of(context: Any, builder: Any, kind: Any, words: list) -> Any:
    """An argument of the share from its words."""
    if isinstance(kind, Packed):
        return builder.inttoptr(words[0], context.get_value_type(kind))
    if isinstance(kind, numba_types.Array):
        return borrowed(context, builder, kind, words[0], words[1:])
    return builder.bitcast(words[0], ir.DoubleType()) if kind == numba_types.float64 else words[0]
