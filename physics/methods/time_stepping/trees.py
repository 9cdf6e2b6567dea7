"""Trees within a Moreau–Jean step: the same scheme in the coordinates of their joints, u = v, M = H.

    (q_m, v_m) after half a step under gravity alone              by the implicit midpoint rule in momenta
    (H + h c + ¼ h² k) Δv = h (τ + Jᵀ f - c v) + Jᵀ p             at q_m all else acts: forces, springs, impulses
    (q⁺, v⁺) after half a step more, from (q_m, v_m + Δv)

The way between is that of a tree that nothing touches. A taut chain, whose transverse vibration is fast, and a chain
that whips keep their energy so, with contacts as without. Impulses act at one pose: their work is known exactly.

As for free bodies, the velocities that contacts, limits and joints see have gravity in the step's middle, too:

    v = v_m - x   before,    v_m + x + Δv   after,    x = h/2 H⁻¹ Jᵀ m g

Their mean is that before and after Δv, so the work of impulses is p·(u⁻ + u⁺)/2 as ever. What velocity products do in
half a step is not in x; of contacts it is a part of what `problem.assemble: half_turn` measures.
"""

import math
from typing import NamedTuple

import numpy as np

from ...core.copy_in_place import copy_bodies, copy_joints
from ...core.jit import helper, kernel, program
from ...core.model import Array, BodyKind, IntArray, Model, body_count
from ...core.spatial import joined, sub6
from ...core.state import LEDGER, Bodies, JointState, empty_state
from ...core.sym3 import put_six, put_three, three
from ...core.vec import add, cross, put_all, row, scale, sub
from ...dynamics.forces import Loads, empty_loads
from ...dynamics.motion import drive
from ...dynamics.trees.kinematics import (
    ORIGIN,
    D,
    F,
    X,
    advance,
    copy_work,
    link_motion,
    move,
    move_links,
    move_placed_links,
    place,
    place_links,
    stand_at,
)
from ...dynamics.trees.rates import TreeScratch, empty_joints, joint_forces
from ...dynamics.trees.tree import ZERO6, answer, answer_alone, eliminate
from ...integrators.midpoint import FlightScratch, empty_flight_scratch, midpoint_step
from ...problem.system import ANGULAR, LINEAR

STIFF = 0.05   # added / H of a velocity from which springs and dampers count as stiff


class Coast(NamedTuple):
    """Motion of trees under gravity alone, by the implicit midpoint rule."""

    model: Model         #: with nothing but the trees and gravity
    loads: Loads         #: none
    scratch: FlightScratch
    ledger: Array        #: what nobody reads
    given: Array
    bodies: Bodies       #: at the start, of which momenta count; then scratch
    joints: JointState   #: at the start, and then at the end; not finite where no step is short enough
    start: Bodies        #: copies of both at the start, where trees go different parts of the way
    begun: JointState
    ended: JointState    #: of trees that have arrived
    take: IntArray       #: (n,) 1 for bodies of those that arrive now


class TreeStep(NamedTuple):
    """What a step writes about trees."""

    scratch: TreeScratch  #: positions q, inertias, motion subspaces and their elimination in the middle of the step
    flown: JointState     #: at the end of the step: what the integrator found of trees that nothing touches;
                          #: `end_trees` replaces that of all others
    added: Array          #: (n_v,) what springs and dampers add to the diagonal of H
    free: Array           #: (n_v,) velocities after the step without impulses
    half: Array           #: (n_v,) x, what gravity alone adds to the velocities in half a step
    stiff: IntArray       #: (t,) 1 for trees whose springs and dampers are too stiff for an explicit integrator, or
                          #: whose base has a way point in the step
    coast: Coast


def tree_step(model: Model, scratch: TreeScratch) -> TreeStep:
    """Room for a step of the trees of a model."""
    n, joints, springs, n_v = body_count(model), model.joints, model.springs, len(scratch.v)
    nothing = np.zeros_like(joints.damping)
    alone = model._replace(
        kind=np.where(model.kind == BodyKind.DYNAMIC, np.int32(BodyKind.FIXED), model.kind),
        springs=springs._make(np.ascontiguousarray(column[:0]) for column in springs),
        joints=joints._replace(damping=nothing, stiffness=nothing, motor_force=np.zeros_like(joints.motor_force)))
    coast = Coast(
        alone, empty_loads(n, n_v), empty_flight_scratch(model), np.zeros(LEDGER), np.zeros((n, 6)),
        empty_state(n).bodies, empty_joints(model.trees), empty_state(n).bodies, empty_joints(model.trees),
        empty_joints(model.trees), np.zeros(n, np.int32))
    added, free, half = np.zeros((3, n_v))
    return TreeStep(scratch, empty_joints(model.trees), added, free, half,
                    np.zeros(len(model.trees.start) - 1, np.int32), coast)


# -------------------------------------------------------------------------------------------------------- programs
@program
def middle_of_trees(model, t, h, fraction, bodies, joints, trees, v_out) -> None:
    """Positions in the middle of the step from t [s] over h [s], trees.scratch.q, and velocities (n_v,) before what
    acts there. The bodies and coordinates at the start are left alone."""
    coast = trees.coast
    copy_bodies(bodies, coast.bodies)
    copy_joints(joints, coast.joints)
    go(t, 0.5 * h, fraction, coast)
    put_all(trees.scratch.q, coast.joints.q)
    if len(model.trees.driven) > 0:
        drive(model, t + 0.5 * h, coast.bodies)
        stand_at(model, t + 0.5 * h, coast.bodies, trees.scratch.work)
    fall(model, trees.scratch.q, h, trees)
    for d in range(len(v_out)):
        v_out[d] = coast.joints.v[d] - trees.half[d]


@program
def end_trees(model, state, h, work) -> None:
    """Coordinates and bodies of all trees at the end of the step, with the velocity after it."""
    trees, q, v = work.trees, work.trees.scratch.q, work.system.motion.v
    coast, links = trees.coast, trees.scratch.work
    if count_links(model.trees, work.involved) > 0:
        for d in range(len(v)):
            coast.joints.v[d] = v[d] - trees.half[d]
        move_placed_links(model, coast.joints.v, links, coast.bodies)  # where `fall` has placed them: unshifted
        advance(model.trees.table, q, work.shift.v, 1.0, coast.joints.q)
        go(state.t[0] + 0.5 * h, 0.5 * h, work.fraction, coast)
        choose_links(model.trees, work.involved, coast.joints, trees.flown)
    copy_joints(trees.flown, state.joints)
    put_in_place(model, state.joints, trees, state.bodies)


@program
def go(t, h, fraction, coast):
    """From coast.joints and coast.bodies at t [s] over h [s] times the fraction (n,) of each tree."""
    trees, bodies, joints = coast.model.trees, coast.bodies, coast.joints
    part = next_part(trees, fraction, -1.0)
    if next_part(trees, fraction, part) == math.inf:
        glide(t, part * h, coast)
        return
    copy_bodies(bodies, coast.start)
    copy_joints(joints, coast.begun)
    while part < math.inf:  # all trees go as far, and those that stop there are kept
        copy_bodies(coast.start, bodies)
        copy_joints(coast.begun, joints)
        glide(t, part * h, coast)
        for i in range(len(fraction)):
            coast.take[i] = 1 if fraction[i] == part else 0
        choose_links(trees, coast.take, joints, coast.ended)
        part = next_part(trees, fraction, part)
    copy_joints(coast.ended, joints)


@program
def glide(t, h, coast):
    """All trees over h [s], in place."""
    midpoint_step(coast.model, coast.loads, t, h, coast.bodies, coast.joints, coast.scratch, coast.ledger, coast.given)
    if math.isnan(coast.bodies.x[0, 0]):
        coast.joints.v[:] = math.nan


# --------------------------------------------------------------------------------------------------------- kernels
@kernel
def next_part(trees, fraction, after):
    """The least fraction of a tree's links that is greater than `after`; inf where there is none."""
    least = math.inf
    for i in trees.body:
        if after < fraction[i] < least:
            least = fraction[i]
    return least


@kernel
def count_links(trees, chosen):
    """How many links have chosen (n,) = 1."""
    count = 0
    for i in trees.body:
        count += chosen[i]
    return count


@kernel
def choose_links(trees, take, other, joints_in_out):
    """Of links with take (n,) = 1 the coordinates become the other ones."""
    for l in range(trees.table.index.shape[0]):
        if take[trees.body[l]] == 1:
            for d in range(trees.first_v[l], trees.first_v[l + 1]):
                joints_in_out.v[d] = other.v[d]
            for i in range(trees.first_q[l], trees.first_q[l + 1]):
                joints_in_out.q[i] = other.q[i]


@helper
def put_force(link, l, f, turn):
    """Write F of link l, all that `answer` needs of it: minus the force f, and the torque about its centre of mass."""
    p = sub(three(link, l, X), three(link, l, ORIGIN))
    put_six(link, l, F, sub6(ZERO6, joined(add(turn, cross(p, f)), f)))


@helper
def stands_there(trees, q, coast):
    """Whether the midpoint rule has placed all links at the positions q as it ended, where it eliminates them, too. On
    bodies with a prescribed motion they move, and are placed anew."""
    placed = coast.scratch.trees.q
    for i in range(len(q)):
        if q[i] != placed[i]:
            return False
    return len(trees.driven) == 0


@kernel
def put_in_place(model, joints, trees, bodies) -> None:
    """The links at the coordinates of `joints`: their rows of `bodies`, and trees.scratch.work. trees: a TreeStep."""
    work = trees.scratch.work
    if stands_there(model.trees, joints.q, trees.coast):
        copy_work(trees.coast.scratch.trees.work, work)
        move_links(model, joints.v, work, bodies)
    else:
        place_links(model, joints.q, joints.v, work, bodies)


@kernel
def fall(model, q, h, trees_out):
    """x, what gravity alone adds to the velocities in half a step, from the inertias at the positions q. Leaves these
    eliminated without springs and dampers, for `free_links`. trees_out: a TreeStep."""
    trees, scratch = model.trees, trees_out.scratch
    table, link, dof = trees.table, scratch.work.link, scratch.work.dof
    gravity = (model.gravity[0], model.gravity[1], model.gravity[2])
    if stands_there(trees, q, trees_out.coast):
        copy_work(trees_out.coast.scratch.trees.work, scratch.work)
    else:
        place(table, q, link, dof)
        eliminate(table, scratch.none, link, dof, scratch.work.articulated)
    for l in range(link.shape[0]):
        put_force(link, l, scale(0.5 * h * model.mass[trees.body[l]], gravity), (0.0, 0.0, 0.0))
    answer(table, 0, link.shape[0], scratch.none, link, dof, trees_out.half)


@kernel
def free_links(model, loads, v, h, force, torque, trees_out) -> None:
    """Velocities after the step if nothing touched, from v (n_v,) before it, under the forces (n, 3) and torques on the
    bodies in its middle. Needs what `fall` left. Dampers are implicit, joint springs by the implicit midpoint rule:

        (H + h c + ¼ h² k) Δv = h (τ + Jᵀ f - c v)
    """
    trees, joints, scratch = model.trees, model.joints, trees_out.scratch
    added, free = trees_out.added, trees_out.free
    table, link, dof = trees.table, scratch.work.link, scratch.work.dof
    largest = 0.0
    for d in range(len(v)):
        j = int(trees.joint[trees.dof_link[d]])
        added[d] = h * joints.damping[j] + 0.25 * h * h * joints.stiffness[j]
        largest = max(largest, added[d])
    if largest > 0.0:
        eliminate(table, added, link, dof, scratch.work.articulated)
    joint_forces(model, loads, scratch.q, v, True, scratch.tau)
    for l in range(link.shape[0]):
        i = int(trees.body[l])
        put_force(link, l, row(force, i), row(torque, i))
    answer(table, 0, link.shape[0], scratch.tau, link, dof, scratch.rates)
    for d in range(len(v)):
        free[d] = v[d] + h * scratch.rates[d]
    for tree in range(len(trees.start) - 1):
        trees_out.stiff[tree] = 0
        for d in range(trees.start_v[tree], trees.start_v[tree + 1]):
            if added[d] * dof[d, D] > STIFF:
                trees_out.stiff[tree] = 1


@kernel
def answer_impulses(model, trees, g_in_v_out):
    """Replace generalized impulses g (n_v,) by the velocities of trees after the step with them: those without any, and
    (H + h c + ¼ h² k)⁻¹ g. Needs what `free_links` left. trees: a TreeStep."""
    scratch = trees.scratch
    link, dof = scratch.work.link, scratch.work.dof
    answer_alone(model.trees.table, 0, link.shape[0], g_in_v_out, link, dof, scratch.rates)
    for d in range(len(g_in_v_out)):
        g_in_v_out[d] = trees.free[d] + scratch.rates[d]


@kernel
def write_velocities(model, v, work, bodies_out) -> None:
    """Velocities of all links at joint velocities v in the rows of Motion.bodies; their poses are those of the work."""
    link = work.link
    move(model.trees.table, v, link, work.dof)
    for l in range(link.shape[0]):
        i = int(model.trees.body[l])
        u, w = link_motion(link, l)
        put_three(bodies_out, i, LINEAR, u)
        put_three(bodies_out, i, ANGULAR, w)
