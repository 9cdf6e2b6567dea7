"""A step in which nothing happens, in one call: the sets of the last step hold, one piece leads to the end, and no
event cuts it. The stages are those of `step.py: EventDriven`, with the same bits. Where something has to be decided
nothing of the motion has changed yet, and the step is made piece by piece.

Forces are what costs most. The search and the books look at the piece in one walk, so that forces found at an instant
serve both, at its start those of the integrator's first stage. There are no joints in maximal coordinates."""

import math
from typing import NamedTuple

import numpy as np

from ...books.ledger import book_anchored, close_step, momenta_of, open_step
from ...core.copy_in_place import copy_all, copy_bodies, copy_joints
from ...core.jit import helper, kernel, program
from ...core.model import Array, IntArray
from ...core.state import Tally
from ...core.vec import put_all, put_rows
from ...dynamics.free_body import velocity_from_momentum
from ...dynamics.motion import AHEAD, drive, next_way_point, rounding
from ...dynamics.trees.kinematics import place_links
from ...integrators.stepper import TOLERANCE
from ...problem.turning_rows import opposed
from .books import LOBATTO_NODES, LOBATTO_WEIGHTS, any_force, book_node
from .memory import EVENT_DRIVEN, recall, remember
from .nearby import LEAST_INTERVALS, choose_watched, pairs_touching
from .piece import (
    KINDS,
    LENGTH,
    WATCHED,
    Piece,
    end_stages,
    find_forces_at_work,
    go,
    make_stage,
    numbers_of_set,
    see_forces,
    see_pairs,
    take_start,
)
from .projection import DRIFT
from .rates import STEP, TIME, Instant, equations_here
from .search import AT_ONCE, begin_interval, gap_event, note_gaps, wrong_here
from .sets import IDLE, SLIDE, SMOOTH, STICK
from .shared_loads import any_doubt, hold_here
from .step_halving import RUNAWAY, STRAY, gains_on_flat, has_strayed, wild
from .tolerances import SLOT, TOUCH

STILL_HOLDS = 100.0 * SLOT  # |φ| [m] and |ζ| [m/s] of a remembered set that is not what the state says
PIECES, STEPS = int(Tally.PIECES), int(Tally.STEPS)
BY_PIECES, DRIFTED, MADE, SPOILT = range(4)  # where `make_whole` comes to; what `march` left is not finite


class WholeStep(NamedTuple):
    """What the steps of a simulation are made with, beside the state."""

    piece: Piece
    end: Instant        #: the end of the last step, loads included, for its report
    tally: Array        #: as it was then
    slip: Array         #: (m, m) friction of materials that slip
    stick: Array        #: (m, m) and of those that stick
    anchored: IntArray  #: as in Books, like the next two
    before: Array
    given: Array
    event: Array        #: (3,) what the search found, see `find_event`
    impulse: Array      #: (c, 3) of the contacts of the set over the step [N s]
    ledger: Array       #: that of the state, as it is at the end if nothing happens
    made: IntArray      #: (1,) steps that `march` has made


@program
def march(model, state, h, adaptive, work, page, contacts, most, until):
    """Steps of h [s] with the ledger opened and closed around each, as long as nothing happens, until work.made is
    `most` or the time `until` [s] is over: MADE. Else returns as `make_whole` does, with the ledger open, or SPOILT."""
    seen = 0
    while work.made[0] < most and state.t[0] < until:
        open_step(model, state, page)
        reached = make_whole(model, state, h, adaptive, work, seen)
        if reached != MADE:
            return reached
        work.made[0] += 1
        if not close_step(model, state, contacts, page):
            return SPOILT
        seen = 1 if work.piece.start.loads.grab_body[0] < 0 else 0
    return MADE


@program
def make_whole(model, state, h, adaptive, work, seen):
    """Make a step of h [s] if nothing happens in it: MADE. Where drift has to be taken out before `end_step`: DRIFTED.
    BY_PIECES: nothing was done. adaptive = 1: the integrator controls its error. seen = 1: the step before was made
    here, too, and the velocities of the set are still in the scratch."""
    piece, bodies, joints = work.piece, state.bodies, state.joints
    start, chosen = piece.start, piece.chosen
    if len(work.given) > 0:
        momenta_of(bodies, work.before, work.given)
    take_up(model, state, h, start)
    end = state.t[0] + h
    if next_way_point(model.motions, state.t[0]) <= end + AHEAD * rounding(model.motions, end):
        return BY_PIECES
    if state.memory.owner[0] != EVENT_DRIVEN or state.memory.count[0] > len(chosen.pair):
        return BY_PIECES
    recall(state.memory, start, start.scratch.turning, work.slip, work.stick, chosen)
    if LEAST_INTERVALS * piece.search.nodes[WATCHED] > AT_ONCE or not goes_on(start, chosen, piece.search, seen):
        return BY_PIECES  # too many pairs for one call, if they are as many as last
    take_start(piece)
    begin_books(state.ledger, chosen, work)
    error = make_stages(piece, h, work) / TOLERANCE
    if not math.isfinite(error) or (adaptive == 1 and error > 1.0):
        return BY_PIECES
    if adaptive == 0 and chosen.count[0] > 0 and (wild(piece.y0, piece.k, h, RUNAWAY) or gains_on_flat(piece)):
        return BY_PIECES
    found, intervals = choose_watched(piece)
    too_much = found > len(piece.search.watched.pairs) or intervals * found > AT_ONCE  # for one call
    if too_much or not is_quiet(piece, intervals, work):
        return BY_PIECES
    if adaptive == 0 and has_strayed(piece.at, chosen, STRAY):
        return BY_PIECES
    if any_doubt(chosen) and not hold_here(piece.at, chosen):
        return BY_PIECES
    copy_all(work.ledger, state.ledger)
    copy_bodies(piece.end, bodies)
    copy_joints(piece.end_joints, joints)
    start.clock[TIME] += h
    state.tally[PIECES] += 1.0
    if chosen.count[0] > 0 and has_drifted(start, chosen):
        return DRIFTED
    end_step(model, state, h, work, 1)
    return MADE


@helper
def begin_books(ledger, chosen, work):
    """Nothing is booked of the step yet."""
    copy_all(ledger, work.ledger)
    for k in range(chosen.count[0]):
        for j in range(3):
            work.impulse[k, j] = 0.0


@program
def make_stages(piece, h, work):
    """What `make_piece` does, and the first node of the books; the local error, nan where the set cannot even begin."""
    scratch = piece.start.scratch
    piece.span[LENGTH], piece.depth[0], work.event[1] = h, 0.5 * TOUCH, -1.0
    make_stage(piece, 0)
    find_forces_at_work(piece)
    if piece.chosen.count[0] > 0 and wrong_here(piece, work.event):
        return math.nan
    velocities = scratch.equations.trees.v
    book_node(piece, scratch.bodies, velocities, LOBATTO_WEIGHTS[0], work.ledger, work.given, work.impulse)
    for i in range(1, len(piece.tableau.c)):
        make_stage(piece, i)
    return end_stages(piece)


@program
def is_quiet(piece, intervals, work):
    """Walk along the piece and look at `intervals` of it as `find_event` does; whether there is no event. All nodes of
    the books but the first one are booked. The forces found last are then those at the end."""
    at, chosen, search, scratch, event = piece.at, piece.chosen, piece.search, piece.start.scratch, work.event
    count, watched, felt, node = int(chosen.count[0]), search.watched, any_force(piece.at, piece.chosen), 1
    if watched.count[0] + count == 0:
        intervals = 1
    note_gaps(watched, 0)
    find_forces_at_work(piece)
    for i in range(intervals):
        lo, hi = i / intervals, (i + 1) / intervals
        while node < len(LOBATTO_NODES) - 1 and LOBATTO_NODES[node] < hi:
            go(piece, LOBATTO_NODES[node])
            if felt:
                see_forces(at, chosen)
            book_node(piece, at.bodies, at.joints.v, LOBATTO_WEIGHTS[node], work.ledger, work.given, work.impulse)
            node += 1
        go(piece, hi)
        if count > 0 or (felt and i == intervals - 1):
            see_forces(at, chosen)
        if count > 0:
            numbers_of_set(chosen, piece.depth, search, scratch)
            for k in range(KINDS * count):
                if search.values[k] < 0.0:
                    return False
        if i == intervals - 1:
            book_node(piece, at.bodies, at.joints.v, LOBATTO_WEIGHTS[node], work.ledger, work.given, work.impulse)
        see_pairs(at, watched)
        note_gaps(watched, 1)
        gap_event(piece, lo, hi, event)
        if event[1] >= 0.0:
            return False
        begin_interval(watched)
    return True


@program
def take_up(model, state, h, start):
    """Make the state the one in hand, at the beginning of a step of h [s]."""
    bodies, joints, trees = state.bodies, state.joints, start.scratch.equations.trees
    start.clock[TIME], start.clock[STEP] = state.t[0], h
    drive(model, state.t[0], bodies)
    velocity_from_momentum(model, bodies)
    if len(joints.v) > 0:
        put_all(trees.q, joints.q)
        put_all(trees.v, joints.v)
        place_links(model, joints.q, joints.v, trees.work, bodies)


@program
def end_step(model, state, h, work, seen):
    """Go to the end of a step of h [s] that has brought the bodies there; remember the set, with work.impulse, and what
    a report of the step needs. seen = 1: the witnesses of the set are in the scratch."""
    start, chosen, bodies = work.piece.start, work.piece.chosen, state.bodies
    state.t[0] += h
    start.clock[TIME] = state.t[0]
    drive(model, state.t[0], bodies)
    if start.loads.grab_body[0] >= 0:
        see_forces(start, chosen)  # that of the mouse among them
    if seen == 0:
        equations_here(start, chosen.pair, np.int64(chosen.count[0]), np.int64(0))
    remember(start, chosen, work.impulse, state.memory)
    state.tally[STEPS] += 1.0
    keep(start, work.end)
    put_all(work.tally, state.tally)
    if len(work.given) > 0:
        book_anchored(work.anchored, work.before, bodies, work.given, state.ledger)


@kernel
def keep(at, out):
    """Copy bodies, joints, time and loads of an instant over those of another one."""
    copy_bodies(at.bodies, out.bodies)
    copy_joints(at.joints, out.joints)
    put_all(out.clock, at.clock)
    put_rows(out.loads.force, at.loads.force)
    put_rows(out.loads.torque, at.loads.torque)
    out.loads.grab_body[0], out.loads.grab_turn[0] = at.loads.grab_body[0], at.loads.grab_turn[0]
    put_all(out.loads.grab_point, at.loads.grab_point)
    put_all(out.loads.grab_target, at.loads.grab_target)
    put_all(out.loads.joint, at.loads.joint)


# ------------------------------------------------------------------------------------------------- what goes on
@program
def goes_on(start, chosen, search, seen):
    """Whether nothing has to be settled: nothing touches where there is no set; else the set is `as_remembered`, and no
    deeper than touching. seen: see `make_whole`."""
    if chosen.count[0] == 0:
        kept, found = pairs_touching(start, TOUCH, search)
        return kept == 0 and found <= len(search.watched.pairs)
    if seen == 0:
        equations_here(start, chosen.pair, np.int64(chosen.count[0]), np.int64(0))
    for k in range(chosen.count[0]):
        if start.scratch.witness.gap[k] < -TOUCH:
            return False
    return as_remembered(start, chosen)


@kernel
def as_remembered(start, chosen):
    """Whether the remembered set is what the state says: a slider or another method may have changed things. The
    scratch must have the velocities of the set."""
    witness, eq, turning = start.scratch.witness, start.scratch.equations, start.scratch.turning
    borne = 0
    for k in range(chosen.count[0]):
        if chosen.bearer[k] == k:
            borne += opposed(turning, start.surface, chosen.pair[k])
        else:
            borne -= 1
        if not (abs(witness.gap[k]) < STILL_HOLDS and abs(eq.u[3 * k]) < STILL_HOLDS):
            return False
        mode = chosen.mode[k]
        if not (mode == IDLE or (mode in (SLIDE, STICK) if chosen.friction[k] > 0.0 else mode == SMOOTH)):
            return False
    return borne == 0


@program
def has_drifted(start, chosen):
    """Whether gaps of the set, or velocities in its rows, have to be put back to zero."""
    equations_here(start, chosen.pair, np.int64(chosen.count[0]), np.int64(0))
    gap, u, off = start.scratch.witness.gap, start.scratch.equations.u, 0.0
    for k in range(chosen.count[0]):
        off = max(off, abs(gap[k]))
    for j in range(chosen.rows[0]):
        off = max(off, abs(u[chosen.row[j]]))
    return not off <= DRIFT
