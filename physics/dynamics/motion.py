"""Prescribed motion of kinematic bodies."""

import math

from ..core.jit import helper, kernel
from ..core.model import DYNAMIC, LINK, BodyKind
from ..core.vec import add, axpy, put, put4, quat_exp, quat_mul, row, row4, scale, sub

KINEMATIC = int(BodyKind.KINEMATIC)
CLOSE = 2.0 ** -50  # by which two times may differ that are one, relative to the largest: rounding of their sums


@kernel
def rounding(motions, t):
    """How much earlier than a way point a time t may be that is at it [s]."""
    largest = abs(t)
    for time in motions.path_time:
        largest = max(largest, abs(time))
    return CLOSE * largest


@helper
def along_path(motions, i, t):
    """Position on the way points of body i and velocity there, at a way point that after it; it rests before the first
    and after the last one unless the path is repeated."""
    early = rounding(motions, t)
    first = int(motions.path_start[i])
    last = int(motions.path_start[i + 1]) - 1
    still = (0.0, 0.0, 0.0)
    if last < first:
        return still, still
    period = motions.path_time[last] - motions.path_time[first]
    if motions.path_loop[i] == 1 and period > 0.0:
        t = motions.path_time[first] + (t - motions.path_time[first] + early) % period - early
    if t < motions.path_time[first] - early:
        return row(motions.path_position, first), still
    for k in range(first, last):
        if t < motions.path_time[k + 1] - early:
            start = row(motions.path_position, k)
            duration = motions.path_time[k + 1] - motions.path_time[k]
            velocity = scale(1.0 / duration, sub(row(motions.path_position, k + 1), start))
            return axpy(t - motions.path_time[k], velocity, start), velocity
    return row(motions.path_position, last), still


@kernel
def next_way_point(motions, t):
    """The first time after t at which a body is at a way point, where its speed may jump [s]; inf = never."""
    early, soonest = rounding(motions, t), math.inf
    for i in range(len(motions.path_loop)):
        first, end = int(motions.path_start[i]), int(motions.path_start[i + 1])
        if end - first < 2:
            continue
        period, turns = motions.path_time[end - 1] - motions.path_time[first], 0.0
        if motions.path_loop[i] == 1:
            turns = math.floor((t - motions.path_time[first] + early) / period)
        for k in range(first, end):
            time = motions.path_time[k] + turns * period
            if time > t + early:
                soonest = min(soonest, time)
                break
    return soonest


@helper
def any_driven(kind):
    """Whether there is a kinematic body."""
    count = 0
    for one in kind:
        count += 1 if one == KINEMATIC else 0
    return count > 0


@kernel
def drive(model, t, bodies) -> None:
    """Put every kinematic body where it is at time t [s]: writes x, q, v and w in place.

    x = x_0 + v t + A sin(2π f t + φ) + path(t),  q = exp(ω t) q_0
    """
    motions = model.motions
    for i in range(len(model.kind)):
        if model.kind[i] != KINEMATIC:
            continue
        amplitude = row(motions.amplitude, i)
        rate = 2.0 * math.pi * motions.frequency[i]
        angle = rate * t + motions.phase[i]
        velocity = row(motions.velocity, i)
        spin = row(motions.angular_velocity, i)
        offset, path_velocity = along_path(motions, i, t)
        x = add(axpy(t, velocity, row(motions.start_x, i)), axpy(math.sin(angle), amplitude, offset))
        put(bodies.x, i, x)
        put4(bodies.q, i, quat_mul(quat_exp(scale(t, spin)), row4(motions.start_q, i)))
        put(bodies.v, i, add(velocity, axpy(rate * math.cos(angle), amplitude, path_velocity)))
        put(bodies.w, i, spin)


@helper
def driven_acceleration(model, i, t):
    """Acceleration of a kinematic body at time t; its way points are joined by straight lines."""
    if model.kind[i] != KINEMATIC:
        return (0.0, 0.0, 0.0)
    motions = model.motions
    rate = 2.0 * math.pi * motions.frequency[i]
    return scale(-rate * rate * math.sin(rate * t + motions.phase[i]), row(motions.amplitude, i))


@helper
def moves(kind, i):
    """Whether forces move body i; -1 is the world."""
    return i >= 0 and (kind[i] == DYNAMIC or kind[i] == LINK)
