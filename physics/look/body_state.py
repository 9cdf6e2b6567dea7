"""The state of one body and its rate of change.

    Y = (x, R, P, L),    dY/dt = (v, [ω]× R, F, τ)                                                [Baraff I §2.11]

with v = P/m, ω = I⁻¹ L, I⁻¹ = R I_body⁻¹ Rᵀ; a unit quaternion q in place of R has the rate ½ ω q [Baraff I §4.2].
Links of trees have no P and L of their own in the state: theirs are m v and I ω.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..core.language import N_
from ..core.model import Array, BodyKind, Model, movable
from ..simulation.simulation import Simulation
from .instant import SAME


@dataclass(frozen=True)
class BodyView:
    """One body at an instant t; vectors in the world frame."""

    body: int
    link: bool         #: it is a link of a tree
    mass: float        #: [kg]
    inertia: Array     #: (3,) principal moments about the centre of mass [kg m2]
    x: Array           #: (3,) centre of mass [m]
    q: Array           #: (4,) principal axes -> world, unit quaternion w x y z
    P: Array           #: (3,) [kg m/s]
    L: Array           #: (3,) about the centre of mass [kg m2/s]
    v: Array           #: (3,) [m/s]
    w: Array           #: (3,) [rad/s]
    weight: Array      #: (3,) m g [N]
    h: float           #: length of the last step [s]; at an instant within it, of the part until then
    F: Array           #: (3,) mean of all forces over this time, (P(t) - P(t - h))/h [N]; nan before the first step
    tau: Array         #: (3,) mean of all torques, (L(t) - L(t - h))/h [N m]; nan before the first step
    asleep: bool       #: it is left out of steps, see `methods.sleep`
    center: Array      #: (3,) centre of mass of all that forces move [m]

    @cached_property
    def R(self) -> Array:
        """(3, 3) principal axes -> world."""
        return rotation(self.q)

    @cached_property
    def R_dot(self) -> Array:
        """(3, 3) [ω]× R [1/s]."""
        return np.cross(self.w, self.R.T).T

    @cached_property
    def q_dot(self) -> Array:
        """(4,) ½ ω q [1/s]."""
        s, r = self.q[0], self.q[1:]
        return 0.5 * np.array([-self.w @ r, *(s * self.w + np.cross(self.w, r))])

    @cached_property
    def inverse_inertia(self) -> Array:
        """(3, 3) I⁻¹ of the body by itself, in world axes [1/(kg m2)]; 0 of what particles have no inertia against."""
        inverse = np.divide(1.0, self.inertia, out=np.zeros(3), where=self.inertia > 0.0)
        return (self.R * inverse) @ self.R.T

    def L_about(self, point: Array) -> Array:
        """(3,) angular momentum about a point (3,) of the world, L + (x - p) × P [kg m2/s]."""
        return self.L + np.cross(self.x - point, self.P)

    @property
    def linear_energy(self) -> float:
        """½ m v² [J]."""
        return float(0.5 * self.P @ self.v)

    @property
    def rotational_energy(self) -> float:
        """½ ω·L [J]."""
        return float(0.5 * self.L @ self.w)

    @property
    def potential_energy(self) -> float:
        """In gravity, zero at the world origin [J]."""
        return float(-self.weight @ self.x)


def look_at_body(sim: Simulation, body: int) -> BodyView | str:
    """A body as it is now, with what the last step did to it; or why there is nothing to see."""
    model, bodies = sim.model, sim.state.bodies
    if not 0 <= body < len(model.kind):
        return N_("No body of this scene is moved by forces.")
    if not movable(model.kind[body]):
        what = "never moves" if model.kind[body] == BodyKind.FIXED else "moves as prescribed, whatever pushes on it"
        return f"{sim.labels.bodies[body]} {what}: it has no momenta, and no forces change its state."
    F = tau = np.full(3, np.nan)
    h, gravity = sim.settings.h, model.gravity
    if sim.step_count > sim.reachable()[0]:
        before, settings, _, then = sim.before(sim.step_count)
        gravity, passed = then.gravity, float(sim.state.t[0] - before.t[0])
        h = settings.h if abs(passed - settings.h) <= SAME else passed if passed > SAME else np.nan
        F, tau = ((now[body] - past[body]) / h
                  for now, past in ((bodies.P, before.bodies.P), (bodies.L, before.bodies.L)))
    mass = float(model.mass[body])
    x, q, P, L, v, w = (a[body].copy() for a in bodies)
    link = bool(model.kind[body] == BodyKind.LINK)
    return BodyView(body, link, mass, model.inertia[body].copy(), x, q, P, L, v, w, mass * gravity, h, F, tau,
                    bool(sim.state.sleep.island[body] >= 0), center_of_mass(model, bodies.x))


def center_of_mass(model: Model, x: Array) -> Array:
    """(3,) of all bodies that forces move, whose centres of mass are x (n, 3) [m]; nan where there is none."""
    moving = movable(model.kind)
    return model.mass[moving] @ x[moving] / model.mass[moving].sum() if moving.any() else np.full(3, np.nan)


def rotation(q: Array) -> Array:
    """The rotation matrix (3, 3) of a unit quaternion w x y z."""
    w, x, y, z = q
    return np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ])
