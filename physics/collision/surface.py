"""Meshes that move, as what they are: surfaces of triangles against each other, on planes, in bowls and pipes. Against
convex shapes and tori they are looked at as meshes that stand, see `triangles`.

Two surfaces touch where a corner of one is over a face of the other, or where an edge crosses one. Only corners and
edges that stick out can be first to touch, and those of flat or hollow places are silent, so that nothing is held up by
how a surface is divided. A corner touches a face only if none of its edges leads through it, and of two faces that meet
in an edge which sticks out it touches the one that it is less deep under; in an inner corner it touches both.

Where two move so fast that their contacts are looked for farther ahead than either is thick, a corner that stops may
turn others through the other mesh before the step ends. Corners above a face then count too, though an edge leads from
them to a lower one: those that the body turns upon soonest.
"""

import math
from typing import NamedTuple

import numpy as np

from ..core.jit import helper, kernel, program
from ..core.model import Array, IntArray, Meshes, Model, ShapeKind, movable
from ..core.vec import add, axpy, cross, dot, mat_vec, norm, row, scale, sub, tangents
from .bvh import STACK
from .geometry import MESH, PLANE, axis, extent, origin, put_point, to_local, to_world
from .heights import plane_height
from .hollow import put_within, wall
from .manifold import SAME_DIRECTION, reduce_groups, reduce_points, spot, swap_points
from .narrow_phase import SURFACES, in_order, put_rows
from .round import put_foot
from .triangles import local_bounds

LEADS = 0.05     # cosine between an edge of a corner and the way into a face from which on it leads through the face
ARC = 1e-3       # sine by which a normal may lean over those of the faces of an edge
CROSSES = 1e-3   # sine of the angle between two edges below which they do not cross
BESIDE = 1e-9    # how far beside a face a corner may be and yet over it, relative to the size
NEARER = 1e-6    # two contacts of one direction that are nearer to each other, relative to the size, are one
SHEET = 0.1      # how deep a surface without an inside may be pressed, relative to the size
SECTORS = 6      # about the lowest corner, in each of which one of those ahead is kept
OF_A, OF_B, OF_EDGES = range(3)  # what the feature of a contact counts: corners of the one, of the other, edges


class Outline(NamedTuple):
    """What sticks out of the meshes of a model, where some of them move: else without rows."""

    owns: IntArray        #: (t,) bits of each triangle: 1 << j its corner j, 8 << j its edge j stick out, and are
                          #: its own: each belongs to one triangle
    ring_start: IntArray  #: (v + 1,)
    ring: Array           #: (r, 3) unit vectors along the edges of each corner, away from it
    deep: Array           #: (k,) half the mean thickness of each mesh: volume over area [m]; inf where it is open
    stacks: IntArray      #: (2, STACK) scratch


def new_outline(model: Model) -> Outline:
    """The outlines of all meshes, where a body that forces move has one."""
    meshes, shapes = model.meshes, model.shapes
    moving = (shapes.kind == ShapeKind.MESH) & movable(model.kind[shapes.body])
    if not moving.any():
        none = np.zeros(0, np.int32)
        return Outline(none, none, np.zeros((0, 3)), np.zeros(0), np.zeros((2, STACK), np.int32))
    triangles = meshes.triangles
    ends = np.stack([triangles, np.roll(triangles, -1, axis=1)], axis=2)  # (t, 3, 2) of edge j
    convex = meshes.edge_convex > 0
    low, high = ends.min(axis=2), ends.max(axis=2)
    owns = np.zeros(len(triangles), np.int32)
    edges = low.astype(np.int64) * len(meshes.vertices) + high
    for first_bit, names, chosen in ((8, edges, convex),
                                     (1, triangles.astype(np.int64), convex | np.roll(convex, 1, axis=1))):
        flat = np.flatnonzero(chosen)
        rows, j = np.divmod(flat[np.unique(names.ravel()[flat], return_index=True)[1]], 3)
        np.bitwise_or.at(owns, rows, (first_bit << j).astype(np.int32))
    both = np.unique(np.concatenate([ends.reshape(-1, 2), ends.reshape(-1, 2)[:, ::-1]]), axis=0)
    away = meshes.vertices[both[:, 1]] - meshes.vertices[both[:, 0]]
    start = np.searchsorted(both[:, 0], np.arange(len(meshes.vertices) + 1)).astype(np.int32)
    deep = np.array([_half_thickness(meshes, k) for k in range(len(meshes.triangle_start) - 1)])
    return Outline(owns, start, away / np.linalg.norm(away, axis=1)[:, None], deep, np.zeros((2, STACK), np.int32))


def _half_thickness(meshes: Meshes, k: int) -> float:
    mine = slice(int(meshes.triangle_start[k]), int(meshes.triangle_start[k + 1]))
    a, b, c = (meshes.vertices[meshes.triangles[mine, j]] for j in range(3))
    area, o = np.cross(b - a, c - a), a.mean(axis=0)
    # the vector areas of a closed surface sum to 0
    if np.abs(area.sum(axis=0)).max() > 1e-6 * np.abs(area).sum():
        return math.inf
    volume = float(np.einsum("ij,ij->", a - o, area)) / 6.0
    return max(volume, 0.0) / (0.5 * float(np.linalg.norm(area, axis=1).sum())) or math.inf


@helper
def depth_of(geom, outline, a, b):
    """How deep meshes a and b may be in each other and still be said to touch [m]."""
    least = min(outline.deep[geom.data[a]], outline.deep[geom.data[b]])
    return least if least < math.inf else SHEET * min(geom.bound[a], geom.bound[b])


@helper
def frame_in(geom, a, m):
    """(rows of the rotation, origin) of shape a in the frame of shape m."""
    x, y, z = (to_local(geom, m, axis(geom, a, 0)), to_local(geom, m, axis(geom, a, 1)),
               to_local(geom, m, axis(geom, a, 2)))
    turn = (x[0], y[0], z[0]), (x[1], y[1], z[1]), (x[2], y[2], z[2])
    return turn, to_local(geom, m, sub(origin(geom, a), origin(geom, m)))


@helper
def to_frame(frame, p):
    return add(frame[1], mat_vec(frame[0], p))


@helper
def within_box(p, low, high):
    return (low[0] <= p[0] <= high[0]) and (low[1] <= p[1] <= high[1]) and (low[2] <= p[2] <= high[2])


@helper
def next_leaf(meshes, stack, depth, low, high):
    """(leaf, depth of the stack) of the next leaf whose bounds meet the box low, high; -1 where there is none."""
    lo, hi = meshes.node_min, meshes.node_max
    while depth > 0:
        depth -= 1
        k = stack[depth]
        if not (lo[k, 0] <= high[0] and hi[k, 0] >= low[0] and lo[k, 1] <= high[1] and hi[k, 1] >= low[1]
                and lo[k, 2] <= high[2] and hi[k, 2] >= low[2]):
            continue
        if meshes.child[k, 0] < 0:
            return k, depth
        stack[depth], stack[depth + 1] = meshes.child[k, 1], meshes.child[k, 0]
        depth += 2
    return -1, 0


@helper
def leaf_rows(meshes, k):
    """The rows of `leaf_order` of leaf k."""
    first = -meshes.child[k, 0] - 1
    return first, first + meshes.child[k, 1]


@helper
def corner_at(meshes, t, j):
    """Corner j of triangle t."""
    return row(meshes.vertices, meshes.triangles[t, j])


@helper
def ends_of(meshes, t, j):
    """The corners of edge j of triangle t, as rows of the vertices."""
    return meshes.triangles[t, j], meshes.triangles[t, (j + 1) % 3]


@helper
def leads_through(outline, v, n):
    """Whether an edge of corner v leads along n, both in its frame."""
    most = -1.0
    for k in range(outline.ring_start[v], outline.ring_start[v + 1]):
        most = max(most, dot(row(outline.ring, k), n))
    return most > LEADS


@helper
def is_over(geom, meshes, outline, frame, m, t, v, p, height, deep):
    """Whether a point p at a height over triangle t of mesh m, all in its frame, touches this face rather than a
    neighbour: corner v of the other mesh, which is at `frame`. Under an edge that sticks out the face whose plane is
    nearer is touched, if v could touch the other at all: the border is the plane that halves the angle."""
    n, beside = row(meshes.triangle_normal, t), BESIDE * geom.bound[m]
    for j in range(3):
        c, far = corner_at(meshes, t, j), corner_at(meshes, t, (j + 1) % 3)
        along = sub(far, c)
        out = cross(scale(1.0 / norm(along), along), n)
        inside, least = -dot(out, sub(p, c)), -beside
        if height < 0.0 and meshes.edge_convex[t, j] > 0:
            other = row(meshes.edge_normal[t], j)
            if not leads_through(outline, v, turned_back(frame, scale(-1.0, other))):
                least = -height * norm(cross(n, other)) / max(1.0 + dot(n, other), BESIDE) - beside
        elif height < 0.0 and meshes.edge_convex[t, j] < 0:
            least = -deep
        if inside < least:
            return False
    return True


@helper
def turned_back(frame, n):
    """A vector of the frame of m in that of the other mesh."""
    x, y, z = frame[0]
    return (x[0] * n[0] + y[0] * n[1] + z[0] * n[2], x[1] * n[0] + y[1] * n[1] + z[1] * n[2],
            x[2] * n[0] + y[2] * n[1] + z[2] * n[2])


@helper
def put_between(geom, m, patch, k, middle, normal, gap, feature, part):
    """A contact as row k; middle and normal in the frame of shape m."""
    last = put_point(patch, k, add(origin(geom, m), to_world(geom, m, middle)), to_world(geom, m, normal), gap, feature)
    if last > k:
        patch[k, 8] = part
    return last


@helper
def corner_on_faces(geom, meshes, outline, frame, m, v, reach, side, patch, k):
    """Contacts of corner v of another mesh with the faces of mesh m; side: 1.0 where normals point to m, else -1.0.
    reach: (margin, how deep, ahead: only with those faces below it through which an edge of the corner leads)."""
    margin, deep, ahead = reach
    p, wide = to_frame(frame, row(meshes.vertices, v)), max(margin, deep)
    low, high = sub(p, (wide, wide, wide)), add(p, (wide, wide, wide))
    stack, depth = outline.stacks[1], 1
    stack[0] = meshes.node_start[geom.data[m]]
    while depth > 0:
        leaf, depth = next_leaf(meshes, stack, depth, low, high)
        if leaf < 0:
            break
        first, last = leaf_rows(meshes, leaf)
        for r in range(first, last):
            t = meshes.leaf_order[r]
            n = row(meshes.triangle_normal, t)
            height = dot(n, sub(p, corner_at(meshes, t, 0)))
            if height > margin or height < (0.0 if ahead else -deep):
                continue
            if leads_through(outline, v, turned_back(frame, scale(-1.0, n))) != ahead:
                continue
            if is_over(geom, meshes, outline, frame, m, t, v, p, height, deep):
                k = put_between(geom, m, patch, k, axpy(-0.5 * height, n, p), scale(-side, n), height,
                                4 * v + (OF_A if side > 0.0 else OF_B), t + 1)
    return k


@helper
def crowded(geom, a, b, patch, k):
    """Fewer contacts, where they fill half of the patch."""
    if k <= patch.shape[0] // 2:
        return k
    return reduce_groups(geom, a, b, patch, k, NEARER * min(geom.bound[a], geom.bound[b]))


@helper
def lowest_alike(patch, count, i):
    """The row with the least gap of those that push along the direction of row i."""
    n, lowest = direction_of(patch, i), i
    for j in range(count):
        if dot(direction_of(patch, j), n) > SAME_DIRECTION and patch[j, 6] < patch[lowest, 6]:
            lowest = j
    return lowest


@helper
def direction_of(patch, i):
    """Normal of row i of a patch."""
    return (patch[i, 3], patch[i, 4], patch[i, 5])


@helper
def turn_to(patch, i, j):
    """(sector, tangent of the angle) about row i in which row j lies and by which the one's body turns until both have
    the same gap."""
    n = direction_of(patch, i)
    t1, t2 = tangents(n)
    d = sub(spot(patch, j), spot(patch, i))
    x, y, rise = dot(d, t1), dot(d, t2), patch[j, 6] - patch[i, 6]
    sector = int((math.atan2(y, x) / math.pi + 1.0) * (0.5 * SECTORS)) % SECTORS
    return sector, rise / max(math.sqrt(x * x + y * y), 1e-12 * rise)


@helper
def keep_ahead(patch, first, count):
    """Of the corners ahead, rows first : count, keep those that a body can turn upon soonest: about the lowest corner
    of a direction that of each sector for which it turns least. Returns the number of rows left."""
    k = first
    while k < count:
        base = lowest_alike(patch, count, k)
        if base >= k:  # it is one of them, and stays
            swap_points(patch, base, k)
            base, k = k, k + 1
        n, alike = direction_of(patch, base), k
        for j in range(k, count):
            if dot(direction_of(patch, j), n) > SAME_DIRECTION:
                swap_points(patch, alike, j)
                alike += 1
        kept = k
        for sector in range(SECTORS):
            best, least = -1, math.inf
            for j in range(kept, alike):
                of, turn = turn_to(patch, base, j)
                if of == sector and turn < least:
                    best, least = j, turn
            if best >= 0:
                swap_points(patch, best, kept)
                kept += 1
        for j in range(alike, count):
            swap_points(patch, j, kept + j - alike)
        count -= alike - kept
        k = kept
    return count


@helper
def fewer_ahead(patch, first, k):
    """Fewer corners ahead, where they fill half of the patch."""
    return k if k <= patch.shape[0] // 2 else keep_ahead(patch, first, k)


@helper
def corners_on_faces(geom, meshes, outline, a, m, reach, ahead, side, patch, k):
    """Contacts of the corners of mesh a with the faces of mesh m. ahead: see `corner_on_faces`; these come after the
    others, whose number is `ahead`; -1 = the others."""
    low, high = local_bounds(geom, m, a, reach[0])
    frame, stack, depth = frame_in(geom, a, m), outline.stacks[0], 1
    stack[0] = meshes.node_start[geom.data[a]]
    while depth > 0:
        leaf, depth = next_leaf(meshes, stack, depth, low, high)
        if leaf < 0:
            break
        first, last = leaf_rows(meshes, leaf)
        for r in range(first, last):
            t = meshes.leaf_order[r]
            for j in range(3):
                v = meshes.triangles[t, j]
                if outline.owns[t] & (1 << j) and within_box(row(meshes.vertices, v), low, high):
                    k = corner_on_faces(geom, meshes, outline, frame, m, v, (*reach, ahead >= 0), side, patch, k)
            k = crowded(geom, a, m, patch, k) if ahead < 0 else fewer_ahead(patch, ahead, k)
    return k


@helper
def in_arc(n, p, q):
    """Whether n is between the unit normals p and q of the faces of an edge that it is perpendicular to."""
    r, np, nq = dot(p, q), dot(n, p), dot(n, q)
    return nq - r * np >= -ARC and np - r * nq >= -ARC and np + nq > 0.0


@helper
def is_open(meshes, t, j):
    """Whether edge j of triangle t has no other face."""
    d = sub(row(meshes.edge_normal[t], j), row(meshes.triangle_normal, t))
    return dot(d, d) < 1e-24


@helper
def clears_by_end(outline, v, n, p, end, faces, q, depth):
    """Whether an edge through p, of which corner v is an end, crosses no more where this end is moved out of the
    other's faces: it is inside of both, nearer than the edges are deep, and in no dent. Then the corner touches a face
    instead. n: the edge's normal in the frame of v."""
    d, e = sub(end, p), sub(end, q)
    return (dot(d, d) < depth * depth and dot(faces[0], e) < 0.0 and dot(faces[1], e) < 0.0
            and not leads_through(outline, v, n))


@helper
def beyond(outline, ends, share, length, n, most):
    """Whether the share of an edge at which it crosses another one is outside of it. In a dent, where it leads on at
    its end along its normal n, it may be so by `most` [m]: ends: its corners, in whose frame n is."""
    if 0.0 <= share <= 1.0:
        return False
    outside = -share if share < 0.0 else share - 1.0
    return outside * length > most or not leads_through(outline, ends[0] if share < 0.0 else ends[1], n)


@helper
def put_crossing(geom, outline, frame, m, first, second, reach, features, patch, k):
    """The contact of two edges where they cross, with normals to the second; first, second: (end, end, normals of its
    faces), all in the frame of m, and the numbers of both ends; frame: of the mesh of the first."""
    (p0, p1, own, ends), (q0, q1, other, others) = first, second
    u, w, d = sub(p1, p0), sub(q1, q0), sub(q0, p0)
    n = cross(u, w)
    square, uu, ww = dot(n, n), dot(u, u), dot(w, w)
    if square <= CROSSES * CROSSES * uu * ww:
        return k
    s, t = dot(cross(d, w), n) / square, dot(cross(d, u), n) / square
    n = scale(1.0 / math.sqrt(square), n)
    if not in_arc(n, own[0], own[1]):
        n = scale(-1.0, n)
    if not (in_arc(n, own[0], own[1]) and in_arc(scale(-1.0, n), other[0], other[1])):
        return k
    p, q = axpy(s, u, p0), axpy(t, w, q0)
    gap = dot(n, sub(q, p))
    if gap > reach[0] or gap < -reach[1]:
        return k
    dent, mine, back = max(-gap, 0.0), turned_back(frame, n), scale(-1.0, n)
    if beyond(outline, ends, s, math.sqrt(uu), mine, dent) or beyond(outline, others, t, math.sqrt(ww), back, dent):
        return k
    if gap < 0.0 and (clears_by_end(outline, ends[0], mine, p, p0, other, q, -gap)
                      or clears_by_end(outline, ends[1], mine, p, p1, other, q, -gap)
                      or clears_by_end(outline, others[0], back, q, q0, own, p, -gap)
                      or clears_by_end(outline, others[1], back, q, q1, own, p, -gap)):
        return k
    return put_between(geom, m, patch, k, scale(0.5, add(p, q)), n, gap, features[0], features[1])


@helper
def edge_on_edges(geom, meshes, outline, frame, first, m, name, reach, patch, k):
    """Contacts of an edge of another mesh, as `put_crossing` takes it, with the edges of mesh m."""
    p, q, wide = first[0], first[1], max(reach[0], reach[1])
    low = (min(p[0], q[0]) - wide, min(p[1], q[1]) - wide, min(p[2], q[2]) - wide)
    high = (max(p[0], q[0]) + wide, max(p[1], q[1]) + wide, max(p[2], q[2]) + wide)
    stack, depth = outline.stacks[1], 1
    stack[0] = meshes.node_start[geom.data[m]]
    while depth > 0:
        leaf, depth = next_leaf(meshes, stack, depth, low, high)
        if leaf < 0:
            break
        start, end = leaf_rows(meshes, leaf)
        for r in range(start, end):
            t = meshes.leaf_order[r]
            for j in range(3):
                if outline.owns[t] & (8 << j) and not is_open(meshes, t, j):
                    faces = row(meshes.triangle_normal, t), row(meshes.edge_normal[t], j)
                    second = corner_at(meshes, t, j), corner_at(meshes, t, (j + 1) % 3), faces, ends_of(meshes, t, j)
                    features = 4 * name + OF_EDGES, 3 * t + j + 1
                    k = put_crossing(geom, outline, frame, m, first, second, reach, features, patch, k)
    return k


@helper
def edges_on_edges(geom, meshes, outline, a, m, reach, patch, k):
    """Contacts of the edges of mesh a with those of mesh m."""
    low, high = local_bounds(geom, m, a, reach[0])
    frame, stack, depth = frame_in(geom, a, m), outline.stacks[0], 1
    stack[0] = meshes.node_start[geom.data[a]]
    while depth > 0:
        leaf, depth = next_leaf(meshes, stack, depth, low, high)
        if leaf < 0:
            break
        start, end = leaf_rows(meshes, leaf)
        for r in range(start, end):
            t = meshes.leaf_order[r]
            for j in range(3):
                if outline.owns[t] & (8 << j) and not is_open(meshes, t, j):
                    faces = (mat_vec(frame[0], row(meshes.triangle_normal, t)),
                             mat_vec(frame[0], row(meshes.edge_normal[t], j)))
                    first = (to_frame(frame, corner_at(meshes, t, j)),
                             to_frame(frame, corner_at(meshes, t, (j + 1) % 3)), faces, ends_of(meshes, t, j))
                    k = edge_on_edges(geom, meshes, outline, frame, first, m, 3 * t + j, reach, patch, k)
            k = crowded(geom, a, m, patch, k)
    return k


@helper
def corners_of_all(geom, meshes, outline, a, b, margin, patch):
    """Contacts of the corners of mesh a with a plane, bowl or pipe b."""
    k, number = 0, geom.data[a]
    hollow = geom.kind[b] != PLANE
    if hollow and wall(geom, b, origin(geom, a))[0] >= extent(geom, b)[0]:
        return 0
    for t in range(meshes.triangle_start[number], meshes.triangle_start[number + 1]):
        for j in range(3):
            if outline.owns[t] & (1 << j):
                v = meshes.triangles[t, j]
                p = add(origin(geom, a), to_world(geom, a, row(meshes.vertices, v)))
                if hollow:
                    k = put_within(geom, b, p, 0.0, margin, 4 * v, patch, k)
                else:
                    k = put_foot(patch, k, margin, p, 0.0, axis(geom, b, 2), plane_height(geom, b, p), 4 * v)
        if k > patch.shape[0] // 2:
            k = crowded(geom, a, b, patch, k) if hollow else reduce_points(geom, a, b, patch, 0, k)
    return k if hollow else reduce_points(geom, a, b, patch, 0, k)


@kernel
def touch_surface(geom, meshes, outline, work, a, b, margin) -> int:
    """Contacts of mesh a with a mesh, plane, bowl or pipe b, in rows of the patch; returns their number."""
    patch = work.patch
    if geom.kind[b] != MESH:
        return corners_of_all(geom, meshes, outline, a, b, margin, patch)
    reach = margin, depth_of(geom, outline, a, b)
    k = corners_on_faces(geom, meshes, outline, a, b, reach, -1, 1.0, patch, 0)
    k = corners_on_faces(geom, meshes, outline, b, a, reach, -1, -1.0, patch, k)
    k = edges_on_edges(geom, meshes, outline, a, b, reach, patch, k)
    k = reduce_groups(geom, a, b, patch, k, NEARER * min(geom.bound[a], geom.bound[b]))
    if margin <= reach[1]:
        return k
    last = corners_on_faces(geom, meshes, outline, a, b, reach, k, 1.0, patch, k)
    last = corners_on_faces(geom, meshes, outline, b, a, reach, k, -1.0, patch, last)
    return keep_ahead(patch, k, last)


@program
def touch_surface_pairs(model, near, total) -> int:
    """Points of the pairs of the family SURFACES; returns the number of rows so far, which may exceed the room."""
    geom = near.geometry
    for i in range(near.counts[SURFACES]):
        p = near.lists[SURFACES, i]
        a, b, flip = in_order(geom.kind, near.pairs, p)
        if geom.kind[a] == PLANE:
            a, b, flip = b, a, not flip
        points = touch_surface(geom, model.meshes, near.outline, near.work, a, b, near.reach[a] + near.reach[b])
        total = put_rows(near.work.patch, points, flip, p, total, near.found)
    return total
