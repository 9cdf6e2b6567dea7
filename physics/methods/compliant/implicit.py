"""Implicit steps of the method `compliant`: every stage of a singly diagonal tableau is one implicit Euler step.

With g = γ h and the stage's start *, a stage asks for velocities u = (v, ω) of the bodies with

    M u = P* + g F(q, u),   q = q* ⊕ g u        (momenta, gyroscopic and applied forces included)

The surfaces are eliminated. z = z* + g ż with K z + D ż + f = 0 and 0 <= f ⊥ p - z >= 0 give f as a continuous function
of p, f = max(0, (Σ c_i D_i z_i*/g - p)/Σ c_i) with c_i = 1/(K_i + D_i/g); f_t follows from the slip in the same way. A
touch within a stage is therefore no jump, and Newton's method on the velocities finds the stage whatever the stiffness.

Joints (`newton_joints`): A is the matrix over the velocities of all bodies, J the rows of joints in maximal
coordinates, and B takes the velocities of free bodies and of the joints of trees to those of all bodies. One Newton
step solves

    [ BᵀA B   -BᵀJᵀ ] [ Δu ]   [       Bᵀr         ]
    [  J B     ε    ] [ λ  ] = [ s - J u + ε λ_old ]

ε is tiny. Where rows depend on each other (planar loops, singular positions) it selects the smallest λ. It leaves no
error: the next round removes what is left of J u - s.

A tableau of second order extrapolates from its first stage. Where a contact begins or ends within a long step, this can
throw bodies back faster than they came. Such a step is made by implicit Euler, which gains no energy from forces that
have a convex potential.
"""

import math
from collections.abc import Sequence

import numpy as np

from ...books.carried import book_rates
from ...books.diagnostics import total_energy
from ...books.ledger import Account
from ...core.interruption import look_up
from ...core.model import Array, BodyKind, Model, body_count
from ...core.state import Bodies, JointState, LongArray, Surfaces, empty_state
from ...dynamics.constraints.limit_springs import stop_energy
from ...dynamics.forces import Loads
from ...dynamics.free_body import Y_SIZE, pack
from ...integrators import Integrator
from ...integrators.tableau import Tableau, tableau
from .books import SoftBooks, note_stage, stage_books, take_stages
from .contacts import SoftContacts
from .limits import turning_rate
from .newton import (
    UNKNOWN,
    NewtonWork,
    add_entries,
    empty_newton,
    expect,
    fill_matrix,
    follow_change,
    implicit_forces,
    residual,
    solve_full,
    start_stage,
    take_stage,
)
from .newton_joints import (
    Entries,
    add_impulses,
    begin_joints,
    entries_of_joints,
    joint_entries,
    place_stage,
    push_stage,
    reduce_system,
    stage_joints,
    start_joints,
    take_change,
    take_joints,
)
from .rates import FREE, finish
from .settle import stored_energy
from .stability import MOST_SUBSTEPS

CONVERGED = 1e-12      # change of velocities that ends Newton's method, relative to the fastest or 1 m/s
STALLED = 1e-8         # the same where the changes no longer become smaller: rounding of K p
SPIN_ROUNDING = 2.0**-50  # of ω, relative to |L|/I with the least moment I: an axis is known to 2.0**-52
TURNED_AT_ONCE = 2.0   # of a stage, see `limits.turning_rate`: Newton's method finds no longer ones
MOST_ITERATIONS = 40   # of Newton's method for one stage
HALVINGS = 6           # of a step whose stages are not found
MOST_DENSE = 300       # unknowns up to which a dense factorisation is faster
#: iterations after which steps that alternate in direction are shortened, see `shortened`, and after one larger than
#: the fastest or 1 m/s friction is its secant, see `newton.py: put_answer`
RELAXED_AFTER = 5
SHORTEST_SHARE = 0.125  # least part of a step of Newton's method that is then taken
ONE_MOTOR_AFTER = 20   # iterations after which motors with a limit take and leave their speed one at a time
ALLOWED_GAIN = 1e-4    # energy that a step in which contacts begin or end may gain, relative to the kinetic energy
#: accounts whose work is no gain of the step
GIVERS = [Account.JOINTS, Account.MOUSE, Account.APPLIED, Account.DRIVEN]
EULER = tableau(a=[[1.0]], b=[1.0], c=[1.0], dense=[[1.0]])  # implicit


class Implicit:
    """Advances bodies and surfaces; scratch memory only."""

    def __init__(self, model: Model, soft: SoftContacts, books: SoftBooks, integrator: Integrator) -> None:
        n, stages = body_count(model), len(integrator.tableau.c)
        self.model, self.soft, self.integrator = model, soft, integrator
        self.books, self.joints = stage_books(books, stages), stage_joints(model, stages)
        self.reactions, self.joined = self.joints.reactions, len(model.joints.type) > 0
        self.substeps = 1
        self.longest = float(integrator.tableau.a_x.diagonal().max())  #: stage, relative to the step
        self.stable = math.inf  #: any step is; where it stands in for an explicit integrator, the stable step of that
        self.status = "solved"
        self.iterations = 0    #: Newton steps of the last step
        self.residual = 0.0    #: last change of a velocity in the worst stage [m/s]
        self.middle = self.begun = empty_state(n).bodies  #: at the stage; when the step began
        self.force, self.torque = np.zeros((n, 3)), np.zeros((n, 3))
        self.y0, self.k, self.base = np.zeros((n, Y_SIZE)), np.zeros((stages, n, Y_SIZE)), np.zeros((n, Y_SIZE))
        self.rate, self.power = np.zeros((n, Y_SIZE)), (0.0, 0.0)
        moving, rows, links = int((self.joints.place >= 0).sum()), len(self.reactions.lam), len(model.trees.body)
        self.of_bodies, self.size = 6 * moving, 6 * moving + rows  # unknowns over bodies, and with λ
        self.of_joints = 6 * (moving - links)                      # where velocities of joints of trees begin
        self.velocities = self.of_joints + len(self.joints.trees.v)
        self.more, n = entries_of_joints(model), self.velocities + rows  # unknowns, and room to find them
        self.newton: NewtonWork = empty_newton(16, 16, self.size, self.more)
        self.full = np.zeros((self.size, self.size) if self.size <= MOST_DENSE else (0, 0))
        self.matrix, self.half, self.found = np.zeros((n, n)), np.zeros((n, self.size)), np.zeros(n)
        self.order, self.share, self.last = np.zeros(n, np.int64), 1.0, np.zeros(self.velocities)
        self.rounding = np.zeros(self.velocities)  #: changes that are none
        self.dynamic = np.flatnonzero(model.kind == BodyKind.DYNAMIC)
        self.light = model.inv_inertia[self.dynamic].max(axis=1)  #: the most mobile axis of each free body [1/kg/m2]
        self.change = np.zeros(self.size)  #: of the velocities of all bodies in the last step of Newton's method

    def advance(self, bodies: Bodies, joints: JointState, loads: Loads, asked: int, t: float, h: float) -> None:
        """From t [s] over h [s] in the substeps asked for; where that is 0 in one, or in as many as turn no body too
        far for Newton's method, MOST_SUBSTEPS at most. More where a stage is not found. Surfaces are always
        integrated."""
        turned = float(turning_rate(self.model, bodies)) * self.longest * h / TURNED_AT_ONCE
        few = turned <= MOST_SUBSTEPS  # not where it is no number
        parts = asked or (max(1, math.ceil(turned)) if few else MOST_SUBSTEPS)
        self.substeps, self.iterations, self.residual, self.status = 0, 0, 0.0, "solved"
        for i in range(parts):
            self.make(bodies, joints, loads, t + i * (h / parts), h / parts, HALVINGS)
        if not asked and not few:
            self.status = f"{parts} substeps are too few"
        self.soft.settle(bodies, t + h, exact=0)

    def energies(self, start: float, h: float) -> tuple[Array, Array]:
        """See `Explicit.energies`; a step has no instants within."""
        return np.zeros(0), np.zeros(0)

    def make(self, bodies: Bodies, joints: JointState, loads: Loads, t: float, h: float, halvings: int) -> None:
        """One step; two of half its length where no solution is found; after so many halvings whatever was found."""
        made = False
        for stages in (self.integrator.tableau, EULER):
            made = made or self.step(bodies, joints, loads, t, h, stages, halvings == 0)
            self.soft.look(bodies)
        if not made:
            for start in (t, t + 0.5 * h):
                self.make(bodies, joints, loads, start, 0.5 * h, halvings - 1)

    def step(
        self, bodies: Bodies, joints: JointState, loads: Loads, t: float, h: float, a: Tableau, anyhow: bool
    ) -> bool:
        """One step: the last stage is its end. Returns False where a stage is not found; the bodies are then as they
        were. `anyhow`: go on with what was found of it."""
        soft, worst, all_found, changed = self.soft, 0.0, True, False
        soft.settle(bodies, t, exact=0)
        pack(bodies, self.y0)
        copy(bodies, self.middle)
        self.begun = bodies
        copy(joints, self.joints.start)
        if self.joined:
            begin_joints(self.model, loads, bodies, self.joints)
        for i, c in enumerate(a.c.tolist()):
            g = float(a.a_x[i, i]) * h
            start_stage(a.a_x[i], i, h, self.y0, self.k, soft.surfaces, soft.work, self.base)
            if self.joined:
                start_joints(a.a_x[i], i, h, g, self.joints)
            soft.work.span[0] = c * h
            found, change = self.solve(loads, t + c * h, g, i)
            worst, all_found = max(worst, change), all_found and found
            if not found and not anyhow:
                return False
            self.take(loads, t + c * h, g, i, found)
            changed = changed or self.touch_changed(i)
        start_stage(a.b_x, len(a.c), h, self.y0, self.k, soft.surfaces, soft.work, self.base)  # surfaces at the end
        if changed and a is not EULER and self.gains(bodies, joints, a, h):
            return False
        self.substeps, self.residual = self.substeps + 1, max(self.residual, worst)
        if not all_found:
            self.status = "iterations"
        copy(self.middle, bodies)
        copy((self.joints.trees.q, self.joints.trees.v), joints)
        finish(a.b_p, h, soft.system)
        take_stages(a.b_p, h, self.books)
        count = int(soft.surfaces.count[0])
        pushed = soft.work.force[len(a.c) - 1, :count].any(axis=1)
        soft.take_modes(np.asarray(pushed), h, t + h)
        return True

    def touch_changed(self, row: int) -> bool:
        """Whether a contact or a stop lets go or begins to push by the end of stage `row`."""
        soft, joints = self.soft, self.joints
        count = int(soft.surfaces.count[0])
        pushes, pushed = soft.work.force[row, :count].any(axis=1), soft.surfaces.mode[:count] != FREE
        dents = joints.stops.dent + joints.stops.length * joints.dent_rate[row]
        return bool((pushes != pushed).any() or ((dents < 0.0) != (joints.dent < 0.0)).any())

    def gains(self, bodies: Bodies, joints: JointState, a: Tableau, h: float) -> bool:
        """Whether the step from `bodies` to `middle` gains energy that nothing gave."""
        soft, ends = self.soft, self.joints.trees
        work = float(a.b_p @ self.books.rates[: len(a.c), GIVERS, 0].sum(axis=1))
        after = soft.surfaces._replace(surface_z=soft.work.z, surface_x=soft.work.x)
        before = self.energy(bodies, *joints, soft.surfaces)
        kinetic = sum(float((p * u).sum()) for p, u in ((bodies.P, bodies.v), (bodies.L, bodies.w)))
        return self.energy(self.middle, ends.q, ends.v, after) - before - h * work > ALLOWED_GAIN * kinetic

    def energy(self, bodies: Bodies, q: Array, v: Array, surfaces: Surfaces) -> float:
        """Of bodies, surfaces and stops [J]."""
        stored = stored_energy(self.soft.code, surfaces, self.soft.work.units)
        stored += stop_energy(self.model, self.joints.stops, bodies, q)
        return float(total_energy(self.model, bodies, q, v) + stored)

    def solve(self, loads: Loads, t: float, g: float, row: int) -> tuple[bool, float]:
        """Newton's method for stage `row` that ends at t, from the velocities in `middle` and to be found there.
        Whether it came to an end, and its least change of a velocity [m/s]."""
        best, change, speed, self.share = np.inf, 0.0, 1.0, 1.0
        spins = np.linalg.norm(self.base[self.dynamic, 10:13], axis=1) * self.light
        self.rounding[: self.of_joints].reshape(-1, 6)[:, 3:] = SPIN_ROUNDING * spins[:, None]
        self.newton.expected[:] = UNKNOWN
        for turn in range(MOST_ITERATIONS):
            self.iterations += 1
            change, changed = self.newton_step(loads, t, g, row, turn, turn > RELAXED_AFTER and change > speed)
            speed = max(1.0, float(np.abs(self.middle.v).max(initial=0.0)))
            done = change <= CONVERGED * speed or (change <= STALLED * speed and change > 0.5 * best)
            best = min(best, change)
            if done and not changed:
                return True, best
        return False, best

    def take(self, loads: Loads, t: float, g: float, row: int, found: bool) -> None:
        """Leave the stage `row` in k[row], and book it; found: the last change of velocities was all but none."""
        model, soft, middle = self.model, self.soft, self.middle
        if found:
            follow_change(model, soft.system, self.joints.place, self.change, self.newton.stiffness, row, middle,
                          self.rate)
        else:
            self.evaluate(loads, t, g, row)
        add_impulses(self.joints, g, self.rate)
        note_stage(model, loads, middle, soft.system, *self.power, self.joints.trees.v, self.reactions, np.int64(row),
                   self.books)
        place_stage(model, t, g, self.base, self.joints, middle)
        take_stage(model.kind, self.base, g, middle, self.rate, self.k[row])
        if len(model.trees.driven):
            book_rates(model.trees, middle, self.k[row], self.books.given[row], self.books.rates[row])
        if self.joined:
            take_joints(model, g, middle, self.joints, row)

    def evaluate(self, loads: Loads, t: float, g: float, row: int, secant: int = 0) -> None:
        """Rates of P and L at `middle` in self.rate, but for reactions, and the surfaces of the stage. secant: see
        `newton.py: put_answer`."""
        model, soft = self.model, self.soft
        place_stage(model, t, g, self.base, self.joints, self.middle)
        soft.look(self.middle)
        self.power = push_stage(model, loads, t, g, self.middle, self.joints, self.force, self.torque, self.books,
                                self.rate)
        contacts, rows = len(soft.contacts.gap), len(soft.surfaces.mode)
        if contacts > len(self.newton.stiffness) or rows > len(self.newton.expected):
            self.newton = empty_newton(contacts, rows, self.size, self.more)
        implicit_forces(model, soft.system, g, row, self.begun, self.middle, self.rate, secant, self.newton)

    def newton_step(self, loads: Loads, t: float, g: float, row: int, turn: int, secant: bool) -> tuple[float, bool]:
        """Improve the velocities of `middle` once; the largest change [m/s], and whether what motors exert or what
        pushes has changed."""
        model, soft, middle, joints = self.model, self.soft, self.middle, self.joints
        look_up()
        self.evaluate(loads, t, g, row, int(secant))
        newton = self.newton
        residual(joints.place, self.base, g, middle, self.rate, newton.right)
        entries = fill_matrix(model, soft.system, joints.place, g, middle, newton)
        if self.joined:
            entries = joint_entries(model, loads, g, middle, joints, entries, newton)
        change, self.change = self._solve(entries)
        step = change[: self.velocities]
        if secant:
            self.share = 1.0
        elif turn > RELAXED_AFTER:
            self.share = shortened(self.share, step, self.last)
        self.last[:] = step
        lost = expect(soft.system, joints.place, self.change, newton.stiffness, row, middle, newton.expected)
        changed = take_change(change, self.change, self.share, g, middle, joints, turn > ONE_MOTOR_AFTER)
        return float((np.abs(step) - self.rounding).max(initial=0.0)), bool(changed or lost)

    def _solve(self, entries: int) -> tuple[Array, Array]:
        """Solve the linear system: changes of velocities and λ, and the changes of all bodies' velocities."""
        newton, joints, n = self.newton, self.joints, self.size
        row, column, value = newton.row[:entries], newton.column[:entries], newton.value[:entries]
        linked = len(self.model.trees.body) > 0
        if n > MOST_DENSE:
            return self._solve_sparse(row, column, value, linked)
        matrix, found = self.full, newton.right
        add_entries(row, column, value, matrix)
        if linked:
            reduce_system(joints.spread, joints.own, self.of_joints, joints.right, matrix, found, self.half,
                          self.matrix, self.found)
            matrix, found = self.matrix, self.found
        solve_full(matrix, self.order, found)
        return found, spread_change(joints.spread, found, n) if linked else found

    def _solve_sparse(self, row: LongArray, column: LongArray, value: Array, linked: bool) -> tuple[Array, Array]:
        """The same for many unknowns."""
        from scipy.sparse import csc_array, diags_array  # when they are first needed: they take long to load
        from scipy.sparse.linalg import splu

        n, k = self.size, len(self.found)
        matrix, right = csc_array((value, (row, column)), shape=(n, n)), self.newton.right
        if not linked:
            found = splu(matrix).solve(right)
            return found, found
        (to, of, factor), (row, column, value) = taken(self.joints.spread), taken(self.joints.own)
        spread = csc_array((factor, (to, of)), shape=(n, k))
        matrix = spread.T @ matrix @ spread + csc_array((value, (row, column)), shape=(k, k))
        right = spread.T @ right
        right[self.of_joints : self.velocities] += self.joints.right
        still = diags_array((matrix.diagonal() == 0.0).astype(np.float64))
        found = splu(csc_array(matrix + still)).solve(right)
        return found, spread @ found


def copy(source: Sequence[Array], target: Sequence[Array]) -> None:
    """Copy the arrays of a tuple into those of another."""
    for a, b in zip(source, target, strict=True):
        b[:] = a


def shortened(share: float, step: Array, last: Array) -> float:
    """The part of Newton's step to take where that `share` of the last one led to this one: Aitken's relaxation, which
    ends a to and fro between two pieces of a force."""
    square = float(last @ last)
    along = float(step @ last) / square if square > 0.0 else 0.0
    return min(max(share / (1.0 - along), SHORTEST_SHARE), 1.0) if along < 1.0 else 1.0


def spread_change(spread: Entries, found: Array, n: int) -> Array:
    """B (n, k) times a change (k,)."""
    row, column, value = taken(spread)
    return np.asarray(np.bincount(row, value * found[column], n), np.float64)


def taken(entries: Entries) -> tuple[LongArray, LongArray, Array]:
    """Rows, columns and values."""
    count = int(entries.count[0])
    return entries.row[:count], entries.column[:count], entries.value[:count]
