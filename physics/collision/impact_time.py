"""When fast bodies first touch: conservative advancement, so that nothing passes through anything within a step.

A pair may move on by gap / speed without touching, where the speed bounds how fast any two of their points can approach
along the direction between them; repeated, the pair arrives at the moment of touch and never jumps over it
[Mirtich 1996, §2.3.2]. Of convex shapes the bound is the greatest speed along that direction now, which grows by
ω² r at most. Where they turn about each other, that direction turns with them, and along the one of now they come
nearer than they are: edges that pass closely would creep. Such a pair strides: with the direction of the end of the
stride it is asked whether a plane that turns evenly from one to the other keeps the two apart.

Bodies that turn fast close to each other, as a wheel beside its fork or a link that rolls on another one, have a bound
far above the speed at which they approach, and advance by hardly anything. Such a pair goes on in leaps in which it
cannot pass through itself. A pair that rested in the last step is left to its contact, which sees to it that it does
not approach. Two meshes may touch at one place and come nearer at another, or have been stopped where they touch:
where they did not rest, they are followed in such leaps from the start.

Most pairs stay apart, as one plane tells that is between them at the start and at the end of the step: a point of a
body that turns at ω has the acceleration ω² r at most, so that in between it is no farther on the other side than at
either end, but for ω² r h²/8.
"""

import math
from typing import NamedTuple

import numpy as np

from ..core.jit import helper, kernel, program
from ..core.model import Array, IntArray, Shapes
from ..core.team import share_out
from ..core.vec import (
    add,
    axpy,
    cross,
    dot,
    neg,
    norm,
    put,
    put4,
    quat_exp,
    quat_mat,
    quat_mul,
    row,
    row4,
    scale,
    sub,
    transform,
    unit,
)
from ..shapes.table import half_width
from .broad_phase import PUSHED, PUSHES
from .geometry import (
    BOWL,
    MESH,
    PIPE,
    PLANE,
    TORUS,
    Geometry,
    axis,
    bound_shape,
    origin,
    swell,
    to_local,
    to_world,
)
from .gjk import gjk, support, weighted
from .hands import SHARES, Hands, hand_of
from .hollow import hollow_gap
from .mesh_gap import meshes_gap
from .narrow_phase import BOXES, CONVEX, HOLLOWS, RINGS, ROUND, SURFACES
from .polytope import POINTS, Solids, load_faces, load_points
from .ring import ring_gap
from .triangles import load_triangle

ADVANCES = 64     # from then on a pair leaps
LEAPS = 64
STRIDE = 2.0      # times as long as what is sure along one direction: from then on a stride is tried,
SHORTER = 0.25    # and where it fails, one this much shorter
UNKNOWN = -1.0   # a time that has not been found yet
TOUCH = 1e-6      # two shapes touch where they are as near as this, relative to the size of one
MESHES_TOUCH = 1e-4  # the same of two meshes, which go on where they touch: their way is known only to second order
WITHOUT_BOX = (PLANE, BOWL, PIPE)  # scenery that no box bounds
CURLED = (TORUS, MESH)             # not convex: no plane through the nearest points keeps them apart
FAST = 0.5        # part of its thinnest half extent; a body that moves less in a step is left to the contacts, and a
                  # pair leaps by as much


class Paths(NamedTuple):
    """What a step of free motion would do to the bodies."""

    span: Array      #: (n,) reach of the body's shapes from its centre [m]
    thickness: Array  #: (n,) thinnest half extent of the body's shapes [m]
    fast: IntArray   #: (n,) 1 = it moves by more than FAST of its thinnest half extent
    fraction: Array  #: (n,) part of the step before its first new contact
    x: Array         #: (n, 3) pose after the step
    q: Array         #: (n, 4)


class Ways(NamedTuple):
    """The shapes on these paths, and what threads write to that share pairs of them."""

    hands: Hands      #: each moves the shapes of a pair along their paths; the first has all at the start of theirs
    end: Geometry     #: at the end of their paths
    solids: Solids
    shapes: Shapes
    paths: Paths


def new_paths(span: Array, thickness: Array) -> Paths:
    """Room for the paths of so many bodies."""
    n = len(span)
    return Paths(span, thickness, np.zeros(n, np.int32), np.ones(n), np.zeros((n, 3)), np.zeros((n, 4)))


@kernel
def find_fast(bodies, h, paths_out):
    """Pose of every body after a step of free motion, and which bodies are fast; returns how many."""
    count, out = 0, paths_out
    for i in range(bodies.x.shape[0]):
        v, w = row(bodies.v, i), row(bodies.w, i)
        out.fraction[i] = 1.0
        out.fast[i] = 1 if h * (norm(v) + norm(w) * out.span[i]) > FAST * out.thickness[i] else 0
        count += out.fast[i]
        put(out.x, i, axpy(h, v, row(bodies.x, i)))
        put4(out.q, i, quat_mul(quat_exp(scale(h, w)), row4(bodies.q, i)))
    return count


@helper
def put_on_way(geom_out, s, x, q, position, orientation):
    """Pose of shape s in that of its body, with its place in it. What it travels on its way is nobody's concern."""
    p, m = transform(x, q, position), quat_mat(quat_mul(q, orientation))
    for i in range(3):
        geom_out.x[s, i] = p[i]
        for j in range(3):
            geom_out.R[s, i, j] = m[i][j]


@kernel
def bound_some_paths(i, ways, some, bodies, h) -> None:
    """Share i of `bound_paths`."""
    shapes, paths, start, end = ways.shapes, ways.paths, ways.hands.first.geometry, ways.end
    lo, hi, of, bulge = start.lo, start.hi, -1, 0.0
    for c in range(i * len(some) // SHARES, (i + 1) * len(some) // SHARES):
        s = some[c]
        b = shapes.body[s]
        place, q = row(shapes.position, s), row4(shapes.orientation, s)
        put_on_way(end, s, row(paths.x, b), row4(paths.q, b), place, q)
        bound_shape(end, s, 0.0)
        put_on_way(start, s, row(bodies.x, b), row4(bodies.q, b), place, q)
        bound_shape(start, s, 0.0)
        if b != of:  # shapes of a body follow one another
            of, turn = b, min(h * norm(row(bodies.w, b)), math.pi)
            bulge = paths.span[b] * (1.0 - math.cos(0.5 * turn))
        for k in range(3):
            lo[s, k] = min(lo[s, k], end.lo[s, k]) - bulge
            hi[s, k] = max(hi[s, k], end.hi[s, k]) + bulge


@program
def bound_paths(ways, some, bodies, h) -> None:
    """Place some shapes (k,) at the start and at the end of their paths, and bound the whole of these, in the geometry
    of the start: both ends together, swollen by the sagitta of the arcs between them."""
    share_out(SHARES, bound_some_paths, (ways, some, bodies, h))


@kernel
def roles_of_fast(roles, fast, roles_out) -> None:
    """Roles with which a pair counts where it does with those given, and one of its bodies is fast."""
    for i in range(len(roles)):
        roles_out[i] = roles[i] | PUSHES if fast[i] == 1 else roles[i] & PUSHED


@helper
def place_at(geom, s, motion, t):
    """Pose of shape s when its body has moved for the time t; `motion` as in `touch_time`."""
    x, q, v, w, position, orientation, _ = motion
    turned = quat_mul(quat_exp(scale(t, w)), q)
    put_on_way(geom, s, axpy(t, v, x), turned, position, orientation)


@helper
def distance_of(geom, solids, soups, work, a, b, t, far):
    """(gap, normal a -> b) of two convex shapes, a shape and a plane or a hollow b, or a shape and triangle t >= 0 of
    mesh b; likewise of a torus a and any shape b, and of two meshes. Of convex shapes that are farther apart than `far`
    [m] only that they are: a gap that is larger."""
    core, kind = work.core, geom.kind[b]
    if geom.kind[a] == MESH:
        return meshes_gap(geom, soups, work, a, b)
    if geom.kind[a] == TORUS:
        second = b
        if t >= 0:
            load_triangle(geom, b, soups.sheets[t], core[1], work.cone)
            second = geom.x.shape[0] - 1
        else:
            load_points(geom, solids, b, core[1])
        load_faces(geom, solids, second, core[1])
        return ring_gap(geom, solids, work, a, second)
    na = load_points(geom, solids, a, core[0])
    if kind in (BOWL, PIPE):
        return hollow_gap(geom, core[0], na, a, b)
    if kind == PLANE:
        n = neg(axis(geom, b, 2))
        low = support(core[0], na, geom, a, n)
        return dot(n, sub(origin(geom, b), low)) - swell(geom, a), n
    second, nb = b, 0
    if t >= 0:
        load_triangle(geom, b, soups.sheets[t], core[1], work.cone)
        second, nb = geom.x.shape[0] - 1, 3
    else:
        nb = load_points(geom, solids, b, core[1])
    distance, rows = gjk(core[0], na, core[1], nb, geom, a, second, far + swell(geom, a) + swell(geom, second),
                         work.simplex)
    n = unit(sub(weighted(work.simplex, rows, 6), weighted(work.simplex, rows, 3)))
    return distance - swell(geom, a) - swell(geom, second), n


@helper
def fastest(geom, s, core, count, motion, now, n):
    """The greatest speed along n [m/s] of a point of convex shape s, whose core of `count` corners is loaded, at the
    time `now` of its motion, see `touch_time`: of v + ω × (p - x), n·(ω × p) is greatest where p is farthest along
    n × ω."""
    x, v, turn = motion[0], motion[2], cross(n, motion[3])
    p = support(core, count, geom, s, turn)
    return dot(n, v) + dot(turn, sub(p, axpy(now, v, x))) + swell(geom, s) * norm(turn)


@helper
def time_for(way, speed, bend):
    """How long [s] it takes to come nearer by `way` [m], where the speed may grow by `bend` [m/s2]."""
    return 2.0 * way / max(speed + math.sqrt(speed * speed + 2.0 * bend * way), 1e-300)


@helper
def turning_plane(gap, n, gap_end, n_end, speed, bend, t):
    """A lower bound of the distance [m] of two convex shapes within a time t [s], at whose ends they are gap and
    gap_end apart along unit vectors n and n_end. No two points of them move faster to each other than `speed` [m/s],
    and their velocity changes by `bend` [m/s2] at most.

    Along n(s) = n + (n_end - n) s/t, which is no longer than 1, the distance of two points has a second derivative
    of 2 speed |n_end - n|/t + bend at most. So with c = t²/2 times that it is (1 - k) gap + k gap_end - c k (1 - k) at
    least at s = k t.
    """
    c = t * speed * norm(sub(n_end, n)) + 0.5 * bend * t * t
    drop = c + gap - gap_end
    if drop <= 0.0 or drop >= 2.0 * c:
        return min(gap, gap_end)
    return gap - drop * drop / (4.0 * c)


@helper
def touch_time(geom, solids, soups, work, pair, motion_a, motion_b, reach, h):
    """When a pair (shapes a and b, triangle t or -1) first touches, between 0 and h; h where it does not, or where it
    is near already, but for two meshes that have not rested. Where it touches within a leap, the time before that.

    A motion is (x, q, v, w, position, orientation, span) of the body and of the shape in it. reach: how far the pair
    leaps, and how near is near [m].
    """
    (a, b, t), (leap, near) = pair, reach
    v_a, w_a, span_a, v_b, w_b, span_b = motion_a[2], motion_a[3], motion_a[6], motion_b[2], motion_b[3], motion_b[6]
    core, cone, curls = work.core, work.cone, geom.kind[b] in (BOWL, PIPE) or geom.kind[a] in (TORUS, MESH)
    one = t >= 0 or geom.kind[b] in (BOWL, PIPE, PLANE)
    size = geom.bound[a] if one else min(geom.bound[a], geom.bound[b])
    size = size if size > 0.0 else h * norm(sub(v_a, v_b))  # a particle has none: as near as a part of its way
    turning = norm(w_a) * span_a + norm(w_b) * span_b
    bend, convex = dot(w_a, w_a) * span_a + dot(w_b, w_b) * span_b, not curls and geom.kind[b] != PLANE
    second, corners = (geom.x.shape[0] - 1, 3) if t >= 0 else (b, solids.info[b, POINTS])
    close = (MESHES_TOUCH if geom.kind[a] == MESH else TOUCH) * size
    now, sure, touched, stride = 0.0, 0.0, False, h
    for step in range(ADVANCES + LEAPS):
        place_at(geom, a, motion_a, now)
        place_at(geom, b, motion_b, now)
        far = (norm(sub(v_a, v_b)) + turning) * (h - now) + close  # what is farther does not touch
        gap, n = distance_of(geom, solids, soups, work, a, b, t, far)
        if step == 0 and (gap <= max(close, near)
                          or (t >= 0 and dot(n, (cone[0, 0], cone[0, 1], cone[0, 2])) > 0.0)):
            # what touches is left to the contacts; the back of a triangle is no surface
            touched = near == 0.0 and gap > 0.0 and geom.kind[a] == MESH
            if not touched:
                return h
        if touched and gap <= 0.0:
            return sure
        touched = touched and gap <= close
        if touched:
            sure = now
            now += leap / max(norm(sub(v_a, v_b)) + turning, leap / h)
            if now >= h:
                return h
            continue
        if gap <= close:
            return sure if step > ADVANCES else now
        # the wall of a hollow, a ring or a mesh may come nearer along another direction
        approach = (norm(sub(v_a, v_b)) if curls else dot(n, sub(v_a, v_b))) + turning
        way = gap - 0.5 * close
        if approach * (h - now) < way:
            return h
        sure = now + way / approach
        if convex:
            speed = fastest(geom, a, core[0], solids.info[a, POINTS], motion_a, now, n)
            speed += fastest(geom, second, core[1], corners, motion_b, now, neg(n))
            sure = max(sure, now + time_for(way, speed, bend))
            stride = min(stride, h - now)
            if stride > STRIDE * (sure - now):
                place_at(geom, a, motion_a, now + stride)
                place_at(geom, b, motion_b, now + stride)
                gap_end, n_end = distance_of(geom, solids, soups, work, a, b, t, math.inf)
                if turning_plane(gap, n, gap_end, n_end, norm(sub(v_a, v_b)) + turning, bend, stride) > 0.5 * close:
                    sure, stride = now + stride, 2.0 * stride
                else:
                    stride *= SHORTER
        now = sure if step < ADVANCES else now + max(way, leap) / approach
        if now >= h:
            return h
    return sure


@helper
def between_boxes(geom, a, b, n):
    """How far the boxes of two bounded shapes are apart along a unit vector n from a to b, their swell taken off."""
    half_a, half_b = (geom.box[a, 3], geom.box[a, 4], geom.box[a, 5]), (geom.box[b, 3], geom.box[b, 4], geom.box[b, 5])
    reach_a = half_width(geom.kind[a], half_a, to_local(geom, a, n))
    reach_b = half_width(geom.kind[b], half_b, to_local(geom, b, n))
    return dot(n, from_box_to_box(geom, a, b)) - reach_a - reach_b - swell(geom, a) - swell(geom, b)


@helper
def from_box_to_box(geom, a, b):
    """From the middle of the box of shape a to that of shape b, world frame."""
    p, q = to_world(geom, a, row(geom.box, a)), to_world(geom, b, row(geom.box, b))
    return sub(add(origin(geom, b), q), add(origin(geom, a), p))


@helper
def between_cores(geom, solids, core, a, b, n):
    """The same of two convex shapes, whose cores are loaded."""
    p = support(core[0], solids.info[a, POINTS], geom, a, n)
    q = support(core[1], solids.info[b, POINTS], geom, b, neg(n))
    return dot(n, sub(q, p)) - swell(geom, a) - swell(geom, b)


@helper
def boxes_stay_apart(start, end, a, b, least):
    """Whether the boxes of two bounded shapes are apart by more than `least` [m] at the start and at the end of their
    paths along one of their axes."""
    d = from_box_to_box(start, a, b)
    for k in range(6):
        n = axis(start, a if k < 3 else b, k % 3)
        n = n if dot(n, d) >= 0.0 else neg(n)
        if between_boxes(start, a, b, n) > least and between_boxes(end, a, b, n) > least:
            return True
    return False


@helper
def cores_stay_apart(start, end, solids, work, a, b, least):
    """The same of two convex shapes along the direction between their nearest points at the start."""
    core, simplex = work.core, work.simplex
    na, nb = load_points(start, solids, a, core[0]), load_points(start, solids, b, core[1])
    _, rows = gjk(core[0], na, core[1], nb, start, a, b, math.inf, simplex)
    n = unit(sub(weighted(simplex, rows, 6), weighted(simplex, rows, 3)))
    if between_cores(start, solids, core, a, b, n) <= least:
        return False
    load_points(end, solids, a, core[0])
    load_points(end, solids, b, core[1])
    return between_cores(end, solids, core, a, b, n) > least


@kernel
def list_ways(kind, pairs, lists, counts, chosen_out, pair_out) -> int:
    """Rows (shape, shape, -1) of all pairs but those of a shape and the triangles of a mesh, and the pair of each row;
    returns their number."""
    count = 0
    for f in (ROUND, BOXES, CONVEX, HOLLOWS, RINGS, SURFACES):
        for i in range(counts[f]):
            p = lists[f, i]
            a, b = pairs[p, 0], pairs[p, 1]
            meshes = (1 if kind[a] == MESH else 0) + (1 if kind[b] == MESH else 0)
            if (f == RINGS and meshes > 0) or (f == SURFACES and meshes < 2):
                continue
            chosen_out[count, 0], chosen_out[count, 1], chosen_out[count, 2], pair_out[count] = a, b, -1, p
            count += 1
    return count


@kernel
def look_for_planes(i, ways, chosen, bodies, h, times_out) -> None:
    """Of share i of the chosen: h, where a plane keeps the two apart, see the top, else UNKNOWN."""
    hand, end, solids, shapes, span = hand_of(ways.hands, i), ways.end, ways.solids, ways.shapes, ways.paths.span
    start, work = ways.hands.first.geometry, hand.work
    for c in range(i, len(chosen), SHARES):
        a, b, t = chosen[c, 0], chosen[c, 1], chosen[c, 2]
        times_out[c] = UNKNOWN
        if t >= 0 or start.kind[a] in WITHOUT_BOX or start.kind[b] in WITHOUT_BOX:
            continue
        i_a, i_b = shapes.body[a], shapes.body[b]
        w_a, w_b = row(bodies.w, i_a), row(bodies.w, i_b)
        bent = 0.125 * h * h * (dot(w_a, w_a) * span[i_a] + dot(w_b, w_b) * span[i_b])
        least = bent + (MESHES_TOUCH if start.kind[a] == MESH else 2.0 * TOUCH) * max(start.bound[a], start.bound[b])
        if boxes_stay_apart(start, end, a, b, least):
            times_out[c] = h
        elif start.kind[a] not in CURLED and start.kind[b] not in CURLED:
            times_out[c] = h if cores_stay_apart(start, end, solids, work, a, b, least) else UNKNOWN


@helper
def motion_of(shapes, bodies, span, s):
    """The motion of shape s, see `touch_time`."""
    i = shapes.body[s]
    return (row(bodies.x, i), row4(bodies.q, i), row(bodies.v, i), row(bodies.w, i), row(shapes.position, s),
            row4(shapes.orientation, s), span[i])


@helper
def rested(memory, a, b):
    """Whether any contact of the shapes a < b rested in the last step: by bisection, for its rows are in order."""
    first, last = 0, int(memory.count[0])
    while first < last:
        k = (first + last) // 2
        if memory.shapes[k, 0] < a or (memory.shapes[k, 0] == a and memory.shapes[k, 1] < b):
            first = k + 1
        else:
            last = k
    while first < memory.count[0] and memory.shapes[first, 0] == a and memory.shapes[first, 1] == b:
        if memory.touching[first] == 1:
            return True
        first += 1
    return False


@helper
def facing_each_other(geom, pair):
    """The shapes and triangle of a pair in the order that `distance_of` wants."""
    a, b, t = pair
    if geom.kind[a] in (PLANE, BOWL, PIPE) or (t >= 0 and geom.kind[a] == MESH):
        a, b = b, a
    if geom.kind[b] == TORUS and geom.kind[a] != TORUS:
        a, b = b, a
    return a, b, t


@kernel
def advance_some(i, ways, chosen, bodies, memory, h, times_out) -> None:
    """Of share i of the chosen: the times that are UNKNOWN."""
    hand, solids, shapes, paths = hand_of(ways.hands, i), ways.solids, ways.shapes, ways.paths
    geom = hand.geometry
    for c in range(i, len(chosen), SHARES):
        if times_out[c] != UNKNOWN:
            continue
        a, b, t = facing_each_other(geom, (chosen[c, 0], chosen[c, 1], chosen[c, 2]))
        i_a, i_b = shapes.body[a], shapes.body[b]
        motion_a, motion_b = motion_of(shapes, bodies, paths.span, a), motion_of(shapes, bodies, paths.span, b)
        leap = FAST * min(paths.thickness[i_a], paths.thickness[i_b])
        near = leap if rested(memory, min(a, b), max(a, b)) else 0.0
        times_out[c] = touch_time(geom, solids, hand.soups, hand.work, (a, b, t), motion_a, motion_b, (leap, near), h)


@program
def touch_times(ways, chosen, bodies, memory, h, times_out) -> None:
    """When each chosen (shape, shape, triangle or -1) first touches [s], h where it does not within h, see
    `touch_time`. memory: the contacts of the last step."""
    share_out(SHARES, look_for_planes, (ways, chosen, bodies, h, times_out))
    share_out(SHARES, advance_some, (ways, chosen, bodies, memory, h, times_out))


@kernel
def stop_at(chosen, times, body, h, fraction_out) -> None:
    """Shorten the part of its way (n,) that each body goes to where the first of its chosen pairs touches."""
    for c in range(len(chosen)):
        for side in range(2):
            b = body[chosen[c, side]]
            fraction_out[b] = min(fraction_out[b], times[c] / h)
