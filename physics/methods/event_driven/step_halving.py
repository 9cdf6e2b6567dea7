"""Steps of fixed length that constraint forces lead astray: they are halved.

Close to singular positions of linkages, and where sliding friction jams, the constraint forces of a step's stages grow
without bound, and the step makes any speed and any energy. An integrator with error control sees that and takes many
short steps. For the others, the signs looked for here are forces that differ widely between the stages, and joints that
come apart.
"""

import math

import numpy as np

from ...books.diagnostics import measure
from ...core.jit import kernel
from ...dynamics.constraints.cure import JointKeeper
from ...integrators import Integrator
from ...integrators.stepper import SMALLEST_SUBSTEP, step_factor
from .piece import LENGTH, Piece

MANY_SUBSTEPS = 4000  # of one step without event, as stiff springs ask for too
#: by how much the stages' forces may change a momentum, relative to its size; a turn of ω h changes one by some (ω h)²
WILD = 0.5        # with joints in maximal coordinates
RUNAWAY = 4.0     # where contacts are all that constrains
GAIN = 1e-3       # energy that a piece may gain by its error, relative to the kinetic one
MOMENTUM_ROUNDING = 1e-9  # change of a momentum that is none, relative to all momenta


def least_substep(done: int, h: float) -> float:
    """Length of a substep that is accepted whatever its error, after so many without event in a step of h [s]."""
    return h * SMALLEST_SUBSTEP if done < MANY_SUBSTEPS else h / MANY_SUBSTEPS


def gains(piece: Piece) -> bool:
    """Whether a piece gains so much energy that it is no error of the integrator's."""
    model = piece.start.model
    start, _ = measure(model, piece.start.bodies, piece.start.joints)
    end, _ = measure(model, piece.end, piece.end_joints)
    return end.total - start.total > GAIN * start.kinetic


def longer(error: float, integrator: Integrator) -> float:
    """By which factor to change the length of a step with this local error, in parts of what is allowed; halves where
    errors are not known."""
    if not integrator.adaptive:
        return 0.5
    return step_factor(error, integrator.order)


def astray(keeper: JointKeeper, piece: Piece) -> bool:
    """Whether a piece of fixed length should be taken in halves."""
    length = float(piece.span[LENGTH])
    if keeper.any:
        return wild(piece.y0, piece.k, length, WILD) or keeper.torn(piece.start.bodies, piece.end)
    return piece.chosen.count[0] > 0 and wild(piece.y0, piece.k, length, RUNAWAY)


@kernel
def wild(y0, k, length, share):
    """Whether forces differ so much between the stages k (s, n, 13) that over `length` [s] they would change a momentum
    in y0 (n, 13), or a link's velocity, by more than the `share` of its size and of what the first stage gives."""
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
    nothing = MOMENTUM_ROUNDING * (size[0] + size[1])
    return change[0] > share * size[0] + nothing or change[1] > share * size[1] + nothing
