"""Handles: bodies, joints and contacts of a simulation as objects with names, for scripts.

A handle holds no numbers: it reads them from the simulation, whatever its instant, and what is assigned to it is put
into the state at once. Vectors are in the world frame, quaternions are w x y z, all in SI units.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, NoReturn, Protocol

import numpy as np

from ..core.model import Array, BodyKind, JointType, Labels, Model, movable
from ..core.rotations import crossed, crossed_one, quaternion_products, rotated, rotated_one
from ..core.state import Case, Contacts, State
from ..dynamics.forces import Loads
from ..dynamics.trees.kinematics import empty_work, place_links
from ..methods.choices import vector_of
from .joint_coordinates import joint_coordinates

CONJUGATE = np.array([1.0, -1.0, -1.0, -1.0])  #: times a unit quaternion: the turn back
LEAST_LENGTH = 1e-6  #: of a quaternion that is given for an orientation; a shorter one has no direction


class Owner(Protocol):
    """What a handle needs of its simulation."""

    state: State
    labels: Labels
    loads: Loads

    @property
    def model(self) -> Model: ...
    @property
    def contacts(self) -> Contacts: ...
    def number(self, body: str | int) -> int: ...
    def apply_force(self, body: str | int, force: Any, point: Any = None) -> None: ...
    def apply_torque(self, body: str | int, torque: Any) -> None: ...
    def push_joint(self, velocity: int, force: float) -> None: ...
    def note_put(self, moved: bool) -> None: ...


class Contact(NamedTuple):
    """One contact of the last step. Forces are means over that step, on body `b`; body `a` gets the opposite."""

    a: str                 #: name of the predecessor
    b: str                 #: name of the successor
    point: Array           #: (3,) midway between the two surfaces [m]
    normal: Array          #: (3,) unit, from a to b
    gap: float             #: φ [m]: > 0 apart, < 0 overlapping
    zeta: float            #: ζ, normal separation velocity at the end of the step [m/s]
    lam: float             #: λ, normal force [N], >= 0
    friction_force: Array  #: (3,) tangential force [N]
    impulse: Array         #: (3,) of the whole step [N s]
    slip: float            #: tangential speed [m/s]
    case: str              #: apart, colliding, separating or resting
    current: bool          #: in the current set
    active: bool           #: in the active set

    @property
    def force(self) -> Array:
        """Whole force (3,) on body b [N]."""
        return self.lam * self.normal + self.friction_force

    def force_on(self, body: str) -> Array:
        """Whole force (3,) on one of the two bodies [N]; zero on any other."""
        return self.force if body == self.b else -self.force if body == self.a else np.zeros(3)


def contacts_of(sim: Owner, body: int | None = None) -> list[Contact]:
    """The contacts of the last step, of all bodies or of one."""
    c, names = sim.contacts, sim.labels.bodies
    rows = range(len(c.gap)) if body is None else np.flatnonzero((c.body_a == body) | (c.body_b == body)).tolist()
    return [Contact(names[c.body_a[i]], names[c.body_b[i]], c.point[i].copy(), c.normal[i].copy(), float(c.gap[i]),
                    float(c.zeta[i]), float(c.lam[i]), c.friction_force[i].copy(), c.impulse[i].copy(),
                    float(c.slip[i]), Case(c.case[i]).name.lower() if c.case[i] else "", bool(c.current[i]),
                    bool(c.active[i])) for i in rows]


# ------------------------------------------------------------------------------------------------ bodies


class Body:
    """A body of a simulation; Simulation.body gives it.

    Position and velocity are those of the body's origin as the scene placed it. Free bodies can be put elsewhere
    between two steps: assign to `position`, `orientation`, `velocity` or `angular_velocity`. The ledger books such a
    change under "Settings changed", and what was recorded of the run before it can no longer be reached.
    """

    __slots__ = ("_sim", "number")

    def __init__(self, sim: Owner, number: int) -> None:
        self._sim = sim
        self.number = number  #: row of the body in all arrays

    def __repr__(self) -> str:
        at = ", ".join(f"{value:.6g}" for value in self.position)
        return f"<body {self.name!r}, {self.kind}, at ({at}) m>"

    @property
    def name(self) -> str:
        """As in the scene."""
        return self._sim.labels.bodies[self.number]

    @property
    def kind(self) -> str:
        """What moves it: "dynamic" (forces), "link" (forces, as its joints allow), "kinematic" (a prescribed motion) or
        "fixed" (nothing)."""
        return BodyKind(self._sim.model.kind[self.number]).name.lower()

    @property
    def mass(self) -> float:
        """Mass [kg]; 0 of a body that forces do not move."""
        return float(self._sim.model.mass[self.number])

    @property
    def inertia(self) -> Array:
        """Principal moments (3,) about the centre of mass [kg m²]."""
        return self._sim.model.inertia[self.number].copy()

    @property
    def center_of_mass(self) -> Array:
        """World position (3,) of the centre of mass [m]."""
        return self._sim.state.bodies.x[self.number].copy()

    @property
    def position(self) -> Array:
        """World position (3,) of the body's origin [m]."""
        return self._sim.state.bodies.x[self.number] + self._arm

    @position.setter
    def position(self, value: Any) -> None:
        self._demand_free()
        self._sim.state.bodies.x[self.number] = vector_of("position", value) - self._arm
        self._sim.note_put(moved=True)

    @property
    def orientation(self) -> Array:
        """Unit quaternion (4,) w x y z that turns the scene's body axes into the world."""
        return quaternion_products(self._sim.state.bodies.q[self.number], self._sim.labels.axes[self.number])

    @orientation.setter
    def orientation(self, value: Any) -> None:
        self._demand_free()
        q = np.asarray(value, float)
        if q.shape != (4,) or not np.isfinite(q).all() or np.linalg.norm(q) < LEAST_LENGTH:
            raise ValueError(f"orientation must be four finite numbers w x y z, not all zero, not {value!r}")
        bodies, i, v, w, at = self._sim.state.bodies, self.number, self.velocity, self.angular_velocity, self.position
        bodies.q[i] = quaternion_products(q / np.linalg.norm(q), self._sim.labels.axes[i] * CONJUGATE)
        bodies.x[i] = at - self._arm
        self._move(v, w)
        self._sim.note_put(moved=True)

    @property
    def velocity(self) -> Array:
        """World velocity (3,) of the body's origin [m/s]."""
        bodies = self._sim.state.bodies
        return bodies.v[self.number] + crossed_one(bodies.w[self.number], self._arm)

    @velocity.setter
    def velocity(self, value: Any) -> None:
        self._demand_free()
        self._move(vector_of("velocity", value), self.angular_velocity)
        self._sim.note_put(moved=False)

    @property
    def angular_velocity(self) -> Array:
        """World angular velocity (3,) [rad/s]. Assigning to it keeps the velocity of the origin."""
        return self._sim.state.bodies.w[self.number].copy()

    @angular_velocity.setter
    def angular_velocity(self, value: Any) -> None:
        self._demand_free()
        self._move(self.velocity, vector_of("angular_velocity", value))
        self._sim.note_put(moved=False)

    @property
    def momentum(self) -> Array:
        """P (3,) [kg m/s]."""
        return self._sim.state.bodies.P[self.number].copy()

    @property
    def angular_momentum(self) -> Array:
        """L (3,) about the centre of mass [kg m²/s]."""
        return self._sim.state.bodies.L[self.number].copy()

    @property
    def kinetic_energy(self) -> float:
        """½ (P·v + L·ω) [J]"""
        bodies, i = self._sim.state.bodies, self.number
        return float(0.5 * (bodies.P[i] @ bodies.v[i] + bodies.L[i] @ bodies.w[i]))

    @property
    def contacts(self) -> list[Contact]:
        """Its contacts of the last step."""
        return contacts_of(self._sim, self.number)

    @property
    def contact_force(self) -> Array:
        """Sum (3,) of the forces of its contacts on it, mean over the last step [N]."""
        c, i = self._sim.contacts, self.number
        sign = (c.body_b == i).astype(float) - (c.body_a == i)
        return sign @ (c.lam[:, None] * c.normal + c.friction_force)

    def to_world(self, point: Any) -> Array:
        """World position (3,) of a point (3,) that is given in the scene's body axes, from the body's origin [m]."""
        return self.position + rotated_one(self.orientation, vector_of("point", point))

    def apply_force(self, force: Any, point: Any = None) -> None:
        """Add a force (3,) [N] at a world point (3,) [m] (else the centre of mass), for the next step only."""
        self._sim.apply_force(self.number, force, point)

    def apply_torque(self, torque: Any) -> None:
        """Add a torque (3,) [N m], for the next step only."""
        self._sim.apply_torque(self.number, torque)

    @property
    def _arm(self) -> Array:
        """From the centre of mass to the origin (3,) [m]."""
        return rotated_one(self._sim.state.bodies.q[self.number], self._sim.labels.origin[self.number])

    def _demand_free(self) -> None:
        why = {"fixed": "it is fixed", "kinematic": "its motion is prescribed",
               "link": "it is a link of a tree, so its joint has to be set"}.get(self.kind)
        if why is not None:
            raise ValueError(f"{self.name!r} cannot be put elsewhere: {why}")

    def _move(self, velocity: Array, w: Array) -> None:
        """v, ω, P = m v and L = R I Rᵀ ω with this velocity of the origin."""
        bodies, i, model = self._sim.state.bodies, self.number, self._sim.model
        bodies.w[i] = w
        bodies.v[i] = velocity - crossed_one(w, self._arm)
        bodies.P[i] = model.mass[i] * bodies.v[i]
        turned = rotated_one(bodies.q[i] * CONJUGATE, bodies.w[i])
        bodies.L[i] = rotated_one(bodies.q[i], model.inertia[i] * turned)


class BodyList(Sequence[Body]):
    """All bodies in their order, by number or name; Simulation.bodies gives it. Batch arrays have a row a body."""

    def __init__(self, sim: Owner) -> None:
        self._sim = sim

    def __len__(self) -> int:
        return len(self._sim.labels.bodies)

    def __getitem__(self, body: Any) -> Any:
        """A body by its name or number; a list of them by a slice."""
        if isinstance(body, slice):
            return [Body(self._sim, i) for i in range(len(self))[body]]
        return Body(self._sim, self._sim.number(body))

    def __iter__(self) -> Iterator[Body]:
        return (Body(self._sim, i) for i in range(len(self)))

    def __repr__(self) -> str:
        return _listed("bodies", self.names)

    @property
    def names(self) -> tuple[str, ...]:
        """Names (n,)."""
        return self._sim.labels.bodies

    @property
    def moving(self) -> list[Body]:
        """Those that forces move."""
        return [self[int(i)] for i in np.flatnonzero(movable(self._sim.model.kind))]

    @property
    def mass(self) -> Array:
        """(n,) [kg]"""
        return self._sim.model.mass.copy()

    @property
    def position(self) -> Array:
        """(n, 3) of the bodies' origins [m]"""
        bodies = self._sim.state.bodies
        return bodies.x + rotated(bodies.q, self._sim.labels.origin)

    @property
    def orientation(self) -> Array:
        """Unit quaternions (n, 4), w x y z."""
        return quaternion_products(self._sim.state.bodies.q, self._sim.labels.axes)

    @property
    def velocity(self) -> Array:
        """(n, 3) of the bodies' origins [m/s]"""
        bodies = self._sim.state.bodies
        return bodies.v + crossed(bodies.w, rotated(bodies.q, self._sim.labels.origin))

    @property
    def angular_velocity(self) -> Array:
        """(n, 3) [rad/s]"""
        return self._sim.state.bodies.w.copy()


# ------------------------------------------------------------------------------------------------ joints


class Joint:
    """A joint of a simulation; Simulation.joint gives it. Angles are in rad.

    Joints in generalized coordinates can be set between two steps (`position`, `velocity`), and take a `force`.
    """

    __slots__ = ("_sim", "number")

    def __init__(self, sim: Owner, number: int) -> None:
        self._sim = sim
        self.number = number  #: row in all arrays of joints

    def __repr__(self) -> str:
        return f"<joint {self.name!r}, {self.type}, of {self.child!r} on {self.parent!r}>"

    @property
    def name(self) -> str:
        """As in the scene."""
        return self._sim.labels.joints[self.number]

    @property
    def type(self) -> str:
        """hinge, slider, screw, ball, universal, fixed or free."""
        return JointType(self._sim.model.joints.type[self.number]).name.lower()

    @property
    def parent(self) -> str:
        """Name of the body that carries it, "world" where none does."""
        body = int(self._sim.model.joints.parent[self.number])
        return "world" if body < 0 else self._sim.labels.bodies[body]

    @property
    def child(self) -> str:
        """Name of the body that it carries."""
        return self._sim.labels.bodies[self._sim.model.joints.child[self.number]]

    @property
    def coordinates(self) -> str:
        """generalized: position and velocity are part of the state; maximal: it is a constraint on two bodies."""
        return "generalized" if self._sim.model.joints.generalized[self.number] else "maximal"

    @property
    def limits(self) -> tuple[float, float]:
        """Least and greatest position of the first axis, ±inf where there is none."""
        joints = self._sim.model.joints
        return float(joints.lower[self.number, 0]), float(joints.upper[self.number, 0])

    @property
    def position(self) -> Any:
        """Of a hinge, a screw [rad] or a slider [m] a number; of a universal joint two angles; of a ball in generalized
        coordinates a quaternion, in maximal ones a rotation vector (3,) [rad], in the parent's axes."""
        rows = self._positions
        return _plain(self._sim.state.joints.q[rows].copy() if rows is not None else self._between_bodies[0])

    @position.setter
    def position(self, value: Any) -> None:
        self._put(self._sim.state.joints.q, self._positions, value, moved=True)

    @property
    def velocity(self) -> Any:
        """The rate of `position`: [rad/s] or [m/s]; of a ball its angular velocity (3,), in generalized coordinates in
        the parent's axes, in maximal ones in the world's."""
        rows = self._velocities
        return _plain(self._sim.state.joints.v[rows].copy() if rows is not None else self._between_bodies[1])

    @velocity.setter
    def velocity(self, value: Any) -> None:
        self._put(self._sim.state.joints.v, self._velocities, value, moved=False)

    @property
    def force(self) -> Any:
        """The torque [N m] or force [N] that a script or a slider puts on it. What is assigned acts until something
        else is assigned."""
        rows = self._velocities
        return _plain(self._sim.loads.joint[rows].copy()) if rows is not None else 0.0

    @force.setter
    def force(self, value: Any) -> None:
        rows = self._velocities
        if rows is None:
            self._refuse()
        for row, number in zip(range(rows.start, rows.stop), _numbers(value, rows), strict=True):
            self._sim.push_joint(row, float(number))

    @property
    def _link(self) -> int:
        """Of the joint, -1 where it is a constraint."""
        trees = self._sim.model.trees
        link = int(trees.link_of_body[self._sim.model.joints.child[self.number]]) if len(trees.body) else -1
        return link if link >= 0 and trees.joint[link] == self.number else -1

    @property
    def _positions(self) -> slice | None:
        link, first = self._link, self._sim.model.trees.first_q
        return slice(int(first[link]), int(first[link + 1])) if link >= 0 else None

    @property
    def _velocities(self) -> slice | None:
        link, first = self._link, self._sim.model.trees.first_v
        return slice(int(first[link]), int(first[link + 1])) if link >= 0 else None

    @property
    def _between_bodies(self) -> tuple[Array, Array]:
        """Position and velocity as the poses of the two bodies give them."""
        joints = self._sim.model.joints
        place, speed = np.zeros((len(joints.type), 3)), np.zeros((len(joints.type), 3))
        joint_coordinates(joints, self._sim.state.bodies, place, speed)
        count = {JointType.BALL: 3, JointType.UNIVERSAL: 2, JointType.FIXED: 0}.get(
            JointType(joints.type[self.number]), 1)
        return place[self.number, :count], speed[self.number, :count]

    def _put(self, coordinates: Array, rows: slice | None, value: Any, moved: bool) -> None:
        if rows is None:
            self._refuse()
        numbers = _numbers(value, rows)
        if self.type in ("ball", "free") and moved:
            if np.linalg.norm(numbers[:4]) < LEAST_LENGTH:
                raise ValueError("the first four numbers of this position are a quaternion: not all of them may be 0")
            numbers[:4] /= np.linalg.norm(numbers[:4])
        coordinates[rows] = numbers
        state, model = self._sim.state, self._sim.model
        place_links(model, state.joints.q, state.joints.v, empty_work(model.trees), state.bodies)
        self._sim.note_put(moved)

    def _refuse(self) -> NoReturn:
        raise ValueError(f"joint {self.name!r} is a constraint on two bodies (coordinates = \"maximal\"): it has no "
                         "coordinate to set or to push; put forces on its bodies instead")


class JointList(Sequence[Joint]):
    """All joints in their order, by number or name; Simulation.joints gives it."""

    def __init__(self, sim: Owner) -> None:
        self._sim = sim

    def __len__(self) -> int:
        return len(self._sim.labels.joints)

    def __getitem__(self, joint: Any) -> Any:
        """A joint by its name or number; a list of them by a slice."""
        if isinstance(joint, slice):
            return [Joint(self._sim, i) for i in range(len(self))[joint]]
        return Joint(self._sim, number_in("joint", self.names, joint))

    def __iter__(self) -> Iterator[Joint]:
        return (Joint(self._sim, i) for i in range(len(self)))

    def __repr__(self) -> str:
        return _listed("joints", self.names)

    @property
    def names(self) -> tuple[str, ...]:
        """Names (j,)."""
        return self._sim.labels.joints


def _listed(what: str, names: Sequence[str]) -> str:
    return f"<{len(names)} {what}{': ' if names else ''}{', '.join(names[:8])}{', …' if len(names) > 8 else ''}>"


def number_in(what: str, names: Sequence[str], wanted: Any) -> int:
    """Row of a name or of a number; ValueError where there is none."""
    if isinstance(wanted, str):
        if wanted not in names:
            known = ", ".join(names[:8]) + (", …" if len(names) > 8 else "")
            raise ValueError(f"there is no {what} {wanted!r}; this scene has {known or 'none'}")
        return names.index(wanted)
    if not 0 <= wanted < len(names):
        every = {"body": "bodies"}.get(what, what + "s")
        there = f"{every} 0 to {len(names) - 1}" if names else f"no {every}"
        raise ValueError(f"there is no {what} {wanted}; this scene has {there}")
    return int(wanted)


def _numbers(value: Any, rows: slice) -> Array:
    """The coordinates that were given, one a row."""
    numbers, count = np.array(value, float).reshape(-1), rows.stop - rows.start
    if numbers.shape != (count,) or not np.isfinite(numbers).all():
        raise ValueError(f"this joint takes {count} finite {'number' if count == 1 else 'numbers'}, not {value!r}")
    return numbers


def _plain(numbers: Array) -> Any:
    """One number alone as a float."""
    return float(numbers[0]) if len(numbers) == 1 else numbers
