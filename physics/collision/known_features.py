"""Pairs of polytopes that come back step after step: what told the last answer is tried first, and proved anew.

A note of a pair holds how far its two shapes were apart when that was last seen, and what they had travelled until
then: as long as what they have travelled since does not use that up, nothing else is asked. A note of two solids holds
also an axis that kept its shapes apart, or the features that gave its normal: a face, or two edges.
It is only a guess. `recall` finds the pair apart along the axis, or proves that the features give the nearest points or
the least overlap. Without a proof the pair is searched, and `prove` looks for the features that the answer belongs to.
A proof leaves room on all sides (`ROOM`), so that no other features can be proved at the same poses: the contacts are
the same, bit for bit, whatever the note was.

In the difference D of a and b, all points p - q of a and b, the pair is the point 0. The plane of the two features
supports D, along n out of a, and holds 0 at the depth d below it.
"""

import math

import numpy as np

from ..core.jit import helper
from ..core.model import Array
from ..core.vec import add, axpy, cross, dot, neg, scale, sub
from .geometry import origin, to_local, to_world
from .polytope import corner_of, facing, farthest, first_loop, middle_of, normal_of

NOTHING, AXIS, FACE_A, FACE_B, EDGES = range(5)  # what a note holds, and what has told an answer
APART = AXIS       # as an answer: farther from each other than asked for
CLEAR = 1e-9       # relative to the size: two ways to compute a distance differ by less
ROOM = 1e-4        # relative to the size: how far within its face of D the point below which 0 lies must be
NEAR = 0.9999      # cosine between two axes above which that of a face is preferred: a face is flat only to 1e-6 of the
#                    size, so two features can be proved where ROOM times the angle between their axes is less than that
STEEP = 1e-6       # square of the sine between two edges above which their cross product gives a normal
WITHIN = 1e-6      # sine to the ends of an arc above which a normal counts as on it


@helper
def room_in_face(solids, s, f, p):
    """Square of the distance [m^2] from the point of face f nearest to p, shape frame, to the rim; 0 beyond it."""
    loops, at, n = solids.loops, first_loop(solids, s) + f, normal_of(solids, s, f)
    best, count = math.inf, loops[at, 0]
    start = corner_of(solids, s, loops[at, count])
    for i in range(count):
        end = corner_of(solids, s, loops[at, 1 + i])
        edge = sub(end, start)
        inside = dot(cross(n, edge), sub(p, start))
        best = min(best, inside * inside / dot(edge, edge) if inside > 0.0 else 0.0)
        start = end
    return best


@helper
def is_least(geom, solids, s, o, n, depth, room):
    """Whether the plane of two features along n out of s is the nearest to 0 of all that support D.

    room: square of the radius r of a disc in this plane, about the point below which 0 lies, that belongs to D. A point
    of D that lies h below the plane and w to the side of 0 supports the planes that lean by more. With
    e = r h / (r + w) - d no other plane is nearer than d where d < e and r² (1 - d/e) > d² (1 + d/e). Apart (d < 0) the
    nearest point is unique.
    """
    size = geom.core[s] + geom.core[o]
    if room <= (ROOM * size) ** 2 or depth <= 0.0:
        return room > (ROOM * size) ** 2
    r = math.sqrt(room)
    z = sub(add(origin(geom, s), to_world(geom, s, middle_of(solids, s))),
            add(origin(geom, o), to_world(geom, o, middle_of(solids, o))))
    along = dot(n, z)
    w = math.sqrt(max(dot(z, z) - along * along, 0.0))
    e = r * (depth - along) / (r + w) - depth
    k = depth / e
    return e > 0.0 and room * (1.0 - k) > (1.0 + 1e-6) * depth * depth * (1.0 + k)


@helper
def try_face(geom, solids, s, f, o, limit):
    """(answer, separation, normal out of s, farthest point of o): FACE_A where the nearest point of o lies above face f
    of s, APART where it is farther than the limit, else NOTHING."""
    outward = normal_of(solids, s, f)
    n = to_world(geom, s, outward)
    between = sub(origin(geom, o), origin(geom, s))
    k, top = farthest(solids, o, to_local(geom, o, neg(n)))
    at = first_loop(solids, s) + f
    height = dot(outward, corner_of(solids, s, solids.loops[at, 1]))
    separation = dot(n, between) - top - height
    q = add(between, to_world(geom, o, corner_of(solids, o, k)))
    if separation > limit:
        return APART, separation, n, q
    room = room_in_face(solids, s, f, to_local(geom, s, q))
    least = is_least(geom, solids, s, o, n, -separation, room)
    return FACE_A if least else NOTHING, separation, n, add(origin(geom, s), q)


@helper
def side_of_arc(geom, solids, s, e, m):
    """1 or -1 where m or -m lies within the arc between the normals of the faces of edge e of solid s, else 0."""
    u = to_local(geom, s, m)
    p, q = normal_of(solids, s, solids.edges[e, 2]), normal_of(solids, s, solids.edges[e, 3])
    r = dot(p, q)
    mp, mq = dot(u, p), dot(u, q)
    past_p, past_q, least = mq - r * mp, mp - r * mq, WITHIN * math.sqrt(max(1.0 - r * r, 0.0))
    if past_p > least and past_q > least:
        return 1
    return -1 if past_p < -least and past_q < -least else 0


@helper
def try_edges(geom, solids, a, e, b, g):
    """(answer, separation, normal a -> b, point of a): whether the nearest points lie on the edges e and g; the answer
    is EDGES or NOTHING."""
    edges = solids.edges
    start_a, start_b = corner_of(solids, a, edges[e, 0]), corner_of(solids, b, edges[g, 0])
    u = to_world(geom, a, sub(corner_of(solids, a, edges[e, 1]), start_a))
    v = to_world(geom, b, sub(corner_of(solids, b, edges[g, 1]), start_b))
    p = to_world(geom, a, start_a)
    apart = sub(add(sub(origin(geom, b), origin(geom, a)), to_world(geom, b, start_b)), p)
    m = cross(u, v)
    square, uu, vv = dot(m, m), dot(u, u), dot(v, v)
    if square <= STEEP * uu * vv:
        return NOTHING, 0.0, m, p
    along_u, along_v = dot(cross(apart, v), m) / square, dot(cross(apart, u), m) / square
    x, y = min(along_u, 1.0 - along_u), min(along_v, 1.0 - along_v)
    if x <= 0.0 or y <= 0.0:
        return NOTHING, 0.0, m, p
    m = scale(1.0 / math.sqrt(square), m)
    side = side_of_arc(geom, solids, a, e, m)
    if side == 0 or side_of_arc(geom, solids, b, g, m) != -side:
        return NOTHING, 0.0, m, p
    n = scale(1.0 * side, m)
    separation = dot(n, apart)
    least = is_least(geom, solids, a, b, n, -separation, square * min(x * x / vv, y * y / uu))
    return EDGES if least else NOTHING, separation, n, add(origin(geom, a), axpy(along_u, u, p))


def new_notes(pairs: int) -> Array:
    """Room for the notes of so many pairs; see `ConvexScratch`."""
    return np.zeros((pairs, 10))


@helper
def note_down(note_out, what, i, j):
    """Note the features, or the axis, of the pair in hand."""
    note_out[2], note_out[3], note_out[4] = what, i, j


@helper
def note_of(notes_in_out, at, a, b):
    """Row `at` of the notes; emptied where it is another pair's."""
    note = notes_in_out[at]
    if note[0] != a or note[1] != b:
        note[0], note[1], note[2], note[9] = a, b, NOTHING, -math.inf
    return note


@helper
def note_apart(geom, separation, note_out):
    """Note that a plane keeps the pair in hand so far apart [m]."""
    note_out[9] = separation + geom.travel[int(note_out[0])] + geom.travel[int(note_out[1])]


@helper
def stay_apart(geom, note, limit):
    """Whether the pair in hand, as far as it was apart, is still farther apart than the limit, wherever it has
    travelled to."""
    return note[9] - geom.travel[int(note[0])] - geom.travel[int(note[1])] > limit


@helper
def note_axis(geom, solids, a, n, note_out):
    """Note an axis n out of a that keeps the pair in hand apart, in a's frame, and how far a reaches along it."""
    d = to_local(geom, a, n)
    _, note_out[8] = farthest(solids, a, d)
    note_out[5], note_out[6], note_out[7] = d
    note_down(note_out, AXIS, 0, 0)


@helper
def are_apart(geom, solids, a, b, note_in_out, limit):
    """Whether a and b are apart by more than the limit along the axis noted."""
    n = to_world(geom, a, (note_in_out[5], note_in_out[6], note_in_out[7]))
    _, top = farthest(solids, b, to_local(geom, b, neg(n)))
    separation = dot(n, sub(origin(geom, b), origin(geom, a))) - top - note_in_out[8]
    note_apart(geom, separation, note_in_out)
    return separation > limit


@helper
def try_features(geom, solids, note_in_out, what, i, j, limit):
    """(answer, separation, normal a -> b, midpoint) by face i of a or of b, or by the edges i of a and j of b, as
    `what` says; noted where they are proved."""
    a, b = int(note_in_out[0]), int(note_in_out[1])
    if what == EDGES:
        answer, separation, n, p = try_edges(geom, solids, a, i, b, j)
        middle = axpy(0.5 * separation, n, p)
    else:
        s, o, sign = (a, b, 1.0) if what == FACE_A else (b, a, -1.0)
        answer, separation, n, q = try_face(geom, solids, s, i, o, limit)
        middle, n = axpy(-0.5 * separation, n, q), scale(sign, n)
    if answer == APART:
        note_apart(geom, separation, note_in_out)
    elif answer > APART:
        answer = what
        note_down(note_in_out, what, i, j)
    return answer, separation, n, middle


@helper
def prove(geom, solids, note_in_out, n, e, g, limit):
    """(answer, separation, normal a -> b, midpoint) by the features to which an axis n belongs that was found: a face
    of a, a face of b, or the edges e and g; whichever can be proved first. NOTHING where none can."""
    f, cosine = facing(geom, solids, int(note_in_out[0]), n)
    if cosine > NEAR:
        found = try_features(geom, solids, note_in_out, FACE_A, f, -1, limit)
        if found[0] > APART:
            return found
    f, cosine = facing(geom, solids, int(note_in_out[1]), neg(n))
    if cosine > NEAR:
        found = try_features(geom, solids, note_in_out, FACE_B, f, -1, limit)
        if found[0] > APART:
            return found
    if e >= 0 and g >= 0:
        return try_features(geom, solids, note_in_out, EDGES, e, g, limit)
    return NOTHING, 0.0, n, n


@helper
def edge_facing(geom, solids, s, e, n):
    """The face at edge e that looks most along n, and its cosine."""
    f, g, u = solids.edges[e, 2], solids.edges[e, 3], to_local(geom, s, n)
    along_f, along_g = dot(u, normal_of(solids, s, f)), dot(u, normal_of(solids, s, g))
    return (f, along_f) if along_f >= along_g else (g, along_g)


@helper
def facing_features(geom, solids, note, n):
    """(face of a, its cosine to n, face of b, its cosine to -n): the faces noted, or those that look most along n, of
    an edge noted among its two."""
    a, b, what, i, j = int(note[0]), int(note[1]), int(note[2]), int(note[3]), int(note[4])
    if what == EDGES:
        (face_a, cos_a), (face_b, cos_b) = edge_facing(geom, solids, a, i, n), edge_facing(geom, solids, b, j, neg(n))
    elif what == FACE_A:
        (face_a, cos_a), (face_b, cos_b) = (i, 1.0), facing(geom, solids, b, neg(n))
    else:
        (face_a, cos_a), (face_b, cos_b) = facing(geom, solids, a, n), (i, 1.0)
    return face_a, cos_a, face_b, cos_b


@helper
def recall(geom, solids, note_in_out, limit):
    """(answer, separation, normal a -> b, midpoint) by what is noted of the pair: APART, features that are proved, or
    NOTHING."""
    note, nothing = note_in_out, (0.0, 0.0, 0.0)
    a, b, what, i, j = int(note[0]), int(note[1]), int(note[2]), int(note[3]), int(note[4])
    if what == NOTHING:
        return NOTHING, 0.0, nothing, nothing
    if what == AXIS:
        return APART if are_apart(geom, solids, a, b, note, limit) else NOTHING, 0.0, nothing, nothing
    found = try_features(geom, solids, note, what, i, j, limit)
    if found[0] == FACE_B or found[0] == EDGES:  # a face that gives the same normal comes first
        _, cos_a, _, cos_b = facing_features(geom, solids, note, found[2])
        if cos_a > NEAR or (found[0] == EDGES and cos_b > NEAR):
            return prove(geom, solids, note, found[2], i, j, limit)
    return found
