"""`compliant`: bodies with massless springy surfaces, RBDA §11.8.

    p = z   f_n = max(0, -K_n z - D_n ṗ)          while body and surface touch; ż = -(K_n z + f_n)/D_n
    p > z   f_n = 0,  z = z_0 e^(-K_n t/D_n)        the surface recovers                       [RBDA eqs. 11.73–11.76]
    f_t = -K_t x - D_t v within |f_t| <= μ f_n,   ẋ = -(K_t x + f_t)/D_t                      [RBDA eqs. 11.77–11.79]

The forces follow from positions and velocities alone, so there are no impacts and no contact problem to solve: contacts
are found anew at every stage of the integrator, and their forces go into its right-hand side. A step finds the contacts
(`contacts`), makes substeps (`explicit`, `adaptive`, `implicit`, with the right-hand side of `rates`), brings the
surfaces up to date (`settle`) and reports. An explicit integrator makes as many substeps as the stiffest contact asks
for; an adaptive one ends its substeps at contact changes; the implicit one makes one step whatever the stiffness, and
those that an explicit one cannot make.

A motor that seeks a speed with a limited force closes in on it like e^(-t/T): this force, too, follows from positions
and velocities. T is a substep of an explicit integrator, the part adaptive.MOTOR_TIME of the step of an adaptive one.

What `contacts` says: gap is p of the undeformed shapes; current = the surface touches (p = z), active = it pushes.
"""

from dataclasses import replace
from functools import partial
from typing import ClassVar

import numpy as np

from ...books.diagnostics import total_energy
from ...books.events import EventFinder, slip_events
from ...books.ledger import Account
from ...core.model import Array, BoolArray, Model, body_count
from ...core.report import Event, Settings, StepInfo
from ...core.state import ContactMemory, Contacts, Owner, State, empty_contacts, grow_memory
from ...dynamics.constraints.cure import JointKeeper, gain
from ...dynamics.constraints.limit_springs import stop_energy, stops_of
from ...dynamics.constraints.reactions import motor_states
from ...dynamics.forces import Loads
from ...integrators import IMPLICIT, INTEGRATORS, Integrator
from ...problem.problem import ContactProblem
from ..time_stepping.stages import reach, remember
from ..time_stepping.step import TimeStepping
from .adaptive import Adaptive
from .books import SoftBooks
from .contacts import SoftContacts
from .explicit import Explicit
from .implicit import Implicit
from .settle import report

REST_SPEED = 2.0  # largest speed that counts as rest, in units of g h
ZETA = 0  # column of ContactMemory.own: ζ at the end of the step [m/s]
ZERO_MOTION = 1e-6  # [m] and [m/s] lengths and speeds that count as zero even without gravity
DEFAULT = Settings().integrator
STAND_IN = "sdirk2"  # makes the steps for which an explicit integrator would need too many substeps


def solver_of(integrator: Integrator) -> type[Explicit] | type[Implicit]:
    if integrator.implicit:
        return Implicit
    return Adaptive if integrator.adaptive else Explicit


class Compliant:
    """METHODS["compliant"]. Holds scratch memory only; all that matters later is in the State."""

    title: ClassVar[str] = "Compliant surfaces (soft)"
    uses: ClassVar[frozenset[str]] = frozenset({"law", "surface", "substeps", "joint_cure"})

    def __init__(self, model: Model) -> None:
        """ValueError where two rigid materials can touch."""
        self.model = model
        self.soft = SoftContacts(model)
        self.found: Contacts = empty_contacts(0)
        self.info = StepInfo()
        self.events: list[Event] = []
        self.held = False  #: a step is one substep in which contacts keep their modes, as up to the instant of an event
        self._courses: dict[str, Explicit | Implicit] = {}
        self._books, self._stops, self._keeper = SoftBooks(model), stops_of(model), JointKeeper(model, drives=True)
        self._finder = EventFinder(model)
        self._margin, span = np.zeros(body_count(model)), self.soft.detector.span
        self._span = np.where(np.isfinite(span), span, 0.0)  # of bounded shapes about the centre of mass [m]
        self._gravity = float(np.linalg.norm(model.gravity))
        self._before = np.zeros((2, body_count(model), 3))  # v and ω at the beginning of the step

    def step(self, state: State, loads: Loads, settings: Settings) -> None:
        """Advance the state in place by settings.h [s]."""
        h, model, soft = settings.h, self.model, self.soft
        energy_before = total_energy(model, state.bodies, *state.joints)
        self._keep_joints(state, settings, energy_before)
        self._find_contacts(state, settings)
        course, too_stiff = self._course_of_step(state, settings)
        self._books.begin(state, course.books)
        self._before[:] = state.bodies.v, state.bodies.w
        stops, spent = self._stop_energy(state), float(soft.surfaces.dissipated[0])
        stored = soft.stored() + stops
        if self.held and isinstance(course, Explicit):
            course.hold(state.bodies, state.joints, loads, float(state.t[0]), h)
        else:
            course.advance(state.bodies, state.joints, loads, settings.substeps, float(state.t[0]), h)
        state.t[0] += h
        if settings.joint_cure == "projection":
            self._keeper.mend(state.bodies, state.joints, settings.joint_cure)
        # limits took what they stored at first, less what they store now, less what their forces did
        taken = stops - self._stop_energy(state) - float(course.books.ledger[Account.LIMITS, 0])
        soft.surfaces.dissipated[0] += taken
        self._report(state, course, h, energy_before)
        if too_stiff and course.status == "solved":
            self.info = replace(self.info, status=f"implicit steps, as {too_stiff}")
        self._books.end(state, course.books, stored, self.info.stored, self.info.dissipated - spent - taken, taken)

    @property
    def contacts(self) -> Contacts:
        """Of the last step."""
        return self.found

    def problem(self, state: State, loads: Loads, settings: Settings) -> ContactProblem:
        """The rigid contact problem of this instant: what the compliant surfaces stand in for. It is the same with
        every integrator, of which time stepping does not know the implicit ones."""
        return TimeStepping(self.model).problem(state, loads, replace(settings, integrator=DEFAULT))

    def _course_of_step(self, state: State, settings: Settings) -> tuple[Explicit | Implicit, str]:
        """What makes this step: the integrator asked for; or the implicit one, and why."""
        course = self._course_with(settings.integrator)
        too_stiff = course.begin(state.bodies, state.joints, settings.substeps, settings.h)
        if too_stiff:
            stable, course = course.stable, self._course_with(STAND_IN)
            course.begin(state.bodies, state.joints, settings.substeps, settings.h)
            course.stable = stable
        course.reactions.cure[0] = gain(settings.joint_cure, settings.h)
        return course, too_stiff

    def _course_with(self, integrator: str) -> Explicit | Implicit:
        """What advances with this integrator."""
        wanted, course = (INTEGRATORS | IMPLICIT)[integrator], self._courses.get(integrator)
        if course is None or course.integrator is not wanted:
            course = self._courses[integrator] = solver_of(wanted)(self.model, self.soft, wanted)
        return course

    def _find_contacts(self, state: State, settings: Settings) -> None:
        """Contacts that the bodies may make within the step, and their surfaces as the state remembers them."""
        first = state.surfaces.t[0] != state.t[0]  # another method has been at work
        offered = INTEGRATORS | IMPLICIT
        stages = max(len(offered[name].tableau.c) for name in (settings.integrator, STAND_IN))
        self._reach(state, settings.h)
        self.soft.begin(state, settings.law, settings.surface, stages, self._margin)
        if first:
            self.soft.settle(state.bodies, float(state.t[0]), exact=0)

    def _keep_joints(self, state: State, settings: Settings, before: float) -> None:
        """Take up a cure for joints in maximal coordinates; velocities that they do not allow end at once. before: the
        energy [J]."""
        if self._keeper.begin(state.bodies, state.joints, settings.joint_cure):
            done = total_energy(self.model, state.bodies, *state.joints)
            state.ledger[Account.JOINTS, 0] += done - before

    def _stop_energy(self, state: State) -> float:
        """Energy stored in the stops of joints [J]."""
        if not len(self._stops.dent):
            return 0.0
        return float(stop_energy(self.model, self._stops, state.bodies, state.joints.q))

    def _reach(self, state: State, h: float) -> None:
        """How far each body may get within the step."""
        reach(self.model.kind, state.bodies, self._span, self._gravity * h**2 + ZERO_MOTION, h, self._margin)

    def _report(self, state: State, course: Explicit | Implicit, h: float, energy_before: float) -> None:
        """Contacts, events and memory of the step."""
        model, soft, memory, bodies = self.model, self.soft, state.memory, state.bodies
        rest_speed = REST_SPEED * self._gravity * h + ZERO_MOTION
        self.found, count = soft.contacts, int(soft.contacts.count[0])
        approach, parting, zeros = np.zeros(count), np.zeros(count), np.zeros(count, np.int32)
        deepest = report(model, soft.system, bodies, self._before, rest_speed, h, approach, parting)
        _leave_rebound_out(self.found, parting, rest_speed, memory)
        energy_after = total_energy(model, bodies, *state.joints)
        self.events = self._finder.find(
            _with_late_touches(self.found, approach < -rest_speed), memory, (approach, parting), rest_speed, bodies,
            partial(soft.instant, end=float(state.t[0])), energy_before, energy_after)
        self.events += slip_events(self.found, *soft.slips(float(state.t[0])), energy_before, energy_after)
        if self.events:
            self.events = _at_their_instants(self.events, course, (float(state.t[0]) - h, float(state.t[0])),
                                             (energy_before, energy_after))
        grow_memory(memory, count)
        memory.owner[0] = Owner.COMPLIANT
        remember(self.found, zeros, model.kind, bodies.x, memory)
        memory.own[:count, ZETA] = self.found.zeta[:count]
        soft.end(state)
        stored = soft.stored() + self._stop_energy(state)
        apart, unit = self._keeper.error(bodies)
        self.info = StepInfo(
            residual=course.residual, iterations=course.iterations, status=course.status, contacts=count,
            pairs=soft.detector.pair_count, penetration=float(deepest), substeps=course.substeps,
            stable_step=course.stable, stored=stored, dissipated=float(soft.surfaces.dissipated[0]),
            joint_error=apart, joint_unit=unit, motors=motor_states(course.reactions))


def _leave_rebound_out(contacts: Contacts, parting: Array, rest_speed: float, memory: ContactMemory) -> None:
    """A soft pair separates while it still touches. What it did so at the end of the last step is taken off the speeds
    (c,) of `find_changes` at which pairs part."""
    for i in np.flatnonzero(parting > rest_speed).tolist():
        mine = (memory.shapes[: memory.count[0]] == (contacts.shape_a[i], contacts.shape_b[i])).all(axis=1)
        mine &= memory.touching[: len(mine)] == 1
        parting[i] -= memory.own[: len(mine), ZETA][mine].max(initial=0.0)


def _with_late_touches(contacts: Contacts, hit: BoolArray) -> Contacts:
    """The contacts as they are read for events: of those that were hit (c,), the ones that touch only as the step ends
    have no impulse yet. They carry all the same, or their impact would be told as a gain."""
    late = hit & (contacts.current[: len(hit)] == 1) & (contacts.lam[: len(hit)] == 0.0)
    if not late.any():
        return contacts
    lam = contacts.lam.copy()
    lam[: len(hit)][late] = np.inf
    return contacts._replace(lam=lam)


def _at_their_instants(events: list[Event], course: Explicit | Implicit, span: tuple[float, float],
                       ends: tuple[float, float]) -> list[Event]:
    """The events of a step over span [s], in order, with the energy of the system at their instants. It is continuous,
    so it is the same before and after; it follows on straight lines between the instants that the course has and the
    ends of the step, with `ends` [J]."""
    times, energies = course.energies()
    times, energies = (np.concatenate([first, some, last]) for first, some, last in (
        ([span[0]], times, [span[1]]), ([ends[0]], energies, [ends[1]])))
    found = []
    for event in sorted(events, key=lambda event: event.t):
        here = float(np.interp(event.t, times, energies))
        found.append(replace(event, energy_before=here, energy_after=here))
    return found
