"""Claims about two threads that share a step: the results are those of one thread, to the last bit."""

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from contactlab.physics import Scene, Simulation
from contactlab.physics.core.both_cores import HELPED, HELPER, RESTS, THERE
from contactlab.physics.core.interruption import Interrupted, interruptible

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))
from piles import pile

LONGEST = 300.0  # [s] in which the helper is loaded, or compiled beside others
STEPS = 30
KINDS = ["boxes", "hulls", "spheres", "capsules"]


def large(kind: str) -> Simulation:
    """A pile of 300 in a bin that has come to lie, more or less: 1.5 s of falling, on one thread."""
    HELPER.use(1)
    sim = Simulation(Scene.from_dict(pile(kind, 300)))
    for _ in range(360):
        sim.step()
    return sim


@pytest.fixture(autouse=True)
def one_thread_again():
    """Other tests go on as they were."""
    before = HELPER.threads
    yield
    HELPER.use(before)


def helped(sim: Simulation) -> None:
    """From now on by two threads, as soon as the helper is there."""
    HELPER.use(2)
    HELPER.come()
    end = time.monotonic() + LONGEST
    while not HELPER.desk[THERE] and time.monotonic() < end:
        time.sleep(0.01)
    assert HELPER.desk[THERE]


def bits(sim: Simulation) -> bytes:
    """All that the run has come to: bodies, and contacts with their impulses."""
    bodies, contacts = sim.state.bodies, sim.contacts
    count = int(contacts.count[0])
    return b"".join(a.tobytes() for a in (*bodies, contacts.point[:count], contacts.gap[:count], contacts.lam[:count]))


def steps(sim: Simulation, count: int = STEPS) -> list[bytes]:
    """All states of so many steps. The helper is asked in each, even where others had its core just now."""
    found = []
    for _ in range(count):
        HELPER.desk[RESTS] = 0
        sim.step()
        found.append(bits(sim))
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_a_pile_moves_by_two_threads_as_by_one_to_the_last_bit(kind):
    sim = large(kind)
    saved = sim.save()
    alone = steps(sim)
    helped(sim)
    before = int(HELPER.desk[HELPED])
    sim.restore(saved)
    assert steps(sim) == alone
    assert HELPER.desk[HELPED] > before  # it did take part


def test_two_simulations_in_two_threads_at_once_move_as_alone():
    """One of them is helped at a time."""
    sims = [large("boxes"), large("hulls")]
    saved = [sim.save() for sim in sims]
    alone = [steps(sim) for sim in sims]
    helped(sims[0])
    found: list = [None, None]

    def go(i: int) -> None:
        found[i] = steps(sims[i])

    for sim, start in zip(sims, saved, strict=True):
        sim.restore(start)
    threads = [threading.Thread(target=go, args=(i,)) for i in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == alone


def test_a_run_that_was_interrupted_goes_on_by_two_threads_as_by_one():
    sim = large("boxes")
    saved = sim.save()
    alone = steps(sim)
    helped(sim)
    for looks in range(3):
        sim.restore(saved)
        left = iter(range(looks))
        with interruptible(lambda left=left: next(left, None) is None):
            try:
                for _ in range(5):
                    sim.step()
            except Interrupted:
                pass
        sim.restore(saved)
        assert steps(sim) == alone


def test_of_threads_one_or_two_are_possible():
    with pytest.raises(ValueError, match="threads: 3 is not possible, only 1 or 2"):
        HELPER.use(3)


SCRIPT = """
import os, sys, threading, time
sys.path.insert(0, sys.argv[1])
from piles import pile
from contactlab.physics import Scene, Simulation
from contactlab.physics.core.both_cores import HELPER, THERE
HELPER.use(2)
sim = Simulation(Scene.from_dict(pile("boxes", 300)))
sim.step()
while not HELPER.desk[THERE]:
    time.sleep(0.01)
{end}
"""
ENDS = {
    "while a step runs": "threading.Thread(target=lambda: [sim.step() for _ in range(100000)], daemon=True).start()\n"
                         "time.sleep(0.2)",
    "at rest": "time.sleep(0.05)",
    "after a fork": "child = os.fork()\n[sim.step() for _ in range(5)]\n"
                    "if child == 0:\n    os._exit(7 if HELPER.threads == 1 else 8)\n"
                    "assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7",
}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks here")
@pytest.mark.parametrize("end", ENDS)
def test_a_process_with_a_helper_ends(end):
    """At rest, in the middle of a step, and one that was forked from it, which works alone."""
    folder = str(Path(__file__).parents[1] / "benchmarks")
    done = subprocess.run([sys.executable, "-c", SCRIPT.format(end=ENDS[end]), folder], timeout=LONGEST,
                          capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
