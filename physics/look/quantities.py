"""Quantities of a run that can be watched over time, and compared between runs."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..books.diagnostics import measure
from ..books.ledger import Account
from ..core.language import _
from ..core.model import Array, Model
from ..core.report import StepInfo
from ..core.state import Contacts, State, Surfaces
from .body_state import center_of_mass
from .joint_state import coordinates_of


class Sample(NamedTuple):
    """What a quantity is a function of."""

    model: Model
    state: State
    contacts: Contacts | None  #: of the step that led here; None: not kept
    info: StepInfo | None


class Quantity(NamedTuple):
    """A quantity over time; `value` gets a Sample and the body, which counts where it is a quantity of one body. Of a
    contact or a joint it gets the contact's key or the joint's row."""

    title: str
    unit: str
    of_body: bool   #: of one body, else of the whole system, of a contact or of a joint
    of_state: bool  #: a function of the state alone; else also of the step that led there
    value: Callable[[Sample, int], float]
    of: str = ""    #: "contact", "joint"


def _coordinate(axis: int) -> Callable[[Sample, int], float]:
    return lambda now, body: float(now.state.bodies.x[body, axis])


def _velocity(axis: int) -> Callable[[Sample, int], float]:
    return lambda now, body: float(now.state.bodies.v[body, axis])


def _momentum(axis: int) -> Callable[[Sample, int], float]:
    return lambda now, body: float(now.state.bodies.P[body, axis])


def _angular_momentum(axis: int) -> Callable[[Sample, int], float]:
    return lambda now, body: float(now.state.bodies.L[body, axis])


def _about(point: Array | None, axis: int) -> Callable[[Sample, int], float]:
    """L + (x - p) × P about a point p (3,) of the world [m], None = the centre of mass of all that forces move."""
    def value(now: Sample, body: int) -> float:
        bodies = now.state.bodies
        p = center_of_mass(now.model, bodies.x) if point is None else point
        return float((bodies.L[body] + np.cross(bodies.x[body] - p, bodies.P[body]))[axis])
    return value


def _potential(now: Sample, body: int) -> float:
    """−m g·x, zero at the world origin [J]"""
    return float(-now.model.mass[body] * now.model.gravity @ now.state.bodies.x[body])


def _turning(axis: int) -> Callable[[Sample, int], float]:
    return lambda now, body: float(now.state.bodies.w[body, axis])


def _rows(contacts: Contacts, body: int) -> NDArray[np.bool_]:
    """Which contacts are those of the body."""
    return (contacts.body_a == body) | (contacts.body_b == body)


def _contact_force(now: Sample, body: int) -> float:
    """Σ λ over the contacts of the body [N]"""
    contacts = now.contacts
    if contacts is None:
        return np.nan
    return float(contacts.lam[_rows(contacts, body)].sum())


def _friction_force(now: Sample, body: int) -> float:
    """Σ |f_t| over the contacts of the body [N]"""
    contacts = now.contacts
    if contacts is None:
        return np.nan
    return float(np.linalg.norm(contacts.friction_force[_rows(contacts, body)], axis=1).sum())


def _of_surfaces(values: Callable[[Surfaces], Array]) -> Callable[[Sample, int], float]:
    """Of the compliant surfaces at the contacts of a body the value that is farthest from 0; 0 without any, nan with a
    method of rigid contact."""
    def value(now: Sample, body: int) -> float:
        surfaces = now.state.surfaces
        if surfaces.t[0] != now.state.t[0]:
            return np.nan
        count = int(surfaces.count[0])
        own = (now.model.shapes.body[surfaces.shapes[:count]] == body).any(axis=1)
        found = values(surfaces)[:count][own]
        return float(found[np.abs(found).argmax()]) if len(found) else 0.0
    return value


def _kinetic(now: Sample, body: int) -> float:
    """½ (P·v + L·ω) [J]"""
    bodies = now.state.bodies
    return float(0.5 * (bodies.P[body] @ bodies.v[body] + bodies.L[body] @ bodies.w[body]))


def _mechanical_energy(now: Sample, body: int) -> float:
    """Kinetic and potential energy, that of springs, and what compliant surfaces and springy limits hold [J]"""
    stored = -float(now.state.ledger[Account.STORED, 0])
    return measure(now.model, now.state.bodies, now.state.joints)[0].total + stored


QUANTITIES: dict[str, Quantity] = {
    "height": Quantity("Height z", "m", True, True, _coordinate(2)),
    "x": Quantity("Position x", "m", True, True, _coordinate(0)),
    "y": Quantity("Position y", "m", True, True, _coordinate(1)),
    "v_x": Quantity("Velocity v_x", "m/s", True, True, _velocity(0)),
    "v_y": Quantity("Velocity v_y", "m/s", True, True, _velocity(1)),
    "v_z": Quantity("Velocity v_z", "m/s", True, True, _velocity(2)),
    "w_x": Quantity("Angular velocity ω_x", "rad/s", True, True, _turning(0)),
    "w_y": Quantity("Angular velocity ω_y", "rad/s", True, True, _turning(1)),
    "w_z": Quantity("Angular velocity ω_z", "rad/s", True, True, _turning(2)),
    "p_x": Quantity("Momentum p_x", "kg m/s", True, True, _momentum(0)),
    "p_y": Quantity("Momentum p_y", "kg m/s", True, True, _momentum(1)),
    "p_z": Quantity("Momentum p_z", "kg m/s", True, True, _momentum(2)),
    "L_x": Quantity("Angular momentum L_x", "kg m²/s", True, True, _angular_momentum(0)),
    "L_y": Quantity("Angular momentum L_y", "kg m²/s", True, True, _angular_momentum(1)),
    "L_z": Quantity("Angular momentum L_z", "kg m²/s", True, True, _angular_momentum(2)),
    **{f"L_{axis}@{name}": Quantity(f"Angular momentum L_{axis} about the {words},", "kg m²/s", True, True,
                                    _about(point, k))
       for name, words, point in (("origin", "world origin", np.zeros(3)), ("system", "system's centre", None))
       for k, axis in enumerate("xyz")},
    "speed": Quantity(
        "Speed", "m/s", True, True, lambda now, body: float(np.linalg.norm(now.state.bodies.v[body]))),
    "spin": Quantity(
        "Angular speed", "rad/s", True, True, lambda now, body: float(np.linalg.norm(now.state.bodies.w[body]))),
    "body_kinetic": Quantity("Kinetic energy of it", "J", True, True, _kinetic),
    "body_potential": Quantity("Potential energy of it", "J", True, True, _potential),
    "contact_force": Quantity("Normal contact force", "N", True, False, _contact_force),
    "friction_force": Quantity("Friction force", "N", True, False, _friction_force),
    "surface_z": Quantity("Surface state z, deepest", "m", True, True,
                          _of_surfaces(lambda surfaces: surfaces.surface_z.sum(axis=1))),
    "surface_x": Quantity("Surface state |x|, largest", "m", True, True,
                          _of_surfaces(lambda surfaces: np.linalg.norm(surfaces.surface_x.sum(axis=1), axis=1))),
    "energy": Quantity("Mechanical energy", "J", False, True, _mechanical_energy),
    "kinetic": Quantity(
        "Kinetic energy", "J", False, True,
        lambda now, _: measure(now.model, now.state.bodies, now.state.joints)[0].kinetic),
    "penetration": Quantity(
        "Deepest overlap", "m", False, False, lambda now, _: np.nan if now.info is None else now.info.penetration),
    "joints": Quantity(
        "Joints apart", "m or rad", False, False, lambda now, _: np.nan if now.info is None else now.info.joint_error),
    "contacts": Quantity(
        "Contacts", "", False, False, lambda now, _: np.nan if now.info is None else float(now.info.contacts)),
    "carrying": Quantity(
        "Active contacts", "", False, False,
        lambda now, _: np.nan if now.contacts is None else float(now.contacts.active.sum())),
    "residual": Quantity(
        "Residual of the solver", "m/s or m/s²", False, False,
        lambda now, _: np.nan if now.info is None else now.info.residual),
    "iterations": Quantity(
        "Iterations of the solver", "", False, False,
        lambda now, _: np.nan if now.info is None else float(now.info.iterations)),
}


def _of_contact(value: Callable[[Contacts, int], float]) -> Callable[[Sample, int], float]:
    """Of the contact with this key; nan where there is none now."""
    def found(now: Sample, key: int) -> float:
        contacts = now.contacts
        if contacts is None:
            return np.nan
        rows = np.flatnonzero(contacts.key == key)
        return float(value(contacts, int(rows[0]))) if len(rows) else np.nan
    return found


def _of_joint(place: bool) -> Callable[[Sample, int], float]:
    """The first position of a joint, or its rate."""
    return lambda now, joint: float(coordinates_of(now.model, now.state, joint)[0 if place else 1][0])


#: quantities of a contact, by its key, and of a joint, by its row: plotted from the pages of these
PARTS: dict[str, Quantity] = {
    **{f"contact_{name}": Quantity(title, unit, False, False,
                                   _of_contact(lambda c, i, name=name: getattr(c, name)[i]), "contact")
       for name, title, unit in (("gap", "Gap φ", "m"), ("zeta", "Separation velocity ζ", "m/s"),
                                 ("slip", "Slip", "m/s"), ("lam", "Normal force λ", "N"))},
    "contact_friction": Quantity("Friction force", "N", False, False, _of_contact(
        lambda c, i: float(np.linalg.norm(c.friction_force[i]))), "contact"),
    "joint_angle": Quantity("Angle", "rad", False, True, _of_joint(True), "joint"),
    "joint_rate": Quantity("Angular velocity", "rad/s", False, True, _of_joint(False), "joint"),
    "joint_shift": Quantity("Displacement", "m", False, True, _of_joint(True), "joint"),
    "joint_speed": Quantity("Speed of sliding", "m/s", False, True, _of_joint(False), "joint"),
}


def about_point(axis: str, point: Sequence[float]) -> str:
    """The name of the angular momentum L_x, L_y or L_z of a body about a point [m]: "L_z@0.5,0,1"."""
    return f"L_{axis}@{','.join(f'{value:.12g}' for value in point)}"


def quantity_of(name: str) -> Quantity:
    """The quantity of this name: of QUANTITIES, of PARTS, or an angular momentum about a point (`about_point`). Raises
    ValueError."""
    if name in QUANTITIES or name in PARTS:
        return QUANTITIES.get(name) or PARTS[name]
    try:
        L, _sign, at = name.partition("@")
        axis, point = ("L_x", "L_y", "L_z").index(L), np.array([float(value) for value in at.split(",")])
        if point.shape != (3,) or not np.isfinite(point).all():
            raise ValueError
    except ValueError:
        raise ValueError(f"a quantity must be one of {', '.join(QUANTITIES)}, or L_z@X,Y,Z about a point, "
                         f"not {name!r}") from None
    words = ", ".join(f"{value:.4g}" for value in point)
    title = _("Angular momentum {L} about ({point}) m,").format(L=L, point=words)
    return Quantity(title, "kg m²/s", True, True, _about(point, axis))


def named(text: str, bodies: Sequence[str]) -> tuple[str, int]:
    """The quantity that "height:ball" or "energy" means, and the row of its body, -1 where it is of the whole. Raises
    ValueError."""
    name, _, body = text.partition(":")
    if name in PARTS:
        raise ValueError(f"{name!r} is of a contact or a joint: it is plotted in the window alone")
    if quantity_of(name).of_body != bool(body):
        words = f"is of the whole, not of {body!r}" if body else f"needs a body, {name}:BODY"
        raise ValueError(f"{name!r} {words}")
    if body and body not in bodies:
        raise ValueError(f"there is no body {body!r}; this scene has {', '.join(bodies[:8])}")
    return name, bodies.index(body) if body else -1


def heading(name: str, body: str) -> str:
    """ "Height z of die 1 [m]"; body: its name, or that of the contact or the joint; "" where the quantity is of the
    whole."""
    quantity = quantity_of(name)
    title = _(quantity.title)
    if body:  # "Kinetic energy of it" is that of the body that is named
        title = _("{quantity} of {body}").format(quantity=title.removesuffix(" of it"), body=body)
    return f"{title} [{quantity.unit}]" if quantity.unit else title
