"""How long the pieces of a step may be.

Steps of fixed length that constraint forces lead astray are halved. Close to singular positions of linkages, and where
sliding friction jams, the constraint forces of a step's stages grow without bound, and the step makes any speed and any
energy. An integrator with error control sees that and takes many short steps. For the others, the signs looked for here
are forces that differ widely between the stages, joints that come apart, and contacts of the set that move along their
rows at the end: limbs that slide on rims gained two per cent of their energy in a step whose contacts ended at 1/70 of
their speed.

Nor are they longer than what keeps dampers and springs of joints stable: a damper of 1 N m s on a wrist of 2e-4 kg m2
slows it at 5000/s.

Steps whose error is controlled are not made shorter than rounding allows. A place is known to ε (|x| + size), and so
are gaps. Where contacts are close together or a heavy body stands on a light one, forces and rates follow from
differences of such numbers. What rounding changes in the rates is no error that shorter steps make smaller.
"""

import math

import numpy as np

from ...books.diagnostics import energies, measure
from ...core.jit import helper, kernel, program
from ...core.model import Array
from ...core.state import Bodies
from ...core.vec import norm, row
from ...dynamics.constraints.cure import JointKeeper
from ...dynamics.constraints.stiffness import JointRates
from ...dynamics.trees.rates import combine_links, link_error
from ...integrators import Integrator
from ...integrators.stepper import SMALLEST_SUBSTEP, combine, local_error, step_factor
from ..compliant.stability import stable_step
from .piece import BEGIN, LENGTH, Piece, go
from .rates import STEP, constrained_rates, equations_here
from .tolerances import RESTS

STABLE_SHARE = 0.5    # of the longest stable piece that is made
MANY_SUBSTEPS = 4000  # of one step without event, as stiff springs ask for too
#: by how much the stages' forces may change a momentum, relative to its size; a turn of ω h changes one by some (ω h)²
WILD = 0.5        # with joints in maximal coordinates
RUNAWAY = 4.0     # where contacts are all that constrains
GAIN = 1e-3       # energy that a piece may gain by its error, relative to the kinetic one,
HELD_GAIN = 1e-8  # and where contacts are held to the end of the step, as long as the piece is
HELD_LEAST = 1.0 / 64.0  # of the step or longer, like one whose contacts stray
STRAY = 1e-3      # velocity in kept rows that a piece may end with, relative to the bodies that touch
NEAR_STATES = 7   # looked at to see what rounding does to the rates,
NEAR = 1e-9       # and how close they follow each other, relative to the step: the slowest slip turns in some 1e-9 s,
SCATTER = 4.0     # and by how much rounding may do more than is seen in these
EPS = 2.0**-52
MOMENTUM_ROUNDING = 1e-9  # change of a momentum that is none, relative to all momenta


def least_substep(done: int, h: float) -> float:
    """Length of a substep that is accepted whatever its error, after so many without event in a step of h [s]."""
    return h * SMALLEST_SUBSTEP if done < MANY_SUBSTEPS else h / MANY_SUBSTEPS


def stable_length(integrator: Integrator, rates: JointRates, bodies: Bodies, q: Array) -> float:
    """The longest piece [s] at these poses and positions q (n_q,) of joints that keeps their springs and dampers
    stable, where the error is not controlled."""
    return math.inf if integrator.adaptive else STABLE_SHARE * stable_step(integrator, *rates(bodies, q))


def gains(piece: Piece, share: float = GAIN) -> bool:
    """Whether a piece gains more energy than this share of the kinetic one: no error of the integrator's."""
    model = piece.start.model
    start, _ = measure(model, piece.start.bodies, piece.start.joints)
    end, _ = measure(model, piece.end, piece.end_joints)
    return end.total - start.total > share * start.kinetic


def gains_held(piece: Piece, h: float) -> bool:
    """Whether contacts that are held make a piece of a step of h [s] gain energy that halves of it would not: their
    forces may vary much where contacts and limits come close to depend on each other."""
    held = piece.chosen.fixed[: piece.chosen.count[0]].any() and piece.span[LENGTH] > HELD_LEAST * h
    return bool(held) and gains(piece, HELD_GAIN)


def longer(error: float, integrator: Integrator) -> float:
    """By which factor to change the length of a step with this local error, in parts of what is allowed; halves where
    errors are not known."""
    if not integrator.adaptive:
        return 0.5
    return step_factor(error, integrator.order)


@program
def rounding_rate(piece):
    """The local error [1/s], relative as TOLERANCE says, that rounding may give a step of the piece per second of its
    length: |Σ_i e_i δ_i| is about |e| |δ| for independent errors δ of the stages' rates.

    δ is seen in differences of rates at states that follow each other closely, where all that is smooth has vanished:
    δ² = Σ (Δ⁴ k)²/(70 · their number) [Moré & Wild 2011]. The states are also rounded, each in its own way."""
    start, y0, tableau, step = piece.start, piece.y0, piece.tableau, NEAR * piece.start.clock[STEP]
    model, stage, trees = start.model, start.scratch.bodies, start.scratch.equations.trees
    k, change, one = np.zeros((NEAR_STATES, len(y0), 13)), np.zeros((1, len(y0), 13)), np.ones(1)
    for s in range(NEAR_STATES):
        for i in range(len(y0)):
            place = piece.search.radius[i] + max(abs(y0[i, 0]), max(abs(y0[i, 1]), abs(y0[i, 2])))
            for c in range(13):
                size = place if c < 3 else max(1.0, abs(y0[i, c])) if c < 7 else abs(y0[i, c])
                change[0, i, c] = s * step * k[0, i, c] + EPS * size * math.sin(s * (1.0 + 13.0 * i + c))
        combine(model.kind, one, one, 1, 1.0, y0, change, stage)
        combine_links(model.trees, one, one, 1, 1.0, y0, change, trees.q, trees.v)
        constrained_rates(start, piece.chosen, piece.span[BEGIN] + s * step, stage, k[s])
    for i in range(len(y0)):
        for c in range(13):
            seen = 0.0
            for s in range(NEAR_STATES - 4):
                fourth = k[s, i, c] + 6.0 * k[s + 2, i, c] + k[s + 4, i, c] - 4.0 * (k[s + 1, i, c] + k[s + 3, i, c])
                seen += fourth * fourth / (70.0 * (NEAR_STATES - 4))
            k[0, i, c] = math.sqrt(seen)
    weight = np.array([math.sqrt((tableau.error * tableau.error).sum())])
    return max(local_error(model, weight, 1.0, y0, k), link_error(model.trees, weight, 1.0, y0, k))


def astray(keeper: JointKeeper, piece: Piece, h: float) -> bool:
    """Whether a piece of fixed length, of a step of h [s], should be taken in halves."""
    length, touches = float(piece.span[LENGTH]), bool(piece.chosen.count[0] > 0)
    if keeper.any:
        led = wild(piece.y0, piece.k, length, WILD) or keeper.torn(piece.start.bodies, piece.end)
    else:
        led = touches and wild(piece.y0, piece.k, length, RUNAWAY)
    return bool(led) or (touches and length > HELD_LEAST * h and bool(strays(piece, STRAY) or gains_on_flat(piece)))


@program
def gains_on_flat(piece):
    """Whether a piece gains energy while it touches with a boxy superellipsoid. On the flat places of that the radius
    of curvature is infinite, and the force that carries what turns there, too: it grows without bound towards an
    instant within the piece or at its start, of which a step of fixed length knows no more than a stage."""
    start, joints, ends = piece.start, piece.start.joints, piece.end_joints
    if not touches_flat(start.surface, piece.chosen, 1.0):
        return False
    kinetic, potential, stored = energies(start.model, start.bodies, joints.q, joints.v)
    kinetic_after, potential_after, stored_after = energies(start.model, piece.end, ends.q, ends.v)
    gained = kinetic_after + potential_after + stored_after - kinetic - potential - stored
    return gained > HELD_GAIN * max(kinetic, kinetic_after)


@helper
def touches_flat(surface, chosen, below):
    """Whether a contact of the set is one of a superellipsoid with an exponent below this."""
    exponents, flat = surface.exponents, False
    n = exponents.shape[0]
    for k in range(chosen.count[0]):
        if chosen.pair[k] < n * n:
            e, f = chosen.pair[k] // n, chosen.pair[k] % n
            flat = flat or min(exponents[e, 0], exponents[e, 1], exponents[f, 0], exponents[f, 1]) < below
    return flat


@program
def strays(piece, share):
    """Whether contacts of the set end the piece with velocities in their kept rows that are more than rounding: more
    than this share of the bodies' velocities."""
    go(piece, 1.0)
    equations_here(piece.at, piece.chosen.pair, np.int64(piece.chosen.count[0]), np.int64(0))
    return has_strayed(piece.at, piece.chosen, share)


@helper
def has_strayed(at, chosen, share):
    """The same, where the equations at the end were written last."""
    eq, witness, mass = at.scratch.equations, at.scratch.witness, at.model.mass
    most, fastest = 0.0, 0.0
    for j in range(chosen.rows[0]):
        most = max(most, abs(eq.u[chosen.row[j]]))
    for k in range(chosen.count[0]):
        for i in (witness.body_a[k], witness.body_b[k]):
            if mass[i] > 0.0:
                fastest = max(fastest, norm(row(at.bodies.P, i)) / mass[i])
    return most > share * fastest + RESTS


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
