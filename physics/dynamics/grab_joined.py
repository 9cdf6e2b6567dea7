"""The mouse spring on a free body with joints in maximal coordinates. Its stiffness follows from the apparent mass of
the mechanism at the grabbed point, as in generalized coordinates (see `trees.contacts.pull_link`)."""

from ..core.jit import helper
from ..core.model import DYNAMIC
from ..core.vec import add, cross, row, row4
from .constraints import ldl
from .constraints.reactions import HOLDS, along_row, give_way
from .free_body import angular_velocity
from .grab import arm_and_target, pull_by

FIRM = 1e-9  # a body counts as held firmly where joints reduce its answer to less than this part


@helper
def pulls_joined(reactions, loads):
    """Whether the mouse has grabbed a free body with joints in maximal coordinates."""
    i = int(loads.grab_body[0])
    return i >= 0 and reactions.joined[i] == 1


@helper
def mobility_of(model, reactions, bodies, i, arm, turn):
    """How body i answers an impulse at the end of an arm, or a moment (turn = 1), in the direction in which it answers
    most: a bound on the largest eigenvalue of J H⁻¹ Jᵀ (3, 3) by its rows, with the reactions of the joints in H⁻¹; 0
    where the joints leave the body no freedom."""
    at, largest, q = int(reactions.slot[i]), 0.0, row4(bodies.q, i)
    for j in range(3):
        e = (1.0 if j == 0 else 0.0, 1.0 if j == 1 else 0.0, 1.0 if j == 2 else 0.0)
        moment = e if turn == 1 else cross(arm, e)
        moment = angular_velocity(q, row(model.inv_inertia, i), moment)
        reactions.trial[:] = 0.0
        for k in range(3):
            reactions.trial[at + k] = model.inv_mass[i] * e[k] if turn == 0 else 0.0
            reactions.trial[at + 3 + k] = moment[k]
        for r in range(len(reactions.part)):
            reactions.part[r] = -along_row(reactions, r, reactions.trial) if reactions.mode[r] == HOLDS else 0.0
        ldl.solve(reactions.factor, reactions.part)
        give_way(reactions, reactions.part, reactions.trial)
        trial = reactions.trial
        u = (trial[at + 3], trial[at + 4], trial[at + 5])
        if turn == 0:
            u = add((trial[at], trial[at + 1], trial[at + 2]), cross(u, arm))
        largest = max(largest, abs(u[0]) + abs(u[1]) + abs(u[2]))
    moments = row(model.inv_inertia, i)
    alone = model.inv_mass[i] if turn == 0 else max(moments[0], max(moments[1], moments[2]))
    return largest if largest > FIRM * alone else 0.0


@helper
def pull_joined(model, loads, bodies, h, reactions, force, torque, ydot):
    """Add the mouse spring on a free body with joints to force and torque (n, 3) and to the rates of P and L in
    ydot (n, 13). Needs the factor of the joints."""
    i = int(loads.grab_body[0])
    if not pulls_joined(reactions, loads) or model.kind[i] != DYNAMIC:
        return
    w = mobility_of(model, reactions, bodies, i, arm_and_target(loads, bodies, i)[0], int(loads.grab_turn[0]))
    if w == 0.0:
        return
    f, moment = pull_by(model, loads, bodies, i, w, h, force, torque)
    for k in range(3):
        ydot[i, 7 + k] += f[k]
        ydot[i, 10 + k] += moment[k]
