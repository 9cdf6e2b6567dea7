"""How large a step an integrator may make with a spring and a damper.

Kernels ask a table of the integrator that Python fills in where it is asked for the first time."""

import functools
import math
from typing import NamedTuple

import numpy as np

from ...core.jit import helper, kernel
from ...core.model import Array, BoolArray
from ...integrators import Integrator
from ...integrators.tableau import Tableau

USED_SHARE = 0.25     # part of the largest stable step that is used: stable is not yet accurate
MOST_SUBSTEPS = 2000  # of one step
LARGEST_PRODUCT = 100.0  # h ω (or h k) up to which the end of stability is looked for
DAMPED = 50.0         # damping ratio from which on the slow root of an oscillator no longer matters
TURNED = 1.0          # see `turning_limit`
RESOLVED = 1.0        # product of a substep and the fastest rate up to which the substep resolves the motion
FINE, FINE_UP_TO, COARSE = 2000, 100, 200  # places of the table of damping ratios: i/FINE up to that i, then i/COARSE
PLACES = FINE_UP_TO + int(DAMPED * COARSE) + 1


class FastestMode(NamedTuple):
    """What moves fastest in ẍ + damping ẋ + square x = 0 and ẋ + recovery x = 0, and what turns fastest."""

    square: float          #: ω² [1/s2]
    damping: float         #: [1/s]
    recovery: float = 0.0  #: [1/s]
    turning: float = 0.0   #: see `limits.turning_rate` [1/s]

    def step(self, integrator: Integrator) -> float:
        """The largest stable step [s], 0 where none is small enough. Found without a compiled kernel: the window asks,
        too, which must not wait for one."""
        limits, find = step_limits(integrator.name), longest_step.py_func
        found, missing = find(limits, *self)
        if missing >= 0:
            learn(integrator.name, missing)
            found, _ = find(limits, *self)
        return found


class StepLimits(NamedTuple):
    """What an integrator keeps stable."""

    oscillator: Array  #: (PLACES,) h ω of a damped oscillator by its damping ratio, nan where nobody has asked yet
    real: Array        #: (1,) h k of ẋ = -k x
    turning: Array     #: (1,) h k of what turns, see `turning_limit`


@functools.cache
def step_limits(name: str) -> StepLimits:
    """Those of an integrator. The table is shared by all that use it: it only ever learns."""
    from ...integrators import INTEGRATORS

    return StepLimits(np.full(PLACES, np.nan), np.array([real_limit(name)]),
                      np.array([turning_limit(INTEGRATORS[name])]))


def learn(name: str, place: int) -> None:
    """Fill in the place of the table that `longest_step` lacks."""
    ratio = place / FINE if place <= FINE_UP_TO else (place - FINE_UP_TO) / COARSE
    step_limits(name).oscillator[place] = _oscillator_limit(name, ratio)


@kernel
def longest_step(limits, square, damping, recovery, turning):
    """See `FastestMode.step`: the largest h [s] at which neither of its equations has solutions that grow; and the
    place of the table that has to be filled in first, -1 = none. It depends on h ω and the damping ratio alone."""
    longest, place = math.inf, -1
    if not (square < math.inf and damping < math.inf):
        return 0.0, place
    if square > 0.0:
        omega = math.sqrt(square)
        ratio = 0.5 * damping / omega
        if ratio > DAMPED:  # the fast root is -damping
            longest = limits.real[0] / damping
        else:
            place = FINE_UP_TO + math.ceil(ratio * COARSE) if ratio > FINE_UP_TO / FINE else math.floor(ratio * FINE)
            longest = limits.oscillator[place] / omega
            if math.isnan(longest):
                return longest, place
    elif damping > 0.0:
        longest = limits.real[0] / damping
    if recovery > 0.0:
        longest = min(longest, limits.real[0] / recovery)
    if turning > 0.0:
        longest = min(longest, limits.turning[0] / turning)
    return longest, -1


@helper
def too_stiff(h, longest, square, damping, recovery, turning):
    """Whether even MOST_SUBSTEPS of h [s] are longer than the longest stable one and do not resolve the motion. Those
    of explicit Euler that do show how it gains energy."""
    rate = max(max(math.sqrt(max(square, 0.0)), damping), max(recovery, turning))
    substep = h / MOST_SUBSTEPS
    return substep > longest and substep * rate > RESOLVED


@kernel
def substeps_needed(h, longest):
    """Substeps of h [s] that keep what has this longest step [s] stable, and some more that it is accurate; at most
    MOST_SUBSTEPS."""
    if longest >= h / USED_SHARE:
        return 1
    wanted = h / (USED_SHARE * longest) if longest > 0.0 else math.inf
    return math.ceil(wanted) if wanted < MOST_SUBSTEPS else MOST_SUBSTEPS


def stable_step(integrator: Integrator, square: float, damping: float) -> float:
    """The largest h [s] at which ẍ + damping ẋ + square x = 0 [1/s2, 1/s] does not grow; 0 where none is small enough.
    """
    return FastestMode(square, damping).step(integrator)


@functools.cache
def _oscillator_limit(name: str, ratio: float) -> float:
    """h ω of a damped oscillator, by bisection on the spectral radius of one step."""
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


def _grows(tableau: Tableau, positions: Array, momenta: Array, h: Array) -> BoolArray:
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
