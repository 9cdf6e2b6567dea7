"""A contact and its law over the last steps: gap, velocities and forces, found by making these steps once more.

Soft contacts last for a few steps only. Their steps are also made in FINE parts, each from the recorded state at its
beginning, so that force over depth is a curve: the area within is the energy that the contact takes along its normal,

    E = -∫ λ φ̇ dt = ∫ λ dδ,   δ = -φ                                                             [RBDA §11.8]
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..core.interruption import look_up
from ..core.language import N_
from ..core.model import Array, BoolArray
from ..core.report import Settings
from ..core.state import Contacts, State, copy_state
from ..dynamics.forces import Loads
from ..methods import METHODS
from ..methods.method import Method
from ..simulation.simulation import Simulation
from .acceleration_graph import AccelerationGraph

STEPS, STEPS_RUNNING = 120, 24  # that are made again, at most; and while the scene runs
FINE = 8                        # parts of a step with soft contacts
T, GAP, ZETA, LAM, FRICTION_1, FRICTION_2, SLIP, DEEPER = range(8)  #: columns of `LawView.points`


@dataclass(frozen=True, slots=True)
class LawView:
    """One contact over the last steps."""

    key: int
    bodies: tuple[int, int]
    soft: bool        #: a compliant surface
    friction: float   #: μ, where it was seen last
    points: Array     #: (k, 8) t [s], φ [m], ζ [m/s], λ [N], friction f_1 and f_2 [N], slip [m/s], and by how much φ
                      #: has fallen since the point before [m], oldest first. Forces are means since then, but for
                      #: `event_driven`
    begins: BoolArray  #: (k,) whether the contact was not there before, so that no line leads to this point
    graph: AccelerationGraph | str = ""  #: ζ̇ over force now, or why there is none; "" for soft contacts

    @property
    def loop(self) -> NDArray[np.intp]:
        """Rows of `points` of the last press: from where λ begins to where it ends, or to now."""
        pressed = self.points[:, LAM] > 0.0
        rows = np.flatnonzero(pressed)
        if not len(rows):
            return rows
        gaps = np.flatnonzero(~pressed[: rows[-1]] | self.begins[: rows[-1]])
        first = int(gaps[-1]) if len(gaps) else int(rows[0])
        return np.arange(first, min(int(rows[-1]) + 2, len(pressed)))

    @property
    def area(self) -> float:
        """∫ λ dδ over the last press [J]: each mean force times the way on which it acted."""
        return float(self.points[self.loop, LAM] @ self.points[self.loop, DEEPER])


def look_at_law(sim: Simulation, key: int, running: bool) -> LawView | str:
    """The contact with this key, or where there was none the one that was pressed hardest; or why there is nothing."""
    last = sim.step_count
    first = max(sim.reachable()[0], last - (STEPS_RUNNING if running else STEPS))
    if first == last:
        return N_("No step has been made yet.")
    assert sim.history is not None  # else no step could be reached
    keyframe, settings, seen = sim.history.keyframe(first), sim.settings, []
    state, model = keyframe.state, sim.model
    method, parts = METHODS[settings.method](model), METHODS[settings.method](model)
    for step in range(keyframe.step, last):
        look_up()
        now, loads = sim.inputs(step)
        if now != settings:
            settings, model = now, sim.before(step + 1)[3]
            method, parts = METHODS[settings.method](model), METHODS[settings.method](model)
        if step >= first and settings.method == "compliant":
            seen += _fine(parts, copy_state(state), settings, loads)
        method.step(state, loads, settings)
        if step >= first and settings.method != "compliant":
            seen.append((float(state.t[0]), _copied(method.contacts)))
    forces: dict[int, float] = {}
    for _, contacts in seen:
        for k, lam in zip(contacts.key.tolist(), contacts.lam.tolist(), strict=True):
            forces[k] = max(forces.get(k, 0.0), lam)
    if not forces:
        return N_("Nothing has touched in the last steps.")
    return _view(key if key in forces else max(forces, key=lambda k: forces[k]), seen, settings)


def _fine(method: Method, state: State, settings: Settings, loads: Loads) -> list[tuple[float, Contacts]]:
    """A step in parts."""
    seen, part = [], replace(settings, h=settings.h / FINE)
    for _ in range(FINE):
        method.step(state, loads, part)
        seen.append((float(state.t[0]), _copied(method.contacts)))
    return seen


def _copied(contacts: Contacts) -> Contacts:
    """The valid rows."""
    count = int(contacts.count[0])
    return Contacts._make([contacts.count.copy(), *(column[:count].copy() for column in contacts[1:])])


def _view(key: int, seen: list[tuple[float, Contacts]], settings: Settings) -> LawView:
    rows, begins, before, there, last = [], [], False, None, (0.0, 0.0)
    for t, contacts in seen:
        row = np.flatnonzero(contacts.key == key)
        if len(row):
            i = int(row[0])
            one, two = tangents(contacts.normal[i])
            f, gap, zeta = contacts.friction_force[i], contacts.gap[i], contacts.zeta[i]
            deeper = last[1] - gap if before else -zeta * (t - last[0])
            rows.append((t, gap, zeta, contacts.lam[i], f @ one, f @ two, contacts.slip[i], deeper))
            begins.append(not before)
            there = (int(contacts.body_a[i]), int(contacts.body_b[i])), float(contacts.friction[i])
        before, last = bool(len(row)), (t, float(contacts.gap[row[0]]) if len(row) else 0.0)
    assert there is not None
    return LawView(key, there[0], settings.method == "compliant", there[1], np.array(rows, float), np.array(begins))


def tangents(normal: Array) -> tuple[Array, Array]:
    """Two unit vectors (3,) that make a right-handed frame with a normal: the first one in the plane of the normal and
    x, or y where the normal is nearer to x."""
    axis = np.array([1.0, 0.0, 0.0]) if abs(normal[0]) < 0.8 else np.array([0.0, 1.0, 0.0])
    one = axis - (axis @ normal) * normal
    one /= np.linalg.norm(one)
    return one, np.cross(normal, one)
