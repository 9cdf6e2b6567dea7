"""How large a step an integrator may make with a spring and a damper."""

import functools
import math
from typing import NamedTuple

import numpy as np

from ...core.model import Array
from ...integrators import Integrator
from ...integrators.tableau import Tableau

USED_SHARE = 0.25     # part of the largest stable step that is used: stable is not yet accurate
MOST_SUBSTEPS = 2000  # of one step
LARGEST_PRODUCT = 100.0  # h ω (or h k) up to which the end of stability is looked for
DAMPED = 50.0         # damping ratio from which on the slow root of an oscillator no longer matters
TURNED = 1.0          # see `turning_limit`
RESOLVED = 1.0        # product of a substep and the fastest rate up to which the substep resolves the motion


class FastestMode(NamedTuple):
    """What moves fastest in ẍ + damping ẋ + square x = 0 and ẋ + recovery x = 0, and what turns fastest."""

    square: float          #: ω² [1/s2]
    damping: float         #: [1/s]
    recovery: float = 0.0  #: [1/s]
    turning: float = 0.0   #: see `limits.turning_rate` [1/s]

    def step(self, integrator: Integrator) -> float:
        """The largest stable step [s], 0 where none is small enough."""
        limit = stable_step(integrator, self.square, self.damping)
        if self.recovery > 0.0:
            limit = min(limit, real_limit(integrator.name) / self.recovery)
        return min(limit, turning_limit(integrator) / self.turning) if self.turning > 0.0 else limit

    def rate(self) -> float:
        """The fastest rate [1/s]."""
        return max(math.sqrt(max(self.square, 0.0)), self.damping, self.recovery, self.turning)


def too_stiff(integrator: Integrator, h: float, limits: FastestMode) -> bool:
    """Whether even MOST_SUBSTEPS of h [s] are unstable and do not resolve the motion. Those of explicit Euler that do
    show how it gains energy."""
    substep = h / MOST_SUBSTEPS
    return substep > limits.step(integrator) and substep * limits.rate() > RESOLVED


def substeps_needed(integrator: Integrator, h: float, limits: FastestMode) -> int:
    """Substeps of h [s] that keep a motion of these limits stable, and some more that it is accurate; at most
    MOST_SUBSTEPS."""
    limit = limits.step(integrator)
    if limit >= h / USED_SHARE:
        return 1
    return min(MOST_SUBSTEPS, math.ceil(h / (USED_SHARE * limit))) if limit > 0.0 else MOST_SUBSTEPS


def stable_step(integrator: Integrator, square: float, damping: float) -> float:
    """The largest h [s] at which ẍ + damping ẋ + square x = 0 [1/s2, 1/s] does not grow; 0 where none is small enough.

    By bisection on the spectral radius of one step. It depends on h ω and the damping ratio alone.
    """
    if square <= 0.0:
        return math.inf if damping <= 0.0 else real_limit(integrator.name) / damping
    omega = math.sqrt(square)
    ratio = 0.5 * damping / omega
    if ratio > DAMPED:  # the fast root is -damping
        return real_limit(integrator.name) / damping
    coarse = math.ceil(ratio * 200.0) / 200.0 if ratio > 0.05 else math.floor(ratio * 2000.0) / 2000.0
    return _oscillator_limit(integrator.name, coarse) / omega


@functools.cache
def _oscillator_limit(name: str, ratio: float) -> float:
    """h ω of a damped oscillator."""
    return _bisect(name, np.array([[0.0, 1.0], [0.0, 0.0]]), np.array([[0.0, 0.0], [-1.0, -2.0 * ratio]]))


@functools.cache
def real_limit(name: str) -> float:
    """h k of ẋ = -k x."""
    return _bisect(name, np.array([[-1.0]]), np.zeros((1, 1)))


def turning_limit(integrator: Integrator) -> float:
    """h k of what turns, see `limits.turning_rate`. Rates that are off by ½ (h k)³ in a stage enter the next with
    weights a of which the magnitudes may add up to much more than 1."""
    return TURNED / max(1.0, float(np.abs(integrator.tableau.a_x).sum(axis=1).max())) ** (1.0 / 3.0)


def _bisect(name: str, positions: Array, momenta: Array) -> float:
    from ...integrators import INTEGRATORS

    tableau = INTEGRATORS[name].tableau
    grid = np.geomspace(1e-3, LARGEST_PRODUCT, 400)
    unstable = np.flatnonzero(_grows(tableau, positions, momenta, grid))
    if not len(unstable):
        return math.inf
    if unstable[0] == 0:
        return 0.0
    lo, hi = grid[unstable[0] - 1], grid[unstable[0]]
    for _ in range(6):
        fine = np.linspace(lo, hi, 100)
        first = int(np.argmax(_grows(tableau, positions, momenta, fine)))
        lo, hi = fine[first - 1], fine[first]
    return float(lo)


def _grows(tableau: Tableau, positions: Array, momenta: Array, h: Array) -> Array:
    """(g,) whether the spectral radius of one step of ẏ = (positions + momenta) y exceeds 1 for the steps h (g,), each
    part with its own coefficients."""
    n, stages = len(positions), len(tableau.c)
    kx, kp = [], []
    unit, step = np.broadcast_to(np.eye(n), (len(h), n, n)), h[:, None, None]
    for i in range(stages):
        y = unit + step * sum((tableau.a_x[i, j] * kx[j] + tableau.a_p[i, j] * kp[j] for j in range(i)), 0.0 * unit)
        kx.append(positions @ y)
        kp.append(momenta @ y)
    end = unit + step * sum((tableau.b_x[i] * kx[i] + tableau.b_p[i] * kp[i] for i in range(stages)), 0.0 * unit)
    return np.abs(np.linalg.eigvals(end)).max(axis=1) > 1.0 + 1e-9 * h
