"""Which pairs of elements touch, and which the search along a piece has to watch: those apart that it can bring
together."""

import math

import numpy as np

from ...collision.exact.gaps import find_near
from ...core.jit import program
from ...core.model import Array, Model
from ...core.vec import norm, row, sub
from ...dynamics.constraints.limits import find_limits, limit_rates, near_limits
from ...problem.contact_equations import separation_rates
from .piece import LENGTH, go, see_pairs
from .tolerances import EDGE, FACING, GRAZE, RESTS, TOUCH

LARGEST_TURN = 0.1     # of a body between two nodes that are looked at [rad]
LEAST_INTERVALS = 4    # between nodes, of a piece
MOST_INTERVALS = 200
FARTHER = 1.1          # factor on how far a body comes at the nodes, for it may come farther between them
BEYOND = 0.1           # part of its first speed times the length of the piece that is added to that


@program
def travel(piece):
    """Of each body: how far its centre comes from where it starts [m], its largest spin [rad/s] and its first speed
    [m/s], seen at nodes between which none turns by more than LARGEST_TURN. Returns the number of intervals between the
    nodes, and leaves the bodies at the start."""
    search, bodies, h = piece.search, piece.at.bodies, piece.span[LENGTH]
    n, far, spin, speed = len(search.far), search.far, search.spin, search.speed
    go(piece, 1.0)
    fastest = 0.0
    for i in range(n):
        spin[i] = norm(row(bodies.w, i))
        fastest = max(fastest, spin[i])
        far[i] = 0.0
    go(piece, 0.0)
    for i in range(n):
        speed[i] = norm(row(bodies.v, i))
        fastest = max(fastest, norm(row(bodies.w, i)))
        for j in range(3):
            search.start[i, j] = bodies.x[i, j]
    intervals = min(MOST_INTERVALS, LEAST_INTERVALS + int(fastest * h / LARGEST_TURN))
    for node in range(intervals, -1, -1):
        go(piece, node / intervals)
        for i in range(n):
            far[i] = max(far[i], norm(sub(row(bodies.x, i), row(search.start, i))))
            spin[i] = max(spin[i], norm(row(bodies.w, i)))
    return intervals


@program
def pairs_near(at, depth, near, search):
    """Write the pairs of elements that are apart or overlap by `depth` [m] at most and are within search.reach of each
    other, and the limits that are within `near`, with witnesses, to search.watched. Returns their number, which may
    exceed the room."""
    model, surface, bodies, q, watched = at.model, at.surface, at.bodies, at.joints.q, search.watched
    found = find_near(surface, bodies, search.reach, depth, EDGE, search.place, watched.pairs, watched.witness)
    found = near_limits(model, surface, bodies, q, near, depth, found, watched.pairs)
    count = min(found, len(watched.pairs))
    watched.count[0] = count
    find_limits(model, surface, bodies, q, watched.pairs, count, watched.witness)
    return np.int64(found)


@program
def pairs_touching(at, depth, search):
    """Write the pairs that touch, overlap by `depth` [m] at most, and face each other, and their ζ, to search.watched.
    Returns their number, and that of the pairs looked at, which may exceed the room."""
    model, surface, bodies, joints, watched = at.model, at.surface, at.bodies, at.joints, search.watched
    for i in range(len(search.reach)):
        search.reach[i] = 0.5 * TOUCH
    found, kept, witness = pairs_near(at, depth, TOUCH, search), 0, watched.witness
    count = np.int64(watched.count[0])
    separation_rates(witness, bodies, count, watched.zeta)
    limit_rates(model, surface, bodies, joints.q, joints.v, watched.pairs, count, watched.zeta)
    for i in range(count):
        if witness.margin[i] >= -EDGE and witness.facing[i] >= FACING:
            watched.pairs[kept], watched.zeta[kept] = watched.pairs[i], watched.zeta[i]
            kept += 1
    return kept, found


@program
def leave_set_out(at, chosen, watched):
    """Drop the pairs of the current set from those watched."""
    kept, pairs = 0, watched.pairs
    for i in range(watched.count[0]):
        in_set = False
        for k in range(chosen.count[0]):
            in_set = in_set or chosen.pair[k] == pairs[i]
        if not in_set:
            pairs[kept] = pairs[i]
            kept += 1
    watched.count[0] = kept
    see_pairs(at, watched)


@program
def choose_watched(piece):
    """Choose the pairs to watch: those apart at the start that the bodies' motion can bring together. Returns their
    number, which may exceed the room, and that of the intervals to look at."""
    at, search = piece.at, piece.search
    watched = search.watched
    intervals, h = travel(piece), piece.span[LENGTH]
    for i in range(len(search.reach)):
        turn = min(search.spin[i] * h, 2.0) * search.radius[i]
        search.reach[i] = FARTHER * (search.far[i] + turn) + BEYOND * h * search.speed[i] + 2.0 * TOUCH
    found = pairs_near(at, TOUCH, math.inf, search)
    if found > len(watched.pairs):
        return found, intervals
    leave_set_out(at, piece.chosen, watched)
    for i in range(watched.count[0]):
        # the gap of a pair that has just let go is 0 but for rounding: only what falls below that is an event
        gap, offset = watched.witness.gap[i], 0.0
        if gap < -TOUCH:
            offset = 0.5 * TOUCH  # behind a wall, beyond its rim: on its way back it may graze the wall
        elif gap < TOUCH:
            offset = max(-gap, 0.0) + (GRAZE if watched.zeta[i] <= RESTS else 0.0)
        watched.offset[i] = offset
    return found, intervals


def bounding_radii(model: Model) -> Array:
    """Radius about the centre of mass that holds all bounded shapes of each body (n,) [m]."""
    shapes = model.shapes
    radius = np.zeros(len(model.kind))
    reach = np.linalg.norm(shapes.position, axis=1) + np.where(np.isfinite(shapes.bound), shapes.bound, 0.0)
    np.maximum.at(radius, shapes.body, np.abs(reach))
    return radius
