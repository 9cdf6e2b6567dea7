"""Which pairs of elements touch, and which the search along a piece has to watch: those apart that it can bring
together."""

import math

import numpy as np

from ...collision.exact.near import apart, find_near
from ...collision.exact.seats import has_seats, seat_all
from ...core.jit import helper, program
from ...core.model import Array, Model
from ...core.vec import cross, norm, put, row, row4, sub, untransform
from ...dynamics.constraints.limits import find_limits, limit_rates, near_limits
from ...problem.contact_equations import separation_rates
from ...problem.system import velocity_between
from .piece import LENGTH, WATCHED, go, see_pairs
from .tolerances import EDGE, FACING, GRAZE, PUSHED, RESTS, SLOT, STRAIGHT, TOUCH

LARGEST_TURN = 0.1     # of a body between two nodes that are looked at [rad]
LEAST_INTERVALS = 4    # between nodes, of a piece
MOST_INTERVALS = 200
FARTHER = 1.1          # factor on how far a body comes at the nodes, for it may come farther between them
BEYOND = 0.1           # part of its first speed times the length of the piece that is added to that
#: [m] that points within 1 m of a body's centre move in a piece at rest: rounding. Gaps need 10⁷ such pieces to TOUCH
STILL = 2.0**-52
ALIKE = 1e-9           # by which accelerations ζ̇ of pairs that coincide may differ [m/s2]


@helper
def turn_by(spin, h, radius):
    """The longest way [m] that spin takes a point within `radius` of a centre in the time h: no longer than across."""
    return min(spin * h, 2.0) * radius


@program
def travel(piece):
    """Of each body: how far its centre comes from where it starts [m], its largest spin [rad/s] and its first speed
    [m/s], seen at nodes between which none turns by more than LARGEST_TURN. Returns the number of intervals between the
    nodes, and leaves the bodies at the start."""
    moves, bodies, h = piece.search.moves, piece.at.bodies, piece.span[LENGTH]
    n, far, spin, speed = len(moves.far), moves.far, moves.spin, moves.speed
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
        put(moves.start, i, row(bodies.x, i))
    intervals = min(MOST_INTERVALS, LEAST_INTERVALS + int(fastest * h / LARGEST_TURN))
    for node in range(intervals, -1, -1):
        go(piece, node / intervals)
        for i in range(n):
            far[i] = max(far[i], norm(sub(row(bodies.x, i), row(moves.start, i))))
            spin[i] = max(spin[i], norm(row(bodies.w, i)))
    return intervals


@helper
def way(moves, i, h, radius):
    """How far points within `radius` of the centre of motion i may come in the time h [m]."""
    return FARTHER * (moves.far[i] + turn_by(moves.spin[i], h, radius)) + BEYOND * h * moves.speed[i]


@helper
def rests(moves, i, h):
    """Whether motion i leads nowhere in the time h."""
    return moves.far[i] + h * (moves.speed[i] + moves.spin[i]) <= STILL


@program
def reach_in(piece):
    """How far from each other the elements of each two shapes are looked for: as far as their bodies come. None are of
    shapes that are farther apart than that, or that rest: their gaps stay. Bodies must be at the start. Returns the
    number of pairs of shapes left of which both bodies move."""
    at, search, h, pairs = piece.at, piece.search, piece.span[LENGTH], 0
    for k in range(len(search.reach)):
        i, j = search.sides[k, 0], search.sides[k, 1]
        near = 4.0 * TOUCH + way(search.moves, i, h, search.radius[i]) + way(search.moves, j, h, search.radius[j])
        rest = rests(search.moves, i, h) and rests(search.moves, j, h)
        search.reach[k] = -1.0 if rest or apart(at.surface, at.bodies, k, near) else near
        pairs += search.both_move[k] if search.reach[k] > 0.0 else 0
    return pairs


@helper
def place_from(bodies, i, j):
    """The centre of body i in the frame of body j."""
    return untransform(row(bodies.x, j), row4(bodies.q, j), row(bodies.x, i))


@helper
def speed_from(bodies, i, j):
    """How fast the centre of body i moves in the frame of body j [m/s]."""
    r = sub(row(bodies.x, i), row(bodies.x, j))
    return norm(sub(sub(row(bodies.v, i), row(bodies.v, j)), cross(row(bodies.w, j), r)))


@program
def reach_together(piece, intervals):
    """The same of two bodies that move with each other, as the links of a robot that falls: as far as a point of one
    comes in the frame of the other, where that is less far."""
    search, bodies, h, seen = piece.search, piece.at.bodies, piece.span[LENGTH], piece.search.seen
    for k in range(len(search.reach)):
        if search.both_move[k] == 1 and search.reach[k] > 0.0:
            i, j = search.sides[k, 0], search.sides[k, 1]
            put(seen.start, k, place_from(bodies, i, j))
            seen.far[k], seen.spin[k], seen.speed[k] = 0.0, 0.0, speed_from(bodies, i, j)
    for node in range(intervals, -1, -1):
        go(piece, node / intervals)
        for k in range(len(search.reach)):
            if search.both_move[k] == 1 and search.reach[k] > 0.0:
                i, j = search.sides[k, 0], search.sides[k, 1]
                seen.far[k] = max(seen.far[k], norm(sub(place_from(bodies, i, j), row(seen.start, k))))
                seen.spin[k] = max(seen.spin[k], norm(sub(row(bodies.w, i), row(bodies.w, j))))
    for k in range(len(search.reach)):
        if search.both_move[k] == 1 and search.reach[k] > 0.0:
            near = 4.0 * TOUCH + way(seen, k, h, search.radius[search.sides[k, 0]])
            search.reach[k] = -1.0 if rests(seen, k, h) else min(search.reach[k], near)


@program
def pairs_near(at, depth, near, search):
    """Write the pairs of elements that are apart or overlap by `depth` [m] at most and are within search.reach of each
    other, and the limits that are within `near`, with witnesses, to search.watched. Returns their number, which may
    exceed the room."""
    model, surface, bodies, q, watched = at.model, at.surface, at.bodies, at.joints.q, search.watched
    found = find_near(
        surface, search.trees, bodies, search.reach, depth, EDGE, search.place, watched.pairs, watched.witness)
    found = near_limits(model, surface, bodies, q, near, depth, found, watched.pairs)
    count = min(found, len(watched.pairs))
    watched.count[0] = count
    find_limits(model, surface, bodies, q, watched.pairs, count, watched.witness)
    return np.int64(found)


@program
def pairs_touching(at, depth, search):
    """Write the pairs that touch, overlap by `depth` [m] at most, and face each other, their ζ, and in `falling` the
    rows of their witnesses, to search.watched. Returns their number, and that of the pairs looked at, which may exceed
    the room."""
    model, surface, bodies, joints, watched = at.model, at.surface, at.bodies, at.joints, search.watched
    for k in range(len(search.reach)):
        search.reach[k] = TOUCH
    found, kept, witness = pairs_near(at, depth, TOUCH, search), 0, watched.witness
    count = np.int64(watched.count[0])
    separation_rates(witness, bodies, count, watched.zeta)
    limit_rates(model, surface, bodies, joints.q, joints.v, watched.pairs, count, watched.zeta)
    for i in range(count):
        if witness.margin[i] >= -EDGE and witness.facing[i] >= FACING:
            watched.pairs[kept], watched.zeta[kept], watched.falling[kept] = watched.pairs[i], watched.zeta[i], i
            kept += 1
    return kept, found


@helper
def is_among(in_order, pair):
    """Whether a pair is among those that stand in order."""
    k = np.searchsorted(in_order, pair)
    return k < len(in_order) and in_order[k] == pair


@helper
def is_sharp(curve):
    """Whether a surface is flat or an edge in both of its principal directions, or a vertex; curve (4,): α, β of
    both."""
    return curve[0] * curve[1] == 0.0 and curve[2] * curve[3] == 0.0


@helper
def coincide(witness, bodies, i, j):
    """Whether the pairs of the rows i and j, of the same two shapes, are one contact: a corner on another one touches
    as a vertex on a face and as two edges that cross. Of sharp elements at one point with one normal the rows of T are
    the same. What the turning of the normals adds to ζ̇ differs by (ṅ - ṅ')·u at most, which is small where the bodies
    do not turn against each other or do not slip."""
    a, b = int(witness.body_a[i]), int(witness.body_b[i])
    if not (is_sharp(witness.curve_a[i]) and is_sharp(witness.curve_b[i])
            and is_sharp(witness.curve_a[j]) and is_sharp(witness.curve_b[j])
            and abs(witness.gap[i] - witness.gap[j]) <= GRAZE
            and norm(sub(row(witness.p_a, i), row(witness.p_a, j))) <= EDGE
            and norm(sub(row(witness.normal, i), row(witness.normal, j))) <= STRAIGHT):
        return False
    u = velocity_between(
        row(bodies.v, a), row(bodies.w, a), sub(row(witness.p_a, i), row(bodies.x, a)),
        row(bodies.v, b), row(bodies.w, b), sub(row(witness.p_b, i), row(bodies.x, b)))
    return norm(sub(row(bodies.w, b), row(bodies.w, a))) * norm(u) <= ALIKE


@program
def one_of_each(at, chosen, lost, count, search):
    """Of the first `count` pairs in search.watched, whose witnesses are in the rows `falling`, leave out those `lost`,
    in order, and of pairs that coincide all but one: of the current set, where one is there. Returns how many are
    left, with their ζ; pairs of the same shapes follow each other."""
    surface, watched, bodies = at.surface, search.watched, at.bodies
    pairs, rows, zeta, left_out = watched.pairs, watched.falling, watched.zeta, watched.rejected
    elements, in_set, kept, end = len(surface.kind), np.sort(chosen.pair[: chosen.count[0]]), 0, 0
    while end < count:
        begin, a, b = end, -1, -1
        while end < count:
            if pairs[end] < elements * elements:
                c, d = surface.shape[pairs[end] // elements], surface.shape[pairs[end] % elements]
            else:
                c, d = -2 - end, 0  # a limit is alone
            if end > begin and (min(c, d) != a or max(c, d) != b):
                break
            a, b = min(c, d), max(c, d)
            left_out[end] = 2 if is_among(lost, pairs[end]) else 1
            end += 1
        for old in range(1, -1, -1):
            for i in range(begin, end):
                if left_out[i] != 1 or is_among(in_set, pairs[i]) != (old == 1):
                    continue
                left_out[i] = 0
                for j in range(begin, end if end - begin > 1 else begin):
                    if j != i and left_out[j] == 0 and coincide(watched.witness, bodies, rows[i], rows[j]):
                        left_out[i] = 2
                        break
    for i in range(count):
        if left_out[i] == 0:
            pairs[kept], zeta[kept] = pairs[i], zeta[i]
            kept += 1
    return kept


@program
def leave_set_out(at, chosen, watched):
    """Drop the pairs of the current set from those watched."""
    kept, pairs, count = 0, watched.pairs, int(chosen.count[0])
    in_order = np.sort(chosen.pair[:count])
    for i in range(watched.count[0]):
        if not is_among(in_order, pairs[i]):
            pairs[kept] = pairs[i]
            kept += 1
    watched.count[0] = kept
    see_pairs(at, watched)


@helper
def pushed_in(piece, i):
    """Whether the pair i watched may overlap by more than TOUCH because drift was projected out: within its elements,
    in a step that lets no contacts in."""
    witness = piece.search.watched.witness
    return (piece.depth[0] < SLOT and witness.gap[i] >= -PUSHED and witness.margin[i] >= -EDGE
            and witness.facing[i] >= FACING)


@program
def choose_watched(piece):
    """Choose the pairs to watch: those apart at the start that the bodies' motion can bring together. Returns their
    number, which may exceed the room, and that of the intervals to look at."""
    at, search = piece.at, piece.search
    watched = search.watched
    intervals = travel(piece)
    if reach_in(piece) > 0:
        reach_together(piece, intervals)
    if has_seats(at.surface):
        go(piece, 1.0)
        seat_all(at.surface, at.bodies, search.reach, True)
        go(piece, 0.0)
    found = pairs_near(at, PUSHED, math.inf, search)
    if found > len(watched.pairs):
        return found, intervals
    leave_set_out(at, piece.chosen, watched)
    search.nodes[WATCHED] = watched.count[0]
    for i in range(watched.count[0]):
        # the gap of a pair that has just let go is 0 but for rounding, and for drift that was projected out: only what
        # falls below that is an event
        gap, offset = watched.witness.gap[i], 0.0
        if gap < -TOUCH and not pushed_in(piece, i):
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
