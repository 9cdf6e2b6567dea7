"""Newton's method for one implicit stage of the method `compliant`, in one call and without Python's lock.

Unknown are the velocities at the end of the stage, and the impulses of joints. A turn finds contacts and forces at the
velocities found so far, the matrix of their answers, and the change of velocities that would leave no residual.
`search_stage` makes turns until that change is no longer one, and returns where Python has to make room or to solve a
large system; it then goes on from where it was.
"""

import math
from typing import NamedTuple

import numpy as np

from ...collision.nearby_pairs import touch_again
from ...core.jit import helper, kernel, program
from ...core.model import DYNAMIC, Array, Model, body_count
from ...core.state import Bodies, LongArray
from ...core.vec import norm
from ...dynamics.free_body import Y_SIZE
from .books import StageBooks
from .leaps import count_from_start
from .newton import UNKNOWN, add_entries, expect, fill_matrix, implicit_forces, residual, solve_full
from .newton_joints import (
    StageJoints,
    joint_entries,
    place_stage,
    push_stage,
    reduce_system,
    spread_change,
    take_change,
)
from .rows import match_rows

CONVERGED = 1e-12      # change of velocities that ends Newton's method, relative to the fastest or 1 m/s
STALLED = 1e-8         # the same where the changes no longer become smaller: rounding of K p
SPIN_ROUNDING = 2.0**-50  # of ω, relative to |L|/I with the least moment I: an axis is known to 2.0**-52
MOST_ITERATIONS = 40   # of Newton's method for one stage
MOST_DENSE = 300       # unknowns up to which a dense factorisation is faster
#: iterations after which steps that alternate in direction are shortened, see `shorten`, and after one larger than
#: the fastest or 1 m/s friction is its secant, see `newton.py: put_answer`
RELAXED_AFTER = 5
SHORTEST_SHARE = 0.125  # least part of a step of Newton's method that is then taken
ONE_MOTOR_AFTER = 20   # iterations after which motors with a limit take and leave their speed one at a time

#: how a search ended, FOUND and NOT_FOUND; or where it goes on: with a new TURN, once rows of surfaces are entered in
#: ROWS, there is ROOM for the entries of the matrix or the caller did SOLVE a large system
FOUND, NOT_FOUND, TURN, ROWS, ROOM, SOLVE = range(6)
#: StageSearch.told: end and length of the stage [s]; largest and least change of a velocity [m/s], and speed of the
#: fastest body, at least 1 m/s; part of Newton's step to be taken; power [W] of stops, of driven bodies against them
UNTIL, LENGTH, CHANGE, BEST, SPEED, SHARE, OF_STOPS, DRIVEN = range(8)
#: StageSearch.order: number of the stage, turns made in it, entries of the matrix
STAGE, TURNS, ENTRIES = range(3)


class StageSearch(NamedTuple):
    """What a search works on; n_u unknowns over bodies and λ, n_x over joint velocities in place of links, n_v of both
    without λ."""

    order: LongArray  #: (3,) see STAGE …
    told: Array       #: (8,) see UNTIL …
    middle: Bodies    #: at the end of the stage
    joints: StageJoints
    books: StageBooks
    base: Array       #: (n, 13) y* at the stage's start
    rate: Array       #: (n, 13) rates of P and L
    force: Array      #: (n, 3) applied [N]
    torque: Array     #: (n, 3) [N m]
    full: Array       #: (n_u, n_u) matrix over bodies and λ; (0, 0) where there are too many
    half: Array       #: (n_x, n_u) scratch
    matrix: Array     #: (n_x, n_x) where there are links
    pivots: LongArray  #: (n_u,)
    found: Array      #: (n_x,) Newton's step
    change: Array     #: (n_u,) the same of the velocities of all bodies
    last: Array       #: (n_v,) the one before
    rounding: Array   #: (n_v,) changes that are none


def empty_search(model: Model, middle: Bodies, joints: StageJoints, books: StageBooks, unknowns: int) -> StageSearch:
    """Scratch for so many unknowns over bodies and λ."""
    n, links, rows = body_count(model), len(model.trees.body), len(joints.reactions.lam)
    velocities = unknowns - rows - 6 * links + len(joints.trees.v)
    more, dense = velocities + rows, unknowns if unknowns <= MOST_DENSE else 0
    reduced = more if dense and links else 0
    return StageSearch(
        np.zeros(3, np.int64), np.zeros(8), middle, joints, books, np.zeros((n, Y_SIZE)), np.zeros((n, Y_SIZE)),
        np.zeros((n, 3)), np.zeros((n, 3)), np.zeros((dense, dense)), np.zeros((reduced, unknowns)),
        np.zeros((reduced, reduced)),
        np.zeros(max(more, unknowns), np.int64), np.zeros(more), np.zeros(unknowns), np.zeros(velocities),
        np.zeros(velocities))


@kernel
def begin_search(model, t, g, s, newton, search):
    """Nothing is known of stage s, of length g [s] and until t [s], but its start, and how exactly the spin of each
    free body can be."""
    told, rounding, place = search.told, search.rounding, search.joints.place
    search.order[STAGE], search.order[TURNS] = s, 0
    told[UNTIL], told[LENGTH] = t, g
    told[CHANGE], told[BEST], told[SPEED], told[SHARE] = math.inf, math.inf, 1.0, 1.0
    newton.expected[:] = UNKNOWN
    for i in range(len(place)):
        if model.kind[i] == DYNAMIC:
            light = max(model.inv_inertia[i, 0], model.inv_inertia[i, 1], model.inv_inertia[i, 2])
            L = (search.base[i, 10], search.base[i, 11], search.base[i, 12])
            for j in range(3):
                rounding[6 * int(place[i]) + 3 + j] = SPIN_ROUNDING * norm(L) * light


@program
def search_stage(model, loads, begun, soft, newton, search, at):
    """Find the velocities of `middle` at the end of the stage; begun: bodies when the step began. at: TURN at first,
    then what the last call returned. Returns FOUND, NOT_FOUND, ROWS, ROOM or SOLVE."""
    order, told, middle, joints = search.order, search.told, search.middle, search.joints
    t, g, s = told[UNTIL], told[LENGTH], order[STAGE]
    while order[TURNS] < MOST_ITERATIONS:
        if at != SOLVE:
            place_stage(model, t, g, search.base, joints, middle)
            if touch_again(model, soft.near, middle.x, middle.q, soft.contacts) < 0 or not rows_stand(
                    model, soft, middle):
                return ROWS
            told[OF_STOPS], told[DRIVEN] = push_stage(model, loads, t, g, middle, joints, search.force, search.torque,
                                                      search.books, search.rate)
            if len(soft.contacts.gap) > len(newton.stiffness) or len(soft.surfaces.mode) > len(newton.expected):
                return ROOM
            implicit_forces(model, soft, g, s, begun, middle, search.rate, takes_secant(search), newton)
            residual(joints.place, search.base, g, middle, search.rate, newton.right)
            order[ENTRIES] = fill_matrix(model, soft, joints.place, g, middle, newton)
            if len(model.joints.type) > 0:
                order[ENTRIES] = joint_entries(model, loads, g, middle, joints, order[ENTRIES], newton)
            if len(search.full) < len(newton.right):
                return SOLVE
            solve_dense(model, newton, search)
        at = TURN
        shorten(search)
        lost = expect(soft, joints.place, search.change, newton.stiffness, s, middle, newton.expected)
        changed = take_change(search.found, search.change, told[SHARE], g, middle, joints,
                              order[TURNS] > ONE_MOTOR_AFTER)
        if ends(search) and not changed and not lost:
            return FOUND
    return NOT_FOUND


@kernel
def takes_secant(search) -> int:
    """1 where friction is its secant in this turn: the velocities still jump."""
    told = search.told
    return 1 if search.order[TURNS] > RELAXED_AFTER and told[CHANGE] > told[SPEED] else 0


@kernel
def rows_stand(model, soft, bodies) -> bool:
    """Find the row of the surfaces of every contact; False where one has none, or there is no room for all."""
    contacts, slot = soft.contacts, soft.slot
    if len(contacts.key) > len(slot):
        return False
    match_rows(model.kind, bodies.x, contacts, soft.surfaces, slot)
    for i in range(int(contacts.count[0])):
        if slot[i] < 0:
            return False
    count_from_start(soft)
    return True


@program
def solve_dense(model, newton, search):
    """Newton's step in `found`, and the change of the velocities of all bodies."""
    joints = search.joints
    add_entries(newton.row, newton.column, newton.value, search.order[ENTRIES], search.full)
    if len(model.trees.body) > 0:
        reduce_system(joints.spread, joints.own, first_of_joints(search), joints.right, search.full,
                      newton.right, search.half, search.matrix, search.found)
        solve_full(search.matrix, search.pivots, search.found)
        spread_change(joints.spread, search.found, search.change)
    else:
        search.found[:] = newton.right
        solve_full(search.full, search.pivots, search.found)
        search.change[:] = search.found


@helper
def first_of_joints(search):
    """Place of the velocities of joints of trees among the unknowns."""
    return len(search.last) - len(search.joints.trees.v)


@kernel
def shorten(search):
    """The part of Newton's step to take: Aitken's relaxation, which ends a to and fro between two pieces of a force;
    all of it at first, and where friction was its secant."""
    told, step, last = search.told, search.found, search.last
    if takes_secant(search):
        told[SHARE] = 1.0
    elif search.order[TURNS] > RELAXED_AFTER:
        square, product = 0.0, 0.0
        for k in range(len(last)):
            square += last[k] * last[k]
            product += step[k] * last[k]
        along = product / square if square > 0.0 else 0.0
        told[SHARE] = min(max(told[SHARE] / (1.0 - along), SHORTEST_SHARE), 1.0) if along < 1.0 else 1.0
    for k in range(len(last)):
        last[k] = step[k]


@kernel
def ends(search) -> bool:
    """Whether the turn just made changed the velocities no more than rounding does."""
    told, change, speed = search.told, 0.0, 1.0
    for k in range(len(search.last)):
        size = abs(search.last[k]) - search.rounding[k]
        change = max(change, size) if size == size else math.inf
    for v in search.middle.v:
        speed = max(speed, abs(v[0]), abs(v[1]), abs(v[2]))
    done = change <= CONVERGED * speed or (change <= STALLED * speed and change > 0.5 * told[BEST])
    told[CHANGE], told[SPEED], told[BEST] = change, speed, min(told[BEST], change)
    search.order[TURNS] += 1
    return done
