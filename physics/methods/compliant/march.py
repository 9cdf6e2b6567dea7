"""The stages of a step of `compliant`, one after the other.

`advance` runs them in one call, without Python's lock, where an explicit integrator makes substeps of one length. Where
there is something that Python has to decide or to make room for, it returns, and it goes on from where it was. Other
integrators make the middle of the step from Python, and share its beginning and its end.
"""

import math

from ...books.carried import jump_at_end, jump_at_start
from ...books.diagnostics import total_energy
from ...books.events import find_changes
from ...books.ledger import JOINTS, LIMITS, close_step, open_step
from ...collision.detection import find_contacts
from ...collision.nearby_pairs import keep_near
from ...core.copy_in_place import copy_joints
from ...core.jit import helper, kernel, program
from ...core.state import Owner
from ...core.vec import put_rows
from ...dynamics.constraints.cure import PROJECTION, begin_joints, mend_joints, worst_joint
from ...dynamics.constraints.limit_springs import stop_energy
from ...dynamics.motion import any_at_way_point
from ..time_stepping.stages import reach, remember
from .books import begin_books, end_books
from .leaps import GAP, RATE, count_from_start
from .limits import rate_limits
from .rates import FREE, LAW
from .rows import copy_row, enter_rows, fill_gains, match_rows
from .settle import report, settle, stored_energy
from .stability import longest_step, substeps_needed, too_stiff
from .substeps import AT_BODIES, AT_STAGE, make_substeps
from .substeps import DONE as ALL_MADE
from .work import (
    APART,
    ASKED,
    BEFORE,
    CURE,
    DEEPEST,
    EVENTS,
    FIRST,
    GRAVITY,
    HELD,
    HELD_BEFORE,
    IN_STOPS,
    LEFT,
    LENGTH,
    MADE,
    MADE_SUBSTEPS,
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
    TAKEN,
)

#: where `advance` begins, and where Python helps: in ROOM and END, to make room for contacts and surfaces; in SPRINGS,
#: to say what springs of joints ask for, and in BOUNDS, what the integrator keeps stable; in MIDDLE, which it makes
#: itself; in ON to look up; in ROWS_AT_STAGE and ROWS_AT_BODIES, to enter rows of surfaces
BEGIN, ROOM, SPRINGS, BOUNDS, MIDDLE, ON, ROWS_AT_STAGE, ROWS_AT_BODIES, END, DONE = range(10)

REST_SPEED = 2.0    # largest speed that counts as rest, in units of g h
ZETA = 0            # column of ContactMemory.own: ζ at the end of the step [m/s]
ZERO_MOTION = 1e-6  # [m] and [m/s] lengths and speeds that count as zero even without gravity
COMPLIANT = int(Owner.COMPLIANT)


@program
def march(model, state, loads, h, step, substeps, page, most, until, stage):
    """Steps with the ledger opened and closed around each, from this stage of the first one on, until so many are made
    or the time `until` [s] is over, or as much is done as may be in one call. Ends after a step with events, and after
    one that is not finite, SPOILT. Returns as `advance` does; step.order[MADE] counts the steps."""
    order = step.order
    while order[MADE] < most and state.t[0] < until:
        if stage == BEGIN:
            open_step(model, state, page)
        stage = advance(model, state, loads, h, step, substeps, stage)
        if stage != DONE:
            return stage
        stage = BEGIN
        order[MADE] += 1
        if not close_step(model, state, step.soft.contacts, page):
            order[SPOILT] = 1
            break
        if order[EVENTS] > 0 or order[SLIPS] > 0 or order[LEFT] <= 0:
            break
    return DONE


@program
def advance(model, state, loads, h, step, substeps, stage):
    """Advance the state by h [s] from this stage on. Returns DONE, or the stage that Python has to help with."""
    order, scratch = step.order, substeps.scratch
    if stage == BEGIN:
        begin(model, state, step)
        stage = ROOM
    if stage == ROOM:
        if not find_surfaces(model, state, h, step):
            return ROOM
        copy_joints(state.joints, scratch.joints)
        if order[SPRUNG] == 1:
            return SPRINGS
        stage = BOUNDS
    if stage == BOUNDS:
        if not bound_step(model, state, h, step, substeps):
            return BOUNDS
        if order[OTHERWISE] == 1 or order[STIFF] == 1:
            return MIDDLE
        if any_at_way_point(model.motions, state.t[0], h):
            jump_at_start(model, state.t[0], h, state.bodies, scratch.joints, scratch.trees, step.keeper, state.ledger)
        scratch.reactions.haste[0] = order[SUBSTEPS] / h
        stage = ON
    if stage == ON:
        reached = go_on(model, state, loads, h, step, substeps)
        if reached != END:
            return reached
        if any_at_way_point(model.motions, step.told[START], h):
            jump_at_end(model, step.told[START], h, state.bodies, scratch.joints, scratch.trees, step.keeper,
                        state.ledger)
        copy_joints(scratch.joints, state.joints)
        stage = END
    return DONE if end(model, state, h, step) else END


# ------------------------------------------------------------------------------------------------------ beginning
@program
def begin(model, state, step):
    """Note what the step begins with; joints that come apart are stopped."""
    bodies, joints, told = state.bodies, state.joints, step.told
    told[BEFORE] = total_energy(model, bodies, joints.q, joints.v)
    if len(step.keeper.reactions.rows.kind) > 0 and begin_joints(model, bodies, joints, step.order[CURE], step.keeper):
        book_stopped(state.ledger, total_energy(model, bodies, joints.q, joints.v) - told[BEFORE])
    begin_books(bodies, step.books)
    put_rows(step.before[0], bodies.v)
    put_rows(step.before[1], bodies.w)
    told[START] = state.t[0]


@program
def find_surfaces(model, state, h, step):
    """Contacts that the bodies may make within the step, and their surfaces as the state remembers them; what these
    hold. False where there is no room for them."""
    bodies, old, soft, order, told = state.bodies, state.surfaces, step.soft, step.order, step.told
    contacts, near = soft.contacts, soft.near
    order[FIRST] = 1 if old.t[0] != state.t[0] else 0  # another method has been at work
    if order[FIRST] == 1:
        old.count[0], old.dissipated[0] = 0, 0.0
    reach(model.kind, bodies, step.span, told[GRAVITY] * h**2 + ZERO_MOTION, h, step.margin)
    count = find_contacts(model, step.detection, bodies.x, bodies.q, step.margin)
    if count < 0 or no_room(count + old.count[0], step) or len(contacts.key) > len(soft.slot):
        return False
    order[PAIRS] = near.pair_count[0]
    keep_near(near.geometry.kind, step.detection.family, contacts, near)
    match_rows(model.kind, bodies.x, contacts, old, soft.slot)
    enter_rows(contacts, soft.slot, old, 0, model.kind, bodies.x, step.source, soft.surfaces)
    fill_gains(soft.surfaces, model.shapes, step.tables, soft.work)
    count_from_start(soft)
    begin_rows(soft, state.t[0], order[FIRST])
    if order[FIRST] == 1:
        settle(model, soft, 0, state.t[0], bodies)
    told[TAKEN] = soft.surfaces.dissipated[0]
    told[IN_STOPS] = energy_of_stops(model, step.stops, state)
    told[HELD_BEFORE] = stored_energy(soft.choice[LAW], soft.surfaces, soft.work.units) + told[IN_STOPS]
    return True


@program
def bound_step(model, state, h, step, substeps):
    """The longest stable step and how many substeps are made; whether even the shortest are too long. False where the
    integrator has not said yet what it keeps stable."""
    order, told = step.order, step.told
    square, damping, recovery, turning = rate_limits(
        model, step.soft, state.bodies, substeps.scratch.stops, substeps.scratch.joints.q, substeps.blocks)
    square, damping = square + substeps.of_joints[0], damping + substeps.of_joints[1]
    longest, order[MISSING] = longest_step(substeps.limits, square, damping, recovery, turning)
    if order[MISSING] >= 0:
        return False
    told[STABLE], order[STIFF], order[SUBSTEPS], order[MADE_SUBSTEPS] = longest, 0, order[ASKED], 0
    if order[ASKED] == 0:
        order[STIFF] = 1 if too_stiff(h, longest, square, damping, recovery, turning) else 0
        order[SUBSTEPS] = substeps_needed(h, longest)
    return True


@helper
def no_room(rows, step):
    """Whether there is no room for so many rows of surfaces."""
    soft = step.soft
    return rows > len(step.source) or rows > len(soft.surfaces.key) or rows > len(soft.work.friction)


@kernel
def book_stopped(ledger, energy):
    """Enter what stopping joints did [J]."""
    ledger[JOINTS, 0] += energy


@kernel
def begin_rows(soft, t, first):
    """Nothing has happened to the surfaces since t [s]. first = 1: nothing is known of before, so that they begin
    pressed in as they are found."""
    work, mode, z = soft.work, soft.surfaces.mode, soft.surfaces.surface_z
    work.clock[0] = t
    for k in range(int(soft.surfaces.count[0])):
        work.mode_before[k] = mode[k]
        work.approach[k], work.zeta[k] = 0.0, math.nan
        work.settled[k, GAP], work.settled[k, RATE] = z[k, 0] + z[k, 1], math.inf if first == 1 else 0.0
        for j in range(3):
            work.impulse[k, j] = 0.0
        for j in range(2):
            work.left[k, j] = 0.0
        for j in range(4):
            work.changed[k, j] = math.nan


@program
def energy_of_stops(model, stops, state):
    """Energy stored in the stops of joints [J]."""
    return stop_energy(model, stops, state.bodies, state.joints.q) if len(stops.dent) > 0 else 0.0


# -------------------------------------------------------------------------------------------------------- substeps
@program
def go_on(model, state, loads, h, step, substeps):
    """Make substeps. END where all are made; else what Python has to help with."""
    order, bodies = step.order, state.bodies
    count, made = order[SUBSTEPS], order[MADE_SUBSTEPS]
    size = len(model.kind) + step.soft.contacts.count[0]
    last = min(count, made + max(1, order[LEFT] // max(1, size)))  # beginning anew at a substep changes nothing
    reached, why = make_substeps(model, loads, substeps.tableau, made, last, step.told[START], h / count, step.soft,
                                 substeps.scratch, bodies)
    order[LEFT] -= (last - made) * size
    order[MADE_SUBSTEPS] = last if why == ALL_MADE else reached
    if why == AT_STAGE:
        return ROWS_AT_STAGE
    if why == AT_BODIES:
        return ROWS_AT_BODIES
    return END if last == count else ON


# ------------------------------------------------------------------------------------------------------------- end
@program
def end(model, state, h, step):
    """The contacts of the step, what changed about them, and the state's memory of them. False where it has no room."""
    bodies, joints, soft, order, told = state.bodies, state.joints, step.soft, step.order, step.told
    surfaces, jointed = soft.surfaces, len(step.keeper.reactions.rows.kind) > 0
    if soft.contacts.count[0] > min(len(state.memory.key), len(step.fired)) or (
            surfaces.count[0] > len(state.surfaces.key)):
        return False
    state.t[0] = told[START] + h
    if order[CURE] == PROJECTION and jointed:
        mend_joints(model, bodies, joints, PROJECTION, step.keeper)
    # limits took what they stored at first, less what they store now, less what their forces did
    in_stops = energy_of_stops(model, step.stops, state)
    taken = told[IN_STOPS] - in_stops - step.books.ledger[LIMITS, 0]
    surfaces.dissipated[0] += taken
    lost = surfaces.dissipated[0] - told[TAKEN] - taken
    tell(model, state, h, step)
    told[HELD] = stored_energy(soft.choice[LAW], surfaces, soft.work.units) + in_stops
    if jointed:
        told[APART], told[LENGTH] = worst_joint(bodies, step.keeper.reactions)
    end_books(bodies, state.ledger, step.books, told[HELD_BEFORE], told[HELD], lost, taken)
    return True


@program
def tell(model, state, h, step):
    """Contacts, events and memory of the step."""
    memory, soft, order, told = state.memory, step.soft, step.order, step.told
    contacts = soft.contacts
    rest_speed = REST_SPEED * told[GRAVITY] * h + ZERO_MOTION
    told[DEEPEST] = report(model, soft, state.bodies, step.before, rest_speed, h, step.approach, step.parting)
    leave_rebound_out(contacts, step.parting, rest_speed, memory)
    mark_late_touches(contacts, step.approach, rest_speed, math.inf)
    order[EVENTS] = find_changes(contacts, memory, step.approach, step.parting, rest_speed, step.changes)
    mark_late_touches(contacts, step.approach, rest_speed, 0.0)
    order[SLIPS] = slipping_changed(soft)
    memory.owner[0] = COMPLIANT
    remember(contacts, step.fired, model.kind, state.bodies.x, memory)
    for i in range(int(contacts.count[0])):
        memory.own[i, ZETA] = contacts.zeta[i]
    leave_surfaces(soft.surfaces, state)


@kernel
def leave_rebound_out(contacts, parting, rest_speed, memory):
    """A soft pair separates while it still touches. What it did so at the end of the last step is taken off the speeds
    (c,) of `find_changes` at which pairs part."""
    for i in range(int(contacts.count[0])):
        if parting[i] > rest_speed:
            fastest = 0.0
            for k in range(int(memory.count[0])):
                same = memory.shapes[k, 0] == contacts.shape_a[i] and memory.shapes[k, 1] == contacts.shape_b[i]
                if same and memory.touching[k] == 1:
                    fastest = max(fastest, memory.own[k, ZETA])
            parting[i] -= fastest


@kernel
def mark_late_touches(contacts, approach, rest_speed, impulse):
    """Give the contacts that were hit and touch only as the step ends, and have no impulse yet, this one. They carry
    all the same, or their impact would be told as a gain; with inf it is told, with 0 they are as they were."""
    for i in range(int(contacts.count[0])):
        late = contacts.lam[i] == 0.0 or contacts.lam[i] == math.inf
        if late and approach[i] < -rest_speed and contacts.current[i] == 1:
            contacts.lam[i] = impulse


@kernel
def slipping_changed(soft):
    """The number of contacts with friction that slip and did not when the step began, or the other way round."""
    changed, slot = 0, soft.slot
    for i in range(int(soft.contacts.count[0])):
        if slot[i] >= 0 and soft.contacts.friction[i] > 0.0:
            before, now = soft.work.mode_before[slot[i]], soft.surfaces.mode[slot[i]]
            changed += before != now and before != FREE and now != FREE
    return changed


@kernel
def leave_surfaces(surfaces, state):
    """Leave the surfaces in the state, for the instant state.t; rows beyond them are 0."""
    kept, count = state.surfaces, int(surfaces.count[0])
    for k in range(count):
        copy_row(surfaces, k, k, kept)
    for k in range(count, len(kept.key)):
        kept.key[k], kept.mode[k], kept.start[k] = 0, 0, 0.0
        for j in range(2):
            kept.shapes[k, j], kept.surface_z[k, j] = 0, 0.0
            for c in range(3):
                kept.surface_x[k, j, c] = 0.0
        for c in range(3):
            kept.place[k, c] = kept.normal[k, c] = 0.0
    kept.t[0], kept.count[0], kept.dissipated[0] = state.t[0], count, surfaces.dissipated[0]
