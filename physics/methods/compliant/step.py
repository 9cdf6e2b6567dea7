"""`compliant`: bodies with massless springy surfaces, RBDA §11.8.

    p = z   f_n = max(0, -K_n z - D_n ṗ)          while body and surface touch; ż = -(K_n z + f_n)/D_n
    p > z   f_n = 0,  z = z_0 e^(-K_n t/D_n)        the surface recovers                       [RBDA eqs. 11.73–11.76]
    f_t = -K_t x - D_t v within |f_t| <= μ f_n,   ẋ = -(K_t x + f_t)/D_t                      [RBDA eqs. 11.77–11.79]

The forces follow from positions and velocities alone, so there are no impacts and no contact problem to solve: contacts
are found anew at every stage of the integrator, and their forces go into its right-hand side. A step finds the contacts
(`contacts`), makes substeps (`explicit`, `adaptive`, `implicit`, with the right-hand side of `rates`), brings the
surfaces up to date (`settle`) and reports. An explicit integrator makes as many substeps as the stiffest contact asks
for; an adaptive one ends its substeps at contact changes; the implicit one makes one step whatever the stiffness, and
those that an explicit one cannot make. What appears deep in a shape at once has stored nothing: p counts from there
(`leaps`).

A motor that seeks a speed with a limited force closes in on it like e^(-t/T): this force, too, follows from positions
and velocities. T is a substep of an explicit integrator, the part adaptive.MOTOR_TIME of the step of an adaptive one.

What `contacts` says: gap is p of the undeformed shapes; current = the surface touches (p = z), active = it pushes.
"""

import math
from dataclasses import replace
from functools import partial
from typing import ClassVar

import numpy as np

from ...books.diagnostics import total_energy
from ...books.events import slip_events
from ...books.ledger import Account, Page, close_step, open_step
from ...core.interruption import look_up
from ...core.model import Array, Model
from ...core.report import Event, Settings, StepInfo
from ...core.state import Bodies, Contacts, JointState, State, empty_contacts
from ...dynamics.constraints.cure import ROW_OF, UNITS, JointKeeper, gain
from ...dynamics.constraints.reactions import motor_states
from ...dynamics.forces import Loads
from ...dynamics.motion import AHEAD, any_at_way_point, drive, next_way_point, rounding
from ...dynamics.trees.jumps import jump
from ...dynamics.trees.rates import TreeScratch
from ...integrators import IMPLICIT, INTEGRATORS, Integrator
from ...problem.problem import ContactProblem
from ..sleep import wake
from ..time_stepping.step import TimeStepping
from . import explicit
from .adaptive import Adaptive
from .explicit import Explicit
from .implicit import Implicit
from .march import (
    BEGIN,
    BOUNDS,
    DONE,
    END,
    MIDDLE,
    ON,
    ROOM,
    ROWS_AT_BODIES,
    ROWS_AT_STAGE,
    SPRINGS,
    advance,
    begin,
    end,
    find_surfaces,
    march,
)
from .work import (
    APART,
    ASKED,
    BEFORE,
    CURE,
    DEEPEST,
    EVENTS,
    HELD,
    LEFT,
    LENGTH,
    MADE,
    MISSING,
    OTHERWISE,
    PAIRS,
    SLIPS,
    SPOILT,
    SPRUNG,
    STABLE,
    START,
    STIFF,
    SUBSTEPS,
    SoftWorkspace,
)

DEFAULT = Settings().integrator
STAND_IN = "sdirk2"  # makes the steps for which an explicit integrator would need too many substeps
OFFERED = INTEGRATORS | IMPLICIT
#: where a step goes on after help, where that is not the stage that asked for it
GOES_ON = {SPRINGS: BOUNDS, MIDDLE: END, ROWS_AT_STAGE: ON, ROWS_AT_BODIES: ON}


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
        self.found: Contacts = empty_contacts(0)
        self.events: list[Event] = []
        self.held = False  #: a step is one substep in which contacts keep their modes, as up to the instant of an event
        self._keeper = JointKeeper(model, drives=True)
        self._space = SoftWorkspace(model, self._keeper.work)
        self.soft = self._space.soft
        self._settings: Settings | None = None  # that were asked for last
        self._courses: dict[str, Explicit | Implicit] = {}
        self._course: Explicit | Implicit  # of the integrator asked for
        self._made: Explicit | Implicit    # what made the last step
        self._info: StepInfo | None = StepInfo()

    def step(self, state: State, loads: Loads, settings: Settings) -> None:
        """Advance the state in place by settings.h [s]."""
        wake(self.model, state)
        self._ask(settings)
        course = self._course
        if isinstance(course, Explicit):
            stage = BEGIN
            while (stage := self._advance(course, state, loads, settings.h, stage)) != DONE:
                stage = self._help(stage, state, loads, settings)
        else:
            self._step_implicitly(course, state, loads, settings)
        self._tell(state)

    def march(
        self, state: State, loads: Loads, settings: Settings, page: Page, most: int, until: float,
    ) -> tuple[int, bool]:
        """See `method.py: Marching`."""
        wake(self.model, state)
        self._ask(settings)
        course, order, stage = self._course, self._space.order, BEGIN
        order[MADE] = order[SPOILT] = 0
        if not isinstance(course, Explicit):
            open_step(self.model, state, page)
            self._step_implicitly(course, state, loads, settings)
            self._tell(state)
            return 1, close_step(self.model, state, self.found, page)
        while True:
            order[LEFT] = explicit.AT_ONCE
            stage = march(self.model, state, loads, settings.h, self._space.step, course.made, page, most, until, stage)
            if stage == DONE:
                break
            stage = self._help(stage, state, loads, settings)
        self._tell(state)
        return int(order[MADE]), not order[SPOILT]

    @property
    def contacts(self) -> Contacts:
        """Of the last step."""
        return self.found

    @property
    def info(self) -> StepInfo:
        """How the last step went; found when somebody asks."""
        if self._info is None:
            self._info = self._how_it_went()
        return self._info

    def problem(self, state: State, loads: Loads, settings: Settings) -> ContactProblem:
        """The rigid contact problem of this instant: what the compliant surfaces stand in for. It is the same with
        every integrator, of which time stepping does not know the implicit ones."""
        return TimeStepping(self.model).problem(state, loads, replace(settings, integrator=DEFAULT))

    # -------------------------------------------------------------------------------------------------- the step
    def _ask(self, settings: Settings) -> None:
        """What is asked of the steps to come."""
        order = self._space.order
        if settings is not self._settings:
            stages = max(len(OFFERED[name].tableau.c) for name in (settings.integrator, STAND_IN))
            self.soft.ask(settings.law, settings.surface, stages)
            self._course = course = self._course_with(settings.integrator, settings)
            self._settings, order[CURE], order[ASKED] = settings, ROW_OF[settings.joint_cure], settings.substeps
            if isinstance(course, Explicit):
                order[SPRUNG] = course.sprung
                course.allow(settings.substeps)
        order[OTHERWISE] = self.held or isinstance(self._course, Adaptive)

    def _course_with(self, integrator: str, settings: Settings) -> Explicit | Implicit:
        """What advances with this integrator."""
        wanted, course = OFFERED[integrator], self._courses.get(integrator)
        if course is None or course.integrator is not wanted:
            made = solver_of(wanted)
            course = self._courses[integrator] = made(self.model, self.soft, self._space.books, wanted)
        course.reactions.cure[0] = gain(settings.joint_cure, settings.h)
        return course

    def _advance(self, course: Explicit, state: State, loads: Loads, h: float, stage: int) -> int:
        """From a stage of a step to the next one that needs help."""
        self._space.order[LEFT] = explicit.AT_ONCE
        return advance(self.model, state, loads, h, self._space.step, course.made, stage)

    def _help(self, stage: int, state: State, loads: Loads, settings: Settings) -> int:
        """Do what this stage needs; from which stage the step then goes on."""
        order, course, soft = self._space.order, self._course, self.soft
        assert isinstance(course, Explicit)
        if stage == ROOM:
            soft.make_room(int(state.surfaces.count[0]))
        elif stage == END:
            soft.make_room_in(state)
        elif stage == SPRINGS:
            course.find_joint_rates(state.bodies)
        elif stage == BOUNDS:
            course.learn(int(order[MISSING]))
        elif stage == MIDDLE:
            self._make_middle(state, loads, settings)
        else:
            look_up()
            if stage == ROWS_AT_STAGE:
                soft.look(course.middle)
            if stage != ON:
                soft.look(state.bodies)
        return GOES_ON.get(stage, stage)

    def _make_middle(self, state: State, loads: Loads, settings: Settings) -> None:
        """What leads from the beginning of a step to its end other than substeps of one length: error control; or the
        implicit integrator, where these would be too many."""
        course, stable = self._course, float(self._space.told[STABLE])
        if self._space.order[STIFF]:
            course = self._course_with(STAND_IN, settings)
        course.stable, self._made = stable, course
        self._advance_over_jumps(course, state, loads, settings)

    def _advance_over_jumps(self, course: Explicit | Implicit, state: State, loads: Loads, settings: Settings) -> None:
        """Over a step in which bodies may be at way points, where their speed jumps and joints pass that on: it ends
        before each and goes on after it."""
        model, bodies, joints, asked = self.model, state.bodies, state.joints, settings.substeps
        start, end, substeps, motions = float(state.t[0]), float(state.t[0]) + settings.h, 0, model.motions
        if not any_at_way_point(motions, start, settings.h):
            course.advance(bodies, joints, loads, asked, start, settings.h)
            return
        while (at := next_way_point(motions, start)) <= end + rounding(motions, end):
            before = max(at - AHEAD * rounding(motions, at), start)
            if before > start:
                course.advance(bodies, joints, loads, asked, start, before - start)
                substeps += course.substeps
            self._jump(bodies, joints, course.trees, before, at, state.ledger)
            course.begin_at(joints)
            start = at
        if start < end:
            course.advance(bodies, joints, loads, asked, start, end - start)
            substeps += course.substeps
        course.substeps = substeps

    def _jump(self, bodies: Bodies, joints: JointState, trees: TreeScratch, before: float, at: float,
              ledger: Array) -> None:
        """The jump at a way point at this time [s], next to nothing after `before`, and its work."""
        model = self.model
        energy = total_energy(model, bodies, joints.q, joints.v)
        drive(model, at, bodies)
        if len(model.trees.driven):
            jump(model, before, at - before, 1.0, 1.0, bodies, joints, trees)
        if self._keeper.any:
            self._keeper.hold(bodies, joints)
        ledger[Account.DRIVEN, 0] += total_energy(model, bodies, joints.q, joints.v) - energy

    def _step_implicitly(self, course: Implicit, state: State, loads: Loads, settings: Settings) -> None:
        """A step by an implicit integrator."""
        space, h = self._space, settings.h
        begin(self.model, state, space.step)
        while not find_surfaces(self.model, state, h, space.step):
            self.soft.make_room(int(state.surfaces.count[0]))
        course.stable, self._made, space.order[STIFF] = math.inf, course, 0
        self._advance_over_jumps(course, state, loads, settings)
        while not end(self.model, state, h, space.step):
            self.soft.make_room_in(state)

    # ---------------------------------------------------------------------------------------------------- report
    def _tell(self, state: State) -> None:
        """Contacts and events of the last step."""
        space, order, told, course = self._space, self._space.order, self._space.told, self._course
        if isinstance(course, Explicit) and not order[STIFF] and not order[OTHERWISE]:
            course.substeps, course.even, course.stable, self._made = int(order[SUBSTEPS]), True, told[STABLE], course
        self.found, self.events, self._info = self.soft.contacts, [], None
        if not order[EVENTS] and not order[SLIPS]:
            return
        t, ends = float(state.t[0]), (float(told[BEFORE]), total_energy(self.model, state.bodies, *state.joints))
        events = space.finder.events(
            int(order[EVENTS]), self.found, state.bodies, partial(self.soft.instant, end=t), *ends)
        events += slip_events(self.found, *self.soft.slips(t), *ends)
        if events:
            self.events = _at_their_instants(events, self._made, (float(told[START]), t), ends)

    def _how_it_went(self) -> StepInfo:
        """What is known of the step as long as no other one is made."""
        made, settings, order, told = self._made, self._settings, self._space.order, self._space.told
        assert settings is not None
        status = made.status
        if isinstance(made, Explicit) and made.even and settings.h > made.stable * made.substeps:
            status = f"{made.substeps} {'substeps are' if made.substeps > 1 else 'substep is'} too few"
        if order[STIFF] and status == "solved":
            needs = f"would need {settings.h / made.stable:.0e} substeps"
            status = f"implicit steps, as {settings.integrator} {needs}" if made.stable > 0.0 else (
                f"implicit steps, as no substeps of {settings.integrator} are short enough")
        return StepInfo(
            residual=made.residual, iterations=made.iterations, status=status, contacts=int(self.found.count[0]),
            pairs=int(order[PAIRS]), penetration=float(told[DEEPEST]), substeps=made.substeps,
            stable_step=float(made.stable), stored=float(told[HELD]),
            dissipated=float(self.soft.surfaces.dissipated[0]),
            joint_error=float(told[APART]) if self._keeper.any else 0.0,
            joint_unit=UNITS[int(told[LENGTH])] if self._keeper.any else "m", motors=motor_states(made.reactions))


def _at_their_instants(events: list[Event], made: Explicit | Implicit, span: tuple[float, float],
                       ends: tuple[float, float]) -> list[Event]:
    """The events of a step over span [s], in order, with the energy of the system at their instants. It is continuous,
    so it is the same before and after; it follows on straight lines between the instants that `made` has and the
    ends of the step, with `ends` [J]."""
    times, energies = made.energies(span[0], span[1] - span[0])
    times, energies = (np.concatenate([first, some, last]) for first, some, last in (
        ([span[0]], times, [span[1]]), ([ends[0]], energies, [ends[1]])))
    found = []
    for event in sorted(events, key=lambda event: event.t):
        here = float(np.interp(event.t, times, energies))
        found.append(event._replace(energy_before=here, energy_after=here))
    return found
