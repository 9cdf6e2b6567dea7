"""How large a step an integrator may make with a spring and a damper."""

import functools
import math

import numpy as np

from contactlab.physics.integrators import Integrator

SHARE = 0.25         # part of the largest stable step that is used: stable is not yet accurate
MOST_SUBSTEPS = 2000
LARGEST = 100.0      # h ω that is looked at


def substeps_needed(integrator: Integrator, h: float, square: float, damping: float, recovery: float) -> int:
    """Substeps of h [s] that keep ẍ + damping ẋ + square x = 0 [1/s2, 1/s] and ẋ + recovery x = 0 stable."""
    limit = stable_step(integrator, square, damping)
    if recovery > 0.0:
        limit = min(limit, real_limit(integrator.name) / recovery)
    if limit >= h / SHARE:
        return 1
    return min(MOST_SUBSTEPS, math.ceil(h / (SHARE * limit))) if limit > 0.0 else MOST_SUBSTEPS


def stable_step(integrator: Integrator, square: float, damping: float) -> float:
    """The largest h [s] at which ẍ + damping ẋ + square x = 0 [1/s2, 1/s] does not grow; 0 where none is small enough.

    By bisection on the spectral radius of one step. It depends on h ω and the damping ratio alone.
    """
    if square <= 0.0:
        return math.inf if damping <= 0.0 else real_limit(integrator.name) / damping
    omega = math.sqrt(square)
    ratio = 0.5 * damping / omega
    if ratio > 50.0:  # creeping: the fast root is -damping
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


def _bisect(name: str, positions: np.ndarray, momenta: np.ndarray) -> float:
    from contactlab.physics.integrators import INTEGRATORS

    tableau = INTEGRATORS[name].tableau
    grid = np.geomspace(1e-3, LARGEST, 400)
    unstable = [h for h in grid if _radius(tableau, positions, momenta, h) > 1.0 + 1e-9 * h]
    if not unstable:
        return math.inf
    hi = float(unstable[0])
    if hi == grid[0]:
        return 0.0
    lo = float(grid[np.searchsorted(grid, hi) - 1])
    for _ in range(40):
        middle = 0.5 * (lo + hi)
        if _radius(tableau, positions, momenta, middle) > 1.0 + 1e-9 * middle:
            hi = middle
        else:
            lo = middle
    return lo


def _radius(tableau, positions: np.ndarray, momenta: np.ndarray, h: float) -> float:
    """Spectral radius of one step of ẏ = (positions + momenta) y, each part with its own coefficients."""
    n, stages = len(positions), len(tableau.c)
    kx, kp = [], []
    unit = np.eye(n)
    for i in range(stages):
        y = unit + h * sum((tableau.a_x[i, j] * kx[j] + tableau.a_p[i, j] * kp[j] for j in range(i)), np.zeros((n, n)))
        kx.append(positions @ y)
        kp.append(momenta @ y)
    end = unit + h * sum((tableau.b_x[i] * kx[i] + tableau.b_p[i] * kp[i] for i in range(stages)), np.zeros((n, n)))
    return float(np.abs(np.linalg.eigvals(end)).max())
