"""The stages of a Moreau–Jean step, one after the other, for free bodies, trees and joints in maximal coordinates.

`advance` runs them in one call, without Python's lock. Where there is something that Python has to decide or to make
room for, it returns, and it goes on from where it was. Parts that a model does not have are never compiled.
"""

from ...books.diagnostics import total_energy
from ...books.events import UNKNOWN, find_changes
from ...books.ledger import book_forces, close_step, momenta_of, open_step
from ...collision.detection import find_contacts
from ...collision.impact_time import find_fast
from ...core.copy_in_place import copy_bodies
from ...core.jit import program
from ...core.state import Owner
from ...core.vec import put_all, put_rows
from ...dynamics.constraints.cure import PROJECTION, begin_joints, worst_joint
from ...dynamics.forces import applied_forces
from ...dynamics.free_body import pack
from ...dynamics.motion import drive
from ...dynamics.trees.jumps import mark_jumps
from ...dynamics.trees.kinematics import move_placed_links
from ...dynamics.trees.rates import pack_links
from ...integrators.stepper import runge_kutta_step
from ...problem.assemble import assemble, free_motion, match, momenta, warm_start
from ...problem.grab_row import hold, let_go
from ...problem.joint_rows import joint_rows, recall_impulses, remember_impulses
from ...problem.moments import load_moments, oppose_turning, recall_moments, remember_moments
from ...problem.parts import MANY_CONTACTS
from ...problem.shared_rows import assemble_shared
from ...problem.system import SHORT
from ...solvers.newton import solve_islands
from ..sleep import (
    asleep,
    choose_roles,
    count_still,
    find_resting,
    hold_still,
    leave_out,
    stirred_at,
    stirred_by,
)
from .books import book, book_held
from .joints import finish_joints, free_joints, mend, note_rotors, push_joints
from .stages import (
    COLD_START,
    SLOP,
    any_ahead,
    find_involved,
    go_together,
    half_drift,
    may_meet,
    note_start,
    reach,
    remember,
    remember_start,
    report_grab,
    scales_of,
    second_drift,
    separate,
    settle_contacts,
    take_free,
)
from .static_friction import MODE, TURNS, change_cones, choose_cones, end_modes, modes_changed
from .trees import end_trees, free_links, middle_of_trees, write_velocities
from .work import (
    APART,
    ASLEEP,
    BEFORE,
    BOUND,
    BOUNDED,
    CURE,
    DRIVEN,
    EVENTS,
    FIRST,
    FLIES,
    ITERATIONS,
    LENGTH,
    MADE,
    MESHES,
    NUMBER,
    OPPOSED,
    OTHER_FLIGHT,
    OTHER_SOLVER,
    SOLVER,
    SPOILT,
    SPRINGS,
    STATIC,
    SWEEPS,
    TURN,
)

#: where `advance` begins, and where Python helps: in KNOW, CONTACTS and FOUND, to make room for contacts, and in ROWS,
#: for blocks, which are gone through again then; in IMPACTS, AHEAD, SOLVE, MEET and FLY, which it does itself; in WAKE,
#: whereupon contacts are found, and REST, where islands wake and fall asleep
(BEGIN, KNOW, IMPACTS, MIDDLE, CONTACTS, FOUND, AHEAD, ROWS, SOLVE, SOLVED, DEPART, MEET, GO, FLY, END, WAKE, REST,
 DONE) = range(18)

TOLERANCE = 1e-13   # a sweep that changes no velocity by more than this ends the iteration [m/s]
TIME_STEPPING = int(Owner.TIME_STEPPING)


@program
def advance(model, state, loads, h, work, stage):
    """Advance the state by h [s] from this stage on. Returns DONE, or the stage that Python has to help with."""
    if stage == BEGIN:
        work.order[ASLEEP] = asleep(state.sleep)
        if work.order[ASLEEP] > 0 and all_sleep(model, loads, state.sleep, work):
            doze(model, state, loads, h, work)
            return DONE
        begin(model, state, work)
        stage = KNOW
    if stage == KNOW:
        if not know_contacts(model, state, h, work):
            return KNOW
        if find_fast(state.bodies, 0.5 * h, work.paths) > 0:
            return IMPACTS
        work.fraction[:] = 1.0
        stage = MIDDLE
    if stage == MIDDLE:
        go_halfway(model, state, h, work)
        stage = CONTACTS
    if stage == CONTACTS:
        if work.order[ASLEEP] > 0:
            work.order[ASLEEP] = asleep(state.sleep)
            choose_roles(model.kind, state.sleep, work.middle, work.detection.roles)
            if stirred_by(loads, work.order[NUMBER], state.sleep, work.islands) > 0:
                return WAKE
        if find_contacts(model, work.detection, work.middle.x, work.middle.q, work.margin) < 0:
            return CONTACTS
        stage = FOUND
    if stage == FOUND:
        count = int(work.detection.contacts.count[0])
        if count > len(work.fired) or count + (len(work.bounds.last) + 2) // 3 > len(state.memory.key):
            return FOUND
        if work.order[ASLEEP] > 0 and stirred_at(work.detection.contacts, state.sleep, work.islands) > 0:
            return WAKE
        move_freely(model, state, loads, h, work)
        if passes_by(h, work):
            return AHEAD
        stage = ROWS
    if stage == ROWS:
        if not make_rows(model, state, loads, h, work):
            return ROWS
        stage = SOLVE
    while stage in (SOLVE, SOLVED):
        if stage == SOLVE:
            if work.order[OTHER_SOLVER] == 1:
                return SOLVE
            solve_islands(work.system, work.order[SWEEPS], TOLERANCE, work.told[SOLVER:])
        stage = DEPART if fits(model, work) else SOLVE
    if stage == DEPART:
        depart(model, h, work)
        work.stopped[:] = 0
        if work.has[MESHES] == 1 and may_meet(work.system.motion.bodies, 0.5 * h, work.paths):
            return MEET
        stage = GO
    if stage == GO:
        choose_flight(model, state, state.sleep, h, work)
        if work.order[FLIES] == 1:
            if work.order[OTHER_FLIGHT] == 1:
                return FLY
            fly(model, state, loads, h, work)
    if stage < WAKE:
        arrive(model, state, h, work)
        tell(model, state, loads, h, work)
        book(model, state, loads, h, work.order[CURE], work)
        if work.order[ASLEEP] > 0:
            book_held(state.sleep.held, state.ledger)
        if work.still[0] > 0.0 and comes_to_rest(model, state, h, work):
            return REST
    return DONE


@program
def march(model, state, loads, h, work, page, most, until, stage):
    """Steps with the ledger opened and closed around each, from this stage of the first one on, until so many are made
    or the time `until` [s] is over. Ends after a step with events, and after one that is not finite, SPOILT. Returns as
    `advance` does; work.order[MADE] counts the steps."""
    order = work.order
    while stage != BEGIN or (order[MADE] < most and state.t[0] < until):
        if stage == BEGIN:
            open_step(model, state, page)
        stage = advance(model, state, loads, h, work, stage)
        if stage != DONE:
            return stage
        stage = BEGIN
        order[MADE] += 1
        if not close_step(model, state, work.detection.contacts, page):
            order[SPOILT] = 1
            break
        if work.told[EVENTS] > 0.0 or (work.has[STATIC] == 1 and modes_changed(work.static, work.detection.contacts)):
            break
    return DONE


# ---------------------------------------------------------------------------------------------------- approach
@program
def begin(model, state, work):
    """Note what the step begins with; joints that come apart are stopped."""
    bodies, joints, books = state.bodies, state.joints, work.books
    work.told[BEFORE] = total_energy(model, bodies, joints.q, joints.v)
    if len(books.given) > 0:
        momenta_of(bodies, books.before, books.given)
    if len(work.keeper.reactions.rows.kind) > 0:
        begin_joints(model, bodies, joints, work.order[CURE], work.keeper)


@program
def know_contacts(model, state, h, work):
    """See how far bodies can get; before the first step look for contacts. False where there is no room for these."""
    bodies = state.bodies
    work.order[ASLEEP] = asleep(state.sleep)
    choose_roles(model.kind, state.sleep, bodies, work.detection.roles)
    _, touch = scales_of(work.gravity[0], h)
    reach(model.kind, bodies, work.radius, 2.0 * touch, h, work.margin)
    work.order[FIRST] = 1 if state.memory.owner[0] != TIME_STEPPING else 0
    if work.order[FIRST] == 1:
        count = find_contacts(model, work.detection, bodies.x, bodies.q, work.margin)
        if count < 0 or count > len(work.first.key):
            return False
        remember_start(model, bodies, work.detection.contacts, work.first)
    return True


@program
def go_halfway(model, state, h, work):
    """Poses in the middle of the step, with the velocity so far."""
    t, bodies, middle, trees = state.t[0], state.bodies, work.middle, work.trees
    if len(model.trees.body) > 0 or work.has[BOUNDED] == 1:
        note_start(bodies, state.joints.v, work.start)
    if work.has[BOUND] == 1:
        go_together(work.mechanisms, work.fraction)
    half_drift(model.kind, bodies, work.fraction, h, middle)
    if work.has[DRIVEN] == 1:
        drive(model, t + 0.5 * h, middle)
    if len(model.trees.body) > 0:
        middle_of_trees(model, t, h, work.fraction, bodies, state.joints, trees, work.before.v)
        move_placed_links(model, work.before.v, work.trees.scratch.work, work.middle)
    if len(work.keeper.reactions.rows.kind) > 0:
        note_rotors(bodies, work)


@program
def passes_by(h, work):
    """Whether fast bodies may pass by what their contacts take for a wall ahead: such a contact knows one normal, and a
    ball on its way through a ring has that of the tube, which it would never reach."""
    if work.detection.contacts.count[0] == 0 or find_fast(work.middle, h, work.paths) == 0:
        return False
    _, touch = scales_of(work.gravity[0], h)
    return any_ahead(work.detection.contacts, work.mechanisms.bound, work.paths.fast, touch)


@program
def move_freely(model, state, loads, h, work):
    """Forces in the middle of the step, and velocities after it if no contact, limit, motor or mouse acted."""
    middle, force, torque, before, motion = work.middle, work.force, work.torque, work.before, work.system.motion
    put_rows(work.books.at.x, middle.x)
    if work.has[SPRINGS] == 1:
        copy_bodies(middle, work.books.at)
    applied_forces(model, loads, middle, force, torque)
    if work.order[ASLEEP] > 0:
        hold_still(state.sleep, force, torque)
    jointed = len(work.keeper.reactions.rows.kind) > 0
    if jointed:
        push_joints(model, work)
    free_motion(model, middle, force, torque, h, before, motion)
    if len(model.trees.body) > 0:
        free_links(model, loads, before.v, h, force, torque, work.trees)
        put_all(motion.v, work.trees.free)
    if jointed:
        free_joints(model, state.t[0], h, work.order[CURE], work)


@program
def make_rows(model, state, loads, h, work):
    """The rows of all that may act in this step: the mouse, limits and motors, contacts and their moments. They begin
    with the impulses of the last step. False where there is no room for all blocks."""
    order, system, approach, mechanisms = work.order, work.system, work.approach, work.mechanisms
    middle, before, contacts = work.middle, work.before, work.detection.contacts
    memory = work.first if order[FIRST] == 1 else state.memory
    scales = approach.scales
    scales[0], scales[1] = scales_of(work.gravity[0], h)
    scales[2], scales[3] = h, 0.5 if order[FIRST] == 1 else 1.0
    match(contacts, memory.count[0], memory.key, memory.shapes, memory.place, model.kind, middle.x, approach.previous)
    let_go(system)
    if loads.grab_body[0] >= 0:
        hold(model, mechanisms, middle, loads, h, system)
    if work.has[BOUNDED] == 1:
        recall_impulses(state.memory, work.bounds)
        joint_rows(model, work.bounds, state.bodies, state.joints.q, work.start, middle, before, h, mechanisms, system)
    if work.has[OPPOSED] == 1:
        oppose_turning(model, mechanisms, middle, contacts, work.lengths, system)
    system.parts.count[0] = 0
    if contacts.count[0] >= MANY_CONTACTS and work.has[BOUND] == 0:
        assemble_shared(model, mechanisms, middle, contacts, before, memory, approach, system)
    else:
        assemble(model, mechanisms, middle, contacts, before, memory, approach, system)
    if system.blocks.count[SHORT] != 0:
        return False
    if work.has[STATIC] == 1:
        choose_cones(contacts, work.static, before, approach, memory, system)
    known = warm_start(memory, approach.previous, system) if order[FIRST] == 0 else 0
    if work.has[OPPOSED] == 1:
        load_moments(system)
        if order[FIRST] == 0:
            recall_moments(memory, approach.previous, system)
    if 2 * known < system.count[0]:
        order[SWEEPS] = order[ITERATIONS] * COLD_START
    else:
        order[SWEEPS] = order[ITERATIONS]
    order[TURN] = 0
    return True


# ------------------------------------------------------------------------------------------------------- solve
@program
def fits(model, work):
    """Whether the impulses fit the cones they were found with. Where they deny the mode of a contact with static
    friction, False: all is to be solved anew, with more sweeps, which may show slip that is none, then with other
    cones, at most TURNS times."""
    if work.has[STATIC] == 0:
        return True
    order = work.order
    turn = order[TURN]
    order[TURN] = turn + 1
    if turn > TURNS:
        return True
    if turn == 0:
        order[SWEEPS] *= COLD_START
    elif turn == 1:
        order[SWEEPS] //= COLD_START
    return change_cones(work.detection.contacts, work.static, work.system, min(turn, 1)) == 0


# ------------------------------------------------------------------------------------------------------ depart
@program
def depart(model, h, work):
    """Momenta after the step, with all impulses, and what takes out overlap."""
    system, approach, middle = work.system, work.approach, work.middle
    momenta(system, work.force, work.torque, h, middle.P, middle.L)
    if len(model.trees.body) > 0:
        write_velocities(model, system.motion.v, work.trees.scratch.work, system.motion.bodies)
    if len(work.keeper.reactions.rows.kind) > 0:
        finish_joints(model, work)
    _, touch = scales_of(work.gravity[0], h)
    separate(work.detection.contacts.gap, approach.half_turn, system, SLOP * touch, h, work.need, work.need_rows,
             work.shift)


@program
def choose_flight(model, state, sleep, h, work):
    """Which bodies something may push; whether there are others, which fly."""
    system = work.system
    if len(model.trees.driven) > 0:
        mark_jumps(model, state.t[0], h, work.trees.stiff)
    involved = find_involved(model, work.mechanisms, work.trees.stiff, system, work.need, work.need_rows, work.stopped,
                             work.involved)
    if work.order[ASLEEP] > 0:
        involved += leave_out(sleep, work.involved)
    work.order[FLIES] = 1 if involved < work.moving[0] else 0


@program
def fly(model, state, loads, h, work):
    """Where bodies and trees are at the end of the step if nothing touches them."""
    flight, joints = work.flight, state.joints
    pack(state.bodies, flight.y0)
    pack_links(model.trees, joints.q, joints.v, flight.y0)
    runge_kutta_step(model, loads, flight.tableau, state.t[0], h, flight.y0, flight.k, flight.scratch, flight.bodies,
                     work.trees.flown)


@program
def arrive(model, state, h, work):
    """Poses at the end of the step: what something may push goes on from its middle, all else has flown."""
    t, bodies, kind = state.t[0], state.bodies, model.kind
    take_free(kind, work.flight.bodies, work.involved, bodies)
    second_drift(kind, model.inv_mass, model.inv_inertia, work.middle, work.shift.bodies, work.fraction, work.involved,
                 h, bodies)
    if work.has[DRIVEN] == 1:
        drive(model, t + h, bodies)
    if len(model.trees.body) > 0:
        end_trees(model, state, h, work)
    if work.order[CURE] == PROJECTION and len(work.keeper.reactions.rows.kind) > 0:
        mend(model, t, h, bodies, state.joints, work, state.ledger)
    state.t[0] = t + h


# ------------------------------------------------------------------------------------------------------- sleep
@program
def all_sleep(model, loads, sleep, work) -> bool:
    """Whether nothing is awake, nothing is driven, and nothing wakes them."""
    if work.order[ASLEEP] < work.moving[0] or work.has[DRIVEN] == 1:
        return False
    return stirred_by(loads, work.order[NUMBER], sleep, work.islands) == 0


@program
def doze(model, state, loads, h, work) -> None:
    """A step in which all sleep: time goes on, and what carries them."""
    contacts, bodies = work.detection.contacts, state.bodies
    contacts.count[0] = work.system.count[0] = 0
    work.detection.near.pair_count[0] = 0
    let_go(work.system)
    work.told[:] = 0.0
    book_forces(model, loads, bodies, bodies, h, state.ledger, work.books.given)
    book_held(state.sleep.held, state.ledger)
    report_grab(work.system, h, loads)
    state.t[0] += h


@program
def comes_to_rest(model, state, h, work) -> bool:
    """Count still steps; whether islands fall asleep, which work.islands tells."""
    speed = work.still[0] * work.approach.scales[0]
    if count_still(model.kind, state.bodies, work.shift.bodies, work.radius, work.restless, speed, h, state.sleep) == 0:
        return False
    return find_resting(model, state.bodies, work.detection.contacts, state.sleep, work.islands) > 0


# ------------------------------------------------------------------------------------------------------ report
@program
def tell(model, state, loads, h, work):
    """Events, memory and mouse spring of the step. What else can be said of it, `step.py: TimeStepping` finds when
    somebody asks."""
    memory, contacts, system, approach, told = (
        state.memory, work.detection.contacts, work.system, work.approach, work.told)
    settle_contacts(contacts, system, work.middle.x, approach, work.fired, memory)
    told[EVENTS] = find_changes(contacts, memory, approach.zeta, approach.zeta, approach.scales[0], work.books.changes)
    memory.owner[0] = TIME_STEPPING
    memory.own[: contacts.count[0], MODE] = UNKNOWN
    remember(contacts, work.fired, model.kind, work.middle.x, memory)
    if work.has[STATIC] == 1:
        end_modes(system, work.static.mode)
        for i in range(int(contacts.count[0])):
            memory.own[i, MODE] = work.static.mode[i]
    if work.has[OPPOSED] == 1:
        remember_moments(system, work.fired, memory)
    if work.has[BOUNDED] == 1:
        remember_impulses(system.blocks, work.bounds, memory)
    report_grab(system, h, loads)
    if len(work.keeper.reactions.rows.kind) > 0:
        told[APART], told[LENGTH] = worst_joint(state.bodies, work.keeper.reactions)
