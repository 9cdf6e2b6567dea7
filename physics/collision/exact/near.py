"""Which pairs of surface elements are near each other: of shapes whose boxes are, those elements that are near the box
of the other shape.

A shape of some hundred elements has ten thousands of pairs with another one. Their boxes, which lie along the axes of
the shapes, are apart where one of 15 directions separates them [Gottschalk, Lin and Manocha 1996]; where they are not,
few elements of either shape are near the other's box. Where they are many, as of two meshes of which one is within the
other, their pairs are those in leaves of the two shapes' trees whose boxes are near each other.
"""

from typing import NamedTuple

import numpy as np

from ...core.jit import helper, kernel
from ...core.model import Array, IntArray
from ...core.vec import (
    axpy,
    cross,
    dot,
    norm,
    put,
    quat_conj,
    quat_mul,
    rotate,
    row,
    row4,
    sub,
    transform,
    untransform,
)
from ...shapes.elements import BOWL, EDGE, FACE, PIPE, RIM, RING
from ..bvh import build_over
from .elements import (
    ARC_OVER,
    ARC_WALL,
    EDGE_EDGE,
    ELLIPSOID_BOWL,
    ELLIPSOID_PIPE,
    PAIR_KINDS,
    RIM_FACE,
    SEAT_WALL,
    STAND_OVER,
    STAND_WALL,
    VERTEX_BOWL,
    VERTEX_EDGE,
    VERTEX_FACE,
    VERTEX_PIPE,
    VERTEX_RIM,
    VERTEX_VERTEX,
    Elements,
)
from .frames import world_axis, world_point
from .gaps import nearest, put_witness
from .seats import seat_all

WALLS = (VERTEX_BOWL, VERTEX_PIPE, ELLIPSOID_BOWL, ELLIPSOID_PIPE, ARC_WALL, STAND_WALL, SEAT_WALL)
#: pairs whose nearest points move along them as fast as the elements themselves, where nothing is swollen
STRAIGHT = (VERTEX_VERTEX, VERTEX_EDGE, VERTEX_FACE, VERTEX_BOWL, VERTEX_PIPE)
#: columns of `find_near`'s place: 0-2 point, a list, axis, 1 = the element is in the list; their number
LISTED, AXIS, NEAR, PLACE = 3, 4, 7, 8
TREE = 64     # elements of a shape from which on it has a tree
SWELL = 1e-9  # of the boxes in trees by rounding, relative to the shape
FEW = 4096    # pairs of elements listed that are not worth walking trees
WAITS = 256   # pairs of nodes that wait during a walk of two trees: at most two more a level of either
ALONG = 1e-6  # sine of the angle between two directions below which they count as one


class Trees(NamedTuple):
    """Trees of boxes about the elements of shapes, laid out as those of `Meshes`; shapes of few elements have none."""

    node_start: IntArray  #: (s + 1,) first node of each shape
    node_min: Array       #: (n, 3) in the body frame [m]
    node_max: Array       #: (n, 3)
    child: IntArray       #: (n, 2)
    leaf_order: IntArray  #: (e,) elements


def trees_of(surface: Elements) -> Trees:
    """The trees of all shapes."""
    node_start, order = [0], np.arange(len(surface.kind), dtype=np.int32)
    low, high = [np.zeros((0, 3))], [np.zeros((0, 3))]
    child: list[IntArray] = [np.zeros((0, 2), np.int32)]
    for first, last in zip(surface.start.tolist(), surface.start[1:].tolist(), strict=False):
        if last - first >= TREE:
            lo, hi, children, leaves = build_over(*bounds_of(surface, first, last))
            leaf = children[:, 0] < 0
            children[leaf, 0] -= first
            children[~leaf] += node_start[-1]
            order[first:last] = first + leaves
            low.append(lo)
            high.append(hi)
            child.append(children)
        node_start.append(sum(map(len, child)))
    return Trees(
        np.array(node_start, np.int32), np.concatenate(low), np.concatenate(high), np.concatenate(child), order)


def bounds_of(surface: Elements, first: int, last: int) -> tuple[Array, Array]:
    """Lower and upper corners (3, e) of boxes about the elements first : last. A face with straight sides lies within
    its corners, where neighbouring sides meet."""
    mine = slice(first, last)
    kind, point, axis, extent = (a[mine] for a in (surface.kind, surface.point, surface.axis, surface.extent))
    half = np.repeat(extent[:, None], 3, axis=1)
    edge = kind == EDGE
    half[edge] = np.abs(axis[edge]) * surface.length[mine][edge, None] + surface.radius[mine][edge, None]
    lo, hi = point - half, point + half
    sides = np.diff(surface.side_start[first : last + 1])
    for count in np.unique(sides[(kind == FACE) & (sides > 2)]):
        faces = np.flatnonzero((kind == FACE) & (sides == count))
        side = surface.side[surface.side_start[first + faces][:, None] + np.arange(count)]
        n = np.repeat(axis[faces, None], count, axis=1)
        rows = np.stack([n, side[..., :3], np.roll(side[..., :3], -1, axis=1)], axis=2)
        height = np.einsum("fck,fk->fc", n, point[faces])
        right = np.stack([height, side[..., 3], np.roll(side[..., 3], -1, axis=1)], axis=2)
        sharp = (np.abs(np.linalg.det(rows)) > ALONG).all(axis=1)
        faces, corner = faces[sharp], np.linalg.solve(rows[sharp], right[sharp][..., None])[..., 0]
        lo[faces], hi[faces] = np.maximum(lo[faces], corner.min(axis=1)), np.minimum(hi[faces], corner.max(axis=1))
    swell = SWELL * float(np.abs([lo, hi]).max())
    return np.ascontiguousarray((lo - swell).T, np.float64), np.ascontiguousarray((hi + swell).T, np.float64)


@helper
def box_of(surface, s):
    """Centre, axes and half extents of the box of shape s, in the frame of its body."""
    axes = row(surface.box_axis, 3 * s), row(surface.box_axis, 3 * s + 1), row(surface.box_axis, 3 * s + 2)
    return row(surface.box_centre, s), axes, row(surface.box_half, s)


@helper
def box_from(surface, bodies, s, j):
    """The same in the frame of body j."""
    i = int(surface.shape_body[s])
    centre, axes, half = box_of(surface, s)
    turn = quat_mul(quat_conj(row4(bodies.q, j)), row4(bodies.q, i))
    seen = untransform(row(bodies.x, j), row4(bodies.q, j), transform(row(bodies.x, i), row4(bodies.q, i), centre))
    return seen, (rotate(turn, axes[0]), rotate(turn, axes[1]), rotate(turn, axes[2])), half


@helper
def width_along(box, u):
    """Half the width of a box along u; inf or nan where it has no bounds."""
    axes, half = box[1], box[2]
    return half[0] * abs(dot(axes[0], u)) + half[1] * abs(dot(axes[1], u)) + half[2] * abs(dot(axes[2], u))


@helper
def boxes_apart(a, b, near):
    """Whether one of 15 directions shows that two boxes are farther than `near` from each other."""
    d = sub(b[0], a[0])
    for k in range(3):
        if abs(dot(d, a[1][k])) > a[2][k] + width_along(b, a[1][k]) + near:
            return True
        if abs(dot(d, b[1][k])) > b[2][k] + width_along(a, b[1][k]) + near:
            return True
    for k in range(3):
        for l in range(3):
            w = cross(a[1][k], b[1][l])
            size = norm(w)
            if size > ALONG and abs(dot(d, w)) > width_along(a, w) + width_along(b, w) + near * size:
                return True
    return False


@helper
def outside(surface, e, box, near):
    """Whether all of element e is farther than `near` from a box in the frame of its body."""
    d, u, axes, half = sub(row(surface.point, e), box[0]), row(surface.axis, e), box[1], box[2]
    if surface.kind[e] == FACE and abs(dot(u, d)) > width_along(box, u) + near:
        return True
    length, width = (surface.length[e], surface.radius[e]) if surface.kind[e] == EDGE else (0.0, surface.extent[e])
    beyond = False
    for k in range(3):
        beyond = beyond or abs(dot(d, axes[k])) > half[k] + length * abs(dot(u, axes[k])) + width + near
    return beyond


@helper
def list_elements(surface, bodies, s, box, near, place_out):
    """List the elements of shape s that are within `near` of a box in the frame of its body, in the column LISTED of
    place_out from the shape's first row on, and place them: write their points in the world and, from column AXIS on,
    their axes, to their own rows. Mark them in the column NEAR. Returns their number."""
    first, count = int(surface.start[s]), 0
    for e in range(first, int(surface.start[s + 1])):
        place_out[e, NEAR] = 0.0
        if not outside(surface, e, box, near):
            place_out[e, NEAR], place_out[first + count, LISTED] = 1.0, float(e)
            count += 1
            u = world_axis(surface, bodies, e)
            put(place_out, e, world_point(surface, bodies, e))
            for j in range(3):
                place_out[e, AXIS + j] = u[j]
    return count


@helper
def axis_of(place, e):
    return place[e, AXIS], place[e, AXIS + 1], place[e, AXIS + 2]


@helper
def plainly_apart(surface, place, kind, e, f, near, depth):
    """Whether the gap of a pair is more than `near` or less than -depth, where that is quickly seen; see `nearest`."""
    d, r = sub(row(place, f), row(place, e)), surface.radius[e] + surface.radius[f]
    u = axis_of(place, f)
    if kind == VERTEX_FACE:
        height = -dot(u, d) - surface.radius[e]
        return height > near or height < -max(near, depth)
    if kind == VERTEX_EDGE:
        return norm(axpy(-dot(u, d), u, d)) > near + r
    if kind == EDGE_EDGE:
        w = cross(axis_of(place, e), u)
        return abs(dot(w, d)) > (max(near, depth) + r) * norm(w)
    return False


@helper
def told_by_other(surface, kind, e, f):
    """Whether other elements tell of the pair: of two tori the arcs of the lower shape tell of both, and arcs of rims,
    which are swollen by nothing, are there for walls only. What is flatter than a wall meets it in its seats, of
    which each is there for one wall."""
    if kind in (ELLIPSOID_BOWL, ELLIPSOID_PIPE):
        return surface.length[e] >= surface.radius[f]
    if kind == SEAT_WALL:
        return surface.wall[e] != surface.shape[f]
    twice = surface.kind[f] == RING and surface.shape[e] > surface.shape[f]
    return kind in (ARC_OVER, STAND_OVER) and (twice or surface.radius[e] == 0.0)


@helper
def across(place, e, f):
    """Sine of the angle between the axes of two elements that are placed."""
    return norm(cross(axis_of(place, e), axis_of(place, f)))


@helper
def may_rock(surface, place, kind, e, f, near):
    """Whether a rim or ring is so level over a face that its lowest point may come to lie anywhere on it when its
    points move by `near`."""
    return kind == RIM_FACE and surface.length[e] * across(place, e, f) <= near


@helper
def wanders(surface, place, kind, e, f, near, small):
    """How far the nearest points of a pair may wander along its elements when points of these move by `near`.

    Where two edges cross under the angle θ, and the lowest point of a rim that is tilted by θ to a face, wander by
    near/sin θ. What turns within `small`, the radius of the smaller shape, by near/small turns the normal as much, and
    with it the middles of what is swollen by r. The nearest point of a round element may come to lie anywhere on it."""
    swollen = 1.0 + (surface.radius[e] + surface.radius[f]) / max(small, near)
    if kind in (EDGE_EDGE, RIM_FACE):
        return swollen * near / max(across(place, e, f), ALONG)
    if kind in STRAIGHT:
        return swollen * near
    round_one = max(around(surface, e), around(surface, f))
    return swollen * near + 2.0 * round_one


@helper
def around(surface, e):
    """The radius that holds a round element; 0 of others, and of walls, whose points do not wander."""
    kind = surface.kind[e]
    return surface.extent[e] if kind >= RIM and kind != BOWL and kind != PIPE else 0.0


@helper
def apart(surface, bodies, block, near):
    """Whether the shapes of row `block` of `Elements.meets` are plainly farther than `near` from each other."""
    a, b = int(surface.meets[block, 0]), int(surface.meets[block, 1])
    i, j = int(surface.shape_body[a]), int(surface.shape_body[b])
    c = transform(row(bodies.x, i), row4(bodies.q, i), row(surface.reach, a))
    d = transform(row(bodies.x, j), row4(bodies.q, j), row(surface.reach, b))
    if norm(sub(d, c)) > near + surface.reach[a, 3] + surface.reach[b, 3]:
        return True
    return boxes_apart(box_from(surface, bodies, a, j), box_of(surface, b), near)


@helper
def frame_from(bodies, i, j):
    """(columns of the rotation, origin) of the frame of body j in that of body i."""
    turn = quat_mul(quat_conj(row4(bodies.q, i)), row4(bodies.q, j))
    x = untransform(row(bodies.x, i), row4(bodies.q, i), row(bodies.x, j))
    return rotate(turn, (1.0, 0.0, 0.0)), rotate(turn, (0.0, 1.0, 0.0)), rotate(turn, (0.0, 0.0, 1.0)), x


@helper
def nodes_apart(trees, frame, m, k, wide):
    """Whether the box of node k, in whose body's frame as `frame_from` gives it, is farther than `wide` from that of
    node m along an axis of the latter."""
    beyond = False
    for c in range(3):
        middle, half = 2.0 * frame[3][c], 2.0 * wide
        for l in range(3):
            middle += frame[l][c] * (trees.node_min[k, l] + trees.node_max[k, l])
            half += abs(frame[l][c]) * (trees.node_max[k, l] - trees.node_min[k, l])
        low, high = trees.node_min[m, c], trees.node_max[m, c]
        beyond = beyond or abs(middle - low - high) > half + high - low
    return beyond


@helper
def next_leaves(trees, frame, wide, waiting, depth):
    """(leaf, leaf, number of pairs of nodes that wait) of the next two leaves whose boxes are within `wide` of each
    other; -1 where there are none."""
    child = trees.child
    while depth > 0:
        depth -= 1
        m, k = int(waiting[depth, 0]), int(waiting[depth, 1])
        if nodes_apart(trees, frame, m, k, wide):
            continue
        if child[m, 0] < 0 and child[k, 0] < 0:
            return m, k, depth
        first = child[k, 0] < 0 or (child[m, 0] >= 0 and larger(trees, m, k))
        for side in range(2):
            waiting[depth, 0] = child[m, 1 - side] if first else m
            waiting[depth, 1] = k if first else child[k, 1 - side]
            depth += 1
    return -1, -1, 0


@helper
def larger(trees, m, k):
    """Whether the box of node m is larger than that of node k."""
    size = 0.0
    for c in range(3):
        size += trees.node_max[m, c] - trees.node_min[m, c] - trees.node_max[k, c] + trees.node_min[k, c]
    return size > 0.0


@kernel
def find_near(surface, trees, bodies, reach, depth, slack, place, pairs_out, out):
    """Pairs of elements whose gap is at most near = reach[k], k the row of their shapes in `Elements.meets`, and at
    least -depth, and that come into their own region, but for `slack`, as points move by `near` and their nearest
    points wander; with their witnesses. Outside that region the gap means little: there it may be as much below zero
    as the nearest points wander, and beyond the rim of a wall anything. A rim that `may_rock` stays, too. Where
    reach[k] < 0 there are none. Returns their number, which may exceed the room. place (e, PLACE) is scratch."""
    kinds, shape_body, extent, found = surface.kind, surface.shape_body, surface.extent, 0
    waiting, nodes, child = np.empty((WAITS, 2), np.int32), trees.node_start, trees.child
    seat_all(surface, bodies, reach, False)
    for block in range(len(surface.meets)):
        near = reach[block]
        if near < 0.0 or apart(surface, bodies, block, near):
            continue
        a, b = int(surface.meets[block, 0]), int(surface.meets[block, 1])
        i, j, wide = int(shape_body[a]), int(shape_body[b]), near + depth + slack
        small = min(surface.reach[a, 3], surface.reach[b, 3])
        mine = list_elements(surface, bodies, a, box_from(surface, bodies, b, i), wide, place)
        those = list_elements(surface, bodies, b, box_from(surface, bodies, a, j), wide, place) if mine > 0 else 0
        walks = mine * those > FEW and nodes[a + 1] > nodes[a] and nodes[b + 1] > nodes[b]
        frame, waits = frame_from(bodies, i, j), 1
        waiting[0, 0], waiting[0, 1] = nodes[a], nodes[b]
        first, then = int(surface.start[a]), int(surface.start[b])
        last, end = first + mine if those > 0 else first, then + those
        while True:
            if walks:
                m, k, waits = next_leaves(trees, frame, wide, waiting, waits)
                if m < 0:
                    break
                first, then = -child[m, 0] - 1, -child[k, 0] - 1
                last, end = first + child[m, 1], then + child[k, 1]
            for m in range(first, last):
                e = int(trees.leaf_order[m]) if walks else int(place[m, LISTED])
                if walks and place[e, NEAR] == 0.0:
                    continue
                for k in range(then, end):
                    f = int(trees.leaf_order[k]) if walks else int(place[k, LISTED])
                    g, h = e, f
                    if PAIR_KINDS[kinds[e], kinds[f]] < 0:
                        g, h = f, e
                    kind = int(PAIR_KINDS[kinds[g], kinds[h]])
                    if kind < 0 or (walks and place[f, NEAR] == 0.0) or told_by_other(surface, kind, g, h):
                        continue
                    if norm(sub(row(place, f), row(place, e))) > extent[e] + extent[f] + wide:
                        continue
                    thin = surface.radius[e] + surface.radius[f] == 0.0
                    if thin and kind in (VERTEX_VERTEX, VERTEX_EDGE, VERTEX_RIM):
                        continue  # a pair without thickness: its gap is never negative
                    if plainly_apart(surface, place, kind, g, h, near, depth):
                        continue
                    witness = nearest(surface, bodies, kind, g, h)
                    if witness[3] > near:
                        continue
                    wander = wanders(surface, place, kind, g, h, near, small)
                    if witness[4] + near + wander + slack < 0.0 and not may_rock(surface, place, kind, g, h, near):
                        continue
                    beside = witness[4] < -slack and (kind in WALLS or witness[3] >= -wander)
                    if witness[3] < -depth and not beside:
                        continue
                    if found < len(pairs_out):
                        pairs_out[found] = g * len(kinds) + h
                        put_witness(surface, g, h, witness, found, out)
                    found += 1
            if not walks:
                break
    return found
