"""The alarm that stops a run which has more energy than was put in:

    T + U > available + GROWTH put_in,     available = E_start - V + Σ inputs
    put_in = max(available, 0) + Σ |inputs| + ½ m (FALL |g| h + STILL)²

T is the kinetic energy, U the energy of springs, of compliant surfaces and of springy limits, V the potential energy in
gravity, m the mass of all bodies. The inputs are the work of motors, of the mouse, of applied forces and of bodies with
a prescribed motion, and the effect of changed settings, as the ledger books them. Dissipation only makes T + U smaller.
"""

import math

from ..books.balance import balance
from ..books.ledger import TAKERS, Account
from ..integrators import INTEGRATORS
from ..methods import METHODS
from .simulation import Simulation

GROWTH = 1.0  # energy beyond what is available that stops a run, relative to what was put in
AGAIN = 10.0  # factor by which this excess has to grow before the alarm repeats
FALL = 4.0    # steps of free fall whose energy is tolerated, for errors of one step can make as much
STILL = 1e-6  # speed that counts as none where there is no gravity [m/s]
APART = 1e-3  # gap of joints in maximal coordinates from which on it counts as the cause [m] or [rad]


class EnergyAlarm:
    """Watches one run."""

    def __init__(self) -> None:
        self._limit = GROWTH

    def look(self, sim: Simulation) -> str:
        """Why the run should pause after this step, in one sentence without its full stop; "" where it should not. The
        alarm repeats only after the excess has grown by the factor AGAIN, or had fallen to GROWTH in between."""
        moving, available, growth = growth_of(sim)
        if growth <= GROWTH:
            self._limit = GROWTH
        if growth <= self._limit:
            return ""
        self._limit = AGAIN * growth
        return f"the motion has {moving:.3g} J where {available:.3g} J were put in: {cause(sim)}"


def growth_of(sim: Simulation) -> tuple[float, float, float]:
    """T + U [J], the energy available for it [J], at least 0, and the excess over what is available, relative to what
    was put in (1)."""
    ledger, now = sim.state.ledger, balance(sim.model, sim.state)
    moving = now.kinetic + now.spring - float(ledger[Account.STORED, 0])
    available = float(ledger[Account.START, 0]) - now.potential + now.given
    speed = FALL * math.hypot(*sim.settings.gravity) * sim.settings.h + STILL
    put_in = max(available, 0.0) + now.moved + 0.5 * now.mass * speed**2
    return moving, max(available, 0.0), (moving - available) / put_in if put_in else 0.0  # 0 where nothing can move


def cause(sim: Simulation) -> str:
    """The most likely cause of the excess of energy, and a remedy."""
    settings, ledger, stable = sim.settings, sim.state.ledger[:, 0], sim.info.stable_step
    giver = max((*TAKERS, Account.DRIFT), key=lambda account: ledger[account])
    if giver == Account.IMPACTS and ledger[giver] > 0.0:
        return ("impacts gave it, as Newton's law with friction may where slip turns round; take another impact law, "
                "say poisson")
    if settings.integrator == "euler":
        return (f"{INTEGRATORS['euler'].title} gives energy to all that turns or swings; take "
                f"{INTEGRATORS['rk4'].title}, or a much shorter step h")
    if settings.method == "compliant" and settings.substeps and settings.h / settings.substeps > stable:
        return (f"substeps longer than {stable:.2g} s are unstable with these surfaces; take more of them, or 0, as "
                "many as needed")
    if settings.joint_cure != "projection" and sim.info.joint_error > APART:
        return (f"joints have come apart by {sim.info.joint_error:.2g} {sim.info.joint_unit}; take the cure "
                "Projection, or a shorter step h")
    if settings.method == "event_driven":
        return f"the step is too long for this motion; take a shorter step h, or {INTEGRATORS['dopri5'].title}"
    return ("the step is too long for this motion; take a shorter step h, or the method "
            f"{METHODS['event_driven'].title} with {INTEGRATORS['dopri5'].title}")
