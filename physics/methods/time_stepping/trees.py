"""Trees within a Moreau–Jean step: the same scheme in the coordinates of their joints, u = v, M = H."""

from typing import NamedTuple

import numpy as np

from ...core.jit import helper, kernel
from ...core.model import Array, IntArray, Model
from ...core.state import JointState
from ...core.sym3 import put_three
from ...dynamics.trees.kinematics import D, advance, link_motion, move, place, place_links
from ...dynamics.trees.rates import TreeScratch, empty_joints, joint_forces
from ...dynamics.trees.tree import answer, answer_alone, eliminate, pushed_forces
from ...problem.system import ANGULAR, LINEAR
from .parts import Part, Step

STIFF = 0.05   # added / H of a velocity from which springs and dampers count as stiff


class TreeStep(NamedTuple):
    """What a step writes about trees."""

    scratch: TreeScratch  #: positions q, inertias, motion subspaces and their elimination in the middle of the step
    flown: JointState     #: at the end of the flight of trees that nothing acts on
    added: Array          #: (n_v,) what springs and dampers add to the diagonal of H
    free: Array           #: (n_v,) velocities after the step without impulses
    step: Array           #: (n_v,) way [rad] or [m]
    stiff: IntArray       #: (t,) 1 for trees whose springs and dampers are too stiff for an explicit integrator


class TreePart(Part):
    """The trees of a model; scratch of a step."""

    def __init__(self, model: Model, scratch: TreeScratch) -> None:
        velocities = len(scratch.v)
        added, free, way = np.zeros((3, velocities))
        self.work = TreeStep(scratch, empty_joints(model.trees), added, free, way,
                             np.zeros(len(model.trees.start) - 1, np.int32))

    def half(self, step: Step) -> None:
        (q, v), work, trees = step.state.joints, self.work, step.model.trees
        step.before.v[:] = v
        drift_links(trees, q, v, step.fraction, 0.5 * step.h, work.step, work.scratch.q)
        place_links(step.model, work.scratch.q, v, work.scratch.work, step.middle)

    def free(self, step: Step) -> None:
        free_links(step.model, step.loads, step.before.v, step.h, step.force, step.torque, self.work)
        step.motion.v[:] = self.work.free

    def turn(self, step: Step, slight: float) -> bool:
        """`turn_path` for all trees; whether it changed a velocity by more than `slight`."""
        return bool(turn_path(step.model, step.loads, step.before.v, step.h, step.force, step.torque, slight, self.work,
                              step.motion.v))

    def finish(self, step: Step) -> None:
        write_velocities(step.model, step.motion.v, self.work.scratch.work, step.motion.bodies)

    def end(self, step: Step) -> None:
        joints = step.state.joints
        finish_links(step.model.trees, self.work, step.motion.v, step.shift.v, step.involved, step.fraction, step.h,
                     joints)
        place_links(step.model, *joints, self.work.scratch.work, step.state.bodies)


# --------------------------------------------------------------------------------------------------------- kernels
@kernel
def drift_links(trees, q, v, fraction, h, step, q_out):
    """Positions after the time h at velocities v; fraction (n,) shortens the way of trees."""
    for d in range(len(v)):
        step[d] = fraction[trees.body[trees.dof_link[d]]] * v[d]
    advance(trees.table, q, step, h, q_out)


@kernel
def free_links(model, loads, v, h, force, torque, trees_out):
    """Velocities after the step if nothing touched, from poses in the middle of it and v (n_v,) before it, under the
    forces (n, 3) and torques on the bodies.

        (H + h c + ¼ h² k) Δv = h (τ - C - c v)

    Dampers are implicit, joint springs by the implicit midpoint rule; C is taken at the mean velocity of a first
    solution.
    """
    trees, joints, scratch = model.trees, model.joints, trees_out.scratch
    q, added, free = scratch.q, trees_out.added, trees_out.free
    table, work = trees.table, scratch.work
    link, dof = work.link, work.dof
    place(table, q, link, dof)
    move(table, v, link, dof)
    for d in range(len(v)):
        j = int(trees.joint[trees.dof_link[d]])
        added[d] = h * joints.damping[j] + 0.25 * h * h * joints.stiffness[j]
    eliminate(table, added, link, dof, work.articulated)
    joint_forces(model, loads, q, v, True, scratch.tau)
    for iteration in range(2):
        if iteration == 1:
            move(table, free, link, dof)  # v + h/2 v̇
        pushed_forces(table, trees.body, force, torque, scratch.none, link, dof)
        answer(table, 0, link.shape[0], scratch.tau, link, dof, scratch.rates)
        share = 0.5 * h if iteration == 0 else h
        for d in range(len(v)):
            free[d] = v[d] + share * scratch.rates[d]
    for tree in range(len(trees.start) - 1):
        trees_out.stiff[tree] = 0
        for d in range(trees.start_v[tree], trees.start_v[tree + 1]):
            if added[d] * dof[d, D] > STIFF:
                trees_out.stiff[tree] = 1


@helper
def mean_rates(model, v, force, torque, h, share, scratch, v_out):
    """v_out += share · h v̇ with C at the velocities v; dampers are implicit."""
    trees, work = model.trees, scratch.work
    move(trees.table, v, work.link, work.dof)
    pushed_forces(trees.table, trees.body, force, torque, scratch.none, work.link, work.dof)
    answer(trees.table, 0, work.link.shape[0], scratch.tau, work.link, work.dof, scratch.rates)
    for d in range(len(v)):
        v_out[d] += share * h * scratch.rates[d]


@kernel
def turn_path(model, loads, v, h, force, torque, slight, trees_in_out, v_in_out):
    """Correct C for the jump of v in the middle of the step: ½ h (C(v) + C(v⁺)), with the velocities v before and v⁺
    after the impulses, in place of h C((v + v_free)/2), which is wrong by O(h) if v jumps. Where the correction is more
    than `slight` it is added to v_in_out (n_v,), which contains the impulses, and to the free velocities. Returns
    whether it was more.

    Needs what `free_links` left."""
    scratch, free, jump = trees_in_out.scratch, trees_in_out.free, 0.0
    for d in range(len(v)):
        scratch.v[d] = v[d]
        jump = max(jump, abs(v_in_out[d] - free[d]))
    if jump <= slight:
        return False
    joint_forces(model, loads, scratch.q, v, True, scratch.tau)
    mean_rates(model, v, force, torque, h, 0.5, scratch, scratch.v)
    mean_rates(model, v_in_out, force, torque, h, 0.5, scratch, scratch.v)
    largest = 0.0
    for d in range(len(v)):
        largest = max(largest, abs(scratch.v[d] - free[d]))
    if largest <= slight:
        return False
    for d in range(len(v)):
        v_in_out[d] += scratch.v[d] - free[d]
        free[d] = scratch.v[d]
    return True


@kernel
def answer_impulses(model, trees, g, v_out):
    """Velocities of trees (n_v,) after the step with generalized impulses g (n_v,): those without any, and H⁻¹ g. Needs
    what `free_links` left."""
    scratch = trees.scratch
    link, dof = scratch.work.link, scratch.work.dof
    answer_alone(model.trees.table, 0, link.shape[0], g, link, dof, scratch.rates)
    for d in range(len(v_out)):
        v_out[d] = trees.free[d] + scratch.rates[d]


@kernel
def write_velocities(model, v, work, bodies_out):
    """Velocities of all links at joint velocities v in the rows of Motion.bodies; their poses are those of the work."""
    link = work.link
    move(model.trees.table, v, link, work.dof)
    for l in range(link.shape[0]):
        i = int(model.trees.body[l])
        u, w = link_motion(link, l)
        put_three(bodies_out, i, LINEAR, u)
        put_three(bodies_out, i, ANGULAR, w)


@kernel
def finish_links(trees, work, v, shift, involved, fraction, h, joints_out):
    """Coordinates at the end of the step: q⁺ = q_m ⊕ (h/2 v⁺ + shift) of trees that something acts on, else those of
    their flight. v and shift (n_v,); involved and fraction (n,)."""
    step, flown = work.step, work.flown
    for d in range(len(v)):
        step[d] = 0.5 * h * fraction[trees.body[trees.dof_link[d]]] * v[d] + shift[d]
    advance(trees.table, work.scratch.q, step, 1.0, joints_out.q)
    index = trees.table.index
    for l in range(index.shape[0]):
        free = involved[trees.body[l]] == 0
        for d in range(trees.first_v[l], trees.first_v[l + 1]):
            joints_out.v[d] = flown.v[d] if free else v[d]
        if free:
            for i in range(trees.first_q[l], trees.first_q[l + 1]):
                joints_out.q[i] = flown.q[i]
