"""Convex cores as points, face normals and edges in the world: loading them, separating axes, touching features.

Hulls come from the model; box, segment, point and triangle are added to the same tables as prototypes that are
stretched to size, so that all of them take one path.
"""

import math
from typing import NamedTuple

import numpy as np

from ..core.jit import helper
from ..core.model import Array, Hulls, IntArray, Model
from ..core.state import LongArray
from ..core.vec import add, cross, dot, mul, row, scale, sub, unit
from ..shapes.cylinder import CAP_CORNERS
from ..shapes.form import Core
from ..shapes.table import FORMS, corners_towards
from .geometry import BOX, CAPSULE, HULL, ROUNDED, TRIANGLE, extent, origin, round_corner, to_local, to_world
from .manifold import B_SIDE, put_corner

EDGE_SINE = 0.05    # to the normal's plane: an edge that leans less takes part in the contact
LEAN = 1e-6         # sine: a normal that leans over an edge of a triangle by less counts as upright
FACE_BIAS = 1e-12   # how much better than a face, relative to size, an edge pair must be to give the normal

HULLS = (HULL, ROUNDED)  # kinds that are rows of Hulls
POINT_ROW, POINTS, FACE_ROW, FACES, EDGE_ROW, EDGES = range(6)  # columns of Solids.info


class Solids(NamedTuple):
    """The polytopes of a model and the prototypes; vertices and faces of an edge or loop count from 0 in each.

    Rows are int64 here and in the lists of pairs: a helper is compiled anew for every kind of integer it meets.
    """

    info: LongArray   #: (s + 1, 6) of every shape: first vertex and their number, likewise faces and edges
    vectors: Array   #: (v + f, 3) vertices of all polytopes, then their face normals, shape frame
    loops: LongArray  #: (f, 1 + l) number of corners of a face, then its corners, of a hull the highest first
    edges: LongArray  #: (e, 4) vertex, vertex, face, face
    frame: Array     #: (s + 1, 6) of every shape: what its vertices are multiplied by, and a point within it [m]


def new_solids(model: Model) -> Solids:
    """Tables of the polytopes of a model."""
    parts = [_hull(model.hulls, k) for k in range(len(model.hulls.vertex_start) - 1)]
    triangle = Core(np.zeros((3, 3)), np.zeros((1, 3)), [[0, 1, 2]], [(0, 1, 0, 0), (1, 2, 0, 0), (2, 0, 0, 0)])
    prototypes = {kind: form.core for kind, form in FORMS.items() if form.core is not None} | {TRIANGLE: triangle}
    row = {kind: len(parts) + i for i, kind in enumerate(prototypes)}
    parts += list(prototypes.values())
    sizes = np.array([[len(part[0]), len(part[1]), len(part[3])] for part in parts])
    starts = np.cumsum(sizes, axis=0) - sizes
    table = np.zeros((len(model.shapes.kind) + 1, 6), np.int64)
    for s, (kind, data) in enumerate(zip([*model.shapes.kind, TRIANGLE], [*model.shapes.data, -1], strict=True)):
        if kind in HULLS or kind in row:
            k = data if kind in HULLS else row[kind]
            table[s] = np.column_stack([starts[k], sizes[k]]).ravel()
    table[:, FACE_ROW] += sizes[:, 0].sum()
    faces = [loop for part in parts for loop in part[2]]
    padded = np.zeros((len(faces), 1 + max(map(len, faces))), np.int64)
    for f, loop in enumerate(faces):
        padded[f, : 1 + len(loop)] = [len(loop), *loop]
    shapes = model.shapes
    frame = np.tile([1.0, 1.0, 1.0, 0.0, 0.0, 0.0], (len(table), 1))
    for s, kind in enumerate(shapes.kind):
        if kind == BOX:
            frame[s, :3] = shapes.size[s]
        elif kind == CAPSULE:
            frame[s, 2] = shapes.size[s, 1]
        elif kind in HULLS:
            frame[s, 3:] = parts[shapes.data[s]][0].mean(axis=0)
    return Solids(table, np.vstack([p[0] for p in parts] + [p[1] for p in parts]), padded,
                  np.vstack([np.array(p[3], np.int64).reshape(-1, 4) for p in parts]), frame)


def _hull(hulls: Hulls, k: int) -> tuple:
    """Vertices, normals, loops and edges of hull k, counted from 0."""
    v, f = hulls.vertex_start[k], hulls.face_start[k]
    v_end, f_end = hulls.vertex_start[k + 1], hulls.face_start[k + 1]
    loops = [_from_highest(hulls.face_loop[hulls.loop_start[i] : hulls.loop_start[i + 1]], hulls.vertices,
                           hulls.face_normal[i]) - v for i in range(f, f_end)]
    edges = hulls.edges[hulls.edge_start[k] : hulls.edge_start[k + 1]] - [v, v, f, f]
    return hulls.vertices[v:v_end], hulls.face_normal[f:f_end], loops, edges


def _from_highest(loop: IntArray, vertices: Array, normal: Array) -> IntArray:
    """The loop from its highest corner on, since faces are only nearly flat."""
    return np.roll(loop, -int(np.argmax(vertices[loop] @ normal)))


@helper
def spot(points, i):
    return (points[i, 0], points[i, 1], points[i, 2])


@helper
def is_solid(geom, s):
    """Whether shape s is a polytope with faces all around and sharp edges."""
    return geom.kind[s] == HULL or geom.kind[s] == BOX


@helper
def corner_of(solids, s, i):
    """Corner i of solid s, shape frame."""
    return mul(row(solids.frame, s), spot(solids.vectors, solids.info[s, POINT_ROW] + i))


@helper
def middle_of(solids, s):
    """A point within solid s, shape frame."""
    return (solids.frame[s, 3], solids.frame[s, 4], solids.frame[s, 5])


@helper
def normal_of(solids, s, f):
    """Normal of face f of solid s, shape frame."""
    return spot(solids.vectors, solids.info[s, FACE_ROW] + f)


@helper
def higher(best, top, i, h):
    """(row, height) of the higher one of two rows; of equally high ones the first."""
    return (i, h) if h > top or (h == top and i < best) else (best, top)


@helper
def highest(vectors, first, count, x, y, z):
    """(row, height) of the highest of so many vectors along (x, y, z), counted from `first`; of equally high ones the
    first. Four are looked at side by side: they do not wait for each other."""
    i0, i1, i2, i3, h0, h1, h2, h3 = 0, 0, 0, 0, -math.inf, -math.inf, -math.inf, -math.inf
    whole = count - (count & 3)
    for i in range(0, whole, 4):
        k = first + i
        g0 = vectors[k, 0] * x + vectors[k, 1] * y + vectors[k, 2] * z
        g1 = vectors[k + 1, 0] * x + vectors[k + 1, 1] * y + vectors[k + 1, 2] * z
        g2 = vectors[k + 2, 0] * x + vectors[k + 2, 1] * y + vectors[k + 2, 2] * z
        g3 = vectors[k + 3, 0] * x + vectors[k + 3, 1] * y + vectors[k + 3, 2] * z
        i0, h0 = (i, g0) if g0 > h0 else (i0, h0)
        i1, h1 = (i + 1, g1) if g1 > h1 else (i1, h1)
        i2, h2 = (i + 2, g2) if g2 > h2 else (i2, h2)
        i3, h3 = (i + 3, g3) if g3 > h3 else (i3, h3)
    for i in range(whole, count):
        k = first + i
        i0, h0 = higher(i0, h0, i, vectors[k, 0] * x + vectors[k, 1] * y + vectors[k, 2] * z)
    i0, h0 = higher(i0, h0, i1, h1)
    i2, h2 = higher(i2, h2, i3, h3)
    return higher(i0, h0, i2, h2)


@helper
def farthest(solids, s, d):
    """(corner, height) of solid s farthest along d, shape frame."""
    x, y, z = mul(row(solids.frame, s), d)
    return highest(solids.vectors, solids.info[s, POINT_ROW], solids.info[s, POINTS], x, y, z)


@helper
def facing(geom, solids, s, n):
    """The face of solid s that looks most along n, and its cosine."""
    x, y, z = to_local(geom, s, n)
    return highest(solids.vectors, solids.info[s, FACE_ROW], solids.info[s, FACES], x, y, z)


@helper
def load_points(geom, solids, s, core_out):
    """Corners of the core of shape s in the world; returns their number, 0 for a round shape.

    The corners of the triangle in hand are in place already.
    """
    count = solids.info[s, POINTS]
    for i in range(0 if geom.kind[s] == TRIANGLE else count):
        load_corner(geom, solids, s, i, core_out)
    return count


@helper
def load_corner(geom, solids, s, i, core_out):
    """Corner i of the core of shape s in the world."""
    core_out[i, 0], core_out[i, 1], core_out[i, 2] = add(origin(geom, s), to_world(geom, s, corner_of(solids, s, i)))


@helper
def load_faces(geom, solids, s, core_out):
    """Face normals of the core of shape s in the world, in the rows after its corners; returns their number."""
    points, first, count = solids.info[s, POINTS], solids.info[s, FACE_ROW], solids.info[s, FACES]
    for f in range(count):
        n = to_world(geom, s, spot(solids.vectors, first + f))
        if geom.kind[s] == TRIANGLE:
            n = unit(cross(sub(spot(core_out, 1), spot(core_out, 0)), sub(spot(core_out, 2), spot(core_out, 0))))
        core_out[points + f, 0], core_out[points + f, 1], core_out[points + f, 2] = n
    return count


@helper
def first_loop(solids, s):
    """The row of the loops of the first face of shape s."""
    return solids.info[s, FACE_ROW] - (solids.vectors.shape[0] - solids.loops.shape[0])


@helper
def shadow(points, count, n):
    """Ends of the interval that some points project to on an axis n [m]."""
    low, high = math.inf, -math.inf
    for i in range(count):
        h = points[i, 0] * n[0] + points[i, 1] * n[1] + points[i, 2] * n[2]
        low, high = min(low, h), max(high, h)
    return low, high


@helper
def allowed(cone, n):
    """Whether the direction from a to the triangle in hand lies among the triangle's own: cone[7, 0] = 0 allows all.

    Rows: 0 the triangle's normal N; 1 + 2 j the direction m_j out of it across edge j; 2 + 2 j the direction out of its
    neighbour there. Out of the triangle (u = -n, u.N >= 0), u may lean over edge j as far as the neighbour's normal.
    """
    return cone[7, 0] == 0.0 or points_into(cone, 0, n)


@helper
def points_into(rows, first, n):
    """The same of a triangle whose directions are rows `first` and so on of some, all in one frame with n."""
    u = (-n[0], -n[1], -n[2])
    if dot(u, spot(rows, first)) < 0.0:
        return False
    within = True
    for j in range(first, first + 6, 2):
        over = dot(u, spot(rows, 1 + j))
        if over > LEAN and dot(u, spot(rows, 2 + j)) < -LEAN:
            within = within and leans_over_another(rows, first, j, u, over)
    return within


@helper
def leans_over_another(rows, first, j, u, over):
    """Whether u leans over edge j of a triangle only as it leans over another one, as far as the neighbour's normal: at
    an obtuse corner what leans straight over one edge leans a little over the other, too."""
    another = False
    for i in range(first, first + 6, 2):
        lean = dot(u, spot(rows, 1 + i))
        if i != j and lean > 0.0 and dot(u, spot(rows, 2 + i)) >= -LEAN:
            another = another or over - lean * dot(spot(rows, 1 + i), spot(rows, 1 + j)) <= LEAN
    return another


@helper
def face_axes(core_a, solids, a, core_b, count_b, sign, cone):
    """Best separation along the face normals of a, and that normal times `sign`."""
    best, normal = -math.inf, (0.0, 0.0, 0.0)
    points, first, count = solids.info[a, POINTS], first_loop(solids, a), solids.info[a, FACES]
    for f in range(count):
        n = spot(core_a, points + f)
        offset = dot(n, spot(core_a, solids.loops[first + f, 1]))
        low, _ = shadow(core_b, count_b, n)
        if low - offset > best:
            m = scale(sign, n)
            if allowed(cone, m):
                best, normal = low - offset, m
    return best, normal


@helper
def pick_edges(core, solids, s, lo, hi, n, level, picked_out):
    """Edges of shape s whose bounds meet the box lo, hi and that rise to the level along n; returns their number."""
    edges, count, first, total = solids.edges, 0, solids.info[s, EDGE_ROW], solids.info[s, EDGES]
    for e in range(first, first + total):
        p, q = spot(core, edges[e, 0]), spot(core, edges[e, 1])
        outside = max(dot(n, p), dot(n, q)) < level
        for c in range(3):
            outside = outside or max(p[c], q[c]) < lo[c] or min(p[c], q[c]) > hi[c]
        if not outside:
            picked_out[count] = e
            count += 1
    return count


@helper
def arc_side(m, p, q):
    """1 or -1 where m or -m lies on the arc between the unit normals p and q of an edge's faces, else 0.

    m is perpendicular to the edge. An edge supports its polytope along m exactly where m is on its arc. An edge without
    two faces (p = q) has no arc: 2.
    """
    r, mp, mq = dot(p, q), dot(m, p), dot(m, q)
    if r > 1.0 - 1e-15:
        return 2
    if mq - r * mp >= 0.0 and mp - r * mq >= 0.0:
        return 1
    if mq - r * mp <= 0.0 and mp - r * mq <= 0.0:
        return -1
    return 0


@helper
def edge_faces(core, points, edges, e):
    """Normals of the two faces of edge e; the same one twice where it has not two."""
    if edges[e, 2] == edges[e, 3]:
        return (1.0, 0.0, 0.0), (1.0, 0.0, 0.0)
    return spot(core, points + edges[e, 2]), spot(core, points + edges[e, 3])


@helper
def axis_of_edges(m, p, q, side_a, side_b, points_a, count_a, points_b, count_b):
    """(separation, sign) along an axis m that is perpendicular to edges through p of a and q of b."""
    if side_a != 2 and side_b != 2:  # the two edges support along the axis: they alone tell the separation
        return (dot(m, sub(q, p)) * side_a, 1.0 * side_a) if side_a != 0 and side_a == -side_b else (-math.inf, 1.0)
    if side_a == 0 or side_b == 0:
        return -math.inf, 1.0
    low_a, high_a = shadow(points_a, count_a, m)
    low_b, high_b = shadow(points_b, count_b, m)
    return (low_b - high_a, 1.0) if low_b - high_a >= low_a - high_b else (low_a - high_b, -1.0)


@helper
def edge_axes(core, na, nb, edges, picked, picked_a, picked_b, best, cone, all_allowed):
    """Better separation along the cross product of two of the picked edges, where there is one, and that axis."""
    n = (0.0, 0.0, 0.0)
    for i in range(picked_a):
        e = picked[0, i]
        p = spot(core[0], edges[e, 0])
        u = sub(spot(core[0], edges[e, 1]), p)
        e0, e1 = edge_faces(core[0], na, edges, e)
        for j in range(picked_b):
            f = picked[1, j]
            q = spot(core[1], edges[f, 0])
            v = sub(spot(core[1], edges[f, 1]), q)
            m = cross(u, v)
            square = dot(m, m)
            if square <= 1e-8 * dot(u, u) * dot(v, v):
                continue
            f0, f1 = edge_faces(core[1], nb, edges, f)
            m = scale(1.0 / math.sqrt(square), m)
            s, sign = axis_of_edges(m, p, q, arc_side(m, e0, e1), arc_side(m, f0, f1), core[0], na, core[1], nb)
            if s > best and (all_allowed or allowed(cone, scale(sign, m))):
                best, n = s, scale(sign, m)
    return best, n


@helper
def across_edges(solids, work, a, b, best):
    """A separation greater than `best` < 0 across two edges of two polytopes, whatever directions a triangle allows."""
    core, picked, n = work.core, work.picked, (0.0, 0.0, 0.0)
    na, nb = solids.info[a, POINTS], solids.info[b, POINTS]
    lo_a, hi_a = box_of(core[0], na, -best)
    lo_b, hi_b = box_of(core[1], nb, -best)
    picked_a = pick_edges(core[0], solids, a, lo_b, hi_b, n, 0.0, picked[0])
    picked_b = pick_edges(core[1], solids, b, lo_a, hi_a, n, 0.0, picked[1])
    return edge_axes(core, na, nb, solids.edges, picked, picked_a, picked_b, best, work.cone, True)[0]


@helper
def separating_axis(solids, work, a, b, size):
    """(separation, normal a -> b) of two polytopes: the largest over all face normals and edge pairs.

    [Ericson 2005, §5.2.1; Gregorius 2013 for the arcs]. Exact where the two overlap, which is where it is used.
    """
    core, picked, cone = work.core, work.picked, work.cone
    na, nb = solids.info[a, POINTS], solids.info[b, POINTS]
    best, n = face_axes(core[0], solids, a, core[1], nb, 1.0, cone)
    other, m = face_axes(core[1], solids, b, core[0], na, -1.0, cone)
    if other > best + FACE_BIAS * size:
        best, n = other, m
    # where two edges give the least overlap of all, each comes nearer to the other shape than `best` overlaps
    reach = max(-best, 0.0) if best > -math.inf else 1e9
    lo_a, hi_a = box_of(core[0], na, reach)
    lo_b, hi_b = box_of(core[1], nb, reach)
    low_b, high_a = shadow(core[1], nb, n)[0], shadow(core[0], na, n)[1]
    picked_a = pick_edges(core[0], solids, a, lo_b, hi_b, n, low_b - reach, picked[0])
    picked_b = pick_edges(core[1], solids, b, lo_a, hi_a, scale(-1.0, n), -high_a - reach, picked[1])
    bar = best + FACE_BIAS * size if best > -math.inf else best
    other, m = edge_axes(core, na, nb, solids.edges, picked, picked_a, picked_b, bar, cone, False)
    return (other, m) if other > bar else (best, n)


@helper
def box_of(points, count, swell):
    """Bounds of some points, swollen."""
    lo_x, hi_x = shadow(points, count, (1.0, 0.0, 0.0))
    lo_y, hi_y = shadow(points, count, (0.0, 1.0, 0.0))
    lo_z, hi_z = shadow(points, count, (0.0, 0.0, 1.0))
    return (lo_x - swell, lo_y - swell, lo_z - swell), (hi_x + swell, hi_y + swell, hi_z + swell)


@helper
def best_face(core, points, count, n):
    """The face that looks most along n, and its cosine; -1 where there is none."""
    best, cosine = -1, -1.0
    for f in range(count):
        c = dot(spot(core, points + f), n)
        if c > cosine:
            best, cosine = f, c
    return best, cosine


@helper
def put_face(core, loops, f, side, feature_out):
    """The corners of row f of the loops as a feature; returns their number."""
    count = loops[f, 0]
    for i in range(count):
        v, w = int(loops[f, 1 + i]), int(loops[f, 1 + (i + 1 if i + 1 < count else 0)])
        put_corner(feature_out, i, spot(core, v), side + edge_name(v, w))
    return count


@helper
def edge_name(v, w):
    """Number of the edge between two vertices; folded into the room for names."""
    return (min(v, w) * 1021 + max(v, w)) % B_SIDE


@helper
def edge_towards(core, solids, s, n):
    """(corner farthest along n, edge there that leans least or -1 where all of them lean)."""
    edges, count, first, total = solids.edges, solids.info[s, POINTS], solids.info[s, EDGE_ROW], solids.info[s, EDGES]
    top = 0
    for i in range(1, count):
        if dot(spot(core, i), n) > dot(spot(core, top), n):
            top = i
    best, found = EDGE_SINE, -1
    for e in range(first, first + total):
        if edges[e, 0] == top or edges[e, 1] == top:
            u = unit(sub(spot(core, edges[e, 1]), spot(core, edges[e, 0])))
            if abs(dot(u, n)) < best:
                best, found = abs(dot(u, n)), e
    return top, found


@helper
def put_edge(core, solids, s, n, side, feature_out):
    """The edge at the vertex farthest along n that leans least; returns 2, or 1 for the vertex alone."""
    top, found = edge_towards(core, solids, s, n)
    if found < 0:
        put_corner(feature_out, 0, spot(core, top), side + top)
        return 1
    return put_known_edge(core, solids, found, side, feature_out)


@helper
def put_known_edge(core, solids, edge, side, feature_out):
    """An edge as a feature; returns its number of corners."""
    v, w = int(solids.edges[edge, 0]), int(solids.edges[edge, 1])
    put_corner(feature_out, 0, spot(core, v), side + edge_name(v, w))
    put_corner(feature_out, 1, spot(core, w), side + edge_name(v, w))
    return 2


@helper
def put_round(geom, s, n, side, feature_out):
    """The feature of a round shape that looks most along n; returns its number of corners."""
    u = to_local(geom, s, n)
    count = corners_towards(geom.kind[s], extent(geom, s), u)
    for i in range(count):
        put_corner(feature_out, i, round_corner(geom, s, u, i), side + (CAP_CORNERS if count == 2 else i))
    return count
