"""Looks along one step of the event-driven method, each in one kernel: a call with a model costs as its work does."""

import numpy as np

from contactlab.physics.collision.surface_gap import find_witnesses
from contactlab.physics.contact_equations import separation_rates
from contactlab.physics.integrators.stepper import dense_output
from contactlab.physics.jit import kernel
from contactlab.physics.limits import find_limits, limit_rates
from contactlab.physics.methods.event_driven_rates import constrained_rates
from contactlab.physics.vec import norm, row, sub


@kernel
def look(
    model, surface, chosen, loads, tableau, t, h, whole, y0, k, delta, forces, work, bodies, joints, pairs, count,
    witness, zeta_out, scratch,
):
    """Bodies, gaps and rates ζ of the first `count` pairs at the fraction delta of the step from y0 at t over h with
    the stages k, a part of the `whole` step; where forces = 1, also the forces of the current set, in the scratch."""
    dense_output(model, tableau, t, h, y0, k, delta, work, bodies, joints.q, joints.v)
    find_witnesses(surface, bodies, pairs, count, witness)
    find_limits(model, surface, bodies, joints.q, pairs, count, witness)
    separation_rates(witness, bodies, count, zeta_out)
    limit_rates(surface, joints.q, joints.v, pairs, count, zeta_out)
    if forces == 1:
        trees = scratch.equations.trees
        trees.q[:], trees.v[:] = joints.q, joints.v
        constrained_rates(model, surface, chosen, loads, t + delta * h, whole, bodies, scratch, scratch.rate)


@kernel
def travel(model, tableau, t, h, y0, k, turn, least, most, work, bodies, joints, start, far_out, spin_out, speed_out):
    """How far each body's centre comes from where it starts (n,) [m], its largest spin [rad/s] and its first speed
    [m/s], seen at nodes between which none turns by more than `turn` [rad]. Returns the number of intervals between
    these, `least` to `most`, and leaves the bodies at the start. start (n, 3) is scratch."""
    n = len(far_out)
    dense_output(model, tableau, t, h, y0, k, 1.0, work, bodies, joints.q, joints.v)
    fastest = 0.0
    for i in range(n):
        spin_out[i] = norm(row(bodies.w, i))
        fastest = max(fastest, spin_out[i])
        far_out[i] = 0.0
    dense_output(model, tableau, t, h, y0, k, 0.0, work, bodies, joints.q, joints.v)
    for i in range(n):
        speed_out[i] = norm(row(bodies.v, i))
        fastest = max(fastest, norm(row(bodies.w, i)))
        for j in range(3):
            start[i, j] = bodies.x[i, j]
    intervals = min(most, least + int(fastest * h / turn))
    for node in range(intervals, -1, -1):
        dense_output(model, tableau, t, h, y0, k, node / intervals, work, bodies, joints.q, joints.v)
        for i in range(n):
            far_out[i] = max(far_out[i], norm(sub(row(bodies.x, i), row(start, i))))
            spin_out[i] = max(spin_out[i], norm(row(bodies.w, i)))
    return np.int64(intervals)
