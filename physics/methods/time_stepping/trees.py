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

from typing import NamedTuple

import numpy as np

from ...core.jit import helper, kernel
from ...core.model import Array, BodyKind, IntArray, Model, body_count
from ...core.spatial import joined, sub6
from ...core.state import LEDGER, Bodies, JointState, empty_state
from ...core.sym3 import put_six, put_three, three
from ...core.vec import add, cross, row, scale, sub
from ...dynamics.forces import empty_loads
from ...dynamics.trees.kinematics import ORIGIN, D, F, X, advance, link_motion, move, place, place_links
from ...dynamics.trees.rates import TreeScratch, empty_joints, joint_forces
from ...dynamics.trees.tree import ZERO6, answer, answer_alone, eliminate
from ...integrators.midpoint import empty_flight_scratch, midpoint_step
from ...problem.system import ANGULAR, LINEAR
from .parts import MoreauStep, Part

STIFF = 0.05   # added / H of a velocity from which springs and dampers count as stiff


class TreeStep(NamedTuple):
    """What a step writes about trees."""

    scratch: TreeScratch  #: positions q, inertias, motion subspaces and their elimination in the middle of the step
    flown: JointState     #: at the end of the step: what the integrator found of trees that nothing touches; `end`
                          #: replaces that of all others
    added: Array          #: (n_v,) what springs and dampers add to the diagonal of H
    free: Array           #: (n_v,) velocities after the step without impulses
    half: Array           #: (n_v,) x, what gravity alone adds to the velocities in half a step
    stiff: IntArray       #: (t,) 1 for trees whose springs and dampers are too stiff for an explicit integrator


class Coast:
    """Motion of trees under gravity alone, by the implicit midpoint rule; scratch memory only."""

    def __init__(self, model: Model) -> None:
        n, joints, springs = body_count(model), model.joints, model.springs
        nothing = np.zeros_like(joints.damping)
        kind = np.where(model.kind == BodyKind.DYNAMIC, np.int32(BodyKind.FIXED), model.kind)
        self._model = model._replace(
            kind=kind, springs=springs._make(np.ascontiguousarray(column[:0]) for column in springs),
            joints=joints._replace(damping=nothing, stiffness=nothing, motor_force=np.zeros_like(joints.motor_force)))
        self._loads, self._flight = empty_loads(n, len(model.trees.dof_link)), empty_flight_scratch(model)
        self._ledger, self._given = np.zeros(LEDGER), np.zeros((n, 6))
        self._start, self._begun, self._ended = empty_state(n).bodies, *(empty_joints(model.trees) for _ in range(2))
        self.bodies: Bodies = empty_state(n).bodies          #: at the start, of which momenta count; then scratch
        self.joints: JointState = empty_joints(model.trees)  #: at the start, and then at the end

    def go(self, t: float, h: float, fraction: Array) -> JointState:
        """From `joints` and `bodies` at t [s] over h [s] times the fraction (n,) of each tree. Not finite where no step
        is short enough."""
        trees = self._model.trees
        parts = np.unique(fraction[trees.body]).tolist()
        if len(parts) == 1:
            self._glide(t, parts[0] * h)
            return self.joints
        copy_arrays(self.bodies, self._start)
        copy_arrays(self.joints, self._begun)
        for part in parts:  # all trees go as far, and those that stop there are kept
            copy_arrays(self._start, self.bodies)
            copy_arrays(self._begun, self.joints)
            self._glide(t, part * h)
            choose_links(trees, (fraction == part).astype(np.int32), self.joints, self._ended)
        copy_arrays(self._ended, self.joints)
        return self.joints

    def _glide(self, t: float, h: float) -> None:
        """All trees over h [s], in place."""
        midpoint_step(self._model, self._loads, t, h, self.bodies, self.joints, self._flight, self._ledger, self._given)
        if np.isnan(self.bodies.x[0, 0]):
            self.joints.v.fill(np.nan)

    def half(self, t: float, h: float, fraction: Array, bodies: Bodies, joints: JointState) -> JointState:
        """Half a step h from given bodies and coordinates, which are left alone."""
        copy_arrays(bodies, self.bodies)
        copy_arrays(joints, self.joints)
        return self.go(t, 0.5 * h, fraction)


def copy_arrays(source: Bodies | JointState, target: Bodies | JointState) -> None:
    """Copy all arrays into those of another one of the kind."""
    for mine, theirs in zip(target, source, strict=True):
        np.copyto(mine, theirs)


class TreePart(Part):
    """The trees of a model; scratch of a step."""

    def __init__(self, model: Model, scratch: TreeScratch) -> None:
        added, free, half = np.zeros((3, len(scratch.v)))
        self.work = TreeStep(scratch, empty_joints(model.trees), added, free, half,
                             np.zeros(len(model.trees.start) - 1, np.int32))
        self._model, self._coast = model, Coast(model)

    def middle(self, t: float, h: float, fraction: Array, bodies: Bodies, joints: JointState) -> JointState:
        """Positions in the middle of the step from t [s] over h [s], and velocities before what acts there."""
        work = self.work
        work.scratch.q[:], v = self._coast.half(t, h, fraction, bodies, joints)
        fall(self._model, work.scratch.q, h, work)
        return JointState(work.scratch.q, v - work.half)

    def half(self, step: MoreauStep) -> None:
        state = step.state
        q, step.before.v[:] = self.middle(float(state.t[0]), step.h, step.fraction, state.bodies, state.joints)
        place_links(step.model, q, step.before.v, self.work.scratch.work, step.middle)

    def free(self, step: MoreauStep) -> None:
        free_links(step.model, step.loads, step.before.v, step.h, step.force, step.torque, self.work)
        step.motion.v[:] = self.work.free

    def finish(self, step: MoreauStep) -> None:
        write_velocities(step.model, step.motion.v, self.work.scratch.work, step.motion.bodies)

    def end(self, step: MoreauStep) -> None:
        model, state, work, coast = step.model, step.state, self.work, self._coast
        if step.involved[model.trees.body].any():
            coast.joints.v[:] = step.motion.v - work.half
            place_links(model, work.scratch.q, coast.joints.v, work.scratch.work, coast.bodies)  # momenta: unshifted
            shift_links(model.trees, work.scratch.q, step.shift.v, coast.joints.q)
            coast.go(float(state.t[0]) + 0.5 * step.h, 0.5 * step.h, step.fraction)
            choose_links(model.trees, step.involved, coast.joints, work.flown)
        copy_arrays(work.flown, state.joints)
        place_links(model, *state.joints, work.scratch.work, state.bodies)


# --------------------------------------------------------------------------------------------------------- kernels
@kernel
def shift_links(trees, q, way, q_out):
    """q ⊕ way"""
    advance(trees.table, q, way, 1.0, q_out)


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


@kernel
def fall(model, q, h, trees_out):
    """x, what gravity alone adds to the velocities in half a step, from the inertias at the positions q. Leaves these
    eliminated without springs and dampers, for `free_links`. trees_out: a TreeStep."""
    trees, scratch = model.trees, trees_out.scratch
    table, link, dof = trees.table, scratch.work.link, scratch.work.dof
    gravity = (model.gravity[0], model.gravity[1], model.gravity[2])
    place(table, q, link, dof)
    eliminate(table, scratch.none, link, dof, scratch.work.articulated)
    for l in range(link.shape[0]):
        put_force(link, l, scale(0.5 * h * model.mass[trees.body[l]], gravity), (0.0, 0.0, 0.0))
    answer(table, 0, link.shape[0], scratch.none, link, dof, trees_out.half)


@kernel
def free_links(model, loads, v, h, force, torque, trees_out):
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
def answer_impulses(model, trees, g, v_out):
    """Velocities of trees (n_v,) after the step with generalized impulses g (n_v,): those without any, and
    (H + h c + ¼ h² k)⁻¹ g. Needs what `free_links` left. trees: a TreeStep."""
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
