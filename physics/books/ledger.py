"""The ledger: what changed the energy and the momenta of a run, by cause; every joule is booked once.

A row is an account: the work that one cause did on the bodies since the start [J], and the momentum [kg m/s] and the
angular momentum about the world origin [kg m2/s] that it gave them. Methods book the causes they know, through `Books`.
The rest of the change of a step is numerical drift. So the rows always add up to the change since the start:

    E - E_start = Σ rows

An impulse p at a point that moves with u⁻ before it and u⁺ after it does the work p·(u⁻ + u⁺)/2. This is exact, since
the kinetic energy is quadratic. Forces are booked by a quadrature over the step, Σ_k w_k f(t_k)·u(t_k). Its nodes are
the stages of the integrator with the integrator's own weights, the nodes of a rule over its dense output, or the middle
of the step. Potential energy and the energy of springs are part of E.

Joints that hold bodies to the ground give them momentum by reactions that not every method computes. This momentum is
the change of momentum of these bodies less all that acts on them from outside.
"""

import math
from enum import IntEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core.jit import helper, kernel
from ..core.model import DYNAMIC, LINK, Array, IntArray, JointType, Model, movable
from ..core.state import Bodies
from ..core.vec import add, cross, dot, norm, row, row4, scale, sub
from ..dynamics.constraints.reactions import Reactions, axis_force
from ..dynamics.forces import Loads, spring_end
from ..dynamics.motion import moves
from ..problem.assemble import surface_velocity
from ..problem.moments import running_spin
from .diagnostics import all_finite, contacts_finite, energies, momenta


class Account(IntEnum):
    """Rows of `State.ledger`."""

    IMPACTS = 0    #: normal impulses of contacts that hit, with or without rebound; impulses at limits; and the energy
                   #: that Newton's law of impact with friction may give (Kane's paradox)
    CONTACTS = 1   #: normal forces over time of contacts that rest, slide or roll, and of compliant surfaces
    FRICTION = 2   #: impulses in the tangent planes of contacts, in impacts and over time
    SPRINGS = 3    #: energy: dampers of springs and joints; momenta: springs to bodies that forces do not move
    SURFACES = 4   #: energy: damping and friction of compliant surfaces; momenta: the couple of travelling dents
    LIMITS = 5     #: energy: damping of springy limits of joints
    STORED = 6     #: minus the energy that compliant surfaces and springy limits hold now
    JOINTS = 7     #: energy: motors of joints; momenta: joints to the world and to bodies that forces do not move
    MOUSE = 8      #: the spring of the mouse
    APPLIED = 9    #: forces and torques put on bodies and joints
    DRIVEN = 10    #: bodies with a prescribed motion, and running surfaces
    GRAVITY = 11   #: momenta only: its energy is part of E
    CHANGED = 12   #: settings changed between steps: gravity, another method, ...
    DRIFT = 13     #: the rest: errors of the method, correction of overlap, what no method books
    START = 14     #: totals at the start
    TOTAL = 15     #: totals after the last step


(IMPACTS, CONTACTS, FRICTION, SPRINGS, SURFACES, LIMITS, STORED, JOINTS, MOUSE, APPLIED, DRIVEN, GRAVITY, CHANGED,
 DRIFT, START, TOTAL) = (int(a) for a in Account)
TITLES: dict[Account, str] = {
    Account.IMPACTS: "Impacts", Account.CONTACTS: "Normal forces", Account.FRICTION: "Friction",
    Account.SPRINGS: "Dampers",
    Account.SURFACES: "Soft surfaces", Account.LIMITS: "Soft limits", Account.STORED: "Held by surfaces",
    Account.JOINTS: "Joints and motors", Account.MOUSE: "Mouse", Account.APPLIED: "Applied forces",
    Account.DRIVEN: "Driven bodies", Account.GRAVITY: "Gravity", Account.CHANGED: "Settings changed",
    Account.DRIFT: "Numerical drift",
}
#: accounts whose work is dissipated
TAKERS = (Account.IMPACTS, Account.CONTACTS, Account.FRICTION, Account.SPRINGS, Account.SURFACES, Account.LIMITS)
NOTHING = (0.0, 0.0, 0.0)


# ------------------------------------------------------------------------------------------------- opening, closing
class Page(NamedTuple):
    """What `close_step` needs of the beginning of the step; (7,) as the columns of LEDGER."""

    booked: Array  #: (7,) sum of all rows
    total: Array   #: (7,) energy, momentum and angular momentum of the state


def empty_page() -> Page:
    return Page(np.zeros(7), np.zeros(7))


@helper
def sum_up(model, state, total_out):
    """Energy [J], momentum [kg m/s] and angular momentum about the world origin [kg m2/s] of a state (7,)."""
    kinetic, potential, stored = energies(model, state.bodies, state.joints.q, state.joints.v)
    p, l = momenta(model, state.bodies)
    total_out[0] = kinetic + potential + stored
    for j in range(3):
        total_out[1 + j] = p[j]
        total_out[4 + j] = l[j]


@helper
def all_booked(ledger, j):
    """Sum of column j over all accounts."""
    total = 0.0
    for account in range(START):
        total += ledger[account, j]
    return total


@kernel
def start(model, state):
    """Begin the ledger of a state."""
    ledger = state.ledger
    ledger[:] = 0.0
    sum_up(model, state, ledger[START])
    sum_up(model, state, ledger[TOTAL])


@kernel
def open_step(model, state, page_out):
    """Before a step: a change of the totals since the end of the last step is due to changed settings."""
    ledger, now = state.ledger, page_out.total
    sum_up(model, state, now)
    if state.surfaces.t[0] != state.t[0]:  # another method made the last step: the energy of the surfaces is lost
        ledger[CHANGED, 0] += ledger[STORED, 0]
        ledger[STORED, 0] = 0.0
    for j in range(len(now)):
        ledger[CHANGED, j] += now[j] - ledger[TOTAL, j]
        page_out.booked[j] = all_booked(ledger, j)


@kernel
def close_step(model, state, contacts, page):
    """After a step: the change that the method did not book is drift. Returns whether the motion, its totals and the
    contacts of the step are finite."""
    ledger = state.ledger
    sum_up(model, state, ledger[TOTAL])
    for j in range(len(page.total)):
        ledger[DRIFT, j] += ledger[TOTAL, j] - page.total[j] - (all_booked(ledger, j) - page.booked[j])
    total = 0.0
    for j in range(len(page.total)):
        total += ledger[TOTAL, j]
    return all_finite(state.bodies) and contacts_finite(contacts) and math.isfinite(total)


# ------------------------------------------------------------------------------------------------- what methods enter
class Books:
    """What a method enters during a step.

    `given` (n, 6): momentum and angular momentum about the world origin that each body got so far from everything but
    joints. `before` (n, 6): what each body had at the beginning. Both have no rows where no joint holds a body to the
    ground, unless the caller asked for them. `anchored` (n,): see `anchored_bodies`.
    """

    def __init__(self, model: Model, asked: bool = False) -> None:
        self.model, self.anchored = model, anchored_bodies(model)
        self._any = bool(self.anchored.any())
        self.given, self.before = np.zeros((2, len(model.kind) if self._any or asked else 0, 6))

    def begin(self, bodies: Bodies) -> None:
        """Call at the beginning of a step: note the momenta of the bodies."""
        if len(self.given):
            momenta_of(bodies, self.before, self.given)

    def end(self, bodies: Bodies, ledger: Array) -> None:
        """Call when all else is booked: enter the momentum from joints to the ground."""
        if self._any:
            book_anchored(self.anchored, self.before, bodies, self.given, ledger)

    def forces(self, loads: Loads, at: Bodies, over: Bodies, weight: float, ledger: Array) -> None:
        """Gravity, applied forces and springs over `weight` seconds: forces at the poses and velocities `at`, their
        power at the velocities `over`."""
        book_forces(self.model, loads, at, over, weight, ledger, self.given)

    def joints(self, loads: Loads, v: Array, weight: float, ledger: Array) -> None:
        """Dampers and motors of trees and forces put on their joints over `weight` seconds, at the joint velocities v
        (n_v,)."""
        if len(v):
            book_joints(self.model, loads, v, weight, ledger)

    def reactions(self, reactions: Reactions, impulse: Array, bodies: Bodies, ledger: Array) -> None:
        """Impulses (m,) [N s] or [N m s] of joints in maximal coordinates."""
        if len(impulse):
            book_reactions(self.model.kind, reactions, impulse, bodies, ledger)


def anchored_bodies(model: Model) -> IntArray:
    """(n,) 1 for bodies that joints connect, directly or through other bodies, to the world or to bodies that forces do
    not move. A free joint connects nothing."""
    joints, moving = model.joints, movable(model.kind)
    anchored = np.zeros(len(model.kind), np.int32)
    links: list[tuple[int, int]] = []
    for kind, parent, child in zip(joints.type.tolist(), joints.parent.tolist(), joints.child.tolist(), strict=True):
        if kind == JointType.FREE:
            continue
        if parent >= 0 and moving[parent] and moving[child]:
            links.append((parent, child))
        else:
            anchored[[i for i in (parent, child) if i >= 0 and moving[i]]] = 1
    spreads = True
    while spreads:
        spreads = False
        for pair in links:
            if anchored[pair[0]] != anchored[pair[1]]:
                anchored[list(pair)], spreads = 1, True
    return anchored


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
    """Add momentum and angular momentum to what body i got, where that is recorded."""
    if i < given.shape[0]:
        for j in range(3):
            given[i, j] += p[j]
            given[i, 3 + j] += moment[j]


@kernel
def momenta_of(bodies, out, given_out):
    """Write the momentum and angular momentum about the world origin of every body (n, 6), and 0 to given_out."""
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
    """Enter the change of momenta of the anchored bodies less what they were given."""
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
    """See `Books.forces`. A spring of direction u (from a to b) and length s pulls with f = k (s - s_0) + d ṡ. Its
    damper takes the power d ṡ², with one factor ṡ at the velocities `over`. An end that forces do not move drives the
    spring."""
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
    """See `Books.forces`."""
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
    """See `Books.joints`."""
    add_joints(model, loads, v, weight, ledger)


@helper
def drive_ends(kind, rows, J, r, f, bodies, ledger):
    """Enter the work of ends that forces do not move against the impulse f of row r."""
    for side in range(2):
        i = int(rows.a[r]) if side == 0 else int(rows.b[r])
        if i >= 0 and not moves(kind, i):
            rate = 0.0
            for k in range(3):
                rate += J[r, 6 * side + k] * bodies.v[i, k] + J[r, 6 * side + 3 + k] * bodies.w[i, k]
            credit(ledger, DRIVEN, -f * rate, NOTHING, NOTHING)


@helper
def add_reactions(kind, reactions, lam, bodies, weight, ledger):
    """Enter impulses weight · lam (m,) of joints in maximal coordinates. A motor that seeks a speed works at the speed
    sought; one with a limit of force at its speed u, which may differ."""
    for r in range(len(lam)):
        ledger[JOINTS, 0] += weight * lam[r] * (reactions.u[r] if reactions.limit[r] < math.inf else reactions.seek[r])
        drive_ends(kind, reactions.rows, reactions.J, r, weight * lam[r], bodies, ledger)


@helper
def add_axes(kind, reactions, bodies, weight, ledger):
    """Enter the reactions of joints in maximal coordinates, with the forces and velocities found last, over `weight`
    seconds: motors, dampers, and the work of ends that forces do not move."""
    add_reactions(kind, reactions, reactions.lam, bodies, weight, ledger)
    for r in range(len(reactions.motor) if len(reactions.lam) > 0 else 0):
        u = reactions.axis_u[r]
        ledger[SPRINGS, 0] -= weight * reactions.damping[r] * u * u
        ledger[JOINTS, 0] += weight * reactions.motor[r] * u
        drive_ends(kind, reactions.axes, reactions.axis_J, r, weight * axis_force(reactions, r), bodies, ledger)


@helper
def add_node(model, loads, bodies, joint_v, reactions, weight, ledger, given):
    """Enter one node of the quadrature with its weight [s]: gravity, applied forces and springs; dampers, motors and
    forces on the joints of trees, at velocities joint_v (n_v,); joints in maximal coordinates. Contacts and the mouse
    are entered by `add_contact` and `add_pull`, for each method knows their forces in its own form."""
    add_forces(model, loads, bodies, bodies, weight, ledger, given)
    if len(joint_v) > 0:
        add_joints(model, loads, joint_v, weight, ledger)
    if len(reactions.lam) > 0:
        add_axes(model.kind, reactions, bodies, weight, ledger)


@kernel
def book_reactions(kind, reactions, lam, bodies, ledger):
    """See `Books.reactions`."""
    add_reactions(kind, reactions, lam, bodies, 1.0, ledger)


@helper
def contact_work(model, bodies, a, b, point, n, p, given):
    """What the impulse p of one contact on body b does at the poses and velocities `bodies`: its parts along the normal
    n and across it; what the contact takes by each, p·u, where u is the relative velocity of the surfaces; the rest of
    the work on bodies that forces move, p·v_b - p·v_a, which is that of bodies with a prescribed motion and of running
    surfaces; and how often these bodies get the impulse together: 1 for b alone, -1 for a alone, 0 for both.

    Where the slip turns within the step, friction may seem to give energy: callers leave that part to drift.
    """
    kind, q, v, w = model.kind, bodies.q, bodies.v, bodies.w
    belt_v, belt_w = model.motions.surface_velocity, model.motions.surface_spin
    arm_a, arm_b = sub(point, row(bodies.x, a)), sub(point, row(bodies.x, b))
    v_a, v_b = add(row(v, a), cross(row(w, a), arm_a)), add(row(v, b), cross(row(w, b), arm_b))
    belt_a = surface_velocity(belt_v, belt_w, a, row4(q, a), arm_a)
    belt_b = surface_velocity(belt_v, belt_w, b, row4(q, b), arm_b)
    slip = sub(add(v_b, belt_b), add(v_a, belt_a))
    along = scale(dot(p, n), n)
    across = sub(p, along)
    work, sign = 0.0, 0.0
    if moves(kind, b):
        work += dot(p, v_b)
        sign += 1.0
        give(given, b, p, cross(point, p))
    if moves(kind, a):
        work -= dot(p, v_a)
        sign -= 1.0
        give(given, a, scale(-1.0, p), scale(-1.0, cross(point, p)))
    return along, across, dot(along, slip), dot(across, slip), work - dot(p, slip), sign


@helper
def add_contact(model, bodies, a, b, point, n, p, account, ledger, given):
    """Enter the impulse p of one contact on body b at the poses and velocities `bodies`, see `contact_work`. account:
    IMPACTS or CONTACTS, for its part along the normal n; SURFACES for that of compliant surfaces, which book elsewhere
    what they take. Returns the work that friction seems to give, which is left to drift."""
    along, across, pressed, rubbed, driven, sign = contact_work(model, bodies, a, b, point, n, p, given)
    if account == SURFACES:
        account, pressed, rubbed = CONTACTS, 0.0, 0.0
    credit(ledger, account, pressed, scale(sign, along), scale(sign, cross(point, along)))
    credit(ledger, FRICTION, min(rubbed, 0.0), scale(sign, across), scale(sign, cross(point, across)))
    credit(ledger, DRIVEN, driven, NOTHING, NOTHING)
    return max(rubbed, 0.0)


@helper
def add_moment(model, bodies, a, b, m, ledger, given):
    """Enter the angular impulse m against spinning and rolling on body b, at the velocities `bodies`. The contact takes
    m·u with the relative turning u, that of running surfaces included; the rest is as in `add_contact`."""
    w_a, w_b, kind = row(bodies.w, a), row(bodies.w, b), model.kind
    running = sub(running_spin(model.motions, bodies, b), running_spin(model.motions, bodies, a))
    taken, work, sign = dot(m, add(running, sub(w_b, w_a))), 0.0, 0.0
    if moves(kind, b):
        work, sign = dot(m, w_b), 1.0
        give(given, b, NOTHING, m)
    if moves(kind, a):
        work, sign = work - dot(m, w_a), sign - 1.0
        give(given, a, NOTHING, scale(-1.0, m))
    credit(ledger, FRICTION, min(taken, 0.0), NOTHING, scale(sign, m))
    credit(ledger, DRIVEN, work - taken, NOTHING, NOTHING)
    return max(taken, 0.0)


@helper
def add_pull(body, p, turn, bodies, ledger, given):
    """Enter the mouse: impulse p at the centre of mass and angular impulse `turn` about it."""
    work = dot(p, row(bodies.v, body)) + dot(turn, row(bodies.w, body))
    moment = add(turn, cross(row(bodies.x, body), p))
    credit(ledger, MOUSE, work, p, moment)
    give(given, body, p, moment)
