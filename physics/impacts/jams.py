"""Impacts without collision: of contacts at rest where accelerations have no solution, or several.

Blocks of three rows are those of contacts and of what they bear, the moments against spinning and rolling, see
`problem.turning_rows`. A contact jams where its friction and moments press it into the other body by more than its
normal force separates them. With s and w the directions in which they slide and turn,

    n·M(n - μ s - Σ ℓ w) < 0                         [Painlevé 1895; of friction alone: Génot & Brogliato 1999]

Then its impulse grows in no time, until slip or turning stop and the contact does not close any more.
"""

import numpy as np

from ..core.model import Array, BoolArray
from ..solvers.borne_friction import Numbers, sharpened_from
from ..solvers.least_forces import least
from .impact_laws import rub

FIRST = 1e-6      # of the impulse that would stop a contact: one that stops nothing yet
DOUBLINGS = 60    # of it, at most
HALVINGS = 60     # of the interval in which the impulse is
DRAWN = 1e-9      # of n·M n: how far below 0 the sum above is at a jam; less is rounding


def impact_without_collision(
    M: Array, zeta: Array, slides: BoolArray, slip: Array, friction: Array, bearer: Numbers
) -> Array:
    """Impulses (3c,) where accelerations have no solution or several; slides (c,) and slip (c, 2), unit vectors, of
    blocks with these friction coefficients and bearers (c,). The contact that is pressed most into the other body jams.
    Where it bears nothing both its ζ and its slip vanish, by the least impulse where the body cannot move every way:
    friction is strong enough for that in Painlevé's paradox. With moments see `jammed`."""
    contacts = np.flatnonzero(bearer == np.arange(len(bearer)))
    stiff, impulse, blocks = np.full(len(bearer), np.inf), np.zeros_like(zeta), {}
    for k in contacts.tolist():
        members = np.flatnonzero(bearer == k)
        if not slides[members].any():
            continue
        if len(members) > 1:
            rows = (3 * members[:, None] + np.arange(3)).ravel()
            blocks[k] = rows
            u, own = zeta[rows], float(M[3 * k, 3 * k])
            first = FIRST * float(np.abs(u).max()) / own
            stiff[k] = (_pressed(M[np.ix_(rows, rows)], u, friction[members], first)[1][0] - u[0]) / (first * own)
        else:
            stiff[k] = 1.0 - friction[k] * M[3 * k, 3 * k + 1 : 3 * k + 3] @ slip[k] / M[3 * k, 3 * k]
    k = int(np.argmin(stiff))
    if k in blocks:
        rows = blocks[k]
        if stiff[k] < -DRAWN:
            impulse[rows] = jammed(M[np.ix_(rows, rows)], zeta[rows], friction[bearer == k])
    else:
        rows = np.arange(3 * k, 3 * k + 3)
        impulse[rows] = least(M[np.ix_(rows, rows)], -zeta[rows])
    return impulse if impulse[3 * k] >= 0.0 else np.zeros_like(zeta)


def jammed(M: Array, zeta: Array, friction: Array) -> Array:
    """The impulse of a contact that jams, and of what it bears, blocks after it: of M, ζ⁻ and μ of these alone. Its
    friction and moments obey their laws at the end of the impact, where ζ⁺ = ζ⁻.

    At a normal impulse p they are determined, and with them ζ⁺(p). It falls first, as the contact is pressed; once
    nothing slides or turns any more it grows by 1/(M⁻¹)_nn. So it comes back to where it was."""
    def closes(p: float) -> float:
        """ζ⁺(p) - ζ⁻ [m/s]."""
        return float(_pressed(M, zeta, friction, p)[1][0] - zeta[0])

    low = FIRST * float(np.abs(zeta).max()) / float(M[0, 0])
    high = 2.0 * low
    for _ in range(DOUBLINGS):
        if closes(high) >= 0.0:
            break
        low, high = high, 2.0 * high
    else:
        return np.zeros_like(zeta)
    at_low, at_high, side = closes(low), closes(high), 0
    for _ in range(HALVINGS):  # the Illinois method: a step or two where ζ⁺ is linear [Dowell & Jarratt 1971]
        middle = (low * at_high - high * at_low) / (at_high - at_low)
        value = closes(middle)
        if value == 0.0 or not low < middle < high:
            break
        if value < 0.0:
            low, at_low = middle, value
            at_high *= 0.5 if side < 0 else 1.0
            side = -1
        else:
            high, at_high = middle, value
            at_low *= 0.5 if side > 0 else 1.0
            side = 1
    aimed = zeta.copy()
    aimed[0] = 0.0
    return sharpened_from(M, aimed, friction, np.zeros(len(friction), np.intp), _pressed(M, zeta, friction, middle)[0])


def _pressed(M: Array, zeta: Array, friction: Array, p: float) -> tuple[Array, Array]:
    """The impulses at a normal impulse p of the first block, friction and moments within μ p, and the velocities after
    it."""
    given = np.zeros_like(zeta)
    given[0] = p
    given += rub(M, zeta + M @ given, friction * p)
    return given, zeta + M @ given
