"""A piece of a step: one integrator step under one contact set, as a curve that can be looked at anywhere.

All that making a piece, looking along it and booking it needs is in one packed tuple. Along the curve there are numbers
that must not become negative as long as the set holds: `numbers_of_set` says which.
"""

import math
from typing import NamedTuple

import numpy as np

from ...collision.exact.gaps import Witness, empty_witness, find_witnesses
from ...collision.exact.near import PLACE, Trees
from ...core.jit import helper, program
from ...core.model import Array, IntArray, body_count, movable
from ...core.state import Bodies, JointState, LongArray, empty_state
from ...core.vec import add, cross, dot, norm, put, row, scale
from ...dynamics.constraints.limits import find_limits, limit_rates
from ...dynamics.constraints.reactions import HOLDS, OFF
from ...dynamics.free_body import pack
from ...dynamics.trees.kinematics import TreeWork
from ...dynamics.trees.rates import combine_links, empty_joints, empty_tree_scratch, pack_links
from ...integrators.stepper import combine, dense_output, end_step
from ...integrators.tableau import Tableau
from ...problem.contact_equations import separation_rates
from .instant import equations_here
from .rates import STEP, TIME, Instant, constrained_rates
from .sets import IDLE, SLIDE, STICK, UNKNOWN, ContactSet
from .tolerances import ASIDE, EDGE, SLIPS, STRAIGHT

SLIP_ROUNDING = 1e-12   # slip against its direction, and speed beyond a motor's, that count as none [m/s]
LIMIT_ROUNDING = 1e-12  # by which a motor may pass its limit before it gives in, relative to the limit
VANISHING = 1e-11       # force that counts as none, relative to the forces at work in an island
TAKES = 1e-8            # force that a contact without one must ask for before it gets it, relative to the same
WEIGHTLESS = 1e-6       # what forces are compared with where nothing has weight and nothing pushes [N]

#: what became negative: a number of the set, the gap of a pair apart, what is left to a motor with a limit
MARGIN, SINK, SLIP, FORCE, CONE, SHARE, GAP, MOTOR = range(8)
KINDS = 6  # of numbers of the set
BEGIN, LENGTH = range(2)              # places in Piece.span
INTERVALS, NEXT, WATCHED = range(3)   # places in SearchScratch.nodes


class WatchedPairs(NamedTuple):
    """Pairs found near each other, p of them with room for more; the search watches those that are apart."""

    count: IntArray       #: (1,)
    pairs: LongArray      #: (p,)
    witness: Witness      #: of them
    zeta: Array           #: (p,) rates of their gaps [m/s]
    offset: Array         #: (p,) added to their gaps [m]
    gap: Array            #: (2, p) gaps at both ends of an interval [m]
    rate: Array           #: (2, p) and their rates [m/s]
    within: Array         #: (2, p) >= 0 where they are in their own region, see `within`
    rejected: IntArray    #: (p,) 1 = already looked at in this interval
    falling: IntArray     #: (p,) rows that may fall below zero in it, deepest first


class Motions(NamedTuple):
    """How bodies move along a piece, k of them, each seen from somewhere."""

    start: Array          #: (k, 3) where the body's centre is at the start [m]
    far: Array            #: (k,) how far it comes from there [m]
    spin: Array           #: (k,) its largest spin [rad/s]
    speed: Array          #: (k,) its speed at the start [m/s]


class SearchScratch(NamedTuple):
    """What the search along a piece writes; n bodies, b pairs of shapes in the order of `Elements.meets`, e elements,
    c contacts, m rows of joints."""

    watched: WatchedPairs
    work: TreeWork
    radius: Array         #: (n,) of a ball about the centre of mass that holds the body's bounded shapes [m]
    reach: Array          #: (b,) how far from each other elements of two shapes are looked for [m]; < 0: none are
    moves: Motions        #: (n,) of all bodies, seen from the world
    sides: IntArray       #: (b, 2) the two bodies, the one of smaller radius first
    both_move: IntArray   #: (b,) 1 where forces move both
    seen: Motions         #: (b,) of these, the first one as seen from the second one
    trees: Trees          #: of all shapes
    place: Array          #: (e, PLACE) scratch of `find_near`
    one: LongArray        #: (1,) one pair, its witness and its rate
    witness_one: Witness
    zeta_one: Array       #: (1,)
    values: Array         #: (6 c + m,) numbers of the set, kind after kind, and of motors; inf = not watched
    done: IntArray        #: (6 c + m,) 1 = the root of this number was found
    implied: IntArray     #: (c,) 1 where it follows from other contacts that this one touches
    force: Array          #: (c,) the largest force at work in each island [N]
    slack: Array          #: (c,) added to a slip that has just begun or turned [m/s]
    late: Array           #: (m,) added to what a motor has left that has just changed
    nodes: IntArray       #: (3,) INTERVALS of the piece that are looked at; NEXT one of a search that is to go on; how
                          #: many pairs were WATCHED last


class Piece(NamedTuple):
    """One integrator step of `span` from the state `start`, with the set that holds during it."""

    start: Instant        #: the state in hand, where the piece begins
    at: Instant           #: where the piece was looked at last: bodies, joints and clock of its own
    chosen: ContactSet
    tableau: Tableau
    span: Array           #: (2,) BEGIN, LENGTH [s]
    depth: Array          #: (1,) that contacts beside the active ones may come to [m]
    y0: Array             #: (n, 13) Y at the beginning
    k: Array              #: (s, n, 13) stages
    end: Bodies           #: where the whole piece leads to
    end_joints: JointState
    search: SearchScratch


def empty_pairs(room: int) -> WatchedPairs:
    """Room for so many pairs."""
    return WatchedPairs(
        np.zeros(1, np.int32), np.zeros(room, np.int64), empty_witness(room), np.zeros(room), np.zeros(room),
        np.zeros((2, room)), np.zeros((2, room)), np.zeros((2, room)), np.zeros(room, np.int32),
        np.zeros(room, np.int32))


def empty_motions(count: int) -> Motions:
    """Room for so many motions."""
    return Motions(np.zeros((count, 3)), np.zeros(count), np.zeros(count), np.zeros(count))


def empty_search(at: Instant, trees: Trees, radius: Array, pairs: int) -> SearchScratch:
    """Scratch with room for so many pairs and for the contacts that the instant's scratch has room for; radius (n,)
    [m]."""
    contacts, rows = len(at.scratch.lam) // 3, len(at.scratch.equations.reactions.lam)
    numbers = KINDS * contacts + rows
    sides = at.surface.shape_body[at.surface.meets]
    swap = radius[sides[:, 0]] > radius[sides[:, 1]]
    sides[swap] = sides[swap, ::-1]
    return SearchScratch(
        watched=empty_pairs(pairs), work=empty_tree_scratch(at.model.trees).work, radius=radius,
        reach=np.zeros(len(sides)), moves=empty_motions(len(radius)), sides=sides,
        both_move=np.asarray(movable(at.model.kind)[sides].all(axis=1), np.int32), seen=empty_motions(len(sides)),
        trees=trees, place=np.zeros((len(at.surface.kind), PLACE)),
        one=np.zeros(1, np.int64), witness_one=empty_witness(1), zeta_one=np.zeros(1),
        values=np.zeros(numbers), done=np.zeros(numbers, np.int32), implied=np.zeros(contacts, np.int32),
        force=np.zeros(contacts), slack=np.zeros(contacts), late=np.zeros(rows), nodes=np.zeros(3, np.int32),
    )


def own_place(at: Instant) -> Instant:
    """An instant of the same model, loads and scratch with bodies, joints and a clock of its own."""
    return at._replace(bodies=empty_state(body_count(at.model)).bodies, joints=empty_joints(at.model.trees),
                       clock=np.zeros(2))


def empty_piece(start: Instant, at: Instant, chosen: ContactSet, tableau: Tableau, search: SearchScratch) -> Piece:
    """Room for a piece made with this tableau."""
    n = body_count(start.model)
    return Piece(start, at, chosen, tableau, np.zeros(2), np.zeros(1), np.zeros((n, 13)),
                 np.zeros((len(tableau.c), n, 13)), empty_state(n).bodies, empty_joints(start.model.trees), search)


# ------------------------------------------------------------------------------------------------- making a piece
@program
def begin_piece(piece):
    """Take the time, the state as Y (n, 13), and the directions of slip of sliding contacts, where they have turned."""
    start, chosen = piece.start, piece.chosen
    if any_slide(chosen):
        equations_here(start, chosen.pair, np.int64(chosen.count[0]), np.int64(0))
    take_start(piece)


@helper
def any_slide(chosen):
    """Whether a contact slides whose direction may turn."""
    some = False
    for k in range(chosen.count[0]):
        some = some or (chosen.mode[k] == SLIDE and chosen.fixed[k] == 0)
    return some


@program
def take_start(piece):
    """What `begin_piece` does, where the velocities of the set are in the scratch."""
    start, chosen = piece.start, piece.chosen
    eq = start.scratch.equations
    for k in range(chosen.count[0] if any_slide(chosen) else 0):
        slip = add(scale(eq.u[3 * k + 1], row(eq.tangent_1, k)), scale(eq.u[3 * k + 2], row(eq.tangent_2, k)))
        size, along = norm(slip), dot(slip, row(chosen.direction, k))
        turn = norm(cross(slip, row(chosen.direction, k)))
        turned = size > SLIPS and along > 0.0 and turn > STRAIGHT * along + ASIDE
        if chosen.mode[k] == SLIDE and chosen.fixed[k] == 0 and turned:
            put(chosen.direction, k, scale(1.0 / size, slip))
    start.scratch.large.known[0] = 0
    piece.span[BEGIN] = start.clock[TIME]
    piece.at.clock[STEP] = start.clock[STEP]
    pack(start.bodies, piece.y0)
    pack_links(start.model.trees, start.joints.q, start.joints.v, piece.y0)


@program
def make_piece(piece, length):
    """One step of the tableau over `length` [s], contacts included, to piece.end; the largest relative local error.
    It writes the stages, and the bodies and coordinates of links at the end."""
    piece.span[LENGTH] = length
    for i in range(len(piece.tableau.c)):
        make_stage(piece, i)
    return end_stages(piece)


@program
def make_stage(piece, i):
    """Stage i of the piece, after all stages before it; its bodies, equations and forces are left in the scratch."""
    start, tableau, y0, k, h = piece.start, piece.tableau, piece.y0, piece.k, piece.span[LENGTH]
    model, stage, trees = start.model, start.scratch.bodies, start.scratch.equations.trees
    combine(model.kind, tableau.a_x[i], tableau.a_p[i], i, h, y0, k, stage)
    combine_links(model.trees, tableau.a_x[i], tableau.a_p[i], i, h, y0, k, trees.q, trees.v)
    constrained_rates(start, piece.chosen, piece.span[BEGIN] + tableau.c[i] * h, stage, k[i])


@program
def end_stages(piece):
    """Where all stages lead to; the largest relative local error."""
    model, t, h, joints = piece.start.model, piece.span[BEGIN], piece.span[LENGTH], piece.end_joints
    return end_step(model, piece.tableau, t, h, piece.y0, piece.k, piece.start.scratch.equations.trees.work, piece.end,
                    joints.q, joints.v)


# ------------------------------------------------------------------------------------------------- looking at it
@program
def go(piece, delta):
    """Bodies, links and time at the fraction delta of the piece, to piece.at."""
    at, span = piece.at, piece.span
    at.clock[TIME] = span[BEGIN] + delta * span[LENGTH]
    dense_output(at.model, piece.tableau, span[BEGIN], span[LENGTH], piece.y0, piece.k, delta, piece.search.work,
                 at.bodies, at.joints)


@program
def meet(at, pairs, count, witness, zeta_out):
    """Witnesses of the first `count` pairs, limits among them, and ζ, the rates of their gaps [m/s]."""
    find_witnesses(at.surface, at.bodies, pairs, count, witness)
    find_limits(at.model, at.surface, at.bodies, at.joints.q, pairs, count, witness)
    separation_rates(witness, at.bodies, count, zeta_out)
    limit_rates(at.model, at.surface, at.bodies, at.joints.q, at.joints.v, pairs, count, zeta_out)


@program
def see_pairs(at, watched):
    """Witnesses and rates of the pairs watched."""
    meet(at, watched.pairs, np.int64(watched.count[0]), watched.witness, watched.zeta)


@program
def see_one(at, pair, search):
    """The same of one pair, in `witness_one` and `zeta_one`."""
    search.one[0] = pair
    meet(at, search.one, np.int64(1), search.witness_one, search.zeta_one)


@program
def see_forces(at, chosen):
    """Forces of the current set, in the scratch."""
    scratch = at.scratch
    trees = scratch.equations.trees
    trees.q[:], trees.v[:] = at.joints.q, at.joints.v
    constrained_rates(at, chosen, at.clock[TIME], at.bodies, scratch.rate)


@program
def look(piece, delta, forces):
    """Bodies, and gaps and rates ζ of the pairs watched, at the fraction delta of the piece; where forces = 1, also the
    forces of the current set, in the scratch."""
    go(piece, delta)
    see_pairs(piece.at, piece.search.watched)
    if forces == 1:
        see_forces(piece.at, piece.chosen)


# ------------------------------------------------------------------------------------------------- numbers of the set
@helper
def name_implied(chosen, implied_out):
    """Mark the contacts of which no row is kept at zero along the normal."""
    for k in range(chosen.count[0]):
        implied_out[k] = 1
    for j in range(chosen.rows[0]):
        if chosen.row[j] % 3 == 0:
            implied_out[chosen.row[j] // 3] = 0


@helper
def slip_along(chosen, eq, k):
    """Slip of a sliding contact along its direction."""
    a, b = 0.0, 0.0
    for j in range(3):
        a += chosen.direction[k, j] * eq.tangent_1[k, j]
        b += chosen.direction[k, j] * eq.tangent_2[k, j]
    return a * eq.u[3 * k + 1] + b * eq.u[3 * k + 2]


@helper
def find_forces_at_work(piece):
    """The largest force in each island where the forces were found last: of a contact, or a body's weight."""
    chosen, scratch, model, force = piece.chosen, piece.start.scratch, piece.start.model, piece.search.force
    g = math.sqrt(model.gravity[0] ** 2 + model.gravity[1] ** 2 + model.gravity[2] ** 2)
    for i in range(chosen.islands[0]):
        force[i] = WEIGHTLESS
    for k in range(chosen.count[0]):
        i, a, b = chosen.island[k], scratch.witness.body_a[k], scratch.witness.body_b[k]
        force[i] = max(force[i], g * max(model.mass[a], model.mass[b]))
        for j in range(3 * k, 3 * k + 3):
            force[i] = max(force[i], abs(scratch.lam[j]))


@helper
def numbers_of_set(chosen, depth, search, scratch):
    """Write the numbers of the set where the forces were found last; negative = the set cannot go on.

    Of each contact: the margin to the rim of its elements; the depth left to one that others imply; of a sliding one
    the slip along its direction; the force; of a sticking one what is left to the friction cone; of one without force
    that shares a load, how much less it would take than it must ask for. None of a contact that is fixed. Of moments
    that it bears only slip and cone. Of each motor with a limit: see `left_to_motor`.
    """
    count, values = int(chosen.count[0]), search.values
    witness, eq, lam = scratch.witness, scratch.equations, scratch.lam
    for i in range(KINDS * count):
        values[i] = math.inf
    for k in range(count):
        if chosen.fixed[k] == 1:
            continue
        mode = chosen.mode[k]
        values[MARGIN * count + k] = witness.margin[k] + EDGE
        if search.implied[k] == 1 and chosen.bearer[k] == k:
            off = -witness.gap[k] if mode == IDLE else abs(witness.gap[k])
            values[SINK * count + k] = depth[0] - off
        if mode == SLIDE:
            values[SLIP * count + k] = slip_along(chosen, eq, k) + SLIP_ROUNDING + search.slack[k]
        if mode != IDLE and chosen.open[k] != UNKNOWN:
            least = VANISHING * search.force[chosen.island[k]]
            values[FORCE * count + k] = lam[3 * k] + least
            if mode == STICK:
                rim = chosen.friction[k] * lam[3 * chosen.bearer[k]]
                values[CONE * count + k] = rim - math.hypot(lam[3 * k + 1], lam[3 * k + 2]) + least
    for j in range(chosen.columns[0], chosen.columns[0] + chosen.columns[1]):
        k = chosen.column[j] // 3
        if chosen.fixed[k] == 0:
            values[SHARE * count + k] = TAKES * search.force[chosen.island[k]] - scratch.share[j]
    for r in range(len(eq.reactions.lam)):
        values[KINDS * count + r] = left_to_motor(eq.reactions, r) + search.late[r]


@helper
def left_to_motor(reactions, r):
    """Of a motor with a limit that holds its speed: what is left of the limit. Of one that does not: how far it is from
    that speed. inf of all others."""
    mode = reactions.mode[r]
    if reactions.limit[r] == math.inf or mode == OFF:
        return math.inf
    if mode == HOLDS:
        return (1.0 + LIMIT_ROUNDING) * reactions.limit[r] - abs(reactions.lam[r])
    return mode * (reactions.seek[r] - reactions.u[r]) + SLIP_ROUNDING


@helper
def has_limited_motors(reactions):
    """Whether there are motors with a limit."""
    some = False
    for r in range(len(reactions.limit)):
        some = some or reactions.limit[r] < math.inf
    return some
