"""Which pairs of surface elements are near each other: of shapes whose boxes are, those elements that are near the box
of the other shape.

A shape of some hundred elements has ten thousands of pairs with another one. Their boxes, which lie along the axes of
the shapes, are apart where one of 15 directions separates them [Gottschalk, Lin and Manocha 1996]; where they are not,
few elements of either shape are near the other's box.
"""

from ...core.jit import helper, kernel
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
from ...shapes.elements import EDGE, FACE
from .elements import (
    EDGE_EDGE,
    ELLIPSOID_BOWL,
    ELLIPSOID_PIPE,
    PAIR_KINDS,
    VERTEX_BOWL,
    VERTEX_EDGE,
    VERTEX_FACE,
    VERTEX_PIPE,
    VERTEX_RIM,
    VERTEX_VERTEX,
)
from .frames import world_axis, world_point
from .gaps import nearest, put_witness

WALLS = (VERTEX_BOWL, VERTEX_PIPE, ELLIPSOID_BOWL, ELLIPSOID_PIPE)
LISTED, AXIS, PLACE = 3, 4, 7  # columns of `find_near`'s place: 0-2 point, a list, axis; their number
ALONG = 1e-6  # sine of the angle between axes of two boxes below which they have no common normal


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
    their axes, to their own rows. Returns their number."""
    first, count = int(surface.start[s]), 0
    for e in range(first, int(surface.start[s + 1])):
        if not outside(surface, e, box, near):
            place_out[first + count, LISTED] = float(e)
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
def apart(surface, bodies, block, near):
    """Whether the shapes of row `block` of `Elements.meets` are plainly farther than `near` from each other."""
    a, b = int(surface.meets[block, 0]), int(surface.meets[block, 1])
    i, j = int(surface.shape_body[a]), int(surface.shape_body[b])
    c = transform(row(bodies.x, i), row4(bodies.q, i), row(surface.reach, a))
    d = transform(row(bodies.x, j), row4(bodies.q, j), row(surface.reach, b))
    if norm(sub(d, c)) > near + surface.reach[a, 3] + surface.reach[b, 3]:
        return True
    return boxes_apart(box_from(surface, bodies, a, j), box_of(surface, b), near)


@kernel
def find_near(surface, bodies, reach, depth, slack, place, pairs_out, out):
    """Pairs of elements whose gap is at most near = reach[k], k the row of their shapes in `Elements.meets`, and at
    least -depth, and that are outside their own region by 2 near + slack at most; with their witnesses. Beyond the rim
    of a wall the gap means nothing, and such pairs stay; so do a ball and a face beyond whose rim it is below its
    plane, but not by more than `near`: it may rise over the rim and land. Where reach[k] < 0 there are none. Returns
    their number, which may exceed the room. place (e, PLACE) is scratch."""
    kinds, shape_body, extent, found = surface.kind, surface.shape_body, surface.extent, 0
    for block in range(len(surface.meets)):
        near = reach[block]
        if near < 0.0 or apart(surface, bodies, block, near):
            continue
        a, b = int(surface.meets[block, 0]), int(surface.meets[block, 1])
        i, j, wide = int(shape_body[a]), int(shape_body[b]), near + depth + slack
        mine = list_elements(surface, bodies, a, box_from(surface, bodies, b, i), wide, place)
        those = list_elements(surface, bodies, b, box_from(surface, bodies, a, j), wide, place) if mine > 0 else 0
        for m in range(int(surface.start[a]), int(surface.start[a]) + mine if those > 0 else 0):
            e = int(place[m, LISTED])
            for k in range(int(surface.start[b]), int(surface.start[b]) + those):
                f = int(place[k, LISTED])
                g, h = e, f
                if PAIR_KINDS[kinds[e], kinds[f]] < 0:
                    g, h = f, e
                kind = int(PAIR_KINDS[kinds[g], kinds[h]])
                if kind < 0 or norm(sub(row(place, f), row(place, e))) > extent[e] + extent[f] + wide:
                    continue
                if kind in (VERTEX_VERTEX, VERTEX_EDGE, VERTEX_RIM) and surface.radius[e] + surface.radius[f] == 0.0:
                    continue  # a pair without thickness: its gap is never negative
                if plainly_apart(surface, place, kind, g, h, near, depth):
                    continue
                witness = nearest(surface, bodies, kind, g, h)
                if witness[3] > near or witness[4] < -2.0 * near - slack:
                    continue
                beside = witness[4] < 0.0 and (kind in WALLS or (kind == VERTEX_FACE and witness[3] >= -near))
                if witness[3] < -depth and not beside:
                    continue
                if found < len(pairs_out):
                    pairs_out[found] = g * len(kinds) + h
                    put_witness(surface, g, h, witness, found, out)
                found += 1
    return found
