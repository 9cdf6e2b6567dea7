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
from ...core.model import Array, Model, body_count
from ...core.state import Bodies, JointState, LongArray, Surfaces, empty_state
from ...dynamics.constraints.limit_springs import stop_energy
from ...dynamics.forces import Loads
from ...dynamics.free_body import Y_SIZE, pack
from ...dynamics.trees.rates import TreeScratch
from ...integrators import Integrator
from ...integrators.tableau import Tableau, tableau
from .books import SoftBooks, note_stage, stage_books, take_stages
from .contacts import SoftContacts
from .limits import turning_rate
from .newton import NewtonWork, empty_newton, follow_change, implicit_forces, start_stage, take_stage
from .newton_joints import (
    Entries,
    add_impulses,
    begin_joints,
    entries_of_joints,
    place_stage,
    push_stage,
    stage_joints,
    start_joints,
    take_joints,
)
from .rates import FREE, finish
from .settle import stored_energy
from .stability import MOST_SUBSTEPS
from .stage_search import (
    BEST,
    DRIVEN,
    ENTRIES,
    FOUND,
    NOT_FOUND,
    OF_STOPS,
    ROOM,
    ROWS,
    SOLVE,
    TURN,
    TURNS,
    begin_search,
    empty_search,
    search_stage,
)

TURNED_AT_ONCE = 2.0   # of a stage, see `limits.turning_rate`: Newton's method finds no longer ones
HALVINGS = 6           # of a step whose stages are not found
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
        self.y0, self.k = np.zeros((n, Y_SIZE)), np.zeros((stages, n, Y_SIZE))
        moving = int((self.joints.place >= 0).sum())
        self.size, self.more = 6 * moving + len(self.reactions.lam), entries_of_joints(model)
        self.newton: NewtonWork = empty_newton(16, 16, self.size, self.more)  # with room to find the unknowns
        self.search = empty_search(model, self.middle, self.joints, self.books, self.size)

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

    @property
    def trees(self) -> TreeScratch:
        """Scratch of trees."""
        return self.joints.trees

    def begin_at(self, joints: JointState) -> None:
        """Where links are as a part of a step begins: as `advance` is told."""

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
            start_stage(a.a_x[i], i, h, self.y0, self.k, soft.surfaces, soft.work, self.search.base)
            if self.joined:
                start_joints(a.a_x[i], i, h, g, self.joints)
            soft.work.span[0] = c * h
            found, change = self.solve(loads, t + c * h, g, i)
            worst, all_found = max(worst, change), all_found and found
            if not found and not anyhow:
                return False
            self.take(loads, t + c * h, g, i, found)
            changed = changed or self.touch_changed(i)
        # the surfaces at the end
        start_stage(a.b_x, len(a.c), h, self.y0, self.k, soft.surfaces, soft.work, self.search.base)
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
        search, at = self.search, TURN
        begin_search(self.model, t, g, np.int64(row), self.newton, search)
        while at not in (FOUND, NOT_FOUND):
            look_up()
            at = search_stage(self.model, loads, self.begun, self.soft.system, self.newton, search, np.int64(at))
            if at == ROWS:
                self.soft.look(self.middle)
            elif at == ROOM:
                self._make_room()
            elif at == SOLVE:
                self._solve_sparse()
        self.iterations += int(search.order[TURNS])
        return at == FOUND, float(search.told[BEST])

    def take(self, loads: Loads, t: float, g: float, row: int, found: bool) -> None:
        """Leave the stage `row` in k[row], and book it; found: the last change of velocities was all but none."""
        model, soft, middle, search = self.model, self.soft, self.middle, self.search
        if found:
            follow_change(model, soft.system, self.joints.place, search.change, self.newton.stiffness, row, middle,
                          search.rate)
        else:
            self.evaluate(loads, t, g, row)
        add_impulses(self.joints, g, search.rate)
        note_stage(model, loads, middle, soft.system, search.told[OF_STOPS], search.told[DRIVEN], self.joints.trees.v,
                   self.reactions, np.int64(row), self.books)
        place_stage(model, t, g, search.base, self.joints, middle)
        take_stage(model.kind, search.base, g, middle, search.rate, self.k[row])
        if len(model.trees.driven):
            book_rates(model.trees, middle, self.k[row], self.books.given[row], self.books.rates[row])
        if self.joined:
            take_joints(model, g, middle, self.joints, row)

    def evaluate(self, loads: Loads, t: float, g: float, row: int) -> None:
        """Rates of P and L at `middle`, but for reactions, and the surfaces of the stage."""
        model, soft, search = self.model, self.soft, self.search
        place_stage(model, t, g, search.base, self.joints, self.middle)
        soft.look(self.middle)
        search.told[OF_STOPS], search.told[DRIVEN] = push_stage(
            model, loads, t, g, self.middle, self.joints, search.force, search.torque, self.books, search.rate)
        self._make_room()
        implicit_forces(model, soft.system, g, np.int64(row), self.begun, self.middle, search.rate, 0, self.newton)

    def _make_room(self) -> None:
        """Room for the entries of all contacts."""
        contacts, rows = len(self.soft.contacts.gap), len(self.soft.surfaces.mode)
        if contacts > len(self.newton.stiffness) or rows > len(self.newton.expected):
            self.newton = empty_newton(contacts, rows, self.size, self.more)

    def _solve_sparse(self) -> None:
        """Newton's step in `found` and the changes of all bodies' velocities, of many unknowns."""
        from scipy.sparse import csc_array, diags_array  # when they are first needed: they take long to load
        from scipy.sparse.linalg import splu

        newton, search, joints, entries = self.newton, self.search, self.joints, int(self.search.order[ENTRIES])
        n, k = len(search.change), len(search.found)
        row, column, value = newton.row[:entries], newton.column[:entries], newton.value[:entries]
        matrix, right = csc_array((value, (row, column)), shape=(n, n)), newton.right
        if not len(self.model.trees.body):
            search.found[:] = search.change[:] = splu(matrix).solve(right)
            return
        (to, of, factor), (row, column, value) = taken(joints.spread), taken(joints.own)
        spread = csc_array((factor, (to, of)), shape=(n, k))
        matrix = spread.T @ matrix @ spread + csc_array((value, (row, column)), shape=(k, k))
        right, velocities = spread.T @ right, len(search.last)
        right[velocities - len(joints.right) : velocities] += joints.right
        still = diags_array((matrix.diagonal() == 0.0).astype(np.float64))
        search.found[:] = splu(csc_array(matrix + still)).solve(right)
        search.change[:] = spread @ search.found


def copy(source: Sequence[Array], target: Sequence[Array]) -> None:
    """Copy the arrays of a tuple into those of another."""
    for a, b in zip(source, target, strict=True):
        b[:] = a


def taken(entries: Entries) -> tuple[LongArray, LongArray, Array]:
    """Rows, columns and values."""
    count = int(entries.count[0])
    return entries.row[:count], entries.column[:count], entries.value[:count]
