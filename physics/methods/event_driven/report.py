"""What the event-driven method reports of a step, where somebody reads it."""

import math

import numpy as np

from ...collision.exact.elements import contacts_among
from ...core.jit import kernel
from ...core.model import Array, BoolArray
from ...core.state import Case, Contacts, LongArray, empty_contacts
from ...core.vec import add, axpy, dot, put, row, scale
from ...problem.problem import ContactProblem
from ...problem.residual import natural_map
from ...solvers.least_forces import ZERO
from .impact import without
from .instant import world_forces
from .materials import PairMaterials
from .rates import Instant
from .sets import STICK
from .tolerances import EDGE, FACING, RESTS, TOUCH
from .workspace import Workspace

NOTHING_LOST = np.zeros(0, np.int64)  # of the pairs
APART, COLLIDING, SEPARATING, RESTING = (int(case) for case in Case)  # for kernels


class Report:
    """Fills the rows of Contacts, from an instant of the set in hand."""

    def __init__(self, work: Workspace, materials: PairMaterials) -> None:
        self._work, self._materials = work, materials
        self.contacts: Contacts = empty_contacts(16)

    def near(self, at: Instant, kept: LongArray) -> LongArray:
        """Pairs outside the set, whose pairs are `kept`, that could touch within a step."""
        work, bodies, search = self._work, at.bodies, self._work.search
        search.find_pairs(at, TOUCH + work.h * (np.linalg.norm(bodies.v, axis=1)
                                                       + np.linalg.norm(bodies.w, axis=1) * search.radius))
        n, w = search.count, search.witness
        rows = np.flatnonzero((w.margin[:n] >= -EDGE) & (w.facing[:n] >= FACING))
        search.pairs[: len(rows)], search.rows[: len(rows)] = search.pairs[rows], rows
        return without(search.one_of_each(at, len(rows), NOTHING_LOST)[0], set(kept.tolist()))

    def fill(
        self, at: Instant, pairs: LongArray, force: Array, rate: Array, u: Array, impulse: Array
    ) -> None:
        """Write the contacts of pairs (c,) at an instant, those of the current set first: force (3 c,), acceleration
        rate (3 c,) and velocity u (3 c,) in the rows of their equations, which must be in the scratch, and impulse
        (c, 3) in the world. Limits of joints and moments are left out."""
        world, rows = world_forces(at.scratch, force), pairs[contacts_among(self._work.surface, pairs)]
        if len(rows) > len(self.contacts.gap):
            self.contacts = empty_contacts(2 * len(rows))
        out, count = self.contacts, len(rows)
        out.restitution[:count] = self._materials.restitution(rows)[0]
        out.friction[:count] = self._materials.friction(rows).slip
        fill_rows(at, pairs, self._work.in_set, self._active(force[::3]), world, rate, u, impulse, out)

    def _active(self, lam: Array) -> BoolArray:
        """Which contacts with the normal forces lam (c,), those of the set first, are in the active set: those that
        carry, also beside the basis where they share a load, and those that complete the basis."""
        active, chosen = lam > ZERO * lam.max(initial=0.0), self._work.chosen
        rows = chosen.row[: chosen.rows[0]]
        active[rows[rows % 3 == 0] // 3] = True
        return active

    @property
    def deepest(self) -> float:
        """The deepest overlap reported [m]."""
        return max(0.0, -float(self.contacts.gap[: self.contacts.count[0]].min(initial=0.0)))

    def residual(self, M: Array, rate: Array, force: Array) -> float:
        """How well the forces of the current set obey the contact laws [m/s2]: the natural map of 0 <= ζ̇ ⊥ λ >= 0 with
        the friction as it is, and what sticking contacts accelerate along their tangents. M (3 c, 3 c) and force (3 c,)
        of the set, rate of the set and of others after it."""
        count, chosen = self._work.in_set, self._work.chosen
        rows = 3 * np.flatnonzero(chosen.bearer[:count] == np.arange(count))
        lam, normal = force[rows], np.ascontiguousarray(M[np.ix_(rows, rows)])
        wrong = natural_map(ContactProblem.frictionless(normal, rate[rows] - normal @ lam), lam)
        slip = rate[: 3 * count].reshape(-1, 3)[chosen.mode[:count] == STICK, 1:]
        return max(float(wrong), float(np.abs(slip).max(initial=0.0)))


@kernel
def fill_rows(at, pairs, in_set, active, force, rate, u, impulse, out):
    """See `Report.fill`; active (c,): which contacts carry, force (c, 3) in the world. Restitution and friction are not
    written."""
    surface, witness, count, elements = at.surface, at.scratch.witness, 0, len(at.surface.kind)
    for k in range(len(pairs)):
        if pairs[k] >= elements * elements:
            continue
        i, normal, gap, zeta = count, row(witness.normal, k), witness.gap[k], u[3 * k]
        a, b = surface.shape[pairs[k] // elements], surface.shape[pairs[k] % elements]
        out.body_a[i], out.body_b[i] = witness.body_a[k], witness.body_b[k]
        out.shape_a[i], out.shape_b[i], out.key[i] = min(a, b), max(a, b), pairs[k]
        put(out.point, i, scale(0.5, add(row(witness.p_a, k), row(witness.p_b, k))))
        put(out.normal, i, normal)
        out.gap[i], out.zeta[i], out.zeta_dot[i] = gap, zeta, rate[3 * k]
        out.slip[i] = math.hypot(u[3 * k + 1], u[3 * k + 2])
        out.lam[i] = dot(row(force, k), normal)
        put(out.friction_force, i, axpy(-out.lam[i], normal, row(force, k)))
        put(out.impulse, i, row(impulse, k))
        out.current[i], out.active[i], out.case[i] = int(k < in_set), int(active[k]), APART
        if k < in_set or (gap <= TOUCH and abs(zeta) <= RESTS):
            out.case[i] = RESTING
        elif gap <= TOUCH:
            out.case[i] = COLLIDING if zeta < 0.0 else SEPARATING
        count += 1
    out.count[0] = count
