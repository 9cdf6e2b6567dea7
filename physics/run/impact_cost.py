"""What both ways of an impact on links cost, see `look.impact_forms`, over the number of links of a chain."""

from collections.abc import Callable
from functools import cache

import numpy as np

from ..core.model import Array
from ..dynamics.trees.joint_space import answer_impulse, articulate, factor_matrix, point_jacobian, solve_matrix
from ..dynamics.trees.kinematics import ORIGIN
from ..dynamics.trees.mass_matrix import joint_space, mass_matrix, unpacked
from ..look.impact_forms import ARTICULATED, JOINT_SPACE, Cost
from .link_study import chain

LINKS = (1, 2, 4, 8, 16, 32, 64)
SAMPLE, SAMPLES = 2e-3, 5  # time that a sample of the cost takes [s], and how many; the least one counts
BENT = 0.2                 # angle of every hinge [rad]


@cache
def measured_cost(clock: Callable[[], float]) -> Cost:
    """The cost on this machine, measured once: that takes a few tenths of a second. clock() tells the time [s]."""
    found: dict[str, list[float]] = {ARTICULATED: [], JOINT_SPACE: []}
    for n in LINKS:
        for way, call in ways_of_chain(n).items():
            found[way].append(_least_time(call, clock))
    return Cost(np.array(LINKS, np.int32), {way: 1e6 * np.array(times) for way, times in found.items()})


def ways_of_chain(n: int) -> dict[str, Callable[[], Array]]:
    """Both ways to Δq̇ (n,) of a bent chain of n hinges by a unit impulse upwards through O on its last link."""
    trees = chain(n, "generalized").build().model.trees
    space, before, q = joint_space(trees), trees.table.before, np.full(n, BENT)
    H, rates, none, change, rows = np.zeros((n, n)), np.zeros(n), np.zeros(n), np.zeros((n, 6)), np.zeros(n)
    wrench, J = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 1.0]), np.zeros((6, n))
    articulate(space, q, none)
    point_jacobian(space, n - 1, unpacked.py_func(space)[1].link[n - 1, ORIGIN : ORIGIN + 3], J)

    def articulated() -> Array:
        articulate(space, q, none)
        answer_impulse(space, n - 1, wrench, none, rates, change)
        return rates

    def in_joint_space() -> Array:
        rows[:] = J[5]
        mass_matrix(space, q, H)
        factor_matrix(before, H)
        solve_matrix(before, H, rows)
        return rows

    return {ARTICULATED: articulated, JOINT_SPACE: in_joint_space}


def _least_time(call: Callable[[], Array], clock: Callable[[], float]) -> float:
    """The least mean time of a call in some samples [s]."""
    call()
    began = clock()
    call()
    count, best = max(1, int(SAMPLE / max(clock() - began, 1e-9))), np.inf
    for _ in range(SAMPLES):
        began = clock()
        for _ in range(count):
            call()
        best = min(best, (clock() - began) / count)
    return best
