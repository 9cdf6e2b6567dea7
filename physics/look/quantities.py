"""Quantities of a run that can be watched over time, and compared between runs."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..books.diagnostics import measure
from ..books.ledger import Account
from ..core.model import Model
from ..core.report import StepInfo
from ..core.state import Contacts, State


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
    of_state: bool  #: a function of the state alone; else it is known only for steps made while it was watched
    value: Callable[[Sample, int], float]


def _coordinate(axis: int) -> Callable[[Sample, int], float]:
    return lambda now, body: float(now.state.bodies.x[body, axis])


def _contact_force(now: Sample, body: int) -> float:
    """Σ λ over the contacts of the body [N]"""
    contacts = now.contacts
    if contacts is None:
        return np.nan
    rows = (contacts.body_a == body) | (contacts.body_b == body)
    return float(contacts.lam[rows].sum())


def _mechanical_energy(now: Sample, body: int) -> float:
    """Kinetic and potential energy, that of springs, and what compliant surfaces and springy limits hold [J]"""
    stored = -float(now.state.ledger[Account.STORED, 0])
    return measure(now.model, now.state.bodies, now.state.joints)[0].total + stored


QUANTITIES: dict[str, Quantity] = {
    "height": Quantity("Height z", "m", True, True, _coordinate(2)),
    "x": Quantity("Position x", "m", True, True, _coordinate(0)),
    "y": Quantity("Position y", "m", True, True, _coordinate(1)),
    "speed": Quantity(
        "Speed", "m/s", True, True, lambda now, body: float(np.linalg.norm(now.state.bodies.v[body]))),
    "spin": Quantity(
        "Angular speed", "rad/s", True, True, lambda now, body: float(np.linalg.norm(now.state.bodies.w[body]))),
    "contact_force": Quantity("Normal contact force", "N", True, False, _contact_force),
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
}
