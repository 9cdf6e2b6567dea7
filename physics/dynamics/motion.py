"""Prescribed motion of kinematic bodies."""

import math

from ..core.jit import helper, kernel
from ..core.model import DYNAMIC, LINK, BodyKind
from ..core.vec import add, axpy, put, put4, quat_exp, quat_mul, row, row4, scale, sub

KINEMATIC = int(BodyKind.KINEMATIC)
CLOSE = 2.0 ** -50  # by which two times may differ that are one, relative to the largest: rounding of their sums
AHEAD = 4.0  # how long before a way point a piece ends, in `rounding`: all its stages then see the speed before it


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


@helper
def next_point_of(motions, i, t):
    """The first time after t at which body i is at one of its way points [s]; inf = never."""
    early, first, end, turns = rounding(motions, t), int(motions.path_start[i]), int(motions.path_start[i + 1]), 0.0
    if end - first < 2:
        return math.inf
    period = motions.path_time[end - 1] - motions.path_time[first]
    if motions.path_loop[i] == 1:
        turns = math.floor((t - motions.path_time[first] + early) / period)
    for k in range(first, end):
        time = motions.path_time[k] + turns * period
        if time > t + early:
            return time
    return math.inf


@kernel
def next_way_point(motions, t):
    """The first time after t at which a body is at a way point, where its speed may jump [s]; inf = never."""
    soonest = math.inf
    for i in range(len(motions.path_loop)):
        soonest = min(soonest, next_point_of(motions, i, t))
    return soonest


@helper
def at_way_point(motions, i, t, h):
    """Whether body i is at one of its way points after t [s] until t + h."""
    return next_point_of(motions, i, t) <= t + h + rounding(motions, t + h)


@kernel
def any_at_way_point(motions, t, h):
    """Whether some body is."""
    return next_way_point(motions, t) <= t + h + rounding(motions, t + h)


@helper
def jumps_of(motions, i, t, h):
    """The jumps of the velocity of body i at its way points after t [s] until t + h, in two parts [m/s]: what acts at
    the start of that time, and at its end, moves a body as far as jumps at the way points themselves do."""
    at_start, at_end = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    before, end, time = along_path(motions, i, t)[1], t + h + rounding(motions, t + h), next_point_of(motions, i, t)
    while time <= end:
        after = along_path(motions, i, time)[1]
        part = min(max((time - t) / h, 0.0), 1.0)
        at_start = axpy(1.0 - part, sub(after, before), at_start)
        at_end = axpy(part, sub(after, before), at_end)
        before, time = after, next_point_of(motions, i, time)
    return at_start, at_end


@kernel
def add_jumps(model, t, h, at_start, at_end, bodies_in_out) -> None:
    """Add so much of the parts of their jumps after t [s] until t + h, see `jumps_of`, to the velocities of bodies that
    follow paths."""
    for i in range(len(model.kind)):
        if model.kind[i] == KINEMATIC:
            first, second = jumps_of(model.motions, i, t, h)
            put(bodies_in_out.v, i, axpy(at_start, first, axpy(at_end, second, row(bodies_in_out.v, i))))


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
