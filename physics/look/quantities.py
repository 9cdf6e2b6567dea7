"""Quantities of a run that can be watched over time, and compared between runs."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..books.diagnostics import measure
from ..books.ledger import Account
from ..core.model import Array, Model
from ..core.report import StepInfo
from ..core.state import Contacts, State, Surfaces


class Sample(NamedTuple):
    """What a quantity is a function of."""

    model: Model
    state: State
    contacts: Contacts | None  #: of the step that led here; None: not kept
    info: StepInfo | None


class Quantity(NamedTuple):
    """A quantity over time; `value` gets a Sample and the body, which counts where it is a quantity of one body."""

    title: str
    unit: str
    of_body: bool   #: of one body, else of the whole system
    of_state: bool  #: a function of the state alone; else also of the step that led there
    value: Callable[[Sample, int], float]


def _coordinate(axis: int) -> Callable[[Sample, int], float]:
    return lambda now, body: float(now.state.bodies.x[body, axis])


def _velocity(axis: int) -> Callable[[Sample, int], float]:
    return lambda now, body: float(now.state.bodies.v[body, axis])


def _momentum(axis: int) -> Callable[[Sample, int], float]:
    return lambda now, body: float(now.state.bodies.P[body, axis])


def _angular_momentum(axis: int) -> Callable[[Sample, int], float]:
    return lambda now, body: float(now.state.bodies.L[body, axis])


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


def named(text: str, bodies: Sequence[str]) -> tuple[str, int]:
    """The quantity that "height:ball" or "energy" means, and the row of its body, -1 where it is of the whole. Raises
    ValueError."""
    name, _, body = text.partition(":")
    if name not in QUANTITIES:
        raise ValueError(f"a quantity must be one of {', '.join(QUANTITIES)}, not {name!r}")
    if QUANTITIES[name].of_body != bool(body):
        words = f"is of the whole, not of {body!r}" if body else f"needs a body, {name}:BODY"
        raise ValueError(f"{name!r} {words}")
    if body and body not in bodies:
        raise ValueError(f"there is no body {body!r}; this scene has {', '.join(bodies[:8])}")
    return name, bodies.index(body) if body else -1


def heading(name: str, body: str) -> str:
    """ "Height z of die 1 [m]"; body: its name, "" where the quantity is of the whole."""
    quantity = QUANTITIES[name]
    return f"{quantity.title}{f' of {body}' if body else ''}{f' [{quantity.unit}]' if quantity.unit else ''}"
