"""The ledger: what changed the energy and the momenta of a run, account by account, every joule booked once.

A row is the work done on the bodies by one cause since the start [J], and the momentum [kg m/s] and angular momentum
about the world origin [kg m2/s] that it gave them. Methods book what they know, through `Books`; the rest of the change
of a step is numerical drift, so that the rows always add up to what there is now less what there was at the start:

    E - E_start = Σ rows

A kick, an impulse p at a point that moves with u before and after it, does the work p·(u⁻ + u⁺)/2: exactly, for the
kinetic energy is quadratic. Forces that act for a while are booked at the instants of a quadrature: at the stages of
the integrator with its own weights, or at the nodes of a rule over its dense output. Potential energy and the energy of
springs are part of E.

Bodies that joints hold to the ground take momentum from it through forces that no method needs to know. It is what is
left of their momentum's change when all that acts on them from outside is subtracted.
"""

import math
from enum import IntEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core.jit import helper, kernel
from ..core.model import Array, BodyKind, IntArray, JointType, Model, movable
from ..core.state import Bodies
from ..core.vec import add, cross, dot, norm, row, row4, scale, sub
from ..dynamics.constraints.reactions import Reactions, axis_force
from ..dynamics.forces import Loads, spring_end
from ..problem.assemble import surface_velocity
from .diagnostics import all_finite, energies, momenta


class Account(IntEnum):
    """Rows of `State.ledger`."""

    IMPACTS = 0    #: along the contact normals: what impacts take, and contacts and limits that close without rebound;
                   #: and what Newton's law with friction gives (Kane's paradox)
    FRICTION = 1
    SPRINGS = 2    #: energy: what dampers of springs and joints take; momentum: springs to bodies that do not move
    SURFACES = 3   #: energy: what compliant surfaces and their friction took; momenta: the couple of travelling dents
    LIMITS = 4     #: energy: what springy limits of joints took
    STORED = 5     #: what compliant surfaces and springy limits hold now, negative
    JOINTS = 6     #: energy: what motors of joints do; momenta: what joints give that hold to bodies that do not move
    MOUSE = 7
    APPLIED = 8    #: forces and torques put on bodies and joints
    DRIVEN = 9     #: bodies with a prescribed motion, and running surfaces
    GRAVITY = 10   #: momenta only: its energy is part of E
    CHANGED = 11   #: settings changed between steps: gravity, another method, ...
    DRIFT = 12     #: the rest: errors of the method, overlap taken out, what no method books
    START = 13     #: totals at the start
    TOTAL = 14     #: totals after the last step


(IMPACTS, FRICTION, SPRINGS, SURFACES, LIMITS, STORED, JOINTS, MOUSE, APPLIED, DRIVEN, GRAVITY, CHANGED, DRIFT, START,
 TOTAL) = (int(a) for a in Account)
TITLES: dict[Account, str] = {
    Account.IMPACTS: "Impacts", Account.FRICTION: "Friction", Account.SPRINGS: "Dampers",
    Account.SURFACES: "Soft surfaces", Account.LIMITS: "Soft limits", Account.STORED: "Held by surfaces",
    Account.JOINTS: "Joints and motors", Account.MOUSE: "Mouse", Account.APPLIED: "Applied forces",
    Account.DRIVEN: "Driven bodies", Account.GRAVITY: "Gravity", Account.CHANGED: "Settings changed",
    Account.DRIFT: "Numerical drift",
}
#: what they took turned into heat
TAKERS = (Account.IMPACTS, Account.FRICTION, Account.SPRINGS, Account.SURFACES, Account.LIMITS)
DYNAMIC, LINK = int(BodyKind.DYNAMIC), int(BodyKind.LINK)
NOTHING = (0.0, 0.0, 0.0)


# ------------------------------------------------------------------------------------------------- opening, closing
class Page(NamedTuple):
    """What closing the books of a step needs to know of its beginning."""

    booked: Array  #: (7,) sum of all rows
    total: Array   #: (7,)


def empty_page() -> Page:
    return Page(np.zeros(7), np.zeros(7))


@helper
def sum_up(model, state, total_out):
    """Energy, momentum and angular momentum of a state (7,)."""
    kinetic, potential, stored = energies(model, state.bodies, state.joints.q, state.joints.v)
    p, l = momenta(model, state.bodies)
    total_out[0] = kinetic + potential + stored
    for j in range(3):
        total_out[1 + j] = p[j]
        total_out[4 + j] = l[j]


@helper
def all_booked(ledger, j):
    """Column j of all that was ever booked."""
    total = 0.0
    for account in range(START):
        total += ledger[account, j]
    return total


@kernel
def start(model, state):
    """Begin the books of a state."""
    ledger = state.ledger
    ledger[:] = 0.0
    sum_up(model, state, ledger[START])
    sum_up(model, state, ledger[TOTAL])


@kernel
def open_step(model, state, page_out):
    """Before a step: what differs from the end of the last one is due to changed settings."""
    ledger, now = state.ledger, page_out.total
    sum_up(model, state, now)
    if state.surfaces.t[0] != state.t[0]:  # another method has been at work: what they held is lost
        ledger[CHANGED, 0] += ledger[STORED, 0]
        ledger[STORED, 0] = 0.0
    for j in range(len(now)):
        ledger[CHANGED, j] += now[j] - ledger[TOTAL, j]
        page_out.booked[j] = all_booked(ledger, j)


@kernel
def close_step(model, state, page):
    """After a step: what the method did not book is drift. Returns whether the motion is still finite."""
    ledger = state.ledger
    sum_up(model, state, ledger[TOTAL])
    for j in range(len(page.total)):
        ledger[DRIFT, j] += ledger[TOTAL, j] - page.total[j] - (all_booked(ledger, j) - page.booked[j])
    return all_finite(state.bodies)


# ------------------------------------------------------------------------------------------------- what methods enter
class Books:
    """What a method enters during a step. `given` (n, 6) is the momentum, and the angular momentum about the world
    origin, that each body got so far of everything but joints; (0, 6) where joints hold nothing to the ground, and so
    nobody asks for it, unless it is `asked` for; `before` (n, 6) or (0, 6) is what each had."""

    def __init__(self, model: Model, asked: bool = False) -> None:
        self.model, self._anchored = model, anchored_bodies(model)
        self._any = bool(self._anchored.any())
        self.given, self.before = np.zeros((2, len(model.kind) if self._any or asked else 0, 6))

    def begin(self, bodies: Bodies) -> None:
        """At the beginning of a step."""
        if len(self.given):
            momenta_of(bodies, self.before, self.given)

    def end(self, bodies: Bodies, ledger: Array) -> None:
        """When all else is booked: what joints to the ground gave."""
        if self._any:
            book_anchored(self._anchored, self.before, bodies, self.given, ledger)

    def forces(self, loads: Loads, at: Bodies, over: Bodies, weight: float, ledger: Array) -> None:
        """Gravity, applied forces and springs for the time `weight` [s]: forces at the poses and velocities `at`, their
        power at the velocities `over`."""
        book_forces(self.model, loads, at, over, weight, ledger, self.given)

    def joints(self, loads: Loads, v: Array, weight: float, ledger: Array) -> None:
        """Dampers and motors of trees and forces put on their joints for the time `weight` [s], at velocities v (n_v,)
        of the joints."""
        if len(v):
            book_joints(self.model, loads, v, weight, ledger)

    def held(self, reactions: Reactions, bodies: Bodies, weight: float, ledger: Array) -> None:
        """Joints in maximal coordinates, with the forces and velocities found last, for the time `weight` [s]: motors,
        dampers, and what ends with a prescribed motion put in."""
        if len(reactions.lam):
            book_held(self.model.kind, reactions, bodies, weight, ledger)

    def reactions(self, reactions: Reactions, impulse: Array, bodies: Bodies, ledger: Array) -> None:
        """Impulses (m,) of joints in maximal coordinates."""
        if len(impulse):
            book_reactions(self.model.kind, reactions, impulse, bodies, ledger)

    def contacts(
        self, over: Bodies, count: int, a: IntArray, b: IntArray, point: Array, normal: Array, impulse: Array,
        ledger: Array,
    ) -> None:
        """Impulses (c, 3) [N s] on bodies b at world points, a gets the opposite; velocities are those of `over`."""
        book_contacts(self.model, over, np.int64(count), a, b, point, normal, impulse, np.int64(0), ledger, self.given)

    def pull(self, body: int, impulse: Array, turn: Array, over: Bodies, ledger: Array) -> None:
        """The mouse: impulse (3,) [N s] at the centre of mass and angular impulse (3,) [N m s] about it."""
        book_pull(body, impulse, turn, over, ledger, self.given)


def anchored_bodies(model: Model) -> IntArray:
    """(n,) 1 for bodies that joints hold, directly or through others, to the world or to bodies that forces do not
    move. A free joint holds nothing."""
    joints, moving = model.joints, movable(model.kind)
    held = np.zeros(len(model.kind), np.int32)
    links: list[tuple[int, int]] = []
    for kind, parent, child in zip(joints.type.tolist(), joints.parent.tolist(), joints.child.tolist(), strict=True):
        if kind == JointType.FREE:
            continue
        if parent >= 0 and moving[parent] and moving[child]:
            links.append((parent, child))
        else:
            held[[i for i in (parent, child) if i >= 0 and moving[i]]] = 1
    spreads = True
    while spreads:
        spreads = False
        for pair in links:
            if held[pair[0]] != held[pair[1]]:
                held[list(pair)], spreads = 1, True
    return held


def jointed(model: Model) -> NDArray[np.bool_]:
    """Which bodies (n,) joints in maximal coordinates connect."""
    joints, found = model.joints, np.zeros(len(model.kind), bool)
    maximal = joints.generalized == 0
    found[joints.child[maximal]] = True
    found[joints.parent[maximal & (joints.parent >= 0)]] = True
    return found


@helper
def credit(ledger, account, energy, p, moment):
    """Add work, momentum and angular momentum to an account."""
    ledger[account, 0] += energy
    for j in range(3):
        ledger[account, 1 + j] += p[j]
        ledger[account, 4 + j] += moment[j]


@helper
def give(given, i, p, moment):
    if i < given.shape[0]:
        for j in range(3):
            given[i, j] += p[j]
            given[i, 3 + j] += moment[j]


@helper
def moves(kind, i):
    return i >= 0 and (kind[i] == DYNAMIC or kind[i] == LINK)


@kernel
def momenta_of(bodies, out, given_out):
    """Momentum and angular momentum about the world origin of every body (n, 6); nothing is given to them yet."""
    for i in range(len(out)):
        p = row(bodies.P, i)
        moment = add(row(bodies.L, i), cross(row(bodies.x, i), p))
        for j in range(3):
            out[i, j] = p[j]
            out[i, 3 + j] = moment[j]
            given_out[i, j] = 0.0
            given_out[i, 3 + j] = 0.0


@kernel
def book_anchored(anchored, before, bodies, given, ledger):
    """What the momenta of the bodies that joints hold to the ground changed by beyond what they were given."""
    for i in range(len(anchored)):
        if anchored[i] == 1:
            p = row(bodies.P, i)
            moment = add(row(bodies.L, i), cross(row(bodies.x, i), p))
            p = (p[0] - before[i, 0] - given[i, 0], p[1] - before[i, 1] - given[i, 1],
                 p[2] - before[i, 2] - given[i, 2])
            moment = (moment[0] - before[i, 3] - given[i, 3], moment[1] - before[i, 4] - given[i, 4],
                      moment[2] - before[i, 5] - given[i, 5])
            credit(ledger, JOINTS, 0.0, p, moment)


@helper
def add_forces(model, loads, at, over, weight, ledger, given):
    """See `Books.forces`. A spring of direction u (a to b) and length s pulls with f = k (s - s_0) + d ṡ; its damper
    takes d ṡ times the rate of s, and what holds a prescribed end does the rest."""
    kind, mass, force, torque = model.kind, model.mass, loads.force, loads.torque
    x_at, v_over, w_over = at.x, over.v, over.w
    gravity = (model.gravity[0], model.gravity[1], model.gravity[2])
    fallen, fallen_moment, pushed, pushed_moment, work = NOTHING, NOTHING, NOTHING, NOTHING, 0.0
    for i in range(len(kind)):
        if kind[i] == DYNAMIC or kind[i] == LINK:
            x = row(x_at, i)
            p = scale(weight * mass[i], gravity)
            fallen, fallen_moment = add(fallen, p), add(fallen_moment, cross(x, p))
            f, turn = scale(weight, row(force, i)), scale(weight, row(torque, i))
            moment = add(turn, cross(x, f))
            work += dot(f, row(v_over, i)) + dot(turn, row(w_over, i))
            pushed, pushed_moment = add(pushed, f), add(pushed_moment, moment)
            give(given, i, add(p, f), add(moment, cross(x, p)))
    credit(ledger, GRAVITY, 0.0, fallen, fallen_moment)
    credit(ledger, APPLIED, work, pushed, pushed_moment)
    springs = model.springs
    for k in range(len(springs.body_a)):
        a, b = int(springs.body_a[k]), int(springs.body_b[k])
        p_a, v_a = spring_end(a, row(springs.anchor_a, k), at)
        p_b, v_b = spring_end(b, row(springs.anchor_b, k), at)
        s = norm(sub(p_b, p_a))
        if s == 0.0:
            continue
        u = scale(1.0 / s, sub(p_b, p_a))
        damper = springs.damping[k] * dot(u, sub(v_b, v_a))
        pull = scale(weight * (springs.stiffness[k] * (s - springs.length[k]) + damper), u)
        _, v_a = spring_end(a, row(springs.anchor_a, k), over)
        _, v_b = spring_end(b, row(springs.anchor_b, k), over)
        credit(ledger, SPRINGS, min(0.0, -weight * damper * dot(u, sub(v_b, v_a))), NOTHING, NOTHING)
        for end in range(2):
            i = a if end == 0 else b
            f, point, v = (pull, p_a, v_a) if end == 0 else (scale(-1.0, pull), p_b, v_b)
            if moves(kind, i):
                credit(ledger, SPRINGS, 0.0, f, cross(point, f))
                give(given, i, f, cross(point, f))
            else:
                credit(ledger, DRIVEN, -dot(f, v), NOTHING, NOTHING)


@kernel
def book_forces(model, loads, at, over, weight, ledger, given):
    add_forces(model, loads, at, over, weight, ledger, given)


@helper
def add_joints(model, loads, v, weight, ledger):
    """See `Books.joints`."""
    trees, joints = model.trees, model.joints
    for d in range(len(v)):
        l = int(trees.dof_link[d])
        j = int(trees.joint[l])
        ledger[SPRINGS, 0] -= weight * joints.damping[j] * v[d] * v[d]
        if trees.first_v[l + 1] - trees.first_v[l] == 1:
            ledger[JOINTS, 0] += weight * joints.motor_force[j] * v[d]
        if d < len(loads.joint):
            ledger[APPLIED, 0] += weight * loads.joint[d] * v[d]


@kernel
def book_joints(model, loads, v, weight, ledger):
    add_joints(model, loads, v, weight, ledger)


@helper
def drive_ends(kind, rows, J, r, f, bodies, ledger):
    """What ends with a prescribed motion do against the impulse f of row r."""
    for side in range(2):
        i = int(rows.a[r]) if side == 0 else int(rows.b[r])
        if i >= 0 and not moves(kind, i):
            rate = 0.0
            for k in range(3):
                rate += J[r, 6 * side + k] * bodies.v[i, k] + J[r, 6 * side + 3 + k] * bodies.w[i, k]
            credit(ledger, DRIVEN, -f * rate, NOTHING, NOTHING)


@helper
def add_reactions(kind, reactions, lam, bodies, weight, ledger):
    """Enter impulses weight · lam (m,) of joints in maximal coordinates: motors that seek a speed work, with a limit
    also while they do not have it."""
    for r in range(len(lam)):
        ledger[JOINTS, 0] += weight * lam[r] * (reactions.u[r] if reactions.limit[r] < math.inf else reactions.seek[r])
        drive_ends(kind, reactions.rows, reactions.J, r, weight * lam[r], bodies, ledger)


@helper
def add_held(kind, reactions, bodies, weight, ledger):
    """See `Books.held`."""
    add_reactions(kind, reactions, reactions.lam, bodies, weight, ledger)
    for r in range(len(reactions.motor) if len(reactions.lam) > 0 else 0):
        u = reactions.axis_u[r]
        ledger[SPRINGS, 0] -= weight * reactions.damping[r] * u * u
        ledger[JOINTS, 0] += weight * reactions.motor[r] * u
        drive_ends(kind, reactions.axes, reactions.axis_J, r, weight * axis_force(reactions, r), bodies, ledger)


@kernel
def book_reactions(kind, held, lam, bodies, ledger):
    add_reactions(kind, held, lam, bodies, 1.0, ledger)


@kernel
def book_held(kind, held, bodies, weight, ledger):
    add_held(kind, held, bodies, weight, ledger)


@helper
def add_contact(kind, belt_v, belt_w, x, q, v, w, a, b, point, n, p, soft, ledger, given):
    """Enter one contact's impulse p on body b; belt_v and belt_w are those of Motions, x … w of the bodies.

    p·u with u the slip of the surfaces over each other is what the contact itself takes, or a compliant surface
    (soft = 1); the rest of p·(v_b - v_a) over bodies that move comes from what drives the others and the belts.
    Friction whose force lags behind a slip that turns within the step would seem to give energy: that is left to drift.
    """
    arm_a, arm_b = sub(point, row(x, a)), sub(point, row(x, b))
    v_a, v_b = add(row(v, a), cross(row(w, a), arm_a)), add(row(v, b), cross(row(w, b), arm_b))
    belt_a = surface_velocity(belt_v, belt_w, a, row4(q, a), arm_a)
    belt_b = surface_velocity(belt_v, belt_w, b, row4(q, b), arm_b)
    slip = sub(add(v_b, belt_b), add(v_a, belt_a))
    along = scale(dot(p, n), n)
    across = sub(p, along)
    work = 0.0
    sign = 0.0
    if moves(kind, b):
        work += dot(p, v_b)
        sign += 1.0
        give(given, b, p, cross(point, p))
    if moves(kind, a):
        work -= dot(p, v_a)
        sign -= 1.0
        give(given, a, scale(-1.0, p), scale(-1.0, cross(point, p)))
    pressed, rubbed = (0.0, 0.0) if soft == 1 else (dot(along, slip), min(dot(across, slip), 0.0))
    credit(ledger, IMPACTS, pressed, scale(sign, along), scale(sign, cross(point, along)))
    credit(ledger, FRICTION, rubbed, scale(sign, across), scale(sign, cross(point, across)))
    credit(ledger, DRIVEN, work - dot(p, slip), NOTHING, NOTHING)


@kernel
def book_contacts(model, over, count, body_a, body_b, point, normal, impulse, soft, ledger, given):
    """See `Books.contacts`."""
    kind, belt_v, belt_w = model.kind, model.motions.surface_velocity, model.motions.surface_spin
    x, q, v, w = over.x, over.q, over.v, over.w
    for k in range(count):
        add_contact(kind, belt_v, belt_w, x, q, v, w, int(body_a[k]), int(body_b[k]), row(point, k), row(normal, k),
                    row(impulse, k), soft, ledger, given)


@kernel
def book_pull(body, impulse, turn, over, ledger, given):
    """See `Books.pull`."""
    p, moment = (impulse[0], impulse[1], impulse[2]), (turn[0], turn[1], turn[2])
    work = dot(p, row(over.v, body)) + dot(moment, row(over.w, body))
    moment = add(moment, cross(row(over.x, body), p))
    credit(ledger, MOUSE, work, p, moment)
    give(given, body, p, moment)
