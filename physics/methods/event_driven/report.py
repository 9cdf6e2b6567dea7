"""What the event-driven method reports of a step, where somebody reads it."""

import numpy as np

from ...collision.exact.elements import contacts_among, shapes_of
from ...core.model import Array, BoolArray
from ...core.state import Case, Contacts, LongArray, empty_contacts
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
        surface, w = self._work.surface, at.scratch.witness
        current, active = np.arange(len(pairs)) < self._work.in_set, self._active(force[::3])
        forces, slip = world_forces(at.scratch, force), np.hypot(u[1::3], u[2::3])
        rows = np.flatnonzero(contacts_among(surface, pairs))
        if len(rows) > len(self.contacts.gap):
            self.contacts = empty_contacts(2 * len(rows))
        out = self.contacts
        out.count[0] = len(rows)
        out.restitution[: len(rows)] = self._materials.restitution(pairs[rows])[0]
        out.friction[: len(rows)] = self._materials.friction(pairs[rows]).slip
        shapes = shapes_of(surface, pairs[rows])
        for i, k in enumerate(rows.tolist()):
            normal, gap = w.normal[k], float(w.gap[k])
            out.body_a[i], out.body_b[i] = w.body_a[k], w.body_b[k]
            out.shape_a[i], out.shape_b[i] = shapes[i]
            out.key[i] = pairs[k]
            out.point[i], out.normal[i], out.gap[i] = 0.5 * (w.p_a[k] + w.p_b[k]), normal, gap
            out.zeta[i], out.zeta_dot[i], out.slip[i] = u[3 * k], rate[3 * k], slip[k]
            out.lam[i] = forces[k] @ normal
            out.friction_force[i] = forces[k] - out.lam[i] * normal
            out.impulse[i] = impulse[k]
            out.current[i], out.active[i] = current[k], active[k]
            case = Case.APART
            if gap <= TOUCH or current[k]:
                rests = current[k] or abs(u[3 * k]) <= RESTS
                case = Case.RESTING if rests else Case.COLLIDING if u[3 * k] < 0 else Case.SEPARATING
            out.case[i] = case

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
