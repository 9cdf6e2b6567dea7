"""The instant of an event, found by computing its step once more.

    before   at the instant, with the velocities and contacts that it finds
    at       at the instant, with the velocities and contacts that it leaves
    after    the end of the step in which it happens; from there the run goes on

`event_driven` searches its steps for instants. `compliant` dates its events, and the step is made to end there; soft
contacts change no velocity at an instant, so that before and at differ by who touches, sticks and slips alone. With
`time_stepping` an event belongs to a step: before is the beginning of the step, at and after are its end.
"""

import math
from dataclasses import dataclass, field, replace

from ..core.model import Model
from ..core.report import Settings
from ..core.state import Bodies, Contacts, JointState, State, copy_state
from ..dynamics.forces import Loads
from ..integrators import IMPLICIT, INTEGRATORS
from ..methods.compliant.explicit import Explicit
from ..methods.compliant.step import Compliant, solver_of
from ..methods.event_driven.search import PieceSearch, Trigger
from ..methods.event_driven.step import EventDriven
from ..problem.contact_snapshot import ContactSnapshot
from ..simulation.simulation import Simulation

SAME = 1e-12  # [s] two instants that differ by less are one


@dataclass
class InstantWatch:
    """Copies what a step of `event_driven` shows of one instant."""

    state: State  #: the state that the step advances
    t: float      #: the instant [s]
    seen: list[tuple[State, Contacts]] = field(default_factory=list)

    def piece(self, search: PieceSearch, trigger: Trigger | None) -> None:
        """Not recorded."""

    def instant(self, t: float, contacts: Contacts) -> None:
        """Copy the state and its contacts."""
        if abs(t - self.t) <= SAME:
            state = copy_state(self.state)
            state.t[0] = t
            self.seen.append((state, Contacts._make(a.copy() for a in contacts)))

    def impact(self, model: Model, t: float, contacts: ContactSnapshot, bodies: Bodies, joints: JointState) -> None:
        """Not recorded."""


def simulation_at(sim: Simulation, step: int, t: float, phase: str) -> Simulation:
    """A simulation at the event of `sim` at the time t [s] in step number `step`, the last step of `sim`, which is not
    changed. phase: before, at or after. ValueError where the history does not reach the step."""
    if phase == "after":
        return sim
    state, settings, loads, model = sim.before(step)
    if settings.method == "time_stepping":
        if phase == "at":
            return sim
        found = sim.elsewhere(sim.state, sim.contacts, sim.events)
        found.seek(step - 1)
        return found
    found_at = _searched if settings.method == "event_driven" else _cut
    there = found_at(state, settings, loads, model, t, phase)
    events = [e for e in sim.events if e.step < step or e.t < t - SAME or (phase == "at" and e.t <= t + SAME)]
    return sim.elsewhere(*there, events)


def _searched(state: State, settings: Settings, loads: Loads, model: Model, t: float, phase: str
              ) -> tuple[State, Contacts]:
    """What a step of `event_driven` from this state, which it advances, shows of the instant t [s]."""
    method, watch = EventDriven(model), InstantWatch(state, t)
    method.watch = watch
    method.step(state, loads, settings)
    if not watch.seen:
        raise ValueError(f"the event at t = {t:.9g} s could not be found again")
    return watch.seen[0 if phase == "before" else -1]


def _cut(state: State, settings: Settings, loads: Loads, model: Model, t: float, phase: str
         ) -> tuple[State, Contacts]:
    """What a step of `compliant` from this state, which it advances, shows of the instant t [s]. Steps of fixed
    substeps are made again up to the substep with the instant. To it contacts keep their modes in that one: a stage
    beyond it would feel those that begin there. Other steps are made to end just before the instant or just beyond."""
    method, start = Compliant(model), float(state.t[0])
    method.step(copy_state(state), loads, settings)
    if solver_of((INTEGRATORS | IMPLICIT)[settings.integrator]) is not Explicit or method.info.iterations:
        length = t - start + (-SAME if phase == "before" else SAME)
        method.step(state, loads, replace(settings, h=max(length, SAME)))
    else:
        length = settings.h / method.info.substeps
        whole = max(math.ceil((t - start - SAME) / length) - 1, 0)
        if whole:
            method.step(state, loads, replace(settings, h=whole * length, substeps=whole))
        method.held = True
        method.step(state, loads, replace(settings, h=max(t - start - whole * length - SAME, SAME), substeps=1))
        method.held = False
        if phase == "at":
            method.step(state, loads, replace(settings, h=2.0 * SAME, substeps=1))
    state.t[0] = state.surfaces.t[0] = t
    return state, method.contacts
