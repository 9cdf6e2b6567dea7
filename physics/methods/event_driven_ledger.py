"""What the event-driven method books: the work of forces between events, by quadrature over the dense output, and of
impacts, exactly."""

import numpy as np

from contactlab.physics.contact_equations import Equations
from contactlab.physics.contact_sets import SLIDE
from contactlab.physics.dynamics.forces import Loads
from contactlab.physics.ledger import Account, powers
from contactlab.physics.methods.event_search import Course
from contactlab.physics.model import Array, BodyKind, Model

SIMPSON = ((0.0, 1.0 / 6.0), (0.5, 4.0 / 6.0), (1.0, 1.0 / 6.0))


def works(model: Model, loads: Loads, course: Course) -> bool:
    """Does anything act in this piece that changes the energy?"""
    chosen = course.chosen
    slides = bool((chosen.mode[: chosen.count[0]] == SLIDE).any())
    driven = bool((model.kind == BodyKind.KINEMATIC).any() or model.motions.surface_velocity.any()
                  or model.motions.surface_spin.any())
    return bool(slides or (driven and chosen.count[0]) or loads.grab_body[0] >= 0 or loads.force.any()
                or loads.torque.any() or model.springs.damping.any())


def book_piece(model: Model, loads: Loads, course: Course, delta: float, ledger: Array) -> None:
    """Work over the part [0, delta] of the course: Simpson's rule for the powers of all that works."""
    if not works(model, loads, course):
        return
    count, eq = int(course.chosen.count[0]), course.scratch.equations
    power = np.zeros(len(ledger))
    for place, weight in SIMPSON:
        lam = course.forces(place * delta)[: 3 * count]
        powers(model, loads, course.bodies, power)
        ledger[:, 0] += weight * delta * course.h * power
        if count:
            normal, friction, all_of_it = contact_power(eq, lam, course.bodies.w, course.bodies.v, course.joints.v)
            share = weight * delta * course.h
            ledger[Account.FRICTION, 0] += share * min(friction, 0.0)
            ledger[Account.DRIVEN, 0] += share * (all_of_it - normal - friction)


def contact_power(eq: Equations, lam: Array, w: Array, v: Array, joints: Array) -> tuple[float, float, float]:
    """Power of forces λ (3 c,) against separation and against slip, and what they give the bodies that move [W], at
    velocities w, v (n, 3) of bodies and of joints (n_v,)."""
    k = len(lam)
    u = eq.u[:k]
    generalized = np.zeros(eq.T.shape[1])
    generalized[len(generalized) - len(joints) :] = joints
    for i, j in enumerate(eq.slot.tolist()):
        if j >= 0:
            generalized[j : j + 3], generalized[j + 3 : j + 6] = w[i], v[i]
    normal = float(lam[::3] @ u[::3])
    return normal, float(lam @ u) - normal, float(lam @ (eq.T[:k] @ generalized))


def book_impact(eq: Equations, p: Array, gained: float, ledger: Array) -> None:
    """Impulses p (3 c,) at velocities eq.u before them that changed the energy by `gained`: P·(u⁻ + u⁺)/2 row by row;
    what is left came from bodies with a prescribed motion or running surfaces."""
    k = len(p)
    mean = eq.u[:k] + 0.5 * eq.HT[:k] @ (p @ eq.T[:k])
    normal = float(p[::3] @ mean[::3])
    friction = float(p @ mean) - normal
    ledger[Account.IMPACTS, 0] += normal
    ledger[Account.FRICTION, 0] += min(friction, 0.0)
    ledger[Account.DRIVEN, 0] += gained - normal - friction
