"""What a run is watched by after every step: its energies and the sums of its ledger, in one call."""

from typing import NamedTuple

import numpy as np

from ..core.jit import kernel
from ..core.model import Model
from ..core.state import State
from .diagnostics import energies
from .ledger import TAKERS, Account

INPUTS = (Account.JOINTS, Account.MOUSE, Account.APPLIED, Account.DRIVEN, Account.CHANGED)  #: what puts energy in
_TAKERS, _INPUTS = (tuple(int(account) for account in accounts) for accounts in (TAKERS, INPUTS))


class Balance(NamedTuple):
    """Energies of an instant [J], and how they came about since the start."""

    kinetic: float
    potential: float  #: in gravity
    spring: float
    taken: float      #: by TAKERS
    given: float      #: by INPUTS
    moved: float      #: Σ |inputs|
    mass: float       #: of all bodies [kg]


@kernel
def weigh_up(model, state, out):
    """Write the columns of a Balance."""
    out[0], out[1], out[2] = energies(model, state.bodies, state.joints.q, state.joints.v)
    taken, given, moved, mass = 0.0, 0.0, 0.0, 0.0
    for account in _TAKERS:
        taken += state.ledger[account, 0]
    for account in _INPUTS:
        given += state.ledger[account, 0]
        moved += abs(state.ledger[account, 0])
    for i in range(len(model.mass)):
        mass += model.mass[i]
    out[3], out[4], out[5], out[6] = taken, given, moved, mass


def balance(model: Model, state: State) -> Balance:
    """The balance of a state."""
    found = np.empty(len(Balance._fields))
    weigh_up(model, state, found)
    return Balance(*found.tolist())
