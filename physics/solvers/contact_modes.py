"""The laws of the row blocks of an island: how well they hold, and modes by which Newton's method makes them linear.

A contact is open, sticks or slips; a limit or motor is at a bound or free; a moment stops spinning and rolling or is at
its bounds; the mouse spring follows its law or pulls with its limit. In a mode the law of row block j is, but for the
direction of slip,

    λ = D (ε c - u) + way

with a 3 x 3 matrix D. The modes follow from λ - ρ w, w = u + ε (λ - c) [Alart & Curnier 1991].
"""

import math

from ..core.jit import helper
from ..core.sym3 import six, sym_inverse, sym_vec, three
from ..core.vec import add, axpy, cross, dot, norm, put, row, scale, sub
from ..problem.moments import moment_map_of
from ..problem.residual import natural_map_of, spring_map_of
from ..problem.system import CONTACT, MOMENT, MOUSE
from .island import HIGH, HOLD, LOW, MU, SOFT, STEP

OPEN, STICK, SLIP = range(3)  # modes; of a limit or motor: at the lower bound, free, at the upper bound
SLIDING = 5  # kind of a row block beside those of Blocks: a contact whose direction of friction is known; its axes are
SLIP_ALONG = LOW  # its normal and two tangents, and in the law the slip along the tangents begins here
EDGE = 1e-14  # part of the cone at its edge where a contact slips: there rounding would choose between slip and stick


# ------------------------------------------------------------------------------------------------------- the residual
@helper
def moment_bounds(island, j):
    """Greatest moments of row block j about the normal and across it, by the load it has now [N m s]."""
    law, k = island.law, int(island.load[j])
    load = max(dot(row(island.lam, k), three(law, k, 0)), 0.0) if k >= 0 else 0.0
    return law[j, LOW] * load, law[j, HIGH] * load


@helper
def natural_of_other(island, j, u):
    """Natural map of a row block that is no contact, at its λ and a velocity u [m/s]."""
    law, kind, rho, lam = island.law, island.kind[j], island.law[j, STEP], row(island.lam, j)
    if kind == MOUSE:
        return spring_map_of(lam, add(u, sym_vec(six(law, j, SOFT), lam)), six(law, j, HOLD), law[j, HIGH])
    if rho == 0.0:
        return 0.0
    if kind == SLIDING:
        return abs(lam[0] - max(lam[0] - rho * u[0], 0.0)) / rho
    if kind == MOMENT:
        spin, roll = moment_bounds(island, j)
        return moment_map_of(lam, u, three(law, j, 0), spin, roll, rho)
    return abs(lam[0] - min(max(lam[0] - rho * u[0], law[j, LOW]), law[j, HIGH])) / rho


@helper
def worst_of(island, u):
    """The largest natural map at the velocities u (m, 3). Contacts, which are most, are looked at in place: to pass the
    arrays of an island on takes longer than the law of one."""
    worst, law = 0.0, island.law
    for j in range(len(island.kind)):
        rho = law[j, STEP]
        if island.kind[j] != CONTACT:
            miss = natural_of_other(island, j, row(u, j))
        elif rho > 0.0:
            miss = natural_map_of(row(island.lam, j), row(u, j), three(law, j, 0), law[j, MU], rho)
        else:
            miss = 0.0
        worst = miss if not miss <= worst else worst  # nan is the worst
    return worst


# ---------------------------------------------------------------------------------------------------------- the modes
@helper
def add_outer(D_out, j, s, u, v):
    """D_j += s u vᵀ"""
    for r in range(3):
        for c in range(3):
            D_out[j, 3 * r + c] += s * u[r] * v[c]


@helper
def times(D, j, u):
    """D_j u"""
    return (D[j, 0] * u[0] + D[j, 1] * u[1] + D[j, 2] * u[2], D[j, 3] * u[0] + D[j, 4] * u[1] + D[j, 5] * u[2],
            D[j, 6] * u[0] + D[j, 7] * u[1] + D[j, 8] * u[2])


@helper
def contact_mode(law, j, y, eps, near, D_out, way_out):
    """Mode of a contact by y = λ - ρ w; see `set_modes`.

    Stick: w = 0.  Slip: w_n = 0, λ_t = μ λ_n e, e = y_t/|y_t|, to first order in a change of e, along t = n × e:
    λ·t = -κ (w - ε (λ - c))·t, κ = a ρ/(1 - a + a ρ ε), a = μ y_n/|y_t|.
    """
    n, mu, rho = three(law, j, 0), law[j, MU], law[j, STEP]
    y_n = dot(y, n) + rho * near
    if y_n <= 0.0:
        return OPEN, 0.0
    y_t = axpy(-dot(y, n), n, y)
    size = norm(y_t)
    if mu == 0.0:
        add_outer(D_out, j, 1.0 / eps, n, n)
        return SLIP, 0.0
    if size <= (1.0 - EDGE) * mu * y_n:
        for r in range(3):
            D_out[j, 4 * r] = 1.0 / eps
        return STICK, 0.0
    e, a = scale(1.0 / size, y_t), mu * y_n / size
    t = cross(n, e)
    add_outer(D_out, j, 1.0 / eps, axpy(mu, e, n), n)
    add_outer(D_out, j, a * rho / (1.0 - a + a * rho * eps), t, t)
    change = norm(sub(e, row(way_out, j)))
    put(way_out, j, e)
    return SLIP, change


@helper
def grab_mode(law, j, lam, w, eps, D_out, way_out):
    """Mode of the mouse spring: STICK where it follows its linear law, SLIP where its impulse is at the limit."""
    soft = six(law, j, SOFT)
    p = sub(lam, sym_vec(six(law, j, HOLD), add(w, sym_vec(soft, lam))))
    size = norm(p)
    if size <= law[j, HIGH]:
        k = sym_inverse((soft[0] + eps, soft[1], soft[2], soft[3] + eps, soft[4], soft[5] + eps))
        put(D_out[:, 0:3], j, (k[0], k[1], k[2]))
        put(D_out[:, 3:6], j, (k[1], k[3], k[4]))
        put(D_out[:, 6:9], j, (k[2], k[4], k[5]))
        put(way_out, j, (0.0, 0.0, 0.0))
        return STICK, 0.0
    new = scale(law[j, HIGH] / size, p)
    change = norm(sub(new, row(way_out, j))) / law[j, HIGH]
    put(way_out, j, new)
    return SLIP, change


@helper
def moment_mode(island, j, y, eps, D_out, way_out):
    """Mode of a moment by y = m - ρ w: 0 where it stops all turning, 1 spins, 2 rolls, 3 both. Where it spins or rolls
    it is at its bound, the direction of rolling followed as that of slip by `contact_mode`. The bounds follow the load
    from round to round."""
    n, rho, (spin, roll) = three(island.law, j, 0), island.law[j, STEP], moment_bounds(island, j)
    along, mode, way = dot(y, n), 0, (0.0, 0.0, 0.0)
    across = axpy(-along, n, y)
    size = norm(across)
    if abs(along) < spin:
        add_outer(D_out, j, 1.0 / eps, n, n)
    else:
        mode += 1
        way = scale(math.copysign(spin, along), n)
    if size < roll:
        for r in range(3):
            D_out[j, 4 * r] += 1.0 / eps
        add_outer(D_out, j, -1.0 / eps, n, n)
    else:
        mode += 2
        if roll > 0.0:
            e, a = scale(1.0 / size, across), roll / size
            t = cross(n, e)
            add_outer(D_out, j, a * rho / (1.0 - a + a * rho * eps), t, t)
            way = axpy(roll, e, way)
    bound = max(spin, roll)
    change = norm(sub(way, row(way_out, j))) / bound if bound > 0.0 else 0.0
    put(way_out, j, way)
    return mode, change


@helper
def other_mode(island, j, w, eps, D_out, way_out):
    """Mode of row block j, which is no contact, at its λ and the velocity w; see `set_modes`."""
    law, lam = island.law, row(island.lam, j)
    if island.kind[j] == MOUSE:
        return grab_mode(law, j, lam, w, eps, D_out, way_out)
    if law[j, STEP] == 0.0:
        return OPEN, 0.0
    y = axpy(-law[j, STEP], w, lam)
    if island.kind[j] == MOMENT:
        return moment_mode(island, j, y, eps, D_out, way_out)
    if island.kind[j] == SLIDING:
        if y[0] <= 0.0:
            return OPEN, 0.0
        pull = (1.0, -law[j, MU] * law[j, SLIP_ALONG], -law[j, MU] * law[j, SLIP_ALONG + 1])
        add_outer(D_out, j, 1.0 / eps, pull, (1.0, 0.0, 0.0))
        return SLIP, 0.0
    if law[j, LOW] < y[0] < law[j, HIGH]:
        D_out[j, 0] = 1.0 / eps
        put(way_out, j, (0.0, 0.0, 0.0))
        return STICK, 0.0
    low = y[0] <= law[j, LOW]
    put(way_out, j, (law[j, LOW] if low else law[j, HIGH], 0.0, 0.0))
    return OPEN if low else SLIP, 0.0


@helper
def set_modes(island, w, eps, near, mode, D, way):
    """Modes of all row blocks at their λ and the velocities w (m, 3), and their D. way (m, 3): the direction of
    friction, or the impulse of a row at its bound. Opening more slowly than `near` [m/s] counts as closed. Returns
    whether any mode has changed, and the largest change of direction of those that slip, spin or roll as before."""
    other, turned, law = False, 0.0, island.law
    for j in range(len(island.kind)):
        for e in range(9):
            D[j, e] = 0.0
        if island.kind[j] != CONTACT:
            now, change = other_mode(island, j, row(w, j), eps, D, way)
        elif law[j, STEP] > 0.0:
            now, change = contact_mode(law, j, axpy(-law[j, STEP], row(w, j), row(island.lam, j)), eps, near, D, way)
        else:
            now, change = OPEN, 0.0
        if now != mode[j]:
            other = True
        else:
            turned = max(turned, change)
        mode[j] = now
    return other, turned
