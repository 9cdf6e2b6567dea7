"""Steps of fixed length close to singular positions of linkages, and to where sliding friction jams.

There the constraint forces of a step's stages grow without bound, and the step makes any speed and any energy. An
integrator with error control sees it, and asks for many short steps; for the others these are the signs.
"""

import math

import numpy as np

from ...books.diagnostics import measure
from ...core.jit import kernel
from ...core.model import Array, Model
from ...core.state import Bodies, JointState
from ...dynamics.constraints.cure import JointKeeper
from ...integrators import Integrator
from ...integrators.stepper import SMALLEST_SUBSTEP, step_factor

MANY_SUBSTEPS = 4000  # of one step without event, as stiff springs ask for too
WILD = 0.5       # part of a momentum; a turn of ω h in a step changes one by some (ω h)² of it
RUNAWAY = 4.0    # the same where contacts are all that constrains: stages that feed on one another
GAIN = 1e-3      # of the kinetic energy: more than an accurate step gains by its error
ROUNDING = 1e-9  # of all momenta: less is none


def least_substep(done: int, h: float) -> float:
    """Length of a substep that is accepted whatever its error, after so many without event in a step of h [s]."""
    return h * SMALLEST_SUBSTEP if done < MANY_SUBSTEPS else h / MANY_SUBSTEPS


def gains(model: Model, before: tuple[Bodies, JointState], after: tuple[Bodies, JointState]) -> bool:
    """Whether a step gains so much energy that it is no error of the integrator's."""
    start, _ = measure(model, *before)
    end, _ = measure(model, *after)
    return end.total - start.total > GAIN * start.kinetic


def longer(error: float, integrator: Integrator) -> float:
    """By which factor to change the length of a step with this local error, in parts of what is allowed; halves where
    errors are not known."""
    if not integrator.adaptive:
        return 0.5
    return step_factor(error, integrator.order)


def astray(keeper: JointKeeper, contacts: int, before: Bodies, after: Bodies, y0: Array, k: Array, length: float
           ) -> bool:
    """Whether a step from y0 (n, 13) with the stages k (s, n, 13) over `length` [s], with so many contacts in the set,
    should be taken in halves."""
    if keeper.any:
        return wild(y0, k, length, WILD) or keeper.torn(before, after)
    return contacts > 0 and wild(y0, k, length, RUNAWAY)


@kernel
def wild(y0, k, length, share):
    """Whether forces differ so much between the stages k (s, n, 13) that they would change a momentum in y0 (n, 13), or
    a link's velocity, by more than a share of its size, or of what they give at the start of the step."""
    change, size = np.zeros(2), np.zeros(2)
    for part in range(2):  # of translation, of rotation
        first = 0.0
        for i in range(len(y0)):
            for c in range(7 + 3 * part, 10 + 3 * part):
                size[part], first = max(size[part], abs(y0[i, c])), max(first, abs(k[0, i, c]))
                for s in range(1, len(k)):
                    other = abs(k[s, i, c] - k[0, i, c])
                    if not math.isfinite(other):
                        return True
                    change[part] = max(change[part], length * other)
        size[part] += length * first
    nothing = ROUNDING * (size[0] + size[1])
    return change[0] > share * size[0] + nothing or change[1] > share * size[1] + nothing
