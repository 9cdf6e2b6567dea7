"""What contact equations need of trees: their motion without contacts, rows of T, and rows of TᵀH⁻¹.

H is never formed: the recursions of `tree` answer a row of T as they answer joint forces, which costs one walk to the
root and back over the tree.                                                              [RBDA eqs. 11.25–11.36, ch. 7]
"""

from ...core.jit import helper, kernel
from ...core.model import LINK
from ...core.spatial import dot6, joined
from ...core.sym3 import six, three
from ...core.vec import add, cross, row, sub
from ..grab import arm_and_target, pull_by
from .kinematics import ORIGIN, A, S, V, X, accelerate_bases, base_velocity, point_velocity
from .rates import joint_forces
from .tree import answer, answer_alone, eliminate, last_velocity, pushed_forces, respond, wrench_at


@helper
def tree_of(trees, l):
    """The tree that link l belongs to."""
    tree = 0
    while trees.start[tree + 1] <= l:
        tree += 1
    return tree


@helper
def carried_velocity(model, work, i, point):
    """Velocity that a world point of body i has because its tree stands on a body with a prescribed motion, and
    angular velocity: what its joint velocities do not tell. 0 of all other bodies."""
    trees, still = model.trees, (0.0, 0.0, 0.0)
    if trees.driven.shape[0] == 0 or i < 0 or model.kind[i] != LINK:
        return still, still
    root = int(trees.start[tree_of(trees, int(trees.link_of_body[i]))])
    base = base_velocity(work.link, root)
    return point_velocity(base, sub(point, three(work.link, root, ORIGIN))), (base[0], base[1], base[2])


@helper
def most_mobile(model, l, point, turn, scratch):
    """How link l answers an impulse at a world point, or a moment (turn = 1), in the direction in which it answers
    most: a bound on the largest eigenvalue of J H⁻¹ Jᵀ (3, 3), by its rows."""
    trees, link, dof = model.trees, scratch.work.link, scratch.work.dof
    tree = tree_of(trees, l)
    arm = sub(point, three(link, l, ORIGIN))
    largest = 0.0
    for j in range(3):
        e = (1.0 if j == 0 else 0.0, 1.0 if j == 1 else 0.0, 1.0 if j == 2 else 0.0)
        wrench = joined(e, (0.0, 0.0, 0.0)) if turn == 1 else wrench_at(link, l, point, e)
        respond(trees.table, int(trees.start[tree]), int(trees.start[tree + 1]), l, wrench, link, dof, scratch.none,
                scratch.rates)
        a = six(link, l, A)
        u = (a[0], a[1], a[2]) if turn == 1 else point_velocity(a, arm)
        largest = max(largest, abs(u[0]) + abs(u[1]) + abs(u[2]))
    return largest


@helper
def pull_link(model, loads, bodies, h, scratch, force, torque):
    """Add the mouse spring on a link to force and torque (n, 3)."""
    i = int(loads.grab_body[0])
    l = int(model.trees.link_of_body[i])
    arm, _ = arm_and_target(loads, bodies, i)
    w = most_mobile(model, l, add(row(bodies.x, i), arm), int(loads.grab_turn[0]), scratch)
    if w > 0.0:
        pull_by(model, loads, bodies, i, w, h, force, torque)


@kernel
def accelerate_links(model, loads, t, h, bodies, force, torque, scratch, free_out, bias_out):
    """`accelerate`, for Python."""
    accelerate(model, loads, t, h, bodies, force, torque, scratch, free_out, bias_out)


@helper
def accelerate(model, loads, t, h, bodies, force, torque, scratch, free_out, bias_out):
    """H⁻¹(τ - C) of all trees without contacts at time t [s], in the last places of free_out; and what the links'
    accelerations (n, 6) would be at v̇ = 0, of the centre of mass and angular, in bias_out: J̇ v, and that of the base.

    Needs the work of `place_links` at scratch.q and scratch.v; leaves there what `answer` needs. The mouse spring on a
    link is added to the forces (n, 3) and torques on the bodies."""
    trees, work = model.trees, scratch.work
    table, link, dof = trees.table, work.link, work.dof
    links = table.index.shape[0]
    if links == 0:
        return
    eliminate(table, scratch.none, link, dof, work.articulated)
    grabbed = int(loads.grab_body[0])
    if grabbed >= 0 and model.kind[grabbed] == LINK:
        pull_link(model, loads, bodies, h, scratch, force, torque)
    joint_forces(model, loads, scratch.q, scratch.v, True, scratch.tau)
    accelerate_bases(model, t, link)
    pushed_forces(table, trees.body, force, torque, scratch.none, link, dof)
    for l in range(links):
        a, v, i = six(link, l, A), six(link, l, V), int(trees.body[l])
        c = sub(three(link, l, X), three(link, l, ORIGIN))
        at_centre = add(point_velocity(a, c), cross((v[0], v[1], v[2]), point_velocity(v, c)))
        for j in range(3):
            bias_out[i, j], bias_out[i, 3 + j] = at_centre[j], a[j]
    answer(table, 0, links, scratch.tau, link, dof, scratch.rates)
    first = len(free_out) - len(scratch.v)
    for d in range(len(scratch.v)):
        free_out[first + d] = scratch.rates[d]


@helper
def put_end(model, work, i, at, f, moment, row_out):
    """Add to a row of J what the velocities of body i do along a force f at its centre of mass and a moment; of a link
    those of the joints on the way to the root of its tree. at: the place in the row of the six velocities (v, ω) of a
    body, -1 = it has none there; of a link that of the first velocity of all trees. i = -1: the world."""
    if i < 0:
        return
    if model.kind[i] != LINK:
        for k in range(3 if at >= 0 else 0):
            row_out[at + k] += f[k]
            row_out[at + 3 + k] += moment[k]
        return
    table, link, dof, l = model.trees.table, work.link, work.dof, int(model.trees.link_of_body[i])
    wrench = joined(add(moment, cross(sub(three(link, l, X), three(link, l, ORIGIN)), f)), f)
    d = last_velocity(table.index, l, dof.shape[0])
    while d >= 0:
        row_out[at + d] += dot6(six(dof, d, S), wrench)
        d = int(table.before[d])


@helper
def weigh_links(trees, work, T, r, HT):
    """Row r of TᵀH⁻¹ in the places of links, tree by tree; needs what `accelerate_links` left."""
    first = T.shape[1] - work.dof.shape[0]
    for tree in range(len(trees.start) - 1):
        low, high = first + int(trees.start_v[tree]), first + int(trees.start_v[tree + 1])
        touched = False
        for j in range(low, high):
            HT[r, j] = 0.0
            touched = touched or T[r, j] != 0.0
        if touched:
            answer_alone(trees.table, int(trees.start[tree]), int(trees.start[tree + 1]), T[r, first:], work.link,
                         work.dof, HT[r, first:])
