"""The ledger: what changed the energy and the momenta of a run, account by account, every joule booked once.

A row is the work done on the bodies by one cause since the start [J], and the momentum [kg m/s] and angular momentum
about the world origin [kg m2/s] that it gave them. Methods book what they know; the rest of the change of a step is
numerical drift, so that the rows always add up to what there is now less what there was at the start:

    E - E_start = Σ rows

A kick, an impulse p at a point that moves with u before and after it, does the work p·(u⁻ + u⁺)/2: exactly, for the
kinetic energy is quadratic. Potential energy and the energy of springs are part of E.
"""

from enum import IntEnum
from typing import NamedTuple

import numpy as np

from contactlab.physics.assemble import flat, three
from contactlab.physics.diagnostics import measure
from contactlab.physics.dynamics.forces import Loads, spring_end
from contactlab.physics.jit import helper, kernel
from contactlab.physics.model import Array, BodyKind, Model
from contactlab.physics.problem import ANGULAR, ARM_A, ARM_B, INV_MASS, LINEAR, NORMAL, ON_BODY
from contactlab.physics.state import Contacts, State
from contactlab.physics.vec import add, axpy, cross, dot, norm, row, scale, sub


class Account(IntEnum):
    """Rows of `State.ledger`."""

    IMPACTS = 0    #: along the contact normals: what impacts take, and contacts that close without rebound
    FRICTION = 1
    SPRINGS = 2    #: energy: what dampers of springs take; momentum: springs to bodies that are not dynamic
    SURFACES = 3   #: what compliant surfaces and their friction took
    STORED = 4     #: what compliant surfaces hold now, negative
    MOUSE = 5
    APPLIED = 6    #: forces and torques put on bodies
    DRIVEN = 7     #: bodies with a prescribed motion, and running surfaces
    GRAVITY = 8    #: momenta only: its energy is part of E
    CHANGED = 9    #: settings changed between steps: gravity, another method, ...
    DRIFT = 10     #: the rest: errors of the method, overlap taken out, what no method books
    START = 11     #: totals at the start
    TOTAL = 12     #: totals after the last step


IMPACTS, FRICTION, SPRINGS, MOUSE, APPLIED = (int(a) for a in (
    Account.IMPACTS, Account.FRICTION, Account.SPRINGS, Account.MOUSE, Account.APPLIED))
DRIVEN, GRAVITY = int(Account.DRIVEN), int(Account.GRAVITY)
TITLES: dict[Account, str] = {
    Account.IMPACTS: "Impacts", Account.FRICTION: "Friction", Account.SPRINGS: "Dampers",
    Account.SURFACES: "Soft surfaces", Account.STORED: "Held by surfaces", Account.MOUSE: "Mouse",
    Account.APPLIED: "Applied forces", Account.DRIVEN: "Driven bodies", Account.GRAVITY: "Gravity",
    Account.CHANGED: "Settings changed", Account.DRIFT: "Numerical drift",
}
DYNAMIC, LINK = int(BodyKind.DYNAMIC), int(BodyKind.LINK)


# ------------------------------------------------------------------------------------------------- opening, closing
def totals(model: Model, state: State) -> Array:
    """Energy, momentum and angular momentum of a state (7,)."""
    energy, momenta = measure(model, state.bodies, state.joints)
    return np.concatenate([[energy.total], momenta.ravel()])


def start(model: Model, state: State) -> None:
    """Begin the books of a state."""
    state.ledger[:] = 0.0
    state.ledger[Account.START] = state.ledger[Account.TOTAL] = totals(model, state)


class Page(NamedTuple):
    """What closing the books of a step needs to know of its beginning."""

    booked: Array  #: (7,) sum of all rows
    total: Array   #: (7,)
    x: Array       #: (n, 3)


def open_step(model: Model, state: State) -> Page:
    """Before a step: what differs from the end of the last one is due to changed settings."""
    ledger, now = state.ledger, totals(model, state)
    ledger[Account.CHANGED] += now - ledger[Account.TOTAL]
    return Page(ledger[: Account.START].sum(axis=0), now, state.bodies.x.copy())


def close_step(model: Model, state: State, loads: Loads, contacts: Contacts, h: float, page: Page) -> None:
    """After a step: momenta are booked from the impulses it reports, and the rest as drift."""
    ledger = state.ledger
    book_momenta(model, loads, contacts, h, page.x, state.bodies, ledger)
    now = totals(model, state)
    ledger[Account.DRIFT] += now - page.total - (ledger[: Account.START].sum(axis=0) - page.booked)
    ledger[Account.TOTAL] = now


# ------------------------------------------------------------------------------------------------- booking
@helper
def credit(ledger, account, energy, p, moment):
    """Add work, momentum and angular momentum to an account."""
    ledger[account, 0] += energy
    for j in range(3):
        ledger[account, 1 + j] += p[j]
        ledger[account, 4 + j] += moment[j]


@helper
def moves(kind, i):
    return i >= 0 and (kind[i] == DYNAMIC or kind[i] == LINK)


@kernel
def book_momenta(model, loads, contacts, h, x_before, bodies, ledger):
    """Momenta that gravity, applied forces, the mouse and contacts with bodies that are not dynamic gave in a step."""
    kind = model.kind
    gravity = (model.gravity[0], model.gravity[1], model.gravity[2])
    for i in range(len(kind)):
        if moves(kind, i):
            x = scale(0.5, add(row(x_before, i), row(bodies.x, i)))
            p = scale(h * model.mass[i], gravity)
            credit(ledger, GRAVITY, 0.0, p, cross(x, p))
            p = scale(h, row(loads.force, i))
            credit(ledger, APPLIED, 0.0, p, axpy(h, row(loads.torque, i), cross(x, p)))
    for k in range(int(contacts.count[0])):
        a, b = int(contacts.body_a[k]), int(contacts.body_b[k])
        sign = (1.0 if moves(kind, b) else 0.0) - (1.0 if moves(kind, a) else 0.0)
        p = scale(sign, row(contacts.impulse, k))
        n = row(contacts.normal, k)
        along = scale(dot(p, n), n)
        across = sub(p, along)
        point = row(contacts.point, k)
        credit(ledger, IMPACTS, 0.0, along, cross(point, along))
        credit(ledger, FRICTION, 0.0, across, cross(point, across))
    i = int(loads.grab_body[0])
    if i >= 0:
        p = scale(h, flat(loads.grab_force))
        point, _ = spring_end(i, flat(loads.grab_point), bodies)
        if loads.grab_turn[0] == 1:
            credit(ledger, MOUSE, 0.0, (0.0, 0.0, 0.0), cross(sub(point, row(bodies.x, i)), p))
        else:
            credit(ledger, MOUSE, 0.0, p, cross(point, p))


@helper
def mean_velocity(before, after, i, arm):
    """Mean of the velocities before and after the kick of the point at a world arm of body i."""
    v = add(three(before, i, LINEAR), three(after, i, LINEAR))
    w = add(three(before, i, ANGULAR), three(after, i, ANGULAR))
    return scale(0.5, add(v, cross(w, arm)))


@kernel
def book_contacts(system, before, surface, ledger):
    """Work of the contact impulses of a system, from the velocities before the kick (n, 6) and after it, and that of
    running surfaces (c, 3).

    p·ū with ū the mean slip of the surfaces is what the contact itself takes; the rest of p·(v̄_b - v̄_a) over bodies
    that move freely comes from what drives the others and the belts. Friction whose force lags behind a slip that turns
    within the step would seem to give energy: that is numerical, and left to drift.
    """
    rows, after = system.rows, system.bodies
    nothing = (0.0, 0.0, 0.0)
    for k in range(int(system.count[0])):
        a, b = int(system.body_a[k]), int(system.body_b[k])
        p, n = row(system.impulse, k), three(rows, k, NORMAL)
        v_a = mean_velocity(before, after, a, three(rows, k, ARM_A))
        v_b = mean_velocity(before, after, b, three(rows, k, ARM_B))
        slip = add(sub(v_b, v_a), row(surface, int(system.contact[k])))
        along = dot(p, n) * dot(slip, n)
        across = dot(p, slip) - along
        work = 0.0
        on_links = system.trees.linked[system.contact[k]] == 1
        slot_a, slot_b = system.trees.slot[system.contact[k], 0], system.trees.slot[system.contact[k], 1]
        if after[b, INV_MASS] > 0.0 or (on_links and slot_b != ON_BODY):
            work += dot(p, v_b)
        if after[a, INV_MASS] > 0.0 or (on_links and slot_a != ON_BODY):
            work -= dot(p, v_a)
        credit(ledger, IMPACTS, along, nothing, nothing)
        credit(ledger, FRICTION, min(across, 0.0), nothing, nothing)
        credit(ledger, DRIVEN, work - along - across, nothing, nothing)


@kernel
def book_loads(model, loads, system, before, involved, h, middle, end, ledger):
    """Work of the mouse, of applied forces and of the dampers of springs in a time step. middle: bodies at the poses of
    the kick; bodies that nothing touches (involved = 0) end with the velocities in `end`.

    A damper takes ∫ d ṡ² dt, half a step with the velocities before and half with those after.
    """
    after, nothing = system.bodies, (0.0, 0.0, 0.0)
    grab, i = system.grab, int(system.grab.body[0])
    if i >= 0:
        v = mean_velocity(before, after, i, flat(grab.arm))
        if grab.turn[0] == 1:
            v = scale(0.5, add(three(before, i, ANGULAR), three(after, i, ANGULAR)))
        credit(ledger, MOUSE, dot(flat(grab.impulse), v), nothing, nothing)
    for i in range(len(model.kind)):
        if moves(model.kind, i):
            v = three(after, i, LINEAR) if involved[i] == 1 else row(end.v, i)
            w = three(after, i, ANGULAR) if involved[i] == 1 else row(end.w, i)
            v = scale(0.5, add(v, three(before, i, LINEAR)))
            w = scale(0.5, add(w, three(before, i, ANGULAR)))
            work = h * (dot(row(loads.force, i), v) + dot(row(loads.torque, i), w))
            credit(ledger, APPLIED, work, nothing, nothing)
    springs = model.springs
    for k in range(len(springs.body_a)):
        a, b = int(springs.body_a[k]), int(springs.body_b[k])
        p_a, _ = spring_end(a, row(springs.anchor_a, k), middle)
        p_b, _ = spring_end(b, row(springs.anchor_b, k), middle)
        s = norm(sub(p_b, p_a))
        if s == 0.0 or springs.damping[k] == 0.0:
            continue
        u = scale(1.0 / s, sub(p_b, p_a))
        for velocities in (before, after):
            rate = 0.0
            if b >= 0:
                rate += dot(u, end_velocity(velocities, b, sub(p_b, row(middle.x, b))))
            if a >= 0:
                rate -= dot(u, end_velocity(velocities, a, sub(p_a, row(middle.x, a))))
            credit(ledger, SPRINGS, -0.5 * h * springs.damping[k] * rate * rate, nothing, nothing)


@kernel
def powers(model, loads, bodies, power_out):
    """Power by account (13,) [W] of the mouse, of applied forces and of the dampers of springs at the velocities of the
    bodies. A mouse that turns a body is left out."""
    for i in range(len(power_out)):
        power_out[i] = 0.0
    for i in range(len(model.kind)):
        if moves(model.kind, i):
            power_out[APPLIED] += dot(row(loads.force, i), row(bodies.v, i))
            power_out[APPLIED] += dot(row(loads.torque, i), row(bodies.w, i))
    held = int(loads.grab_body[0])
    if held >= 0 and loads.grab_turn[0] == 0:
        _, v = spring_end(held, flat(loads.grab_point), bodies)
        power_out[MOUSE] = dot(flat(loads.grab_force), v)
    springs = model.springs
    for k in range(len(springs.body_a)):
        p_a, v_a = spring_end(int(springs.body_a[k]), row(springs.anchor_a, k), bodies)
        p_b, v_b = spring_end(int(springs.body_b[k]), row(springs.anchor_b, k), bodies)
        s = norm(sub(p_b, p_a))
        if s > 0.0:
            rate = dot(sub(p_b, p_a), sub(v_b, v_a)) / s
            power_out[SPRINGS] -= springs.damping[k] * rate * rate


@helper
def end_velocity(velocities, i, arm):
    return add(three(velocities, i, LINEAR), cross(three(velocities, i, ANGULAR), arm))
