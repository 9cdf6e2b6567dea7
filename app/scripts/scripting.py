"""The window for scripts: `view` opens it on a simulation that a script has made."""

from __future__ import annotations

import signal
import sys
from time import perf_counter

from ...physics import Simulation
from ...physics.run.script import Panel, Script, Step, simulation_given
from ..stopping import Stopped
from ..window_needed import window_opener


def view(sim: Simulation, step: Step | None = None, panel: Panel | None = None) -> None:
    """Open the window on a simulation, and return when the user closes it.

    step: a function that is called with the simulation before each of its steps, say a controller that reads it and
    puts forces on it; else the controller that `sim` has. It runs on the physics thread. Where it fails, the run pauses
    and the window shows the line; the next Play goes on. A step that is made again (the time line, one step back) does
    not call it: its forces are recorded. Backspace leads back to where the simulation was handed over. In a comparison
    it is called for every side.
    panel: controls that the script has declared, and what it plots, writes and draws.

    Afterwards the simulation stands where the user left it. Raises Unavailable where no window can be opened, and
    RuntimeError where `step` does not return within a minute after the window is closed.
    """
    simulation_given(sim)
    open_window = window_opener()
    before, switch = (sim.controller, sim.force_law, sim.history), sys.getswitchinterval()
    sim.begin_here()
    try:
        open_window(sim.scene, script=Script(sim, step, panel, perf_counter))
    except Stopped as stopped:
        raise (KeyboardInterrupt if stopped.status == 128 + signal.SIGINT else SystemExit(stopped.status)) from None
    finally:
        sim.controller, sim.force_law, sim.history = before
        sys.setswitchinterval(switch)
