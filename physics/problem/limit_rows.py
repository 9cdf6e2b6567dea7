"""Limits of joints as rows of the contact equations."""

from ..core.jit import helper, kernel
from ..core.sym3 import three
from ..core.vec import dot, put, row, scale, tangents
from ..dynamics.constraints.limits import CONE, cone_direction, cone_turn, limit_rate, maximal_directions
from ..dynamics.motion import driven_acceleration
from ..dynamics.trees.contacts import put_end
from .contact_equations import clear_rows, place_in_row


@helper
def maximal_row(model, limits, r, t, bodies, k, eq):
    """Write the row of T of limit r in maximal coordinates, contact k; returns what driven bodies, and links at v̇ = 0,
    add to ζ̇."""
    j, rate = int(limits.joint[r]), 0.0
    ends = (int(model.joints.parent[j]), int(model.joints.child[j]))
    f, t_a, t_b = maximal_directions(model, limits, r, bodies, eq.trees.q)
    clear_rows(eq, k, int(eq.slot[ends[0]]) if ends[0] >= 0 else -1, int(eq.slot[ends[1]]))
    for side in range(2):
        i, sign, turn = ends[side], 2.0 * side - 1.0, t_a if side == 0 else t_b
        if i < 0:
            continue
        put_end(model, eq.trees.work, i, place_in_row(model, eq, i), scale(sign, f), scale(sign, turn), eq.T[3 * k])
        rate += sign * (dot(f, driven_acceleration(model, i, t)) + dot(f, three(eq.bias, i, 0))
                        + dot(turn, three(eq.bias, i, 3)))
    return rate


@kernel
def limit_rows(model, surface, t, bodies, pairs, witness, count, eq):
    """Write T, u and rate of the limits among the contacts 0 … count - 1, at the poses and velocities of the bodies and
    the coordinates in eq.trees."""
    limits, first, trees = surface.limits, len(surface.kind) ** 2, eq.trees
    base = len(eq.free) - len(trees.v)
    for k in range(count):
        if pairs[k] < first:
            continue
        r = int(pairs[k]) - first
        d, driven = base + int(limits.first_v[r]), 0.0
        if limits.first_v[r] < 0:
            driven = maximal_row(model, limits, r, t, bodies, k, eq)
        else:
            clear_rows(eq, k, -1, -1)
            if limits.side[r] == CONE:
                inwards, _ = cone_direction(cone_turn(model, limits, r, bodies, trees.q))
                for j in range(3):
                    eq.T[3 * k, d + j] = inwards[j]
            else:
                eq.T[3 * k, d] = limits.side[r]
        for i in range(3 * k, 3 * k + 3):
            eq.u[i], eq.rate[i] = 0.0, 0.0
        eq.u[3 * k], eq.rate[3 * k] = limit_rate(model, limits, r, bodies, trees.q, trees.v)
        eq.rate[3 * k] += driven
        t1, t2 = tangents(row(witness.normal, k))
        put(eq.tangent_1, k, t1)
        put(eq.tangent_2, k, t2)
