"""The right-hand side of the event-driven method: the active contacts are equality constraints in it.

    H q̈ + C = τ + T λ,    λ such that ζ̇ = M λ + d = 0 in the rows of the active set        [RBDA eqs. 11.28–11.36]
"""

from typing import NamedTuple

import numpy as np

from ...collision.exact.elements import Elements
from ...collision.exact.gaps import Witness, empty_witness, find_witnesses
from ...core.jit import helper, program
from ...core.model import Array, IntArray, Model, body_count
from ...core.state import Bodies, JointState, empty_state
from ...dynamics.constraints.limits import find_limits
from ...dynamics.constraints.reactions import push_axes, push_free, react
from ...dynamics.forces import Loads
from ...dynamics.free_body import dydt
from ...dynamics.grab import pull_grabbed
from ...dynamics.grab_joined import pulls_joined
from ...dynamics.motion import drive
from ...dynamics.trees.contacts import accelerate
from ...dynamics.trees.kinematics import place_links
from ...dynamics.trees.rates import pack_link_rates
from ...problem.contact_equations import (
    Equations,
    accelerate_bodies,
    add_row,
    contact_rows,
    empty_equations,
    free_rate,
    inner,
    solve_small,
    weigh_rows,
)
from ...problem.limit_rows import limit_rows
from ...problem.turning_rows import Turning, find_bearers, turning_of, turning_rows
from ...solvers.lcp_info import row_product, subtract_row
from .large_islands import MANY_ROWS, LargeIslands, empty_islands, large_forces
from .sets import SLIDE, STICK, ContactSet
from .tolerances import ASIDE, SLIPS, STRAIGHT

TIME, STEP = range(2)   # places in Instant.clock
UNEVEN = 1e4            # largest force times largest entry of M, relative to the accelerations, where the rounding of
                        # that force, 1e-16 of it, changes them by 1e-12 of themselves
VANISHED = 1e-26        # square of the part of a row that is independent of others, below which that is rounding


class RateScratch(NamedTuple):
    """What evaluating the right-hand side writes; afterwards it holds the forces and equations of that state."""

    bodies: Bodies       #: of a stage of the integrator
    force: Array         #: (n, 3) applied [N]
    torque: Array        #: (n, 3) [N m]
    witness: Witness     #: of the contacts in the equations
    equations: Equations
    lam: Array           #: (3 c,) contact forces: normal, tangent 1, tangent 2 [N]
    slide: Array         #: (2 c,) unit slip direction in the tangents, 0 where it does not slide
    share: Array         #: (3 c,) forces of the columns of the set; of the columns that wait, what they would take
    system: Array        #: (3 c, 3 c + 1) equations of one island
    part: Array          #: (3 c,) forces of one island
    rows: IntArray       #: (3 c,) its places in ContactSet.row
    columns: IntArray    #: (3 c,) and in ContactSet.column
    rate: Array          #: (n, 13) ydot
    turning: Turning     #: of the model
    large: LargeIslands


class Instant(NamedTuple):
    """A state at one time with all that its equations need. For kernels: one packed tuple."""

    model: Model
    surface: Elements
    loads: Loads
    clock: Array         #: (2,) TIME: of this state; STEP: length of the whole step, which the mouse spring needs [s]
    bodies: Bodies
    joints: JointState   #: of the links
    scratch: RateScratch


def empty_rate_scratch(model: Model, contacts: int) -> RateScratch:
    """Scratch for the right-hand side with so many contacts in the set."""
    n, equations = body_count(model), empty_equations(model, contacts)
    return RateScratch(
        empty_state(n).bodies, np.zeros((n, 3)), np.zeros((n, 3)), empty_witness(contacts), equations,
        np.zeros(3 * contacts), np.zeros(2 * contacts), np.zeros(3 * contacts),
        np.zeros((3 * contacts, 3 * contacts + 1)), np.zeros(3 * contacts), np.zeros(3 * contacts, np.int32),
        np.zeros(3 * contacts, np.int32), np.zeros((n, 13)), turning_of(model),
        empty_islands(contacts, len(equations.free)),
    )


@helper
def slip_direction(eq, chosen, k, slide_out):
    """Unit direction of slip of contact k in its tangents.

    As long as the slip goes STRAIGHT on, or the contact is fixed, it is the direction in which the piece began. Where
    the slip has turned round against that, it is the opposite of the slip: the force then stays smooth over the end of
    slip, which the search finds as an event.
    """
    u1, u2 = eq.u[3 * k + 1], eq.u[3 * k + 2]
    b1, b2 = 0.0, 0.0
    for j in range(3):
        b1 += chosen.direction[k, j] * eq.tangent_1[k, j]
        b2 += chosen.direction[k, j] * eq.tangent_2[k, j]
    size, along = np.sqrt(u1 * u1 + u2 * u2), u1 * b1 + u2 * b2
    if chosen.fixed[k] == 0 and size > SLIPS and abs(u1 * b2 - u2 * b1) > STRAIGHT * abs(along) + ASIDE:
        sign = 1.0 if along >= 0.0 else -1.0
        b1, b2 = sign * u1 / size, sign * u2 / size
    slide_out[2 * k], slide_out[2 * k + 1] = b1, b2


@helper
def smallest_forces(system, rows, columns, width, share_out):
    """The smallest x (columns,) with B x = b, where B | b are the first rows of `system` (rows, width + 1) and the rows
    of B are independent: B = L Q by Gram and Schmidt, x = Qᵀ L⁻¹ b. Q and L⁻¹ b replace B and b.

    For each column k beyond the first ones it writes B_kᵀ L⁻ᵀ L⁻¹ b. Where that is positive, forces that use column k
    too would be smaller.
    """
    for i in range(rows):
        whole = row_product(system, i, system[i], 0, columns)
        size = whole
        for _ in range(2):  # twice is enough, and once where much is left [Kahan in Parlett 1980]
            for l in range(i):
                along = row_product(system, l, system[i], 0, columns)
                subtract_row(system[i], 0, along, system, l, width + 1)
            size = row_product(system, i, system[i], 0, columns)
            if size > 0.5 * whole:
                break
        scale = 1.0 / np.sqrt(size) if size > VANISHED * whole else 0.0
        for j in range(width + 1):
            system[i, j] *= scale
    for j in range(width):
        share_out[j] = 0.0
        for i in range(rows):
            share_out[j] += system[i, j] * system[i, width]


@helper
def members(island, island_of, numbers, first, last, list_out, count):
    """Append to list_out, which has `count`, the places among first … last - 1 of `numbers` of rows that belong to an
    island; the new count."""
    for i in range(first, last):
        if island_of[numbers[i] // 3] == island:
            list_out[count] = i
            count += 1
    return count


@helper
def bears_turning(chosen):
    """Whether contacts of the set bear moments that are at their bound."""
    some = False
    for k in range(chosen.count[0]):
        some = some or (chosen.bearer[k] != k and chosen.mode[k] == SLIDE)
    return some


@helper
def write_equations(chosen, rows, width, scratch):
    """The equations M_aa λ_a = -d_a of the first rows and columns listed in the scratch: M_aa | -d_a, in its `system`.
    M_rc = Σ HT_rm T_cm is the acceleration in row r by a unit force of column c. Where the contact slides this force is
    n - μ (slip direction), and likewise with the moments that it bears where it spins or rolls.

    The sums stand here, not in `inner`, for the call of a helper takes as long as a sum."""
    eq, slide, system = scratch.equations, scratch.slide, scratch.system
    T, HT, place, spread = eq.T, eq.HT, eq.place, len(eq.reactions.lam) > 0
    first_link, end, turns = len(eq.free) - len(eq.trees.v), len(eq.free), bears_turning(chosen)
    for i in range(rows):
        r = int(chosen.row[scratch.rows[i]])
        a, b = place[r // 3, 0], place[r // 3, 1]
        system[i, width] = -free_rate(eq, r)
        for j in range(width):
            c = int(chosen.column[scratch.columns[j]])
            k = c // 3
            rubs = chosen.friction[k] > 0.0 and chosen.mode[k] != STICK
            along, across_1, across_2 = 0.0, 0.0, 0.0
            for side in range(2):
                p = place[k, side]
                if p < 0 or not (spread or p in (a, b)):
                    continue
                for m in range(p, p + 6):
                    along += HT[r, m] * T[c, m]
                for m in range(p, p + 6 if rubs else p):
                    across_1 += HT[r, m] * T[c + 1, m]
                    across_2 += HT[r, m] * T[c + 2, m]
            for m in range(first_link, end):
                along += HT[r, m] * T[c, m]
            for m in range(first_link, end if rubs else first_link):
                across_1 += HT[r, m] * T[c + 1, m]
                across_2 += HT[r, m] * T[c + 2, m]
            if rubs:
                along -= chosen.friction[k] * slide[2 * k] * across_1
                along -= chosen.friction[k] * slide[2 * k + 1] * across_2
            for s in range(chosen.count[0] if c % 3 == 0 and turns else 0):
                if s != k and chosen.bearer[s] == k and chosen.mode[s] == SLIDE:
                    along -= chosen.friction[s] * slide[2 * s] * inner(eq, r, 3 * s + 1)
                    along -= chosen.friction[s] * slide[2 * s + 1] * inner(eq, r, 3 * s + 2)
            system[i, j] = along


@helper
def largest(values, first, last):
    """The largest |value| of a row of the equations, from entry `first` to `last` - 1."""
    most = 0.0
    for j in range(first, last):
        most = max(most, abs(values[j]))
    return most


@helper
def balance(chosen, scratch):
    """Forces λ of the current set with ζ̇ = 0, and no slip acceleration where it sticks, in all rows of the active set:
    M_aa λ_a = -d_a. A sliding contact pushes along n - μ (slip direction). Where there are more forces than rows they
    are the smallest ones. Islands do not act on one another, so each has its own equations.

    The smallest forces are known to a rounding of the largest one. Where that would be felt by a light body, they are
    found once more for what they leave of the equations."""
    slide, system, share, lam = scratch.slide, scratch.system, scratch.share, scratch.lam
    part, at_row, at_column = scratch.part, scratch.rows, scratch.columns
    used, waiting, first = int(chosen.columns[0]), int(chosen.columns[1]), 0
    free = len(scratch.equations.trees.v) + len(scratch.equations.reactions.lam) == 0 and not bears_turning(chosen)
    for island in range(int(chosen.islands[0])):
        rows = members(island, chosen.island, chosen.row, 0, int(chosen.rows[0]), at_row, 0)
        columns = members(island, chosen.island, chosen.column, 0, used, at_column, 0)
        width = members(island, chosen.island, chosen.column, used, used + waiting, at_column, columns)
        large = free and rows >= MANY_ROWS and columns > rows
        first += rows
        if large and large_forces(chosen, rows, columns, width, first - rows, scratch, part):
            for j in range(width):
                share[at_column[j]] = part[j]
            continue
        write_equations(chosen, rows, width, scratch)
        if width == rows:
            solve_small(system, rows)
            for i in range(rows):
                part[i] = system[i, rows]
        else:
            most, rate = 0.0, 0.0
            for i in range(rows):
                most = max(most, largest(system[i], 0, columns))
                rate = max(rate, abs(system[i, width]))
            smallest_forces(system, rows, columns, width, part)
            if largest(part, 0, columns) * most > UNEVEN * rate:
                for j in range(width):
                    share[at_column[j]] = part[j]
                write_equations(chosen, rows, width, scratch)
                for i in range(rows):
                    for j in range(columns):
                        system[i, width] -= system[i, j] * part[j]
                smallest_forces(system, rows, columns, width, part)
                for j in range(width):
                    part[j] += share[at_column[j]]
        for j in range(width):
            share[at_column[j]] = part[j]
    scratch.large.known[0] = 1
    for r in range(3 * int(chosen.count[0])):
        lam[r] = 0.0
    for j in range(used):
        c = int(chosen.column[j])
        k = c // 3
        lam[c] = share[j]
        if chosen.mode[k] == SLIDE:
            lam[c + 1] = -chosen.friction[k] * slide[2 * k] * share[j]
            lam[c + 2] = -chosen.friction[k] * slide[2 * k + 1] * share[j]
    for k in range(int(chosen.count[0])):
        if chosen.bearer[k] != k and chosen.mode[k] == SLIDE:
            load = lam[3 * chosen.bearer[k]]
            lam[3 * k + 1] = -chosen.friction[k] * slide[2 * k] * load
            lam[3 * k + 2] = -chosen.friction[k] * slide[2 * k + 1] * load


@program
def add_contact_forces(chosen, scratch, ydot_out):
    """Find the forces of the current set. Add them, and the reactions of joints in maximal coordinates, to the rates of
    P and L in ydot (n, 13) and to those of the joint velocities in eq.trees."""
    eq, lam, reactions = scratch.equations, scratch.lam, scratch.equations.reactions
    count, rates, push = int(chosen.count[0]), eq.trees.rates, reactions.trial
    reacts = count > 0 and len(reactions.lam) > 0
    first = len(eq.free) - len(rates)
    for d in range(len(rates)):
        rates[d] = eq.free[first + d]
    for k in range(count):
        slip_direction(eq, chosen, k, scratch.slide)
    balance(chosen, scratch)
    if reacts:
        push[:] = 0.0
    for r in range(3 * count):
        if lam[r] == 0.0:
            continue
        for side in range(2):
            j = int(eq.place[r // 3, side])
            if j >= 0:
                i = int(eq.owner[j // 6])
                for c in range(6):
                    ydot_out[i, 7 + c] += lam[r] * eq.T[r, j + c]
        for d in range(len(rates)):
            rates[d] += lam[r] * eq.HT[r, first + d]
        if reacts:
            add_row(eq, r, lam[r], push)
    if reacts:
        react(reactions, push, reactions.part)
        for j in range(len(reactions.lam)):
            reactions.lam[j] += reactions.part[j]
    if len(reactions.lam) > 0:
        push_free(reactions, ydot_out)


@program
def accelerate_free(at, t, bodies, some, ydot_out):
    """H⁻¹(τ - C) without contacts at the time t [s], in the scratch's equations; ydot_out (n, 13) gets what acts on
    free bodies but reactions. Links need the work of `place_links`. some: whether anything but trees needs it."""
    model, loads, scratch, h = at.model, at.loads, at.scratch, at.clock[STEP]
    eq, force, torque = scratch.equations, scratch.force, scratch.torque
    dydt(model, loads, t, bodies, force, torque, ydot_out)
    if len(eq.reactions.lam) > 0:
        push_axes(model, bodies, eq.reactions, force, torque, ydot_out)
    if not pulls_joined(eq.reactions, loads):
        pull_grabbed(model, loads, bodies, h, force, torque, ydot_out)
    accelerate(model, loads, t, h, bodies, force, torque, eq.trees, eq.free, eq.bias)
    if some:
        accelerate_bodies(model, loads, t, h, bodies, force, torque, ydot_out, eq)


@program
def find_rows(at, t, bodies, pairs, count):
    """Witnesses, T, u and rates of the first `count` pairs at the time t [s], in the scratch. Rates and links need what
    `accelerate_free` left."""
    model, surface, scratch = at.model, at.surface, at.scratch
    witness, eq = scratch.witness, scratch.equations
    find_witnesses(surface, bodies, pairs, count, witness)
    find_limits(model, surface, bodies, eq.trees.q, pairs, count, witness)
    find_bearers(pairs, count, witness)
    write_rows(at, t, bodies, pairs, count)


@program
def write_rows(at, t, bodies, pairs, count):
    """The same of witnesses that are in the scratch already."""
    model, surface, scratch = at.model, at.surface, at.scratch
    witness, eq = scratch.witness, scratch.equations
    contact_rows(model, t, bodies, witness, count, eq)
    limit_rows(model, surface, t, bodies, pairs, witness, count, eq)
    turning_rows(model, surface, scratch.turning, bodies, pairs, witness, count, eq)


@program
def constrained_rates(at, chosen, t, bodies, ydot_out):
    """Rate of change of Y (n, 13) with the forces of the current set, of `bodies` at the time t [s]; their v and w are
    brought up to date. Links are where the coordinates in the scratch's equations say; of the Instant `at` the loads,
    the length of the step and the scratch are used."""
    model, scratch = at.model, at.scratch
    eq, count = scratch.equations, np.int64(chosen.count[0])  # as Python's integers arrive: one signature of kernels
    trees, acts = eq.trees, count > 0 or len(eq.reactions.lam) > 0
    if len(model.trees.driven) > 0:
        drive(model, t, bodies)
    place_links(model, trees.q, trees.v, trees.work, bodies)
    accelerate_free(at, t, bodies, acts, ydot_out)
    if acts:
        find_rows(at, t, bodies, chosen.pair, count)
        weigh_rows(model, bodies, count, eq)
        add_contact_forces(chosen, scratch, ydot_out)
    pack_link_rates(model.trees, trees, ydot_out)


@program
def equations_here(at, pairs, count, weigh):
    """Put the links where their coordinates say; write witnesses, T and u of the first `count` pairs to the scratch.
    weigh = 1: all that `contact_matrix` needs too."""
    model, bodies, scratch, t = at.model, at.bodies, at.scratch, at.clock[TIME]
    eq = scratch.equations
    trees = eq.trees
    trees.q[:], trees.v[:] = at.joints.q, at.joints.v
    place_links(model, trees.q, trees.v, trees.work, bodies)
    if weigh == 1:
        accelerate_free(at, t, bodies, True, scratch.rate)
    find_rows(at, t, bodies, pairs, count)
    if weigh == 1:
        weigh_rows(model, bodies, count, eq)


def find_forces(at: Instant, chosen: ContactSet) -> None:
    """Find the forces of the current set at this instant; they are left in the scratch."""
    at.scratch.large.known[0] = 0
    take_coordinates(at)
    constrained_rates(at, chosen, float(at.clock[TIME]), at.bodies, at.scratch.rate)


def take_coordinates(at: Instant) -> None:
    """Tell the right-hand side where the links are."""
    trees = at.scratch.equations.trees
    trees.q[:], trees.v[:] = at.joints
