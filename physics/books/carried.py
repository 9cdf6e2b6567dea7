"""The work of bodies with a prescribed motion on the trees that stand on them, and on all that joints hold where their
speed jumps.

Such a body gives its tree, through the joint of the root, the force f that the links need less all that acts on them
from elsewhere, which methods note in `ledger.Books.given`. Its power is that of f at the velocity V of the body:

    f = Σ d(I v)/dt - Σ given,   P = f·V        all spatial, about the world origin
"""

from ..core.jit import helper, kernel, program
from ..core.spatial import dot6, joined
from ..core.sym3 import six
from ..core.vec import add, cross, row, sub
from ..dynamics.constraints.cure import PROJECTION, stop_joints
from ..dynamics.motion import add_jumps
from ..dynamics.trees.jumps import jump
from ..dynamics.trees.kinematics import F, base_velocity, place_links
from ..dynamics.trees.tree import ZERO6, needed_forces
from .diagnostics import total_energy
from .ledger import DRIVEN


@helper
def motion_of_base(bodies, i):
    """(ω, v - ω × x), the spatial velocity of body i about the world origin."""
    w = row(bodies.w, i)
    return joined(w, sub(row(bodies.v, i), cross(w, row(bodies.x, i))))


@helper
def about_origin(bodies, i, p, moment):
    """Momentum p and angular momentum about the centre of mass, or their rates, as a spatial one about the origin."""
    return joined(add(moment, cross(row(bodies.x, i), p)), p)


@helper
def credit_given(trees, bodies, given, sign, ledger):
    """Enter `sign` times given·V of the links of all trees that are carried: given (n, 6) as in `Books`."""
    for k in range(trees.driven.shape[0]):
        V, tree = motion_of_base(bodies, int(trees.driven[k, 1])), int(trees.driven[k, 2])
        for l in range(trees.start[tree], trees.start[tree + 1]):
            i = int(trees.body[l])
            f = (given[i, 3], given[i, 4], given[i, 5], given[i, 0], given[i, 1], given[i, 2])
            ledger[DRIVEN, 0] += sign * dot6(f, V)


@helper
def credit_needed(trees, rates, weight, work, ledger):
    """Enter what the links need over `weight` seconds at the joint accelerations `rates` (n_v,). Needs the work of
    `place_links` and `accelerate_bases`; its forces and accelerations are overwritten."""
    if trees.driven.shape[0] == 0:
        return
    link = work.link
    needed_forces(trees.table, ZERO6, rates, link, work.dof)
    for k in range(trees.driven.shape[0]):
        root, tree = int(trees.driven[k, 0]), int(trees.driven[k, 2])
        V = base_velocity(link, root)
        for l in range(root, trees.start[tree + 1]):
            ledger[DRIVEN, 0] += weight * dot6(six(link, l, F), V)


@kernel
def book_rates(trees, bodies, rates, given, ledger) -> None:
    """Enter the power at one instant, from the rates (n, 13) of Y with those of the links' momenta."""
    credit_given(trees, bodies, given, -1.0, ledger)
    for k in range(trees.driven.shape[0]):
        V, tree = motion_of_base(bodies, int(trees.driven[k, 1])), int(trees.driven[k, 2])
        for l in range(trees.start[tree], trees.start[tree + 1]):
            i = int(trees.body[l])
            f = about_origin(bodies, i, (rates[i, 7], rates[i, 8], rates[i, 9]),
                             (rates[i, 10], rates[i, 11], rates[i, 12]))
            ledger[DRIVEN, 0] += dot6(f, V)


@kernel
def book_change(trees, before, over, bodies, given, ledger) -> None:
    """Enter the work over a step or an impact in which links that had the momenta `before` (n, 6) about the origin were
    given `given` (n, 6), at the velocities `over` of the bodies that carry them."""
    credit_given(trees, over, given, -1.0, ledger)
    credit_given(trees, over, before, -1.0, ledger)
    for k in range(trees.driven.shape[0]):
        V, tree = motion_of_base(over, int(trees.driven[k, 1])), int(trees.driven[k, 2])
        for l in range(trees.start[tree], trees.start[tree + 1]):
            i = int(trees.body[l])
            ledger[DRIVEN, 0] += dot6(about_origin(bodies, i, row(bodies.P, i), row(bodies.L, i)), V)


@program
def jump_at_start(model, t, h, bodies, joints, trees, keeper, ledger) -> None:
    """What acts at the start of a step from t [s] over h [s] of the jumps of bodies at way points, on trees and on
    joints in maximal coordinates, and its work."""
    before = total_energy(model, bodies, joints.q, joints.v)
    if len(model.trees.driven) > 0:
        jump(model, t, h, 1.0, 0.0, bodies, joints, trees)
    if len(keeper.reactions.rows.kind) > 0:
        add_jumps(model, t, h, 1.0, 0.0, bodies)
        stop_joints(model, bodies, joints, PROJECTION, keeper)
        add_jumps(model, t, h, -1.0, 0.0, bodies)
    ledger[DRIVEN, 0] += total_energy(model, bodies, joints.q, joints.v) - before


@program
def jump_at_end(model, t, h, bodies, joints, trees, keeper, ledger) -> None:
    """What acts at its end, and the work of all that jumped since the start, when the links had been given their part.
    """
    add_jumps(model, t, h, -1.0, -1.0, bodies)
    if len(model.trees.driven) > 0:
        place_links(model, joints.q, joints.v, trees.work, bodies)
    before = total_energy(model, bodies, joints.q, joints.v)
    add_jumps(model, t, h, 1.0, 1.0, bodies)
    if len(model.trees.driven) > 0:
        jump(model, t, h, 0.0, 1.0, bodies, joints, trees)
    if len(keeper.reactions.rows.kind) > 0:
        stop_joints(model, bodies, joints, PROJECTION, keeper)
    ledger[DRIVEN, 0] += total_energy(model, bodies, joints.q, joints.v) - before
