"""A joint at an instant: its coordinates, and what it does to the body that it carries.

The force and the moment across a joint are those of the last step, as means. They follow from the momenta of all that
the joint carries, C, whatever the method and the coordinates [RBDA §5.3, the backward recursion, over a step]:

    F = (P_C(t) - P_C(t - h))/h - Σ f,    M = (L_C(t) - L_C(t - h))/h - Σ (τ + (p - a) × f)

with L_C about the anchor a in the middle of the step, and f, τ of all else that acts on C: gravity, springs and loads
as the means of both ends of the step, contacts by their impulses, and the mouse. So they have errors of order h². Where
joints make a closed chain momenta do not tell what each of them does.
"""

from dataclasses import dataclass

import numpy as np

from ..core.language import N_
from ..core.model import Array, JointType, Model, body_count, movable
from ..core.report import MotorState
from ..core.rotations import rotated_one
from ..core.state import Bodies, State
from ..dynamics.forces import applied_forces
from ..simulation.joint_coordinates import joint_coordinates
from ..simulation.simulation import Simulation
from .body_state import rotation
from .instant import SAME

CLOSED = "The joint belongs to a closed chain: momenta do not tell which force each joint of it bears."
#: numbers that say where a joint is, by its type; one of all others
COUNTS = {JointType.BALL: 3, JointType.UNIVERSAL: 2, JointType.FIXED: 0}


@dataclass(frozen=True)
class JointView:
    """One joint at an instant t; vectors in the world frame, forces on the child: the parent bears the opposite."""

    joint: int
    kind: int          #: a JointType
    q: Array           #: (k,) positions [rad] or [m]; of a ball the rotation vector, in the parent's frame
    v: Array           #: (k,) their rates; of a ball ω_b - ω_a in the world frame
    lower: float       #: of the first position, -inf = no limit
    upper: float
    anchor: Array      #: (3,) [m]
    axes: Array        #: (3, 3) rows: the first axis and two at right angles to it; of a universal joint its two axes
    F: Array           #: (3,) mean force over the last step [N]; nan where it is not known
    M: Array           #: (3,) mean moment about the anchor [N m]
    h: float           #: length of that step [s]
    spring: Array      #: (k,) -k (q - q_0) now [N m] or [N]
    damper: Array      #: (k,) -c v now
    push: float        #: constant motor and what a slider of the panel adds, on the first axis
    motor: MotorState | None
    energy: float      #: in the joint's spring [J]
    rotor: float       #: kinetic energy of its rotor [J]
    apart: float       #: distance of the two anchors, but for the way along the axis [m]
    askew: float       #: angle by which its two sides lean against each other [rad]
    note: str          #: why F and M are not known

    @property
    def slides(self) -> bool:
        """Its first position is a length."""
        return self.kind == JointType.SLIDER

    @property
    def along(self) -> tuple[Array, Array]:
        """F and M in the joint's axes (3,), (3,)."""
        return self.axes @ self.F, self.axes @ self.M


def coordinates_of(model: Model, state: State, joint: int) -> tuple[Array, Array]:
    """Positions (k,) and velocities (k,) of a joint; a hinge in generalized coordinates counts its turns."""
    joints, trees = model.joints, model.trees
    count = COUNTS.get(JointType(joints.type[joint]), 1)
    link = int(trees.link_of_body[joints.child[joint]]) if len(trees.body) else -1
    if count == 1 and link >= 0 and trees.joint[link] == joint:
        return state.joints.q[[trees.first_q[link]]], state.joints.v[[trees.first_v[link]]]
    place, speed = np.zeros((len(joints.type), 3)), np.zeros((len(joints.type), 3))
    joint_coordinates(joints, state.bodies, place, speed)
    return place[joint, :count].copy(), speed[joint, :count].copy()


def look_at_joint(sim: Simulation, joint: int) -> JointView | str:
    """A joint as it is now, with what it did in the last step; or why there is nothing to see."""
    model, state, joints = sim.model, sim.state, sim.model.joints
    if not 0 <= joint < len(joints.type):
        return N_("This scene has no joints.")
    kind = int(joints.type[joint])
    if kind == JointType.FREE:
        return f"{sim.labels.joints[joint]} leaves its body free: it bears nothing."
    q, v = coordinates_of(model, state, joint)
    at = np.zeros(len(q)) if kind == JointType.BALL else joints.spring_at[joint, : len(q)]
    axes, apart, askew = _geometry(model, state.bodies, joint)
    k, c, rotor = (float(given[joint]) for given in (joints.stiffness, joints.damping, joints.armature))
    F = M = np.full(3, np.nan)
    h, note = sim.settings.h, "Force and moment are found from a step: make one."
    if sim.step_count > sim.reachable()[0]:
        F, M, h, note = _borne(sim, joint)
    motor = next((m for m in sim.info.motors if m.joint == joint), None)
    return JointView(
        joint, kind, q, v, float(joints.lower[joint, 0]), float(joints.upper[joint, 0]),
        anchor_of(model, state.bodies, joint), axes, F, M, h, -k * (q - at), -c * v, float(joints.motor_force[joint]),
        motor, 0.5 * k * float((q - at) @ (q - at)), 0.5 * rotor * float(v @ v), apart, askew, note)


def anchor_of(model: Model, bodies: Bodies, joint: int) -> Array:
    """(3,) the child's anchor in the world [m]."""
    child = int(model.joints.child[joint])
    return bodies.x[child] + rotated_one(bodies.q[child], model.joints.anchor_child[joint])


def _geometry(model: Model, bodies: Bodies, joint: int) -> tuple[Array, float, float]:
    """The joint's axes in the world (3, 3), how far its anchors are apart, and how its sides lean."""
    joints = model.joints
    a, b, kind = int(joints.parent[joint]), int(joints.child[joint]), int(joints.type[joint])
    R_a, x_a = (np.eye(3), np.zeros(3)) if a < 0 else (rotation(bodies.q[a]), bodies.x[a])
    carried = rotation(bodies.q[b]) @ rotation(joints.rest[joint]).T  # the parent's frame, as the child has it
    first, second = joints.axis[joint]
    apart = anchor_of(model, bodies, joint) - x_a - R_a @ joints.anchor_parent[joint]
    turn = R_a.T @ carried
    if kind == JointType.BALL:
        return R_a, float(np.linalg.norm(apart)), 0.0
    if kind == JointType.FIXED:
        return R_a, float(np.linalg.norm(apart)), _angle(turn)
    d = R_a @ first
    if kind in (JointType.SLIDER, JointType.SCREW):
        apart = apart - (apart @ d) * d
    if kind == JointType.UNIVERSAL:
        e = carried @ second
        lean = abs(float(np.arcsin(np.clip(d @ e, -1.0, 1.0))))
    else:
        e = R_a @ np.eye(3)[int(np.argmin(np.abs(first)))]
        lean = _angle(turn) if kind == JointType.SLIDER else float(np.linalg.norm(turn @ first - first))
    e = e - (e @ d) * d
    e /= np.linalg.norm(e)
    return np.array([d, e, np.cross(d, e)]), float(np.linalg.norm(apart)), lean


def _angle(turn: Array) -> float:
    """Of a rotation (3, 3), by its longest chord: exact also where it is tiny [rad]."""
    return float(2.0 * np.arcsin(min(0.5 * np.linalg.norm(turn - np.eye(3), 2), 1.0)))


def _carried(model: Model, joint: int) -> tuple[list[int], float]:
    """The bodies beyond a joint that nothing else holds, and 1 where the child is one of them, -1 where the parent is;
    none where there are no such bodies."""
    joints, moving = model.joints, movable(model.kind)
    a, b = int(joints.parent[joint]), int(joints.child[joint])
    for start, other, sign in ((b, a, 1.0), (a, b, -1.0)):
        if start < 0 or not moving[start]:
            continue
        found, held, new = {start}, False, [start]
        while new:
            body = new.pop()
            for j in np.flatnonzero((joints.parent == body) | (joints.child == body)).tolist():
                if j == joint or joints.type[j] == JointType.FREE:
                    continue
                beyond = int(joints.parent[j] if joints.child[j] == body else joints.child[j])
                held |= beyond < 0 or not moving[beyond]
                if beyond >= 0 and moving[beyond] and beyond not in found:
                    found.add(beyond)
                    new.append(beyond)
        if not held and other not in found:
            return sorted(found), sign
    return [], 0.0


def _borne(sim: Simulation, joint: int) -> tuple[Array, Array, float, str]:
    """Mean force and moment across a joint over the last step, its length, and why there are none."""
    nothing = np.full(3, np.nan)
    before, settings, loads, model = sim.before(sim.step_count)
    passed = float(sim.state.t[0] - before.t[0])
    h = settings.h if abs(passed - settings.h) <= SAME else passed
    beyond, sign = _carried(model, joint)
    if not beyond or h <= SAME:
        return nothing, nothing, h, CLOSED if not beyond else "No time has passed."
    now, then = sim.state.bodies, before.bodies
    a = 0.5 * (anchor_of(model, now, joint) + anchor_of(model, then, joint))
    force, torque = np.zeros((2, body_count(model), 3)), np.zeros((2, body_count(model), 3))
    for k, bodies in enumerate((then, now)):
        applied_forces(model, loads, bodies, force[k], torque[k])
    f, tau, x = force.mean(axis=0), torque.mean(axis=0), 0.5 * (then.x + now.x)
    F, M = np.zeros(3), np.zeros(3)
    for i in beyond:
        F += (now.P[i] - then.P[i]) / h - f[i]
        M += (now.L[i] + np.cross(now.x[i] - a, now.P[i]) - then.L[i] - np.cross(then.x[i] - a, then.P[i])) / h
        M -= tau[i] + np.cross(x[i] - a, f[i])
    contacts = sim.contacts
    for body, way in ((contacts.body_b, 1.0), (contacts.body_a, -1.0)):
        rows = np.isin(body, beyond)
        pushes = way * contacts.impulse[rows] / h
        F -= pushes.sum(axis=0)
        M -= np.cross(contacts.point[rows] - a, pushes).sum(axis=0)
    grabbed = int(sim.loads.grab_body[0])
    if grabbed in beyond:
        pull = sim.loads.grab_force
        F -= pull
        M -= np.cross(x[grabbed] + rotated_one(now.q[grabbed], sim.loads.grab_point) - a, pull)
    return sign * F, sign * M, h, ""
