"""When fast bodies first touch: conservative advancement, so that nothing passes through anything within a step.

A pair may move on by gap / speed without touching, where the speed bounds how fast any two of their points can approach
along the direction between them; repeated, the pair arrives at the moment of touch and never jumps over it
[Mirtich 1996, §2.3.2].
"""

import math

from ..core.jit import helper, kernel
from ..core.vec import axpy, dot, neg, norm, quat_exp, quat_mat, quat_mul, row, row4, scale, sub, transform, unit
from .geometry import BOWL, MESH, PIPE, PLANE, axis, origin, swell
from .gjk import gjk, support, weighted
from .hollow import hollow_gap
from .polytope import load_points
from .triangles import load_triangle

ADVANCES = 64
TOUCH = 1e-6      # two shapes touch where they are as near as this, relative to the size of one
FAST = 0.5        # of a body's thinnest half extent: who moves less in a step is left to the contacts


@kernel
def find_fast(x, q, v, w, h, thickness, span, fast_out, x_out, q_out):
    """Pose of every body after a step of free motion, and which bodies are fast; returns how many.

    thickness, span (n,): the thinnest half extent of a body's shapes, and their reach from its centre [m].
    """
    count = 0
    for i in range(x.shape[0]):
        vi, wi = row(v, i), row(w, i)
        fast_out[i] = 1 if h * (norm(vi) + norm(wi) * span[i]) > FAST * thickness[i] else 0
        count += fast_out[i]
        end = axpy(h, vi, row(x, i))
        turned = quat_mul(quat_exp(scale(h, wi)), row4(q, i))
        for k in range(3):
            x_out[i, k] = end[k]
        for k in range(4):
            q_out[i, k] = turned[k]
    return count


@kernel
def bound_paths(body, w, h, span, lo_start, hi_start, lo_out, hi_out):
    """Bounds of whole paths: those of start and end together, and the sagitta of what turning does between."""
    for s in range(body.shape[0]):
        turn = min(h * norm(row(w, body[s])), math.pi)
        bulge = span[body[s]] * (1.0 - math.cos(0.5 * turn))
        for k in range(3):
            lo_out[s, k] = min(lo_out[s, k], lo_start[s, k]) - bulge
            hi_out[s, k] = max(hi_out[s, k], hi_start[s, k]) + bulge


@helper
def place_at(pose, s, x, q, v, w, position, orientation, t):
    """Pose of shape s when its body has moved for the time t."""
    turned = quat_mul(quat_exp(scale(t, w)), q)
    p = transform(axpy(t, v, x), turned, position)
    m = quat_mat(quat_mul(turned, orientation))
    for i in range(3):
        pose[s, i] = p[i]
        for j in range(3):
            pose[s, 3 + 3 * i + j] = m[i][j]


@helper
def distance_of(pose, info, vectors, sheets, core, simplex, cone, a, b, t, far):
    """(gap, normal a -> b) of two convex shapes, a shape and a plane or a hollow b, or a shape and triangle t >= 0 of
    mesh b."""
    na = load_points(pose, info, vectors, a, core[0])
    if info[b, 0] == BOWL or info[b, 0] == PIPE:
        return hollow_gap(info[b, 0], pose, core[0], na, a, b)
    if info[b, 0] == PLANE:
        n = neg(axis(pose, b, 2))
        low = support(core[0], na, pose, a, n)
        return dot(n, sub(origin(pose, b), low)) - swell(pose, a), n
    second, nb = b, 0
    if t >= 0:
        load_triangle(pose, b, sheets[t], core[1], cone)
        second, nb = pose.shape[0] - 1, 3
    else:
        nb = load_points(pose, info, vectors, b, core[1])
    distance, rows = gjk(core[0], na, core[1], nb, pose, a, second, far, simplex)
    n = unit(sub(weighted(simplex, rows, 6), weighted(simplex, rows, 3)))
    return distance - swell(pose, a) - swell(pose, second), n


@helper
def touch_time(pose, info, vectors, sheets, core, simplex, cone, a, b, t, motion_a, motion_b, span_a, span_b, h):
    """When the pair first touches, between 0 and h; h where it does not, or where it touches or overlaps already.

    A motion is (x, q, v, w, position, orientation) of the body and of the shape in it.
    """
    xa, qa, va, wa, pa, oa = motion_a
    xb, qb, vb, wb, pb, ob = motion_b
    size = pose[a, 17] if t >= 0 or info[b, 0] in (PLANE, BOWL, PIPE) else min(pose[a, 17], pose[b, 17])
    turning = norm(wa) * span_a + norm(wb) * span_b
    now = 0.0
    for step in range(ADVANCES):
        place_at(pose, a, xa, qa, va, wa, pa, oa, now)
        place_at(pose, b, xb, qb, vb, wb, pb, ob, now)
        gap, n = distance_of(pose, info, vectors, sheets, core, simplex, cone, a, b, t, 1e300)
        if step == 0 and (gap <= TOUCH * size or (t >= 0 and dot(n, (cone[0, 0], cone[0, 1], cone[0, 2])) > 0.0)):
            return h  # contacts hold what touches; the back of a triangle is no surface
        if gap <= TOUCH * size:
            return now
        hollow = info[b, 0] == BOWL or info[b, 0] == PIPE  # whose wall may come nearer along another direction
        approach = (norm(sub(va, vb)) if hollow else dot(n, sub(va, vb))) + turning
        if approach * (h - now) < gap - 0.5 * TOUCH * size:
            return h
        now += (gap - 0.5 * TOUCH * size) / approach
    return now


@kernel
def first_touches(pose, info, vectors, sheets, core, simplex, cone, pairs, chosen, count, fast, body, position,
                  orientation, x, q, v, w, span, h, fraction_out):
    """Lower fraction_out of both bodies to the part of the step before each chosen (pair, triangle or -1) touches."""
    for i in range(count):
        a, b, t = pairs[chosen[i, 0], 0], pairs[chosen[i, 0], 1], chosen[i, 1]
        if info[a, 0] in (PLANE, BOWL, PIPE) or (t >= 0 and info[a, 0] == MESH):
            a, b = b, a
        i_a, i_b = int(body[a]), int(body[b])
        if fast[i_a] == 0 and fast[i_b] == 0:
            continue
        motion_a = (row(x, i_a), row4(q, i_a), row(v, i_a), row(w, i_a), row(position, a), row4(orientation, a))
        motion_b = (row(x, i_b), row4(q, i_b), row(v, i_b), row(w, i_b), row(position, b), row4(orientation, b))
        now = touch_time(pose, info, vectors, sheets, core, simplex, cone, a, b, t, motion_a, motion_b, span[i_a],
                         span[i_b], h)
        fraction_out[i_a] = min(fraction_out[i_a], now / h)
        fraction_out[i_b] = min(fraction_out[i_b], now / h)


