"""The one table of shape pairs, and the way from pairs to rows of Contacts.

Each family of pairs has a kernel of its own, compiled only when a scene needs it. They write points as rows of a patch,
`owner` tells which pair each belongs to, and `fill_contacts` puts them in the order of the pairs.
"""

import numpy as np

from ..core.jit import helper, kernel
from .box_box import box_box
from .convex import touch_convex
from .geometry import (
    BOWL,
    BOX,
    CAPSULE,
    CYLINDER,
    ELLIPSOID,
    MESH,
    PATCH,
    PIPE,
    PLANE,
    SPHERE,
    axis,
    mix,
    origin,
    swell,
)
from .hollow import touch_hollow
from .manifold import SAME_DIRECTION, reduce_groups, reduce_points
from .round import (
    balls,
    box_plane,
    capsule_capsule,
    capsule_plane,
    cylinder_plane,
    ellipsoid_ellipsoid,
    ellipsoid_plane,
    foot,
    hull_plane,
    plane_height,
    sphere_box,
    sphere_capsule,
    sphere_cylinder,
    sphere_ellipsoid,
)
from .triangles import load_triangle

NONE, ROUND, BOXES, CONVEX, TRIANGLES, HOLLOWS = range(6)  # the families
FAMILIES, KINDS = 6, 10
FAMILY = np.full((KINDS, KINDS), CONVEX, np.int32)  #: THE table of pairs: family by the kinds of the two shapes
_BY_BALLS = [SPHERE, BOX, CAPSULE, CYLINDER, ELLIPSOID]  # whose distance from a point has a closed form
FAMILY[SPHERE, _BY_BALLS] = FAMILY[_BY_BALLS, SPHERE] = ROUND
FAMILY[CAPSULE, CAPSULE] = FAMILY[ELLIPSOID, ELLIPSOID] = ROUND
FAMILY[PLANE, :] = FAMILY[:, PLANE] = ROUND
FAMILY[BOX, BOX] = BOXES
FAMILY[MESH, :] = FAMILY[:, MESH] = TRIANGLES
FAMILY[[BOWL, PIPE], :] = FAMILY[:, [BOWL, PIPE]] = HOLLOWS
_SCENERY = [PLANE, MESH, BOWL, PIPE]
FAMILY[np.ix_(_SCENERY, _SCENERY)] = NONE  # neither moves
SHARED = 1e-3  # nearer than this, relative to the smaller shape, two points of one body pair are one
RANK = (0, 1, 2, 3, 6, 4, 7, 5, 8, 9)  # pairs are looked at in this order of kinds: what moves, planes, meshes, hollows


@kernel
def sort_families(kind, family, pairs, pair_count, lists_out, counts_out):
    """Row f of `lists_out` gets the pairs of family f (indices into `pairs`), counts_out[f] how many they are."""
    counts_out[:] = 0
    for p in range(pair_count):
        f = family[kind[pairs[p, 0]], kind[pairs[p, 1]]]
        lists_out[f, counts_out[f]] = p
        counts_out[f] += 1


@helper
def put_rows(patch, count, flip, p, total, rows_out, owner_out):
    """Append the points of pair p, turned round where its shapes were swapped; returns the number of rows."""
    sign = -1.0 if flip else 1.0
    for k in range(count):
        r = total + k
        if r < rows_out.shape[0]:
            owner_out[r] = p
            for c in range(PATCH):
                rows_out[r, c] = patch[k, c] * (sign if 3 <= c < 6 else 1.0)
    return total + count


@helper
def put_row(point, normal, gap, flip, p, total, rows_out, owner_out):
    """Append the only point of pair p."""
    if total < rows_out.shape[0]:
        sign = -1.0 if flip else 1.0
        owner_out[total] = p
        for c in range(3):
            rows_out[total, c], rows_out[total, 3 + c] = point[c], sign * normal[c]
        rows_out[total, 6], rows_out[total, 7], rows_out[total, 8] = gap, 0.0, 0.0
    return total + 1


@helper
def move_row(rows, owner, k, r):
    """Row r becomes what row k is."""
    owner[r] = owner[k]
    for c in range(PATCH):
        rows[r, c] = rows[k, c]


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
def touch_sphere(kind, pose, a, b, margin, patch):
    """A sphere a and a shape b of the round family that is neither sphere nor plane."""
    if kind[b] == BOX:
        return sphere_box(pose, a, b, margin, patch)
    if kind[b] == CAPSULE:
        return sphere_capsule(pose, a, b, margin, patch)
    if kind[b] == CYLINDER:
        return sphere_cylinder(pose, a, b, margin, patch)
    return sphere_ellipsoid(pose, a, b, margin, patch)


@helper
def touch_round(kind, pose, info, vectors, a, b, margin, patch):
    """A pair of the round family, in the order of RANK; returns the number of points."""
    if kind[a] == SPHERE:
        return touch_sphere(kind, pose, a, b, margin, patch)
    if kind[b] == CAPSULE:
        return capsule_capsule(pose, a, b, margin, patch)
    if kind[b] == ELLIPSOID:
        return ellipsoid_ellipsoid(pose, a, b, margin, patch)
    if kind[a] == ELLIPSOID:
        return ellipsoid_plane(pose, a, b, margin, patch)
    if kind[a] == BOX:
        return box_plane(pose, a, b, margin, patch)
    if kind[a] == CAPSULE:
        return capsule_plane(pose, a, b, margin, patch)
    if kind[a] == CYLINDER:
        return reduce_points(patch, 0, cylinder_plane(pose, a, b, margin, patch))
    first = info[a, 1]
    return reduce_points(patch, 0, hull_plane(pose, vectors, first, first + info[a, 2], a, b, margin, patch))


@kernel
def touch_round_pairs(kind, pose, info, vectors, pairs, chosen, count, reach, total, patch, rows_out, owner_out):
    """Points of the chosen pairs; returns the number of rows so far, which may exceed the room. Spheres on spheres and
    on planes, of which piles have thousands, go straight into their row."""
    for i in range(count):
        p = chosen[i]
        a, b, flip = in_order(kind, pairs, p)
        if kind[a] == SPHERE and (kind[b] == SPHERE or kind[b] == PLANE):
            if kind[b] == SPHERE:
                point, n, gap = balls(origin(pose, a), swell(pose, a), origin(pose, b), swell(pose, b), (0.0, 0.0, 1.0))
            else:
                height = plane_height(pose, b, origin(pose, a))
                point, n, gap = foot(origin(pose, a), swell(pose, a), axis(pose, b, 2), height)
            if gap <= reach[a] + reach[b]:
                total = put_row(point, n, gap, flip, p, total, rows_out, owner_out)
            continue
        found = touch_round(kind, pose, info, vectors, a, b, reach[a] + reach[b], patch)
        total = put_rows(patch, found, flip, p, total, rows_out, owner_out)
    return total


@kernel
def touch_hollow_pairs(kind, pose, info, vectors, core, pairs, chosen, count, reach, total, patch, rows_out, owner_out):
    """Likewise for shapes within a bowl or a pipe."""
    for i in range(count):
        p = chosen[i]
        a, b, flip = in_order(kind, pairs, p)
        found = touch_hollow(kind, pose, info, vectors, core, a, b, reach[a] + reach[b], patch)
        total = put_rows(patch, found, flip, p, total, rows_out, owner_out)
    return total


@kernel
def touch_box_pairs(pose, pairs, chosen, count, reach, total, figures, patch, lists_out, counts_out, rows_out,
                    owner_out):
    """Likewise for boxes; the pairs that an axis of theirs cannot judge go on the list of the convex family."""
    corners, poly = figures[:2], figures[2:]
    for i in range(count):
        p = chosen[i]
        a, b = pairs[p, 0], pairs[p, 1]
        found = box_box(pose, a, b, reach[a] + reach[b], corners, poly, patch)
        if found < 0:
            lists_out[CONVEX, counts_out[CONVEX]] = p
            counts_out[CONVEX] += 1
        total = put_rows(patch, max(found, 0), False, p, total, rows_out, owner_out)
    return total


@kernel
def touch_convex_pairs(kind, pose, info, vectors, loops, edges, sheets, core, figures, simplex, picked, cone, patch,
                       pairs, chosen, count, reach, total, rows_out, owner_out):
    """Likewise for any two convex shapes, and for one and a triangle of a mesh: chosen[i] = (pair, triangle or -1).

    The triangles of one pair follow one another, and their points are reduced together.
    """
    first = 0
    for i in range(count):
        p, t = chosen[i, 0], chosen[i, 1]
        a, b, flip = in_order(kind, pairs, p)
        margin, second = reach[a] + reach[b], b
        cone[7, 0] = 0.0
        if t >= 0:
            load_triangle(pose, b, sheets[t], core[1], cone)
            second = pose.shape[0] - 1
        last = touch_convex(pose, info, vectors, loops, edges, core, figures, simplex, picked, cone, a, second, margin,
                            patch, first)
        for k in range(first, last):
            patch[k, 8] = t + 1
        ends = i + 1 == count or chosen[i + 1, 0] != p
        if t >= 0 and (ends or last > patch.shape[0] // 2):
            last = reduce_groups(patch, last, 1e-6 * pose[a, 17])
        first = 0 if ends else last
        if ends:
            total = put_rows(patch, last, flip, p, total, rows_out, owner_out)
    return total


@kernel
def drop_doubles(pose, pairs, body, shapes_of, total, head, link, rows, owner):
    """Of points that several shapes of one body pair share keep the deeper; returns the number of rows left.

    shapes_of (n,) counts the shapes of each body; head (2^k,) and link (rows,) are the scratch of a hash table by body
    pair.
    """
    head[:] = -1
    kept = 0
    for k in range(total):
        a, b = pairs[owner[k], 0], pairs[owner[k], 1]
        i, j = np.int64(body[a]), np.int64(body[b])
        double = False
        if shapes_of[i] > 1 or shapes_of[j] > 1:
            h = mix(mix(np.int64(0), min(i, j)), max(i, j)) & (head.shape[0] - 1)
            smaller = min(pose[a, 17], pose[b, 17])  # a plane has no size
            nearer = SHARED * (smaller if smaller > 0.0 else max(pose[a, 17], pose[b, 17]))
            t = head[h]
            while t >= 0 and not double:
                double = is_double(rows, k, t, nearer) and same_bodies(pairs, body, owner[k], owner[t])
                if double and rows[k, 6] < rows[t, 6]:
                    move_row(rows, owner, k, t)
                t = link[t]
            if not double:
                link[kept] = head[h]
                head[h] = kept
        if not double:
            move_row(rows, owner, k, kept)
            kept += 1
    return kept


@kernel
def fill_contacts(pairs, pair_count, rows, owner, total, start, body, material, materials, contacts_out):
    """Rows of Contacts in the order of the pairs: a stable counting sort by pair."""
    out = contacts_out
    body_a, body_b, shape_a, shape_b, key = out.body_a, out.body_b, out.shape_a, out.shape_b, out.key
    point, normal, gap, e_out, mu_out = out.point, out.normal, out.gap, out.restitution, out.friction
    restitution, friction = materials.restitution, materials.friction
    start[: pair_count + 1] = 0
    for k in range(total):
        start[owner[k] + 1] += 1
    for p in range(pair_count):
        start[p + 1] += start[p]
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
