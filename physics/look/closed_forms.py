"""Motions in closed form that a scene states, worked out with the coefficients and the gravity of now: so they follow
the sliders, and know nothing of what is computed."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from ..core.closed_form import ClosedForm
from ..core.formula import Value
from ..core.model import Array, Model
from ..core.rotations import quaternion_products, rotated
from ..laws.soft import series

Forms = tuple[ClosedForm, ...]

#: quantities of `look.quantities` that a closed form has -> whether it is a velocity, and the axis
KNOWN = {"x": (False, 0), "y": (False, 1), "height": (False, 2), "v_x": (True, 0), "v_y": (True, 1), "v_z": (True, 2)}
TICK = 1e-6  # [s] half the interval over which a velocity is taken from positions


class Pose(NamedTuple):
    """Where a body is by its closed form."""

    body: int
    x: Array  #: (3,) centre of mass [m]
    q: Array  #: (4,) body frame -> world


def parameters(model: Model, form: ClosedForm) -> dict[str, float]:
    """g, e, e_t, mu, mu_s, K and D, see `core.closed_form.PARAMETERS`; of the first shapes of the two bodies."""
    materials, shapes = model.materials, model.shapes
    a, b = (int(shapes.material[np.flatnonzero(shapes.body == body)[0]]) for body in (form.body, form.other))
    mu, mu_s = float(materials.friction[a, b]), float(materials.friction_static[a, b])
    both = series(materials.surfaces[a, b, 0], materials.surfaces[a, b, 1])
    return {
        "g": float(np.linalg.norm(model.gravity)), "e": float(materials.restitution[a, b]),
        "e_t": float(materials.restitution_t[a, b]), "mu": mu,
        "mu_s": mu if np.isnan(mu_s) else max(mu, mu_s), "K": float(both[0]), "D": float(both[1]),
    }


def motion(form: ClosedForm, t: Array, given: Mapping[str, float]) -> tuple[Array, Array]:
    """Centre of mass (k, 3) [m] and body frame -> world (k, 4) at the instants t (k,) [s], from the `given` parameters;
    nan where the formulas do not hold or have no value."""
    known: dict[str, Value] = {**given, **form.start, "t": t}
    for name, formula in form.let:
        known[name] = formula.value(known)

    def column(formula: Value) -> Array:
        return np.broadcast_to(np.asarray(formula, np.float64), t.shape)

    turn = np.column_stack([column(formula.value(known)) for formula in form.turn])
    half = 0.5 * np.linalg.norm(turn, axis=1, keepdims=True)
    q = np.hstack([np.cos(half), 0.5 * np.sinc(half / np.pi) * turn])
    arm = np.array(form.center) - [form.start[name] for name in ("x0", "y0", "z0")]
    x = np.column_stack([column(formula.value(known)) for formula in form.position]) + rotated(q, arm)
    x[(column(form.holds.value(known)) == 0.0) | ~np.isfinite(x).all(axis=1)] = np.nan
    return x, quaternion_products(q, np.broadcast_to(form.orientation, q.shape))


def poses(model: Model, forms: Forms, t: float) -> list[Pose]:
    """Where bodies are by their closed forms at the time t [s]; without those whose formulas do not hold then."""
    found = []
    for form in forms:
        x, q = motion(form, np.array([t]), parameters(model, form))
        if np.isfinite(x).all():
            found.append(Pose(form.body, x[0], q[0]))
    return found


def farthest(places: Array, x: Array) -> tuple[int, float] | None:
    """Of the bodies with places (n, 3) by formulas that hold, nan for others, the row of the one that is farthest from
    there, with the distance [m], when their centres of mass are at x (n, 3); None where no formula holds."""
    away = np.linalg.norm(places - x, axis=1)
    if np.isnan(away).all():
        return None
    body = int(np.nanargmax(away))
    return body, float(away[body])


def curve(model: Model, forms: Forms, quantity: str, body: int, t: Array) -> Array | None:
    """A quantity of `look.quantities` by the body's closed form at the instants t (k,) [s], velocities by central
    differences; nan where it does not hold, None where the body has no form, or it says nothing of the quantity."""
    form = next((form for form in forms if form.body == body), None)
    if form is None or quantity not in KNOWN:
        return None
    velocity, axis = KNOWN[quantity]
    given = parameters(model, form)
    if not velocity:
        return motion(form, t, given)[0][:, axis]
    return (motion(form, t + TICK, given)[0] - motion(form, t - TICK, given)[0])[:, axis] / (2.0 * TICK)
