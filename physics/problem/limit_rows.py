"""Limits of joints as rows of the contact equations."""

from ..core.jit import helper, kernel
from ..core.sym3 import three
from ..core.vec import add, dot, put, row, tangents
from ..dynamics.constraints.limits import TURNS, limit_rate, maximal_directions, put_limit
from ..dynamics.motion import driven_acceleration
from .contact_equations import clear_rows, place_in_row


@helper
def end_acceleration(model, t, eq, i, f, turn):
    """What driven bodies, and links at v̇ = 0, add to the acceleration along a direction of body i's velocities."""
    if i < 0:
        return 0.0
    return dot(f, add(driven_acceleration(model, i, t), three(eq.bias, i, 0))) + dot(turn, three(eq.bias, i, 3))


@kernel
def limit_rows(model, surface, t, bodies, pairs, witness, count, eq):
    """Write T, u and rate of the limits among the contacts 0 … count - 1, at the poses and velocities of the bodies and
    the coordinates in eq.trees."""
    limits, first, trees = surface.limits, len(surface.kind) ** 2, eq.trees
    for k in range(count):
        if pairs[k] < first or pairs[k] >= TURNS:
            continue
        r = int(pairs[k]) - first
        j = int(limits.joint[r])
        a, b = int(model.joints.parent[j]), int(model.joints.child[j])
        at_a, at_b = place_in_row(model, eq, a), place_in_row(model, eq, b)
        maximal = limits.first_v[r] < 0
        clear_rows(eq, k, int(eq.slot[a]) if maximal and a >= 0 else -1, int(eq.slot[b]) if maximal else -1)
        put_limit(model, limits, r, bodies, trees.q, trees.work, at_a, at_b, eq.T[3 * k])
        for i in range(3 * k, 3 * k + 3):
            eq.u[i], eq.rate[i] = 0.0, 0.0
        eq.u[3 * k], eq.rate[3 * k] = limit_rate(model, limits, r, bodies, trees.q, trees.v)
        if maximal:
            f, t_a, t_b = maximal_directions(model, limits, r, bodies, trees.q)
            eq.rate[3 * k] += end_acceleration(model, t, eq, b, f, t_b) - end_acceleration(model, t, eq, a, f, t_a)
        t1, t2 = tangents(row(witness.normal, k))
        put(eq.tangent_1, k, t1)
        put(eq.tangent_2, k, t2)
