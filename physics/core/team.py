"""Work that several threads share within one kernel.

A kernel hands out a *job*: shares 0 … count - 1, each a call of another kernel that touches what no other share of the
job does. Helpers, threads of Python that stay within one kernel and so never want the interpreter's lock, carry out as
many as they can; the thread that hands out does what is left and waits only for shares that are under way. A helper
that comes late, since other programs have its core, holds nobody up, and a program without helpers computes the same,
share by share. Two simulations at once take turns, job by job: whoever finds the team busy works alone.

Where nothing is handed out for a moment, helpers sleep. They end with the process; a child made by fork has none.
"""

import atexit
import contextlib
import os
import threading
from typing import Any

from .atomic import (
    CACHE_LINE,
    WORD,
    call_share,
    held_lock,
    increase,
    job,
    load,
    lock,
    pause,
    store,
    swap,
    ticks,
    unlock,
)
from .jit import Standing, helper, kernel

VARIABLE = "CONTACTLAB_THREADS"
MOST_THREADS = 8   # by default: a step of thousands of bodies has no more to share
SPINS = 10_000     # looks for a job before a helper sleeps: a tenth of a millisecond or more
LONG = 40_000      # looks whether shares under way are done, half a millisecond or more: a wait that long, and longer
                   # than the own work at the job, is for a helper whose core was given to another program
NAP = 50           # between looks from then on [µs]
LEAST_ALONE, MOST_ALONE = 20, 1000  # times as long as such a wait, work is done alone after it

# words, those that change together on a cache line of their own: number of the job, odd while it is handed out;
# helpers at it; 1 while a kernel hands out; the job's code and arguments, the threads that it is for, whether a share
# failed, until when work is done alone, and for how long that is [ticks]; size of the team; 1 where helpers are to
# leave; a lock that is never free
JOB, INSIDE, BUSY, CODE, SIZE = (k * CACHE_LINE for k in range(5))
ARGS, WORKERS, FAILED, UNTIL, ALONE = range(CODE + 1, CODE + 6)
LEAVE, NEVER = SIZE + 1, SIZE + 2
# and of each thread: its shares that nobody has taken, first + END end; 1 where it sleeps, and its lock
MOST_HELPERS = 15
SHARES, ASLEEP = 5 * CACHE_LINE, (6 + MOST_HELPERS) * CACHE_LINE
END = 1 << 32


@helper
def take_share(whose, me):
    """A share from those of a thread, -1 = there is none left. Each takes its own from the first on and those of others
    from the last on: so it has the same in jobs that follow one another, and in its cache."""
    place = SHARES + whose * CACHE_LINE
    while True:
        left = load(place)
        first, end = left % END, left // END
        if first >= end:
            return -1
        if swap(place, left, left + 1 if whose == me else left - END) == 1:
            return first if whose == me else end - 1


@helper
def carry_out(me):
    """Shares of the job, as long as there are some."""
    workers, code, args = load(WORKERS), load(CODE), load(ARGS)
    for k in range(workers):
        whose = me + k if me + k < workers else me + k - workers
        i = take_share(whose, me)
        while i >= 0:
            if call_share(code, args, i) != 0:
                store(FAILED, 1)
            i = take_share(whose, me)


@helper
def work_alone(now, waited):
    """From now on for a while [ticks], as a helper has held up a job: its core was given to another program within a
    share. So waits take a small part of the time. Where it happens again soon, twice as long as before."""
    alone = load(ALONE)
    alone = min(2 * alone, MOST_ALONE * waited) if now - load(UNTIL) < alone else LEAST_ALONE * waited
    store(ALONE, alone)
    store(UNTIL, now + alone)


@kernel
def hand_out(count, code, args) -> None:
    """Carry out all shares of a `job`."""
    failed = 0
    if count < 2 or load(SIZE) < 2 or swap(BUSY, 0, 1) == 0:
        for i in range(count):
            failed |= call_share(code, args, i)
    elif 0 < load(UNTIL) - ticks(0) <= load(ALONE):  # not so where the clock began anew, as after a sleep
        store(BUSY, 0)
        for i in range(count):
            failed |= call_share(code, args, i)
    else:
        workers = load(SIZE)
        store(CODE, code)
        store(ARGS, args)
        store(WORKERS, workers)
        store(FAILED, 0)
        for one in range(workers):
            store(SHARES + one * CACHE_LINE, one * count // workers + (one + 1) * count // workers * END)
        number = increase(JOB, 1) + 1
        for one in range(1, workers):
            place = ASLEEP + one * CACHE_LINE
            if load(place) == 1 and swap(place, 1, 0) == 1:
                unlock(load(place + 1))
        begin, spins = ticks(0), 0
        carry_out(0)
        store(JOB, number + 1)
        done = ticks(0)
        while load(INSIDE) > 0:
            spins = pause(spins + 1)
            if spins > LONG:
                lock(load(NEVER), NAP)
        now = ticks(0)
        if spins > LONG and now - done > done - begin:
            work_alone(now, now - done)
        failed = load(FAILED)
        store(BUSY, 0)
    if failed != 0:
        raise MemoryError("no memory for a share of the work")


_hand_out: Any = Standing(hand_out)


@helper
def share_out(count, share, args):
    """share(i, *args) for i = 0 … count - 1 in any order and several at a time. share: a kernel
    annotated to return nothing; args: tuples of arrays, arrays, integers and floats, which stay while this runs."""
    where = job(share, args)
    _hand_out(count, where[0], where[1])


@kernel
def serve(me) -> None:
    """Help with jobs until LEAVE."""
    done, spins, place = 0, 0, ASLEEP + me * CACHE_LINE
    while load(LEAVE) == 0:
        number = load(JOB)
        if number % 2 == 1 and number != done:
            increase(INSIDE, 1)
            if load(JOB) == number:  # not over: who hands out now waits
                carry_out(me)
            increase(INSIDE, -1)
            done, spins = number, 0
            continue
        spins = pause(spins + 1)
        if spins > SPINS:
            spins = 0
            store(place, 1)
            if (load(JOB) == number and load(LEAVE) == 0) or swap(place, 1, 0) == 0:
                lock(load(place + 1), -1)


_helpers: list[threading.Thread] = []
_changing = threading.Lock()
_wanted: int | None = None
_asked = False  # whether there is any work for helpers


def threads() -> int:
    """How many threads share the work of a step."""
    if _wanted is not None:
        return _wanted
    with contextlib.suppress(ValueError):
        return max(1, min(int(os.environ.get(VARIABLE, "")), MOST_HELPERS + 1))
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(cores, MOST_THREADS)


def set_threads(count: int | None) -> None:
    """From now on so many threads; None: as many as the variable of the environment says, or the machine has cores."""
    global _wanted
    _dismiss()
    _wanted = None if count is None else max(1, min(count, MOST_HELPERS + 1))
    if _asked:
        gather()


def gather() -> None:
    """Let helpers stand by, where there are to be any and are none yet."""
    global _asked
    _asked = True
    with _changing:
        if _helpers or threads() < 2:
            return
        if not WORD[NEVER]:
            WORD[NEVER] = held_lock()
        WORD[LEAVE] = 1
        serve(0)  # compiles
        WORD[LEAVE] = 0
        for me in range(1, threads()):
            place = ASLEEP + me * CACHE_LINE
            WORD[place], WORD[place + 1] = 0, WORD[place + 1] or held_lock()
            _helpers.append(threading.Thread(target=serve, args=(me,), name=f"contactlab-team-{me}", daemon=True))
        for one in _helpers:
            one.start()
        WORD[SIZE] = len(_helpers) + 1


@atexit.register
def _dismiss() -> None:
    """Let the helpers go."""
    with _changing:
        WORD[SIZE], WORD[LEAVE] = 1, 1
        for me, one in enumerate(_helpers, 1):
            _wake(me)
            one.join()
        _helpers.clear()


@kernel
def _wake(me) -> None:
    """Wake a helper that sleeps."""
    place = ASLEEP + me * CACHE_LINE
    if swap(place, 1, 0) == 1:
        unlock(load(place + 1))


def _alone() -> None:
    """In a child made by fork: whoever worked is not here."""
    global _changing
    _changing = threading.Lock()
    for k in range(len(WORD)):
        WORD[k] = 0
    _helpers.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_alone)
