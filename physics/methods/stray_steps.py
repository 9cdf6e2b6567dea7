"""Steps of fixed length close to singular positions of linkages.

There the constraint forces of a step's stages grow without bound, and the step makes any speed and any energy. An
integrator with error control sees it, and asks for many short steps; for the others these are the signs.
"""

import numpy as np

from contactlab.physics.integrators.stepper import SMALLEST_SUBSTEP
from contactlab.physics.methods.joint_cure import JointKeeper
from contactlab.physics.model import Array
from contactlab.physics.state import Bodies

MANY_SUBSTEPS = 4000  # of one step without event, as stiff springs ask for too
WILD = 0.5  # part of a momentum; a turn of ω h in a step changes one by some (ω h)² of it


def least_substep(done: int, h: float) -> float:
    """Length of a substep that is accepted whatever its error, after so many without event in a step of h [s]."""
    return h * SMALLEST_SUBSTEP if done < MANY_SUBSTEPS else h / MANY_SUBSTEPS


def astray(keeper: JointKeeper, before: Bodies, after: Bodies, y0: Array, k: Array, length: float) -> bool:
    """Whether a step from y0 (n, 13) with the stages k (s, n, 13) over `length` [s] should be taken in halves."""
    return keeper.any and (wild(y0, k, length) or keeper.torn(before, after))


def wild(y0: Array, k: Array, length: float) -> bool:
    """Whether forces differ so much between the stages that they would change a momentum by more than WILD of its
    size, or of what they give at the start of the step."""
    for part in (slice(7, 10), slice(10, 13)):
        change = np.abs(k[1:, :, part] - k[0, :, part]).max(initial=0.0)
        size = np.abs(y0[:, part]).max() + length * np.abs(k[0, :, part]).max()
        if length * change > WILD * size:
            return True
    return False
