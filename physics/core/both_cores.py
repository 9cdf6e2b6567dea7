"""A second thread for kernels: it does a part of the work of a large scene, on the other core.

A step is one call without Python's lock, so whoever helps it is asked within the call, by words in memory that both
threads read: the `desk`. The helper is one thread of the process, in a kernel of its own, `serve`. It waits there, for
a while looking at the desk and then asleep on one of Python's own locks, which no interpreter is needed for.

    if ask(desk, code_of(some_kernel, task), address_of(task)):   # some_kernel(task) may begin over there
        ...                                                       # the own part
        if not begun(desk): ...                                   # nobody came: the other part, too
        else: finish(desk)

Only one thread is helped at a time; all others get False and work alone. So it is in a process with one core, in a
process that another one has begun, in a fork, and while the helper is loaded. What is computed must not depend on it:
parts are chosen by what there is to do, and equal bits come out, whoever does them.
"""

import ctypes
import multiprocessing
import os
import sys
import threading
from typing import Any

import llvmlite.binding as llvm
import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic
from numba.np import arrayobj

from .jit import helper, kernel

MOST = 2           # threads that share the work of a step
PATIENCE = 20_000  # looks at a word before others get the core: some hundredths of a millisecond
LINE = 8           # words of a cache line: what both threads write stands on lines of their own
PAUSE = 200        # tasks for which the helper is not asked once others have taken its core: about a hundred steps

#: words of the desk: whether the helper is there, and whether it is wanted; whether somebody is helped now; how far the
#: task is, below; its code and address; whether the helper sleeps, and the lock it sleeps on; tasks of the pause that
#: are left; tasks that the helper has done
THERE, WANTED, TAKEN, STAGE, CODE, TASK, SLEEPS, LOCK, RESTS, HELPED, WORDS = (LINE * i for i in range(11))
IDLE, POSTED, BEGUN, DONE = range(4)

_word = ir.IntType(64)
_YIELD, _ACQUIRE, _RELEASE = (f"contactlab-{name}" for name in ("yield", "acquire", "release"))


def _address(function: Any) -> int:
    address = ctypes.cast(function, ctypes.c_void_p).value
    assert address is not None
    return address


def _yield_address() -> int:
    """The system's call that lets other threads have the core."""
    if sys.platform == "win32":
        return _address(ctypes.windll.kernel32.SwitchToThread)
    return _address(ctypes.CDLL(None).sched_yield)


llvm.add_symbol(_YIELD, _yield_address())
llvm.add_symbol(_ACQUIRE, _address(ctypes.pythonapi.PyThread_acquire_lock))
llvm.add_symbol(_RELEASE, _address(ctypes.pythonapi.PyThread_release_lock))


# ---------------------------------------------------------------------------------------- words that two threads share
def _place(context: Any, builder: Any, kind: Any, array: Any, i: Any) -> Any:
    """Address of word i of an array."""
    return builder.gep(arrayobj.make_array(kind)(context, builder, array).data, [i])


@intrinsic
def look(typing_context, words, i):
    """words[i] as the other thread has left it, with all that it wrote before."""
    def write(context, builder, signature, args):
        return builder.load_atomic(_place(context, builder, signature.args[0], *args), "acquire", 8)

    return types.int64(words, types.intp), write


@intrinsic
def tell(typing_context, words, i, value):
    """words[i] = value, for the other thread, after all that was written before."""
    def write(context, builder, signature, args):
        builder.store_atomic(args[2], _place(context, builder, signature.args[0], *args[:2]), "release", 8)
        return context.get_dummy_value()

    return types.none(words, types.intp, types.int64), write


@intrinsic
def swap(typing_context, words, i, value):
    """words[i] = value; returns what it was."""
    def write(context, builder, signature, args):
        return builder.atomic_rmw("xchg", _place(context, builder, signature.args[0], *args[:2]), args[2], "seq_cst")

    return types.int64(words, types.intp, types.int64), write


@intrinsic
def swap_if(typing_context, words, i, expected, value):
    """words[i] = value where it is as expected; returns whether it was."""
    def write(context, builder, signature, args):
        place = _place(context, builder, signature.args[0], *args[:2])
        return builder.extract_value(builder.cmpxchg(place, args[2], args[3], "seq_cst", "seq_cst"), 1)

    return types.boolean(words, types.intp, types.int64, types.int64), write


# ------------------------------------------------------------------------------------------------- code as a number
@intrinsic
def code_of(typing_context, function, task):
    """Address of the machine code of a kernel that takes one NamedTuple of arrays and returns nothing."""
    function.get_call_type(typing_context, (task,), {})  # from here on its code stands
    called = function.dispatcher.called

    def write(context, builder, signature, args):
        (compiled,) = called.overloads.values()
        kind = context.call_conv.get_function_type(compiled.signature.return_type, compiled.signature.args)
        return builder.ptrtoint(cgutils.get_or_insert_function(builder.module, kind, called.symbol), _word)

    return types.int64(function, task), write


@intrinsic
def address_of(typing_context, task):
    """Address of the packed form of a NamedTuple of arrays."""
    def write(context, builder, signature, args):
        return builder.ptrtoint(args[0], _word)

    return types.int64(task), write


@intrinsic
def run(typing_context, code, task):
    """Call the kernel of this code with the tuple at this address."""
    def write(context, builder, signature, args):
        convention, kinds = context.call_conv, (types.voidptr,)
        function = builder.inttoptr(args[0], convention.get_function_type(types.none, kinds).as_pointer())
        convention.call_function(builder, function, types.none, kinds, [builder.inttoptr(args[1], cgutils.voidptr_t)])
        return context.get_dummy_value()

    return types.none(types.int64, types.int64), write


def _foreign(symbol: str, result: Any, *kinds: Any) -> Any:
    """What calls a C function of the process."""
    def write(context, builder, signature, args):
        function = cgutils.get_or_insert_function(builder.module, ir.FunctionType(result, kinds), symbol)
        given = [builder.inttoptr(args[0], cgutils.voidptr_t), *(kind(1) for kind in kinds[1:])] if kinds else []
        builder.call(function, given)
        return context.get_dummy_value()

    return write


@intrinsic
def yield_core(typing_context):
    """Let other threads have the core."""
    return types.none(), _foreign(_YIELD, ir.IntType(32))


@intrinsic
def acquire(typing_context, lock):
    """Wait for one of Python's locks."""
    return types.none(types.int64), _foreign(_ACQUIRE, ir.IntType(32), cgutils.voidptr_t, ir.IntType(32))


@intrinsic
def release(typing_context, lock):
    """Free one of Python's locks."""
    return types.none(types.int64), _foreign(_RELEASE, ir.VoidType(), cgutils.voidptr_t)


# ------------------------------------------------------------------------------------------------------ who is helped
@helper
def wait_for(words, i, value):
    """Until words[i] is at least so much. Returns whether that was long."""
    looks = 0
    while look(words, i) < value:
        looks += 1
        if looks > PATIENCE:
            yield_core()
    return looks > PATIENCE


@helper
def wait_for_helper(desk, words, i, value):
    """Until the helper has made words[i] so much. Where that is long, others have its core: it rests for a while."""
    if wait_for(words, i, value):
        tell(desk, RESTS, PAUSE)


@helper
def ask(desk, code, task):
    """Whether the helper is free; then it is to run the kernel of this code with this task."""
    if look(desk, THERE) == 0 or look(desk, WANTED) == 0 or not swap_if(desk, TAKEN, 0, 1):
        return False
    if desk[RESTS] > 0:
        desk[RESTS] -= 1
        tell(desk, TAKEN, 0)
        return False
    desk[CODE], desk[TASK] = code, task
    swap(desk, STAGE, POSTED)
    if swap(desk, SLEEPS, 0) == 1:
        release(desk[LOCK])
    return True


@helper
def begun(desk):
    """Whether the helper has begun; if not, it never will, and `finish` is not to be called."""
    if swap_if(desk, STAGE, POSTED, IDLE):
        tell(desk, TAKEN, 0)
        return False
    return True


@helper
def finish(desk):
    """Wait until the task is done."""
    wait_for_helper(desk, desk, STAGE, DONE)
    tell(desk, STAGE, IDLE)
    tell(desk, TAKEN, 0)


@kernel
def serve(desk) -> None:
    """The helper: do what is posted, for ever."""
    tell(desk, THERE, 1)
    looks = 0
    while True:
        looks += 1
        if look(desk, STAGE) == POSTED and swap_if(desk, STAGE, POSTED, BEGUN):
            run(desk[CODE], desk[TASK])
            desk[HELPED] += 1
            tell(desk, STAGE, DONE)
            looks = 0
        elif looks > PATIENCE:
            swap(desk, SLEEPS, 1)
            if look(desk, STAGE) != POSTED or not swap_if(desk, SLEEPS, 1, 0):
                acquire(desk[LOCK])
            looks = 0


# --------------------------------------------------------------------------------------------------------- the helper
def usual_threads() -> int:
    """Threads for a step, where nobody has said how many: as many as this process has cores, at most MOST; what
    OMP_NUM_THREADS says, as for other programs; one in a process that another one has begun, with others beside it."""
    if multiprocessing.parent_process() is not None:
        return 1
    said = os.environ.get("OMP_NUM_THREADS", "")
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(int(said) if said.isdecimal() else cores, cores, MOST))


def shared_words(count: int) -> np.ndarray:
    """So many words, the first one at the begin of a cache line."""
    room = np.zeros(count + LINE, np.int64)
    return room[-(room.ctypes.data // 8) % LINE :][:count]


class Helper:
    """The helper of this process. It is there once a large scene has asked for it, and ends with the process."""

    def __init__(self) -> None:
        self.desk = shared_words(WORDS)
        self._lock = threading.Lock()
        self._called = False
        self.use(usual_threads())

    @property
    def threads(self) -> int:
        """Threads that share the work of a step."""
        return 1 + int(self.desk[WANTED])

    def use(self, threads: int) -> None:
        """From now on so many threads, one or two; the results are the same. Raises ValueError."""
        if threads not in range(1, MOST + 1):
            raise ValueError(f"threads: {threads} is not possible, only 1 or {MOST}")
        self.desk[WANTED] = threads - 1

    def come(self) -> None:
        """Be there, where more than one thread is wanted. That takes a moment; until then all work alone."""
        with self._lock:
            if self.threads == 1 or self._called:
                return
            self._called = True
            allocate, take = ctypes.pythonapi.PyThread_allocate_lock, ctypes.pythonapi.PyThread_acquire_lock
            allocate.restype = ctypes.c_void_p
            self.desk[LOCK] = allocate()
            take(ctypes.c_void_p(int(self.desk[LOCK])), 1)
            threading.Thread(target=serve, args=(self.desk,), name="second core", daemon=True).start()

    def forget(self) -> None:
        """In a fork there is no other thread."""
        self.desk[:] = 0
        self._lock, self._called = threading.Lock(), False


HELPER = Helper()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=HELPER.forget)
