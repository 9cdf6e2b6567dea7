"""The forces of the joints at an instant: what each passes on to its child, in both kinds of coordinates.

    constraints      M u̇ = f + Jᵀλ,  J u̇ + J̇ u = 0:    JᵀΛ of a joint's rows, at its child       [Articulated §22.3]
    coordinates      H q̈ + C = τ:    what its link needs, I a + v ×* I v, less all other forces     [RBDA table 5.1]

In the first way λ is unknown and found with u̇; in the second q̈ is found first, and the forces of the joints follow from
the tips to the root. Both give the same wrench. With what acts along a joint's axes (springs, dampers, motors, limits)
it is all that the joint does to its child. The forces of contacts and of the mouse are those that the method told last.

A joint that rests at a rigid limit is held there by one more force λ >= 0, from 0 <= ζ̇ = M λ + d ⊥ λ >= 0.
"""

from dataclasses import dataclass

import numpy as np

from ..collision.exact.elements import surface_of
from ..collision.exact.gaps import empty_witness
from ..core.language import N_, _
from ..core.model import Array, IntArray, JointType, Model, body_count
from ..core.state import State, copy_state
from ..dynamics.constraints.impulses import add_to_bodies, transmit
from ..dynamics.constraints.limit_springs import add_stops, push_stops, stops_of
from ..dynamics.constraints.limits import find_limits, limit_rates, limit_sides, near_limits
from ..dynamics.constraints.reactions import BACKWARD, FORWARD, HOLDS, OFF, reactions_of, reactions_to
from ..dynamics.forces import Loads, empty_loads
from ..dynamics.trees.kinematics import place_links, stand_at
from ..dynamics.trees.rates import empty_tree_scratch
from ..joints.table import FORMS
from ..methods.time_stepping.stages import scales_of
from ..problem.contact_snapshot import ContactSnapshot, Jointed, PairCoefficients, equations_of
from ..problem.problem import ContactProblem
from ..shapes.shapes import quat_to_matrix
from ..simulation.simulation import Simulation
from ..solvers import LCP_SOLVERS

MOST_JOINTS = 200  #: of which the forces are shown


@dataclass(frozen=True, slots=True)
class JointForces:
    """What joints do to their children, world axes. Joints of type free have no row."""

    joint: IntArray   #: (k,) rows of Joints
    point: Array      #: (k, 3) where [m]
    force: Array      #: (k, 3) [N]
    moment: Array     #: (k, 3) about the point [N m]
    along: Array      #: (k,) of a slider the force along its axis [N], of a hinge or screw the moment about it [N m],
                      #: with springs, dampers, motors and limits; nan of joints that have no axis, or two
    limited: tuple[int, ...]  #: joints that rest at a limit


def look_at_joint_forces(sim: Simulation) -> JointForces | str:
    """The forces of all joints now; or why there are none."""
    joints = sim.model.joints
    shown = int(np.count_nonzero(joints.type != JointType.FREE))
    if not shown:
        return N_("This scene has no joints.")
    if shown > MOST_JOINTS:
        return _("The scene has {n} joints; the forces of {most} at most are shown.").format(n=shown, most=MOST_JOINTS)
    state = copy_state(sim.state)
    loads, wrenches = _loads_of(sim, state), np.zeros((len(joints.type), 6))
    if sim.settings.method == "compliant":
        _press_stops(sim.model, state, loads, wrenches)
    return _told(sim.model, state, *_held(sim, state, loads), wrenches)


def _loads_of(sim: Simulation, state: State) -> Loads:
    """The loads, with the forces of contacts and of the mouse among those on the bodies."""
    loads = empty_loads(body_count(sim.model), len(state.joints.v))
    for name in ("force", "torque", "joint"):
        getattr(loads, name)[:] = getattr(sim.loads, name)
    contacts, x = sim.contacts, state.bodies.x
    push = contacts.lam[:, None] * contacts.normal + contacts.friction_force
    for bodies, sign in ((contacts.body_a, -1.0), (contacts.body_b, 1.0)):
        np.add.at(loads.force, bodies, sign * push)
        np.add.at(loads.torque, bodies, sign * np.cross(contacts.point - x[bodies], push))
    i = int(sim.loads.grab_body[0])
    if i >= 0 and not sim.loads.grab_turn[0]:
        arm = quat_to_matrix(state.bodies.q[i]) @ sim.loads.grab_point
        loads.force[i] += sim.loads.grab_force
        loads.torque[i] += np.cross(arm, sim.loads.grab_force)
    return loads


def _press_stops(model: Model, state: State, loads: Loads, wrenches: Array) -> None:
    """Add what springy limits do: of trees to the joint forces, else to those on the bodies and to `wrenches` (j, 6) of
    force and moment at the child's centre of mass."""
    stops, n = stops_of(model), body_count(model)
    if len(loads.joint):
        add_stops(model, stops, state.bodies, *state.joints, loads.joint)
    for r in np.flatnonzero(stops.limits.first_v < 0).tolist():
        alone = np.arange(len(stops.stiffness)) == r
        one = stops._replace(stiffness=stops.stiffness * alone, damping=stops.damping * alone)
        force, torque, rates = np.zeros((n, 3)), np.zeros((n, 3)), np.zeros((n, 13))
        push_stops(model, one, state.bodies, *state.joints, force, torque, rates)
        loads.force[:] += force
        loads.torque[:] += torque
        j = int(stops.limits.joint[r])
        wrenches[j] += np.concatenate([force[model.joints.child[j]], torque[model.joints.child[j]]])


def _held(sim: Simulation, state: State, loads: Loads) -> tuple[ContactSnapshot, Array, Array]:
    """The equations of the instant with the limits that joints rest at as their contacts, the λ (c,) of these and
    their J (c, 12) where they are between bodies."""
    model, settings, surface = sim.model, sim.settings, surface_of(sim.model)
    pairs, first = np.zeros(len(surface.limits.bound), np.int64), len(surface.kind) ** 2
    speed, touch = scales_of(float(np.linalg.norm(settings.gravity)), settings.h)
    count = 0
    if settings.method != "compliant":
        count = near_limits(model, surface, state.bodies, state.joints.q, touch, np.inf, 0, pairs)
        zeta = np.zeros(count)
        limit_rates(model, surface, state.bodies, *state.joints, pairs, count, zeta)
        resting = np.flatnonzero(zeta <= speed)
        pairs[: len(resting)], count = pairs[resting], len(resting)
    witness, pairs = empty_witness(count), pairs[:count].copy()
    find_limits(model, surface, state.bodies, state.joints.q, pairs, count, witness)
    none = PairCoefficients(*(np.zeros(count) for _ in PairCoefficients._fields))
    held = equations_of(model, float(state.t[0]), state.bodies, loads, witness, pairs, none,
                        Jointed(state.joints, surface, _motor_modes(sim)))
    lam, sides = np.zeros(count), np.zeros((count, 12))
    if count:
        LCP_SOLVERS["dantzig"](ContactProblem.frictionless(held.M[::3, ::3].copy(), held.d[::3].copy()), lam)
    for k, r in enumerate((pairs - first).tolist()):
        if surface.limits.first_v[r] < 0:
            limit_sides(model, surface.limits, r, state.bodies, state.joints.q, sides[k])
    return held, lam, sides


def _motor_modes(sim: Simulation) -> IntArray:
    """What the motors with a limit do, as they told: keep their speed, or exert the limit to one side."""
    reactions, told = reactions_of(sim.model, drives=True), {motor.joint: motor for motor in sim.info.motors}
    modes = reactions.mode.copy()
    for r in np.flatnonzero(modes == OFF).tolist():
        motor = told.get(int(reactions.rows.joint[r]))
        if motor is not None:
            modes[r] = HOLDS if motor.holds else FORWARD if motor.force > 0.0 else BACKWARD
    return modes


def _told(model: Model, state: State, held: ContactSnapshot, lam: Array, sides: Array, wrenches: Array) -> JointForces:
    """The wrench of each joint at the child's anchor, from λ of the limits and their J."""
    joints, bodies, reactions = model.joints, state.bodies, held.reactions
    rows = np.where(reactions.drive < 0, reactions.lam + reactions_to(reactions, lam @ held.T[::3]), 0.0)
    stretch = reactions.axis_at - reactions.spring_at
    axes = reactions.motor - reactions.stiffness * stretch - reactions.damping * reactions.axis_u
    for joint, scale, J in ((reactions.rows.joint, rows, reactions.J), (reactions.axes.joint, axes, reactions.axis_J),
                            (held.limit, lam, sides)):
        np.add.at(wrenches, joint, scale[:, None] * J[:, 6:])
    turned = np.array([quat_to_matrix(q) for q in bodies.q]).reshape(-1, 3, 3)
    point = bodies.x[joints.child] + np.einsum("jab,jb->ja", turned[joints.child], joints.anchor_child)
    force = wrenches[:, :3].copy()
    moment = wrenches[:, 3:] - np.cross(point - bodies.x[joints.child], force)
    if len(model.trees.body):
        push, torque = held.force.copy(), held.torque.copy()
        add_to_bodies(reactions.rows, reactions.J, rows, push, torque)
        for k, j in enumerate(held.limit.tolist()):
            for i, side in ((int(joints.parent[j]), sides[k, :6]), (int(joints.child[j]), sides[k, 6:])):
                if i >= 0:
                    push[i] += lam[k] * side[:3]
                    torque[i] += lam[k] * side[3:]
        work, at, theirs = empty_tree_scratch(model.trees).work, *np.zeros((2, len(model.trees.body), 3))
        turn, order = np.zeros_like(at), np.array(model.trees.joint)
        placed = copy_state(state).bodies
        place_links(model, *state.joints, work, placed)
        stand_at(model, float(state.t[0]), placed, work)
        rates = held.free + lam @ held.HT[::3]
        transmit(model.trees, rates[len(rates) - len(state.joints.v) :].copy(), push, torque, work, at, theirs, turn)
        force[order], moment[order] = theirs, turn + np.cross(at - point[order], theirs)
    shown = np.flatnonzero(joints.type != JointType.FREE).astype(np.int32)
    limited = tuple(sorted({int(j) for j in held.limit[lam > 0.0]}))
    return JointForces(shown, point[shown], force[shown], moment[shown],
                       np.array([_along(model, turned, j, force[j], moment[j]) for j in shown.tolist()]), limited)


def _along(model: Model, turned: Array, j: int, force: Array, moment: Array) -> float:
    """The part of a joint's force or moment about its axis, nan where it has none or two."""
    form, parent = FORMS[int(model.joints.type[j])], int(model.joints.parent[j])
    if form.axes != 1:
        return np.nan
    axis = model.joints.axis[j, 0]
    return float((axis if parent < 0 else turned[parent] @ axis) @ (moment if form.angular else force))
