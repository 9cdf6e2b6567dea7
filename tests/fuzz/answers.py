"""What counts as an answer: a scene or sentences, in time, in memory, without a nan that nobody mentions."""

import pathlib
import time

import numpy as np

from contactlab.physics import SceneError, Simulation
from contactlab.physics.scene.refusals import MOST_LINES
from contactlab.physics.simulation.failure import CannotStep

PATIENCE = 10.0          # for one answer [s] of processor time
MOST_MEMORY = 2 * 2**30  # for one answer, beyond what the tests before it hold [bytes]
FAULT = "fault of this program"


def memory(what):
    """"VmRSS", what the process holds, or "VmHWM", the most that it held since its peak was forgotten [bytes]."""
    (line,) = (line for line in pathlib.Path("/proc/self/status").read_text().splitlines() if line.startswith(what))
    return int(line.split()[1]) * 1024


def in_time(task):
    """What `task` returns. One that is late is done again: the first time may have compiled kernels."""
    pathlib.Path("/proc/self/clear_refs").write_text("5")  # forget the peak
    start, held = time.process_time(), memory("VmRSS")
    found = task()
    if time.process_time() - start > PATIENCE:
        start = time.process_time()
        found = task()
        assert time.process_time() - start < PATIENCE
    assert memory("VmHWM") - held < MOST_MEMORY
    return found


def answer(attempt):
    """What `attempt` returns and "", or None and the sentences of its refusal. No other error leaves it."""
    def task():
        try:
            return attempt(), ""
        except SceneError as error:
            assert FAULT not in str(error), error
            assert len(str(error).split("\n")) <= MOST_LINES
            return None, str(error)

    return in_time(task)


def run(scene, method, steps):
    """Make steps; "", or why one was refused. What a step leaves is finite."""
    try:
        sim = Simulation(scene, method=method)
    except ValueError as refused:  # the method is not for this scene
        return str(refused)

    def step():
        sim.restore(before)
        try:
            sim.step()
        except CannotStep as error:
            assert FAULT not in str(error), error
            return str(error)
        return ""

    for _ in range(steps):
        before = sim.save()
        if why := in_time(step):
            return why
        contacts, energy = sim.contacts, sim.energy()
        for array in (*sim.state.bodies, *sim.state.joints, contacts.point, contacts.gap, contacts.lam):
            assert np.isfinite(array).all()
        assert np.isfinite([energy.kinetic, energy.potential, energy.spring]).all()
    return ""
