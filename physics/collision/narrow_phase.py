"""The one table of shape pairs, and the way from pairs to rows of Contacts.

Each family of pairs has a kernel of its own, compiled only when a scene needs it. They write points as rows of a patch,
`owner` tells which pair each belongs to, and `fill_contacts` puts them in the order of the pairs.
"""

from typing import NamedTuple

import numpy as np

from ..core.jit import helper, kernel, program
from ..core.model import Array, IntArray
from ..core.vec import put, row
from ..shapes.table import FORMS, SCENERY
from .box_box import box_box
from .geometry import (
    BOWL,
    BOX,
    CAPSULE,
    CONE,
    CYLINDER,
    ELLIPSOID,
    MESH,
    PATCH,
    PIPE,
    PLANE,
    SPHERE,
    SUPERELLIPSOID,
    TORUS,
    axis,
    mix,
    origin,
    swell,
)
from .heights import plane_height
from .hollow import touch_hollow
from .manifold import EVEN, SAME_DIRECTION, reduce_corners, reduce_points
from .polytope import POINT_ROW, POINTS
from .round import (
    balls,
    box_plane,
    capsule_capsule,
    capsule_plane,
    cylinder_plane,
    ellipsoid_ellipsoid,
    foot,
    hull_plane,
    round_plane,
    smooth_pair,
    sphere_box,
    sphere_capsule,
    sphere_cone,
    sphere_cylinder,
    sphere_ellipsoid,
)

NONE, ROUND, BOXES, CONVEX, TRIANGLES, HOLLOWS, RINGS, SURFACES = range(8)  # the families
FAMILIES, KINDS = 8, len(FORMS)
FAMILY = np.full((KINDS, KINDS), CONVEX, np.int32)  #: THE table of pairs: family by the kinds of the two shapes
_BY_BALLS = [SPHERE, BOX, CAPSULE, CYLINDER, CONE, ELLIPSOID]  # whose distance from a point has a closed form
FAMILY[SPHERE, _BY_BALLS] = FAMILY[_BY_BALLS, SPHERE] = ROUND
FAMILY[CAPSULE, CAPSULE] = FAMILY[ELLIPSOID, ELLIPSOID] = ROUND
_SMOOTH = [SPHERE, ELLIPSOID, SUPERELLIPSOID]
FAMILY[SUPERELLIPSOID, _SMOOTH] = FAMILY[_SMOOTH, SUPERELLIPSOID] = ROUND
FAMILY[PLANE, :] = FAMILY[:, PLANE] = ROUND
FAMILY[BOX, BOX] = BOXES
FAMILY[MESH, :] = FAMILY[:, MESH] = TRIANGLES
FAMILY[[BOWL, PIPE], :] = FAMILY[:, [BOWL, PIPE]] = HOLLOWS
FAMILY[TORUS, :] = FAMILY[:, TORUS] = RINGS
_CORNERED = [PLANE, MESH, BOWL, PIPE]  # what meshes that move touch with their corners
FAMILY[MESH, _CORNERED] = FAMILY[_CORNERED, MESH] = SURFACES
FAMILY[np.ix_(SCENERY, SCENERY)] = NONE  # neither moves
NO_ROOM = -1  # a number of rows: there are more of something than the arrays can hold
SHARED = 1e-3  # nearer than this, relative to the smaller shape, two points of one body pair are one
RANK = tuple(list(FORMS).index(kind) for kind in range(KINDS))  # by kind: which shape of a pair comes first


class Found(NamedTuple):
    """Contact points of pairs of shapes, as they are found."""

    rows: Array      #: (r, PATCH)
    owner: IntArray  #: (r,) the pair that each belongs to


@kernel
def sort_families(kind, family, pairs, pair_count, lists_out, counts_out):
    """Row f of `lists_out` gets the pairs of family f (indices into `pairs`), counts_out[f] how many they are."""
    counts_out[:] = 0
    for p in range(pair_count):
        f = family[kind[pairs[p, 0]], kind[pairs[p, 1]]]
        lists_out[f, counts_out[f]] = p
        counts_out[f] += 1


@helper
def put_rows(patch, count, flip, p, total, found_out):
    """Append the points of pair p, turned round where its shapes were swapped; returns the number of rows."""
    sign, rows_out = -1.0 if flip else 1.0, found_out.rows
    for k in range(count):
        r = total + k
        if r < rows_out.shape[0]:
            found_out.owner[r] = p
            for c in range(PATCH):
                rows_out[r, c] = patch[k, c] * (sign if 3 <= c < 6 else 1.0)
    return total + count


@helper
def put_row(point, normal, gap, flip, p, total, found_out):
    """Append the only point of pair p."""
    rows_out = found_out.rows
    if total < rows_out.shape[0]:
        sign = -1.0 if flip else 1.0
        found_out.owner[total] = p
        for c in range(3):
            rows_out[total, c], rows_out[total, 3 + c] = point[c], sign * normal[c]
        rows_out[total, 6], rows_out[total, 7], rows_out[total, 8] = gap, 0.0, 0.0
    return total + 1


@helper
def move_row(found, k, r):
    """Row r becomes what row k is."""
    found.owner[r] = found.owner[k]
    for c in range(PATCH):
        found.rows[r, c] = found.rows[k, c]


@helper
def is_double(rows, k, t, nearer):
    """Whether two points lie together and push the same way."""
    square, along = 0.0, 0.0
    for i in range(3):
        square += (rows[k, i] - rows[t, i]) ** 2
        along += rows[k, 3 + i] * rows[t, 3 + i]
    return square <= nearer * nearer and abs(along) > SAME_DIRECTION


@helper
def same_bodies(pairs, body, p, q):
    """Whether two pairs of shapes belong to the same two bodies."""
    a, b, c, d = body[pairs[p, 0]], body[pairs[p, 1]], body[pairs[q, 0]], body[pairs[q, 1]]
    return (a == c and b == d) or (a == d and b == c)


@helper
def in_order(kind, pairs, p):
    """Shapes of pair p in the order of RANK, and whether that turns them round."""
    a, b = pairs[p, 0], pairs[p, 1]
    flip = RANK[kind[a]] > RANK[kind[b]]
    return (b, a, flip) if flip else (a, b, flip)


@helper
def touch_sphere(geom, a, b, margin, patch):
    """A sphere a and a shape b of the round family that is neither sphere nor plane."""
    kind = geom.kind[b]
    if kind == BOX:
        return sphere_box(geom, a, b, margin, patch)
    if kind == CAPSULE:
        return sphere_capsule(geom, a, b, margin, patch)
    if kind == CYLINDER:
        return sphere_cylinder(geom, a, b, margin, patch)
    if kind == CONE:
        return sphere_cone(geom, a, b, margin, patch)
    return sphere_ellipsoid(geom, a, b, margin, patch)


@kernel
def touch_round(geom, solids, a, b, margin, patch) -> int:
    """A pair of the round family, in the order of RANK; returns the number of points. Most scenes never reach it."""
    kind = geom.kind
    if kind[b] == SUPERELLIPSOID:
        return smooth_pair(geom, a, b, margin, patch)
    if kind[a] == SPHERE:
        return touch_sphere(geom, a, b, margin, patch)
    if kind[b] == CAPSULE:
        return capsule_capsule(geom, a, b, margin, patch)
    if kind[b] == ELLIPSOID:
        return ellipsoid_ellipsoid(geom, a, b, margin, patch)
    if kind[a] == BOX:
        return box_plane(geom, a, b, margin, patch)
    if kind[a] == CAPSULE:
        return capsule_plane(geom, a, b, margin, patch)
    if kind[a] == CYLINDER:
        return reduce_points(geom, a, b, patch, 0, cylinder_plane(geom, a, b, margin, patch))
    if solids.info[a, POINTS] == 0:
        return reduce_points(geom, a, b, patch, 0, round_plane(geom, a, b, margin, patch))
    first, count = solids.info[a, POINT_ROW], solids.info[a, POINTS]
    return reduce_corners(geom, a, b, patch, 0, hull_plane(geom, solids.vectors, first, first + count, a, b, margin,
                                                           patch))


@program
def touch_round_pairs(geom, solids, patch, pairs, chosen, count, reach, total, found_out) -> int:
    """Points of the chosen pairs; returns the number of rows so far, which may exceed the room. Spheres on spheres and
    on planes, of which piles have thousands, go straight into their row."""
    kind = geom.kind
    for i in range(count):
        p = chosen[i]
        a, b, flip = in_order(kind, pairs, p)
        if kind[a] == SPHERE and (kind[b] == SPHERE or kind[b] == PLANE):
            if kind[b] == SPHERE:
                point, n, gap = balls(origin(geom, a), swell(geom, a), origin(geom, b), swell(geom, b), (0.0, 0.0, 1.0))
            else:
                height = plane_height(geom, b, origin(geom, a))
                point, n, gap = foot(origin(geom, a), swell(geom, a), axis(geom, b, 2), height)
            if gap <= reach[a] + reach[b]:
                total = put_row(point, n, gap, flip, p, total, found_out)
            continue
        points = touch_round(geom, solids, a, b, reach[a] + reach[b], patch)
        total = put_rows(patch, points, flip, p, total, found_out)
    return total


@kernel
def touch_hollow_pairs(geom, solids, work, pairs, chosen, count, reach, total, found_out) -> int:
    """Likewise for shapes within a bowl or a pipe."""
    for i in range(count):
        p = chosen[i]
        a, b, flip = in_order(geom.kind, pairs, p)
        points = touch_hollow(geom, solids, work.core[0], a, b, reach[a] + reach[b], work.patch)
        total = put_rows(work.patch, points, flip, p, total, found_out)
    return total


@kernel
def touch_box_pairs(geom, work, pairs, chosen, count, reach, total, lists_out, counts_out, found_out) -> int:
    """Likewise for boxes; pairs for which `box_box` returns -1 go on the list of the convex family."""
    corners, poly, patch = work.figures[:2], work.figures[2:], work.patch
    for i in range(count):
        p = chosen[i]
        a, b = pairs[p, 0], pairs[p, 1]
        points = box_box(geom, a, b, reach[a] + reach[b], corners, poly, patch)
        if points < 0:
            lists_out[CONVEX, counts_out[CONVEX]] = p
            counts_out[CONVEX] += 1
        total = put_rows(patch, max(points, 0), False, p, total, found_out)
    return total


@helper
def goes_before(pairs, rows, owner, k, t, even):
    """Whether of two points that lie together k is kept: the deeper one. Of two that are equally deep but for rounding,
    `even` [m], it is that of the first shapes, so that what rests keeps its contacts."""
    if abs(rows[k, 6] - rows[t, 6]) > even:
        return rows[k, 6] < rows[t, 6]
    a, b, c, d = pairs[owner[k], 0], pairs[owner[k], 1], pairs[owner[t], 0], pairs[owner[t], 1]
    return min(a, b) < min(c, d) or (min(a, b) == min(c, d) and max(a, b) < max(c, d))


@kernel
def drop_doubles(geom, pairs, body, shapes_of, total, head, link, found) -> int:
    """Of points that several shapes of one body pair share keep one, see `goes_before`; returns the number of rows
    left.

    shapes_of (n,) counts the shapes of each body; head (2^k,) and link (rows,) are the scratch of a hash table by body
    pair.
    """
    head[:] = -1
    kept, rows, owner = 0, found.rows, found.owner
    for k in range(total):
        a, b = pairs[owner[k], 0], pairs[owner[k], 1]
        i, j = np.int64(body[a]), np.int64(body[b])
        double = False
        if shapes_of[i] > 1 or shapes_of[j] > 1:
            h = mix(mix(np.int64(0), min(i, j)), max(i, j)) & (head.shape[0] - 1)
            size = min(geom.bound[a], geom.bound[b])
            size = size if size > 0.0 else max(geom.bound[a], geom.bound[b])  # a plane has no size
            t = head[h]
            while t >= 0 and not double:
                double = is_double(rows, k, t, SHARED * size) and same_bodies(pairs, body, owner[k], owner[t])
                if double and goes_before(pairs, rows, owner, k, t, EVEN * size):
                    move_row(found, k, t)
                t = link[t]
            if not double:
                link[kept] = head[h]
                head[h] = kept
        if not double:
            move_row(found, k, kept)
            kept += 1
    return kept


@helper
def begin_pairs(owner, pair_count, total, start_out):
    """Where the rows of each pair begin, of so many rows in the order of the pairs."""
    start_out[: pair_count + 1] = 0
    for k in range(total):
        start_out[owner[k] + 1] += 1
    for p in range(pair_count):
        start_out[p + 1] += start_out[p]


@kernel
def sort_rows(pair_count, total, start, place, found_in_out) -> None:
    """Put so many rows in the order of their pairs, those of one pair as they follow one another; start (pairs + 1,)
    and place (rows,) are scratch."""
    owner, rows = found_in_out.owner, found_in_out.rows
    begin_pairs(owner, pair_count, total, start)
    for k in range(total):
        place[k] = start[owner[k]]
        start[owner[k]] += 1
    for k in range(total):
        while place[k] != k:
            t = place[k]
            owner[k], owner[t], place[k], place[t] = owner[t], owner[k], place[t], t
            for c in range(PATCH):
                rows[k, c], rows[t, c] = rows[t, c], rows[k, c]


@kernel
def fill_contacts(pairs, pair_count, found, total, start, shapes, materials, contacts_out):
    """Rows of Contacts in the order of the pairs: a stable counting sort by pair."""
    out = contacts_out
    body_a, body_b, shape_a, shape_b, key = out.body_a, out.body_b, out.shape_a, out.shape_b, out.key
    point, normal, gap, e_out, mu_out = out.point, out.normal, out.gap, out.restitution, out.friction
    restitution, friction = materials.restitution, materials.friction
    rows, owner, body, material = found.rows, found.owner, shapes.body, shapes.material
    begin_pairs(owner, pair_count, total, start)
    for k in range(total):
        p = owner[k]
        r = start[p]
        start[p] += 1
        a, b = pairs[p, 0], pairs[p, 1]
        body_a[r], body_b[r], shape_a[r], shape_b[r] = body[a], body[b], a, b
        key[r] = mix(mix(mix(mix(0, a), b), int(rows[k, 7])), int(rows[k, 8]))
        for i in range(3):
            point[r, i] = rows[k, i]
            normal[r, i] = rows[k, 3 + i]
        gap[r] = rows[k, 6]
        e_out[r] = restitution[material[a], material[b]]
        mu_out[r] = friction[material[a], material[b]]
    out.count[0] = total


@kernel
def leave_out_contacts(left_out, contacts_in_out) -> None:
    """Contacts without those left out (c,), in their order; only the columns that `fill_contacts` fills count."""
    out, kept = contacts_in_out, 0
    for k in range(len(left_out)):
        if left_out[k]:
            continue
        if kept < k:
            out.body_a[kept], out.body_b[kept] = out.body_a[k], out.body_b[k]
            out.shape_a[kept], out.shape_b[kept], out.key[kept] = out.shape_a[k], out.shape_b[k], out.key[k]
            put(out.point, kept, row(out.point, k))
            put(out.normal, kept, row(out.normal, k))
            out.gap[kept], out.restitution[kept], out.friction[kept] = out.gap[k], out.restitution[k], out.friction[k]
        kept += 1
    out.count[0] = kept
